"""The checks of `model.validate` for many points at once: which of them need a closer look."""

from __future__ import annotations

import numpy as np

from closedchain.errors import ClosedChainError
from closedchain.model.expressions.expression import Expression, Number
from closedchain.model.mechanism import Mechanism
from closedchain.model.validate import SLACK


def valid(mechanism: Mechanism, p: np.ndarray) -> np.ndarray:
    """Whether bodies and the like can have the numbers ``p`` (m, np) of each point; (m,)."""
    names = list(mechanism.parameters)
    rows, inverse = np.unique(p[:, : len(names)], axis=0, return_inverse=True)
    good = ~_doubtful(mechanism, rows)
    for i in np.flatnonzero(~good):
        try:
            mechanism.validate(dict(zip(names, rows[i].tolist(), strict=True)))
            good[i] = True
        except ClosedChainError:
            pass
    return good[inverse.ravel()]


def _doubtful(mechanism: Mechanism, p: np.ndarray) -> np.ndarray:
    if mechanism.actuators or mechanism.flexible:  # these have checks of their own
        return np.ones(len(p), bool)
    columns = dict(zip(mechanism.parameters, p.T, strict=True))

    def value(x: Number) -> np.ndarray:
        values = x.evaluate(lambda leaf: columns[leaf.args[0]]) if isinstance(x, Expression) else float(x)
        return np.broadcast_to(np.asarray(values, float), (len(p),))

    out = np.zeros(len(p), bool)
    with np.errstate(all="ignore"):
        for body in mechanism.bodies.values():
            data = body.properties
            mass, com = value(data.mass), np.array([value(x) for x in data.com])
            xx, yy, zz, xy, xz, yz = (value(x) for x in data.inertia)
            inertia = np.moveaxis(np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]), -1, 0)
            finite = np.isfinite(mass) & np.isfinite(com).all(axis=0) & np.isfinite(inertia).all(axis=(1, 2))
            moments = np.linalg.eigvalsh(np.where(finite[:, None, None], inertia, 0.0))
            size = np.abs(inertia).max(axis=(1, 2))
            small, middle, large = moments.T
            out |= ~finite | ~(mass > 0) | (small < -SLACK * size)
            out |= large > (small + middle) * (1 + SLACK) + SLACK * size
    return out
