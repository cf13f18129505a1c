"""Functions of time through samples, with as few pieces as they need."""

import numpy as np
import pytest

import closedchain as cc
from closedchain.results.motion.splines import kept, parts, pieced, rates, thinned


def wave(n, size=1.0, speed=7.0):
    t = np.linspace(0.0, 1.0, n)
    return t, size * np.sin(speed * t), size * speed * np.cos(speed * t), -size * speed**2 * np.sin(speed * t)


def at(expression, times):
    return np.array([float(expression.evaluate(lambda leaf, time=time: time)) for time in times])


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_what_is_left_out_is_not_needed(size):
    """Whatever the unit: to 1e-8 of the range."""
    t, y, v, a = wave(401, size)
    few = kept(t, y, v, a)
    assert 5 < len(few) < 60 and few[0] == 0 and few[-1] == 400
    fine = np.linspace(0.0, 1.0, 1234)
    assert np.abs(at(thinned(t, y, v, a), fine) - size * np.sin(7 * fine)).max() < 3e-8 * size


def test_a_parabola_needs_its_ends_alone():
    t = np.linspace(0.0, 2.0, 101)
    assert kept(t, t**2, 2 * t, np.full(101, 2.0)) == [0, 100]
    assert thinned(t[:1], t[:1] + 3.0, t[:1], t[:1]) == 3.0


def test_rates_end_at_breaks():
    """A velocity that jumps at 0.5: on both sides the derivatives are those of that side."""
    t = np.unique(np.append(np.linspace(0.0, 1.0, 41), 0.5 - 1e-9))
    y = np.where(t < 0.5, t**2, 1.0 - t)
    value, rate, faster = rates(t, y, (0.5,))
    assert (value == y).all()
    assert np.abs(rate - np.where(t < 0.5, 2 * t, -1.0)).max() < 1e-9
    assert np.abs(faster - np.where(t < 0.5, 2.0, 0.0)).max() < 1e-6  # rounding over h^2
    assert parts(t, (0.5, 7.0)) == [(0, 21), (21, 42)]


def test_pieces_follow_each_other():
    x = pieced([1.0, cc.t, 5.0], [0.3, 0.6])
    assert at(x, [0.0, 0.3, 0.5, 0.6, 2.0]).tolist() == [1.0, 0.3, 0.5, 5.0, 5.0]
