"""Drawing a mechanism: what may be said, what is refused and how, and that a refusal leaves no trace."""

import math
from itertools import pairwise

import numpy as np
import pytest

import closedchain as cc
from closedchain.model.expression import Expression


@pytest.fixture
def m():
    return cc.Mechanism("rig", gravity=(0, 0, 0))


@pytest.fixture
def a(m):
    return m.body("a", cc.rod(length=1.0, mass=1.0))


@pytest.fixture
def b(m):
    return m.body("b", cc.ball(radius=0.1, mass=1.0))


# ---- numbers ---------------------------------------------------------------------------------------------------------


def test_numbers_of_the_drawing_are_parameters(m, a):
    m.revolute("O", m.ground.at(1, 0, 3), a)
    m.motor("O", torque=6.0)
    m.joint_spring("O", 10.0, rest=0.5)
    m.joint_damper("O", 0.1)
    m.force("push", a.tip, (0, 2.0, 0), moment=(0, 0, 3.0))
    m.spring("string", m.ground, a.tip, 100.0, length=0.2, damping=1.0)

    assert dict(m.parameters) == {
        "a.length": 1.0, "a.mass": 1.0, "ground.O.x": 1.0, "ground.O.z": 3.0, "O.motor": 6.0,
        "O.spring.stiffness": 10.0, "O.spring.rest": 0.5, "O.damper.damping": 0.1, "push.y": 2.0, "push.moment.z": 3.0,
        "string.stiffness": 100.0, "string.length": 0.2, "string.damping": 1.0,
    }  # fmt: skip


def test_a_parameter_may_stand_wherever_a_number_may(m):
    size = m.parameter("size", 2.0)
    arm = m.body("arm", cc.rod(length=size, mass=3 * size))
    m.revolute("O", m.ground.at(size / 2, 0, 0, rpy=(0, 0, size)), arm)
    m.motor("O", torque=size**2)
    value = m.values({"size": 4.0})

    assert list(m.parameters) == ["size"]
    assert value(arm.properties.mass) == 12.0 and value(arm.tip.position[0]) == 4.0
    assert value(m.motors["O.motor"].effort) == 16.0


def test_zeros_are_structure(m):
    assert m.gravity == (0.0, 0.0, 0.0) and len(m.parameters) == 0


def test_parameters_behave_like_a_mapping(m, a):
    m.parameters["a.mass"] = 5

    assert m.parameters["a.mass"] == 5.0 and len(m.parameters) == 2 and list(m.parameters) == ["a.length", "a.mass"]
    assert m.parameters.merged({"a.mass": 7}) == {"a.length": 1.0, "a.mass": 7.0}
    assert m.parameters["a.mass"] == 5.0
    assert "Parameters" in repr(m.parameters)


def test_asking_whether_a_parameter_exists(m, a):
    assert "a.mass" in m.parameters and "a.mas" not in m.parameters
    assert m.parameters.get("a.mas", 3.0) == 3.0


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda m: m.parameters["a.mas"], r"mechanism 'rig' has no parameter 'a\.mas'; did you mean 'a\.mass'"),
        (lambda m: m.parameters.update({"a.mas": 1}), r"no parameter 'a\.mas'"),
        (lambda m: m.parameters["a.radius"], r"no parameter 'a\.radius'.*exactly zero is structure"),
        (lambda m: m.parameters.update({"a.mass": math.nan}), r"parameter 'a\.mass' is nan"),
        (lambda m: m.parameters.update({"a.mass": "heavy"}), r"parameter 'a\.mass' must be a number"),
        (lambda m: m.parameters.update({"a.mass": cc.t}), r"'a\.mass' must be a number, not the expression t"),
        (lambda m: m.parameters.pop("a.mass"), r"parameter 'a\.mass' belongs to the drawing"),
        (lambda m: m.parameters.merged({"mass": 1}), "no parameter 'mass'"),
        (lambda m: m.parameters.merged({"a.mass": math.inf}), r"parameter 'a\.mass' is inf"),
        (lambda m: m.parameter("a.mass", 1.0), r"mechanism 'rig' already has a parameter 'a\.mass'"),
        (lambda m: m.parameter("k", math.nan), "parameter 'k' is nan"),
        (lambda m: m.parameter("k", cc.t), "parameter 'k' needs a number as its value"),
        (lambda m: m.parameter("k", "many"), "parameter 'k' must be a number"),
    ],
    ids=[
        "unknown", "set unknown", "zero", "nan", "text", "expression", "delete", "override unknown", "override inf",
        "twice", "declare nan", "declare expression", "declare text",
    ],
)  # fmt: skip
def test_refused_parameters(m, a, use, message):
    with pytest.raises(cc.ModelError, match=message):
        use(m)


