"""Observed order of every solver on mechanisms: closed loops put back by projection, and rotations by quaternions.

Steps of one length are forced upon every solver, also upon those with step control, so that the order of the step
itself is seen. With step control the error follows the tolerance. A solver is tested by being in the table.
"""

from functools import cache

import numpy as np
import pytest

import closedchain as cc
from closedchain.close.methods import METHODS
from closedchain.close.parts.springs import SpringFormulation
from closedchain.integrate.solvers import SOLVERS, marching
from closedchain.march.program.compiled import compiled
from closedchain.march.program.solver_inputs import for_solver
from closedchain.march.stabilisation import Stabilisation
from closedchain.pose.state import parameter_vector
from tests.unit.integrate import problems
from tests.unit.integrate.flat import integrate

# A slope over finite steps is seen with some error (measured: at most 0.3 too flat); the next lower order would miss
# by 1.
SLACK = 0.4
# On the smooth motion of the top it is not steeper than claimed by as much as one order either (measured: 0.5).
STEEP = 0.8
# steps in the coarsest run, by order: few for high orders, whose errors reach rounding soon
COARSEST = {1: 400, 2: 200, 3: 100, 4: 96, 5: 48, 8: 10}
REFINED = (1.0, 1.5, 2.0, 3.0)


def four_bar() -> cc.Mechanism:
    """The crank-rocker of the library, in motion."""
    m = cc.library.four_bar()
    m.start_velocity = {"O": 2.0}
    return m


def space_four_bar() -> cc.Mechanism:
    """Crank, coupler and rocker in space; the ball joint between the first two is a quaternion of the tree."""
    m = cc.Mechanism("space four-bar", gravity=(0, 0, -9.81))
    crank = m.body("crank", cc.rod(length=0.3, mass=0.5, radius=0.02))
    coupler = m.body("coupler", cc.rod(length=1.4, mass=0.8, radius=0.02))
    rocker = m.body("rocker", cc.rod(length=0.8, mass=0.6, radius=0.02))
    m.revolute("O", m.ground, crank)
    m.revolute("C", m.ground.at(1.0, 0.5, 0.0, axis=(1, 0, 0)), rocker, guess=1.28)
    m.spherical("A", crank.tip, coupler, guess=(-0.70, 0.22, 0.53, -0.43))
    m.universal("B", coupler.tip, rocker.tip, axes=((0, 1, 0), (0, 0, 1)), cut=True)
    m.start, m.start_velocity = {"O": -0.6}, {"O": 8.0}
    return m


def heavy_top() -> cc.Mechanism:
    """A spinning top on a ball joint: no loop, a quaternion alone."""
    m = cc.Mechanism("heavy top", gravity=(0, 0, -9.81))
    top = m.body("top", cc.rigid(mass=1.0, com=(0, 0, 0.3), inertia=(0.1, 0.12, 0.05)))
    m.spherical("tip", m.ground, top)
    m.start = {"tip": (np.cos(0.4), np.sin(0.4), 0.0, 0.0)}
    m.start_velocity = {"tip.wx": 0.3, "tip.wy": -0.2, "tip.wz": 6.0}
    return m


CASES = {
    "four-bar": (four_bar, 0.8),
    "space four-bar": (space_four_bar, 0.36),
    "heavy top": (heavy_top, 2.0),
}
of_cases = pytest.mark.parametrize("case", CASES)
# "auto" is two of the others, and those of SUNDIALS choose steps and orders by themselves
STEPPED = [name for name, solver in SOLVERS.items() if not solver.driver and name != "auto"]


def marched_by(solver):
    """The formulation to try a solver with: the default one, if it can march it."""
    special = [method for method in METHODS.values() if method.kind != "ode" and method.kind in solver.marches]
    return cc.Multipliers() if solver.general or solver.driver or not special else special[0]


@cache
def start(case):
    return CASES[case][0]().assemble()


