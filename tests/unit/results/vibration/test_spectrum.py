"""Spectra of signals that are known."""

import numpy as np
import pytest
import xarray

import closedchain as cc
from closedchain.results.vibration.spectrum import dominant, spectrum


def signal(t, y, **more):
    return xarray.DataArray(y, {"time": t}, ("time",), attrs={"units": "m"}, **more)


T = np.linspace(0, 2, 401)


@pytest.mark.parametrize("frequency", [10.4483, 10.5, 10.75, 7.31])
def test_a_sine_is_found_between_the_lines(frequency):
    line = dominant(signal(T, 0.3 * np.sin(2 * np.pi * frequency * T + 0.4)))
    # what leaks in from negative frequencies falls with the cube of their distance: some 20 lines of 0.5 Hz
    assert line.frequency == pytest.approx(frequency, abs=2e-5)
    assert line.amplitude == pytest.approx(0.3, rel=1e-5)


@pytest.mark.parametrize(("window", "within"), [("blackman", 2e-3), ("boxcar", 0.05)])
def test_other_windows(window, within):
    line = dominant(signal(T, 0.3 * np.sin(2 * np.pi * 10.4483 * T)), window=window)
    assert line.frequency == pytest.approx(10.4483, abs=within)  # a parabola is no exact model of these lines
    assert line.amplitude == pytest.approx(0.3, rel=0.02)


def test_a_line_on_the_grid_has_its_amplitude():
    t = np.arange(200) / 100
    y = 1.5 + 0.2 * np.cos(2 * np.pi * 5 * t) + 0.05 * np.sin(2 * np.pi * 20 * t)
    for window in ("hann", "boxcar"):
        lines = spectrum(signal(t, y), window=window)
        assert lines["frequency"].values[[0, 1, -1]].tolist() == [0.0, 0.5, 50.0]
        assert float(lines.sel(frequency=5.0)) == pytest.approx(0.2, rel=1e-9)
        assert float(lines.sel(frequency=20.0)) == pytest.approx(0.05, rel=1e-9)
        assert float(lines[0]) == pytest.approx(0.0, abs=0.01)
    assert lines.attrs["units"] == "m"
    # without a window and with the mean, the first line is the mean
    assert float(spectrum(signal(t, y), window="boxcar", detrend="none")[0]) == pytest.approx(1.5)


def test_bands_parts_and_trends():
    y = np.sin(2 * np.pi * 2 * T) + 0.1 * np.sin(2 * np.pi * 31 * T) + 5 * T
    assert dominant(signal(T, y), detrend="line").frequency == pytest.approx(2.0, abs=0.02)
    assert dominant(signal(T, y), above=10.0).frequency == pytest.approx(31.0, abs=1e-2)
    assert dominant(signal(T, y), above=10.0, until=1.0).frequency == pytest.approx(31.0, abs=1e-1)
    part = spectrum(signal(T, y), begin=0.5, until=1.5)
    assert (part.attrs["begin"], part.attrs["until"]) == (0.5, 1.5)


def test_uneven_times_are_interpolated():
    t = np.linspace(0, 1, 800) ** 1.2 * 2
    line = dominant(signal(t, np.sin(2 * np.pi * 10.4483 * t)))
    assert line.frequency == pytest.approx(10.4483, abs=1e-3)  # a cubic spline through some 38 points in a wave


def test_other_dimensions_stay():
    y = np.stack([np.sin(2 * np.pi * 4 * T), np.sin(2 * np.pi * 9 * T)], axis=1)
    found = spectrum(xarray.DataArray(y, {"time": T, "axis": ["x", "y"]}, ("time", "axis")))
    assert found.dims == ("frequency", "axis")
    peaks = [float(found["frequency"][int(found.sel(axis=a).argmax())]) for a in "xy"]
    assert peaks == pytest.approx([4.0, 9.0], abs=0.5)


def test_what_has_no_spectrum():
    with pytest.raises(cc.ModelError, match="needs 8 samples"):
        spectrum(signal(T[:5], T[:5]))
    with pytest.raises(cc.ModelError, match="not known"):
        spectrum(signal(T, np.where(T > 1, np.nan, T)))
    with pytest.raises(cc.ModelError, match="no window 'round'"):
        spectrum(signal(T, T), window="round")
    with pytest.raises(cc.ModelError, match="detrend must be"):
        spectrum(signal(T, T), detrend="all")
    with pytest.raises(cc.ModelError, match="something over time"):
        spectrum(xarray.DataArray([1.0, 2.0], dims="x"))
    with pytest.raises(cc.ModelError, match=r"something over time, .* not an array without times"):
        dominant(np.zeros(20))
    with pytest.raises(cc.ModelError, match="no line between 400 and inf Hz"):
        dominant(signal(T, T), above=400.0)
