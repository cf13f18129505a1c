"""Amplitude spectra of what a run has over time, and the frequency that dominates.

The signal, without its mean (or its trend), is multiplied with a window and transformed; amplitudes are scaled so that
a sine of amplitude a has a line of height a. The dominant frequency is found between the lines: with the window of Hann
from the two highest neighbours (T. Grandke, IEEE Transactions on Instrumentation and Measurement 32 (1983) 350-355),
with r for the ratio of the higher one's larger neighbour to it,

    frequency = (k + d) / duration,    d = (2 r - 1) / (r + 1),    amplitude = peak pi d (1 - d^2) / sin(pi d)

and with other windows from the parabola through the logarithms of three lines.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from closedchain.arguments import one_of
from closedchain.errors import ModelError

if TYPE_CHECKING:
    import xarray

EVEN = 1e-6  # of the mean step: times that differ less are equally spaced
DETREND = ("mean", "line", "none")
LEAST = 8  # samples


class Line(NamedTuple):
    """A line of a spectrum: its frequency (Hz) and amplitude."""

    frequency: float
    amplitude: float


def spectrum(
    signal: xarray.DataArray,
    *,
    window: str = "hann",
    detrend: str = "mean",
    begin: float | None = None,
    until: float | None = None,
) -> xarray.DataArray:
    """Amplitude spectrum of a signal over time.

    Parameters
    ----------
    signal
        With the dimension ``time``: ``run["coupler.y1"]``, or a deflection. Other dimensions stay. Samples that are not
        equally spaced are first interpolated, by a cubic spline, to as many that are.
    window
        One of SciPy's: ``"hann"``, ``"boxcar"`` (none), ``"blackman"``, ...
    detrend
        What is taken off before: the ``"mean"``, a straight ``"line"``, or ``"none"``.
    begin, until
        Part of the time to look at, s.

    Returns
    -------
    DataArray over ``frequency`` (Hz), with the unit of the signal.

    Examples
    --------
    >>> import numpy as np, xarray
    >>> t = np.linspace(0, 2, 401)
    >>> tone = xarray.DataArray(0.3 * np.sin(2 * np.pi * 10.4483 * t), {"time": t}, ("time",), attrs={"units": "m"})
    >>> line = dominant(tone)
    >>> print(f"{line.frequency:.3f} Hz, {line.amplitude:.3f} m")
    10.448 Hz, 0.300 m
    """
    import xarray
    from scipy.signal import get_window

    t, y = _even(signal, begin, until)
    y = _detrended(t, y, detrend)
    try:
        weights = get_window(window, len(t))
    except (ValueError, TypeError):
        raise ModelError(f"SciPy has no window {window!r}: take for instance 'hann', 'boxcar' or 'blackman'") from None
    lines = np.abs(np.fft.rfft(weights[:, None] * y.reshape(len(t), -1), axis=0)) * 2 / weights.sum()
    lines[0] /= 2
    if len(t) % 2 == 0:
        lines[-1] /= 2
    step = (t[-1] - t[0]) / (len(t) - 1)
    others = [d for d in signal.dims if d != "time"]
    shape = tuple(signal.sizes[d] for d in others)
    coords: dict[Any, Any] = {"frequency": ("frequency", np.fft.rfftfreq(len(t), step), {"units": "Hz"})}
    coords |= {d: signal[d] for d in others if d in signal.coords}
    told = {"units": signal.attrs.get("units", ""), "window": window, "detrend": detrend}
    return xarray.DataArray(
        lines.reshape(-1, *shape),
        coords,
        ("frequency", *others),
        name=signal.name,
        attrs=told | {"begin": t[0], "until": t[-1]},
    )


def dominant(
    signal: xarray.DataArray,
    *,
    above: float = 0.0,
    below: float = np.inf,
    window: str = "hann",
    detrend: str = "mean",
    begin: float | None = None,
    until: float | None = None,
) -> Line:
    """The highest line of a signal's spectrum, found between those of the transform.

    Parameters
    ----------
    signal
        Over time alone.
    above, below
        Band to look in, Hz: below the first elastic frequency there may be higher lines of the motion as a whole.
    window, detrend, begin, until
        As for `spectrum`.
    """
    found = spectrum(signal, window=window, detrend=detrend, begin=begin, until=until)
    if found.ndim != 1:
        raise ModelError(f"dominant takes a signal over time alone, not over {', '.join(map(str, signal.dims))}")
    f, a = found["frequency"].values, found.values
    inside = np.flatnonzero((f >= above) & (f <= below) & (f > 0))
    if not len(inside):
        raise ModelError(
            f"the spectrum has no line between {above:g} and {below:g} Hz: it goes from {f[1]:g} to {f[-1]:g}"
        )
    k = int(inside[np.argmax(a[inside])])
    if not 0 < k < len(f) - 1 or not a[k] > 0:
        return Line(float(f[k]), float(a[k]))
    if window == "hann":
        return _between_hann(f, a, k)
    logs = np.log(np.maximum(a[k - 1 : k + 2], 1e-300))
    bend = logs[0] - 2 * logs[1] + logs[2]
    d = 0.0 if bend == 0 else float(np.clip((logs[0] - logs[2]) / (2 * bend), -0.5, 0.5))
    return Line(float(f[k] + d * f[1]), float(np.exp(logs[1] - (logs[0] - logs[2]) * d / 4)))


def _between_hann(f: np.ndarray, a: np.ndarray, k: int) -> Line:
    side = 1 if a[k + 1] >= a[k - 1] else -1
    r = a[k + side] / a[k]
    d = float(np.clip((2 * r - 1) / (r + 1), 0.0, 0.5))
    height = a[k] * (1.0 if d == 0 else np.pi * d * (1 - d**2) / np.sin(np.pi * d))
    return Line(float(f[k] + side * d * f[1]), float(height))


def _even(signal: xarray.DataArray, begin: float | None, until: float | None) -> tuple[np.ndarray, np.ndarray]:
    """Equally spaced times, and the signal there, time first."""
    import xarray

    if not isinstance(signal, xarray.DataArray) or "time" not in signal.dims:
        raise ModelError(
            "a spectrum needs something over time, for instance run['O'] or run.deflection('coupler').sel(axis='y'), "
            f"not {'an array without times' if isinstance(signal, np.ndarray) else type(signal).__name__}"
        )
    t = np.asarray(signal["time"].values, float)
    y = np.moveaxis(np.asarray(signal.values, float), signal.dims.index("time"), 0)
    low, high = -np.inf if begin is None else begin, np.inf if until is None else until
    kept = (t >= low) & (t <= high)
    kept &= np.concatenate([[True], np.diff(t) > 0])  # a switch has two samples at the same time
    t, y = t[kept], y[kept]
    if len(t) < LEAST:
        raise ModelError(
            f"a spectrum needs {LEAST} samples at least, not {len(t)}: keep more with t_eval=cc.Every(...)"
        )
    if not np.isfinite(y).all():
        raise ModelError(
            "the signal has samples that are not known (NaN): choose a part of it with begin=..., until=..."
        )
    step = (t[-1] - t[0]) / (len(t) - 1)
    if np.abs(np.diff(t) - step).max() > EVEN * step:
        from scipy.interpolate import CubicSpline

        even = np.linspace(t[0], t[-1], len(t))
        return even, CubicSpline(t, y)(even)
    return t, y


def _detrended(t: np.ndarray, y: np.ndarray, how: str) -> np.ndarray:
    one_of("detrend", how, DETREND)
    if how == "none":
        return y
    if how == "mean":
        return y - y.mean(axis=0)
    flat = y.reshape(len(t), -1)
    line = np.polynomial.polynomial.polyvander(t - t.mean(), 1)
    return (flat - line @ np.linalg.lstsq(line, flat, rcond=None)[0]).reshape(y.shape)
