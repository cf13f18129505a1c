"""The verbs of the library on drawings whose units are parameters: one drawing serves all units, compiled once.

A capability is a generator of what a user asks for: numbers, and the unit they have.
"""

from __future__ import annotations

import functools
import re
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import closedchain as cc
from closedchain.model.expressions.expression import parameter
from closedchain.model.mechanism import Mechanism
from closedchain.pose.state import State
from closedchain.results.run import Run
from tests.invariants.scaled import Units

Told = Iterator[tuple[Any, str]]
RTOL = 1e-8
BASE = {
    "": (0, 0, 0), "1": (0, 0, 0), "rad": (0, 0, 0), "m": (1, 0, 0), "kg": (0, 1, 0), "s": (0, 0, 1), "Hz": (0, 0, -1),
    "steps": (0, 0, 0), "N": (1, 1, -2), "J": (2, 1, -2), "W": (2, 1, -3), "Pa": (-1, 1, -2),
}  # fmt: skip


def size(unit: str, u: Units) -> float:
    """How large a unit such as ``"N m/rad"`` or ``"m/s^2"`` is for a drawing."""
    out, (above, _, below) = 1.0, unit.partition("/")
    for part, sign in ((above, 1), (below, -1)):
        for symbol, power in re.findall(r"([A-Za-z]+|1)\^?(\d?)", part):
            length, mass, time = BASE[symbol]
            out *= (u.L**length * u.M**mass * u.T**time) ** (sign * int(power or 1))
    return out


def plain(told: Told, u: Units) -> list[tuple[np.ndarray, str]]:
    """Numbers as they are in metres, kilograms and seconds, with their units."""
    return [(np.asarray(x, float) / size(unit, u), unit) for x, unit in told]


def begun(name: str) -> tuple[Mechanism, Any, Any, Any]:
    """An empty drawing, and its units as parameters."""
    m = cc.Mechanism(name, gravity=(0, -9.7, 0))
    return m, *(m.parameter(x, 1.0) for x in "LMT")


def numbers(u: Units, gravity: float = 9.7, **others: float) -> dict[str, float]:
    """Parameters of a drawing."""
    return {"L": u.L, "M": u.M, "T": u.T, "gravity.y": -gravity * u.acceleration, **others}


@functools.cache
def press() -> Mechanism:
    """A slider-crank with all that acts in joints: a motor, springs, dampers, friction, a stop, a rotor."""
    m, L, M, T = begun("press")
    force = M * L / (T * T)
    rubs = cc.Friction(viscous=0.02 * force * L * T, coulomb=0.03 * force * L, velocity=0.1 / T)
    crank = m.body("crank", cc.rod(length=0.11 * L, mass=0.23 * M, radius=0.013 * L))
    rod = m.body("rod", cc.rod(length=0.31 * L, mass=0.19 * M, radius=0.011 * L))
    slider = m.body("slider", cc.box(size=(0.06 * L, 0.04 * L, 0.04 * L), mass=0.43 * M))
    m.revolute("O", m.ground, crank, limits=cc.Stops(-2.0, 1.5, 40 * force * L, 0.1 * force * L * T))
    m.revolute("A", crank.tip, rod, friction=rubs)
    m.prismatic("slide", m.ground, slider, axis=(1, 0, 0))
    m.revolute("B", rod.tip, slider)
    m.motor("O", torque=0.6 * force * L * cc.math.cos(9 * cc.t / T))
    m.joint_spring("slide", 3.0 * force / L, rest=0.35 * L)
    m.joint_damper("slide", 0.2 * force / L * T)
    m.spring("pull", m.ground.at(0, 0.5 * L, 0), rod.tip, 2.0 * force / L, length=0.3 * L)
    m.rotor("O", 1e-4 * M * L * L, ratio=5.0)
    return m


