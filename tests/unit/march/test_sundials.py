"""CVODES and IDAS: agreement with our solvers, samples, runs back in time, failures as values, algebraic unknowns."""

import os
import signal
import sys
import threading
from itertools import pairwise
from types import SimpleNamespace

import casadi as ca
import numpy as np
import pytest

import closedchain as cc
from closedchain.close.ggl import GGL
from closedchain.errors import ModelError
from closedchain.integrate.hooks import Hooks
from closedchain.integrate.trajectory import Status
from closedchain.march.program.compiled import compiled
from closedchain.march.sundials import NAMES, PIECE, SundialsProblem
from closedchain.march.sundials import integrate_sundials as march_sundials
from closedchain.pose.state import parameter_vector
from tests.unit.integrate.flat import integrate_sundials

TIME = ca.SX.sym("t")
Y = ca.SX.sym("y", 2)
OSCILLATOR = ca.vertcat(Y[1], -Y[0])
both = pytest.mark.parametrize("name", NAMES)


def program_of(x, dx, algebraic=0):
    """As much of a compiled mechanism as the integrators look at."""
    none = ca.SX(0, 1)
    closed = SimpleNamespace(x=x, dx=dx, parameters=none, solved_first=False, correction=None, algebraic=algebraic)
    equations = SimpleNamespace(limbs=SimpleNamespace(t=TIME, p=none))
    return SimpleNamespace(closed=closed, equations=equations, numbers=np.empty(0), shared={}, method=cc.Multipliers())


def swing(name, t_span=(0.0, 10.0), dx=OSCILLATOR, x0=(1.0, 0.0), **options):
    return integrate_sundials(name, program_of(Y, dx), x0, t_span, [], **{"rtol": 1e-9, "atol": 1e-9, **options})


def run_of(name, start, method, until, tol, **options):
    program = compiled(start, method)
    x0, p = program.pack(start.q, start.v), parameter_vector(start.mechanism, start.parameters)
    options = {"t_eval": np.linspace(start.t, until, 21), **options}
    return integrate_sundials(name, program, x0, (start.t, until), p, rtol=tol, atol=tol, **options)


def ours(start, method, until, solver="dop853"):
    run = cc.simulate(
        start.mechanism, start, until, method=method, solver=solver, rtol=1e-12, t_eval=np.linspace(0, until, 21)
    )
    assert len(run.segments) == 1
    return run.segments[0].trajectory.x


def test_new_inputs_as_arrays_are_refused():
    class Arrays(Hooks):
        def inputs(self, t, x):
            return None, {"w": np.ones(1)}

    problem = SundialsProblem(program_of(Y, OSCILLATOR), [])
    with pytest.raises(ModelError, match=r"from the parameters.*return None instead of 'w'"):
        march_sundials("cvodes", problem, (1.0, 0.0), (0.0, 1.0), hooks=Arrays())


# ---- agreement -------------------------------------------------------------------------------------------------------

METHODS = [cc.Multipliers(), cc.Projection(), cc.IndependentCoordinates()]


