"""Signals of corners as solvers see them."""

import numpy as np

import closedchain as cc
from closedchain.march.program import corners
from closedchain.march.program.compiled import compiled
from closedchain.pose.state import parameter_vector


def test_the_work_vector_lies_behind_that_of_the_right_hand_side():
    m = cc.library.pendulum()
    m.motor("hinge", torque=cc.math.interp(cc.t, [1.0, 3.0], [0.0, 5.0]) - abs(m.joints["hinge"].v))
    program, p = compiled(m.assemble(), cc.Multipliers()), parameter_vector(m)
    options, w = corners.options("dop853", program), corners.work("dop853", program, p)
    assert (options["corner_zeros"], options["corner_signals"]) == (1, 2)
    np.testing.assert_array_equal(w[: len(w) - options["corners_work"]], program.rhs.prepare(p))
    # the speed, and the middle of the table's only piece
    assert corners.corners(program)(2.0, np.array([0.1, -0.7, 0.0]), p).tolist() == [-0.7, 0.5]


def test_solvers_that_do_not_look_at_corners_are_not_told_of_them():
    m = cc.library.pendulum()
    m.motor("hinge", torque=abs(cc.t - 1))
    program, p = compiled(m.assemble(), cc.Multipliers()), parameter_vector(m)
    for solver in ("rk4", "cvodes"):
        assert corners.options(solver, program) == {}
        np.testing.assert_array_equal(corners.work(solver, program, p), program.rhs.prepare(p))


def test_without_corners_nothing_is_compiled():
    program = compiled(cc.library.pendulum().assemble(), cc.Multipliers())
    assert corners.options("dop853", program) == {} and "corners" not in program.shared
