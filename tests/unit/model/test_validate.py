"""Is this a mechanism? Every refusal names the body or joint and the number that is wrong."""

import numpy as np
import pytest

import closedchain as cc


def drawing():
    return cc.Mechanism("rig")


# ---- bodies ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        (cc.rigid(-1.0), "body 'b' has a negative mass of -1 kg"),
        (cc.rigid(0.0, inertia=(1, 1, 1)), r"body 'b' has an inertia of 1 kg m\^2 but no mass: .*cc\.massless"),
        (cc.rigid(1.0, inertia=(1, 1, -1)), "body 'b' has an inertia that is not positive .*-1, 1, 1"),
        (cc.rigid(1.0, inertia=(1, 1, 1, 2, 0, 0)), "body 'b' has an inertia .*not positive .*-1, 1, 3.*off-diagonal"),
        (cc.rigid(1.0, inertia=(0, 0, 1)), r"body 'b' .*largest principal moment 1 .*sum of the others, 0 \(triangle"),
        (cc.rigid(1.0, inertia=(1, 2, 4)), r"body 'b' .*largest principal moment 4 .*sum of the others, 3 \(triangle"),
        (cc.rod(length=1.0, mass=-2.0), "body 'b' has a negative mass of -2 kg"),
        (cc.rod(length=np.nan, mass=1.0), r"b\.length is nan: give a finite number"),
        (cc.rigid(np.inf), r"b\.mass is inf: give a finite number"),
        (cc.rigid(1.0, com=(0, np.nan, 0)), r"b\.com\.y is nan"),
        (cc.rigid(1.0, inertia=(1, 1, 1, 0, 0, np.nan)), r"b\.inertia\.yz is nan"),
        (cc.rigid("heavy"), r"b\.mass must be a number.*'heavy'"),
    ],
    ids=[
        "negative", "inertia without mass", "negative moment", "indefinite", "needle", "triangle", "rod", "nan length",
        "inf mass", "nan com", "nan inertia", "text",
    ],
)  # fmt: skip
def test_refused_bodies(shape, message):
    with pytest.raises(cc.ModelError, match=message):
        drawing().body("b", shape)


def test_values_that_overflow_are_not_finite():
    m = drawing()
    scale = m.parameter("scale", 1e40)

    with np.errstate(over="ignore"), pytest.raises(cc.ModelError, match=r"body 'b' has a mass.* that is not finite"):
        m.body("b", cc.ball(radius=1.0, mass=scale**8))


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        (
            lambda: cc.rigid(1.0, com=(0, 0, 1e300), inertia=(1, 1, 1)),
            r"b\.com\.z is 1e\+300, too large .*below 1e\+50",
        ),
        (lambda: cc.rigid(1e300, inertia=(1, 1, 1)), r"b\.mass is 1e\+300, too large"),
        (lambda: cc.rigid(1.0, inertia=(1e300, 1e300, 1e300)), r"b\.inertia\.xx is 1e\+300, too large"),
        (lambda: cc.rod(length=-1e300, mass=1.0), r"b\.length is -1e\+300, too large"),
        (lambda: cc.rod(length=1e30, mass=1.0), r"body 'b' has an inertia of 8\.3\d*e\+58 kg m\^2, too large"),
    ],
    ids=["com", "mass", "inertia", "length", "what follows"],
)
def test_huge_numbers_are_refused(shape, message):
    with pytest.raises(cc.ModelError, match=message):
        drawing().body("b", shape())


def test_huge_places_of_joints_are_refused():
    m = drawing()
    far = m.parameter("far", 1e30)
    with pytest.raises(cc.ModelError, match=r"frame on 'ground': x is 1e\+300, too large"):
        m.ground.at(1e300, 0, 0)
    m.revolute("h", m.ground.at(far * far, 0, 0), m.body("b", cc.rod(length=1.0, mass=1.0)))
    with pytest.raises(cc.ModelError, match=r"joint 'h' has a frame on 'ground' with a coordinate of 1e\+60 m"):
        m.validate()


@pytest.mark.parametrize("inertia", [(0, 1, 1), (1, 1, 2), (0.1 + 0.2, 0.1, 0.2), (0, 0, 0)], ids=str)
def test_the_limits_of_the_triangle_are_allowed(inertia):
    """Thin rods and flat plates lie exactly on the limit, up to rounding."""
    assert drawing().body("b", cc.rigid(1.0, inertia=inertia)).name == "b"


