"""What comes back from pickle and deepcopy has its data and its drawing, and can be asked everything."""

import copy
import multiprocessing
import pickle
import sys
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest

import closedchain as cc


def pickled(x):
    return pickle.loads(pickle.dumps(x))


both = pytest.mark.parametrize("again", [pickled, copy.deepcopy], ids=["pickle", "deepcopy"])


def damp(t, now):
    """A controller that pickle finds by its name."""
    return -0.5 * now["hinge'"]


class Counts:
    """A controller with a memory."""

    def __init__(self):
        self.calls = 0

    def __call__(self, t, now):
        self.calls += 1
        return 0.1 * self.calls


def controlled(function):
    m = cc.library.pendulum()
    m.motor("hinge", torque=cc.Sampled(function, period=0.01))
    return m


# ---- runs ------------------------------------------------------------------------------------------------------------


@both
@pytest.mark.parametrize("method", [cc.Multipliers(), cc.Projection(), cc.VirtualSpring(1e5)], ids=repr)
def test_a_run_comes_back(again, method):
    m = cc.library.four_bar()
    run = cc.simulate(
        m, until=0.3, method=method, solver=cc.solvers.DOP853(dense_output=True), events=[cc.Event("then", cc.t - 0.1)]
    )
    back = again(run)
    assert back.mechanism is not m
    assert back.start.mechanism is back.mechanism
    assert back.dataset.identical(run.dataset)
    assert back.reaction("B", axes="coupler").identical(run.reaction("B", axes="coupler"))
    assert back.frame("coupler.tip").identical(run.frame("coupler.tip"))
    assert np.array_equal(back.sol([0.011, 0.2]), run.sol([0.011, 0.2]))
    assert back.complaints() == run.complaints()
    assert (back.metadata, back.record, back.counts) == (run.metadata, run.record, run.counts)
    assert back.window(0.1, 0.2).dataset.equals(run.window(0.1, 0.2).dataset)
    assert str(back.mechanism) == str(m)
    assert repr(back.state(3)) == repr(run.state(3))
    onward = [cc.simulate(x.mechanism, x.state(), until=0.4, method=method) for x in (run, back)]
    assert np.array_equal(onward[0].x, onward[1].x)


@both
def test_a_run_that_passed_a_singular_pose_comes_back(again):
    """Several pieces, under several sets of equations, in a drawing with redundant closures."""
    m = cc.library.four_bar(torque=0.0)
    m.motor("O", torque=cc.math.where(cc.t < 0.1, 6.0, -6.0), name="turn")
    run = cc.simulate(m, until=0.3, solver="auto")
    back = again(run)
    assert len(back.segments) == len(run.segments)
    assert back.dataset.identical(run.dataset)


@both
def test_the_copy_of_a_run_has_a_drawing_of_its_own(again):
    m = cc.library.four_bar()
    run = cc.simulate(m, until=0.05)
    back = again(run)
    energy = run["potential_energy"].values.copy()
    back.mechanism.parameters["crank.mass"] = 100.0
    back.mechanism.parameter("more", 1.0)
    assert m.parameters["crank.mass"] == 1.0
    assert "more" not in m.parameters
    assert np.array_equal(cc.simulate(m, until=0.05)["potential_energy"].values, energy)


@both
def test_a_run_of_a_massless_limb_comes_back(again):
    m = cc.Mechanism("four-bar with a thread", gravity=(0, -9.8, 0))
    crank, coupler = m.body("crank", cc.rod(length=1.0, mass=1.0)), m.body("coupler", cc.rod(length=4.0, mass=1.0))
    rocker = m.body("rocker", cc.massless())
    m.revolute("O", m.ground, crank)
    m.revolute("A", crank.tip, coupler)
    m.revolute("C", m.ground.at(3, 0, 0), rocker)
    m.revolute("B", coupler.tip, rocker.at(2.5, 0, 0))
    run = cc.simulate(m, m.assemble(O=1.5, guess={"A": -1.2, "C": 1.3}), until=0.1)
    assert not run.program.by_limbs
    back = again(run)
    assert not back.program.by_limbs
    assert back.dataset.identical(run.dataset)


@both
def test_flexible_runs_come_back(again):
    m = cc.library.four_bar(flexible=True)
    for run in (cc.simulate(m, until=0.01), cc.simulate(m, until=0.002, method=cc.ERLS(elements=2))):
        back = again(run)
        assert type(back) is type(run)
        assert back.dataset.equals(run.dataset)
        assert back.reaction("B").equals(run.reaction("B"))
        assert back.beam("coupler").dataset.equals(run.beam("coupler").dataset)
        assert again(run.beam("coupler")).dataset.equals(run.beam("coupler").dataset)
        assert back.deflection("coupler").equals(run.deflection("coupler"))
        assert (back.good, back.message) == (run.good, run.message)


@both
def test_an_erls_run_keeps_the_displacements_that_were_zeroed(again):
    run = cc.simulate(cc.library.four_bar(flexible=True), until=0.002, method=cc.ERLS(elements=1))
    back = again(run)
    assert back.solution.system.compiled.zeroed == run.solution.system.compiled.zeroed
    assert back.u.equals(run.u)
    assert again(back).u.equals(run.u)


