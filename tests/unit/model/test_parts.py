"""Bodies with their frames, joints with their names."""

import copy
import pickle

import numpy as np
import pytest

import closedchain as cc
from closedchain.arguments import suggest


@pytest.fixture
def crank(m):
    return m.body("crank", cc.rod(length=1.0, mass=1.0))


# ---- frames ----------------------------------------------------------------------------------------------------------


def test_frames_of_a_rod(crank):
    assert list(crank.frames) == ["origin", "tip", "com"]
    assert crank.tip is crank["tip"]


def test_a_named_frame_becomes_parameters(m, crank):
    frame = crank.frame("eye", at=(0.1, 0, 0.3), axis=(0, 1, 0))

    assert crank.eye is frame
    assert {k: x for k, x in m.parameters.items() if ".eye" in k} == {"crank.eye.x": 0.1, "crank.eye.z": 0.3}
    assert [row[2] for row in frame.rotation] == [0, 1, 0]


def test_an_unnamed_frame_is_named_after_its_joint(m, crank):
    joint = m.revolute("O", m.ground.at(1, 2, 3), crank)

    assert joint.a is m.ground.O and joint.a.name == "O"
    assert m.parameters["ground.O.y"] == 2


def test_two_joints_may_not_fight_for_a_frame_name(m, crank):
    other = m.body("other", cc.rod(length=1.0, mass=1.0))
    crank.frame("O", at=(0, 0, 1))
    m.revolute("O", m.ground, crank.at(0, 0, 2))
    m.revolute("P", crank.at(0, 0, 3), other)

    assert list(crank.frames) == ["origin", "tip", "com", "O", "O_2", "P"]


@pytest.mark.parametrize("name", ["frame", "kind"])
def test_a_joint_may_be_called_like_an_attribute_of_a_body(m, crank, name):
    """The name of a joint is the user's; the frame made for it must find another one."""
    m.revolute(name, m.ground.at(1, 0, 0), crank)

    assert m.joints[name].a.position[1] == 0.0


def test_unknown_frames_suggest_the_nearest(crank):
    with pytest.raises(cc.ModelError, match="body 'crank' has no frame 'tipp'; did you mean 'tip'"):
        crank["tipp"]
    with pytest.raises(AttributeError, match="body 'crank' has no frame or attribute 'tipp'; did you mean 'tip'"):
        crank.tipp  # noqa: B018


@pytest.mark.parametrize("name", ["tip", "com", "origin", "at", "frame", "name", "mechanism"])
def test_frame_names_are_unique_and_hide_nothing(crank, name):
    with pytest.raises(cc.ModelError, match=f"body 'crank' already has a frame or attribute '{name}'"):
        crank.frame(name)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda b: b.frame("eye", at=(1, 2)), r"frame crank\.eye: a position has three components, not 2"),
        (
            lambda b: b.frame("eye", rpy=(0, 0, 1), axis=(1, 0, 0)),
            r"frame crank\.eye: give .* R or axis, not rpy and axis together",
        ),
        (
            lambda b: b.at(rpy=(0, 0, 1), R=((1, 0, 0), (0, 1, 0), (0, 0, 1))),
            "frame on 'crank': give either rpy or R or axis, not rpy and R together",
        ),
        (lambda b: b.frame("eye", at=(1, float("nan"), 0)), r"crank\.eye\.y is nan"),
        (lambda b: b.frame("eye", at=(1, "two", 0)), r"crank\.eye\.y must be a number.*'two'"),
        (lambda b: b.frame("eye", axis=(0, 0, 0)), r"frame crank\.eye: the axis \(0, 0, 0\) has no direction"),
        (lambda b: b.frame("eye", at=(cc.t, 0, 0)), r"crank\.eye\.x may depend on parameters only, not on t"),
    ],
    ids=["two components", "rpy and axis", "rpy and R", "nan", "text", "zero axis", "time"],
)
def test_refused_frames(crank, make, message):
    with pytest.raises(cc.ModelError, match=message):
        make(crank)


def test_an_orientation_may_not_depend_on_time(crank):
    with pytest.raises(cc.ModelError, match=r"frame crank\.eye may depend on parameters only, not on t"):
        crank.frame("eye", rpy=(0, 0, cc.t))


def test_place_and_speed_of_a_frame_are_expressions(crank):
    assert [str(x) for x in crank.tip.place] == ["place[crank.tip.x]", "place[crank.tip.y]", "place[crank.tip.z]"]
    assert str(crank.tip.speed[2]) == "speed[crank.tip.z]"


def test_a_frame_without_a_name_has_no_place_to_refer_to(crank):
    with pytest.raises(cc.ModelError, match="name the frame on 'crank' first"):
        crank.at(0.5, 0, 0).place  # noqa: B018


def test_an_orientation_by_its_matrix(crank):
    quarter = ((0, -1, 0), (1, 0, 0), (0, 0, 1))

    assert crank.at(R=quarter).rotation == ((0.0, -1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0))


# ---- joints ----------------------------------------------------------------------------------------------------------