@pytest.mark.parametrize(
    "place",
    [
        lambda m, a, k: m.body("c", cc.rod(length=k, mass=1.0)),
        lambda m, a, k: a.frame("eye", at=(k, 0, 0)),
        lambda m, a, k: a.frame("eye", rpy=(k, 0, 0)),
        lambda m, a, k: m.motor("O", torque=k),
        lambda m, a, k: m.motor("O", torque=lambda t: k * cc.sin(t)),
        lambda m, a, k: m.joint_spring("O", k),
        lambda m, a, k: m.joint_damper("O", k),
        lambda m, a, k: m.force("push", a.tip, (k, 0, 0)),
        lambda m, a, k: m.spring("string", m.ground, a.tip, k),
        lambda m, a, k: m.screw("screw", a.tip, m.body("nut", cc.ball(1, 1)), pitch=k),
    ],
    ids=["shape", "frame", "rpy", "motor", "function", "spring", "damper", "force", "point spring", "pitch"],
)
def test_a_parameter_of_another_mechanism_is_refused(m, a, place):
    m.revolute("O", m.ground, a)
    foreign = cc.Mechanism("other").parameter("k", 1.0)

    with pytest.raises(cc.ModelError, match="uses the parameter 'k', which mechanism 'rig' does not have"):
        place(m, a, foreign)


def test_a_number_of_the_drawing_may_not_depend_on_time(m):
    with pytest.raises(cc.ModelError, match=r"a\.mass may depend on parameters only, not on t"):
        m.body("a", cc.rod(length=1.0, mass=1.0 + cc.t))


# ---- names -----------------------------------------------------------------------------------------------------------


def draw_everything(m, name):
    """Every way to give something a name."""
    a, b = m.bodies["a"], m.bodies["b"]
    return {
        "body": lambda: m.body(name, cc.ball(1, 1)),
        "joint": lambda: m.revolute(name, a, b),
        "motor": lambda: m.motor("O", torque=1.0, name=name),
        "joint spring": lambda: m.joint_spring("O", 1.0, name=name),
        "joint damper": lambda: m.joint_damper("O", 1.0, name=name),
        "force": lambda: m.force(name, a, (1, 0, 0)),
        "spring": lambda: m.spring(name, a, b, 1.0),
    }


