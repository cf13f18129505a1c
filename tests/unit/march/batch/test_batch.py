"""Many points in one call: each as `simulate` gives it, failures alone, and nothing that depends on the division."""

from dataclasses import replace

import numpy as np
import pytest

import closedchain as cc
from closedchain.integrate.trajectory import Status
from closedchain.march.batch.batch import batch_assemble, batch_march, can_batch
from closedchain.march.program.compiled import compiled
from closedchain.pose.state import State, parameter_vector
from tests.invariants.test_rechoosing import triple_rocker

TIMES = np.array([0.0, 0.1, 0.137, 0.3])
VARIED = ("crank.length", "coupler.mass", "O.motor")
POINTS = 11  # not a multiple of any number of lanes


@pytest.fixture(scope="module")
def study():
    """A four-bar, the names of its parameters, and points that differ in some of them, with their starts."""
    m = cc.library.four_bar()
    start = m.assemble(O=1.0, velocity={"O": 0.5})
    names = list(m.parameters.merged(None))
    p = np.tile(parameter_vector(m), (POINTS, 1))
    for name in VARIED:
        p[:, names.index(name)] *= np.random.default_rng(len(name)).uniform(0.8, 1.2, POINTS)
    found = batch_assemble(start, p, ["O"])
    assert found.ok.all()
    return m, start, names, p, found


def packed(program, found):
    return np.array([program.pack(q, v) for q, v in zip(found.q, found.v, strict=True)])


def alone(study, i, **options):
    """The samples of one point by `simulate`."""
    m, start, names, p, found = study
    own = replace(start, q=found.q[i], v=found.v[i], parameters=dict(zip(names, p[i], strict=True)))
    run = cc.simulate(m, own, until=TIMES[-1], t_eval=TIMES, **options)
    (segment,) = run.segments
    return segment.trajectory


@pytest.mark.parametrize(
    ("method", "solver", "options"),
    [
        (cc.Multipliers(), "dop853", {"rtol": 1e-7}),
        (cc.Multipliers(), "dopri5", {"rtol": 1e-6, "max_step": 0.05}),
        (cc.IndependentCoordinates(), "dop853", {"rtol": 1e-9, "atol": 1e-7}),
        (cc.Projection(), "rk4", {"step": 4e-3}),
        (cc.VirtualSpring(1e4, 10.0), "semi-implicit-euler", {"step": 2e-3, "rtol": 1e-2}),
    ],
    ids=lambda x: x if isinstance(x, str) else "" if isinstance(x, dict) else type(x).__name__,
)
def test_a_point_is_what_simulate_gives_to_the_last_bit(study, method, solver, options):
    _, start, _, p, found = study
    program = compiled(start, method)
    result = batch_march(
        program, 0.0, TIMES[-1], packed(program, found), p, TIMES, solver=solver, lanes=1, threads=2, **options
    )
    assert (result.status == Status.finished).all() and (result.t_end == TIMES[-1]).all()
    for i in (0, POINTS - 1):
        trajectory = alone(study, i, method=method, solver=solver, **options)
        np.testing.assert_array_equal(result.x[i], trajectory.x)
        assert (result.steps[i], result.evaluations[i]) == (trajectory.counts.steps, trajectory.counts.evaluations)


@pytest.mark.parametrize("how", [{"solver": "rk4"}, {"solver": "semi-implicit-euler", "lanes": 1}], ids=str)
def test_numbers_of_the_method_differ_from_point_to_point(study, how):
    _, start, _, p, found = study
    programs = [compiled(start, cc.VirtualSpring(*numbers)) for numbers in ((1e4, 10.0), (2e3, 5.0))]
    x0 = packed(programs[0], found)[:2]
    numbers = np.array([program.numbers for program in programs])
    both = batch_march(programs[0], 0.0, 0.1, x0, p[:2], [0.1], numbers=numbers, step=2e-3, **how)
    for i, program in enumerate(programs):
        alone = batch_march(program, 0.0, 0.1, x0[i : i + 1], p[i : i + 1], [0.1], step=2e-3, **how)
        np.testing.assert_array_equal(both.x[i], alone.x[0])
    mixed = batch_march(programs[0], 0.0, 0.1, x0, p[:2], [0.1], step=2e-3, **how)
    assert np.abs(both.x[1] - mixed.x[1]).max() > 1e-4


def test_threads_and_blocks_change_nothing(study):
    _, start, _, p, found = study
    program = compiled(start, cc.Multipliers())
    x0 = packed(program, found)
    whole = batch_march(program, 0.0, 0.3, x0, p, TIMES, threads=1)
    halves = [batch_march(program, 0.0, 0.3, x0[s], p[s], TIMES, threads=3) for s in (slice(0, 4), slice(4, None))]
    np.testing.assert_array_equal(whole.x, np.concatenate([half.x for half in halves]))
    np.testing.assert_array_equal(whole.steps, np.concatenate([half.steps for half in halves]))


