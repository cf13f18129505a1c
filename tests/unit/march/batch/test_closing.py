"""The shortest solution of independent equations, against the singular value decomposition."""

import numpy as np
import pytest

from closedchain.march.batch.closing import shortest


@pytest.mark.parametrize(
    ("rows", "columns", "rank"), [(3, 3, 3), (2, 5, 2), (6, 4, 3), (5, 7, 4), (4, 2, 2), (3, 3, 0)]
)
def test_shortest_solution_of_consistent_equations(rows, columns, rank, rng):
    A = rng.normal(size=(rows, rank)) @ rng.normal(size=(rank, columns))
    b = A @ rng.normal(size=columns)
    x = np.full(columns, np.nan)
    shortest(np.ascontiguousarray(A.T), b, 1e-10, x)
    # condition numbers of random matrices of this size are below a hundred
    np.testing.assert_allclose(x, np.linalg.lstsq(A, b, rcond=1e-10)[0], rtol=0, atol=1e-12)


def test_rows_that_say_nothing_are_left_out(rng):
    A = rng.normal(size=(4, 5))
    A[3] = A[0] + 1e-13 * rng.normal(size=5)
    b = A @ rng.normal(size=5)
    b[3] = b[0] + 1e-9  # a contradiction within the tolerance of the rank
    x = np.empty(5)
    shortest(np.ascontiguousarray(A.T), b, 1e-10, x)
    assert np.abs(A @ x - b).max() <= 2e-9 and np.linalg.norm(x) < 10