KINDS = ["body", "joint", "motor", "joint spring", "joint damper", "force", "spring"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("taken", ["a", "O", "ground", "drive"])
def test_names_are_unique_among_everything(m, a, b, kind, taken):
    m.revolute("O", m.ground, a)
    m.motor("O", torque=1.0, name="drive")

    with pytest.raises(cc.ModelError, match=f"mechanism 'rig' already has something named '{taken}'"):
        draw_everything(m, taken)[kind]()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("bad", ["", 5], ids=repr)
def test_names_are_texts(m, a, b, kind, bad):
    m.revolute("O", m.ground, a)

    with pytest.raises(cc.ModelError, match=f"a name must be a non-empty text, not {bad!r}"):
        draw_everything(m, bad)[kind]()


def test_several_motors_on_one_joint_find_their_own_names(m, a):
    m.revolute("O", m.ground, a)

    assert [m.motor("O", torque=1.0).name for _ in range(3)] == ["O.motor", "O.motor2", "O.motor3"]


# ---- bodies and places -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [1.0, None, "rod", cc.rod], ids=["number", "none", "text", "function"])
def test_a_body_needs_a_shape(m, shape):
    with pytest.raises(cc.ModelError, match="body 'c' needs a shape, for instance"):
        m.body("c", shape)


def test_a_place_is_a_body_or_a_frame(m, a):
    with pytest.raises(cc.ModelError, match=r"joint 'O' connects bodies or frames, not 'a'"):
        m.revolute("O", m.ground, "a")
    with pytest.raises(cc.ModelError, match=r"'push' must be placed on a body or a frame, not on \(1, 2, 3\)"):
        m.force("push", (1, 2, 3), (1, 0, 0))


@pytest.mark.parametrize(
    "use",
    [
        lambda m, f: m.revolute("O", m.ground, f.body),
        lambda m, f: m.revolute("O", m.ground, f),
        lambda m, f: m.revolute("O", f.body.mechanism.ground, m.bodies["a"]),
        lambda m, f: m.force("O", f, (1, 0, 0)),
        lambda m, f: m.spring("O", f, m.bodies["a"], 1.0),
    ],
    ids=["body", "frame", "ground", "force", "spring"],
)
def test_a_frame_of_another_mechanism_is_refused(m, a, use):
    other = cc.Mechanism("other").body("theirs", cc.rod(1, 1))

    with pytest.raises(cc.ModelError, match=r"'O' is placed on body '(theirs|ground)' of another mechanism, 'other'"):
        use(m, other.tip)


# ---- joints ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda m, a, b: m.joint("hinge", "O", a, b), "joint 'O': unknown kind 'hinge'"),
        (lambda m, a, b: m.joint("revolut", "O", a, b), "joint 'O': unknown kind 'revolut'; did you mean 'revolute'"),
        (lambda m, a, b: m.revolute("O", a, a), "joint 'O' connects body 'a' with itself"),
        (lambda m, a, b: m.revolute("O", a, a.tip), "joint 'O' connects body 'a' with itself"),
        (lambda m, a, b: m.revolute("O", m.ground, m.ground.at(1)), "joint 'O' connects body 'ground' with itself"),
        (lambda m, a, b: m.revolute("O", a, b, axis=(0, 0, 0)), r"joint 'O': the axis \(0, 0, 0\) has no direction"),
        (lambda m, a, b: m.revolute("O", a, b, axis=(1, 0)), "joint 'O': an axis is three plain numbers"),
        (lambda m, a, b: m.revolute("O", a, b, axis=(math.nan, 0, 1)), "joint 'O' is nan"),
        (lambda m, a, b: m.revolute("O", a, b, axes=((1, 0, 0), (0, 1, 0))), "joint 'O' is revolute: only a universal"),
        (lambda m, a, b: m.universal("O", a, b, axis=(1, 0, 0)), r"joint 'O' is universal: give axes=\(first"),
        (lambda m, a, b: m.universal("O", a, b, axes=((1, 0, 0),)), "joint 'O': a universal joint has two axes, not 1"),
        (lambda m, a, b: m.universal("O", a, b, axes=((1, 0, 0), (1, 0, 0))), "joint 'O': the two axes .*perpendi"),
        (lambda m, a, b: m.revolute("O", a, b, pitch=0.1), "joint 'O' is revolute: only a screw has a pitch"),
        (lambda m, a, b: m.screw("O", a, b, pitch=0), "screw 'O' has no pitch"),
        (lambda m, a, b: m.screw("O", a, b, pitch=math.nan), r"O\.pitch is nan"),
        (lambda m, a, b: m.screw("O", a, b, pitch=cc.t), r"O\.pitch may depend on parameters only"),
        (lambda m, a, b: m.revolute("O", a, b, guess=(1, 2)), "joint 'O': guess needs 1 value, got 2"),
        (lambda m, a, b: m.spherical("O", a, b, guess=1.0), "joint 'O': guess needs 4 values, got 1"),
        (lambda m, a, b: m.revolute("O", a, b, guess=math.inf), "joint 'O': guess is inf"),
        (lambda m, a, b: m.revolute("O", a, b, guess="up"), "joint 'O': guess"),
        (lambda m, a, b: m.revolute("O", a, b, guess=cc.t), "joint 'O': guess takes plain numbers"),
        (lambda m, a, b: m.revolute("O", a, b, limits=(1, -1)), "joint 'O': the lower limit 1 .*upper limit -1"),
        (lambda m, a, b: m.revolute("O", a, b, limits=(1, 1)), "joint 'O': the lower limit 1 is not below"),
        (lambda m, a, b: m.revolute("O", a, b, limits=(0, math.nan)), "joint 'O': .*nan"),
        (lambda m, a, b: m.planar("O", a, b, limits=(0, 1)), "joint 'O': limits .*the 3 coord"),
        (lambda m, a, b: m.planar("O", a, b, limits=(1, 2, 3)), "joint 'O': limits"),
        (lambda m, a, b: m.revolute("O", a, b, limits=1.0), "joint 'O': limits"),
        (lambda m, a, b: m.revolute("O", a, b, limits=(0, "far")), "joint 'O': limits"),
        (lambda m, a, b: m.revolute("O", a, b, friction=0.1), r"joint 'O': friction takes a cc\.Friction"),
        (lambda m, a, b: m.planar("O", a, b, friction=(cc.Friction(1.0),)), "joint 'O': friction takes .*the 3"),
        (lambda m, a, b: m.revolute("O", a, b, friction=cc.Friction(viscous=math.nan)), r"viscous.*nan"),
        (lambda m, a, b: m.free("O", a, b, cut=True), "joint 'O' is free: it locks nothing"),
    ],
    ids=[
        "kind", "misspelt kind", "itself", "itself at another frame", "ground with itself", "zero axis", "short axis",
        "nan axis", "axes of a revolute", "axis of a universal", "one axis", "parallel axes", "pitch of a revolute",
        "zero pitch", "nan pitch", "pitch of time", "long guess", "short guess", "inf guess", "text guess",
        "guess of time", "swapped limits", "equal limits", "nan limit", "few limits", "limits without pairs",
        "limits a number", "limits a text", "friction a number", "little friction", "nan friction", "cut a free joint",
    ],
)  # fmt: skip
def test_refused_joints(m, a, b, draw, message):
    with pytest.raises(cc.ModelError, match=message):
        draw(m, a, b)


