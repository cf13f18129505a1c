"""Gains as a run needs them: their signs by the direction of time, their sizes by the length of the steps."""

import numpy as np
import pytest

import closedchain as cc
from closedchain.close.methods import METHODS
from closedchain.march.program.compiled import compiled
from closedchain.march.stabilisation import Stabilisation

FOLLOWING = cc.Multipliers(cc.Baumgarte())


@pytest.fixture(scope="module")
def start():
    return cc.library.four_bar().assemble()


@pytest.mark.parametrize(
    ("method", "forward", "backward"),
    [
        (cc.Multipliers(cc.Baumgarte(3.0, 4.0)), [3.0, 4.0], [-3.0, 4.0]),  # beta is squared
        (cc.Projection(7.0), [7.0], [-7.0]),
        (cc.Projection(0.0), [], []),
        (cc.Multipliers(), [], []),
        (cc.Index3(0.5), [0.5], [0.5]),  # no rate of decay
    ],
    ids=repr,
)
def test_back_in_time_rates_of_decay_change_their_signs(start, method, forward, backward):
    program = compiled(start, method)
    assert Stabilisation().applied(program) is program
    assert program.numbers.tolist() == forward
    back = Stabilisation(backward=True).applied(program)
    assert back.numbers.tolist() == backward
    assert back.method is method and back.rhs.function is program.rhs.function  # nothing is compiled


@pytest.mark.parametrize("name", METHODS)
def test_every_method_says_which_of_its_numbers_decay(start, name):
    program = compiled(start, METHODS[name], native=False)
    assert set(METHODS[name].decays) <= set(range(len(program.numbers)))


@pytest.mark.parametrize("backward", [False, True])
def test_gains_follow_the_step(start, backward):
    program, sign = compiled(start, FOLLOWING), -1.0 if backward else 1.0
    assert Stabilisation(backward).applied(program).numbers.tolist() == [0.0, 0.0]  # no step is known
    assert Stabilisation(backward, 1e-2).applied(program).numbers == pytest.approx([sign * 5.0, 5.0], rel=1e-15)


def test_gains_that_are_given_follow_no_step(start):
    program = compiled(start, cc.Multipliers(cc.Baumgarte(3.0)))
    assert Stabilisation(step=1e-2).applied(program) is program
    assert Stabilisation(step=1e-2).suits(program.method, 1.0)


@pytest.mark.parametrize(("step", "suits"), [(0.34, True), (2.9, True), (0.32, False), (3.1, False)])
def test_gains_are_renewed_when_steps_change_by_a_factor_of_three(step, suits):
    assert Stabilisation(step=1.0).suits(FOLLOWING, step) is suits
    assert not Stabilisation().suits(FOLLOWING, step)


def test_residuals_that_rows_are_held_at_stay(start):
    program = compiled(start, cc.Multipliers(cc.Baumgarte(3.0)), aimed=True)
    aims = np.linspace(1e-6, 2e-6, len(program.rows))
    held = program.with_numbers(np.concatenate([[3.0, 3.0], aims]))
    back = Stabilisation(backward=True).applied(held)
    assert back.numbers.tolist() == [-3.0, 3.0, *aims] and back.aims.tolist() == aims.tolist()
