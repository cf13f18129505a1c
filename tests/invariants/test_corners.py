"""Corners of forces (stops, saturations, tables) cost no accuracy: short steps pass them."""

import functools
import warnings

import numpy as np
import pytest
from scipy.optimize import brentq

import closedchain as cc
from closedchain.march.batch.batch import batch_march, can_batch
from closedchain.march.program import corners
from closedchain.march.program.compiled import compiled
from closedchain.model.forces.corners import Corners
from closedchain.pose.state import parameter_vector
from tests.invariants.drawings import four_bar

SOLVERS = ["dop853", "dopri5", "radau5", "rodas5p"]
RTOL = 1e-9
HEIGHTS = np.linspace(0.5, 0.6, 6)
END = 2.0
TIMES = np.linspace(0, END, 21)
G = 9.81


# ---- a mass that bounces on a stop, whose motion is known ------------------------------------------------------------


@functools.cache
def ball(stiffness, damping):
    """A mass of 1 kg above a stop at zero."""
    m = cc.Mechanism("ball", gravity=(0, 0, -G))
    body = m.body("ball", cc.rigid(1.0, com=(0, 0, 0), inertia=(0.1, 0.1, 0.1)))
    stops = cc.Stops(0.0, 10.0, stiffness=stiffness, damping=damping)
    m.prismatic("z", m.ground, body, axis=(0, 0, 1), limits=stops)
    return m


def exact(stiffness, damping, z):
    """The height at the end: parabolas in flight, a damped oscillation on the stop."""
    decay, rest = damping / 2, -G / stiffness
    w = np.sqrt(stiffness - decay**2)
    t, speed, rises = 0.0, np.sqrt(2 * G * z), 0.0
    fall = speed / G
    while True:
        if t + rises + fall > END:
            since = END - t - rises
            return speed**2 / (2 * G) - G * since**2 / 2
        t += rises + fall

        def depth(s, v=-speed):
            return rest + np.exp(-decay * s) * (-rest * np.cos(w * s) + (v - decay * rest) / w * np.sin(w * s))

        leaves = brentq(depth, 1.5 / w, 4.7 / w, xtol=1e-15)  # a little after half a period
        if t + leaves > END:
            return depth(END - t)
        speed = (depth(leaves + 1e-5 / w) - depth(leaves - 1e-5 / w)) / (2e-5 / w)
        t += leaves
        rises = fall = speed / G


