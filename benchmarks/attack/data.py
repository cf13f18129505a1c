"""A drawing as plain data, and back: what faults are put into, and what a finding is written down as.

`as_data` reads the rigid part of any mechanism; `drawn` draws data with the public methods of `cc.Mechanism`, so that a
fault in the data is a fault in what a user typed. What plain data cannot say is Python, as text: ``{"eval":
"cc.ERLS()"}`` in the place of a value, and expressions under ``"python"``, evaluated one after the other when all else
is drawn. They know the mechanism ``m``, its joints ``J`` and its bodies ``B``.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

import closedchain as cc
from closedchain.close.methods import METHODS
from closedchain.integrate.solvers import SOLVERS, marching
from closedchain.results.run import Run

Data = dict[str, Any]
STEPS = ("step", "first_step", "max_step", "max_steps", "dense_output")


def as_data(m: cc.Mechanism) -> Data:
    """Bodies and joints of a mechanism as numbers; what acts on them is left out."""
    value = m.values()

    def numbers(rows: Any) -> Any:
        return [numbers(row) for row in rows] if isinstance(rows, tuple | list) else value(rows)

    def place(frame: cc.Frame) -> Data:
        return {"body": frame.body.name, "at": numbers(frame.position), "R": numbers(frame.rotation)}

    bodies = []
    for body in m.bodies.values():
        p = body.properties
        bodies.append({"name": body.name, "mass": value(p.mass), "com": numbers(p.com), "inertia": numbers(p.inertia)})
    joints = []
    for joint in m.joints.values():
        data = {"kind": joint.type.name, "name": joint.name, "a": place(joint.a), "b": place(joint.b)}
        columns = [list(column) for column in zip(*numbers(joint.rotation), strict=True)]
        if joint.type.name == "universal":
            data["axes"] = columns[:2]
        else:
            data["axis"] = columns[2]
        if joint.type.name == "screw":
            data["pitch"] = value(joint.pitch) * 2 * cc.pi
        if joint.guess:
            data["guess"] = numbers(joint.guess)
        if joint.cut is not None:
            data["cut"] = joint.cut
        joints.append(data)
    return {
        "name": m.name,
        "gravity": numbers(m.gravity),
        "tolerance": m.tolerance,
        "bodies": bodies,
        "joints": joints,
        "calls": [],  # [method, arguments, options]: motors, springs, drives
        "assemble": {"hold": dict(m.start), "velocity": {}},
        "simulate": {"until": 0.2},
    }


def resolved(x: Any, m: cc.Mechanism) -> Any:
    """Data with its Python evaluated."""
    if isinstance(x, dict) and set(x) == {"eval"}:
        names = {"cc": cc, "np": np, "inf": np.inf, "nan": np.nan, "m": m, "J": m.joints, "B": m.bodies}
        return eval(x["eval"], names)
    if isinstance(x, dict):
        return {key: resolved(value, m) for key, value in x.items()}
    return [resolved(value, m) for value in x] if isinstance(x, list) else x


def drawn(data: Data) -> cc.Mechanism:
    """Draw the data; raises whatever the library raises."""
    m = drawn_parts(data) if "library" not in data else cc.library.get(data["library"]).build()
    for text in data.get("python", ()):
        resolved({"eval": text}, m)
    return m


def drawn_parts(data: Data) -> cc.Mechanism:
    """Bodies, joints and calls."""
    m = cc.Mechanism(data["name"], gravity=data["gravity"], tolerance=data["tolerance"])
    bodies = {"ground": m.ground}
    for b in data["bodies"]:
        bodies[str(b["name"])] = m.body(b["name"], cc.rigid(b["mass"], b["com"], b["inertia"]))

    def place(p: Data) -> Any:
        body = bodies.get(str(p["body"]), p["body"])
        return body.at(*p["at"], R=p["R"]) if isinstance(body, cc.Body) else body

    for j in data["joints"]:
        options = {k: x for k, x in j.items() if k not in ("kind", "name", "a", "b")}
        m.joint(j["kind"], j["name"], place(j["a"]), place(j["b"]), **resolved(options, m))
    for method, arguments, options in data["calls"]:
        arguments = [place(x) if isinstance(x, dict) and "at" in x else x for x in arguments]
        getattr(m, method)(*arguments, **options)
    return m


def simulated(data: Data, **more: Any) -> Run:
    """Draw, assemble and simulate."""
    m = drawn(data)
    wishes = dict(data["assemble"])
    start = m.assemble(wishes.pop("hold") or None, velocity=wishes.pop("velocity") or None, **wishes)
    options = resolved({**data["simulate"], **more}, m)
    method = options.get("method")
    options["method"] = METHODS[method] if isinstance(method, str) else method
    if "begin" in options:
        start = start.at(options.pop("begin"))
    return cc.simulate(m, start, **as_objects(options))


def as_objects(options: Data) -> Data:
    """Options of a run with objects in the places of their numbers."""
    options = dict(options)
    numbers = {name: options.pop(name) for name in STEPS if name in options}
    solver, method = options.get("solver"), options["method"] or cc.Multipliers()
    name = marching(method.kind)[0] if solver is None else solver
    if isinstance(name, str) and name in SOLVERS:
        known = {x.name for x in fields(SOLVERS[name])}
        numbers = {option: x for option, x in numbers.items() if option in known}
        if SOLVERS[name].adaptive or "step" in numbers:  # otherwise the name is refused
            options["solver"] = SOLVERS[name](**numbers)
    if "every" in options:
        options["t_eval"] = cc.Every(options.pop("every"))
    if "singularity" in options:
        options["events"] = [*options.get("events", ()), cc.SingularPoses(options.pop("singularity"))]
    return options


def as_python(data: Data) -> str:
    """A script that does the same, from the root of the repository."""
    return (
        "from math import inf, nan\n"
        "from benchmarks.attack.data import simulated\n"
        f"run = simulated({data!r})\n"
        "print(run.good, run.complaints())\n"
    )
