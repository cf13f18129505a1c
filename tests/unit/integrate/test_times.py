"""Times at which the motion is kept."""

import numpy as np
import pytest

from closedchain.integrate.times import Equal, ListedTimes


def test_equal_times_are_those_of_linspace():
    times = Equal(0.3, 2.4, 7)
    assert len(times) == 8
    np.testing.assert_allclose(times[:], np.linspace(0.3, 2.4, 8), rtol=1e-15)
    assert times[:][-1] == 2.4  # the last one exactly
    np.testing.assert_array_equal(times[2:5], times[:][2:5])
    assert times[5:5].size == times[5:2].size == 0


def test_equal_times_are_not_made_all_at_once():
    times = Equal(0.0, 1e6, 10**12)
    assert len(times) == 10**12 + 1
    np.testing.assert_allclose(times[10**11 : 10**11 + 2], [1e5, 1e5 + 1e-6], rtol=1e-15)


@pytest.mark.parametrize(("begin", "until"), [(0.0, 1.0), (1.0, 0.0), (-2.0, 3.0)])
@pytest.mark.parametrize("including", [True, False])
def test_equal_and_given_times_go_on_alike(begin, until, including):
    """From any time on: before, on, between and after the samples."""
    equal, forward = Equal(begin, until, 10), 1 if until > begin else -1
    given = ListedTimes(equal[:])
    between = begin + (until - begin) * np.array([-0.01, 0.0, 0.05, 0.333, 0.5, 0.999, 1.0, 1.01])
    for t in [*between, *equal[:], *np.nextafter(equal[:], 9), *np.nextafter(equal[:], -9)]:
        rest = equal.after(float(t), forward, including)
        np.testing.assert_array_equal(rest[:], given.after(float(t), forward, including))
        assert len(rest) == len(rest[:])
        # and once more from there
        again = rest.after(float(t) + forward * 0.3, forward, False)
        np.testing.assert_array_equal(again[:], given.after(float(t) + forward * 0.3, forward, False))


@pytest.mark.parametrize("times", [Equal(0.0, 0.7, 7), Equal(0.7, 0.0, 7), ListedTimes(np.array([0.0, 0.1, 0.7]))])
def test_whether_a_time_is_asked_for(times):
    everything = times[:] if isinstance(times, Equal) else times.array
    for t in everything:
        assert times.asks(float(t))
        assert not times.asks(float(np.nextafter(t, 1)))
    assert not times.asks(0.05) and not times.asks(-1.0) and not times.asks(2.0)


def test_a_run_without_length_has_one_sample():
    times = Equal(1.5, 1.5, 0)
    assert times[:].tolist() == [1.5]
    assert len(times.after(1.5, 1, True)) == 1 and len(times.after(1.5, 1, False)) == 0
