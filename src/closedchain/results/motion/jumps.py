"""Velocities along a path that change at once, which no force can do, and motions that samples hardly show."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from closedchain.errors import AssemblyError
from closedchain.pose.follow import Follower

if TYPE_CHECKING:
    from closedchain.results.motion.motion import Motion

Rates = tuple[float, np.ndarray, np.ndarray]  # a time, velocities and accelerations

ROUGH = 0.25  # of the largest velocity: a change between samples that accelerations do not explain
FEW = 0.3  # of all intervals that are rough: the samples do not show the motion
CLOSER = 40  # halvings of an interval, until it is an instant


def jumps(motion: Motion, follower: Follower, equal: bool) -> list[str]:
    """Sentences on jumps inside a motion and at its ends, and on too few samples where they are equally spaced."""
    t, v = motion.t, motion.v
    fast = np.abs(v / follower.size).max(initial=0.0)
    if len(t) < 2 or not fast:
        return []
    rates = zip(t, v, motion.a, strict=True)
    rough = np.array([_rough(follower, *two) for two in itertools.pairwise(rates)])
    out = []
    at = int(np.argmax(rough))
    if rough[at] > ROUGH * fast:
        when = _instant(follower, motion, at, ROUGH * fast)
        if when is not None:
            out.append(
                f"at t = {when:.6g} s the path changes its velocity at once, which no force can do: the efforts leave "
                "that out. Give a path whose velocity is continuous"
            )
        elif equal and (rough > ROUGH * fast).mean() > FEW:
            out.append(
                f"{len(t)} samples hardly show this motion: velocities change between them by more than their "
                "accelerations explain. Take more (samples=...), or the peaks are missed"
            )
    for says, k, other in (("begins", 0, "before"), ("ends", -1, "after")):
        if t[k] in motion.breaks and np.abs(v[k] / follower.size).max(initial=0.0) > 1e-9 * fast:
            out.append(
                f"the path {says} at t = {t[k]:.6g} s with a velocity that it does not have {other}: what it takes is "
                "not in the efforts. The law 'minimum-jerk' has no such jump"
            )
    return out


def _rough(follower: Follower, first: Rates, second: Rates) -> float:
    """How much velocities change between two instants beyond what the accelerations at both explain."""
    (t, v, a), (t_next, v_next, a_next) = first, second
    left = v_next - v - (t_next - t) * (a + a_next) / 2
    return float(np.abs(left / follower.size).max(initial=0.0))


def _instant(follower: Follower, motion: Motion, k: int, bound: float) -> float | None:
    """When velocities jump between samples k and k + 1; None if they change fast, but not at once."""
    samples = motion.samples
    low = float(samples.t[k]), (samples.q[k], samples.v[k], samples.a[k])
    high = float(samples.t[k + 1]), (samples.q[k + 1], samples.v[k + 1], samples.a[k + 1])
    for _ in range(CLOSER):
        middle = (low[0] + high[0]) / 2
        if not low[0] < middle < high[0]:
            break
        try:
            found = middle, follower.reach(low[0], low[1], middle, 0.1 * (middle - low[0]))
        except AssemblyError:
            return None
        halves = ((low, found), (found, high))
        sizes = [_rough(follower, (x[0], x[1][1], x[1][2]), (y[0], y[1][1], y[1][2])) for x, y in halves]
        if max(sizes) <= bound:
            return None
        low, high = halves[int(np.argmax(sizes))]
    return high[0]