@functools.cache
def gears() -> Mechanism:
    """A four-bar in space, drawn with four hinges (three closures repeat others), with a geared flywheel."""
    m, L, M, T = begun("gears")
    crank, coupler, rocker = (
        m.body(name, cc.rod(length=length * L, mass=mass * M, radius=0.013 * L))
        for name, length, mass in (("crank", 1.1, 1.3), ("coupler", 3.9, 1.7), ("rocker", 2.6, 0.9))
    )
    wheel = m.body("wheel", cc.disc(radius=0.3 * L, mass=2.0 * M, thickness=0.02 * L))
    m.revolute("O", m.ground, crank)
    m.revolute("A", crank.tip, coupler)
    m.revolute("C", m.ground.at(3.1 * L, 0, 0), rocker)
    m.revolute("B", coupler.tip, rocker.tip)
    m.revolute("W", m.ground.at(-1.0 * L, 0, 0), wheel)
    m.couple("teeth", "W", "O", ratio=-2.0)
    m.motor("O", torque=5.9 * M * L * L / (T * T))
    return m


def at(m: Mechanism, u: Units, **gravity: float) -> State:
    """A start of one of the drawings."""
    held = {"press": {"O": 0.7, "guess": {"slide": 0.4 * u.L}}, "gears": {"O": 1.57, "guess": {"A": -1.2, "C": 1.3}}}[
        m.name
    ]
    return m.assemble(parameters=numbers(u, **gravity), **held)


def of(run: Any, *names: str) -> Told:
    """Entries of a run, with their units."""
    for name in names:
        yield run[name].values, run[name].attrs.get("units", "")


def run(m: Mechanism, u: Units, until: float = 0.3, gravity: float = 9.7, **options: Any) -> Run:
    """A run that is good."""
    start = at(m, u, gravity=gravity)
    out = cc.simulate(
        m, start, until=until * u.T, **{"rtol": RTOL, "t_eval": np.linspace(0, until, 9) * u.T, **options}
    )
    assert out.good, out.complaints()
    return out


def marched(**options: Any) -> Callable[[Units], Told]:
    """A run of the press, with a solver and a method; options may be functions of the units."""

    def told(u: Units) -> Told:
        got = run(press(), u, **{k: x(u) if callable(x) else x for k, x in options.items()})
        yield from of(got, "O", "O'", "slide", "slide'", "kinetic_energy", "work")
        yield got.counts.steps, "steps"

    return told


def spring(u: Units) -> cc.VirtualSpring:
    """Closes loops of the press."""
    return cc.VirtualSpring(1e4 * u.force / u.L, 1e2 * u.force / u.L * u.T)


def events(u: Units) -> Told:
    """Recorded crossings, of a length and of a closing force, and a stop."""
    m = press()
    watched = [
        cc.Event("far", m.joints["slide"].q - 0.37 * parameter("L")),
        cc.Event("fast", m.joints["slide"].v - 0.2 * parameter("L") / parameter("T")),
        cc.Event("end", m.joints["O"].q - 1.25, then="stop"),
    ]
    got = run(m, u, events=watched)
    yield [x.t for x in got.record if x.what in ("far", "fast", "end")], "s"
    yield from of(got, "slide'")


def switches(u: Units) -> Told:
    """The loop opens, and its frames meet again: an impact."""
    m = catch()
    touch = cc.Event(
        "touch",
        m.joints["drop"].q - m.joints["lift"].q - 0.5 * parameter("L"),
        direction=-1,
        then=cc.Switch(close="grip"),
    )
    let = cc.Event("let", cc.t - 1.2 * parameter("T"), then=cc.Switch(open="grip"))
    start = m.assemble({"drop": 1.0 * u.L}, parameters=numbers(u), open_joints=("grip",))
    got = cc.simulate(m, start, until=1.5 * u.T, rtol=RTOL, t_eval=np.linspace(0, 1.5, 9) * u.T, events=[touch, let])
    assert got.good, got.complaints()
    yield [x.t for x in got.record if x.what in ("touch", "let")], "s"
    yield from of(got, "drop", "drop'", "lift", "lift'")


@functools.cache
def catch() -> Mechanism:
    """A weight that falls on a sprung table, and is held by it."""
    m, L, M, T = begun("catch")
    weight = m.body("weight", cc.box(size=(0.1 * L, 0.1 * L, 0.1 * L), mass=0.7 * M))
    table = m.body("table", cc.box(size=(0.5 * L, 0.05 * L, 0.5 * L), mass=1.1 * M))
    m.prismatic("drop", m.ground, weight, axis=(0, 1, 0))
    m.prismatic("lift", m.ground.at(0, 0.5 * L, 0), table, axis=(0, 1, 0))
    m.weld("grip", table, weight, cut=True)
    m.joint_spring("lift", 300 * M / (T * T))
    m.joint_damper("lift", 2 * M / T)
    return m


