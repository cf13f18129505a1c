"""A run as an object: looking, taking away, going on from it."""

import numpy as np
import pytest
import xarray

import closedchain as cc


def test_names_give_arrays(four_bar_run):
    assert isinstance(four_bar_run["O"], xarray.DataArray) and four_bar_run["O"].dims == ("time",)
    with pytest.raises(cc.ModelError, match="the run has no variable 'motor'"):
        four_bar_run["motor"]


def test_properties(four_bar_run):
    run = four_bar_run

    assert run.complete and run.good
    assert run.closure_error.identical(run.dataset["closure_error"])
    assert run.energy_error.identical(run.dataset["energy_error"])
    assert run.parameters == dict(run.mechanism.parameters)
    assert repr(run).startswith("Run('four-bar' to t = 1 s, Multipliers with dop853, ")
    assert "INCOMPLETE" not in repr(run)


def test_citation_names_method_and_solver(four_bar_run):
    method, solver, software = four_bar_run.citation().splitlines()
    assert software.startswith("closedchain ")

    assert "Eich" in method and "Hairer" in solver


def test_the_dataset_is_made_once(four_bar_run):
    assert four_bar_run.dataset is four_bar_run.dataset


# ---- states ----------------------------------------------------------------------------------------------------------


def test_states_of_a_run(four_bar_run):
    first, last = four_bar_run.state(0), four_bar_run.state()

    assert first["O"] == pytest.approx(np.pi / 2, abs=1e-15)
    assert last["C"] == float(four_bar_run["C"][-1]) and last.velocities["O"] == float(four_bar_run["O'"][-1])


def test_going_on_from_a_state(four_bar_run):
    m = four_bar_run.mechanism
    middle = four_bar_run.state(50)
    rest = cc.simulate(m, middle.at(0.5), until=1.0, rtol=1e-10, t_eval=[0.5, 0.75, 1.0])

    # two runs at rtol 1e-10 with different steps
    np.testing.assert_allclose(rest["O"], four_bar_run["O"][[50, 75, 100]], atol=1e-8)
    assert list(rest.t) == [0.5, 0.75, 1.0] and float(rest["work"][0]) == 0.0


def test_backward_in_time(four_bar_run):
    m = four_bar_run.mechanism
    back = cc.simulate(m, four_bar_run.state().at(1.0), until=0.0, rtol=1e-10)

    assert back.good and back.t[0] == 1.0 and back.t[-1] == 0.0
    assert float(back["O"][-1]) == pytest.approx(np.pi / 2, abs=1e-7)
    assert float(back["O'"][-1]) == pytest.approx(0.0, abs=1e-7)


def test_a_state_carries_the_parameters_of_its_run():
    m = cc.library.four_bar()
    run = cc.simulate(m, until=0.2, parameters={"O.motor": 2.0, "crank.length": 0.9})

    assert run.state().parameters == {"O.motor": 2.0, "crank.length": 0.9}
    assert cc.simulate(m, run.state(), until=0.1).parameters["crank.length"] == 0.9


def test_a_state_is_a_copy(four_bar_run):
    state = four_bar_run.state(3)
    before = four_bar_run.x[3].copy()
    state.q[:] = 99.0

    np.testing.assert_array_equal(four_bar_run.x[3], before)


def test_dense_output():
    m = cc.library.four_bar()
    run = cc.simulate(m, until=0.5, rtol=1e-10, solver=cc.solvers.DOP853(dense_output=True))
    x = run.sol(run.t)

    np.testing.assert_allclose(x[:, 0], run["O"], atol=1e-8)
    np.testing.assert_allclose(x[:, 3], run["B"], atol=1e-8)  # the counter of the cut hinge goes with its angle
    assert run.sol(0.123).shape == (4 + 3 + 1,)  # coordinates and counter, velocities, work


def test_no_dense_output_unless_asked_for(four_bar_run):
    with pytest.raises(cc.ModelError, match=r"simulate with solver=cc\.solvers\.DOP853\(dense_output=True\)"):
        four_bar_run.sol(0.5)


def test_dense_output_ends_with_the_run():
    run = cc.simulate(cc.library.pendulum(), until=0.5, solver=cc.solvers.DOP853(dense_output=True))

    assert np.isfinite(run.sol([0.0, 0.25, 0.5])).all()
    with pytest.raises(cc.ModelError, match=r"goes from 0 to 0\.5 s: there is no solution"):
        run.sol([-0.1, 0.6])


# ---- taking away -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("which", ["four_bar_run", "platform_run", "pendulum_run"])
def test_netcdf_round_trip(which, request, tmp_path):
    run = request.getfixturevalue(which)
    path = tmp_path / "run.nc"
    run.to_netcdf(path)

    with xarray.open_dataset(path) as back:
        assert back.identical(run.dataset)
        assert back.attrs["solver"] == "dop853" and back["time"].attrs["units"] == "s"


def test_netcdf_of_an_incomplete_run(tmp_path):
    m = cc.library.pendulum()
    m.motor("hinge", torque=lambda t: cc.math.sqrt(0.5 - t))
    with pytest.raises(cc.RunError) as trouble:
        cc.simulate(m, until=1.0)
    trouble.value.run.to_netcdf(tmp_path / "run.nc")

    with xarray.open_dataset(tmp_path / "run.nc") as back:
        assert back.attrs["status"] == "nan"


@pytest.mark.parametrize("name", ["left/right", " left", "left ", "left\tright", "left\nright"], ids=repr)
def test_names_that_files_cannot_hold_are_refused(name):
    m = cc.Mechanism("slash")

    with pytest.raises(cc.ModelError, match="cannot be used in files"):
        m.revolute(name, m.ground, m.body("arm", cc.rod(1.0, 1.0)))


def test_netcdf_without_its_package(four_bar_run, tmp_path, monkeypatch):
    import importlib.util

    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)

    with pytest.raises(cc.ModelError, match=r"pip install 'closedchain\[netcdf\]'"):
        four_bar_run.to_netcdf(tmp_path / "run.nc")


@pytest.mark.parametrize("which", ["four_bar_run", "platform_run", "pendulum_run"])
def test_dataframe(which, request):
    run = request.getfixturevalue(which)
    table = run.to_dataframe()
    flat = [name for name, variable in run.dataset.data_vars.items() if variable.dims == ("time",)]

    assert list(table.columns) == flat
    assert table.index.name == "time" and len(table) == len(run.t)
    np.testing.assert_array_equal(table.index, run.t)
    for name in flat:
        np.testing.assert_array_equal(table[name], run.dataset[name])
