"""When conditions on time change: closed forms, bisection, and what has neither end nor number."""

import numpy as np
import pytest

import closedchain as cc
from closedchain.integrate.hooks import InputsError
from closedchain.march.discontinuities import SwitchingTimes, _degree
from closedchain.model.forces.sampled import LIVE, sampled_inputs


def jumps_of(torque):
    m = cc.Mechanism("rotor")
    m.revolute("O", m.ground, m.body("disc", cc.disc(radius=0.2, mass=2.0)))
    m.motor("O", torque=torque(m) if callable(torque) else torque)
    return sampled_inputs(m).jumps


def times_of(torque, begin=0.0, until=1.0, **parameters):
    return SwitchingTimes(jumps_of(torque), parameters, begin, until)


def all_of(times, begin, limit=100_000):
    """Every change of a run: its time, and the values from there on."""
    t, values = begin, None
    found = []
    for _ in range(limit):
        t, values = times.after(t)
        if not times.forward * (times.until - t) > 0:
            return found
        found.append((t, values))
    raise AssertionError("no end of it")


# ---- straight signals: closed form -----------------------------------------------------------------------------------


@pytest.mark.parametrize("period", [1e-3, 1 / 3])
def test_ten_thousand_periods(period):
    n = 10_000
    times = times_of(cc.math.where(cc.t % period < period / 2, 1.0, -1.0), until=n * period)
    found = np.array([t for t, _ in all_of(times, 0.0)])
    expected = 0.5 * period * np.arange(1, 2 * n)
    assert len(found) == 2 * n - 1
    np.testing.assert_allclose(found, expected, rtol=1e-15 * 8)  # some units of rounding, and no drift


def test_values_that_hold_after_each():
    times = times_of(cc.math.where(cc.t % 0.4 < 0.1, 1.0, -1.0))
    t, values = times.after(0.0)
    assert (t, values) == (0.1, {0: 0.0, 1: 1.0})  # first period, condition met
    t, values = times.after(t)
    assert (pytest.approx(t), values) == (0.4, {0: 0.0, 1: 0.0})
    t, values = times.after(t)
    assert (pytest.approx(t), values) == (0.5, {0: 1.0, 1: 1.0})


@pytest.mark.parametrize(
    ("torque", "expected"),
    [
        (lambda m: cc.math.floor(cc.t / 0.3), [0.3, 0.6, 0.9]),
        (lambda m: cc.math.ceil(cc.t / 0.3), [0.3, 0.6, 0.9]),
        (lambda m: cc.math.floor(-cc.t / 0.3), [0.3, 0.6, 0.9]),
        (lambda m: cc.math.sign(0.25 - cc.t), [0.25]),
        (lambda m: cc.math.where(cc.t > 2.0, 1.0, 0.0), []),
        (lambda m: cc.math.where(cc.t > 0.0, 1.0, 0.0), []),
        (lambda m: cc.math.where(cc.t > 1.0, 1.0, 0.0), []),
        (lambda m: cc.math.where(cc.t > 0.25, 1.0, 0.0) + cc.math.where(cc.t > 0.25 + 1e-14, 1.0, 0.0), [0.25]),
        (lambda m: cc.math.where(3 * (cc.t - 0.1) / 2 < 0.3, 1.0, 0.0), [0.3]),
        (
            lambda m: cc.math.where(cc.t < 0.5, cc.math.floor(4 * cc.t), cc.math.floor(10 * cc.t)),
            [0.1 * k for k in range(1, 10)] + [0.25, 0.75],
        ),
    ],
)
def test_one_after_another(torque, expected):
    found = [t for t, _ in all_of(times_of(torque), 0.0)]
    np.testing.assert_allclose(found, sorted({round(x, 14) for x in expected}), rtol=1e-14)


def test_back_in_time():
    times = times_of(cc.math.where(cc.t % 0.3 < 0.1, 1.0, -1.0), begin=1.0, until=0.0)
    found = all_of(times, 1.0)
    np.testing.assert_allclose([t for t, _ in found], [0.9, 0.7, 0.6, 0.4, 0.3, 0.1], rtol=1e-14)
    # the values of a change are those before it, as the run goes
    assert [v[1] for _, v in found] == [1.0, 0.0, 1.0, 0.0, 1.0, 0.0]


