"""Machines: drawings with actuators, controllers, events, gears, drives, stops, friction, flexible links, and ERLS.

Like `drawings`, with the same judge; parts are Python, as text. About one number in ten cannot be meant.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.attack.bases import act, pick, random_data
from benchmarks.attack.data import Data
from benchmarks.attack.drawings import inexact, judged, method_and_solver
from benchmarks.attack.outcome import Outcome
from closedchain.model.joints.types import JOINT_TYPES
from closedchain.model.library import FLEXIBLE

BUDGET = 180.0  # s of processor time: flexible mechanisms take some to compile
ELASTIC = [name for name in FLEXIBLE if name not in ("flexible-pacdrive", "flexible-rrr3")]
WILD = ("nan", "inf", "-1.0", "0.0", "1e300", "1e-300", "'text'", "None", "True", "[1.0, 2.0]", "1j", "10**400", "cc.t")


def number(rng: np.random.Generator, low: float, high: float, wild: float = 0.008) -> str:
    """A number as text, between these by its logarithm; sometimes another."""
    return pick(rng, WILD) if rng.random() < wild else f"{low * (high / low) ** rng.random():.4g}"


SELDOM = 0.05  # how often something does not fit


def coordinate(rng: np.random.Generator, data: Data, scalar: bool = False) -> tuple[str, int, bool]:
    """A joint, the number of one of its velocities, and whether that slides; ``scalar``: its rate, if possible."""
    found = [
        (j["name"], i, unit == "m/s", kind.has_quaternion)
        for j in data["joints"]
        for kind in [JOINT_TYPES[j["kind"]]]
        for i, unit in enumerate(kind.velocity_units)
    ]
    scalars = [x for x in found if not x[3]]
    return pick(rng, scalars if scalar and scalars and rng.random() > SELDOM else found)[:3]


def label(data: Data, name: str, index: int) -> str:
    """A coordinate as it is named in results."""
    kind = JOINT_TYPES[next(j["kind"] for j in data["joints"] if j["name"] == name)]
    return name if kind.nv == 1 else f"{name}.{kind.velocities[index]}"


def command(rng: np.random.Generator, speed: str) -> str:
    """What an actuator or a motor is asked: a number, a law, or a sampled controller."""
    size, period = number(rng, 0.1, 30), number(rng, 1e-3, 0.1)
    return pick(
        rng,
        [
            size,
            f"{size} * cc.math.sin(3 * cc.t)",
            f"lambda t: cc.math.where(t % 0.02 < 0.01, {size}, -1.0)",
            f"cc.Sampled(lambda t, now: -{size} * now[{speed!r}], period={period})",
            f"cc.Sampled(lambda t, now: {pick(rng, ['nan', 'None', '(1.0, 2.0)', 'now[1]', 't'])}, period={period})",
            f"cc.math.interp(cc.t, [0.0, 0.01, 0.1], [0.0, {size}, 0.0])",
        ],
    )


def actuator(rng: np.random.Generator, data: Data) -> str:
    """A motor or a cylinder with limits."""
    name, index, slides = coordinate(rng, data)
    electric = (
        f"resistance={number(rng, 0.1, 10)}, torque_constant={number(rng, 0.01, 1)}, "
        f"rotor_inertia={number(rng, 1e-6, 1e-2)}, viscous={number(rng, 1e-5, 1e-2)}, "
        f"coulomb={number(rng, 1e-4, 0.1)}, max_voltage={number(rng, 1, 100)}, max_current={number(rng, 0.1, 100)}"
    )
    limit = f"cc.ForceLimit({number(rng, 1, 10)} * -1.0, {number(rng, 1, 10)})"
    if slides:
        models = [
            f"cc.ElectricCylinder(lead={number(rng, 1e-3, 0.1)}, {electric})",
            f"cc.HydraulicCylinder(bore={number(rng, 0.01, 0.1)}, rod={number(rng, 0.005, 0.02)}, "
            f"supply_pressure={number(rng, 1e4, 1e7)}, rated_flow={number(rng, 1e-5, 1e-2)}, "
            f"drive={pick(rng, ['valve', 'force'])!r})",
        ]
    else:
        drive = pick(rng, ["voltage", "current", "torque", "force", "valve"])
        models = [f"cc.DCMotor(gear={number(rng, 1, 100)}, drive={drive!r}, {electric})"]
    inner = pick(rng, [*models, limit])
    elastic = (
        f"cc.SeriesElastic({inner}, stiffness={number(rng, 10, 1e5)}, damping={number(rng, 0.01, 10)}, "
        f"inertia={number(rng, 1e-3, 1)})"
    )
    model = pick(rng, [*models, *models, limit, elastic])
    speed = label(data, name, index) + "'"
    return f"m.actuator({name!r}, {model}, command={command(rng, speed)}, coordinate={index})"


def motor(rng: np.random.Generator, data: Data) -> str:
    """A motor with a law of its own, sampled or not."""
    name, index, slides = coordinate(rng, data)
    told = command(rng, label(data, name, index) + "'")
    return f"m.motor({name!r}, {'force' if slides else 'torque'}={told}, coordinate={index})"


def controller(rng: np.random.Generator, data: Data) -> str:
    """A law along a motion."""
    where = label(data, *coordinate(rng, data, scalar=True)[:2])
    law = pick(rng, ["PD", "ComputedTorque"])
    wanted = pick(
        rng, ["0.3", "0.2 * cc.math.sin(5 * cc.t)", "cc.math.where(cc.t < 0.05, 0.0, 0.1)", "lambda t: 0.1 * t"]
    )
    more = pick(rng, ["", f", limit={number(rng, 1, 100)}"])
    return f"m.control(cc.{law}({{{where!r}: {wanted}}}, kp={number(rng, 1, 1e4)}, kd={number(rng, 0.1, 100)}{more}))"


def gear(rng: np.random.Generator, data: Data) -> str:
    """Two coordinates that are coupled."""
    a, b = (label(data, *coordinate(rng, data, scalar=True)[:2]) for _ in "ab")
    for _ in range(9):
        if a == b:
            b = label(data, *coordinate(rng, data, scalar=True)[:2])
    data["assemble"]["hold"] = {}  # which would hold both
    return f"m.couple('gear', {a!r}, {b!r}, ratio={number(rng, 0.2, 5)})"


def drive(rng: np.random.Generator, data: Data) -> str:
    """A coordinate that is prescribed."""
    name, index, _ = coordinate(rng, data, scalar=True)
    data["assemble"]["hold"].pop(name, None)
    motion = pick(
        rng,
        ["0.3 * cc.math.sin(3 * cc.t)", "6.28 * cc.t", "cc.math.where(cc.t < 0.05, 0.0, 1.0)", "cc.math.exp(9 * cc.t)"],
    )
    return f"m.drive({name!r}, {number(rng, 0.1, 1)} + {motion}, coordinate={index})"


def flexible(rng: np.random.Generator, data: Data) -> str:
    """A body that bends."""
    body, length = pick(rng, data["bodies"]), float(rng.uniform(0.1, 1))
    if rng.random() > SELDOM:
        bends = body["mass"] * length**2 / 12
        body |= {"com": [length / 2, 0.0, 0.0], "inertia": [bends / 1000, bends, bends, 0.0, 0.0, 0.0]}
    shapes = pick(
        rng, ["None", "cc.shapes.craig_bampton(y=1)", "cc.shapes.clamped_free(y=1)", "cc.shapes.pinned_pinned(y=2)"]
    )
    return (
        f"B[{body['name']!r}].flexible(E={number(rng, 1e6, 2e11)}, "
        f"section=cc.Section.rectangle(y={number(rng, 0.005, 0.05)}, z={number(rng, 0.005, 0.05)}), "
        f"length={length!r}, shapes={shapes}, damping={number(rng, 1e-3, 0.1)}, stiffening={bool(rng.integers(2))})"
    )


PARTS: tuple[Callable[[np.random.Generator, Data], str], ...] = (
    actuator, actuator, motor, motor, controller, gear, drive, flexible,
)  # fmt: skip


def resisting(rng: np.random.Generator, data: Data) -> str:
    """Stops and friction in a joint."""
    name, index, _ = coordinate(rng, data, scalar=True)
    joint = next(j for j in data["joints"] if j["name"] == name)
    if rng.random() < 0.5:
        low, high = number(rng, 0.01, 1), number(rng, 0.01, 1)
        text = f"cc.Stops(-{low}, {high}, stiffness={number(rng, 10, 1e6)}, damping={number(rng, 0.1, 100)})"
        nq = JOINT_TYPES[joint["kind"]].nq
        if nq > 1:
            text = f"[{', '.join(text if i == index else 'None' for i in range(nq))}]"
        joint["limits"] = {"eval": text}
    else:
        text = f"cc.Friction({number(rng, 1e-3, 1)}, {number(rng, 1e-3, 10)}, velocity={number(rng, 1e-3, 1)})"
        joint["friction"] = {"eval": text}
    return f"{joint['name']}: {text}"


def events(rng: np.random.Generator, data: Data) -> str:
    """Zeros that are recorded, end the run, or open and close joints."""
    loops = [j["name"] for j in data["joints"] if j["name"].startswith("loop")]
    joint = pick(rng, loops if loops and rng.random() > SELDOM else [j["name"] for j in data["joints"]])
    name, index, _ = coordinate(rng, data)
    when = pick(
        rng,
        [
            f"cc.t - {number(rng, 0.01, 0.2)}",
            f"np.ravel(J[{name!r}].v)[{index}] - {number(rng, 0.01, 1)}",
            f"cc.math.sin({number(rng, 10, 1e3)} * cc.t)",
            "cc.t * 0",
            "cc.conditioning('actuation') - 0.1",
        ],
    )
    then = pick(rng, ["'record'", "'stop'", f"cc.Switch(open={joint!r})", f"cc.Switch(close={joint!r})"])
    then, direction = (then, pick(rng, [-1, 0, 1])) if rng.random() > SELDOM else ("'explode'", 2)
    text = f"[cc.Event('event', {when}, then={then}, direction={direction})]"
    data["simulate"]["events"] = {"eval": text}
    return text


def elastic(rng: np.random.Generator) -> tuple[Data, list[str]]:
    """A mechanism of the library with flexible links, under finite elements or any method."""
    name = pick(rng, ELASTIC)
    data: Data = {"library": name, "joints": [], "calls": [], "assemble": {"hold": {}, "velocity": {}}, "python": []}
    data["simulate"] = {"until": 0.02}
    if rng.random() < 0.3:
        data["simulate"]["rtol"] = 1e-5
        return data, [name]
    text = (
        f"cc.ERLS(elements={pick(rng, ['1', '2', '3', '1', '2', '0'])}, terms={pick(rng, ['consistent', 'paper'])!r}, "
        f"zero={pick(rng, ['chord', 'base', 'chord', 'base', 'nothing'])!r}, "
        f"rho_inf={pick(rng, ['None', '0.8', '0.0', '0.5', '1.2'])}, "
        f"start={pick(rng, ['undeformed', 'sagged'])!r})"
    )
    data["simulate"]["method"] = {"eval": text}
    if rng.random() < 0.7:
        data["simulate"]["step"] = pick(rng, [1e-4, 1e-3, 1e-2])
    return data, [name, text]


def case(rng: np.random.Generator) -> tuple[Data, list[str]]:
    """A machine with one to four parts."""
    if rng.random() < 0.15:
        return elastic(rng)
    data = random_data(rng, bodies=4)
    data["python"] = []
    if rng.random() < 0.3:
        act(rng, data)
    said = []
    for _ in range(int(rng.integers(1, 4))):
        data["python"].append(pick(rng, PARTS)(rng, data))
    for change, chance in ((resisting, 0.4), (events, 0.3), (inexact, 0.15), (method_and_solver, 0.25)):
        if rng.random() < chance:
            said.append(change(rng, data))
    return data, said


def attack(rng: np.random.Generator) -> Outcome:
    """One machine."""
    return judged(*case(rng))
