"""The four-bar of Table 1, and the runs of it that figures and claims share.

Method A is `cc.VirtualSpring` without dampers, method B `cc.Projection`. MATLAB's ode45 is `dopri5` with an absolute
tolerance of 1e-6. A closure error is the larger one of the two components of C, in m.
"""

from __future__ import annotations

import warnings
from functools import cache

import numpy as np

import closedchain as cc
from closedchain.results.run import Run

UNTIL = 10.0
EARLY = 2.0  # s: later the undamped springs are chaotic
TIMES = np.linspace(0.0, UNTIL, 5001)
WINDOW = 0.1  # s, of an envelope: closure errors swing too fast to be drawn
SIGMAS = (0.0, 1.0, 10.0, 100.0, 1000.0)  # 1/s; the paper does not print its own
STIFFNESSES = (1e1, 1e2, 1e3, 1e4, 1e5, 1e6)  # N/m
TOLERANCES = (1e-3, 1e-4, 1e-5, 1e-6)
ATOL = 1e-6  # that of ode45 where none is given
STEP = 1e-3  # s, of Figure 7
DECADE = 10.0  # errors on axes of decades: what differs by less is of one size


@cache
def four_bar() -> cc.Mechanism:
    """The linkage, with the lengths of Wang et al."""
    return cc.library.four_bar()


@cache
def adaptive(method, rtol: float, until: float = UNTIL) -> Run:
    """A run with steps that a tolerance chooses, sampled every 2 ms."""
    times = TIMES[until >= TIMES]
    return quietly(method, until=until, solver="dopri5", rtol=rtol, atol=ATOL, t_eval=times)


@cache
def fixed(method, step: float = STEP, solver: str = "rk4", until: float = UNTIL) -> Run:
    """A run with equal steps, by the classic method of order 4, or by Dormand and Prince's of order 5."""
    times = TIMES[until >= TIMES]
    if solver == "rk4":
        return quietly(method, until=until, solver=cc.solvers.RK4(step=step), rtol=1e-3, t_eval=times)
    # nothing is too coarse for this tolerance, so that all steps are as long as they may be
    return quietly(
        method, until=until, solver=cc.solvers.SOLVERS[solver](first_step=step, max_step=step), rtol=1e6, t_eval=times
    )


@cache
def exact(until: float = UNTIL) -> Run:
    """Loops closed to rounding, steps far below what any figure shows."""
    return cc.simulate(four_bar(), until=until, rtol=1e-11, t_eval=TIMES[until >= TIMES])


def quietly(method, **options) -> Run:
    """A run whose errors are what is looked at: nobody has to be warned of them, and one that blows up is kept, too."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cc.RunWarning)
        try:
            return cc.simulate(four_bar(), method=method, **options)
        except cc.RunError as ended:
            return ended.run


def projection(sigma: float) -> cc.Projection:
    """Method B."""
    return cc.Projection(float(sigma))


def springs(stiffness: float) -> cc.VirtualSpring:
    """Method A."""
    return cc.VirtualSpring(float(stiffness))


def gap(run: Run, until: float = np.inf) -> float:
    """The largest closure error of a run, or of its beginning, m; infinite if the run blew up before."""
    until = min(until, run.task.until)
    return float(run.closure_error.values[run.t <= until].max()) if run.t[-1] >= until else float("inf")


def envelope(run: Run) -> tuple[np.ndarray, np.ndarray]:
    """The largest closure error in each window: middles of the windows, s, and errors, m."""
    error = run.closure_error.values[1:]
    n = round(WINDOW / TIMES[1])
    error = error[: len(error) // n * n].reshape(-1, n).max(axis=1)
    return WINDOW * (np.arange(len(error)) + 0.5), np.maximum(error, 1e-17)


def angle_off(run: Run, at: float = UNTIL) -> float:
    """How far the crank is from that with rigid joints at a time, rad."""
    k = round(at / TIMES[1])
    return float(abs(run["O"].values[k] - exact()["O"].values[k]))


def power(x, y) -> float:
    """The exponent p of the power law ``y = a x^p`` that fits best on logarithmic axes."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def straight(x, y) -> tuple[float, float, float]:
    """The straight line that fits best: its value at 0, its slope, and the largest misfit relative to the largest y."""
    slope, at_zero = np.polyfit(x, y, 1)
    off = np.abs(np.polyval((slope, at_zero), x) - y).max() / np.max(y)
    return float(at_zero), float(slope), float(off)