@both
@pytest.mark.parametrize("method", METHODS, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("mechanism", ["four-bar", "five-bar", "gough-stewart"])
def test_agrees_with_dop853(name, method, mechanism):
    """A global error of some hundred tolerances, as errors of BDF add up over some hundred steps."""
    start = cc.library.get(mechanism).build().assemble()
    run = run_of(name, start, method, 0.5, 1e-9)
    assert run.success
    np.testing.assert_allclose(run.x, ours(start, method, 0.5), rtol=1e-6, atol=1e-6)


@both
def test_agrees_on_a_walking_machine(name):
    """18 joints and the quaternion of the body, standing on six feet."""
    start = cc.library.hexapod().assemble()
    run = run_of(name, start, cc.Projection(), 0.1, 1e-8)
    np.testing.assert_allclose(run.x, ours(start, cc.Projection(), 0.1), rtol=1e-5, atol=1e-5)


@both
@pytest.mark.parametrize("k", [1e4, 1e6, 1e8])
def test_agrees_with_radau5_on_springs(name, k):
    """Damped springs: the error stays that of the tolerance while the stiffness grows."""
    start, method = cc.library.gough_stewart().assemble(), cc.VirtualSpring(k, 2 * k**0.5)
    run = run_of(name, start, method, 0.2, 1e-7)
    np.testing.assert_allclose(run.x, ours(start, method, 0.2, "radau5"), rtol=1e-4, atol=1e-4)
    assert run.counts.steps < 2000  # an explicit method makes more than 10,000 at k = 1e8


@both
def test_the_error_follows_the_tolerance(name):
    start = cc.library.four_bar().assemble(O=cc.pi / 2)
    exact = ours(start, cc.Multipliers(), 1.0)
    errors = [
        np.abs(run_of(name, start, cc.Multipliers(), 1.0, tol).x - exact).max() for tol in (1e-5, 1e-7, 1e-9, 1e-11)
    ]
    # hundredfold each time in theory; the order changes on the way
    assert all(before > 10 * after for before, after in pairwise(errors))
    assert errors[-1] < 1e-7


@both
def test_samples_are_raw(name):
    """Loops and quaternions drift, by no more than the error of the run."""
    start = cc.library.gough_stewart().assemble()
    drifts = []
    for tol in (1e-5, 1e-9):
        run = run_of(name, start, cc.Multipliers(), 0.5, tol)
        program = compiled(start, cc.Multipliers())
        c = program.evaluate(
            "loops", lambda p=program: {"c": p.equations.closure.c}, run.t, run.x, parameter_vector(start.mechanism, {})
        )["c"]
        joint = next(link for link in program.equations.topology.links if link.joint.type.has_quaternion)
        lengths = np.linalg.norm(run.x[:, joint.q.stop - 4 : joint.q.stop], axis=1)
        drifts.append((np.abs(c).max(), np.abs(lengths - 1).max()))
    assert all(1e-15 < drift < 1e3 * 1e-9 for drift in drifts[1])  # rounding would be 1e-16
    assert all(loose > 10 * tight for loose, tight in zip(*drifts, strict=True))


@both
def test_one_absolute_tolerance_for_each_state(name):
    """In other units, with a tolerance in these units, the numbers are the same to the last bit."""
    plain, unit = swing(name), 2.0**-20
    assert np.array_equal(swing(name, atol=[1e-9, 1e-9]).x, plain.x)
    small = swing(name, dx=ca.vertcat(Y[1] / unit, -Y[0] * unit), atol=[1e-9, 1e-9 * unit])
    assert small.counts == plain.counts and np.array_equal(small.x, plain.x * [1, unit])


# ---- times -----------------------------------------------------------------------------------------------------------


@both
def test_back_in_time(name):
    run = swing(name, (7.0, -3.0), t_eval=np.linspace(7, -3, 11))
    assert run.success and np.array_equal(run.t, np.linspace(7, -3, 11))
    np.testing.assert_allclose(run.x[:, 0], np.cos(run.t - 7), atol=1e-6)
    # equations that know the time
    run = swing(name, (2.0, 0.0), dx=ca.vertcat(2 * TIME, -Y[1]), x0=(4.0, 1.0))
    np.testing.assert_allclose(run.x[-1], [0.0, np.exp(2)], atol=1e-6)


@both
def test_a_mechanism_returns(name):
    start = cc.library.five_bar().assemble()
    program, p = compiled(start, cc.Multipliers()), parameter_vector(start.mechanism, {})
    x0 = program.pack(start.q, start.v)
    there = integrate_sundials(name, program, x0, (0.0, 0.3), p, rtol=1e-10, atol=1e-10)
    back = integrate_sundials(name, program, there.x[-1], (0.3, 0.0), p, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(back.x[-1], x0, atol=1e-7)  # some hundred steps both ways


@both
def test_samples_are_where_they_were_asked_for(name):
    whole = swing(name)
    assert np.array_equal(whole.t, [0.0, 10.0]) and np.array_equal(whole.x[0], [1.0, 0.0])
    some = swing(name, t_eval=[0.5, 1.0, 1.0 + 1e-9, 9.0])
    assert some.success and np.array_equal(some.t, [0.5, 1.0, 1.0 + 1e-9, 9.0])
    np.testing.assert_allclose(some.x[:, 0], np.cos(some.t), atol=1e-6)
    none = swing(name, t_eval=[])
    assert none.success and none.t.shape == (0,) and none.x.shape == (0, 2) and none.counts.steps > 0
    here = swing(name, (3.0, 3.0))
    assert here.success and np.array_equal(here.t, [3.0]) and np.array_equal(here.x, [[1.0, 0.0]])
    ends = swing(name, t_eval=[0.0, 10.0])
    assert np.array_equal(ends.x, whole.x)


@both
def test_many_samples_cost_no_steps(name):
    few, many = (swing(name, t_eval=np.linspace(0, 10, m)) for m in (2, 1001))
    # a point nearer to the start makes the first step shorter
    assert many.counts.steps < 1.1 * few.counts.steps
    np.testing.assert_allclose(many.x[:, 0], np.cos(many.t), atol=1e-6)


@both
def test_a_new_start_costs_little(name):
    """Some thousand samples are made in several pieces."""
    run = swing(name, t_eval=np.linspace(0, 10, 2 * PIECE + 2))
    assert run.success and run.counts.steps < swing(name).counts.steps + 2 * 100
    np.testing.assert_allclose(run.x[:, 0], np.cos(run.t), atol=1e-6)


@both
def test_what_cannot_be_right(name):
    for wrong in ([1.0, 0.5], [11.0], [np.nan]):
        with pytest.raises(ValueError, match="t_eval"):
            swing(name, t_eval=wrong)
    with pytest.raises(ValueError, match="atol > 0"):
        swing(name, atol=0.0)
    with pytest.raises(ValueError, match="x0 must be a vector of finite numbers"):
        swing(name, x0=(np.nan, 0.0))
    with pytest.raises(ModelError, match="no solver 'adams'"):
        swing("adams")
    with pytest.raises(ModelError, match="no integrator 'dop853'"):
        swing("dop853")


# ---- failures are values ---------------------------------------------------------------------------------------------


@both
def test_not_a_number(name, capfd):
    """From t = 5.03 on there is a root of a negative number: samples before it are kept, and its place is told."""
    run = swing(name, dx=ca.vertcat(Y[1], -Y[0] * ca.sqrt(5.03 - TIME)), t_eval=np.linspace(0, 10, 11))
    assert run.status is Status.nan and run.failure.index == 1
    assert "at t = 5.03 the derivative is not finite (entry 1)" in run.message
    assert len(run.t) == 6 and np.isfinite(run.x).all()
    assert 5.0 <= run.failure.t < 5.03
    # what SUNDIALS says on the way is no message for a user
    assert "".join(capfd.readouterr()) == ""
    assert sys.stderr.write("") == 0


@both
def test_not_a_number_at_the_start(name):
    run = swing(name, dx=ca.vertcat(Y[1], ca.sqrt(-1 - TIME)), t_eval=[0.0, 1.0])
    assert run.status is Status.nan and run.failure.t == 0.0 and np.array_equal(run.t, [0.0])


@both
@pytest.mark.parametrize("back", [1, -1])
def test_a_motion_that_ends(name, back):
    """y'' = 6 y^2 is 1/(1 - t)^2: nothing lies beyond t = 1, also when time runs the other way."""
    dx = ca.vertcat(Y[1], 6 * Y[0] ** 2)
    run = swing(name, (0.0, 2.0 * back), dx=dx, x0=(1.0, 2.0 * back), t_eval=back * np.array([0.0, 0.5, 0.9, 1.5]))
    assert run.status is Status.step_too_small and run.failure.index is None
    assert len(run.t) == 3 and 0.9 <= abs(run.failure.t) <= 1.0
    assert run.message.startswith(f"at t = {'-' if back < 0 else ''}") and "too small" in run.message
    np.testing.assert_allclose(run.x[:, 0], 1 / (1 - abs(run.t)) ** 2, rtol=1e-5)


@both
def test_too_many_steps(name):
    fast = ca.vertcat(1e3 * Y[1], -1e3 * Y[0])
    run = swing(name, dx=fast, t_eval=np.linspace(0, 10, 101), max_steps=20_000)
    assert run.status is Status.too_many_steps and "max_steps of the solver" in run.message
    assert 1 < len(run.t) < 101 and run.failure.t >= run.t[-1]
    assert run.counts.steps <= 20_000 + 4 * PIECE
    # from the last state the run goes on
    rest = swing(name, (run.failure.t, run.failure.t + 0.01), dx=fast, x0=run.failure.x)
    assert rest.success
    np.testing.assert_allclose(rest.x[-1, 0], np.cos(1e3 * rest.t[-1]), atol=1e-2)  # some hundred turns


@both
def test_interrupted_inside_of_sundials(name):
    """CasADi takes Ctrl-C for an evaluation that failed; it comes back as what it is, with all samples before it."""
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    run = swing(name, (0.0, 1e6), t_eval=np.linspace(0, 1e6, 100_001), max_steps=10_000_000)
    timer.join()
    assert run.status is Status.interrupted and "interrupted" in run.message
    assert 1 < len(run.t) < 100_001 and run.failure.t >= run.t[-1]
    assert np.abs(run.x).max() < 1.1


@both
def test_interrupted_between_two_pieces(name):
    def progress(t, steps):
        seen.append((t, steps))
        if len(seen) == 2:
            raise KeyboardInterrupt

    seen = []
    run = swing(name, (0.0, 1e4), t_eval=np.linspace(0, 1e4, 5001), progress=progress)
    assert run.status is Status.interrupted and run.failure.t == seen[-1][0] == run.t[-1]


@both
def test_progress_changes_nothing(name):
    seen = []
    times = np.linspace(0, 500, 101)
    run = swing(name, (0.0, 500.0), t_eval=times, progress=lambda t, steps: seen.append((t, steps)))
    assert np.array_equal(run.x, swing(name, (0.0, 500.0), t_eval=times).x)
    assert seen[-1] == (500.0, run.counts.steps) and seen == sorted(seen)


@both
def test_counts(name):
    counts = swing(name).counts
    assert counts.evaluations >= counts.steps > 100  # at least one iteration in a step
    assert 0 < counts.jacobians <= counts.factorisations < counts.steps
    assert counts.corrections == 0 and np.isnan(counts.smallest_step)


# ---- formulations ----------------------------------------------------------------------------------------------------


@both
def test_stops_where_independent_velocities_fade(name):
    """As `integrate` does, at the first point where they have; what chooses them anew goes on from there."""
    start = cc.library.four_bar().assemble(O=cc.pi / 2)
    method = cc.Projection()
    program, p = compiled(start, method), parameter_vector(start.mechanism, {})
    run = run_of(name, start, method, 2.0, 1e-8)
    pivots = [program.correct(t, x, p)[1][2] for t, x in zip(run.t, run.x, strict=True)]
    bound = 0.5 * (min(pivots) + pivots[0])
    stopped = run_of(name, start, method, 2.0, 1e-8, pivot_after=bound)
    assert stopped.status is Status.singular and stopped.pivot < bound
    assert stopped.pivot == pytest.approx(program.correct(stopped.failure.t, stopped.failure.x, p)[1][2])
    assert np.array_equal(stopped.x, run.x[: len(stopped.x)])
    assert all(pivot >= bound for pivot in pivots[: len(stopped.t)] if stopped.failure.t not in stopped.t)


@pytest.mark.parametrize(("name", "method"), [("cvodes", cc.Multipliers()), ("idas", GGL())], ids=NAMES)
def test_equations_are_traced_once_for_all_units(name, method):
    """Gravity changes the unit of time, and with it the sizes of velocities and forces."""
    start = cc.library.four_bar().assemble()
    program = compiled(start, method)
    known = []
    for g in (-9.81, -5.0, -1.0):
        cc.simulate(start.mechanism, start, 0.01, method=method, solver=name, parameters={"gravity.y": g})
        known.append(set(program.shared))
    assert known[0] == known[1] == known[2]


X = ca.SX.sym("x", 7)


def stabilised_pendulum():
    """Gear, Gupta, Leimkuhler: q' = v - q mu, v' = g - q lam, 0 = (q'q - 1)/2, 0 = q'v, for x = (q, v, lam, mu, W)."""
    q, v, lam, mu = X[:2], X[2:4], X[4], X[5]
    dx = ca.vertcat(v - q * mu, -q * lam + ca.vertcat(0, -9.81), (q.T @ q - 1) / 2, q.T @ v, -9.81 * v[1])
    x0 = np.array([np.sin(1.2), -np.cos(1.2), 0.0, 0.0, 9.81 * np.cos(1.2), 0.0, 0.0])
    return program_of(X, dx, algebraic=2), x0


def pendulum_angle(times):
    angle = ca.integrator(
        "angle",
        "rk",
        {"x": Y, "ode": ca.vertcat(Y[1], -9.81 * ca.sin(Y[0]))},
        0.0,
        list(times[1:]),
        {"number_of_finite_elements": 200},
    )
    return np.array(ca.horzcat([1.2, 0.0], angle(x0=[1.2, 0.0])["xf"]))[0]


def test_idas_solves_for_algebraic_unknowns():
    """The stabilised index-2 form: positions of the pendulum, closed to the tolerance, and the force in its rod."""
    program, x0 = stabilised_pendulum()
    times = np.linspace(0, 2, 41)
    angle = pendulum_angle(times)
    errors = []
    for tol in (1e-5, 1e-7, 1e-9):
        run = integrate_sundials("idas", program, x0, (0.0, 2.0), [], rtol=tol, atol=tol, t_eval=times)
        assert run.success
        errors.append(np.abs(run.x[:, 0] - np.sin(angle)).max())
        assert np.abs(np.linalg.norm(run.x[:, :2], axis=1) - 1).max() < tol  # the closure is one of the equations
        # the work of gravity is what has become of the height
        np.testing.assert_allclose(run.x[:, 6], 9.81 * (x0[1] - run.x[:, 1]), atol=1e4 * tol)
        # lam = v^2 + g cos: a derivative in an index-2 form, with one order less
        lam = (run.x[:, 2:4] ** 2).sum(axis=1) - 9.81 * run.x[:, 1]
        np.testing.assert_allclose(run.x[:, 4], lam, atol=30 * tol**0.5)
    assert errors[2] < 1e-6 and all(before > 5 * after for before, after in pairwise(errors))


def test_idas_goes_back_with_algebraic_unknowns():
    program, x0 = stabilised_pendulum()
    there = integrate_sundials("idas", program, x0, (0.0, 2.0), [], rtol=1e-9, atol=1e-9)
    back = integrate_sundials("idas", program, there.x[-1], (2.0, 0.0), [], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(back.x[-1, :4], x0[:4], atol=1e-5)


@pytest.mark.parametrize("mechanism", ["four-bar", "gough-stewart"])
def test_idas_closes_loops_by_multipliers(mechanism):
    """A mechanism in the stabilised form: the algebraic unknowns are found at the start, and nothing drifts."""
    start = cc.library.get(mechanism).build().assemble()
    stabilised = run_of("idas", start, GGL(), 0.5, 1e-9)
    assert stabilised.success
    plain = run_of("cvodes", start, cc.Multipliers(), 0.5, 1e-11)
    n = len(start.q) + len(start.v)
    np.testing.assert_allclose(stabilised.x[:, :n], plain.x[:, :n], atol=1e-6)  # some hundred tolerances
    program, p = compiled(start, GGL()), parameter_vector(start.mechanism, {})
    c = program.evaluate("loops", lambda: {"c": program.equations.closure.c}, stabilised.t, stabilised.x, p)["c"]
    assert np.abs(c).max() < 1e-9


def test_algebraic_unknowns_are_found_at_the_start():
    program, x0 = stabilised_pendulum()
    lost = x0.copy()
    lost[4:6] = 0.0
    runs = [integrate_sundials("idas", program, x, (0.0, 1.0), [], rtol=1e-8, atol=1e-8) for x in (x0, lost)]
    np.testing.assert_allclose(runs[1].x[1], runs[0].x[1], atol=1e-9)  # rounding may change the choice of a step


def test_cvodes_refuses_algebraic_unknowns():
    program, x0 = stabilised_pendulum()
    with pytest.raises(ModelError, match="2 algebraic unknowns: take solver='idas'"):
        integrate_sundials("cvodes", program, x0, (0.0, 1.0), [])


@pytest.mark.parametrize("solver", ["cvodes", "idas"])
def test_a_singular_pose_that_was_passed_is_told(solver):
    """Square four-bars in a row lie flat on the way: what comes behind is a matter of rounding."""
    with pytest.warns(cc.RunWarning, match=r"passes a singular pose of its loops near t = 0\.7\d* s"):
        run = cc.simulate(cc.library.four_bar_chain(), until=1.0, solver=solver, rtol=1e-6)
    assert not run.good


def test_a_run_without_singular_poses_is_not_blamed():
    assert cc.simulate(cc.library.slider_crank(), until=1.0, solver="cvodes", rtol=1e-6).good
