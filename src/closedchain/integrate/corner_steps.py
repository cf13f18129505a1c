"""Short steps over corners of forces, where the derivative of the state has a kink.

Across a kink no method has its order: the error of a step of length h is of size ``h^2`` times the jump of the slope,
and the difference of two embedded formulas may be far smaller by chance. The signals of `march.program.corners` tell
that a step passes a corner: one of them leaves the interval between its two levels next to where it began, at the end
of the step or in its middle. Such a step is accepted only if

    |h (f_0 - 2 f_1/2 + f_1)|  <=  tolerance,

with the derivatives at its start, middle and end. A kink at ``theta h`` with the jump J of the slope adds ``h J
min(theta, 1 - theta)`` to the second difference. The step misses at most some tenths of h times that of the kink.
Smooth parts add terms of third order in h, so that a corner that hardly matters does not limit the steps.

Otherwise the corner is found on the cubic polynomial through both ends, and the step ends just before it. A hop over
it follows, as long as the test allows, and then a step of the length wanted before. All this depends on the state
alone: runs in a batch and resumed runs make the same steps.
"""

import numba
import numpy as np

from closedchain.integrate.step_control import EPS, F1, EquationsType, OptionsRecord, RunType, StepType, scaled_norm
from closedchain.native.call import call
from closedchain.native.jit import jit

# a signal is not told from its level within so many tolerances of the state, or roundings if they are more
NOTICED, ROUNDINGS = 1e-4, 16.0
GOLDEN = 0.618  # no two entries are moved alike: their difference is a signal, too
# of the length that the test would allow: what is tried
SAFETY = 0.8
# of a hop: how far from the corner it begins, at most
NEAR = 0.5
# roundings of the time: a hop is never shorter
SHORTEST = 64.0
# pieces of a table that a step may pass as a whole; a table with more of them in a step is finer than the step
FINE = 1.0
FINDS = 60

REPEAT, CLEAR, PASSED = range(3)


@jit(numba.void(F1, F1, F1, F1, numba.float64, numba.float64, F1))
def between(x, y, f, f_new, h, theta, z):
    """The cubic polynomial through both ends of a step at ``theta``."""
    rest = 1.0 - theta
    for i in range(x.size):
        d = y[i] - x[i]
        z[i] = x[i] + theta * (d + rest * (rest * (h * f[i] - d) + theta * (d - h * f_new[i])))


@jit(numba.boolean(OptionsRecord, F1, F1, F1, F1, F1, F1))
def beyond(o, w, clock, z, g, low, high):
    """Whether a signal has left its interval at a state."""
    call(o.corners, clock, z, w, g)
    outside = 0
    for j in range(g.size):
        outside += g[j] < low[j] or g[j] > high[j]
    return outside > 0


@jit(numba.int64(EquationsType, RunType, StepType))
def passes(e, run, step):
    """Whether a step may be accepted; if not, `s.corner` and `s.hop` limit the next ones.

    Parameters
    ----------
    e, run : as for `ADVANCE`.
    step : the step, with both ends, and the derivatives there.

    Returns
    -------
    REPEAT (which is 0), CLEAR if there was no corner, or PASSED.
    """
    o, s, w, atol = run.options[0], run.state[0], e.w, e.atol
    h, x, y, f, f_new = step.h, step.x, step.y, step.f, step.f_new[0]
    own = w[w.size - o.corners_work :]
    g, low, high = np.empty(o.corner_signals), np.empty(o.corner_signals), np.empty(o.corner_signals)
    z, clock = np.empty(x.size), np.empty(1)

    # the levels next to each signal at the start; one that it is on, to the tolerance of the state, does not count
    clock[0] = s.t
    call(o.corners, clock, x, own, g)
    least = max(NOTICED, ROUNDINGS * EPS / o.rtol) if o.rtol > 0.0 else NOTICED
    for i in range(x.size):
        z[i] = x[i] + least * (atol[i] + o.rtol * abs(x[i])) * (0.5 + (GOLDEN * (i + 1)) % 1.0)
    call(o.corners, clock, z, own, low)
    for j in range(g.size):
        slack = abs(low[j] - g[j])
        low[j], high[j] = -np.inf, np.inf
        if j >= o.corner_zeros:
            low[j], high[j] = np.ceil(g[j] - slack) - 1.0 - slack, np.floor(g[j] + slack) + 1.0 + slack
        elif g[j] > slack:
            low[j] = -slack
        elif g[j] < -slack:
            high[j] = slack

    # the stages see many pieces of a table that is finer than the step: their estimate knows of its corners
    clock[0] = s.t + h
    passed = beyond(o, own, clock, y, g, low, high)
    for j in range(o.corner_zeros, g.size):
        if g[j] < low[j] - FINE or g[j] > high[j] + FINE:
            low[j], high[j] = -np.inf, np.inf
            passed = beyond(o, own, clock, y, g, low, high)

    # in which half of the step a corner is passed first
    clock[0] = s.t + 0.5 * h
    between(x, y, f, f_new, h, 0.5, z)
    first, last = 0.5, 1.0
    if beyond(o, own, clock, z, g, low, high):
        first, last = 0.0, 0.5
    elif not passed:
        return CLEAR

    # does it matter?
    shortest = SHORTEST * EPS * max(abs(s.t), abs(s.t + h))
    clock[0] = s.t + 0.5 * h
    bent = np.empty(x.size)
    call(e.rhs, clock, z, w, bent)
    s.evaluations += 1
    for i in range(x.size):
        bent[i] = h * (f[i] - 2.0 * bent[i] + f_new[i])
    err = scaled_norm(bent, x, y, atol, o.rtol, o.team, w)
    if err <= 1.0 or abs(h) <= shortest:
        s.hop = 0.0
        return PASSED

    # a kink falls with the square of the length, a jump with the length itself
    if not np.isfinite(err):
        hop = 0.25 * abs(h)
    elif abs(h) <= s.hop:
        hop = SAFETY * abs(h) / err
    else:
        hop = SAFETY * abs(h) / np.sqrt(err)
    s.hop = max(hop, shortest)

    for _ in range(FINDS):
        if (last - first) * abs(h) <= 0.125 * s.hop:
            break
        middle = 0.5 * (first + last)
        clock[0] = s.t + middle * h
        between(x, y, f, f_new, h, middle, z)
        if beyond(o, own, clock, z, g, low, high):
            last = middle
        else:
            first = middle
    s.corner = s.t + last * h
    s.rejections += 1
    return REPEAT