def test_real_bodies_in_any_orientation_pass(rng):
    for k in range(50):
        points, masses = rng.normal(size=(4, 3)), rng.uniform(0.1, 1, size=4)
        r = points - masses @ points / masses.sum()
        inertia = sum(m * (x @ x * np.eye(3) - np.outer(x, x)) for m, x in zip(masses, r, strict=True))
        entries = (*np.diag(inertia), inertia[0, 1], inertia[0, 2], inertia[1, 2])

        assert drawing().body(f"b{k}", cc.rigid(masses.sum(), inertia=entries)) is not None


def test_a_bad_value_later_is_found_when_the_mechanism_is_used():
    m = cc.library.pendulum()
    m.parameters["arm.mass"] = -1.0

    with pytest.raises(cc.ModelError, match="body 'arm' has a negative mass of -1 kg"):
        m.validate()
    with pytest.raises(cc.ModelError, match="body 'arm' has a negative mass of -2 kg"):
        m.validate({"arm.mass": -2.0})


# ---- the whole drawing -----------------------------------------------------------------------------------------------


def test_no_body():
    with pytest.raises(cc.ModelError, match="mechanism 'rig' has no body"):
        drawing().validate()


def test_disconnected_bodies_are_all_named():
    m = drawing()
    a, b, c, d = (m.body(name, cc.ball(0.1, 1.0)) for name in "abcd")
    m.revolute("ga", m.ground, a)
    m.revolute("bc", b, c)

    with pytest.raises(cc.ModelError, match=r"no joint connects 'b', 'c', 'd' with the ground .*m\.free"):
        m.validate()
    m.free("fly", m.ground, b)
    m.weld("cd", d, c)
    m.validate()


def test_a_drawing_without_joints_is_disconnected():
    m = drawing()
    m.body("a", cc.ball(0.1, 1.0))

    with pytest.raises(cc.ModelError, match="no joint connects 'a' with the ground"):
        m.validate()


def test_nothing_moves():
    m = drawing()
    m.weld("glue", m.ground, m.body("a", cc.ball(0.1, 1.0)))

    with pytest.raises(cc.ModelError, match="nothing moves in mechanism 'rig': all its joints are welds"):
        m.validate()


def test_no_mass_at_all():
    m = drawing()
    a, b = m.body("a", cc.massless()), m.body("b", cc.massless())
    m.revolute("ga", m.ground, a)
    m.revolute("ab", a, b)
    m.revolute("bg", b, m.ground)

    with pytest.raises(cc.ModelError, match="mechanism 'rig' has no mass at all"):
        m.validate()


def test_a_massless_end_is_named_with_its_joint():
    m = drawing()
    arm, hand = m.body("arm", cc.rod(1.0, 1.0)), m.body("hand", cc.massless())
    m.revolute("shoulder", m.ground, arm)
    m.revolute("wrist", arm.tip, hand)

    with pytest.raises(cc.ModelError, match="body 'hand' has no mass and hangs on joint 'wrist' alone"):
        m.validate()


def test_a_massless_end_that_is_welded_is_fine():
    m = drawing()
    arm, hand = m.body("arm", cc.rod(1.0, 1.0)), m.body("hand", cc.massless())
    m.revolute("shoulder", m.ground, arm)
    m.weld("wrist", arm.tip, hand)

    m.validate()


def test_a_massless_link_between_joints_is_fine():
    """A Hooke joint made of two hinges and a cross without mass."""
    m = drawing()
    cross, arm = m.body("cross", cc.massless()), m.body("arm", cc.rod(1.0, 1.0, radius=0.1))
    m.revolute("first", m.ground, cross, axis=(1, 0, 0))
    m.revolute("second", cross, arm, axis=(0, 1, 0))

    m.validate()


def test_mass_through_a_parameter_that_is_zero_now():
    m = drawing()
    arm = m.body("arm", cc.rod(length=1.0, mass=m.parameter("load", 1.0)))
    m.revolute("shoulder", m.ground, arm)
    m.validate()

    with pytest.raises(cc.ModelError, match="no mass"):
        m.validate({"load": 0.0})
