"""Finite elements that run away: linear beams that turn too fast, and energy that the paper's terms make."""

import pytest

import closedchain as cc
from closedchain.integrate.trajectory import Status


def spun(torque=20.0):
    """A soft beam on a hinge: it turns faster than it vibrates after a tenth of a second."""
    m = cc.Mechanism("spun beam", gravity=(0, 0, 0))
    beam = m.body("arm", cc.rod(length=1.0, mass=0.5, radius=0.005))
    beam.flexible(2e9, cc.Section.circle(0.005), shapes=cc.shapes.polynomials(y=1))
    m.revolute("hinge", m.ground, beam)
    m.motor("hinge", torque=torque)
    return m


def test_a_beam_that_loses_its_stiffness_ends_the_run():
    with pytest.raises(cc.RunError, match=r"displacement 'arm\.\d\.(y|rz)' is .* more than") as error:
        cc.simulate(spun(), until=0.5, method=cc.ERLS(), rtol=1e-5)
    run = error.value.run
    assert run.status is Status.diverged and not run.good and 0 < run.t[-1] < 0.5
    assert "stiffening=True" in str(error.value)


def test_a_section_that_turns_too_far():
    """With one element the tip is the end of the chord, and only sections turn."""
    with pytest.raises(cc.RunError, match=r"displacement 'arm\.\d\.rz' is .* rad, more than half a turn"):
        cc.simulate(spun(), until=3.0, method=cc.ERLS(elements=1), rtol=1e-5)


def test_it_may_go_on():
    with pytest.warns(cc.RunWarning) as said:
        run = cc.simulate(spun(), until=0.25, method=cc.ERLS(), rtol=1e-5, events=[cc.Divergence("warn")])
    assert run.complete and not run.good
    assert sum("'spun beam' runs away at t = " in str(x.message) for x in said) == 1
    with pytest.warns(cc.RunWarning) as said:
        cc.simulate(spun(), until=0.25, method=cc.ERLS(), rtol=1e-5, events=[cc.Divergence("pass")])
    assert not any("runs away" in str(x.message) for x in said)
