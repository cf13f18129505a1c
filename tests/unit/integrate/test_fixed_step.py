"""What solvers with a fixed step promise: the same calls in every step, whatever the numbers, and their order."""

from functools import cache

import numba
import numpy as np
import pytest

import closedchain as cc
from closedchain.integrate.fixed_step import CORRECTIONS
from closedchain.integrate.solvers import SOLVERS
from closedchain.integrate.trajectory import Status
from closedchain.march.program.compiled import compiled
from closedchain.march.program.solver_inputs import for_solver
from closedchain.pose.state import parameter_vector
from tests.unit.integrate import problems
from tests.unit.integrate.flat import integrate

FIXED = ("rk4", "semi-implicit-euler", "rosenbrock2")
METHODS = {
    "multipliers": cc.Multipliers(),
    "baumgarte": cc.Multipliers(cc.Baumgarte(10.0)),
    "projection": cc.Projection(),
    "springs": cc.VirtualSpring(1e3, 10.0),
}
# evaluations, Jacobians and factorisations of a step
COSTS = {"rk4": (4, 0, 0), "semi-implicit-euler": (1, 0, 0), "rosenbrock2": (2, 1, 1)}


@cache
def mechanism(name):
    return getattr(cc.library, name)()


def march(solver, name, method, step, steps, x0=None, begin=0.0, parameters=None, **options):
    """A run of a mechanism of the library by `integrate` itself."""
    m = mechanism(name)
    start = m.assemble(parameters=parameters)
    program = compiled(start, method)
    p = parameter_vector(m, start.parameters)
    x0 = program.pack(start.q, start.v) if x0 is None else x0
    return integrate(
        solver, program.rhs.address, x0, (begin, begin + step * steps), program.rhs.prepare(p), step=abs(step),
        correct=program.correct.address if program.correct else 0,
        w_correct=program.correct.prepare(p) if program.correct else None,
        extra=for_solver(solver, program, p), **options,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "method"),
    [*(("four_bar", method) for method in METHODS), ("gough_stewart", "multipliers"), ("gough_stewart", "springs")],
)
@pytest.mark.parametrize("solver", FIXED)
def test_every_step_makes_the_same_calls(solver, name, method):
    program = compiled(mechanism(name).assemble(), METHODS[method])
    run = march(solver, name, METHODS[method], 1e-3, 40)
    evaluations, jacobians, factorisations = COSTS[solver]
    corrections = CORRECTIONS if program.correct else 0
    if solver == "semi-implicit-euler" and method == "multipliers":
        corrections += 1  # new velocities are made tangent where the step begins
    counts = run.counts
    assert run.success and counts.steps == 40 and counts.rejections == 0
    assert counts.evaluations == 1 + evaluations * counts.steps
    assert counts.corrections == corrections * counts.steps + (corrections > 0)  # and one at the start
    assert (counts.jacobians, counts.factorisations) == (jacobians * counts.steps, factorisations * counts.steps)


@pytest.mark.parametrize("solver", FIXED)
def test_costs_do_not_depend_on_the_numbers(solver):
    seen = set()
    for step, torque in ((1e-3, 6.0), (1e-3, -20.0), (1e-2, 6.0), (-1e-3, 1.0)):
        counts = march(solver, "four_bar", cc.Multipliers(), step, 30, parameters={"O.motor": torque}).counts
        seen.add((counts.steps, counts.evaluations, counts.corrections, counts.jacobians, counts.factorisations))
    assert len(seen) == 1


@pytest.mark.parametrize("solver", FIXED)
def test_samples_at_the_ends_of_steps_cost_nothing(solver):
    plain = march(solver, "four_bar", cc.Multipliers(), 1e-3, 30)
    sampled = march(solver, "four_bar", cc.Multipliers(), 1e-3, 30, t_eval=plain.t[::3])
    np.testing.assert_array_equal(sampled.x, plain.x[::3])
    assert sampled.counts == plain.counts
    between = march(solver, "four_bar", cc.Multipliers(), 1e-3, 30, t_eval=[0.0105])
    assert between.counts.corrections > plain.counts.corrections
    assert between.counts.evaluations == plain.counts.evaluations


@pytest.mark.parametrize("size", [1, 7])
@pytest.mark.parametrize("solver", FIXED)
def test_chunks_leave_no_trace(solver, size):
    options = {"t_eval": np.linspace(0, 0.03, 17), "dense_output": True}
    a = march(solver, "gough_stewart", cc.Multipliers(), 1e-3, 30, **options)
    b = march(solver, "gough_stewart", cc.Multipliers(), 1e-3, 30, steps_per_call=size, **options)
    np.testing.assert_array_equal(a.x, b.x)
    np.testing.assert_array_equal(a.sol.rows, b.sol.rows)
    assert a.counts == b.counts


CASES = {
    "four_bar": (1.0, (100, 200, 400)),
    "gough_stewart": (0.5, (80, 160, 320)),  # the platform's turn is a quaternion; its servos are fast
}


@cache
def reference(name):
    until = CASES[name][0]
    m = mechanism(name)
    run = cc.simulate(m, m.assemble(), until=until, rtol=1e-12, t_eval=[until])
    return run.x[-1]


