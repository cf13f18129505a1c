"""Where what acts on a drawing has corners."""

import numpy as np
import pytest

import closedchain as cc
from closedchain.model.expressions.functions import piecewise
from closedchain.model.forces.corners import corners


def rotor(torque=0.0, **options):
    m = cc.Mechanism("rotor")
    m.revolute("O", m.ground, m.body("disc", cc.disc(radius=0.2, mass=2.0)), **options)
    m.motor("O", torque=torque(m.joints["O"].q) if callable(torque) else torque)
    return m


@pytest.mark.parametrize(
    ("torque", "zeros"),
    [
        (1.0, []),
        (cc.math.sin(cc.t), []),
        (abs(cc.t - 1), ["(t - 1)"]),
        (cc.math.minimum(cc.t, 2) + cc.math.maximum(3, cc.t), ["(3 - t)", "(t - 2)"]),
        (cc.math.where(cc.t < 1, 2.0, 3.0), []),  # a jump is held
    ],
)
def test_signals(torque, zeros):
    assert [str(x) for x in corners(rotor(torque)).zeros] == zeros


def test_stops():
    m = rotor(limits=cc.Stops(-1.0, 2.0, stiffness=10.0))
    assert [x.op for x in corners(m).zeros] == ["sub", "sub"]


def test_parameters_have_no_corner():
    m = cc.Mechanism("rotor")
    m.revolute("O", m.ground, m.body("disc", cc.disc(radius=0.2, mass=2.0)))
    m.motor("O", torque=abs(m.parameter("k", 2.0)) * cc.t)
    assert not corners(m)


def number(signal, x):
    """The number of the piece, as the signal tells it."""
    from closedchain.model.expressions.operations import OPERATIONS

    return OPERATIONS["polynomials"](x, *signal.args[1:])


def test_a_table_counts_its_corners():
    (signal,) = corners(rotor(lambda q: cc.math.interp(q, [0, 1, 2, 4], [0, 5, 10, 0]))).counted
    # the slope is the same on both sides of 1; ends have corners, too
    assert number(signal, np.array([0.0, 2.0, 4.0])) == pytest.approx([0, 1, 2])
    assert np.floor(number(signal, np.array([-0.1, 0.1, 1.0, 2.1, 4.1]))).tolist() == [-1, 0, 0, 1, 2]


def test_pieces_that_join_smoothly_have_none():
    # x^2 up to 1, then 2 x - 1: slope 0 at the first end, 2 at the last, where it becomes constant
    (signal,) = corners(rotor(lambda q: piecewise(q, [0, 1, 2], [[0, 0, 1], [1, 2, 0]]))).counted
    assert number(signal, 2.0) == 0.0
    # 3 x^2 - 2 x^3 rises from rest to rest
    assert not corners(rotor(lambda q: piecewise(q, [0, 1], [[0, 0, 3, -2]])))