def sampled(u: Units) -> Told:
    """A controller that is asked again and again."""
    m, L, M, _ = begun("sampled")
    arm = m.body("arm", cc.rod(length=0.7 * L, mass=1.1 * M, radius=0.02 * L))
    m.revolute("hinge", m.ground, arm)
    stiff, damps = 30 * u.energy, 3 * u.energy * u.T
    hold = cc.Sampled(lambda t, now: stiff * (0.4 - now["hinge"]) - damps * now["hinge'"], period=0.02 * u.T)
    m.motor("hinge", torque=hold)
    got = cc.simulate(m, m.assemble(hinge=-0.3, parameters=numbers(u)), until=0.31 * u.T, rtol=RTOL)
    assert got.good, got.complaints()
    yield from of(got, "hinge", "hinge'", "hinge.motor")


def resumed(u: Units) -> Told:
    """A run that is interrupted, and goes on from what it saved."""

    def interrupt(t: float, steps: int) -> None:
        raise KeyboardInterrupt

    m, start = gears(), at(gears(), u)
    options = {"until": 3.0 * u.T, "rtol": RTOL, "save_every": 0.0, "t_eval": np.linspace(0, 3, 9) * u.T}
    with tempfile.TemporaryDirectory() as folder:
        with pytest.raises(cc.Interrupted) as caught:
            cc.simulate(m, start, save_to=f"{folder}/run", progress=interrupt, **options)
        assert not caught.value.run.complete
        got = cc.simulate(m, start, save_to=f"{folder}/run", **options)
        yield from of(got, "O", "C", "C'")


def swept(**options: Any) -> Callable[[Units], Told]:
    """A study in a batch."""

    def told(u: Units) -> Told:
        ratios, scaled = np.linspace(3.0, 7.0, 64), {k: x(u) if callable(x) else x for k, x in options.items()}
        times = np.linspace(0, 0.2, 9) * u.T
        study = {"O.rotor.ratio": ratios}, 0.2 * u.T
        got = cc.sweep(press(), *study, start=at(press(), u), keep=["O", "slide"], t_eval=times, **scaled)
        assert "batch" in got.attrs["engine"], got.attrs["engine"]
        assert (got["status"] == "finished").all()
        yield from of(got, "O", "slide")
        yield got["steps"].values, "steps"

    return told


def reactions(u: Units) -> Told:
    """Forces and moments in joints, with redundant closures."""
    got = run(gears(), u)
    for joint in ("O", "B"):
        yield got.reaction(joint)["force"].values, "N"
    yield got.reaction("O")["moment"].values[:, 2], "N m"
    yield from of(got, "C", "C''", "power")


def mobile(u: Units) -> Told:
    """Freedoms, repeated closures, and what may be independent."""
    m = gears()
    found = m.mobility(at(m, u))
    yield [found.true, len(found.redundant)], ""
    yield [len(found.independent), len(found.possible)], ""


def modes(u: Units) -> Told:
    """All ways to put a loop together."""
    found = press().assemblies(O=0.7, parameters=numbers(u), starts=40)
    yield len(found), ""
    yield sorted(x.state.coordinates["slide"] for x in found), "m"


def rests(u: Units) -> Told:
    """Balance, small motions about it, and their frequencies."""
    m = press()
    state = m.equilibrium({"O": 0.1}, parameters=numbers(u))
    yield [state.coordinates[x] for x in "OA"], ""
    yield state.coordinates["slide"], "m"
    about = m.linearise(state, inputs=["O.motor"], outputs=["slide"])
    assert about.in_equilibrium
    assert not m.linearise(at(m, u)).in_equilibrium
    yield about.modes().frequencies, "Hz"
    yield about.modes().damping_ratios, ""
    yield np.abs(about.eigenvalues), "1/s"
    yield about.C[0, 0], "m"


def followed(u: Units) -> Told:
    """A path of a slide: the motion, efforts along it, reactions."""
    m = press()
    path = {"slide": (0.35 + 0.03 * cc.math.sin(3 * cc.t / parameter("T"))) * parameter("L")}
    motion = cc.follow(m, path, until=1.0 * u.T, samples=21, parameters=numbers(u), guess={"O": 0.7})
    yield from of(motion, "O", "O'", "O''", "slide")
    need = cc.inverse_dynamics(m, motion)
    yield need.tau, "N m"
    yield need.reaction("B")["force"].values, "N"
    yield need.conditioning, ""


