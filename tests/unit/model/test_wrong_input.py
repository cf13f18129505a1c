"""Every argument of every drawing method and shape, given what it cannot take: a sentence, and nothing is changed."""

import math

import numpy as np
import pytest

import closedchain as cc
from closedchain.model.forces.actions import PointSpring
from closedchain.verbs import VERBS


class Something:
    """An object of no use to anyone."""


class Push:
    """The smallest law of control."""

    def efforts(self, mechanism):
        return {"O": 1.0}


OTHER = cc.Mechanism("other")
THEIRS = OTHER.body("theirs", cc.rod(1.0, 1.0))
THEIR_JOINT = OTHER.revolute("their joint", OTHER.ground, THEIRS)

OBJECTS = [Something(), Something, OTHER, {"x": 1}, {1, 2, 3}, b"1", 1j, slice(1), cc.rod(1.0, 1.0), [[1, 2], 3]]
NO_NUMBER = [*OBJECTS, None, "1", "", "x", math.nan, math.inf, 10**400, [], [1], (1, 2), np.zeros(1), np.eye(3), THEIRS]
NO_NUMBER += [THEIR_JOINT, OTHER.parameters, cc.rod, np.array("1"), np.datetime64("2020-01-01"), THEIRS.tip.place]
NOT_DRAWN = [cc.t, THEIR_JOINT.q, THEIRS.tip.place[0]]  # expressions, but not of parameters
NO_TEXT = [*OBJECTS, 5, 1.5, True, "", (), np.zeros(3), cc.t, THEIRS, THEIR_JOINT, cc.rod]
NO_NAME = [*NO_TEXT, None, "a", "ground", "a/b", " x", "x'", "time"]
NO_VECTOR = [*OBJECTS, 1.0, "123", (1, 2), (1, 2, 3, 4), ("1", "2", "3"), (None, 0, 0), (math.nan, 0, 0), cc.t]
NO_VECTOR += [np.zeros(2), np.array(1.0), np.array(["1", "2", "3"]), np.array([None, 0, 0]), np.zeros((3, 3)), THEIRS]
NO_JOINT = [*NO_TEXT, None, "gone", THEIR_JOINT]
NO_PLACE = [*OBJECTS, None, "a", 1.0, (0, 0, 0), np.zeros(3), THEIRS, THEIRS.tip, THEIRS.at(1, 0, 0), cc.t, cc.rod]
NO_EFFORT = [x for x in NO_NUMBER if not callable(x)]
NO_EFFORT += [lambda: 1, lambda t, q: t, lambda t: "1", lambda t: None, lambda t: (t, t), lambda t, q, v: q[0], max]
NO_COORDINATE = [*NO_TEXT, "gone", -1, 7, 0.5]
NO_COORDINATE.remove(True)  # Python's other name of the number one
NO_LABEL = [*NO_TEXT, None, "gone"]


def draw(m, call, **changed):
    """One of the calls below with its usual arguments, some of them changed."""
    method, usual = CALLS[call]
    return method(m, **(usual(m) | changed))


def shape(make, **usual):
    return lambda m, **k: m.body("new", make(**k)), lambda m: usual


def joint(kind):
    return lambda m, **k: m.joint(kind, **k), lambda m: {"name": "J", "a": m.bodies["e"], "b": m.bodies["f"]}


def ends(m):
    """Two frames of a drawing."""
    return m.ground["origin"], m.bodies["a"]["com"]


