"""The table of methods, solvers and tolerances: every number is the one a run by hand would give."""

import numpy as np
import pytest

import closedchain as cc
from closedchain.close.methods import METHODS
from closedchain.progress import reported
from closedchain.results.compare.compare import default_methods


@pytest.fixture(scope="module")
def four_bar():
    return cc.library.four_bar()


@pytest.fixture(scope="module")
def got(four_bar):
    methods = [cc.Multipliers(), cc.Projection(), cc.VirtualSpring(1e5, 290.0)]
    return cc.compare(four_bar, until=0.5, methods=methods, solvers=["dop853", "dopri5"], tolerances=[1e-8, 1e-5])


def test_dimensions_and_units(got):
    data = got.dataset
    assert dict(data.sizes) == {"formulation": 3, "solver": 2, "rtol": 2, "kind": 9}
    assert list(data["rtol"].values) == [1e-5, 1e-8]
    assert data["closure_error"].attrs["units"] == "m or rad" and data["seconds"].attrs["units"] == "s"
    assert data["error"].sel(formulation="Multipliers", solver="dopri5", rtol=1e-8).shape == ()
    assert all("units" in data[name].attrs for name in data if name not in ("failure", "complaint"))


def test_numbers_are_those_of_the_runs(got, four_bar):
    for method, name in (
        (cc.Multipliers(), "Multipliers"),
        (cc.VirtualSpring(1e5, 290.0), "VirtualSpring, k 1e5, b 290"),
    ):
        run = cc.simulate(four_bar, until=0.5, method=method, solver="dopri5", rtol=1e-8)
        one = got.dataset.sel(formulation=name, solver="dopri5", rtol=1e-8)
        assert float(one["closure_error"]) == float(run.closure_error.max())
        assert float(one["energy_error"]) == float(np.abs(run.energy_error).max())
        assert (float(one["steps"]), float(one["rejections"])) == (run.counts.steps, run.counts.rejections)
        assert float(one["operations"].sel(kind="total")) == run.program.rhs.counts.total
        assert float(one["operations"].sel(kind="mul")) == run.program.rhs.counts.mul
        # samples cost evaluations that the march itself does not need
        assert 0 < float(one["evaluations"]) <= run.counts.evaluations
        assert float(one["seconds"]) > 0 and float(one["seconds_to_prepare"]) > 0


def test_errors_fall_with_the_tolerance_but_for_springs(got):
    error = got.dataset["error"]
    exact = error.sel(formulation=["Multipliers", "Projection, sigma 10"])
    assert (exact.sel(rtol=1e-8) < 0.1 * exact.sel(rtol=1e-5)).all()
    assert (exact.sel(rtol=1e-8) < 1e-6).all()
    spring = error.sel(formulation="VirtualSpring, k 1e5, b 290", solver="dopri5")
    # what a spring gives way is no error of the solver: load over stiffness, 7 N / 1e5 N/m
    assert float(spring.sel(rtol=1e-8)) == pytest.approx(float(spring.sel(rtol=1e-5)), rel=0.05)
    assert 1e-5 < float(spring.sel(rtol=1e-8)) < 2e-4


def test_total_operations_are_evaluations_times_operations(got):
    one = got.dataset.sel(formulation="VirtualSpring, k 1e5, b 290")  # which corrects nothing
    wanted = one["evaluations"] * one["operations"].sel(kind="total")
    np.testing.assert_array_equal(one["run_operations"], wanted)


def test_what_fails_is_a_row_with_a_sentence(four_bar):
    got = cc.compare(
        four_bar,
        until=0.5,
        methods={"exact": cc.Multipliers(), "far too stiff": cc.VirtualSpring(1e12)},
        solvers=[cc.solvers.DOP853(max_steps=500)],
        tolerances=[1e-6],
    )
    good, bad = got.rows()
    assert (good["method"], good["failure"], good["error"] < 1e-5) == ("exact", "", True)
    assert bad["method"] == "far too stiff" and np.isnan(bad["error"]) and np.isnan(bad["evaluations"])
    assert got.failures() == [f"far too stiff: {bad['failure']}"] and "limit of steps" in bad["failure"]


def test_a_method_that_refuses_is_a_row():
    m = cc.Mechanism("massless rocker", gravity=(0, -9.81, 0))
    crank = m.body("crank", cc.rod(length=1.0, mass=1.0))
    coupler = m.body("coupler", cc.rod(length=4.0, mass=1.0))
    rocker = m.body("rocker", cc.massless())
    m.revolute("O", m.ground, crank, cut=False)
    m.revolute("A", crank.tip, coupler, cut=False)
    m.revolute("C", m.ground.at(3, 0, 0), rocker, cut=False)
    m.revolute("B", coupler.tip, rocker.at(2.5, 0, 0), cut=True)
    got = cc.compare(
        m, m.assemble(O=1.5, guess={"A": -1.2, "C": 1.3}), until=0.1, solvers=["dop853"], tolerances=[1e-6]
    )
    said = {row["method"]: row["failure"] for row in got.rows()}
    assert said["Multipliers"] == ""
    assert "mass" in said["VirtualSpring, k 1e6, b 0"]