def driven(u: Units) -> Told:
    """A prescribed motion, whose law jumps in its acceleration at an instant."""
    m = lift()
    got = cc.simulate(m, m.assemble(parameters=numbers(u)), until=0.5 * u.T, rtol=RTOL)
    assert got.good, got.complaints()
    yield from of(got, "up", "up'", "swing", "swing'", "up.drive")


@functools.cache
def lift() -> Mechanism:
    """A hoist that moves evenly, and from an instant on faster and faster; a pendulum hangs on it."""
    m, L, M, T = begun("lift")
    cabin = m.body("cabin", cc.box(size=(0.1 * L, 0.1 * L, 0.1 * L), mass=0.7 * M))
    arm = m.body("arm", cc.rod(length=0.7 * L, mass=1.1 * M, radius=0.02 * L))
    m.prismatic("up", m.ground, cabin, axis=(0, 1, 0))
    m.revolute("swing", cabin, arm)
    late = cc.t / T - 0.2
    m.drive("up", 0.3 * L * (cc.t / T + cc.math.where(late > 0, late * late, 0.0)))
    return m


def slides(u: Units) -> Told:
    """Two weights on slides: all of the state has a unit of length."""
    start = weights().assemble(one=1.0 * u.L, two=0.5 * u.L, parameters=numbers(u))
    times = np.linspace(0, 1.0, 9) * u.T
    got = cc.simulate(weights(), start, until=1.0 * u.T, solver="radau5", rtol=RTOL, t_eval=times)
    assert got.good, got.complaints()
    yield from of(got, "one", "one'", "two", "two'")
    yield got.counts.steps, "steps"


@functools.cache
def weights() -> Mechanism:
    """One hangs on the other, by springs."""
    m, L, M, T = begun("weights")
    one, two = (m.body(name, cc.box(size=(0.1 * L, 0.1 * L, 0.1 * L), mass=0.7 * M)) for name in ("a", "b"))
    m.prismatic("one", m.ground, one, axis=(0, 1, 0))
    m.prismatic("two", one, two, axis=(0, 1, 0))
    m.joint_spring("one", 30 * M / (T * T))
    m.joint_spring("two", 70 * M / (T * T))
    return m


def singular(u: Units) -> Told:
    """A parallelogram that comes to its flat pose, and stops there."""
    start = flat().assemble(O=0.5, parameters=numbers(u), guess={"C": 0.5}, velocity={"O": -2.0 / u.T})
    with pytest.raises(cc.RunError, match="singular pose") as caught:
        cc.simulate(flat(), start, until=0.4 * u.T, rtol=RTOL, singularity="stop")
    got = caught.value.run
    yield got.t[-1], "s"
    yield got.record[-1].t, "s"


@functools.cache
def flat() -> Mechanism:
    """A parallelogram in a plane."""
    m, L, M, _ = begun("flat")
    one, two, bar = (
        m.body(name, cc.rod(length=length * L, mass=M, radius=0.01 * L))
        for name, length in (("one", 1.0), ("two", 1.0), ("bar", 2.0))
    )
    m.revolute("O", m.ground, one)
    m.revolute("A", one.tip, bar)
    m.revolute("C", m.ground.at(2.0 * L, 0, 0), two)
    m.revolute("B", bar.tip, two.tip)
    return m


@functools.cache
def bending() -> Mechanism:
    """A slider-crank whose rod bends."""
    m, L, M, T = begun("bending")
    crank = m.body("crank", cc.rod(length=1.1 * L, mass=1.3 * M, radius=0.02 * L))
    rod = m.body("rod", cc.rod(length=3.9 * L, mass=1.7 * M))
    slider = m.body("slider", cc.box(size=(0.6 * L, 0.4 * L, 0.4 * L), mass=2.1 * M))
    m.revolute("O", m.ground, crank)
    m.revolute("A", crank.tip, rod)
    m.prismatic("slide", m.ground, slider, axis=(1, 0, 0))
    m.revolute("B", rod.tip, slider)
    m.motor("O", torque=5.9 * M * L * L / (T * T))
    m.joint_spring("slide", 2.0 * M / (T * T), rest=3.0 * L)
    stiff = m.parameter("E", 2e5)
    rod.flexible(E=stiff, section=cc.Section(A=2.0 * L**2, Iz=0.013 * L**4), shapes=cc.shapes.pinned_pinned(y=1))
    return m