CALLS = {
    "Mechanism": (lambda m, **k: cc.Mechanism(**k), lambda m: {"name": "new"}),
    "parameter": (lambda m, **k: m.parameter(**k), lambda m: {"name": "k", "value": 1.0}),
    "set": (lambda m, name, value: m.parameters.update({name: value}), lambda m: {"name": "a.mass", "value": 2.0}),
    "override": (lambda m, name, value: m.values({name: value}), lambda m: {"name": "a.mass", "value": 2.0}),
    "values": (lambda m, overrides: m.values(overrides), lambda m: {}),
    "body": (lambda m, **k: m.body(**k), lambda m: {"name": "new", "shape": cc.rod(1.0, 1.0)}),
    "rigid": shape(cc.rigid, mass=1.0),
    "point_mass": shape(cc.point_mass, mass=1.0),
    "rod": shape(cc.rod, length=1.0, density=1.0, radius=0.1),
    "box": shape(cc.box, size=(1, 1, 1), mass=1.0),
    "cylinder": shape(cc.cylinder, radius=1.0, length=1.0, mass=1.0, inner=0.1),
    "plate": shape(cc.plate, width=1.0, height=1.0, density=1.0, thickness=0.1),
    "disc": shape(cc.disc, radius=1.0, density=1.0, thickness=0.1),
    "ball": shape(cc.ball, radius=1.0, density=1.0),
    "at": (lambda m, **k: m.spring("s", m.ground, m.bodies["a"].at(**k), 1.0), lambda m: {}),
    "frame": (lambda m, **k: m.bodies["a"].frame(**k), lambda m: {"name": "eye"}),
    "find_frame": (lambda m, **k: m.find_frame(**k), lambda m: {}),
    "revolute": joint("revolute"),
    "universal": joint("universal"),
    "spherical": joint("spherical"),
    "planar": joint("planar"),
    "screw": joint("screw"),
    "stops": (
        lambda m, **k: m.revolute("J", m.bodies["e"], m.bodies["f"], limits=cc.Stops(**k)),
        lambda m: {"low": -1.0, "high": 1.0, "stiffness": 1.0},
    ),
    "friction": (
        lambda m, **k: m.revolute("J", m.bodies["e"], m.bodies["f"], friction=cc.Friction(**k)),
        lambda m: {"coulomb": 1.0},
    ),
    "motor": (lambda m, **k: m.motor(**k), lambda m: {"joint": "O", "torque": 1.0}),
    "actuator": (
        lambda m, **k: m.actuator(**k),
        lambda m: {"joint": "O", "model": cc.ForceLimit(-1.0, 1.0), "command": 1.0},
    ),
    "control": (lambda m, **k: m.control(**k), lambda m: {"law": Push()}),
    "joint_spring": (lambda m, **k: m.joint_spring(**k), lambda m: {"joint": "O", "stiffness": 1.0}),
    "joint_damper": (lambda m, **k: m.joint_damper(**k), lambda m: {"joint": "O", "damping": 1.0}),
    "rotor": (lambda m, **k: m.rotor(**k), lambda m: {"joint": "O", "inertia": 1.0}),
    "force_element": (
        lambda m, element: m.force_element(element),
        lambda m: {"element": PointSpring("elastic", *ends(m), 1.0, 0.0, 0.0)},
    ),
    "couple": (lambda m, **k: m.couple(**k), lambda m: {"name": "g", "driven": "O", "driver": "P.angle"}),
    "drive": (lambda m, **k: m.drive(**k), lambda m: {"joint": "O", "position": cc.t}),
    "force": (lambda m, **k: m.force(**k), lambda m: {"name": "push", "at": m.bodies["a"]}),
    "spring": (
        lambda m, **k: m.spring(**k),
        lambda m: {"name": "s", "a": m.ground, "b": m.bodies["a"], "stiffness": 1.0},
    ),
}