def test_without_a_reference_there_are_still_rows():
    m = cc.Mechanism("bad torque")
    arm = m.body("arm", cc.rod(length=1.0, mass=1.0))
    m.revolute("O", m.ground, arm)
    m.motor("O", torque=lambda t, q, v: cc.math.log(0.1 - t))
    got = cc.compare(m, until=1.0, methods=["multipliers"], solvers=["dopri5"], tolerances=[1e-6])
    assert got.reference.startswith("none: ") and got.failures()


def test_default_methods_are_all_of_them(four_bar):
    methods = default_methods(four_bar.assemble())
    exact = [x for x in METHODS.values() if not x.all_rows]
    assert [x for x in methods.values() if not x.all_rows] == exact
    springs = [x for x in methods.values() if x.all_rows]
    assert [type(x).__name__ for x in springs] == ["VirtualSpring"] * 3 + ["ModifiedDeNOC"]
    assert [x.stiffness for x in springs] == [1e5, 1e6, 1e7, 1e6] and all(x.damping > 0 for x in springs)
    assert not any(x.all_rows for x in default_methods(cc.library.pendulum().assemble()).values())


def test_fixed_steps_follow_the_tolerance(four_bar):
    got = cc.compare(
        four_bar,
        until=0.2,
        methods=["multipliers"],
        solvers=[cc.solvers.RK4(step=0.02)],
        tolerances=[1e-2, 1e-6],
        repeats=1,
    )
    # the fourth root of 1e-4 is a tenth: 10 steps become 100, and the error of order 4 falls by about 1e4
    assert got.dataset["steps"].values.ravel().tolist() == [10, 100]
    coarse, fine = got.dataset["error"].values.ravel()
    assert 3e-5 < fine / coarse < 3e-4


def test_progress_is_told(four_bar):
    told = []
    options = {"methods": ["multipliers", "denoc"], "solvers": ["dop853"], "tolerances": [1e-6]}
    with reported(lambda *x: told.append(x)):
        cc.compare(four_bar, until=0.1, **options)
    assert told == [(0, 2, "reference"), (0, 2, "Multipliers"), (1, 2, "DeNOC"), (2, 2, "done")]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"methods": ["denok"]}, "did you mean 'denoc'"),
        ({"methods": [3]}, "a method must be a formulation"),
        ({"methods": "denoc"}, "a list of formulations"),
        ({"methods": []}, "at least one"),
        ({"solvers": ["dop583"]}, "did you mean 'dop853'"),
        ({"solvers": ["rk4", cc.solvers.RK4(step=1e-3)]}, "names 'rk4' twice"),
        ({"solvers": []}, "nothing to compare"),
        ({"tolerances": []}, "nothing to compare"),
        ({"tolerances": [-1.0]}, "rtol must be a positive number"),
        ({"until": 0.0}, "runs of some length"),
        ({"samples": 1}, "at least 2"),
        ({"start": 3}, "m.assemble"),
    ],
)
def test_what_cannot_be_meant_is_told(four_bar, options, words):
    with pytest.raises(cc.ModelError, match=words):
        cc.compare(four_bar, **options)


def test_a_start_of_another_mechanism(four_bar):
    with pytest.raises(cc.ModelError, match="belongs to mechanism 'five-bar', not to"):
        cc.compare(four_bar, cc.library.five_bar().assemble())


@pytest.fixture(scope="module")
def flexible():
    return cc.library.flexible_arm(0.0)


def compared(m, methods, solvers):
    options = {"until": 0.01, "tolerances": [1e-3], "repeats": 1, "samples": 2}
    return cc.compare(m, methods=methods, solvers=solvers, **options)


def test_a_step_of_the_user_is_kept_with_finite_elements(flexible):
    by = compared(flexible, [cc.ERLS(elements=1)], [cc.solvers.ESDIRK4(step=1e-3)])
    assert [(row["solver"], row["steps"]) for row in by.rows()] == [("esdirk4", 10)]


def test_a_solver_that_is_given_takes_the_place_of_the_usual_one(flexible):
    by = compared(flexible, [cc.ERLS(elements=1)], [cc.solvers.GeneralisedAlpha(step=1e-3)])
    assert [(row["solver"], row["steps"]) for row in by.rows()] == [("generalised-alpha", 10)]
    named = compared(flexible, [cc.ERLS(elements=1)], ["generalised-alpha"])
    assert named.rows()[0]["steps"] not in (10, 500)  # chosen by the error, as nobody has given a step


def test_pairs_that_are_not_run_are_rows_with_a_sentence(flexible):
    by = compared(flexible, [cc.ERLS(elements=1)], ["dop853"])
    refused, good = by.rows()
    assert (refused["solver"], good["solver"], good["failure"]) == ("dop853", "esdirk4", "")
    assert "are those of finite elements, which 'dop853' does not march" in refused["failure"]


@pytest.mark.parametrize("verb", ["compare", "recommend", "choose_stiffness", "holding_efforts", "frequencies_over"])
def test_a_verb_names_itself_where_its_mechanism_is_none(verb):
    more = [{"O": [1.0]}] if verb == "frequencies_over" else []
    with pytest.raises(cc.ModelError, match=f"{verb} needs a cc.Mechanism, not None"):
        getattr(cc, verb)(None, *more)