def test_a_run_of_an_older_drawing_is_refused():
    m = cc.library.four_bar()
    run = cc.simulate(m, until=0.05)
    m.parameter("more", 1.0)
    for again in (pickle.dumps, copy.deepcopy):
        with pytest.raises(cc.ModelError, match="the drawing of 'four-bar' has changed since"):
            again(run)


def look(run):
    """In another process: what is found there."""
    return run.dataset, run.reaction("B")["force"].values, cc.simulate(run.mechanism, run.state(), until=0.2)


def test_a_run_goes_to_another_process_and_back():
    run = cc.simulate(cc.library.four_bar(), until=0.1)
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        dataset, force, onward = pool.submit(look, run).result()
    assert dataset.identical(run.dataset)
    assert np.array_equal(force, run.reaction("B")["force"].values)
    assert np.array_equal(onward.x, cc.simulate(run.mechanism, run.state(), until=0.2).x)
    assert onward.good


# ---- everything else -------------------------------------------------------------------------------------------------


@both
def test_states_motions_and_efforts_come_back(again):
    m = cc.library.four_bar()
    state = m.assemble(O=1.0)
    assert again(state).coordinates == state.coordinates
    need = cc.inverse_dynamics(m, {"O": lambda t: 0.5 + 0.2 * cc.math.sin(4 * t)}, until=0.2)
    back = again(need)
    assert back.dataset.identical(need.dataset)
    assert back.reaction("B").identical(need.reaction("B"))
    assert back.motion.mechanism is back.mechanism
    assert np.array_equal(back.internal, need.internal)
    motion = again(need.motion)
    assert motion.dataset.identical(need.motion.dataset)
    assert motion.frame("coupler.tip").identical(need.motion.frame("coupler.tip"))


@both
def test_comparisons_linearisations_and_studies_come_back(again):
    m = cc.library.four_bar()
    compared = cc.compare(m, until=0.02, methods=[cc.Multipliers(), cc.Projection()])
    assert again(compared).dataset.identical(compared.dataset)
    assert again(compared).citations() == compared.citations()
    linear = m.linearise(m.equilibrium())
    assert np.array_equal(again(linear).eigenvalues, linear.eigenvalues)
    assert again(linear).mode_table.identical(linear.mode_table)
    study = cc.sweep(m, {"crank.mass": [1.0, 2.0]}, until=0.02, executor=1)
    assert again(study).identical(study)


@both
def test_mobility_and_modes_come_back(again):
    m = cc.library.four_bar()
    assert str(again(m.mobility())) == str(m.mobility())
    modes = m.assemblies(O=1.0)
    assert [mode.state.coordinates for mode in again(modes)] == [mode.state.coordinates for mode in modes]


# ---- controllers -----------------------------------------------------------------------------------------------------


@both
@pytest.mark.parametrize("function", [damp, Counts()], ids=["function", "object"])
def test_controllers_with_a_name_come_back(again, function):
    run = cc.simulate(controlled(function), until=0.1)
    back = again(run)
    assert back.dataset.identical(run.dataset)


def test_the_copy_of_a_controller_has_a_memory_of_its_own():
    m = controlled(Counts())
    other = copy.deepcopy(m)
    cc.simulate(other, until=0.05)
    [mine], [its] = ([c.function for c in cc.model.forces.sampled.sampled_inputs(x).controllers] for x in (m, other))
    assert (mine.calls, its.calls) == (0, 5)


def test_a_controller_without_a_name_is_copied_and_pickled_where_that_can_be(monkeypatch):
    run = cc.simulate(controlled(lambda t, now: -now["hinge'"]), until=0.1)
    assert copy.deepcopy(run).dataset.identical(run.dataset)
    assert pickled(run).dataset.identical(run.dataset)  # cloudpickle is installed here
    monkeypatch.setitem(sys.modules, "cloudpickle", None)
    with pytest.raises(cc.ClosedChainError, match="the controller '<lambda>' cannot be pickled"):
        pickle.dumps(run)


def test_a_controller_that_knows_its_mechanism_is_pickled():
    m = cc.library.pendulum()

    class Knows:
        def __init__(self):
            self.mechanism = m

        def __call__(self, t, now):
            return self.mechanism.parameters["arm.mass"] * 0.1

    m.motor("hinge", torque=cc.Sampled(Knows(), period=0.01))
    back = pickled(m)
    assert np.array_equal(cc.simulate(back, until=0.05).x, cc.simulate(m, until=0.05).x)


def test_a_shallow_copy_of_a_state_has_numbers_of_its_own():
    m = cc.library.four_bar()
    start = m.assemble(parameters={"O.motor": 5.0})
    again = copy.copy(start)
    assert again.mechanism is m and np.array_equal(again.q, start.q) and again.labels == start.labels
    again.q[:], again.v[:], again.parameters["O.motor"] = 0.0, 1.0, 7.0
    assert start.q.any() and not start.v.any() and start.parameters == {"O.motor": 5.0}
