"""Studies from the outside: each point is the run that a user would make, and failures are values."""

import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest

import closedchain as cc
from closedchain.progress import reported
from closedchain.studies import batched
from tests.unit.studies.drawings import FOUR_BAR as M
from tests.unit.studies.drawings import PENDULUM

SHORT = {"until": 0.1, "t_eval": np.linspace(0.0, 0.1, 6)}


@pytest.fixture(autouse=True)
def _quick_searches(monkeypatch):
    """Where no loop closes, the search need not begin anew again and again to find that out."""
    monkeypatch.setattr("closedchain.pose.assemble.RESTARTS", 0)


def test_a_point_is_the_run_a_user_would_make():
    got = cc.sweep(M, {"O.motor": [5.0, 6.0], "start.O": [1.4, 1.5]}, keep=["O", "coupler.tip"], **SHORT)
    run = cc.simulate(M, M.assemble(O=1.5), parameters={"O.motor": 5.0}, **SHORT)
    point = got.sel({"O.motor": 5.0, "start.O": 1.5})
    np.testing.assert_array_equal(point["O"], run["O"])
    np.testing.assert_array_equal(point["coupler.tip"], run.frame("coupler.tip")["position"])
    assert got["coupler.tip"].dims == ("O.motor", "start.O", "time", "axis")
    assert int(point["steps"]) == run.counts.steps and float(point["end"]) == 0.1
    assert float(point["largest_closure_error"]) == float(run.closure_error.max())
    assert got["O"].attrs["units"] == "rad" and got["time"].attrs["units"] == "s"
    assert set(got["status"].values.ravel()) == {"finished"} and set(got["reason"].values.ravel()) == {""}


def test_measures_in_words_and_as_functions():
    measure = {"fastest": "max O'", "swing": "range C", "late": "last O", "mine": lambda run: float(run["O"].sum())}
    got = cc.sweep(M, {"O.motor": [5.0, 6.0]}, keep=("O", "C", "O'"), measure=measure, **SHORT)
    np.testing.assert_array_equal(got["fastest"], got["O'"].max("time"))
    np.testing.assert_array_equal(got["swing"], got["C"].max("time") - got["C"].min("time"))
    np.testing.assert_array_equal(got["late"], got["O"].isel(time=-1))
    np.testing.assert_array_equal(got["mine"], got["O"].sum("time"))
    assert got["fastest"].attrs["units"] == "rad/s"


def test_numbers_of_the_method_are_varied():
    method = cc.VirtualSpring(1e6, 1e3)
    got = cc.sweep(M, {"k": [1e5, 1e6]}, method=method, keep=(), measure={"gap": "max closure_error"}, **SHORT)
    run = cc.simulate(M, method=cc.VirtualSpring(1e5, 1e3), **SHORT)
    assert float(got["gap"].sel(k=1e5)) == float(run.closure_error.max())
    assert 5 < float(got["gap"][0] / got["gap"][1]) < 20  # a spring ten times as stiff
    assert not [name for name in got.data_vars if "time" in got[name].dims]


def test_points_that_fail_are_values():
    def broken(run):
        if run.parameters["rocker.length"] < 2.45:
            raise ZeroDivisionError("by nothing")
        return 1.0

    points = [{"coupler.length": 4.0, "rocker.length": x} for x in (2.5, 2.4, 9.0)]
    points += [{"coupler.length": 4.0, "rocker.length": 2.5}]
    got = cc.sweep(M, points, measure={"x": broken}, solver=cc.solvers.DOP853(max_steps=10_000), executor=1, **SHORT)
    assert got["status"].values.tolist() == ["finished", "measure failed", "no start", "finished"]
    assert got["reason"].values[1] == "measure 'x': ZeroDivisionError: by nothing"
    assert "loop closed by 'B'" in got["reason"].values[2]
    assert np.isnan(got["O"].values[2]).all() and np.isfinite(got["O"].values[[0, 1, 3]]).all()
    assert got["rocker.length"].dims == ("point",)
    # a run that stops early keeps what it has
    got = cc.sweep(M, {"O.motor": [6.0]}, until=2.0, solver=cc.solvers.DOP853(max_steps=20), t_eval=[0.0, 0.1, 2.0])
    assert got["status"].values[0] == "too_many_steps" and "limit of steps" in got["reason"].values[0]
    assert np.isfinite(got["O"].values[0]).tolist() == [True, True, False] and 0.1 < float(got["end"][0]) < 2.0


