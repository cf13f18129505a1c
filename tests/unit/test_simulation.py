"""`simulate`: what it takes, what it refuses, and that values change without compiling while drawings do not."""

import copy
import warnings

import numpy as np
import pytest

import closedchain as cc
from closedchain.cut.topology import cut
from closedchain.march import run_loop as segments
from closedchain.pose.state import State
from closedchain.progress import reported
from tests.solvers import stepping
from tests.turns import with_counters


@pytest.fixture(scope="module")
def four_bar():
    return cc.library.four_bar()


# ---- what it takes ---------------------------------------------------------------------------------------------------


def test_everything_by_default():
    run = cc.simulate(cc.library.pendulum())

    assert run.t[0] == 0.0 and run.t[-1] == 1.0 and len(run.t) == 201
    assert (run.solver, run.rtol, run.atol) == ("dop853", 1e-8, None)  # by the sizes of the state's entries
    assert run.program.method == cc.Multipliers()


def test_times_of_one_s_own(four_bar):
    run = cc.simulate(four_bar, until=1.0, t_eval=np.array([0.1, 0.2, 0.9]))

    assert list(run.t) == [0.1, 0.2, 0.9]


@pytest.mark.parametrize("solver", ["dopri5", "dop853", "rk4"])
def test_solvers_agree(four_bar, solver):
    run = cc.simulate(four_bar, until=1.0, solver=stepping(solver), rtol=1e-9)

    assert float(run["O"][-1]) == pytest.approx(2.829418, abs=1e-6)  # to the digits of the docstring's example


def test_methods_agree(four_bar):
    ends = [
        float(cc.simulate(four_bar, until=1.0, rtol=1e-10, method=cc.Multipliers(stabilise))["O"][-1])
        for stabilise in ("projection", "none", cc.Baumgarte(5.0))
    ]

    assert np.ptp(ends) < 1e-7  # drift of the second, some thousand tolerances at most


def test_the_numbers_of_the_step_are_passed_on(four_bar):
    run = cc.simulate(four_bar, until=1.0, solver=cc.solvers.DOP853(first_step=1e-4, max_step=0.01))

    assert run.counts.largest_step <= 0.01 and run.counts.steps >= 100
    assert run.segments[0].trajectory.steps_t[0] == pytest.approx(1e-4, rel=1e-12)


def test_atol_of_its_own(four_bar):
    assert cc.simulate(four_bar, until=0.1, rtol=1e-6, atol=1e-9).atol == 1e-9


def test_progress_is_called(four_bar):
    seen = []
    with reported(lambda t, steps: seen.append((t, steps))):
        cc.simulate(four_bar, until=0.5)

    assert seen and seen[-1][0] == 0.5 and seen[-1][1] > 0


def test_an_interrupted_run_is_in_the_exception(four_bar):
    """Ctrl-C ends a script; whoever asks has what was computed, and nobody takes it for the whole."""

    def stop(t, steps):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt, match="the run was interrupted after t = ") as caught, reported(stop):
        cc.simulate(four_bar, until=1e5, t_eval=[0.0, 1e-3, 1e5])

    run = caught.value.run
    assert "samples are in the exception's .run" in caught.value.__notes__[0]
    assert not run.complete and run.dataset.attrs["status"] == "interrupted" and len(run.t) >= 1


# ---- parameters ------------------------------------------------------------------------------------------------------


def test_parameters_of_one_run_do_not_compile_again(four_bar):
    plain = cc.simulate(four_bar, until=0.5)
    heavy = cc.simulate(four_bar, until=0.5, parameters={"coupler.mass": 3.0})

    assert heavy.program is plain.program
    assert heavy.parameters["coupler.mass"] == 3.0 and four_bar.parameters["coupler.mass"] == 1.0
    assert abs(float(heavy["O"][-1] - plain["O"][-1])) > 1e-3


def test_a_changed_value_does_not_compile_again_and_counts():
    m = cc.library.four_bar()
    plain = cc.simulate(m, until=0.5)
    m.parameters["coupler.mass"] = 3.0
    heavy = cc.simulate(m, until=0.5)

    assert heavy.program is plain.program
    assert float(heavy["O"][-1]) == float(
        cc.simulate(cc.library.four_bar(), until=0.5, parameters={"coupler.mass": 3.0})["O"][-1]
    )
    assert plain.parameters["coupler.mass"] == 1.0  # what a run was made with does not change any more