def test_labels(m, crank):
    hinge = m.revolute("hinge", m.ground, crank)
    table = m.planar("table", crank.tip, m.body("plate", cc.plate(1, 1, 1)))

    assert hinge.labels() == hinge.velocity_labels() == ("hinge",)
    assert table.labels() == ("table.x", "table.y", "table.angle")
    assert str(hinge.q) == "q[hinge]" and str(hinge.v) == "v[hinge]"
    assert [str(x) for x in table.v] == ["v[table.x]", "v[table.y]", "v[table.angle]"]


def test_a_ball_has_a_quaternion_and_an_angular_velocity(m, crank):
    ball = m.spherical("ball", m.ground, crank)

    assert ball.labels() == ("ball.qw", "ball.qx", "ball.qy", "ball.qz")
    assert ball.velocity_labels() == ("ball.wx", "ball.wy", "ball.wz")


@pytest.mark.parametrize(
    ("velocity", "message"),
    [
        (None, r"motor: joint 'table' \(planar\) has 3 freedoms .*coordinate="),
        ("z", "motor: joint 'table' has no coordinate 'z'"),
        (3, "motor: joint 'table' has no coordinate 3"),
        (-1, "motor: joint 'table' has no coordinate -1"),
    ],
    ids=str,
)
def test_refused_velocities(m, crank, velocity, message):
    table = m.planar("table", m.ground, crank)

    with pytest.raises(cc.ModelError, match=message):
        table.index(velocity, "motor")


def test_velocity_by_name_or_number(m, crank):
    table = m.planar("table", m.ground, crank)

    assert [table.index(x, "motor") for x in ("x", "angle", 1)] == [0, 2, 1]


# ---- small things ----------------------------------------------------------------------------------------------------


def test_suggest():
    assert suggest("tipp", ["tip", "origin"]) == "; did you mean 'tip'?"
    assert suggest("zzz", ["tip", "origin"]) == "; known: 'tip', 'origin'"
    assert suggest("zzz", []) == ""
    assert suggest("zzz", [f"name{i}" for i in range(20)]).endswith("'name11', ...")


def test_reprs_name_things(m, crank):
    joint = m.revolute("O", m.ground, crank)

    assert (repr(crank), repr(crank.tip), repr(crank.at(1))) == ("Body('crank')", "Frame(crank.tip)", "Frame(crank.?)")
    assert repr(joint) == "Joint('O', revolute, ground-crank)"


@pytest.mark.parametrize("twin_of", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))], ids=["copy", "pickle"])
def test_a_mechanism_survives_being_copied(twin_of):
    """A body answers to the names of its frames, which must not confuse the machinery of copying."""
    m = cc.library.four_bar()
    twin = twin_of(m)
    twin.parameters["crank.length"] = 2.0

    assert m.parameters["crank.length"] == 1.0
    assert twin.bodies["crank"].mechanism is twin and twin.joints["A"].a is twin.bodies["crank"].tip


# ---- wrong kinds of values -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda b: b.frame("a.b"), r"frame 'a\.b' on body 'crank': a dot stands between .*; write 'a_b'"),
        (lambda b: b.frame(""), "the name of a frame on 'crank' must be a non-empty text, not ''"),
        (lambda b: b.frame(5), "the name of a frame on 'crank' must be a non-empty text, not 5"),
        (lambda b: b.frame("eye", at=5), r"frame crank\.eye: a position has three components, for instance .* not 5"),
        (lambda b: b.frame("eye", at=("1", 0, 0)), r"crank\.eye\.x must be a number, .* not '1'"),
        (lambda b: b.frame("eye", rpy=1), r"frame crank\.eye: rpy takes three angles in radians, .* not 1"),
        (lambda b: b.at("1"), "frame on 'crank': x must be a number, .* not '1'"),
        (lambda b: b.at(0, None), "frame on 'crank': y must be a number, .* not None"),
        (lambda b: b.at(0, 0, float("nan")), "frame on 'crank': z is nan"),
        (lambda b: b.at([0, [1]]), r"frame on 'crank': give three numbers, body\.at\(x, y, z\), not \[0, \[1\]\]"),
        (lambda b: b.at(R=1), "frame on 'crank': a rotation matrix has 3 x 3 entries, .* not 1"),
        (lambda b: b.at(axis=1), "frame on 'crank': an axis is three plain numbers .* not 1"),
        (lambda b: b[["tip"]], r"body 'crank' has no frame \['tip'\]"),
        (lambda b: b[0], "body 'crank' has no frame 0"),
    ],
    ids=[
        "dot", "empty", "number as name", "position a number", "position of texts", "rpy", "text", "none", "nan",
        "list", "R", "axis", "list as name", "number as key",
    ],
)  # fmt: skip
def test_refused_kinds_of_values(crank, make, message):
    with pytest.raises(cc.ModelError, match=message):
        make(crank)


@pytest.mark.parametrize("velocity", [np.zeros(2), cc.t, ["x"], 1.0], ids=["array", "expression", "list", "float"])
def test_a_velocity_is_a_name_or_a_whole_number(m, crank, velocity):
    table = m.planar("table", m.ground, crank)

    with pytest.raises(cc.ModelError, match="motor: joint 'table' has no coordinate"):
        table.index(velocity, "motor")
