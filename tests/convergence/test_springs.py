"""Springs in the closures approach the rigid loops at first order in 1/k: motion, gaps, and forces."""

from functools import cache

import numpy as np
import pytest

import closedchain as cc

STIFFNESS = np.array([2e5, 4e5, 8e5, 1.6e6])  # N/m

# Drawing, seconds, and damping over sqrt(k): a good part of the critical one, so that the ringing of the start, where
# the forces jump from nothing to what the load asks for, is gone in the second half. The four-bar's ends before its
# output link reverses at 1.54 s, where undamped springs start to be chaotic.
CASES = {
    "four-bar": (cc.library.four_bar, 1.2, 2.0),
    "rrr3": (lambda: cc.library.rrr3(torques=(1.0, -2.0, 0.5)), 1.0, 2.0),
    "gough-stewart": (cc.library.gough_stewart, 0.5, 0.4),
}
SPRINGS = (cc.VirtualSpring, cc.ModifiedDeNOC)
of_both = pytest.mark.parametrize("Spring", SPRINGS)
of_all = pytest.mark.parametrize("name", CASES)


@cache
def drawn(name):
    build, until, _ = CASES[name]
    return build(), np.linspace(0.0, until, 121)


@cache
def rigid(name):
    m, times = drawn(name)
    return cc.simulate(m, until=times[-1], rtol=1e-12, t_eval=times)


def sprung(name, Spring, k, b):
    m, times = drawn(name)
    return cc.simulate(m, until=times[-1], method=Spring(k, b), rtol=1e-11, t_eval=times)


def coordinates(run):
    return run.x[:, : run.program.equations.topology.tree_nq]


def errors(name, Spring, damping):
    """Largest errors over the interval for each stiffness: coordinates, gap, forces in its second half."""
    found = []
    for k in STIFFNESS:
        run, exact = sprung(name, Spring, k, damping(k)), rigid(name)
        late = slice(len(run.t) // 2, None)
        motion = np.abs(coordinates(run) - coordinates(exact)).max()
        force = np.abs(run["lam"].values - exact["lam"].values)[late].max()
        found.append([motion, float(run.closure_error.max()), force])
    return np.array(found)


def orders(found):
    """Observed between one stiffness and the next."""
    return -np.diff(np.log(found), axis=0) / np.diff(np.log(STIFFNESS))[:, None]


@of_both
@of_all
def test_damped_springs_are_of_first_order(name, Spring):
    factor = CASES[name][2]
    found = errors(name, Spring, lambda k: factor * np.sqrt(k))
    # damping that grows with sqrt(k) adds a term of order k^(-3/2), 0.1 % to 1.4 % here
    np.testing.assert_allclose(orders(found), 1.0, atol=0.02)
    assert (found[-1] < [2e-5, 3e-5, 5e-3]).all()  # rad or m, m, N at 1.6e6 N/m


@of_both
@of_all
def test_undamped_springs_are_of_first_order_in_the_motion_alone(name, Spring):
    """They ring for ever: the motion converges, in the mean, and the forces at the samples do not."""
    found = errors(name, Spring, lambda k: 0.0)
    slope = np.polyfit(np.log(STIFFNESS), np.log(found), 1)[0]
    np.testing.assert_allclose(-slope[0], 1.0, atol=0.1)  # samples meet the swing in another phase each time
    assert found[-1, 2] > 0.5 * found[0, 2] > 0.01  # N
    damped = errors(name, Spring, lambda k: CASES[name][2] * np.sqrt(k))
    assert (found[:, 2] > 100 * damped[:, 2]).all()


@of_both
@of_all
def test_the_next_order_is_the_second(name, Spring):
    """With b in proportion to k the error is a series in 1/k: two runs give the rigid motion to second order."""
    found = []
    for k in STIFFNESS[:3] / 2:
        soft, hard = (coordinates(sprung(name, Spring, x, 1e-3 * x)) for x in (k, 2 * k))
        found.append(np.abs(2 * hard - soft - coordinates(rigid(name)))[len(soft) // 2 :].max())
    order = -np.diff(np.log2(found))
    np.testing.assert_allclose(order, 2.0, atol=0.1)


@of_both
def test_gap_times_stiffness_is_the_force_of_the_joint(Spring):
    """``run.reaction`` finds it from the balance of all bodies: once with springs, once without."""
    run, exact = (sprung("four-bar", Spring, 1e6, 2e3), rigid("four-bar"))
    mine, wanted = (x.reaction("B").force.values[60:, :2] for x in (run, exact))
    np.testing.assert_allclose(mine, run["lam"].values[60:], atol=1e-4)  # N: a gap of 1e-5 m is a lever for 10 N
    np.testing.assert_allclose(mine, wanted, atol=2e-2)  # first order in 1/k, of up to 40 N


@of_both
def test_steps_grow_with_the_square_root(Spring):
    """The highest frequency is that of the springs, and an explicit solver follows it."""
    counts = [sprung("four-bar", Spring, k, 0.0).counts.steps for k in STIFFNESS]
    slope = np.polyfit(np.log(STIFFNESS), np.log(counts), 1)[0]
    # amplitudes fall with 1/k, so that steps of an 8th-order method may grow by k^(1/8) against the period
    assert 0.35 < slope <= 0.55