def test_parameters_that_move_the_start_are_assembled_anew(four_bar):
    run = cc.simulate(four_bar, until=0.1, parameters={"rocker.length": 2.6})

    assert float(run.closure_error.max()) < 1e-10


def test_parameters_of_the_start_are_kept(four_bar):
    start = four_bar.assemble(parameters={"rocker.length": 2.6})
    run = cc.simulate(four_bar, start, until=0.1, parameters={"O.motor": 3.0})

    assert run.parameters["rocker.length"] == 2.6 and run.parameters["O.motor"] == 3.0


def test_parameters_that_open_the_start_are_refused(four_bar):
    with pytest.raises(
        cc.AssemblyError, match=r"start is not consistent in position: joint 'B' is off by .*same parameters"
    ):
        cc.simulate(four_bar, four_bar.assemble(), until=0.1, parameters={"rocker.length": 2.6})


def test_a_parameter_that_opens_a_loop_out_of_its_plane_is_refused():
    """The rows out of the plane never change during a motion, but with a parameter they do."""
    m = cc.Mechanism("step", gravity=(0, -9.81, 0))
    z = m.parameter("step", 0.0)
    a, b, c = (m.body(n, cc.rod(L, 1.0)) for n, L in (("a", 1.0), ("b", 4.0), ("c", 2.5)))
    m.revolute("O", m.ground, a)
    m.revolute("A", a.tip, b, guess=-1.2)
    m.revolute("C", m.ground.at(3, 0, z), c, guess=1.3)
    m.revolute("B", b.tip, c.tip)
    start = m.assemble(O=1.5)

    with pytest.raises(cc.AssemblyError, match="'B'"):
        cc.simulate(m, start, until=0.1, parameters={"step": 0.1})


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"crank.mas": 1.0}, r"no parameter 'crank\.mas'; did you mean 'crank\.mass'"),
        ({"crank.mass": np.nan}, r"parameter 'crank\.mass' is nan"),
        ({"crank.mass": -1.0}, "body 'crank' has a negative mass of -1 kg"),
        ({"crank.mass": cc.t}, "crank|t has no fixed value"),
    ],
    ids=["unknown", "nan", "negative mass", "expression"],
)
def test_refused_parameters(four_bar, parameters, message):
    with pytest.raises(cc.ModelError, match=message):
        cc.simulate(four_bar, until=0.1, parameters=parameters)


# ---- the start -------------------------------------------------------------------------------------------------------


def test_a_start_of_another_mechanism_is_refused(four_bar):
    with pytest.raises(cc.ModelError, match="the start belongs to mechanism 'pendulum', not to 'four-bar'"):
        cc.simulate(four_bar, cc.library.pendulum().assemble(), until=0.1)


def test_a_start_of_a_twin_is_one(four_bar):
    """Of a copy, or of the same drawing made again: the numbers mean the same, and the run is the same."""
    mine = cc.simulate(four_bar, four_bar.assemble(O=1.0), until=0.1)
    for start in (copy.deepcopy(four_bar.assemble(O=1.0)), cc.library.four_bar().assemble(O=1.0)):
        run = cc.simulate(four_bar, start, until=0.1)
        assert run.mechanism is four_bar and run.start.mechanism is four_bar
        np.testing.assert_array_equal(run["C"].values, mine["C"].values)


def test_a_start_of_another_drawing_of_the_same_name_is_refused(four_bar):
    other = cc.library.four_bar()
    other.parameters["coupler.length"] = 4.1
    with pytest.raises(
        cc.ModelError,
        match=r"the start belongs to mechanism 'four-bar', not to 'four-bar', another drawing of that name: joint 'B' "
        r"is at \(4\.1, 0, 0\) on 'coupler' there, at \(4, 0, 0\) here",
    ):
        cc.simulate(four_bar, other.assemble(O=1.0), until=0.1)


