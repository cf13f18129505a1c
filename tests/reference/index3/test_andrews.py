"""Andrews' squeezing mechanism, the standard problem of index 3: published values, and every way to march it."""

import numpy as np
import pytest

import closedchain as cc
from closedchain.close.methods import METHODS
from closedchain.integrate.solvers import SOLVERS, marching
from tests.reference.compare import pointwise, relative
from tests.reference.index3.andrews import NUMBERS, columns, published, squeezer, start
from tests.solvers import stepping

# methods that have solvers of their own are differential-algebraic; multipliers are what all others come to
WAYS = [("multipliers", solver) for solver in ("dop853", "radau5")]
WAYS += [(name, solver) for name, method in METHODS.items() if method.kind != "ode" for solver in marching(method.kind)]


def end(method="multipliers", solver="dop853", **options):
    """Angles, velocities, accelerations and multipliers at the end, by name."""
    m = squeezer()
    until = NUMBERS["until"]
    run = cc.simulate(m, start(m), until=until, method=METHODS[method], solver=solver, t_eval=[0.0, until], **options)
    last = {key: np.array(columns(run, mark))[:, -1] for key, mark in (("q", ""), ("v", "'"), ("a", "''"))}
    return last | {"lam": run["lam"].values[-1]}


def misses(got, want):
    return {key: relative(got[key], want[key]) for key in got}


def test_the_drawing_has_the_equations_of_the_test_set():
    m = squeezer()
    at = pointwise(m)
    order = [m.assemble().topology.v_labels.index(name) for name in NUMBERS["angles"]]
    rng = np.random.default_rng(2)
    for _ in range(5):
        q, v = rng.normal(size=(2, 7))
        M, f, G, g = published(q, v)
        ours = at(*(x[np.argsort(order)] for x in (q, v)))
        for mine, wanted in (
            (ours.M[np.ix_(order, order)], M),
            ((ours.tau - ours.h)[order], f),
            (ours.A[:, order], G),
            (ours.c, g),
        ):
            assert relative(mine, wanted) < 1e-12  # other orders of summation


def test_published_start():
    m = squeezer()
    run = cc.simulate(m, start(m), until=1e-6, t_eval=[0.0, 1e-6])
    a, lam = np.array(columns(run, "''"))[:, 0], run["lam"].values[0]
    wanted = NUMBERS["start"]
    assert np.array_equal(np.array(columns(run))[:, 0], wanted["q"])  # as given, not searched for
    # its loops are closed to rounding, of lengths of centimetres and divided by inertias of 1e-7
    assert relative(a, wanted["a"]) < 1e-10 and relative(lam, wanted["lam"]) < 1e-10


def test_published_end():
    """To what its digits are good for; see the provenance."""
    off = misses(end(rtol=1e-12), NUMBERS["end"])
    assert off["q"] < 1e-10 and off["v"] < 4e-10 and off["a"] < 1.1e-7 and off["lam"] < 8e-8


@pytest.mark.parametrize(("method", "solver"), [way for way in WAYS if SOLVERS[way[1]].adaptive])
def test_end_by_solvers_with_a_tolerance(method, solver):
    rtol = 1e-7
    off = misses(end(method, solver, rtol=rtol), NUMBERS["computed"])
    # some hundreds of steps pass on their errors (IDAS: 150 rtol in v, 1160 in a); accelerations feel those of
    # velocities ten times over
    more = 2 if solver == "idas" else 1
    assert off["q"] < 100 * rtol and off["v"] < more * 100 * rtol
    assert off["a"] < more * 1000 * rtol and off["lam"] < more * 1000 * rtol


@pytest.mark.parametrize(("method", "solver"), [way for way in WAYS if not SOLVERS[way[1]].adaptive])
def test_end_by_solvers_with_a_fixed_step(method, solver):
    steps = [3e-5, 1.5e-5, 7.5e-6]
    off = [misses(end(method, stepping(solver, step), rtol=1e-3), NUMBERS["computed"]) for step in steps]
    order = SOLVERS[solver].order
    for key in ("q", "v", "a", "lam"):
        found = [x[key] for x in off]
        assert np.polyfit(np.log(steps), np.log(found), 1)[0] == pytest.approx(order, abs=0.1)
    # 4000 steps for two and a half turns: 1e-3 of a turn each, and its square over 2 pi
    assert off[-1]["q"] < 1e-5
