"""Closing the loops of the rigid-link system, and watching what is zeroed: numbers that every evaluation needs first.

Dependent coordinates are found by Newton's method from where they were last, at once, and if that is too far, in some
steps.
"""

from __future__ import annotations

from closedchain.native.call import call
from closedchain.native.memory import copy, inner

RESTS = 1e-10  # rad, or of the length: the error after a Newton step of this size is below rounding
FAR = 0.5  # what the first step may be at most
CONTRACTS = 0.5  # of the step before: what the next one may be at most
ITERATIONS = 15
STEPS = 8  # in which the loops are closed where that cannot be done at once


@inner
def newton(plan, room, t):
    """Solve for the dependent coordinates in `room.tree.q`; False if that fails."""
    tree, one = room.tree, room.newton
    one.x[0] = t
    most = FAR
    for _ in range(ITERATIONS):
        for i in range(plan.tree):
            one.x[1 + i] = tree.q[i]
        call(plan.functions.newton, one.x, one.w, one.out)
        room.counts[1] += 1
        step = one.out[plan.tree]
        for i in range(plan.tree):
            tree.q[i] = one.out[i]
        if step <= RESTS:
            return True
        if not step <= most:
            return False
        most = max(CONTRACTS * step, RESTS)
    return False


@inner
def close_loops(plan, room, t, y):
    """Put the independent coordinates of y in the tree, and solve for the others; False if that fails.

    It is tried from where the loops were closed last, at once, and if that is too far, in some steps of y and of time,
    with which drives move.
    """
    first, tree = plan.n_chain + plan.n_u, room.tree
    copy(tree.last, tree.q)
    begun, steps = tree.when[0], 1
    while steps <= STEPS:
        closed = True
        for k in range(1, steps + 1):
            for j in range(plan.n_q):
                at = tree.where[j]
                tree.q[at] = tree.last[at] + (y[first + j] - tree.last[at]) * k / steps
                if k == steps:
                    tree.q[at] = y[first + j]
            if plan.options.loops and not newton(plan, room, t if k == steps else begun + (t - begun) * k / steps):
                closed = False
                break
        if closed:
            tree.when[0] = t
            return True
        copy(tree.q, tree.last)
        steps *= STEPS
    return False


@inner
def closed_at(plan, room, t, y, q):
    """Coordinates of the tree q at another state, near the one where the loops have been closed last, which stays."""
    tree = room.tree
    copy(q, tree.q)
    before = tree.when[0]
    closed = close_loops(plan, room, t, y)
    tree.when[0] = before
    for i in range(plan.tree):
        q[i], tree.q[i] = tree.q[i], q[i]
    return closed


@inner
def determinant(plan, room):
    """Of the zeroed block of J, over that at the start: 1 there, and zero where these displacements cannot be zeroed.

    It changes its sign where a step goes past such a pose.
    """
    n, B = plan.n_q, room.zeroed.block
    for i in range(n):
        for j in range(n):
            B[i, j] = room.motion.out[plan.motion.block + i * n + j] / room.zeroed.units[i, j]
    out = 1.0
    for k in range(n):
        row, largest = k, 0.0
        for i in range(k, n):
            if abs(B[i, k]) > largest:
                row, largest = i, abs(B[i, k])
        if not largest > 0.0:
            return 0.0
        if row != k:
            out = -out
            for j in range(n):
                B[k, j], B[row, j] = B[row, j], B[k, j]
        out *= B[k, k]
        for i in range(k + 1, n):
            factor = B[i, k] / B[k, k]
            for j in range(k, n):
                B[i, j] -= factor * B[k, j]
    return out / room.zeroed.begun[0]