def test_a_start_with_an_open_loop_is_refused(four_bar):
    good = four_bar.assemble()

    with pytest.raises(
        cc.AssemblyError, match=r"start is not consistent in position: joint 'B' is off by 0\.0\d+ m or rad"
    ):
        cc.simulate(four_bar, State(four_bar, good.q + with_counters(good.topology, [0.01, 0, 0]), good.v), until=0.1)


def test_a_start_with_a_velocity_that_opens_a_loop_is_refused(four_bar):
    good = four_bar.assemble()

    with pytest.raises(cc.AssemblyError, match="start is not consistent in velocity: joint 'B' is off by 1 m/s"):
        cc.simulate(four_bar, State(four_bar, good.q, np.array([1.0, -1.0, 0.0])), until=0.1)


@pytest.mark.parametrize("numbers", [([np.nan, 0, 0], [0, 0, 0]), ([0, 0, 0], [0, np.inf, 0])], ids=["nan q", "inf v"])
def test_a_start_that_is_not_finite_is_refused(four_bar, numbers):
    q, v = with_counters(cut(four_bar), numbers[0]), np.array(numbers[1], float)

    with pytest.raises((cc.ClosedChainError, ValueError), match=r"finite|consistent|nan|inf"):
        cc.simulate(four_bar, State(four_bar, q, v), until=0.1)


def test_a_counter_that_is_not_finite_is_refused(four_bar):
    good = four_bar.assemble()

    with pytest.raises((cc.ClosedChainError, ValueError), match=r"finite|nan"):
        cc.simulate(four_bar, State(four_bar, with_counters(good.topology, good.q[:3], B=np.nan), good.v), until=0.1)


@pytest.mark.parametrize("build", [cc.library.double_pendulum, cc.library.pendulum], ids=["two bodies", "one body"])
def test_a_start_of_an_older_drawing_is_refused(build, monkeypatch):
    """Its numbers are too few for the drawing of now: native code would read beyond their end."""

    def reached(*args, **kwargs):
        raise AssertionError("the integrator was started with a state of the wrong size")

    monkeypatch.setattr(segments, "integrate", reached)
    m = build()
    start = m.assemble()
    last = list(m.bodies.values())[-1]
    m.revolute("more", last.tip, m.body("hand", cc.rod(1.0, 1.0)))

    with pytest.raises(cc.ModelError, match="start"):
        cc.simulate(m, start, until=0.1)


def test_a_start_whose_numbers_have_changed_places_is_refused():
    """A motor on the cut joint moves the cut; three numbers are still three numbers, but of other joints."""
    m = cc.Mechanism("three arms", gravity=(0, -9.81, 0))
    a, b = m.body("a", cc.rod(1.0, 1.0)), m.body("b", cc.rod(1.0, 1.0))
    m.revolute("A", m.ground, a)
    m.revolute("B", a.tip, b)
    m.revolute("C", m.ground.at(1.5, 0, 0), b.tip)
    start = m.assemble(guess={"A": 1.0, "B": -1.5})
    labels = start.topology.q_labels
    cut_now = start.topology.cuts[0].name
    m.motor(cut_now, torque=1.0)
    assert start.topology.q_labels != labels

    with pytest.raises((cc.ModelError, cc.AssemblyError), match="start"):
        cc.simulate(m, start, until=0.1)


def flat():
    """A parallelogram folded flat: it may go on as a parallelogram or as an antiparallelogram."""
    m = cc.Mechanism("flat", gravity=(0, -9.81, 0))
    a, b, c = (m.body(name, cc.rod(length=L, mass=1.0)) for name, L in (("a", 1.0), ("b", 2.0), ("c", 1.0)))
    m.revolute("O", m.ground, a)
    m.revolute("A", a.tip, b)
    m.revolute("C", m.ground.at(2, 0, 0), c)
    m.revolute("B", b.tip, c.tip)
    return m


def test_a_singular_start_stops_a_run_that_shall_stop_at_singular_poses():
    m = flat()

    with pytest.raises(cc.RunError, match="singular pose"):
        cc.simulate(m, m.assemble(O=0.0), until=0.1, events=[cc.SingularPoses("stop")])


def test_a_singular_start_warns_if_it_shall():
    m = flat()

    with pytest.warns(cc.RunWarning, match="singular pose"):
        cc.simulate(m, m.assemble(O=0.0), until=0.1, events=[cc.SingularPoses("warn")])