def test_a_negative_friction_is_refused(m, a):
    """It would feed energy in, and nothing says that this was meant."""
    with pytest.raises(cc.ModelError, match=r"friction.*viscous .*-1"):
        m.revolute("O", m.ground, a, friction=cc.Friction(viscous=-1.0))


def test_a_coulomb_friction_needs_a_velocity_to_change_sign_over(m, a):
    with pytest.raises(cc.ModelError, match=r"friction.*velocity .*0"):
        m.revolute("O", m.ground, a, friction=cc.Friction(coulomb=1.0, velocity=0.0))


def test_what_a_joint_carries_as_data(m, a, b):
    first, second = cc.Friction(viscous=0.1), cc.Friction(coulomb=0.2, velocity=0.05)
    joint = m.cylindrical(
        "O", a, b, axis=(0, 2, 0), guess=(0.1, 0.2), limits=((-1, 1), None), friction=(first, second), cut=False
    )

    assert joint.guess == (0.1, 0.2) and joint.limits == ((-1.0, 1.0), None) and joint.friction == (first, second)
    assert joint.cut is False and [row[2] for row in joint.rotation] == [0, 1, 0]
    assert set(m.joint_dampers) == {"O.angle.friction", "O.slide.friction"}
    assert m.parameters["O.slide.friction.velocity"] == 0.05


def test_one_friction_serves_all_freedoms(m, a):
    m.universal("O", m.ground, a, friction=cc.Friction(viscous=0.1))

    assert [d.index for d in m.joint_dampers.values()] == [0, 1]


@pytest.mark.parametrize(
    ("kind", "limits", "expected"),
    [
        ("revolute", (-1, 1), ((-1, 1),)),
        ("revolute", ((-1, 1),), ((-1, 1),)),
        ("revolute", (-math.inf, 1), ((-math.inf, 1),)),
        ("revolute", np.array([-1.0, 1.0]), ((-1, 1),)),
        ("cylindrical", (None, (0, 1)), (None, (0, 1))),
        ("cylindrical", ((0, 1), (2, 3)), ((0, 1), (2, 3))),
    ],
    ids=["pair", "list of one pair", "one-sided", "array", "none first", "two pairs"],
)
def test_forms_of_limits(m, a, b, kind, limits, expected):
    assert m.joint(kind, "O", a, b, limits=limits).limits == expected