@pytest.mark.parametrize(
    ("name", "method"), [("four_bar", "multipliers"), ("four_bar", "projection"), ("gough_stewart", "multipliers")]
)
@pytest.mark.parametrize("solver", FIXED)
def test_order(solver, name, method):
    until, numbers = CASES[name]
    n = mechanism(name).assemble().q.size
    found = []
    for steps in numbers:
        run = march(solver, name, METHODS[method], until / steps, steps)
        found.append(np.abs(run.x[-1] - reference(name)[: run.x.shape[1]])[:n].max())
    order = np.log2(found[0] / found[-1]) / 2
    # a slope over finite steps is seen with some error; a method of the next lower order would miss by 1
    assert order > SOLVERS[solver].order - 0.35
    assert order < SOLVERS[solver].order + 0.8


@pytest.mark.parametrize("solver", FIXED)
def test_work_has_the_order_of_the_method(solver):
    """The torque of the four-bar does work: it is booked as well as the motion is followed."""
    found = []
    for steps in (100, 200, 400):
        run = march(solver, "four_bar", cc.Multipliers(), 1.0 / steps, steps)
        found.append(abs(run.x[-1, -1] - reference("four_bar")[-1]))
    assert np.log2(found[0] / found[-1]) / 2 > SOLVERS[solver].order - 0.35


@pytest.mark.parametrize("solver", FIXED)
def test_backward_runs_come_back(solver):
    there = march(solver, "four_bar", cc.Multipliers(), 1e-3, 300)
    back = march(solver, "four_bar", cc.Multipliers(), -1e-3, 300, x0=there.x[-1], begin=0.3)
    assert back.t[-1] == pytest.approx(0.0, abs=1e-15)
    # the errors of both ways, as large as that of the way there: 4e-4 for order 1, 4e-7 for order 2 at this step
    bound = {1: 2e-3, 2: 2e-6, 4: 1e-10}[SOLVERS[solver].order]
    np.testing.assert_allclose(back.x[-1], there.x[0], atol=bound)


@pytest.mark.parametrize("step", [1e-3, 1e-2])
@pytest.mark.parametrize("name", ["four_bar", "five_bar", "delta", "gough_stewart"])
@pytest.mark.parametrize("solver", FIXED)
def test_two_corrections_close_the_loops(solver, name, step):
    """After them positions are closed to the fourth power of the distance, velocities to its square.

    At 10 ms Euler's step leaves the manifold by up to 7 mm; the two others by less than 0.1 mm.
    """
    run = march(solver, name, cc.Multipliers(), step, 20)
    m = mechanism(name)
    program = compiled(m.assemble(), cc.Multipliers())
    p = parameter_vector(m, m.assemble().parameters)
    left = np.array([program.correct(t, x, p)[1][:2] for t, x in zip(run.t, run.x, strict=True)]).max(axis=0)
    rough = solver == "semi-implicit-euler" and step > 1e-3
    assert left[0] < (1e-9 if rough else 1e-13)
    assert left[1] < (1e-4 if rough else 1e-6)


# failures are values


@problems.correction
def slow(t, x, w, x_plus, residual):
    """A correction that takes a share w[1] off the residual x[0] - 1, where Newton's method would take nearly all."""
    residual[0] = abs(x[0] - 1.0)
    residual[1] = 0.0
    x_plus[0] = x[0] - w[1] * (x[0] - 1.0)
    x_plus[1] = x[1]


@pytest.mark.parametrize(("share", "status"), [(0.5, Status.correction_failed), (0.95, Status.finished)])
def test_correction_must_contract(share, status):
    run = integrate(
        "rk4", problems.oscillator.address, [1.0, 0.0], (0.0, 0.1), [2.0, share], step=0.1, correct=slow.address
    )
    assert run.status is status and run.counts.corrections == 1 + CORRECTIONS


@pytest.mark.parametrize("solver", ["rk4", "semi-implicit-euler"])
def test_too_long_a_step_ends_the_run(solver):
    """Explicit methods blow up with hard springs: the last good state is kept."""
    run = march(solver, "four_bar", cc.VirtualSpring(1e8, 1e4), 1e-2, 50)
    assert run.status is Status.nan and np.isfinite(run.failure.x).all() and 0 < run.counts.steps < 50


@pytest.mark.parametrize("solver", FIXED)
def test_singular_pose_ends_a_piece(solver):
    run = march(solver, "four_bar", cc.Multipliers(), 1e-3, 10, pivot_before=2.0)
    assert run.status is Status.singular and run.counts.steps == 0
    run = march(solver, "four_bar", cc.Multipliers(), 1e-3, 10, pivot_after=2.0)
    assert run.status is Status.singular and run.counts.steps == 1


@pytest.mark.parametrize("solver", FIXED)
def test_limit_of_steps(solver):
    run = march(solver, "four_bar", cc.Multipliers(), 1e-3, 10, max_steps=4)
    assert run.status is Status.too_many_steps and run.counts.steps == 4


@pytest.mark.parametrize("solver", FIXED)
def test_step_below_the_resolution_of_time(solver):
    """At 1e9 s neighbouring times are 1.2e-7 s apart."""
    run = march(solver, "four_bar", cc.Multipliers(), 1e-8, 20, begin=1e9)
    assert run.status is Status.step_too_small and run.counts.steps == 0


@numba.cfunc("void(CPointer(f8), CPointer(f8), CPointer(f8), CPointer(f8))")
def late(t, x, w, dx):
    """Not a number after t = 0.5."""
    dx[0] = 1.0 if t[0] < 0.5 else np.nan


def test_derivative_at_the_end_of_a_step_is_checked():
    """The stages of the step to 0.5 are numbers, the derivative there is not."""
    run = integrate("rk4", late.address, [0.0], (0.0, 1.0), [], step=0.25)
    assert run.status is Status.nan and run.failure.t == 0.25