def march(case, method, solver, **options):
    """Times, and coordinates and velocities at them."""
    begin = start(case)
    program = Stabilisation(step=1e-2).applied(compiled(begin, method))
    p = parameter_vector(begin.mechanism, begin.parameters)
    correct = {"correct": program.correct.address, "w_correct": program.correct.prepare(p)} if program.correct else {}
    run = integrate(
        solver,
        program.rhs.address,
        program.pack(begin.q, begin.v),
        (0.0, CASES[case][1]),
        program.rhs.prepare(p),
        **correct,
        extra=for_solver(solver, program, p),
        **options,
    )
    assert run.success, run.message
    topology = program.equations.topology
    return run.t, program.whole(run.t, run.x, p)[:, : topology.nq + topology.nv]


def reference(case, times):
    return march(case, cc.Multipliers(), "dop853", rtol=1e-13, atol=1e-13, t_eval=times)[1]


def observed(case, solver, method):
    """The slope of the error (root mean square over all steps) against the length of the steps."""
    lengths, found = [], []
    for refine in REFINED:
        steps = round(COARSEST[solver.order] * refine)
        h = CASES[case][1] / steps
        t, x = march(case, method, solver.name, **problems.step_options(solver, h))
        assert steps <= len(t) - 1 <= steps + 1  # the last one may be halved
        lengths.append(h)
        found.append(np.sqrt(np.mean((x - reference(case, t)) ** 2)))
    assert found[-1] > 1e-12  # rounding would hide the order
    return np.polyfit(np.log(lengths), np.log(found), 1)[0]


@of_cases
@pytest.mark.parametrize("name", STEPPED)
def test_order_on_a_mechanism(name, case):
    order = observed(case, SOLVERS[name], marched_by(SOLVERS[name]))
    assert order > SOLVERS[name].order - SLACK
    if case == "heavy top":
        assert order < SOLVERS[name].order + STEEP


# Springs are another model. Unknowns without rates begin at zero here, where Newton's method shortens the first step.
EXACT = [name for name, m in METHODS.items() if not isinstance(m, SpringFormulation) and name != "ggl"]


@pytest.mark.parametrize("name", EXACT)
def test_order_under_every_formulation(name):
    """Baumgarte's terms, independent velocities and solved coordinates take nothing from the order."""
    method = METHODS[name]
    solver = SOLVERS["rk4" if method.kind == "ode" else marching(method.kind)[0]]
    assert observed("four-bar", solver, method) > solver.order - SLACK


def expected(solver, method):
    """The largest multiple of rtol, and the least exponent, of the error."""
    if solver.driver:
        # BDF passes on the errors of many more steps, of changing orders (measured: up to 4200, exponents from 0.84 on)
        return 1e4, 0.75
    if method.kind == "index 2":
        # what samples of Radau IIA miss between steps is made up for by an estimate that knows nothing of multipliers
        # (measured: up to 5520, exponents from 0.73 on)
        return 1e4, 0.6
    # the errors of some ten to some hundred steps add up (measured: up to 120), and loose tolerances make so few steps
    # that their errors are small by luck (exponents from 0.79 on)
    return 300, 0.7


ADAPTIVE = [
    (name, marched_by(solver)) for name, solver in SOLVERS.items() if solver.adaptive and "ode" in solver.marches
]


@of_cases
@pytest.mark.parametrize(("name", "method"), [*ADAPTIVE, ("radau5", cc.GGL())], ids=str)
def test_error_follows_the_tolerance(name, method, case):
    most, least = expected(SOLVERS[name], method)
    begin, until = start(case), CASES[case][1]
    times = np.linspace(0, until, 41)
    wanted = reference(case, times)
    tolerances, found = 10.0 ** -np.arange(4, 11), []
    for rtol in tolerances:
        run = cc.simulate(begin.mechanism, begin, until, method=method, solver=name, rtol=rtol, t_eval=times)
        x = run.program.whole(run.t, run.x, run.p)[:, : wanted.shape[1]]
        found.append(np.abs(x - wanted).max())
        assert found[-1] < most * rtol
    # six decades of tolerance give six of error, or nearly so: estimates are no errors
    exponent = np.polyfit(np.log(tolerances), np.log(found), 1)[0]
    assert least < exponent < 1.2
