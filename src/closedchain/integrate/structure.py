"""What is known of a Jacobian's zeros before any number is: which unknowns to eliminate, and in which order.

An implicit method solves ``(g E - J) z = r`` with ``g = gamma / h``, real or complex, again and again. E is the unit
matrix, or has zeros in its diagonal for algebraic states, which have no rate. The states fall into three sets:

- *tail*: states on which no rate depends (the work W, turn counters; their columns of J are zero). They follow when all
  others are known, with a division by g.
- *first*: coordinates, which the caller names, whose rates depend on velocities alone (``q' = N v``). Their part of the
  matrix is ``g I``, so they are eliminated by hand:  ``(g I - J_kk - J_kf J_fk / g) z_k = r_k + J_kf r_f / g``. Of a
  quaternion, whose rates depend on itself, one entry out of four goes this way.
- *kept*: the rest, and all algebraic states, for a factorisation. They are numbered so that it fills in little (minimum
  degree; Tinney and Walker 1967, Proc. IEEE 55, 1801-1809): with springs at the cuts, limb after limb, and what they
  share at the end. An algebraic state without an entry in the diagonal, as a multiplier, waits until the elimination of
  others has put one there.

The product ``J_kf J_fk`` belongs to a Jacobian, not to a step length: it is formed once for both systems of Radau IIA
and for all later step lengths.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

# |g| / |J_fk|, with g over the run's own time: with less, the elimination of the coordinates by hand would lose digits;
# steps are not so long
LEAST = 1e-4


class Structure(NamedTuple):
    """Index lists for `integrate.linear`; entries are numbers of the Jacobian's nonzeros, column after column.

    Attributes
    ----------
    kept, first, tail : states of the three sets, kept ones in the order of the factorisation.
    inside : (m, 3) of J_kk: row and column among the kept, entry.
    product : (m, 4) of J_kf J_fk: row and column among the kept, entry of J_kf, entry of J_fk.
    into : (m, 3) of J_kf: row among the kept, state of the column, entry.
    back : (m, 3) of J_fk: states of the row and of the column, entry.
    end : (m, 3) of the rows of the tail: states of the row and of the column, entry.
    entries : (1,) the number of nonzeros.
    mass : (n,) the diagonal of E: 1, and 0 for algebraic states.
    slowest : (1,) the least |g| for which coordinates are eliminated, over their entries of J_fk, 1/s.
    """

    kept: np.ndarray
    first: np.ndarray
    tail: np.ndarray
    inside: np.ndarray
    product: np.ndarray
    into: np.ndarray
    back: np.ndarray
    end: np.ndarray
    entries: np.ndarray
    mass: np.ndarray
    slowest: np.ndarray


def structure(pattern: np.ndarray, coordinates: Sequence[int] = (), algebraic: Sequence[int] = ()) -> Structure:
    """Plan the solution of linear systems with a Jacobian of a given pattern.

    Parameters
    ----------
    pattern
        (n, n), True where an entry may differ from zero.
    coordinates
        States whose rows of the Jacobian have entries of moderate size, such as ``q' = v``: those of them that do not
        depend on each other are eliminated first.
    algebraic
        States without a rate: their rows of the right-hand side are equations that must be zero.

    Examples
    --------
    >>> oscillator = np.array([[False, True], [True, True]])
    >>> plan = structure(oscillator, coordinates=[0])
    >>> plan.kept, plan.first
    (array([1]), array([0]))
    """
    pattern = np.asarray(pattern, bool)
    n = len(pattern)
    if pattern.shape != (n, n):
        raise ValueError(f"the pattern of a Jacobian is square, not {pattern.shape}")
    columns, rows = np.nonzero(pattern.T)
    entry = np.zeros((n, n), np.int64)
    entry[rows, columns] = np.arange(len(rows))

    mass = np.ones(n)
    mass[list(algebraic)] = 0.0
    matters = np.any(pattern, axis=0) | (mass == 0.0)
    tail = [int(i) for i in np.flatnonzero(~matters)]
    first: list[int] = []
    # the cheapest ones before they make others dear
    for i in sorted(coordinates, key=lambda i: (int(np.sum(pattern[i]) * np.sum(pattern[:, i])), i)):
        others = [*first, i]
        if matters[i] and mass[i] and not pattern[i, others].any() and not pattern[others, i].any():
            first.append(i)
    left = [i for i in range(n) if matters[i] and i not in first]

    # with the eliminated ones gone
    full = pattern[np.ix_(left, left)] | (
        pattern[np.ix_(left, first)].astype(int) @ pattern[np.ix_(first, left)].astype(int) > 0
    )
    kept = [left[i] for i in minimum_degree(full, full.diagonal() | (mass[left] != 0.0))]
    place = {state: i for i, state in enumerate(kept)}

    def triples(of_rows: list[int], of_columns: list[int], kept_rows: bool, kept_columns: bool = False) -> np.ndarray:
        # column after column, so that neighbours in a list go to different rows
        found = [
            (place[i] if kept_rows else i, place[j] if kept_columns else j, entry[i, j])
            for j in of_columns
            for i in of_rows
            if pattern[i, j]
        ]
        return np.array(found, np.int64).reshape(-1, 3)

    product = [
        (place[i], place[j], entry[i, f], entry[f, j])
        for f in first
        for i in kept
        if pattern[i, f]
        for j in kept
        if pattern[f, j]
    ]
    return Structure(
        kept=np.array(kept, np.int64),
        first=np.array(sorted(first), np.int64),
        tail=np.array(tail, np.int64),
        inside=triples(kept, kept, True, True),
        product=np.array(product, np.int64).reshape(-1, 4),
        into=triples(kept, first, True),
        back=triples(first, kept, False),
        end=triples(tail, [*first, *kept], False),
        entries=np.array([len(rows)], np.int64),
        mass=mass,
        slowest=np.array([LEAST]),
    )


def minimum_degree(pattern: np.ndarray, pivots: np.ndarray | None = None) -> list[int]:
    """An order of elimination that fills in little: always the unknown with the fewest neighbours left.

    Parameters
    ----------
    pattern
        (n, n), True where the matrix may differ from zero.
    pivots
        (n,) whether an unknown has an entry in the diagonal from the beginning; None: all of them. Others wait for one.
    """
    n = len(pattern)
    near = [set(np.flatnonzero(pattern[i] | pattern[:, i])) - {i} for i in range(n)]
    filled = np.array(pattern, bool)
    ready = np.ones(n, bool) if pivots is None else np.array(pivots, bool)
    left, order = set(range(n)), []
    while left:
        # where none is ready, the matrix is singular, or row pivots have to help
        i = min((i for i in left if ready[i]), key=lambda i: (len(near[i]), i), default=None)
        if i is None:
            i = min(left, key=lambda i: (len(near[i]), i))
        left.remove(i)
        order.append(int(i))
        for j in near[i]:
            near[j] |= near[i]
            near[j] -= {i, j}
        if not ready.all():
            filled |= np.outer(filled[:, i], filled[i])
            ready |= filled.diagonal()
    return order
