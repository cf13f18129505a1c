"""Drawing what acts: motors, springs, rotors, gears, drives and forces; what is refused and how."""

import math

import numpy as np
import pytest

import closedchain as cc
from closedchain.model.expressions.expression import Expression


def test_several_motors_on_one_joint_find_their_own_names(m, a):
    m.revolute("O", m.ground, a)

    assert [m.motor("O", torque=1.0).name for _ in range(3)] == ["O.motor", "O.motor2", "O.motor3"]


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
        (lambda m: m.motor("hinge", torque=lambda t: math.sin(t)), r"t has no fixed value yet: use cc\.math\.sin"),
        (lambda m: m.motor("hinge", torque=math.sin), r"t has no fixed value yet: use cc\.math\.sin"),
        (lambda m: m.motor("hinge", torque=lambda t: 1.0 if t < 1 else 2.0), r"truth of \(t < 1\) .*cc\.math\.where"),
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
            r"hinge\.motor depends on .*lam\[ball x\]",
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


def test_a_joint_of_another_mechanism_is_refused(rig):
    other = cc.Mechanism("other")
    theirs = other.revolute("hinge", other.ground, other.body("x", cc.rod(1, 1)))

    with pytest.raises(cc.ModelError, match=r"'hinge'.*another mechanism"):
        rig.motor(theirs, torque=1.0)


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda m: m.motor(["hinge"], torque=1), r"motor on the unknown joint \['hinge'\]"),
        (lambda m: m.motor("hinge", torque="1"), r"hinge\.motor must be a number, .* not '1'"),
        (lambda m: m.motor("tube", force=1, coordinate=np.zeros(2)), r"joint 'tube' has no coordinate array\("),
        (lambda m: m.joint_damper("hinge", "1"), r"hinge\.damper\.damping must be a number, .* not '1'"),
        (lambda m: m.couple("gear", m.joints["hinge"], "tube.angle"), r"coupling 'gear' takes the names .* not Joint"),
        (lambda m: m.force("push", m.bodies["a"], 5), "force 'push': a force and a moment .*, for instance .*, not 5"),
        (lambda m: m.force("push", m.bodies["a"], moment=None), "force 'push': a force and a moment .* not None"),
        (lambda m: m.force("push", m.bodies["a"], lambda t: (t, 0, 0)), "force 'push': a force and a moment .* lambda"),
        (lambda m: m.force("push", m.bodies["a"], axes=["world"]), r"force 'push': axes must be .* not \['world'\]"),
    ],
    ids=["joint", "torque", "coordinate", "damping", "gear", "force", "moment", "function", "axes"],
)
def test_refused_kinds_of_values(rig, draw, message):
    with pytest.raises(cc.ModelError, match=message):
        draw(rig)


def test_a_coordinate_may_be_a_number_of_numpy(rig):
    assert rig.motor("tube", force=1.0, coordinate=np.int64(1)).index == 1