def test_parameters_move_the_jumps():
    def torque(m):
        return cc.math.where(cc.t % m.parameter("T", 9.0) < m.parameter("d", 0.5) * m.parameter("T2", 9.0), 1.0, 0.0)

    found = [t for t, _ in all_of(times_of(torque, T=0.25, d=0.2, T2=0.25), 0.0)]
    np.testing.assert_allclose(found, [0.05, 0.25, 0.3, 0.5, 0.55, 0.75, 0.8], rtol=1e-14)


@pytest.mark.parametrize(("op", "value"), [("lt", 0.0), ("le", 1.0)])
def test_both_sides_equal_for_good(op, value):
    torque = {
        "lt": lambda m: cc.math.where(m.parameter("a", 1.0) < 1.0, 1.0, 0.0),
        "le": lambda m: cc.math.where(m.parameter("a", 1.0) <= 1.0, 1.0, 0.0),
    }[op]
    assert times_of(torque, a=1.0).after(0.0) == (np.inf, {0: value})


@pytest.mark.parametrize("begin", [0.0, 0.1, 0.2, 0.30000000000000004, 0.7, np.nextafter(0.2, 0), np.nextafter(0.2, 1)])
def test_a_start_on_a_jump_but_for_rounding(begin):
    """What lies nearer than 1e-12 of the run has happened: the next one is half a period away."""
    t, _ = times_of(cc.math.where(cc.t % 0.2 < 0.1, 1.0, -1.0), begin=begin).after(begin)
    assert t - begin == pytest.approx(0.1, abs=1e-12)


def test_late_times():
    """At a million seconds, where a unit of rounding is 1e-10 s."""
    times = times_of(cc.math.where(cc.t % 0.25 < 0.1, 1.0, -1.0), begin=1e6, until=1e6 + 1)
    found = [t - 1e6 for t, _ in all_of(times, 1e6)]
    np.testing.assert_allclose(found, [0.1, 0.25, 0.35, 0.5, 0.6, 0.75, 0.85], atol=1e-9)


# ---- curved signals: a grid and bisection ----------------------------------------------------------------------------


@pytest.mark.parametrize("periods", [1, 7, 100])
@pytest.mark.parametrize("wave", [cc.math.sin, cc.math.cos])
def test_signs_of_waves(wave, periods):
    """Whatever number of periods fits into the run."""
    found = [t for t, _ in all_of(times_of(cc.math.sign(wave(2 * cc.pi * periods * cc.t))), 0.0)]
    shift = 0.0 if wave is cc.math.sin else 0.25
    expected = (np.arange(1 if wave is cc.math.sin else 0, 2 * periods) / 2 + shift) / periods
    np.testing.assert_allclose(found, expected, atol=1e-13)


def test_waves_much_faster_than_the_run():
    """A grid over the whole run would see none of these periods."""
    times = times_of(cc.math.sign(cc.math.sin(2 * cc.pi * 1e6 * cc.t)))
    t, values = 0.0, {}
    for k in range(1, 50):
        t, values = times.after(t)
        assert t == pytest.approx(0.5e-6 * k, abs=1e-12)
        assert values[0] == (1.0 if k % 2 else -1.0)


@pytest.mark.parametrize(
    ("torque", "expected"),
    [
        (lambda m: cc.math.floor(10 * cc.t**2), [np.sqrt(0.1 * k) for k in range(1, 10)]),
        (lambda m: cc.math.where(cc.math.exp(cc.t) > 2.0, 1.0, 0.0), [np.log(2)]),
        (lambda m: cc.math.where(abs(cc.t - 0.5) < 0.1, 1.0, 0.0), [0.4, 0.6]),
        (lambda m: cc.math.where(cc.math.maximum(cc.t, 0.7) > 0.8, 1.0, 0.0), [0.8]),
        (
            lambda m: cc.math.where(cc.math.interp(cc.t, [0, 0.2, 0.21, 0.22, 1], [0, 0, 1, 0, 0]) > 0.5, 1.0, 0.0),
            [0.205, 0.215],
        ),
        # inside one that is straight while it holds
        (lambda m: cc.math.where(cc.t - 0.5 * cc.math.floor(cc.math.exp(cc.t)) < 0.1, 1.0, 0.0), [0.6, np.log(2)]),
    ],
)
def test_curves(torque, expected):
    found = [t for t, _ in all_of(times_of(torque), 0.0)]
    np.testing.assert_allclose(found, sorted(expected), atol=1e-14)