def off(m, stiffness, damping, solver):
    """By how much the last height is wrong, the worst of some."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cc.RunWarning)  # methods of order five complain of their energy on hard stops
        runs = [cc.simulate(m, m.assemble(z=z), until=END, rtol=RTOL, t_eval=[END], solver=solver) for z in HEIGHTS]
    return max(abs(run["z"].values[-1] - exact(stiffness, damping, z)) for run, z in zip(runs, HEIGHTS, strict=True))


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(("stiffness", "damping"), [(1e4, 0.0), (1e4, 5.0), (1e6, 50.0)])
def test_bounces(solver, stiffness, damping):
    # seen: up to 4.3 rtol; without short steps 7 to 250. Damping begins with a jump, which is passed in the same way.
    assert off(ball(stiffness, damping), stiffness, damping, solver) < 8 * RTOL


def test_backward_in_time():
    m = ball(1e4, 0.0)
    there = cc.simulate(m, m.assemble(z=0.55), until=END, rtol=1e-11)
    back = cc.simulate(m, there.state(), until=0.0, rtol=1e-11)
    assert abs(back["z"].values[-1] - 0.55) < 1e-9  # 100 rtol for three bounces there and back


def test_an_event_at_the_corner_and_dense_output():
    m = ball(1e4, 0.0)
    events = [cc.Event("lands", m.joints["z"].q, direction=-1)]
    run = cc.simulate(m, m.assemble(z=0.5), until=END, rtol=1e-10, events=events, dense_output=True)
    first = np.sqrt(2 * 0.5 / G)
    assert [x.what for x in run.record] == ["lands"] * 3
    assert run.record[0].t == pytest.approx(first, abs=1e-10)
    assert np.abs(run.sol(TIMES[first > TIMES])[:, 0] - (0.5 - G * TIMES[first > TIMES] ** 2 / 2)).max() < 1e-10


# ---- every other corner ----------------------------------------------------------------------------------------------


@functools.cache
def saturated():
    """A pendulum under a table of its angle, a saturated controller and the size of its speed."""
    m = cc.library.pendulum()
    q, v = m.joints["hinge"].q, m.joints["hinge"].v
    held = cc.math.minimum(cc.math.maximum(-30 * q - v, -2.0), 2.0)
    m.motor("hinge", torque=cc.math.interp(q, [-2, -1, -0.5, 0.2, 1], [3, 0, 1, -2, 0]) + held - 0.2 * abs(v))
    return m


def test_tables_saturations_and_sizes():
    m, worst = saturated(), 0.0
    for speed in (1.0, 1.01, 1.02):
        start = m.assemble(hinge=0.7, velocity={"hinge": speed})
        run, fine = (
            cc.simulate(m, start, until=3.0, t_eval=[3.0], **options)
            for options in ({"rtol": RTOL}, {"rtol": 1e-12, "max_step": 1e-3})
        )
        worst = max(worst, abs(run["hinge"].values[-1] - fine["hinge"].values[-1]))
    assert worst < 10 * RTOL


def without_corners(monkeypatch):
    monkeypatch.setattr(corners, "drawn", lambda mechanism: Corners((), ()))


def attempts(run):
    return sum(s.trajectory.counts.steps + s.trajectory.counts.rejections for s in run.segments)


def test_a_motion_along_a_corner_costs_nothing(monkeypatch):
    """Two pendulums that move alike: the larger of their angles changes with rounding."""
    m = cc.Mechanism("twins", gravity=(0, -G, 0))
    for name in "ab":
        m.revolute(name, m.ground, m.body(f"rod {name}", cc.rod(length=1.0, mass=1.0)))
    larger = cc.math.maximum(m.joints["a"].q, m.joints["b"].q)
    for name in "ab":
        m.motor(name, torque=-larger + 0.1 * cc.math.sin(3 * m.joints[name].q))
    start = m.assemble(a=0.7, b=0.7)
    number = attempts(cc.simulate(m, start, until=5.0))
    without_corners(monkeypatch)
    assert number == attempts(cc.simulate(m, start, until=5.0))


def test_a_table_finer_than_the_steps_is_not_followed_piece_by_piece(monkeypatch):
    m, places = cc.library.pendulum(), np.linspace(0, 3, 301)
    m.motor("hinge", torque=cc.math.interp(cc.t, places.tolist(), np.sin(3 * places).tolist()))
    number = attempts(cc.simulate(m, until=3.0, rtol=1e-6))
    without_corners(monkeypatch)
    # 109 and 105 attempts; with a step for each of 300 pieces there would be a thousand
    assert number < 1.5 * attempts(cc.simulate(m, until=3.0, rtol=1e-6))


# ---- many at once, later, and under every formulation ----------------------------------------------------------------


def test_a_batch_gives_the_same_bits():
    m = ball(1e4, 5.0)
    assert can_batch(m, cc.Multipliers()) is None
    program = compiled(m.assemble(), cc.Multipliers())
    starts = np.array([program.pack(np.array([z]), np.zeros(1)) for z in HEIGHTS])
    result = batch_march(program, (0.0, END), starts, np.tile(parameter_vector(m), (len(starts), 1)), TIMES, rtol=RTOL)
    for z, x, steps in zip(HEIGHTS, result.x, result.steps, strict=True):
        (segment,) = cc.simulate(m, m.assemble(z=z), until=END, rtol=RTOL, t_eval=TIMES).segments
        np.testing.assert_array_equal(x, segment.trajectory.x)
        assert steps == segment.trajectory.counts.steps


@pytest.mark.parametrize("solver", ["dop853", "radau5"])
def test_a_run_that_was_stopped_resumes_with_the_same_bits(solver, tmp_path, monkeypatch):
    m = ball(1e4, 5.0)
    options = {"until": END, "every": 0.01, "rtol": 1e-10, "solver": solver}
    start = m.assemble(z=0.55)
    plain = cc.simulate(m, start, **options)

    def stop(t, steps):
        if t > 0.5:
            raise KeyboardInterrupt

    # many short calls: the run is left on its way to a corner
    monkeypatch.setattr("closedchain.march.run_loop.Watch.idle", property(lambda self: False))
    with pytest.raises(cc.Interrupted):
        cc.simulate(m, start, **options, save_to=tmp_path / "run", save_every=0.0, progress=stop)
    np.testing.assert_array_equal(cc.simulate(m, start, **options, save_to=tmp_path / "run").x, plain.x)


@pytest.mark.parametrize("method", [cc.IndependentCoordinates(), cc.Projection(), cc.OperationalSpace()], ids=repr)
def test_under_every_formulation(method):
    m = four_bar(cut="C", O={"limits": cc.Stops(0.0, 3.0, stiffness=100.0)})
    start = m.assemble(velocity={"O": 10.0})
    runs = [cc.simulate(m, start, until=1.0, rtol=1e-10, t_eval=[1.0], method=x) for x in (cc.Multipliers(), method)]
    assert abs(runs[0]["O"].values[-1] - runs[1]["O"].values[-1]) < 1e-8  # 100 rtol