def bent_start(u: Units, gravity: float = 9.7) -> State:
    """A start of it."""
    p = numbers(u, gravity, E=2e5 * u.force / u.L**2)
    return bending().assemble(O=1.2, guess={"slide": 4.0 * u.L}, parameters=p)


def bent(u: Units, gravity: float = 9.7, **options: Any) -> Any:
    """A run of it."""
    times = np.linspace(0, 0.2, 9) * u.T
    got = cc.simulate(bending(), bent_start(u, gravity), until=0.2 * u.T, t_eval=times, rtol=1e-7, **options)
    assert got.good, got.complaints()
    return got


def flexible(u: Units) -> Told:
    """Assumed modes."""
    got = bent(u)
    yield from of(got, "O", "O'", "slide", "kinetic_energy")
    yield got.deflection("rod").values, "m"
    yield got.reaction("B")["force"].values, "N"
    yield got.counts.steps, "steps"


def elements(**options: Any) -> Callable[[Units], Told]:
    """Finite elements."""

    def told(u: Units) -> Told:
        got = bent(u, **{"method": cc.ERLS(), **{k: x(u) if callable(x) else x for k, x in options.items()}})
        yield from of(got, "O", "O'", "slide")
        yield got.deflection("rod").values, "m"
        yield got.reaction("A")["force"].values, "N"
        yield got.counts.steps, "steps"

    return told


def element_modes(u: Units) -> Told:
    """Frequencies with finite elements."""
    yield bending().modes(bent_start(u), method=cc.ERLS()).frequencies[:4], "Hz"


FIXED = {"step": lambda u: 2.0**-9 * u.T, "rtol": 1e-3}
VERBS: dict[str, Callable[[Units], Told]] = {
    "dop853": marched(),
    "dopri5": marched(solver="dopri5"),
    "radau5": marched(solver="radau5"),
    "rodas5p": marched(solver="rodas5p"),
    "auto": marched(solver="auto"),
    "cvodes": marched(solver="cvodes"),
    "idas": marched(solver="idas"),
    "rk4": marched(solver="rk4", **FIXED),
    "semi-implicit-euler": marched(solver="semi-implicit-euler", **FIXED | {"rtol": 1e-1}),
    "rosenbrock2": marched(solver="rosenbrock2", **FIXED),
    "GGL": marched(method=cc.GGL(), solver="radau5"),
    "GGL by idas": marched(method=cc.GGL(), solver="idas"),
    "Index3": marched(method=cc.Index3(), step=lambda u: 2.0**-9 * u.T, rtol=1e-3),
    "Projection": marched(method=lambda u: cc.Projection(sigma=10.0 / u.T)),
    "IndependentCoordinates": marched(method=cc.IndependentCoordinates()),
    "OperationalSpace": marched(method=cc.OperationalSpace()),
    "DeNOC": marched(method=cc.DeNOC()),
    "Baumgarte": marched(method=lambda u: cc.Multipliers(stabilise=cc.Baumgarte(10.0 / u.T, 10.0 / u.T))),
    "VirtualSpring": marched(method=spring, solver="radau5"),
    "without gravity": marched(gravity=0.0, until=0.2),
    "stop": marched(gravity=0.0),
    "events": events,
    "switches": switches,
    "sampled": sampled,
    "resumed": resumed,
    "swept": swept(rtol=RTOL),
    "swept in lanes": swept(solver=lambda u: cc.solvers.RK4(step=2.0**-9 * u.T), rtol=1e-3),
    "reactions": reactions,
    "mobility": mobile,
    "assemblies": modes,
    "equilibrium and linearise": rests,
    "follow and inverse dynamics": followed,
    "drive": driven,
    "slides": slides,
    "singular": singular,
    "flexible": flexible,
    "ERLS": elements(),
    "generalised-alpha": elements(solver="generalised-alpha", method=cc.ERLS(rho_inf=0.8)),
    "ERLS sagged": elements(method=cc.ERLS(start="sagged")),
    "ERLS without gravity": elements(gravity=0.0),
    "ERLS modes": element_modes,
}