def test_a_curve_is_looked_at_no_further_than_the_next_straight_jump():
    """Otherwise ten thousand changes of one would look ten thousand times at all of the other."""
    both = cc.math.sign(cc.math.sin(0.1 * cc.t) - 0.99) + cc.math.floor(cc.t / 1e-4)
    times = times_of(both)
    looked = []
    signal = times._signal

    def counted(*args):
        f = signal(*args)
        return lambda ahead: (looked.append(ahead.size), f(ahead))[1]

    times._signal = counted
    t = 0.0
    for _ in range(200):
        t, _ = times.after(t)
    assert t == pytest.approx(0.02)
    assert sum(looked) < 200 * 8 * 512  # windows that grow until they reach the next jump


@pytest.mark.parametrize(
    ("torque", "degree"),
    [
        (cc.math.floor(cc.t / 3), 1),
        (cc.math.floor(2 * cc.t + 1), 1),
        (cc.math.sign(1 - cc.t), 1),
        (cc.math.floor(cc.t * cc.t), 2),
        (cc.math.floor(1 / cc.t), 2),
        (cc.math.floor(cc.t**2), 2),
        (cc.math.sign(cc.math.sin(cc.t)), 2),
        (cc.math.sign(cc.math.sin(cc.math.floor(cc.t))), 0),
        (cc.math.where((cc.t % 2) * 3 < 1, 1.0, 0.0), 1),
        (cc.math.where((cc.t % 2) * cc.t < 1, 1.0, 0.0), 2),
        (cc.math.sign(cc.math.where(cc.t < 1, cc.t, -cc.t)), 1),
        (cc.math.sign(cc.math.where(cc.t < 1, cc.t, cc.math.cos(cc.t))), 2),
        (cc.math.sign(abs(cc.t) - 1), 2),
    ],
)
def test_what_counts_as_straight(torque, degree):
    jumps = jumps_of(torque)
    assert _degree(jumps[-1], {id(jump.node): i for i, jump in enumerate(jumps)}) == degree


# ---- no end, no number -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("period", [1e-13, 1e-20, 1e-30, 1e-300])
def test_periods_too_short_to_be_stepped_onto(period):
    with pytest.raises(InputsError, match=r"jumps 1e\+\d+ times during the run"):
        times_of(cc.math.where(cc.t % period < period / 2, 1.0, -1.0)).after(0.0)


def test_pulses_too_short_to_be_stepped_onto_do_not_count():
    times = times_of(cc.math.where(cc.t % 0.25 < 1e-15, 1.0, 0.0))
    assert len(all_of(times, 0.0)) <= 6
    assert all(values[1] == 0.0 for _, values in all_of(times, 0.0))


@pytest.mark.parametrize(
    "torque",
    [
        lambda m: cc.math.floor(cc.t / m.parameter("zero", 0.0)),
        lambda m: cc.t % m.parameter("zero", 0.0),
        lambda m: cc.math.floor(cc.math.sqrt(cc.t - 5)),
        lambda m: cc.math.sign(cc.math.log(-1 - cc.t)),
    ],
)
def test_signals_that_are_no_numbers_are_not_held(torque):
    """The torque lives, and its nan is told as any other."""
    assert times_of(torque, zero=0.0).after(0.0) == (np.inf, {0: LIVE})


def test_a_signal_that_becomes_a_number():
    found = all_of(times_of(cc.math.floor(10 * cc.math.sqrt(cc.t - 0.5))), 0.0)
    np.testing.assert_allclose([t for t, _ in found][:3], [0.5, 0.51, 0.54], atol=1e-12)
    assert found[0][1][0] == LIVE and found[1][1][0] == 0.0


def test_a_comparison_with_what_is_no_number_is_not_met():
    t, values = times_of(cc.math.where(cc.math.sqrt(cc.t - 0.5) < 0.1, 1.0, 0.0)).after(0.0)
    assert t == pytest.approx(0.5, abs=1e-12) and values == {0: 0.0}


def test_a_run_without_length():
    assert times_of(cc.math.floor(cc.t / 0.1), begin=0.5, until=0.5).after(0.5)[0] == np.inf


def test_jumps_on_the_state_are_left_to_others():
    times = times_of(lambda m: cc.math.sign(m.joints["O"].q) + cc.math.floor(cc.t / 0.3))
    t, values = times.after(0.0)
    assert t == pytest.approx(0.3)
    assert [jump.node.op for _, jump in times.timed] == ["floor"] and list(values.values()) == [0.0]
