"""What all drawing shares: numbers become parameters, names are unique, and a refusal leaves no trace."""

import math
from itertools import pairwise

import pytest

import closedchain as cc

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


@pytest.mark.parametrize(
    "place",
    [
        lambda m, a, k: m.body("c", cc.rod(length=k, mass=1.0)),
        lambda m, a, k: a.frame("eye", at=(k, 0, 0)),
        lambda m, a, k: a.frame("eye", rpy=(k, 0, 0)),
        lambda m, a, k: m.motor("O", torque=k),
        lambda m, a, k: m.motor("O", torque=lambda t: k * cc.math.sin(t)),
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


# ---- places ----------------------------------------------------------------------------------------------------------


def test_a_place_is_a_body_or_a_frame(m, a):
    with pytest.raises(cc.ModelError, match=r"joint 'O' connects bodies or frames, not 'a'"):
        m.revolute("O", m.ground, "a")
    with pytest.raises(cc.ModelError, match=r"'push' must be placed on a body or a frame, not \(1, 2, 3\)"):
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


def test_frames_by_name(m, a):
    assert m.find_frame("a") is a["origin"] and m.find_frame("a.tip") is a.tip
    assert m.find_frame("ground.origin") is m.ground["origin"]
    with pytest.raises(cc.ModelError, match="mechanism 'rig' has no body or frame 'b'"):
        m.find_frame("b")
    with pytest.raises(cc.ModelError, match="body 'a' has no frame 'top'"):
        m.find_frame("a.top")


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


# ---- the revision ----------------------------------------------------------------------------------------------------


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


# ---- dots in names ---------------------------------------------------------------------------------------------------


def test_a_frame_named_after_a_joint_with_dots_is_found(m, a):
    joint = m.revolute("leg.1.hip", m.ground.at(1, 0, 0), a)

    assert m.find_frame("ground.leg.1.hip") is joint.a


def test_a_body_with_a_dot_and_its_frames_are_found(m):
    leg = m.body("leg.1", cc.rod(1.0, 1.0))

    assert m.find_frame("leg.1") is leg["origin"] and m.find_frame("leg.1.tip") is leg.tip


def test_a_frame_may_not_be_found_under_the_name_of_a_body(m, a):
    other = m.body("a.eye", cc.ball(0.1, 1.0))

    with pytest.raises(cc.ModelError, match=r"frame 'eye' on body 'a' would be found as 'a\.eye', which is something"):
        a.frame("eye")
    joint = m.revolute("eye", a.at(0.5, 0, 0), other)  # the name of a joint is the user's: its frame finds another one
    assert joint.a is a["eye_2"]


def test_frames_are_found_by_text(m, a):
    with pytest.raises(cc.ModelError, match=r"name of a frame must be a text, for instance 'ground\.origin', not 5"):
        m.find_frame(5)
