"""Friction and stops: one for each freedom, and none that feeds energy in."""

import math

import pytest

import closedchain as cc


def test_a_negative_friction_is_refused(m, a):
    """It would feed energy in, and nothing says that this was meant."""
    with pytest.raises(cc.ModelError, match=r"friction.*viscous .*-1"):
        m.revolute("O", m.ground, a, friction=cc.Friction(viscous=-1.0))


def test_a_coulomb_friction_needs_a_velocity_to_change_sign_over(m, a):
    with pytest.raises(cc.ModelError, match=r"friction.*velocity .*0"):
        m.revolute("O", m.ground, a, friction=cc.Friction(coulomb=1.0, velocity=0.0))


def test_one_friction_serves_all_freedoms(m, a):
    m.universal("O", m.ground, a, friction=cc.Friction(viscous=0.1))

    assert [d.index for d in m.joint_dampers.values()] == [0, 1]


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


@pytest.mark.parametrize(
    ("friction", "message"),
    [
        (cc.Friction(viscous="1"), r"O\.friction\.viscous must be a number, .* not '1'"),
        (cc.Friction(coulomb=None), r"O\.friction\.coulomb must be a number, .* not None"),
        (cc.Friction(coulomb=1.0, velocity="slow"), r"O\.friction\.velocity must be a number, .* not 'slow'"),
        (cc.Friction(coulomb=-1.0), r"O\.friction: Coulomb friction must not be negative, got -1"),
    ],
    ids=["viscous", "coulomb", "velocity", "negative"],
)
def test_refused_friction(m, a, friction, message):
    with pytest.raises(cc.ModelError, match=message):
        m.revolute("O", m.ground, a, friction=friction)
