"""Which velocities may be independent: pivots of the closure Jacobian, chosen with numbers.

Elimination with complete pivoting, tempered by sparsity: of the entries that are not much smaller than the largest one
left, the one whose elimination touches the fewest others (Markowitz 1957; Duff, Erisman and Reid 1986).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from closedchain.close.parts.feasible import TINY, coordinate_groups, lever_entries, sliding
from closedchain.derive.equations import Equations
from closedchain.pose.closing import Closing
from closedchain.pose.state import State, parameter_vector

THRESHOLD = 0.3  # of the largest entry left: what may be a pivot
AVOIDED = 1e-3  # the same for the largest of all others, before one is taken that should be independent

Pivots = tuple[tuple[int, int], ...]


def choose_pivots(e: Equations, state: State, rows: Sequence[int], chooses: str) -> Pivots:
    """Pivots ``(row, velocity)`` for the given closure rows at a state; velocities left over are independent.

    With ``chooses="coordinates"`` the velocities of a quaternion are all independent or all dependent, because it is
    one coordinate; so is the position of a free body.
    """
    A = scaled(e, state)[list(rows)]
    pattern = np.zeros(A.shape, bool)
    places = e.closure.A[list(rows), :].sparsity().get_triplet()
    pattern[places[0], places[1]] = True
    groups = [set(v) for v in coordinate_groups(e)] if chooses == "coordinates" else []
    # which of them should rather be independent: none, all, one, all but one
    candidates = [[], groups, *([x] for x in groups), *([y for y in groups if y is not x] for x in groups)]
    tried = []
    # shapes of flexible bodies are free by nature: joints follow from them
    shapes = {k for link in e.topology.links for k in range(link.shape_v.start, link.shape_v.stop)}
    for candidate in candidates if groups else [[]]:
        found = tuple((rows[i], j) for i, j in eliminate(A, pattern, sorted(shapes.union(*candidate))))
        dependent = {column for _, column in found}
        whole = all(len(dependent & x) in (0, len(x)) for x in groups)
        tried.append((whole, health(e, state, found), found))
    return max(tried, key=lambda x: x[:2])[2]


def eliminate(A: np.ndarray, pattern: np.ndarray, avoided: Sequence[int]) -> list[tuple[int, int]]:
    """Numbers of rows and columns in the order of elimination; avoided columns only where there is no other way."""
    left, pattern = A.copy(), pattern.copy()
    open_rows, open_columns = list(range(len(A))), [j for j in range(A.shape[1]) if j not in set(avoided)]
    later = list(avoided)
    pivots = []
    while open_rows:
        if later and np.abs(left[np.ix_(open_rows, open_columns)]).max(initial=0.0) < AVOIDED:
            open_columns, later = open_columns + later, []
        block = np.abs(left[np.ix_(open_rows, open_columns)])
        touched = pattern[np.ix_(open_rows, open_columns)]
        cost = np.outer(touched.sum(axis=1) - 1, touched.sum(axis=0) - 1) - block / block.max() / 2
        i, j = np.unravel_index(int(np.argmin(np.where(block >= THRESHOLD * block.max(), cost, np.inf))), cost.shape)
        row, column = open_rows.pop(int(i)), open_columns.pop(int(j))
        pivots.append((row, column))
        for other in open_rows:
            if pattern[other, column]:
                left[other] -= left[other, column] / left[row, column] * left[row]
                pattern[other] |= pattern[row]
    return pivots


def health(e: Equations, state: State, pivots: Pivots) -> float:
    """How good a choice is at a state, as `close.parts.feasible` tells it of itself while running."""
    A = scaled(e, state)
    rows, columns = [row for row, _ in pivots], [column for _, column in pivots]
    free = [k for k in range(A.shape[1]) if k not in set(columns)]
    left = A[rows]
    out = 1.0
    for i, column in enumerate(columns):
        if left[i, column] == 0.0:
            return 0.0
        out = min(out, abs(float(left[i, column])))
        left[i + 1 :] -= np.outer(left[i + 1 :, column] / left[i, column], left[i])
    if not free or not pivots:
        return out
    swiftest = np.abs(np.linalg.solve(np.triu(left[:, columns]), left[:, free])).max()
    return min(out, 1.0 / max(1.0, float(swiftest)))


def scaled(e: Equations, state: State) -> np.ndarray:
    """The closure Jacobian without units: slides measured in lever arms, rows in the size of all rows of their unit."""
    p = parameter_vector(state.mechanism, state.parameters)
    closing = Closing(e, p, time=state.t, rows=range(len(e.closure)))
    A = closing.jacobian(state.q)
    metres, turning, slides = lever_entries(e)
    if metres and turning and slides:
        arms, ways = (np.linalg.norm(A[np.ix_(metres, k)]) / len(k) ** 0.5 for k in (turning, slides))
        lever = (arms + TINY * closing.scale.length) / (ways + TINY)
        A = np.where(sliding(e), lever, 1.0) * A
    units = np.array(e.closure.units)
    return A / np.array([max(np.linalg.norm(A[units == unit]), 1e-300) for unit in units]).reshape(-1, 1)