def test_complaints_are_kept():
    with warnings.catch_warnings(record=True) as caught:
        got = cc.sweep(M, {"O.motor": [6.0]}, until=0.5, solver=cc.solvers.RK4(step=0.05), rtol=1e-12)
    assert "energy of 'four-bar' is off" in got["complaint"].values[0] and not caught


def test_an_event_may_end_a_point():
    event = cc.Event("up", M.joints["O"].q - 1.6, then="stop")
    got = cc.sweep(M, {"O.motor": [6.0, -6.0]}, events=[event], until=0.5, t_eval=cc.Every(0.01), executor=1)
    assert got["status"].values.tolist() == ["event", "finished"]
    assert float(got["end"][0]) < 0.5 and np.isnan(got["O"].values[0, -1])


def test_times_that_are_not_kept_need_no_room(monkeypatch):
    """Ten points of 201 times: 16 kB if one variable is kept, of a machine that has 8 kB."""
    pages = {"SC_PHYS_PAGES": 2, "SC_PAGE_SIZE": 4096}
    monkeypatch.setattr("closedchain.studies.sweep.os", SimpleNamespace(sysconf=pages.get))
    points = {"O.motor": np.linspace(5, 6, 10)}
    with pytest.raises(cc.ModelError, match=r"results of 201 times of 10 points would take 1.5e-05 GB.* [(]keep="):
        cc.sweep(M, points, until=0.02, t_eval=cc.Every(1e-4))
    with pytest.raises(cc.ModelError, match=r"^2e[+]03 times would take 1.49e-05 GB.* take fewer of them, t_eval="):
        cc.sweep(M, points, until=0.02, t_eval=cc.Every(1e-5), keep=())
    got = cc.sweep(M, points, until=0.02, t_eval=cc.Every(1e-4), keep=(), executor=1)
    assert set(got["status"].values) == {"finished"} and "O" not in got


def test_no_point_that_can_be_put_together_is_an_error():
    with pytest.raises(cc.AssemblyError, match=r"point 0 \(rocker.length = 9\): .*does not close"):
        cc.sweep(M, {"rocker.length": [9.0]}, until=0.1)


def test_progress_is_told():
    told = []
    with reported(lambda *x: told.append(x)):
        cc.sweep(M, {"O.motor": [5.0, 6.0, 7.0]}, executor=1, **SHORT)
    assert told[0] == (0, 3, "none failed") and told[-1] == (3, 3, "none failed")


# ---- the batch kernel ------------------------------------------------------------------------------------------------

MANY = {"crank.length": np.linspace(0.9, 1.1, 6), "coupler.length": np.linspace(3.8, 6.3, 4)}  # some do not close


@pytest.fixture(scope="module")
def many():
    got = cc.sweep(M, MANY, measure={"fastest": "max O'"}, keep=["O", "energy_error", "coupler.tip"], **SHORT)
    assert got.attrs["engine"] == "batch"
    return got


def test_a_batch_gives_what_simulate_gives(many, monkeypatch):
    monkeypatch.setattr(batched, "FEW", 1000)
    got = cc.sweep(M, MANY, measure={"fastest": "max O'"}, keep=["O", "energy_error", "coupler.tip"], **SHORT)
    assert got.attrs["engine"].startswith("simulate: so few points")
    assert (got["status"].values == many["status"].values).all() and "no start" in many["status"].values
    assert (got["complaint"].values == many["complaint"].values).all()
    for name in ("O", "fastest", "coupler.tip", "energy_error", "end", "steps"):
        # starts are the same up to rounding, which the motion magnifies a little
        np.testing.assert_allclose(many[name], got[name], rtol=1e-10, atol=1e-11, err_msg=name)