def test_a_singular_start_is_on_record():
    m = flat()
    run = cc.simulate(m, m.assemble(O=0.0), until=0.1)

    assert run.good and any(h.what == "singular pose" for h in run.record)


# ---- options ---------------------------------------------------------------------------------------------------------


class Weird(cc.Multipliers):
    """Equations of a kind that nothing marches."""

    kind = "weird"


def test_a_kind_that_nothing_marches(four_bar):
    with pytest.raises(cc.ModelError, match="Weird: kind is 'weird', which nothing marches; there are 'ode'"):
        cc.simulate(four_bar, method=Weird())


def test_advice_about_steps_of_one_length(four_bar):
    with pytest.raises(cc.RunError, match=r"the limit of steps was reached: .* or take longer ones") as no:
        cc.simulate(four_bar, method=cc.Index3(), solver=cc.solvers.GeneralisedAlpha(step=1e-3, max_steps=5))
    assert "radau5" not in str(no.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"solver": "euler"}, "there is no solver 'euler'; there are dop853, dopri5, auto, radau5"),
        ({"until": np.inf}, "has no end: give finite times"),
        ({"until": np.nan}, "until=nan: such a run has no end: give finite times"),
        ({"until": 10**400}, r"until=10{59}\.\.\.: such a run has no end"),
        ({"rtol": 10**400}, r"rtol must be a positive number, not 10{59}\.\.\."),
        ({"atol": 10**400}, "atol must be a positive number"),
        ({"t_eval": cc.Every(1e-300)}, r"cc\.Every\(1e-300\): 1e-300 s is too short for times near 1 s"),
        ({"t_eval": cc.Every(1e-10)}, r"cc\.Every\(1e-10\) makes 1e\+10 samples: take longer ones"),
        ({"t_eval": [0, 10**400]}, "t_eval must be a vector of finite times"),
        ({"save": 5}, "save takes the name of a folder, not 5"),
        ({"save": ""}, "save takes the name of a folder, not ''"),
        ({"until": 5e-324}, "until=5e-324: a run of 4.94e-324 s from t = 0 s is too short for 201 samples"),
        ({"rtol": 0.0}, r"rtol must be a positive number, not 0\.0"),
        ({"rtol": -1e-6}, "rtol must be a positive number"),
        ({"rtol": np.nan}, "rtol must be a positive number, not nan"),
        ({"atol": -1.0}, r"atol must be a positive number, not -1\.0"),
        ({"solver": "rk4"}, r"'rk4' has a fixed step: say its length, solver=cc\.solvers\.RK4\(step=1e-3\)"),
        (
            {"method": cc.Index3()},
            r"'generalised-alpha' has a fixed step: .*cc\.solvers\.GeneralisedAlpha\(step=1e-3\)",
        ),
        ({"solver": "dop583"}, "there is no solver 'dop583'; did you mean 'dop853'"),
        ({"events": 3}, r"events takes a list of cc.Event\(...\), not 3"),
        ({"events": ["stop"]}, r"an entry of events must be cc.Event\(...\), .* not 'stop'"),
        ({"events": [cc.SingularPoses(), cc.SingularPoses("warn")]}, "events has several cc.SingularPoses"),
    ],
    ids=str,
)
def test_refused_options(four_bar, options, message):
    with pytest.raises(cc.ModelError, match=message):
        cc.simulate(four_bar, **options)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: cc.Every(10**400), "must be a positive number of seconds"),
        (lambda: cc.SaveTo("folder", every=1j), "SaveTo: every must be zero or a positive number of seconds"),
        (lambda: cc.SingularPoses("jump"), "SingularPoses: then must be 'stop', 'warn' or 'pass', not 'jump'"),
        (lambda: cc.Divergence("jump"), "Divergence: then must be 'stop', 'warn' or 'pass', not 'jump'"),
        (lambda: cc.solvers.DOP853(first_step=1j), "DOP853: first_step must be a positive number of seconds"),
        (lambda: cc.solvers.RK4(step=0.0), r"RK4: step must be a positive number of seconds, not 0\.0"),
        (lambda: cc.solvers.RK4(step=-1.0), "RK4: step must be a positive number of seconds"),
        (lambda: cc.solvers.RK4(step=10**400), "RK4: step must be a positive number of seconds"),
        (lambda: cc.library.pendulum().assemble().at(np.inf), "time must be a finite number, not inf"),
        (lambda: cc.library.pendulum().assemble().at(-(10**400)), r"time must be a finite number, not -10{58}\.\.\."),
    ],
)
def test_refused_objects(make, message):
    with pytest.raises(cc.ModelError, match=message):
        make()