def test_the_pitch_is_stored_per_radian(m, a):
    joint = m.screw("O", m.ground, a, pitch=0.1)

    assert m.values()(joint.pitch) == pytest.approx(0.1 / (2 * math.pi), rel=1e-15)


# ---- what acts -------------------------------------------------------------------------------------------------------


@pytest.fixture
def rig(m, a, b):
    """A hinge, a slide and a ball joint to put things on."""
    m.revolute("hinge", m.ground, a)
    m.cylindrical("tube", a.tip, b)
    c = m.body("c", cc.ball(1, 1))
    m.spherical("ball", b, c)
    m.weld("glue", c, m.body("d", cc.ball(1, 1)))
    return m


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda m: m.motor("hing", torque=1), "motor on the unknown joint 'hing'; did you mean 'hinge'"),
        (lambda m: m.motor("hinge"), "motor on 'hinge': give a torque or a force"),
        (lambda m: m.motor("hinge", torque=1, force=1), "motor on 'hinge': give a torque or a force"),
        (lambda m: m.motor("hinge", force=1), "motor on 'hinge': hinge turns, so give a torque"),
        (lambda m: m.motor("tube", torque=1, coordinate="slide"), r"'tube': tube\.slide slides, so give a force"),
        (lambda m: m.motor("tube", force=1, coordinate="angle"), r"'tube': tube\.angle turns, so give a torque"),
        (lambda m: m.motor("tube", torque=1), r"motor on 'tube': joint 'tube' \(cylindrical\) has 2 freedoms"),
        (lambda m: m.motor("tube", torque=1, coordinate="x"), "motor on 'tube': joint 'tube' has no coordinate 'x'"),
        (lambda m: m.motor("glue", torque=1), "motor on 'glue': joint 'glue' is a weld and has no freedom"),
        (lambda m: m.motor("hinge", torque=math.nan), r"hinge\.motor is nan"),
        (lambda m: m.motor("hinge", torque="full"), r"hinge\.motor must be a number"),
        (lambda m: m.motor("hinge", torque=lambda: 1.0), r"hinge\.motor: a function .*\(t, q, v\), not 0"),
        (lambda m: m.motor("hinge", torque=lambda t, q: q), r"hinge\.motor: a function .*not 2 arguments"),
        (lambda m: m.motor("hinge", torque=lambda t, q, v, p: t), r"hinge\.motor: a function .*not 4 arguments"),
        (lambda m: m.motor("hinge", torque=lambda t: None), r"hinge\.motor must be a number.*None"),
        (lambda m: m.motor("hinge", torque=lambda t: (t, t)), r"hinge\.motor must be a number"),
        (lambda m: m.motor("hinge", torque=lambda t: math.sin(t)), r"t has no fixed value yet: use cc\.sin"),
        (lambda m: m.motor("hinge", torque=math.sin), r"t has no fixed value yet: use cc\.sin"),
        (lambda m: m.motor("hinge", torque=lambda t: 1.0 if t < 1 else 2.0), r"truth of \(t < 1\) .*cc\.where"),
        (lambda m: m.motor("hinge", torque=lambda t, q, v: q["hing"]), "unknown joint 'hing'; did you mean 'hinge'"),
        (lambda m: m.motor("hinge", torque=lambda t, q, v: q["tube"]), r"joint 'tube' \(cylindrical\) has 2 values"),
        (lambda m: m.motor("hinge", torque=Expression("coordinate", "gone", None)), "the unknown joint 'gone'"),
        (lambda m: m.joint_spring("hing", 1.0), "spring on the unknown joint 'hing'"),
        (lambda m: m.joint_spring("ball", 1.0), "spring on 'ball': a spherical joint has no angle to measure"),
        (lambda m: m.joint_spring("glue", 1.0), "spring on 'glue': joint 'glue' is a weld"),
        (lambda m: m.joint_spring("hinge", math.nan), r"hinge\.spring\.stiffness is nan"),
        (lambda m: m.joint_spring("hinge", cc.t), r"hinge\.spring\.stiffness may depend on parameters only, not on t"),
        (lambda m: m.joint_spring("hinge", 1.0, rest=math.inf), r"hinge\.spring\.rest is inf"),
        (lambda m: m.joint_damper("hing", 1.0), "damper on the unknown joint 'hing'"),
        (lambda m: m.joint_damper("tube", 1.0), "damper on 'tube': joint 'tube' .* has 2 freedoms"),
        (lambda m: m.joint_damper("hinge", math.nan), r"hinge\.damper\.damping is nan"),
        (lambda m: m.force("push", m.bodies["a"], (1, 0)), "force 'push': a force and a moment have three components"),
        (lambda m: m.force("push", m.bodies["a"], moment=(1, 0)), "force 'push': a force and a moment have three"),
        (lambda m: m.force("push", m.bodies["a"], (1, 0, 0), axes="body"), "force 'push': axes must be 'world'"),
        (lambda m: m.force("push", m.ground, (1, 0, 0)), "force 'push' acts on the ground"),
        (lambda m: m.force("push", m.bodies["a"], (1, math.nan, 0)), r"push\.y is nan"),
        (lambda m: m.force("push", m.bodies["a"], moment=(0, 0, "x")), r"push\.moment\.z must be a number"),
        (lambda m: m.spring("string", m.bodies["a"], m.bodies["a"].tip, 1.0), "'string' connects body 'a' with"),
        (lambda m: m.spring("string", m.ground, m.bodies["a"], math.nan), r"string\.stiffness is nan"),
        (lambda m: m.spring("string", m.ground, m.bodies["a"], 1.0, length=math.nan), r"string\.length is nan"),
        (lambda m: m.spring("string", m.ground, m.bodies["a"], 1.0, damping=math.nan), r"string\.damping is nan"),
    ],
    ids=[
        "unknown joint", "nothing", "both", "force on a hinge", "torque on a slide", "force on an angle", "which",
        "no such", "weld", "nan", "text", "no argument", "two arguments", "four arguments", "returns none",
        "returns two", "math in a function", "math function", "if", "unknown in q", "ambiguous in q", "unknown leaf",
        "spring unknown", "spring ball", "spring weld", "spring nan", "spring of time", "spring rest", "damper unknown",
        "damper which", "damper nan", "force 2", "moment 2", "force axes", "force ground", "force nan", "moment text",
        "spring itself", "spring k", "spring length", "spring damping",
    ],
)  # fmt: skip
def test_refused_actions(rig, draw, message):
    with pytest.raises(cc.ModelError, match=message):
        draw(rig)


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda m: m.rotor("hing", 1.0), "rotor on the unknown joint 'hing'"),
        (lambda m: m.rotor("tube", 1.0), "rotor on 'tube': joint 'tube' .* has 2 freedoms"),
        (lambda m: m.rotor("hinge", math.nan), r"hinge\.rotor\.inertia is nan"),
        (lambda m: m.rotor("hinge", 1.0, ratio=math.inf), r"hinge\.rotor\.ratio is inf"),
        (lambda m: m.couple("gear", "hing", "tube.angle"), "coupling 'gear': no coordinate is named 'hing'"),
        (lambda m: m.couple("gear", "hinge", "hinge"), "coupling 'gear' couples 'hinge' with itself"),
        (lambda m: m.couple("gear", "hinge", "ball.qx"), r"coupling 'gear': 'ball\.qx' belongs to a spherical joint"),
        (lambda m: m.couple("gear", "hinge", "tube.angle", ratio=math.nan), r"gear\.ratio is nan"),
        (lambda m: m.couple("gear", "hinge", "tube.angle", offset=cc.t), r"gear\.offset may depend on parameters only"),
        (lambda m: m.drive("hing", cc.t), "drive on the unknown joint 'hing'"),
        (lambda m: m.drive("ball", cc.t), "drive on 'ball': a spherical joint has no single coordinate"),
        (lambda m: m.drive("tube", cc.t), "drive on 'tube': joint 'tube' .* has 2 freedoms"),
        (lambda m: m.drive("hinge", math.nan), r"hinge\.drive\.position is nan"),
        (
            lambda m: m.drive("hinge", lambda t, q, v: q["tube.angle"]),
            r"drive on 'hinge': the prescribed motion may depend on time only, not on q\[tube\.angle\]",
        ),
        (
            lambda m: m.motor("hinge", torque=cc.multiplier("ball", "x")),
            r"hinge\.motor depends on the closing force lam\[ball x\]",
        ),
        (
            lambda m: m.motor("hinge", torque=Expression("place", "gone", "tip", 0)),
            r"mechanism 'rig' has no body or frame 'gone\.tip'",
        ),
    ],
    ids=[
        "rotor unknown", "rotor which", "rotor nan", "rotor ratio", "gear unknown", "gear itself", "gear ball",
        "gear nan", "gear of time", "drive unknown", "drive ball", "drive which", "drive nan", "drive of q",
        "torque of lam", "torque of an unknown place",
    ],
)  # fmt: skip
def test_refused_gears_and_drives(rig, draw, message):
    with pytest.raises(cc.ModelError, match=message):
        draw(rig)


