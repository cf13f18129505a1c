"""Stiffer and stiffer springs: the cost of explicit solvers grows like sqrt(k), that of implicit ones hardly."""

from functools import cache

import numpy as np
import pytest

import closedchain as cc

STIFFNESS = (1e4, 1e6, 1e8)  # N/m
UNTIL, RTOL = 1.0, 1e-6
CASES = {
    "four-bar": cc.library.four_bar,
    "rrr3": lambda: cc.library.rrr3(torques=(2.0, -1.0, 1.5)),
    "gough-stewart": cc.library.gough_stewart,
}
of_all = pytest.mark.parametrize("name", CASES)
of_both = pytest.mark.parametrize("solver", ["radau5", "rodas5p"])


@cache
def drawn(name):
    return CASES[name]()


@cache
def motion(name, solver, k):
    """A run with springs that are damped critically for 1 kg."""
    method = cc.VirtualSpring(k, 2 * np.sqrt(k))
    return cc.simulate(drawn(name), until=UNTIL, method=method, solver=solver, rtol=RTOL)


@cache
def rigid(name):
    return cc.simulate(drawn(name), until=UNTIL, rtol=1e-10)


def growth(name, solver):
    """Evaluations at the stiffest springs over those at the softest."""
    return (
        motion(name, solver, STIFFNESS[-1]).counts.evaluations / motion(name, solver, STIFFNESS[0]).counts.evaluations
    )


@of_all
def test_explicit_work_grows_with_the_root(name):
    # sqrt(1e8 / 1e4) = 100, less what the first run spends on the motion itself
    assert 30 < growth(name, "dop853") < 150


@of_all
@of_both
def test_implicit_work_hardly_grows(name, solver):
    # measured: 5 to 7 for four orders of magnitude, where the explicit solver needs 56 to 96 times as much
    assert growth(name, solver) < 9


@of_all
@of_both
def test_implicit_work_is_less(name, solver):
    """From k = 1e6 on: fewer than a third of the evaluations, at 1e8 fewer than a tenth."""
    for k, share in ((1e6, 1 / 3), (1e8, 1 / 10)):
        explicit, implicit = (motion(name, s, k).counts.evaluations for s in ("dop853", solver))
        assert implicit < share * explicit, k


@of_all
@of_both
def test_the_rigid_motion_is_approached(name, solver):
    """The error falls like 1/k, until the tolerance of the steps is what is left."""
    n = rigid(name).program.equations.topology.tree_nq
    found = [np.abs(motion(name, solver, k).x[:, :n] - rigid(name).x[:, :n]).max() for k in STIFFNESS]
    # (measured with the four-bar, whose length is 4 m: 5.3e-4, 4.2e-5)
    assert found[1] < max(0.03 * found[0], 100 * RTOL)
    assert found[2] < max(0.03 * found[1], 100 * RTOL)


@of_both
def test_springs_without_dampers(solver):
    """What rings below the tolerance is damped away: the platform costs no more at 1e8 than at 1e4."""
    runs = [
        cc.simulate(drawn("gough-stewart"), until=UNTIL, method=cc.VirtualSpring(k), solver=solver, rtol=RTOL)
        for k in (1e4, 1e8)
    ]
    assert runs[1].counts.evaluations < 2 * runs[0].counts.evaluations