def test_a_run_that_begins_late_may_be_too_short(four_bar):
    start = four_bar.assemble(time=1.0)
    with pytest.raises(cc.ModelError, match=r"until=1.0.*: a run of 1.11e-15 s from t = 1 s is too short"):
        cc.simulate(four_bar, start, until=1.0 + 1e-15)


def test_a_run_begins_at_the_time_of_its_start(four_bar):
    first = cc.simulate(four_bar, until=0.5)
    for start in (four_bar.assemble(time=1.5), four_bar.assemble().at(1.5)):
        late = cc.simulate(four_bar, start, until=2.0)
        assert (late.t[0], late.t[-1]) == (1.5, 2.0)
        np.testing.assert_allclose(late["O"], first["O"], atol=1e-8)  # nothing depends on time but for rounding


@pytest.mark.parametrize(
    ("t_eval", "message"),
    [
        ([0.0, 2.0], "outside of the run"),
        ([-1.0, 0.5], "outside of the run"),
        ([0.2, 0.1], "strictly"),
        ([0.0, np.nan], "finite"),
        ([[0.0]], "vector"),
        (["0", "1"], "vector of finite times, or cc.Every"),
    ],
    ids=["after the end", "before the start", "falling", "nan", "matrix", "texts"],
)
def test_refused_times(four_bar, t_eval, message):
    with pytest.raises(ValueError, match=message):
        cc.simulate(four_bar, until=1.0, t_eval=t_eval)


def test_a_run_of_no_length():
    """The state at the start, once; a loop over end times may well begin there."""
    run = cc.simulate(cc.library.pendulum(), until=0.0)

    assert run.complete and set(run.t) == {0.0}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: cc.Multipliers("often"), "stabilise must be 'projection', 'none' or .*not 'often'"),
        (lambda: cc.Baumgarte(-1.0), r"Baumgarte: alpha must be zero or a positive number, not -1\.0"),
        (lambda: cc.Baumgarte(1.0, -2.0), r"Baumgarte: beta must be zero or a positive number, not -2\.0"),
    ],
    ids=["stabilise", "alpha", "beta"],
)
def test_refused_methods(make, message):
    with pytest.raises(cc.ModelError, match=message):
        make()


def test_an_incomplete_drawing_is_refused():
    m = cc.library.pendulum()
    m.body("lonely", cc.ball(1.0, 1.0))

    with pytest.raises(cc.ModelError, match="'lonely'"):
        cc.simulate(m)


# ---- a changed drawing -----------------------------------------------------------------------------------------------


def test_a_changed_drawing_is_simulated_as_it_is_now():
    m = cc.library.pendulum()
    free = cc.simulate(m, until=1.0)
    m.joint_damper("hinge", 1.0)
    damped = cc.simulate(m, until=1.0)

    assert damped.program is not free.program
    assert float(damped["kinetic_energy"].max()) < 0.9 * float(free["kinetic_energy"].max())
    assert float(damped["work"][-1]) < 0  # a damper takes


def test_a_weld_adds_nothing_but_mass():
    """One hinge, and a body that is welded on: the smallest mechanism with a joint without freedom."""
    m = cc.library.pendulum()
    m.weld("glue", m.bodies["arm"].tip, m.body("bob", cc.ball(0.1, 2.0)))
    run = cc.simulate(m, until=0.5, rtol=1e-10)
    # about the hinge: rod m L^2 / 3, ball 2 (2 / 5 r^2 + L^2)
    inertia = 1 / 3 + 2 * (0.4 * 0.01 + 1)
    alpha = -9.81 * (0.5 + 2.0) / inertia

    assert float(run["hinge''"][0]) == pytest.approx(alpha, rel=1e-12)


def test_no_warning_for_a_good_run(four_bar):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cc.simulate(four_bar, until=0.5).good