WRONG = {
    "Mechanism name": NO_TEXT,
    "Mechanism gravity": [*NO_VECTOR, None, THEIRS.tip.place],
    "parameter name": [*NO_TEXT, None],
    "parameter value": [*NO_NUMBER, *NOT_DRAWN],
    "set name": ["gone", 5, None],
    "set value": [*NO_NUMBER, *NOT_DRAWN],
    "override name": ["gone", 5, None],
    "override value": [*NO_NUMBER, *NOT_DRAWN],
    "values overrides": [Something(), 5, "a.mass", [("a.mass", 1.0)], {"gone": 1.0}, cc.t],
    "body name": NO_NAME,
    "body shape": [Something(), None, 1.0, "rod", cc.rod, THEIRS, (1.0, 1.0), cc.t],
    "rigid mass": [*NO_NUMBER, *NOT_DRAWN],
    "rigid com": [*NO_VECTOR, None],
    "rigid inertia": [*OBJECTS, None, 1.0, "123", (1, 2), ("1", "1", "1"), (math.nan, 1, 1), np.eye(4), THEIRS, cc.t]
    + [[[1, "0", 0], ["0", 1, 0], [0, 0, 1]], [[1, 0], [0, 1], [0, 0]], np.full((3, 3), math.nan), (1, (2, 3), 4)],
    "point_mass at": [*NO_VECTOR, None],
    "rod length": [*NO_NUMBER, *NOT_DRAWN, -1.0],
    "rod radius": [*NO_NUMBER, *NOT_DRAWN, -1.0],
    "rod density": [*NO_NUMBER, *NOT_DRAWN],
    "box size": [*NO_VECTOR, None],
    "box mass": [*NO_NUMBER, *NOT_DRAWN],
    "cylinder radius": [*NO_NUMBER, *NOT_DRAWN],
    "cylinder length": [*NO_NUMBER, *NOT_DRAWN],
    "cylinder inner": [*NO_NUMBER, *NOT_DRAWN, 2.0],
    "plate width": [*NO_NUMBER, *NOT_DRAWN],
    "plate thickness": [*NO_NUMBER, *NOT_DRAWN],
    "disc radius": [*NO_NUMBER, *NOT_DRAWN],
    "ball radius": [*NO_NUMBER, *NOT_DRAWN],
    "at x": [*NO_NUMBER, *NOT_DRAWN],
    "at rpy": [*NO_VECTOR, (cc.t, 0, 0)],
    "at R": [*NO_VECTOR, [[1, 0], [0, 1], [0, 0]], [[cc.t, 0, 0], [0, "1", 0], [0, 0, 1]], np.zeros((3, 3)), [1, 2, 3]],
    "at axis": [*NO_VECTOR, (0, 0, 0), (cc.t, 0, 1)],
    "frame name": [*NO_TEXT, None, "tip", "at", "a.b"],
    "frame at": [*NO_VECTOR, None, THEIRS.tip.place],
    "find_frame name": [*NO_TEXT, None, "gone", "gone.tip", "a.gone", "ground.gone", THEIRS.tip],
    "revolute name": NO_NAME,
    "revolute a": NO_PLACE,
    "revolute b": NO_PLACE,
    "revolute axis": [*NO_VECTOR, (0, 0, 0), (cc.t, 0, 1)],
    "revolute guess": [x for x in NO_NUMBER if x is not None and not isinstance(x, list | np.ndarray)] + NOT_DRAWN,
    "revolute limits": [*OBJECTS, 1.0, "12", (1, 2, 3), ("0", "1"), (0, None), (1, 0), (0, math.nan), (0, 10**400)]
    + [np.zeros(3), cc.t, (0, cc.t), THEIRS],
    "revolute friction": [*OBJECTS, 1.0, "x", (1.0,), cc.t, cc.Friction, cc.Friction("1"), cc.Friction(None)],
    "revolute cut": [*OBJECTS, "yes", 1, 0.0, np.zeros(3), cc.t],
    "revolute pitch": [1.0, "1", math.nan, cc.t, (1, 2)],
    "universal axes": [*NO_VECTOR, ((1, 0, 0),), ((1, 0, 0), 5), ((1, 0, 0), "yyy"), ((1, 0, 0), (1, 0, 0))],
    "spherical guess": [*OBJECTS, 1.0, "1000", (0, 0, 0, 0), (0, 0, 0), np.zeros(4), (1, 0, 0, "0"), THEIRS],
    "planar limits": [(0, 1), ((0, 1), (0, 1)), ((0, 1), None, 5), ((0, 1), None, (0, "1")), np.zeros((2, 2))],
    "planar friction": [(cc.Friction(1.0),), (None, None, 0.1), (None, None, cc.Friction(viscous="1"))],
    "screw pitch": [*NO_NUMBER, *NOT_DRAWN, 0.0],
    "stops low": [*NO_NUMBER, *NOT_DRAWN, 2.0],
    "stops stiffness": [*NO_NUMBER, *NOT_DRAWN],
    "stops damping": [*NO_NUMBER, *NOT_DRAWN],
    "friction viscous": [*NO_NUMBER, *NOT_DRAWN, -1.0],
    "friction coulomb": [*NO_NUMBER, *NOT_DRAWN, -1.0],
    "friction velocity": [*NO_NUMBER, *NOT_DRAWN, 0.0, -1.0],
    "motor joint": NO_JOINT,
    "motor torque": NO_EFFORT,
    "motor coordinate": NO_COORDINATE,
    "motor name": [x for x in NO_NAME if x is not None],
    "actuator joint": NO_JOINT,
    "actuator model": [*OBJECTS, None, 1.0, "motor", cc.t, cc.ForceLimit, THEIRS],
    "actuator command": NO_EFFORT,
    "actuator coordinate": NO_COORDINATE,
    "actuator name": [x for x in NO_NAME if x is not None],
    "control law": [*OBJECTS, None, 1.0, "law", cc.t, Push],
    "control actuator": [*OBJECTS, 1.0, "motor", cc.t, cc.ForceLimit, {"gone": cc.ForceLimit(-1.0, 1.0)}],
    "joint_spring joint": NO_JOINT,
    "joint_spring against": [x for x in NO_LABEL if x is not None],
    "joint_damper against": [x for x in NO_LABEL if x is not None],
    "joint_spring stiffness": [*NO_NUMBER, *NOT_DRAWN],
    "joint_spring rest": [*NO_NUMBER, *NOT_DRAWN],
    "joint_spring coordinate": NO_COORDINATE,
    "joint_damper joint": NO_JOINT,
    "joint_damper damping": [*NO_NUMBER, *NOT_DRAWN, -1.0],
    "rotor joint": NO_JOINT,
    "rotor inertia": [*NO_NUMBER, *NOT_DRAWN],
    "rotor ratio": [*NO_NUMBER, *NOT_DRAWN],
    "force_element element": [
        None,
        5,
        "spring",
        Something(),
        cc.t,
        PointSpring,
        PointSpring("s", THEIRS, THEIRS, 1.0, 0.0, 0.0),
    ],
    "couple name": NO_NAME,
    "couple driven": NO_LABEL,
    "couple driver": NO_LABEL,
    "couple ratio": [*NO_NUMBER, *NOT_DRAWN],
    "couple offset": [*NO_NUMBER, *NOT_DRAWN],
    "drive joint": NO_JOINT,
    "drive position": NO_EFFORT,
    "force name": NO_NAME,
    "force at": [*NO_PLACE, OTHER.ground],
    "force force": [*(x for x in NO_VECTOR if x is not cc.t), None, cc.t, lambda t: (t, t, t), (max, 0, 0)],
    "force moment": [*NO_VECTOR, None, lambda t: (t, t, t)],
    "force axes": [*NO_TEXT, None, "body"],
    "spring name": NO_NAME,
    "spring a": NO_PLACE,
    "spring b": NO_PLACE,
    "spring stiffness": [*NO_NUMBER, *NOT_DRAWN],
    "spring length": [*NO_NUMBER, *NOT_DRAWN],
    "spring damping": [*NO_NUMBER, *NOT_DRAWN],
}


