"""Arguments of `integrate`: taken as they are meant, or refused with a sentence."""

from __future__ import annotations

import numpy as np


def vector(name, value, n=None):
    """A finite vector of float64, or a clear error; a scalar is repeated `n` times."""
    array = np.array(value, dtype=float)
    if array.ndim == 0 and n is not None:
        array = np.full(n, array)
    if array.ndim != 1:
        raise ValueError(f"{name} must be a vector, got an array of shape {array.shape}")
    if n is not None and array.size != n:
        raise ValueError(f"{name} must have {n} entries like x0, got {array.size}")
    if not np.all(np.isfinite(array)):
        raise ValueError(f"{name} must be finite, entry {int(np.argmin(np.isfinite(array)))} is not")
    return np.ascontiguousarray(array)


def sample_times(t_eval, t0, t1):
    """Times of samples as an array, known to go from t0 to t1; none if there are none."""
    if t_eval is None:
        return np.empty(0)
    if not isinstance(t_eval, np.ndarray | list | tuple):
        return t_eval  # made to fit
    times = vector("t_eval", t_eval)
    forward = np.sign(t1 - t0) or 1.0
    if times.size and not np.all(forward * np.diff(times) > 0):
        at = int(np.argmin(forward * np.diff(times) > 0))
        raise ValueError(
            f"t_eval must go strictly from t0 to t1, but entry {at + 1} ({times[at + 1]}) follows {times[at]}"
        )
    low, high = min(t0, t1), max(t0, t1)
    for time in times[[0, -1]] if times.size else ():
        if not low <= time <= high:
            raise ValueError(f"t_eval holds {time}, outside of the run from {t0} to {t1}")
    return times


def positive(name, value):
    """The value, if it is positive."""
    if not value > 0:
        raise ValueError(f"{name} must be positive, got {value}")
    return value


def fixed_steps(step, length):
    """Number and length of the steps: equal ones if they fit to rounding, else the last one is shorter."""
    number = length / step
    if not number < 2**53:
        raise ValueError(f"step {step} is too small for a run of length {length}")
    whole = max(1, round(number))
    if abs(number - whole) <= 1e-9 * whole:
        return whole, length / whole
    return int(np.ceil(number)), step
