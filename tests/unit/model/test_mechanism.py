"""The mechanism as a whole: its bodies, its gravity, how it shows itself."""

import copy
import math

import pytest

import closedchain as cc


@pytest.mark.parametrize("shape", [1.0, None, "rod", cc.rod], ids=["number", "none", "text", "function"])
def test_a_body_needs_a_shape(m, shape):
    with pytest.raises(cc.ModelError, match="body 'c' needs a shape, for instance"):
        m.body("c", shape)


def test_gravity_has_three_components():
    with pytest.raises(cc.ModelError, match=r"mechanism 'rig': gravity .*three components"):
        cc.Mechanism("rig", gravity=(0, -9.81))
    with pytest.raises(cc.ModelError, match=r"gravity\.y is nan"):
        cc.Mechanism("rig", gravity=(0, math.nan, 0))


def test_gravity_as_one_number_is_said():
    with pytest.raises(cc.ModelError, match="mechanism 'rig': gravity"):
        cc.Mechanism("rig", gravity=-9.81)


def test_repr(m, a):
    assert repr(m) == "Mechanism('rig', 1 bodies, 0 joints)"


@pytest.mark.parametrize("gravity", [None, "down", {"z": -9.81}, cc.t], ids=str)
def test_gravity_is_said_with_an_example(gravity):
    with pytest.raises(cc.ModelError, match=r"gravity has three components, for instance \(0, 0, -9\.81\), not "):
        cc.Mechanism("rig", gravity=gravity)


@pytest.mark.parametrize("name", ["", None, 5], ids=repr)
def test_a_mechanism_has_a_name(name):
    with pytest.raises(cc.ModelError, match=f"the name of a mechanism must be a non-empty text, not {name!r}"):
        cc.Mechanism(name)


def test_a_number_that_is_not_finite_is_said_of_its_body(m):
    """A sentence, not a warning of NumPy about a division."""
    k = m.parameter("k", 0.0)

    with pytest.raises(cc.ModelError, match="body 'c' has a mass, centre of mass or inertia that is not finite"):
        m.body("c", cc.rod(length=1.0, mass=1 / k))


def test_a_body_may_not_be_called_like_a_frame(m, a):
    """``m.find_frame("a.tip")`` could mean either."""
    with pytest.raises(cc.ModelError, match=r"body 'a\.tip': 'a\.tip' is a frame of another body already"):
        m.body("a.tip", cc.ball(0.1, 1.0))


def test_the_parts_of_a_mechanism_are_found_where_they_are_used():
    """The drawing methods come from several files; the class has them all, with their documentation."""
    for name in ("body", "joint", "revolute", "motor", "joint_spring", "couple", "force", "parameter", "find_frame"):
        assert getattr(cc.Mechanism, name).__doc__


def test_a_copy_is_independent():
    m = cc.library.four_bar()
    for other in (copy.copy(m), copy.deepcopy(m)):
        other.parameters["crank.mass"] = 7.0
        other.body("more", cc.massless())
        assert m.parameters["crank.mass"] == 1.0
        assert "more" not in m.bodies
        assert all(body.mechanism is other for body in (other.ground, *other.bodies.values()))
        assert other.output is None or other.output.body.mechanism is other


def test_a_copy_of_parameters_is_independent():
    m = cc.library.four_bar()
    other = copy.copy(m.parameters)
    other["crank.mass"] = 7.0
    assert m.parameters["crank.mass"] == 1.0
