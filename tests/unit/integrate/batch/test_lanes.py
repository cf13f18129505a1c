"""Fixed steps in lanes: the numbers of one point at a time, to rounding, and lanes that fail alone."""

from functools import cache

import numpy as np
import pytest

import closedchain as cc
from closedchain.integrate.solvers import RK4, SemiImplicitEuler
from closedchain.integrate.trajectory import Status
from closedchain.march.batch.batch import batch_march
from closedchain.march.program.compiled import compiled
from closedchain.pose.state import parameter_vector

POINTS = 7  # not a multiple of the lanes
LANES = 4
# at steps, between them, and two in one step
TIMES = np.array([0.0, 0.04, 0.0431, 0.0432, 0.1])
STEP = 4e-3


@cache
def points(name, method):
    """A program of the library, the names of its parameters, and starts and parameters of some points."""
    m = getattr(cc.library, name)()
    start = m.assemble()
    program = compiled(start, method)
    names = list(m.parameters.merged(None))
    p = np.tile(parameter_vector(m), (POINTS, 1))
    heavy = [i for i, name in enumerate(names) if name.endswith("mass")]
    p[:, heavy] *= np.random.default_rng(3).uniform(0.8, 1.2, (POINTS, len(heavy)))
    return program, names, np.tile(program.pack(start.q, start.v), (POINTS, 1)), p


@pytest.mark.parametrize("solver", [RK4, SemiImplicitEuler])
@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("four_bar", cc.Multipliers()),
        ("four_bar", cc.Projection()),
        ("four_bar", cc.VirtualSpring(1e4, 10.0)),
        ("rrr3", cc.Multipliers()),
    ],
    ids=lambda x: x if isinstance(x, str) else type(x).__name__,
)
def test_a_lane_is_what_one_point_alone_is(solver, name, method):
    program, _, x0, p = points(name, method)
    both = [batch_march(program, (0.0, 0.1), x0, p, TIMES, solver=solver(step=STEP), lanes=n) for n in (LANES, 1)]
    assert (both[0].status == Status.finished).all() and (both[1].status == Status.finished).all()
    # the same operations; 25 steps with some units of rounding each
    np.testing.assert_allclose(both[0].x, both[1].x, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(both[0].steps, both[1].steps)
    np.testing.assert_array_equal(both[0].evaluations, both[1].evaluations)


def test_lanes_fail_alone_and_in_their_own_way():
    program, names, x0, p = points("four_bar", cc.Multipliers())
    good = batch_march(program, (0.0, 0.1), x0, p, TIMES, solver=RK4(step=STEP), lanes=LANES)
    bad, wrong = x0.copy(), p.copy()
    wrong[1, names.index("coupler.mass")] = np.nan  # no derivative
    bad[2, :2] += 1.5  # far off the manifold: two corrections do not lead back
    wrong[5, names.index("O.motor")] = 1e7  # too much for the step
    result = batch_march(program, (0.0, 0.1), bad, wrong, TIMES, solver=RK4(step=STEP), lanes=LANES)
    assert result.status[[1, 2]].tolist() == [Status.nan, Status.correction_failed]
    assert result.status[5] in (Status.nan, Status.correction_failed, Status.singular)
    # each ends as it does alone
    alone = batch_march(program, (0.0, 0.1), bad, wrong, TIMES, solver=RK4(step=STEP), lanes=1)
    np.testing.assert_array_equal(result.status, alone.status)
    np.testing.assert_array_equal(result.t_end, alone.t_end)
    np.testing.assert_array_equal(np.isnan(result.x), np.isnan(alone.x))
    # and does not touch its neighbours
    others = [0, 3, 4, 6]
    np.testing.assert_array_equal(result.x[others], good.x[others])


def test_a_limit_of_steps_and_a_shorter_last_step():
    program, _, x0, p = points("four_bar", cc.Multipliers())
    short = batch_march(program, (0.0, 0.1), x0, p, TIMES, solver=RK4(step=STEP, max_steps=3), lanes=LANES)
    assert (short.status == Status.too_many_steps).all() and (short.steps == 3).all()
    np.testing.assert_allclose(short.t_end, 3 * STEP, rtol=1e-15)
    uneven = [batch_march(program, (0.0, 0.1), x0, p, [0.1], solver=RK4(step=7e-3), lanes=n) for n in (LANES, 1)]
    assert (uneven[0].steps == 15).all()
    np.testing.assert_allclose(uneven[0].x, uneven[1].x, rtol=0, atol=1e-12)  # 15 steps, rounding