def test_a_point_that_fails_fails_alone(study):
    _, start, names, p, found = study
    program = compiled(start, cc.Multipliers())
    x0, bad = packed(program, found), p.copy()
    bad[3, names.index("coupler.mass")] = np.nan
    result = batch_march(program, 0.0, 0.3, x0, bad, TIMES)
    good = batch_march(program, 0.0, 0.3, x0, p, TIMES)
    others = np.arange(POINTS) != 3
    assert result.status[3] == Status.nan and result.t_end[3] == 0.0
    assert np.isnan(result.x[3, 1:]).all() and np.array_equal(result.x[3, 0], x0[3])
    np.testing.assert_array_equal(result.x[others], good.x[others])


def test_a_limit_of_steps_is_one_for_each_point(study):
    _, start, _, p, found = study
    program = compiled(start, cc.Multipliers())
    result = batch_march(program, 0.0, 0.3, packed(program, found), p, TIMES, max_steps=1)
    assert (result.status == Status.too_many_steps).all() and (result.steps <= 1).all()
    reached = TIMES[None] <= result.t_end[:, None]
    np.testing.assert_array_equal(np.isfinite(result.x).all(axis=2), reached)


def test_a_singular_pose_is_left_to_simulate():
    m = triple_rocker()  # the velocities chosen at the start fade on the way
    start = m.assemble()
    program = compiled(start, cc.Projection())
    x0, p = np.array([program.pack(start.q, start.v)] * 3), np.array([parameter_vector(m)] * 3)
    ends = []
    for how in ({"solver": "dop853"}, {"solver": "rk4", "step": 4e-3}, {"solver": "rk4", "step": 4e-3, "lanes": 1}):
        result = batch_march(program, 0.0, 4.0, x0, p, [4.0], **how)
        assert (result.status == Status.singular).all() and np.isnan(result.x).all()
        ends.append(result.t_end[0])
    assert 0.0 < ends[0] < 4.0 and ends[1] == ends[2]
    first = cc.simulate(m, start, until=4.0, method=cc.Projection(), rtol=1e-8, t_eval=[4.0]).segments[0]
    assert first.trajectory.failure.t == ends[0]


def test_stop_ends_what_is_not_finished(study):
    _, start, _, p, found = study
    program = compiled(start, cc.Multipliers())
    result = batch_march(
        program, 0.0, 1e6, packed(program, found), p, [1e6], threads=1, max_steps=10**12, stop=lambda: True
    )
    assert (result.status == Status.interrupted).all() and np.isnan(result.x).all()
    assert result.t_end.max() < 1e6


def test_backwards_and_nowhere(study):
    _, start, _, p, found = study
    program = compiled(start, cc.Multipliers())
    x0 = packed(program, found)
    there = batch_march(program, 0.0, 0.2, x0, p, [0.2], rtol=1e-10)
    back = batch_march(program, 0.2, 0.0, there.x[:, 0], p, [0.1, 0.0], rtol=1e-10)
    # two runs at rtol 1e-10
    np.testing.assert_allclose(back.x[:, 1], x0, atol=1e-8)
    for solver, step in (("dop853", None), ("rk4", 0.1)):
        here = batch_march(program, 0.2, 0.2, x0, p, [0.2], solver=solver, step=step)
        assert (here.status == Status.finished).all() and np.array_equal(here.x[:, 0], x0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"solver": "auto"}, "not marched by 'auto'"),
        ({"solver": "cvodes"}, "not marched by 'cvodes'"),
        ({"solver": "rk4"}, "say step="),
        ({"step": 1e-3}, "chooses its step"),
        ({"lanes": 4}, "takes lanes=1"),
        ({"x0": np.zeros((2, 4))}, "a row for each point"),
        ({"t_eval": [0.2, 0.1]}, "strictly"),
        ({"threads": 0}, "threads must be a positive number"),
    ],
)
def test_what_is_refused(study, options, message):
    _, start, _, p, found = study
    program = compiled(start, cc.Multipliers())
    given = {"x0": packed(program, found)[:2], "t_eval": [0.1], **options}
    with pytest.raises(ValueError, match=message):
        batch_march(program, 0.0, 0.3, given.pop("x0"), p[:2], given.pop("t_eval"), **given)


def test_can_batch_says_why_not():
    m = cc.library.four_bar()
    assert can_batch(m, cc.Multipliers()) is None
    assert can_batch(m, cc.Projection(), solver="radau5") is None
    event = cc.Event("level", m.joints["O"].q - 2.0)
    for reason, options in {
        "events": {"events": [event]},
        "singular poses": {"singularity": "warn"},
        "looks at each run": {"solver": "auto"},
        "SUNDIALS": {"solver": "cvodes"},
    }.items():
        assert reason in can_batch(m, cc.Multipliers(), **options)
    assert "not marched" in can_batch(m, cc.Index3())
    assert "finite elements" in can_batch(m, cc.ERLS())
    assert "gains" in can_batch(m, cc.Multipliers(cc.Baumgarte()))
    m.motor("C", torque=cc.Sampled(lambda t, now: 0.0, period=0.1))
    assert "controller" in can_batch(m, cc.Multipliers())
    assert isinstance(m.assemble(), State)  # the drawing itself is fine
