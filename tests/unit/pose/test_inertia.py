"""Which motions have inertia: of the limbs alone, or thanks to their loops."""

import numpy as np
import pytest

import closedchain as cc
from closedchain.derive.equations import derive
from closedchain.model.library import MECHANISMS
from closedchain.pose.inertia import limbs_have_inertia, weightless
from closedchain.pose.redundancy import independent_rows
from closedchain.pose.state import State


def judge(state):
    """Whether limbs have inertia, and the sentence about what has none although the loops are closed."""
    e = derive(state.mechanism)
    return limbs_have_inertia(e, state), weightless(e, state, independent_rows(e, state).active)


@pytest.mark.parametrize("name", MECHANISMS)
def test_the_library_has_inertia(name):
    assert judge(MECHANISMS[name].build().assemble()) == (True, None)


def chain(*masses, scale=1.0, unit=1.0, gravity=9.81):
    """A pendulum of rods; masses in kg times ``unit``, lengths in m times ``scale``."""
    m = cc.Mechanism("chain", gravity=(0, -gravity, 0))
    last = m.ground
    for i, mass in enumerate(masses):
        rod = m.body(f"rod{i}", cc.rod(scale, mass=mass * unit))
        m.revolute(f"J{i}", last, rod)
        last = rod.tip
    return m


@pytest.mark.parametrize("masses", [(1.0, 1.0), (0.0, 1.0), (1.0, 1e-9)], ids=str)
@pytest.mark.parametrize(("scale", "unit"), [(1.0, 1.0), (1e-3, 1e-6), (1e4, 1e6)], ids=str)
def test_small_is_not_nothing(masses, scale, unit):
    """A micro-machine and a crane have inertia; so has a joint whose own body is massless, but carries another."""
    assert judge(chain(*masses, scale=scale, unit=unit).assemble(J0=0.3, J1=0.4)) == (True, None)


def test_a_massless_body_that_no_loop_holds_is_named():
    """A rod between two balls turns about its own axis, and a rod has no inertia there."""
    m = cc.Mechanism("spinning rod", gravity=(0, 0, -9.81))
    a, b = (m.body(x, cc.rod(1.0, mass=1.0, radius=0.05)) for x in "ab")
    rod = m.body("rod", cc.rod(1.0, mass=1.0))
    m.revolute("left", m.ground, a, axis=(0, 1, 0), guess=-1.2)
    m.revolute("right", m.ground.at(1, 0, 0), b, axis=(0, 1, 0), guess=-1.2)
    m.spherical("upper", a.tip, rod)
    m.spherical("lower", rod.tip, b.tip)
    heavy, sentence = judge(m.assemble())
    assert not heavy
    assert sentence.startswith("Joint velocity 'upper.w") and "(body 'rod' and what hangs on it" in sentence
    assert sentence.endswith("give it a mass or a moment of inertia, for instance a rod a radius")
    with pytest.raises(cc.ModelError, match=r"mechanism 'spinning rod' cannot be simulated\. Joint velocity"):
        cc.simulate(m, until=0.1)


def test_a_rod_turns_about_its_length_without_inertia():
    m = cc.Mechanism("spindle")
    m.revolute("A", m.ground, m.body("pin", cc.rod(1.0, mass=1.0)), axis=(1, 0, 0))
    heavy, sentence = judge(m.assemble())
    assert not heavy and "'A' has no inertia (body 'pin'" in sentence


def four_bar(coupler):
    m = cc.Mechanism("four-bar", gravity=(0, -9.81, 0))
    bodies = [
        m.body(x, cc.rod(L, mass=w)) for x, L, w in (("crank", 1, 1), ("coupler", 2.5, coupler), ("rocker", 2, 2))
    ]
    m.revolute("O", m.ground, bodies[0])
    m.revolute("A", bodies[0].tip, bodies[1])
    m.revolute("C", m.ground.at(2, 0, 0), bodies[2])
    m.revolute("B", bodies[1].tip, bodies[2].tip, cut=True)
    return m.assemble(O=1.0, guess={"A": -1.0, "C": 1.5})


def test_a_loop_holds_what_its_limb_cannot():
    assert judge(four_bar(0.0)) == (False, None)
    assert judge(four_bar(1.0)) == (True, None)
    state = four_bar(0.0)
    assert "'A' has no inertia" in weightless(derive(state.mechanism), state, ())  # with the loop open


def test_parameters_of_the_state_count():
    m = four_bar(1.0).mechanism
    given = m.assemble(O=1.0, guess={"A": -1.0, "C": 1.5}, parameters={"coupler.mass": 0.0})
    assert judge(given) == (False, None)


def test_nonsense_is_left_to_those_who_can_name_it():
    m = chain(1.0, 1.0)
    state = State(m, np.array([np.nan, 0.0]), np.zeros(2))
    e = derive(m)
    assert limbs_have_inertia(e, state) and weightless(e, state, ()) is None