@pytest.mark.parametrize(
    ("kind", "limits", "message"),
    [
        ("revolute", cc.Stops(1.0, -1.0, 100.0), "joint 'O': the lower limit 1 .*upper limit -1"),
        ("revolute", cc.Stops(-1.0, 1.0, math.nan), r"O\.stop\.stiffness is nan"),
        ("revolute", cc.Stops(-1.0, 1.0, 100.0, damping=math.inf), r"O\.stop\.damping is inf"),
        ("planar", cc.Stops(-1.0, 1.0, 100.0), "joint 'O': limits .*the 3 coord"),
        ("spherical", (cc.Stops(-1.0, 1.0, 100.0), None, None, None), "joint 'O': stops need an angle or a length"),
    ],
    ids=["swapped", "nan", "inf", "one of three", "ball"],
)
def test_refused_stops(m, a, kind, limits, message):
    with pytest.raises(cc.ModelError, match=message):
        m.joint(kind, "O", m.ground, a, limits=limits)


def test_frames_by_name(m, a):
    assert m.find_frame("a") is a["origin"] and m.find_frame("a.tip") is a.tip
    assert m.find_frame("ground.origin") is m.ground["origin"]
    with pytest.raises(cc.ModelError, match="mechanism 'rig' has no body or frame 'b'"):
        m.find_frame("b")
    with pytest.raises(cc.ModelError, match="body 'a' has no frame 'top'"):
        m.find_frame("a.top")


