"""A CasADi function at the samples of a motion, some of them at a time.

CasADi's own interpreter is fast enough for results, and saves the user a compilation. It takes and gives matrices of
its own: of all samples at once they would take several times the memory of the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from closedchain.lock import LOCK, patient

if TYPE_CHECKING:
    import casadi
    from numpy.typing import NDArray

# Numbers that go in and come out in one call, at most: 4 MB. More saves no time, and fewer save no memory that counts.
IN_A_CALL = 2**19


def samples_in_a_call(f: casadi.Function) -> int:
    """How many samples a function is given at a time."""
    return max(1, IN_A_CALL // max(1, f.nnz_in() + f.nnz_out()))


def at_samples(f: casadi.Function, n: int, inputs: Sequence[NDArray[np.float64]]) -> list[NDArray[np.float64]]:
    """Evaluate a function of column vectors at n samples.

    Parameters
    ----------
    f
        Its outputs are dense.
    n
        Number of samples; may be zero.
    inputs
        For each input (n, rows), or (rows) if it is the same at all samples. Arrays on disk are read piece by piece.

    Returns
    -------
    list of ndarray
        (n, rows, columns) for each output.

    Examples
    --------
    >>> import casadi
    >>> x, p = casadi.SX.sym("x", 2), casadi.SX.sym("p")
    >>> f = casadi.Function("f", [x, p], [p * x])
    >>> at_samples(f, 2, [np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([10.0])])[0][:, :, 0]
    array([[10., 20.],
           [30., 40.]])
    """
    out = [np.empty((n, *f.size_out(i))) for i in range(f.n_out())]
    most = samples_in_a_call(f)
    for begin in range(0, n, most):
        end = min(begin + most, n)
        with LOCK:
            many = f.map(end - begin)
        given = [np.asarray(x if x.ndim == 1 else x[begin:end], float) for x in inputs]
        columns = [x[:, None] if x.ndim == 1 else x.T for x in given]
        values = patient(many.call)([np.broadcast_to(x, (len(x), end - begin)) for x in columns])
        for into, value in zip(out, values, strict=True):
            # columns come sample after sample: (rows, samples * columns)
            rows, width = into.shape[1:]
            into[begin:end] = value.reshape(rows, end - begin, width).transpose(1, 0, 2)
    return out
