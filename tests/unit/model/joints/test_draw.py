"""Drawing joints: what they carry, and what is refused and how."""

import math

import pytest

import closedchain as cc


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


def test_what_a_joint_carries_as_data(m, a, b):
    first, second = cc.Friction(viscous=0.1), cc.Friction(coulomb=0.2, velocity=0.05)
    joint = m.cylindrical(
        "O", a, b, axis=(0, 2, 0), guess=(0.1, 0.2), limits=((-1, 1), None), friction=(first, second), cut=False
    )

    assert joint.guess == (0.1, 0.2) and joint.limits == ((-1.0, 1.0), None) and joint.friction == (first, second)
    assert joint.cut is False and [row[2] for row in joint.rotation] == [0, 1, 0]
    assert set(m.joint_dampers) == {"O.angle.friction", "O.slide.friction"}
    assert m.parameters["O.slide.friction.velocity"] == 0.05


def test_the_pitch_is_stored_per_radian(m, a):
    joint = m.screw("O", m.ground, a, pitch=0.1)

    assert m.values()(joint.pitch) == pytest.approx(0.1 / (2 * math.pi), rel=1e-15)
