"""Efforts along a motion as expressions of time, to drive a mechanism with them."""

from __future__ import annotations

import numpy as np

from closedchain.arguments import known
from closedchain.errors import ModelError
from closedchain.model.expressions.expression import Number, t
from closedchain.model.expressions.functions import where
from closedchain.results.efforts.efforts import Efforts
from closedchain.results.efforts.inverse_dynamics import holding_efforts
from closedchain.results.motion.splines import parts, pieced, thinned, through


def signal(need: Efforts, name: str) -> Number:
    """The effort of an actuator as an expression of time: polynomials of degree five through the samples.

    Between samples it is off by some ``h^6`` of their distance. Where the path makes the effort jump, it jumps at that
    very time, and a run steps onto it; the samples on each side are continued to there. Before and after the motion it
    holds the first and the last pose, as references do.
    """
    known("there is no actuator", name, need.actuators)
    values = need.tau[:, need.actuators.index(name)]
    if len(need.t) < 2:
        return float(values[0])
    inside = [x for x in need.motion.breaks if need.t[0] < x < need.t[-1]]
    along = pieced([_smooth(need.t, values, *part) for part in parts(need.t, inside)], inside)
    if need.held_ends is None:
        need.held_ends = _at_rest(need, 0), _at_rest(need, -1)
    first, last = (float(held[need.actuators.index(name)]) for held in need.held_ends)
    return where(t < float(need.t[0]), first, where(t <= float(need.t[-1]), along, last))


def _at_rest(need: Efforts, index: int) -> np.ndarray:
    """The efforts that hold the pose of a sample; those of the sample itself where it is at rest."""
    if not (need.motion.v[index].any() or need.motion.a[index].any()):
        return need.tau[index]
    try:
        return holding_efforts(need.mechanism, need.motion.state(index), actuators=need.actuators).tau[0]
    except ModelError:  # what moves may be balanced, and cannot be held
        return need.tau[index]


def _smooth(t: np.ndarray, values: np.ndarray, first: int, last: int) -> Number:
    """A function of time through samples first to last - 1, continued to the next ones."""
    spline = through(t[first:last], values[first:last])
    if spline is None:  # hardly a sample between two jumps
        return float(values[min(first, len(values) - 1)])
    at = t[max(first - 1, 0) : last + 1]
    return thinned(at, *(spline(at, nu=k) if k <= spline.k else np.zeros(len(at)) for k in range(3)))
