"""The sentence names who feeds a motion that runs away."""

from types import SimpleNamespace

import numpy as np
import pytest

import closedchain as cc
from closedchain.march.judge import blame
from closedchain.march.program.compiled import compiled
from closedchain.pose.state import parameter_vector


def holding(*answers, names=("damper",), p=None):
    controllers = [SimpleNamespace(name=name, outputs=1, period=0.01) for name in names]
    return SimpleNamespace(held=SimpleNamespace(controllers=controllers), history_u=[np.array(u) for u in answers], p=p)


def test_a_controller_whose_answers_alternate_and_grow():
    said = blame._alternating(holding([1.0], [-3.0], [9.0]))
    assert "'damper'" in said and "-3 and 9" in said and "period of 0.01 s" in said
    assert blame._alternating(holding([1.0], [3.0], [9.0])) is None
    assert blame._alternating(holding([9.0], [-3.0], [1.0])) is None
    assert blame._alternating(holding([1.0], [-3.0])) is None


def test_each_controller_is_looked_at_by_itself():
    """The first one answers the same all the time; the second is called half as often."""
    answers = ([5.0, 1.0], [5.0, 1.0], [5.0, -3.0], [5.0, -3.0], [5.0, 9.0])
    assert "'fast'" in blame._alternating(holding(*answers, names=("calm", "fast")))


@pytest.mark.parametrize(("gain", "culprit"), [(2.0, "'hinge.motor'"), (-2.0, "'hinge.damper'")])
def test_the_one_with_most_power(gain, culprit):
    m = cc.library.pendulum()
    joint = m.joints["hinge"]
    m.motor("hinge", torque=gain * joint.v)
    m.joint_damper("hinge", 1.0)
    state = m.assemble(velocity={"hinge": 3.0})
    program = compiled(state, cc.Multipliers())
    p = parameter_vector(m)
    powers = blame._powers(program, 0.0, program.pack(state.q, state.v), p)
    assert powers["hinge.motor"] == pytest.approx(9 * gain) and min(powers.values()) < 0
    said = blame.who_feeds(program, holding(names=(), p=p), 0.0, program.pack(state.q, state.v))
    assert culprit in said or gain < 0


def test_a_controller_whose_answers_grow_in_any_order():
    """Others began with as much, follow a command, or have limits."""

    def grow(*answers, **options):
        return blame.whose_answers_grow(holding(*([u] for u in answers), **options))

    assert "from 0.5 to 2e+03" in grow(0.0, 0.5, -0.2, 7.0, 0.1, 90.0, -2e3, 7.0)
    assert grow(5.0, -0.2, 7.0, 0.1, 90.0, -2e3, 7.0) is None
    assert grow(1.0, -1.0, 1.0, -1.0) is None
    assert grow() is None and grow(0.0, 0.0) is None
    assert grow(1e-3, 1e-17, 1.0, 1.0, 0.0) is None  # a command
    assert grow(0.0, 1e-19, -3e-18, 1e-17, 5.0, -3.5, 3.4) is None  # a command after rounding
    assert grow(0.0, 0.5, -0.2, 7.0, 0.1, 90.0, -2e3, 7.0, 2e3) is None  # a limit
    kicked = grow(1e-17, -1e-17, 1.0, -14.0, 196.0, -2744.0)
    assert "from 1 to 2.7e+03" in kicked


def test_answers_that_grow_within_calls_or_with_changing_signs():
    answers = [[(-1.3) ** k] for k in range(60)]
    assert blame.whose_answers_grow(holding(*answers), changing=8)
    assert blame.whose_answers_grow(holding(*np.abs(answers)))
    assert blame.whose_answers_grow(holding(*np.abs(answers)), changing=8) is None
    assert blame.whose_answers_grow(holding(*answers), calls=8) is None  # by 8 within 8 calls
    assert blame.whose_answers_grow(holding(*([x[0] ** 5] for x in answers)), calls=8)


def test_the_spring_with_a_negative_stiffness():
    m = cc.library.pendulum()
    m.joint_spring("hinge", 30.0)
    assert "look at its springs" in blame.why_endless(m, m.values())
    assert "'hinge.spring' is negative, -7" in blame.why_endless(m, m.values({"hinge.spring.stiffness": -7.0}))


def test_beams_and_steps_have_their_own_advice():
    assert "shorten" in blame.why_from_nowhere(fixed_step=True)
    assert "rtol" in blame.why_from_nowhere(fixed_step=False)
    assert "stiffening=True" in blame.why_bent(SimpleNamespace(stiffening=False))
    assert "stiffening=True" not in blame.why_bent(SimpleNamespace(stiffening=True))