@pytest.mark.parametrize(
    ("torque", "text"),
    [
        (lambda t: cc.sin(t), "sin(t)"),
        (lambda t, q, v: -q["hinge"] - 2 * v["tube.slide"], "(-q[hinge] - (v[tube.slide] * 2))"),
        (cc.t * 2, "(t * 2)"),
        (cc.sin, "sin(t)"),
    ],
    ids=["of t", "of t, q, v", "expression", "cc.sin itself"],
)
def test_forms_of_a_torque(rig, torque, text):
    assert str(rig.motor("hinge", torque=torque).effort) == text


def test_a_function_may_return_a_plain_number(rig):
    motor = rig.motor("hinge", torque=lambda t: 5.0)

    assert rig.parameters["hinge.motor"] == 5.0 and str(motor.effort) == "hinge.motor"


def test_a_function_may_have_defaults(rig):
    """``lambda t, k=k: ...`` is how Python freezes the variable of a loop."""
    assert str(rig.motor("hinge", torque=lambda t, k=3: k * t).effort) == "(t * 3)"


def test_a_joint_of_another_mechanism_is_refused(rig):
    other = cc.Mechanism("other")
    theirs = other.revolute("hinge", other.ground, other.body("x", cc.rod(1, 1)))

    with pytest.raises(cc.ModelError, match=r"'hinge'.*another mechanism"):
        rig.motor(theirs, torque=1.0)


def test_gravity_has_three_components():
    with pytest.raises(cc.ModelError, match=r"mechanism 'rig': gravity .*three components"):
        cc.Mechanism("rig", gravity=(0, -9.81))
    with pytest.raises(cc.ModelError, match=r"gravity\.y is nan"):
        cc.Mechanism("rig", gravity=(0, math.nan, 0))


