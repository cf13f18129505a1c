"""The rigid four-bar of section 3.1: its numbers, and the runs that figures and claims share.

Angles are the paper's: absolute, from the x axis, counter-clockwise; theta = O, alpha = O + A, phi = C.
"""

from __future__ import annotations

from functools import cache

import numpy as np

import closedchain as cc
from closedchain.results.run import Run

L1, L2, L3, X0, G, TORQUE = 1.0, 4.0, 2.5, 3.0, 9.8, 6.0
UNTIL, STIFFNESS = 2.0, 1e6
DAMPING = 1e3  # N s/m: half of what is critical for the fastest mode at this stiffness; the paper has none here
TIMES = np.linspace(0.0, UNTIL, 2001)
# "default values for the tolerances" of MAPLE's Runge-Kutta method of orders 4 and 5, as its manual gives them
MAPLE = {"solver": "dopri5", "rtol": 1e-6, "atol": 1e-7}
PRINTED = (np.pi / 2, 0.353281, 1.26486)  # theta, alpha, phi at the start
NAMES = ("theta", "alpha", "phi")
SEEN = 0.02  # of the height of a figure: two curves that are nearer look like one


@cache
def mechanism() -> cc.Mechanism:
    return cc.library.four_bar()


@cache
def exact(method: type = cc.Multipliers, until: float = UNTIL) -> Run:
    """The loop closed exactly."""
    times = TIMES[until >= TIMES]
    return cc.simulate(mechanism(), until=until, method=method(), rtol=1e-11, t_eval=times)


@cache
def springs(stiffness: float = STIFFNESS, damping: float = 0.0, until: float = UNTIL) -> Run:
    """The loop closed by a virtual spring, integrated so well that all that is off is the spring's doing."""
    times = TIMES[until >= TIMES]
    method = cc.VirtualSpring(stiffness, damping)
    return cc.simulate(mechanism(), until=until, method=method, rtol=1e-11, t_eval=times)


def printed_start() -> cc.State:
    """The start as it is printed; it leaves the loop open a little."""
    theta, alpha, phi = PRINTED
    start = mechanism().assemble()
    q = np.array(start.q)
    q[:3] = theta, alpha - theta, phi
    return cc.State(mechanism(), q, np.zeros(3))


def angles(run, order: int = 0) -> np.ndarray:
    """theta, alpha, phi, or their rates, (time, 3)."""
    O, A, C = (run[name + order * "'"].values for name in "OAC")
    return np.stack([O, O + A, C], axis=1)


def gap(run, what: str = "position") -> np.ndarray:
    """Distance of the two sides of the joint B, m, or how fast they part, m/s."""
    one, other = (run.frame(x)[what].values[:, :2] for x in ("coupler.tip", "rocker.tip"))
    return np.linalg.norm(one - other, axis=1)


def force(run) -> np.ndarray:
    """At B, of the coupler on the output link, N, (time, 2)."""
    return run["lam"].values[:, :2]
