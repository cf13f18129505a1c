"""How many operations a right-hand side has is an exact number, the same on every machine."""

import numpy as np
import pytest

import closedchain as cc
from benchmarks.families import hub, ladder
from benchmarks.operations import GUIDE
from closedchain.march.program.compiled import compiled
from closedchain.testing.operations import cost


@pytest.mark.parametrize("name", GUIDE)
def test_a_right_hand_side_stays_within_its_guide(name):
    assert cost(cc.library.get(name).build()).rhs.total <= GUIDE[name]


@pytest.mark.parametrize("name", ["pendulum", "four-bar", "slider-crank"])
def test_what_is_counted_is_what_is_compiled(name):
    mechanism = cc.library.get(name).build()
    program = compiled(mechanism.assemble(), cc.Multipliers())

    counted = cost(mechanism)

    assert counted.rhs == program.rhs.counts
    assert counted.prepare == program.rhs.prepare_counts
    assert counted.correct.total == (program.correct.counts.total if program.correct else 0)


def test_the_numbers_of_a_drawing_do_not_change_its_cost():
    # numbers are parameters; only an exact zero is structure
    assert cost(cc.library.four_bar(torque=0.1)) == cost(cc.library.four_bar(torque=-20.0))


def test_a_planar_loop_pays_for_planar_arithmetic():
    # the same loop in a plane without structural zeros: every vector has three components there
    def loop(normal):
        m = cc.Mechanism("loop", gravity=(0.3, -9.0, 0.4))
        z = np.array(normal) / np.linalg.norm(normal)
        x = np.cross([0.0, 1.0, 0.0], z)
        x /= np.linalg.norm(x)
        y = np.cross(z, x)

        def at(a, b):
            return tuple(float(c) for c in a * x + b * y)

        def link(name, length):
            shape = cc.rigid(mass=1.0, com=at(length / 2, 0.0), inertia=(1.0, 1.0, 1.0))
            return m.body(name, shape)

        crank, coupler, rocker = link("crank", 1.0), link("coupler", 4.0), link("rocker", 2.5)
        axis = tuple(float(c) for c in z)
        m.revolute("O", m.ground, crank, axis=axis)
        m.revolute("A", crank.at(*at(1.0, 0.0)), coupler, axis=axis, guess=-1.2)
        m.revolute("C", m.ground.at(*at(3.0, 0.0)), rocker, axis=axis, guess=1.3)
        m.revolute("B", coupler.at(*at(4.0, 0.0)), rocker.at(*at(2.5, 0.0)), axis=axis)
        m.start = {"O": np.pi / 2}
        return m

    flat, tilted = cost(loop((0.0, 0.0, 1.0))), cost(loop((0.3, 0.2, 0.9)))

    assert flat.rows == tilted.rows == 2
    assert flat.rhs.total <= GUIDE["four-bar"]
    assert flat.rhs.total < tilted.rhs.total


@pytest.mark.parametrize(("family", "sizes"), [(ladder, (2, 3, 4, 7)), (hub, (6, 7, 8, 11))])
def test_one_more_loop_costs_the_same_however_many_there_are(family, sizes):
    costs = [cost(family(n)) for n in sizes]

    for part in ("rhs", "correct"):
        totals = [getattr(c, part).total for c in costs]
        one_more = np.diff(totals) / np.diff(sizes)
        np.testing.assert_array_equal(one_more, one_more[0])