def test_gravity_as_one_number_is_said():
    with pytest.raises(cc.ModelError, match="mechanism 'rig': gravity"):
        cc.Mechanism("rig", gravity=-9.81)


# ---- a refusal leaves no trace ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        (lambda m: m.body("c", cc.rod(1.0, -1.0)), lambda m: m.body("c", cc.rod(1.0, 1.0))),
        (lambda m: m.body("c", cc.rod(1.0, math.nan)), lambda m: m.body("c", cc.rod(1.0, 1.0))),
        (lambda m: m.bodies["a"].frame("eye", at=(1, math.nan, 0)), lambda m: m.bodies["a"].frame("eye", at=(1, 0, 0))),
        (
            lambda m: m.revolute("O", m.ground.at(1, 0, 0), m.bodies["a"], axis=(0, 0, 0)),
            lambda m: m.revolute("O", m.ground.at(1, 0, 0), m.bodies["a"]),
        ),
        (
            lambda m: m.revolute("O", m.ground, m.bodies["a"], limits=(1, 0)),
            lambda m: m.revolute("O", m.ground, m.bodies["a"], limits=(0, 1)),
        ),
        (
            lambda m: m.screw("O", m.ground, m.bodies["a"], pitch=0),
            lambda m: m.screw("O", m.ground, m.bodies["a"], pitch=1),
        ),
        (lambda m: m.motor("J", torque=math.nan), lambda m: m.motor("J", torque=1.0)),
        (lambda m: m.motor("J", torque=lambda t, q: t), lambda m: m.motor("J", torque=lambda t: t)),
        (lambda m: m.joint_spring("J", 1.0, rest=math.nan), lambda m: m.joint_spring("J", 1.0)),
        (
            lambda m: m.force("push", m.bodies["a"], (1, math.nan, 0)),
            lambda m: m.force("push", m.bodies["a"], (1, 0, 0)),
        ),
        (
            lambda m: m.spring("string", m.bodies["a"], m.bodies["a"], 1.0),
            lambda m: m.spring("string", m.ground, m.bodies["a"], 1.0),
        ),
        (
            lambda m: m.spring("string", m.ground, m.bodies["a"], 1.0, length=math.nan),
            lambda m: m.spring("string", m.ground, m.bodies["a"], 1.0, length=1.0),
        ),
    ],
    ids=[
        "negative mass", "nan mass", "frame", "axis", "limits", "pitch", "motor nan", "motor function", "spring rest",
        "force", "spring itself", "spring length",
    ],
)  # fmt: skip
def test_after_a_refusal_the_right_call_works(m, wrong, right):
    """In a notebook one corrects the line and runs it again."""
    twin = cc.Mechanism("rig", gravity=(0, 0, 0))
    for each in (m, twin):
        each.revolute("J", each.ground, each.body("a", cc.rod(1.0, 1.0)))
    with pytest.raises(cc.ModelError):
        wrong(m)

    drawn, expected = right(m), right(twin)

    assert drawn.name == expected.name
    assert dict(m.parameters) == dict(twin.parameters)


# ---- the whole -------------------------------------------------------------------------------------------------------


def test_every_change_of_the_drawing_counts(m, a, b):
    seen = [m.revision]
    for change in (
        lambda: m.parameter("k", 1.0),
        lambda: m.body("c", cc.ball(1, 1)),
        lambda: a.frame("eye", at=(1, 0, 0)),
        lambda: m.revolute("O", m.ground, a),
        lambda: m.revolute("P", a, b),
        lambda: m.motor("O", torque=1.0),
        lambda: m.joint_spring("O", 1.0),
        lambda: m.joint_damper("O", 1.0),
        lambda: m.force("push", a, (1, 0, 0)),
        lambda: m.spring("string", m.ground, a, 1.0),
    ):
        change()
        seen.append(m.revision)

    assert all(later > earlier for earlier, later in pairwise(seen))


def test_changing_a_value_is_no_change_of_the_drawing(m, a):
    before = m.revision
    m.parameters["a.mass"] = 2.0

    assert m.revision == before


def test_repr(m, a):
    assert repr(m) == "Mechanism('rig', 1 bodies, 0 joints)"