@pytest.fixture
def full(m, a, b):
    """Bodies and joints for the calls above."""
    m.revolute("O", m.ground, a)
    m.planar("P", a.tip, b)
    m.body("e", cc.ball(1.0, 1.0))
    m.body("f", cc.ball(1.0, 1.0))
    return m


def everything_drawn(m):
    frames = {body.name: list(body.frames) for body in (m.ground, *m.bodies.values())}
    tables = {k: list(v) for k, v in vars(m).items() if isinstance(v, dict)}
    return dict(m.parameters), set(m._taken), m.revision, frames, tables


def refusal(m, call, **changed):
    """What is said when the call is refused; None if it is not. Any other error is a failure of the test."""
    try:
        draw(m, call, **changed)
    except cc.ModelError as error:
        return str(error)
    return None


@pytest.mark.parametrize("argument", WRONG)
def test_wrong_input_is_refused_with_a_sentence_and_leaves_no_trace(full, argument):
    call, name = argument.split()
    before = everything_drawn(full)
    for value in WRONG[argument]:
        said = refusal(full, call, **{name: value})

        assert said is not None and len(said.split()) > 3, f"{argument} = {value!r}: {said}"
        assert everything_drawn(full) == before, f"{argument} = {value!r}"


NEEDED = {
    "values": {"overrides": {"a.mass": 1.0}},
    "at": {"x": 0.5},
    "find_frame": {"name": "a.tip"},
    "screw": {"pitch": 0.1},
}


@pytest.mark.parametrize("call", CALLS)
def test_the_same_calls_with_their_usual_arguments_are_fine(full, call):
    """Otherwise the test above would prove nothing."""
    assert refusal(full, call, **NEEDED.get(call, {})) is None


def test_no_drawing_method_and_no_shape_is_left_out():
    """A new one belongs into the tables above."""
    public = {name for name in dir(cc.Mechanism) if not name.startswith("_")}
    asked = {method for kind, method, _ in VERBS if kind == "Mechanism"}
    asked |= {"validate"}  # takes parameters as `values` does
    kinds = {"prismatic", "cylindrical", "free", "weld", "joint"}  # `joint` itself is what the other kinds call
    shapes = {"rigid", "point_mass", "rod", "box", "cylinder", "plate", "disc", "ball"}

    assert public - asked - kinds | shapes <= set(CALLS)
    assert {argument.split()[0] for argument in WRONG} == set(CALLS)
