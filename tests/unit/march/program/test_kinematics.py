"""The rates of the coordinates: the same as in the right-hand side, for less."""

import numpy as np
import pytest

import closedchain as cc
from closedchain.march.program.compiled import compiled
from closedchain.march.program.kinematics import arguments, kinematics
from closedchain.pose.state import parameter_vector

METHODS = [cc.Multipliers(), cc.Projection(), cc.IndependentCoordinates(), cc.VirtualSpring(1e4, 1e2), cc.DeNOC()]


@pytest.mark.parametrize("method", METHODS, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("name", ["four_bar", "gough_stewart"])
def test_rates_are_those_of_the_right_hand_side(name, method):
    m = getattr(cc.library, name)()
    run = cc.simulate(m, until=0.3, t_eval=[0.1, 0.3], rtol=1e-9)
    for i in range(2):
        state = run.state(i)
        p = parameter_vector(m, state.parameters)
        program = compiled(state, method)
        x = program.pack(state.q, state.v)
        got = kinematics(program)(state.t, x, p)
        # those of independent coordinates at positions that Newton's method has moved by rounding
        np.testing.assert_allclose(got, program.rhs(state.t, x, p)[: len(state.q)], rtol=1e-12, atol=1e-13)


def test_it_costs_nearly_nothing():
    four_bar = compiled(cc.library.four_bar().assemble(), cc.Multipliers())
    assert kinematics(four_bar).counts.total == 2  # q' = v, and a sum for the joint that is cut
    platform = compiled(cc.library.gough_stewart().assemble(), cc.Multipliers())
    assert 0 < kinematics(platform).counts.total < 0.05 * platform.rhs.counts.total


@pytest.mark.parametrize(
    ("method", "tangent"),
    [
        (cc.Multipliers(), True),
        (cc.OperationalSpace(), True),
        (cc.Multipliers(cc.Baumgarte(10.0)), False),
        (cc.Projection(), False),  # its velocities are always tangent
        (cc.IndependentCoordinates(), False),
        (cc.VirtualSpring(1e4), False),  # springs let go
    ],
)
@pytest.mark.parametrize("name", ["four_bar", "gough_stewart"])
def test_what_a_correction_does_to_velocities_is_known(name, method, tangent):
    program = compiled(getattr(cc.library, name)().assemble(), method)
    assert kinematics(program).tangent is tangent


def test_it_is_made_once_for_a_family():
    start = cc.library.four_bar().assemble()
    soft, hard = (compiled(start, cc.VirtualSpring(k)) for k in (1e4, 1e6))
    assert kinematics(soft) is kinematics(soft)
    assert kinematics(soft).function is kinematics(hard).function


def test_arguments_of_the_solver():
    m = cc.library.gough_stewart()
    start = m.assemble()
    address, w, number, tangent = arguments(compiled(start, cc.Multipliers()), parameter_vector(m, start.parameters))
    assert address and w.dtype == float and number == len(start.q) and tangent