def test_a_point_has_the_same_bits_in_any_company(many):
    with ThreadPoolExecutor(1) as executor:  # pieces of another size, on one thread
        got = cc.sweep(
            M,
            MANY,
            measure={"fastest": "max O'"},
            keep=["O", "energy_error", "coupler.tip"],
            executor=executor,
            **SHORT,
        )
    for name in many.data_vars:
        if many[name].dtype.kind == "f":
            assert many[name].values.tobytes() == got[name].values.tobytes(), name


def test_long_runs_are_looked_at_a_few_at_a_time(monkeypatch):
    """Memory grows with the samples of a task: a task of many samples has few points."""
    from closedchain.studies import sweep, workers

    sizes, compute = [], workers.compute
    monkeypatch.setattr(
        workers, "compute", lambda study, numbers: sizes.append(len(numbers)) or compute(study, numbers)
    )
    monkeypatch.setattr(sweep, "SAMPLES", 20)
    found = cc.sweep(M, {"O.motor": np.linspace(5.0, 6.0, 16)}, 0.1, t_eval=cc.Every(0.02), keep=())
    assert found.attrs["engine"] == "batch" and max(sizes) == 3 and sum(sizes) == 16  # of six samples each


def test_complaints_of_a_batch_are_those_of_runs(monkeypatch):
    monkeypatch.setattr(batched, "FEW", 1)
    m = cc.Mechanism("swing", gravity=(0, -9.81, 0))
    m.revolute("hinge", m.ground, m.body("arm", cc.rod(length=1.0, mass=1.0)), limits=(-1.0, 1.0))
    times = [0.0, 0.1, 0.2, 0.3]
    starts = [0.5, -0.5, -2.0]  # the rod hangs at -pi/2
    got = cc.sweep(m, {"start.hinge": starts}, until=0.3, t_eval=times)
    assert got.attrs["engine"] == "batch" and got["complaint"].values[0] == ""
    for k, start in enumerate(starts):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            cc.simulate(m, m.assemble(hinge=start), until=0.3, t_eval=times)
        assert got["complaint"].values[k] == "; ".join(str(w.message) for w in caught)
    assert "'hinge' leaves its limits (-1, 1)" in got["complaint"].values[2]


def test_what_is_not_for_a_batch_is_said(monkeypatch):
    monkeypatch.setattr(batched, "FEW", 1)
    event = cc.Event("up", M.joints["O"].q - 1.6)
    for options, message in (
        ({"events": [event]}, "events are looked for"),
        ({"measure": {"x": lambda run: 1.0}}, "measure 'x' is a function"),
        ({"keep": ["closure_conditioning"]}, "'closure_conditioning' is found in each run"),
        ({"t_eval": []}, "no times are kept"),
    ):
        got = cc.sweep(M, {"O.motor": [6.0]}, until=0.01, **{"t_eval": [0.0, 0.01]} | options)
        assert message in got.attrs["engine"]


def test_points_stay_on_one_branch_whoever_computes_them():
    """`assemble` alone takes the other branch of the four-bar at O = 2.4744."""
    m = M
    given = {"parameters": {"start.O": np.linspace(0.5, 6.0, 40)}, "until": 0.01, "keep": ["C"]}
    many, alone = cc.sweep(m, **given), cc.sweep(m, **given, measure={"n": lambda run: len(run.t)}, executor=1)
    assert many.attrs["engine"] == "batch" and alone.attrs["engine"].startswith("simulate: measure 'n'")
    assert abs(many["C"] - alone["C"]).max() < 1e-12  # rounding
    mirrored = cc.sweep(m, {"ground.C.x": [3.0, -3.0]}, until=0.01)
    assert mirrored["status"].values.tolist() == ["finished", "no start"]
    assert "m.assemble(...) finds another branch there, O = 1.5708, A = " in mirrored["reason"].values[1]


def test_studies_in_threads():
    """A process that is forked beside other threads may hang: studies in threads stay in this process."""
    alone = cc.sweep(PENDULUM, {"arm.mass": [1.0, 2.0]}, until=0.1)
    found = []
    threads = [
        threading.Thread(
            target=lambda: found.append(cc.sweep(PENDULUM, {"arm.mass": [1.0, 2.0]}, until=0.1)),
            daemon=True,
        )
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 3 and all(x["hinge"].equals(alone["hinge"]) for x in found)
