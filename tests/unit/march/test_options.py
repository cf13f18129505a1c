"""Options of a run: which solver marches what, what events say, and what cannot be done."""

from dataclasses import dataclass

import numpy as np
import pytest

import closedchain as cc
from closedchain.integrate.solvers import SOLVERS
from closedchain.march.options import Limits, check_limits, sample_times, solver_for, sorted_events, task_of, wanted


@pytest.fixture(scope="module")
def start():
    return cc.library.pendulum().assemble()


def task(start, **options):
    given = {"until": 1.0, "solver": None, "rtol": 1e-8, "atol": None, "t_eval": None, "events": ()} | options
    return task_of(start, method=cc.Multipliers(), **given)


@pytest.mark.parametrize(
    ("method", "name"),
    [
        (cc.Multipliers(), "dop853"),
        (cc.GGL(), "radau5"),
        (cc.ERLS(), "esdirk4"),
        (cc.ERLS(rho_inf=0.8), "generalised-alpha"),
    ],
)
def test_the_usual_solver_of_a_method(method, name):
    assert solver_for(method, None) == SOLVERS[name]()


def test_finite_elements_may_have_a_step_and_index_3_needs_one():
    by = cc.solvers.GeneralisedAlpha(step=1e-3)
    assert solver_for(cc.Index3(), by) is by and solver_for(cc.ERLS(rho_inf=0.8), by) is by
    free = cc.solvers.GeneralisedAlpha(max_step=1e-2)
    assert solver_for(cc.ERLS(rho_inf=0.8), free) is free
    with pytest.raises(cc.ModelError, match="'generalised-alpha' has a fixed step: say its length"):
        solver_for(cc.Index3(), free)


def test_a_class_is_no_solver():
    with pytest.raises(cc.ModelError, match=r"RK4 is a class: write cc\.solvers\.RK4\(step=1e-3\)"):
        solver_for(cc.Multipliers(), cc.solvers.RK4)
    with pytest.raises(cc.ModelError, match=r"DOP853 is a class: write cc\.solvers\.DOP853\(\)"):
        solver_for(cc.Multipliers(), cc.solvers.DOP853)


@pytest.mark.parametrize(
    ("solver", "words"),
    [
        (cc.solvers.DOP853(), "dop853"),
        (cc.solvers.DOP853(first_step=1e-3), "dop853 with first_step=0.001"),
        (cc.solvers.RK4(step=0.01, max_steps=7), "rk4 with max_steps=7, step=0.01"),
    ],
    ids=["plain", "one option", "step"],
)
def test_a_solver_in_words(solver, words):
    assert str(solver) == words


@pytest.mark.parametrize("kind", [cc.solvers.ESDIRK4, cc.solvers.GeneralisedAlpha])
@pytest.mark.parametrize("option", ["first_step", "max_step"])
def test_steps_of_one_length_are_neither_tried_nor_limited(kind, option):
    with pytest.raises(cc.ModelError, match=f"'{kind.name}' has a fixed step of 0.001 s: leave {option} out"):
        kind(step=1e-3, **{option: 1e-4})


@pytest.mark.parametrize(
    ("method", "rtol", "least"), [(cc.Multipliers(), 1e-15, "3e-15"), (cc.ERLS(), 1e-14, "1e-13")], ids=["ode", "erls"]
)
def test_a_tolerance_below_rounding(method, rtol, least):
    with pytest.raises(cc.ModelError, match=f"below what double precision can keep: take {least} or more"):
        cc.simulate(cc.library.flexible_arm(0.0), method=method, rtol=rtol)


def test_events_of_all_kinds():
    event = cc.Event("e", cc.t - 0.5)
    assert sorted_events(None) == sorted_events([]) == ((), "pass", "stop")
    assert sorted_events(event) == ((event,), "pass", "stop")
    assert sorted_events(cc.SingularPoses()) == ((), "stop", "stop")
    assert sorted_events((cc.Divergence("warn"), event, cc.SingularPoses("warn"))) == ((event,), "warn", "warn")


def test_equal_times_end_at_the_end_or_before_it():
    np.testing.assert_array_equal(sample_times(0.0, 1.0, cc.Every(0.25))[:], np.linspace(0, 1, 5))
    np.testing.assert_allclose(sample_times(0.0, 1.0, cc.Every(0.3))[:], [0.0, 0.3, 0.6, 0.9])
    np.testing.assert_allclose(sample_times(1.0, 0.0, cc.Every(0.4))[:], [1.0, 0.6, 0.2])


def test_what_a_run_wants(start):
    assert wanted(task(start), start) == {}
    dense = cc.solvers.DOP853(dense_output=True)
    events = [cc.Event("e", cc.t - 0.5), cc.SingularPoses("warn")]
    found = wanted(task(start, until=-1.0, solver=dense, events=events), start)
    assert list(found) == ["events", "singular poses", "dense_output", "backward"]
    assert list(wanted(task(start, until=0.0), start)) == ["no length"]


def test_limits_refuse_the_first_feature_they_name(start):
    back = task(start, until=-1.0, events=[cc.Event("e", cc.t - 0.5)])
    check_limits(back, start, Limits())
    with pytest.raises(cc.ModelError, match=r"^no runs back in time, from 0 to -1 s, here$"):
        check_limits(back, start, Limits(("save", "backward", "events"), "no {feature}, here"))


@pytest.mark.parametrize("solver", [cc.solvers.CVODES, cc.solvers.IDAS])
@pytest.mark.parametrize(
    ("options", "feature"),
    [
        ({"events": [cc.Event("e", cc.t - 0.5)]}, "events"),
        ({"events": [cc.SingularPoses("warn")]}, r"cc\.SingularPoses\(\.\.\.\)"),
        ({"dense": True}, "dense_output"),
    ],
)
def test_a_second_opinion_has_its_limits(start, solver, options, feature):
    options = dict(options)
    by = solver(dense_output=options.pop("dense", False))
    said = f"'{solver.name}' is a second opinion from SUNDIALS, without {feature}: leave that out"
    with pytest.raises(cc.ModelError, match=said):
        check_limits(task(start, solver=by, **options), start, Limits())
    check_limits(task(start, solver=solver()), start, Limits())


@dataclass(frozen=True, kw_only=True)
class Nameless(cc.solvers.DOP853):
    """A class that keeps the name of the one it comes from."""


@dataclass(frozen=True, kw_only=True)
class Unlisted(cc.solvers.DOP853):
    """A class with a name that is not listed."""

    name = "unlisted"


@pytest.mark.parametrize(
    ("solver", "said"),
    [(Nameless(), "Nameless .* 'dop853' is DOP853"), (Unlisted(), "Unlisted .* no solver is listed as 'unlisted'")],
    ids=["nameless", "unlisted"],
)
def test_a_class_has_a_name_of_its_own_and_is_listed(solver, said):
    with pytest.raises(cc.ModelError, match=said + r": give the class a name of its own and the decorator closedchain"):
        solver_for(cc.Multipliers(), solver)
