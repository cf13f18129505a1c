"""What is held during a run: conditions on the state, and what becomes of them where they cannot be held."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import closedchain as cc
from closedchain.integrate.hooks import InputsError
from closedchain.march.controllers.held_inputs import HeldInputs, asked
from closedchain.march.marks import ConditionChange
from closedchain.march.program.compiled import compiled
from closedchain.model.forces.sampled import LIVE, Controller
from closedchain.pose.state import parameter_vector

INERTIA = 0.5 * 2.0 * 0.2**2  # of the rotor
G = 9.81


def rotor(torque):
    m = cc.Mechanism("rotor")
    m.revolute("O", m.ground, m.body("disc", cc.disc(radius=0.2, mass=2.0)))
    m.motor("O", torque=torque(m.joints["O"]))
    return m


def pendulum(torque):
    m = cc.library.pendulum()
    m.motor("hinge", torque=torque(m.joints["hinge"]))
    return m


def at(m, watched=True, begin=0.0, until=1.0, saves=False, **start):
    """A mechanism's equations, state, and what is held in it."""
    state = m.assemble(**start)
    program = compiled(state, cc.Multipliers())
    held_inputs = HeldInputs(m, parameter_vector(m), begin, until, watched, saves=saves)
    return SimpleNamespace(program=program, x=program.pack(state.q, state.v, 0.0), h=held_inputs)


def values(h):
    return h.p[h.first_jump :].tolist()


# ---- conditions on the state, as they are just after a state ---------------------------------------------------------


@pytest.mark.parametrize(
    ("torque", "start", "expected"),
    [
        (lambda j: cc.math.where(j.q > 0.5, 1.0, 0.0), {"hinge": 0.6}, 1.0),
        (lambda j: cc.math.where(j.q > 0.5, 1.0, 0.0), {"hinge": 0.4}, 0.0),
        # on the surface: where the motion leads
        (lambda j: cc.math.where(j.q > 0.5, 1.0, 0.0), {"hinge": 0.5, "velocity": {"hinge": 1.0}}, 1.0),
        (lambda j: cc.math.where(j.q > 0.5, 1.0, 0.0), {"hinge": 0.5, "velocity": {"hinge": -1.0}}, 0.0),
        # on the surface and at rest: where the acceleration leads, which is down
        (lambda j: cc.math.where(j.q > 0.5, 1.0, 0.0), {"hinge": 0.5}, 0.0),
        (lambda j: cc.math.where(j.q < 0.1 + 0.2, 1.0, 0.0), {"hinge": 0.3}, 1.0),
        (lambda j: cc.math.where(j.q < 0.3, 1.0, 0.0), {"hinge": 0.1 + 0.2}, 1.0),
        (lambda j: cc.math.sign(j.v), {"hinge": 0.5}, -1.0),
        (lambda j: cc.math.floor(5 * j.q), {"hinge": 0.0}, -1.0),
        (lambda j: cc.math.floor(5 * j.q), {"hinge": 0.5}, 2.0),
        (lambda j: cc.math.ceil(5 * j.q), {"hinge": 0.0}, 0.0),
        (lambda j: cc.math.ceil(5 * j.q), {"hinge": 0.2}, 1.0),
        (lambda j: j.q % 0.25, {"hinge": 0.5}, 1.0),
        (lambda j: j.q % 0.25, {"hinge": 0.5, "velocity": {"hinge": 1.0}}, 2.0),
    ],
)
def test_just_after_a_state(torque, start, expected):
    a = at(pendulum(torque), **start)
    assert a.h.settle(a.program, 0.0, a.x) == []
    assert values(a.h) == [expected]


@pytest.mark.parametrize(
    "torque", [lambda j: cc.math.sign(j.v), lambda j: cc.math.floor(j.v), lambda j: cc.math.sign(j.q - 0.3)]
)
def test_a_signal_that_rests_on_its_level_lives(torque):
    a = at(rotor(torque), O=0.3)
    assert a.h.settle(a.program, 0.0, a.x) == []
    assert values(a.h) == [LIVE]


def test_a_condition_is_not_changed_before_its_time():
    """On its way to the surface, a millionth of the run before it."""
    a = at(pendulum(lambda j: cc.math.where(j.q > 0.5, 1.0, 0.0)), hinge=0.5 - 1e-6, velocity={"hinge": 1.0})
    a.h.settle(a.program, 0.0, a.x)
    assert values(a.h) == [0.0]


def test_a_surface_that_is_slid_along_is_told():
    a = at(rotor(lambda j: 0.3 - cc.math.sign(j.v)), O=0.0)
    (sentence,) = a.h.settle(a.program, 0.0, a.x)
    assert sentence == "condition sign(v[O]) is not held after t = 0 s: it slides along the surface where it changes"
    assert a.h.levels() == []
    assert a.h.settle(a.program, 0.0, a.x) == []  # told once


def test_with_a_fixed_step_conditions_on_the_state_live():
    a = at(pendulum(lambda j: cc.math.where(j.q > 0.5, 1.0, 0.0) + cc.math.floor(cc.t / 0.1)), watched=False)
    assert not a.h.idle
    a.h.settle(a.program, 0.0, a.x)
    assert a.h.change(a.program, 0.0, a.x) == (0.1, True)
    assert sorted(values(a.h)) == [0.0, LIVE]


# ---- what is watched, and flips --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("torque", "expected"),
    [
        (lambda j: cc.math.where(j.q > 0.5, 1.0, 0.0), [(0.0, -1, 0.0), (0.0, 1, 1.0)]),
        (lambda j: cc.math.sign(j.q), [(0.0, -1, -1.0), (0.0, 1, 1.0)]),
        (lambda j: cc.math.floor(5 * j.q), [(3.0, -1, 2.0), (4.0, 1, 4.0)]),
        (lambda j: cc.math.ceil(5 * j.q), [(3.0, -1, 3.0), (4.0, 1, 5.0)]),
        (lambda j: j.q % 0.2, [(3.0, -1, 2.0), (4.0, 1, 4.0)]),
    ],
)
def test_levels(torque, expected):
    a = at(pendulum(torque), hinge=0.7)
    a.h.settle(a.program, 0.0, a.x)
    assert a.h.levels() == [ConditionChange(0, *change) for change in expected]


def test_a_condition_that_changes_too_often_is_let_go():
    a = at(pendulum(lambda j: cc.math.where(j.q > 0.5, 1.0, 0.0)), hinge=0.4)
    a.h.settle(a.program, 0.0, a.x)
    said = [a.h.flip(ConditionChange(0, 0.0, 1, float(k % 2)), 0.5 + 1e-7 * k) for k in range(60)]
    assert [k for k, text in enumerate(said) if text] == [50]
    assert said[50].startswith("condition (0.5 < q[hinge]) is not held after t = 0.500005 s: it has changed 50 times")
    assert values(a.h) == [LIVE] and a.h.levels() == []


def test_changes_that_come_slowly_are_no_chatter():
    a = at(pendulum(lambda j: cc.math.where(j.q > 0.5, 1.0, 0.0)), hinge=0.4)
    a.h.settle(a.program, 0.0, a.x)
    assert not any(a.h.flip(ConditionChange(0, 0.0, 1, float(k % 2)), 1e-3 * k) for k in range(500))


# ---- at known instants -----------------------------------------------------------------------------------------------


def test_changes_at_known_instants():
    a = at(rotor(lambda j: cc.Sampled(lambda t, now: 10 * t, 0.25) + cc.math.floor(cc.t / 0.4)))
    told = [a.h.change(a.program, t, a.x) for t in (0.0, 0.25, 0.4, 0.5, 0.75, 0.8)]
    assert [t for t, _ in told] == pytest.approx([0.25, 0.4, 0.5, 0.75, 0.8, 1.0])
    assert [changed for _, changed in told] == [True] * 6
    assert a.h.history_t == [0.0, 0.25, 0.5, 0.75]
    assert a.h.p[a.h.first :].tolist() == [7.5, 2.0]


def test_nothing_changes_where_the_answer_is_the_same():
    a = at(rotor(lambda j: cc.Sampled(lambda t, now: 3.0, 0.25)))
    assert a.h.change(a.program, 0.0, a.x) == (0.25, True)
    assert a.h.change(a.program, 0.25, a.x) == (0.5, False)  # a solver need not begin anew


def test_parameters_at_samples():
    a = at(rotor(lambda j: cc.Sampled(lambda t, now: 10 * t, 0.25, initial=-1.0) + cc.math.sign(j.q)))
    assert a.h.at(np.array([0.0, 0.5]))[a.h.first :].tolist() == [-1.0, LIVE]  # before any call: what is initial
    for t in (0.0, 0.25):
        a.h.change(a.program, t, a.x)
    rows = a.h.at(np.array([0.0, 0.1, 0.25, 0.3, 0.9]))[:, a.h.first :]
    assert rows[:, 0].tolist() == [0.0, 0.0, 2.5, 2.5, 2.5] and (rows[:, 1] == LIVE).all()


def test_to_go_on_another_day():
    class Sum:
        total = 0.0

        def __call__(self, t, now):
            self.total += t
            return self.total

    def draw():
        function = Sum()
        return function, at(
            rotor(lambda j: cc.Sampled(function, 0.25) + cc.math.floor(cc.t / 0.4) + cc.math.sign(j.q)),
            O=1.0,
            saves=True,
        )

    _, a = draw()
    a.h.settle(a.program, 0.0, a.x)
    for t in (0.0, 0.25, 0.4):
        a.h.change(a.program, t, a.x)
    later, b = draw()
    b.h.restore(a.h.saved())
    assert later.total == 0.25
    np.testing.assert_array_equal(a.h.p, b.h.p)
    for t in (0.5, 0.75, 0.8):
        assert a.h.change(a.program, t, a.x) == b.h.change(b.program, t, b.x)
    np.testing.assert_array_equal(a.h.at(np.linspace(0, 1, 11)), b.h.at(np.linspace(0, 1, 11)))


def test_a_call_that_ctrl_c_has_ended_is_not_counted():
    answers = iter([1.0, KeyboardInterrupt(), 2.0])

    def law(t, now):
        answer = next(answers)
        if isinstance(answer, KeyboardInterrupt):
            raise answer
        return answer

    a = at(rotor(lambda j: cc.Sampled(law, 0.25)))
    a.h.change(a.program, 0.0, a.x)
    with pytest.raises(KeyboardInterrupt):
        a.h.change(a.program, 0.25, a.x)
    assert a.h.calls == [1] and a.h.history_t == [0.0]
    assert a.h.change(a.program, 0.25, a.x) == (0.5, True) and a.h.p[a.h.first] == 2.0


def test_conditions_that_mix_the_state_with_what_is_held_change_with_it():
    target = cc.math.where(cc.t < 0.5, -1.0, 100.0)
    a = at(rotor(lambda j: cc.math.where(j.q > target, 1.0, -1.0)), O=0.2)
    a.h.settle(a.program, 0.0, a.x)
    (i,) = a.h.mixed
    a.h.change(a.program, 0.0, a.x)
    assert values(a.h)[i] == 1.0
    a.h.change(a.program, 0.5, a.x)
    assert values(a.h)[i] == 0.0
    # those that count would need other levels to be watched: they live
    b = at(rotor(lambda j: cc.math.floor(j.q + target)), O=0.2)
    assert b.h.by_state == []


# ---- what a controller answers ---------------------------------------------------------------------------------------


def controller(answer, outputs=1):
    return Controller(lambda t, now: answer, 0.1, outputs, (0.0,) * outputs)


@pytest.mark.parametrize(
    "answer", [2.0, 2, np.float64(2.0), np.array(2.0), np.array([2.0]), [2.0], (2,), np.array([[2.0]])]
)
def test_answers_that_are_one_number(answer):
    assert asked(controller(answer), 0.0, None) == [2.0]


def test_answers_that_are_several():
    assert asked(controller((1, 2.5), 2), 0.0, None) == [1.0, 2.5]
    with pytest.raises(InputsError, match="returned 3 numbers instead of 2"):
        asked(controller([1, 2, 3], 2), 0.0, None)
    with pytest.raises(InputsError, match="which is not finite"):
        asked(controller([1, np.inf], 2), 0.0, None)
    with pytest.raises(InputsError, match="which is no number"):
        asked(controller([1, "x"], 2), 0.0, None)


# ---- runs: convergence -----------------------------------------------------------------------------------------------

CONTROLLED = {
    "bang-bang": lambda j: cc.math.where(j.q > 0.5, -3.0, 2.0),
    "switching line": lambda j: -2.0 * cc.math.sign(j.q - 0.4 + 0.2 * j.v),
    "steps": lambda j: -cc.math.ceil(5 * j.q) - 0.5 * j.v,
    "sawtooth": lambda j: (5 * j.q) % 0.7,
    "two at once": lambda j: cc.math.where(j.q > 0.3, 1.0, -1.0) + cc.math.where(2 * j.q > 0.6, 1.0, 0.0),
    "nested": lambda j: cc.math.where(j.q > 0.3 + 0.1 * cc.math.where(j.v > 0, 1.0, -1.0), -2.0, 2.0),
    "pulses whose width depends on the state": lambda j: cc.math.where(
        cc.t % 0.1 < 0.05 + 0.03 * cc.math.sin(j.q), 3.0, -3.0
    ),
    "no number on the other side": lambda j: cc.math.where(j.q > -0.3, cc.math.sqrt(j.q + 0.3), 0.0),
}


@pytest.mark.parametrize("which", CONTROLLED)
def test_errors_fall_with_the_tolerance(which):
    m = pendulum(CONTROLLED[which])
    start = m.assemble(hinge=0.1, velocity={"hinge": 2.0})
    reference = cc.simulate(m, start, until=1.5, rtol=1e-13)
    for rtol in (1e-6, 1e-8, 1e-10):
        run = cc.simulate(m, start, until=1.5, rtol=rtol)
        # a smooth pendulum's error is some hundreds of rtol here
        assert np.abs(run.x[-1] - reference.x[-1]).max() < 3e3 * rtol
        assert abs(run.energy_error).max() < 1e3 * rtol
        # a branch that has no value on the other side cannot be held up to its end
        told = [h.text for h in run.record]
        assert all("its branch has no finite value" in text for text in told) if "no number" in which else not told


@pytest.mark.parametrize("solver", ["dopri5", "radau5", "rodas5p"])
def test_other_solvers_agree(solver):
    m = pendulum(CONTROLLED["bang-bang"])
    ends = [cc.simulate(m, until=1.5, rtol=1e-10, solver=s).x[-1] for s in (solver, "dop853")]
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-7)


def test_a_bang_bang_controller_against_another_solver():
    """SciPy, with its own events, piece by piece."""
    t, y, u = 0.0, [0.0, 0.0], 2.0
    while t < 1.5:

        def surface(t, y):
            return y[0] - 0.5

        surface.terminal, surface.direction = True, -1 if u < 0 else 1

        def rate(t, y, u=u):
            return [y[1], 3.0 * (u - 0.5 * G * np.cos(y[0]))]

        sol = solve_ivp(rate, (t, 1.5), y, events=surface, rtol=1e-12, atol=1e-13, method="DOP853")
        t, y, u = sol.t[-1], sol.y[:, -1], -3.0 if u > 0 else 2.0
    m = pendulum(lambda j: cc.math.where(j.q > 0.5, -3.0, 2.0))
    np.testing.assert_allclose(cc.simulate(m, until=1.5, rtol=1e-12).x[-1][:2], y, atol=1e-9)


def test_a_rotor_between_two_bounds():
    """By hand: constant accelerations, and a surface that is passed at a known time."""
    run = cc.simulate(rotor(lambda j: cc.math.where(j.q > 1.0, -1.0, 1.0)), until=1.0, rtol=1e-6)
    up = np.sqrt(2 * INERTIA)  # until 1 rad, with the velocity up / inertia; then down again, and so on
    steps = np.concatenate([s.trajectory.steps_t for s in run.segments])
    for k in (1, 3):
        assert np.abs(steps - k * up).min() < 1e-9
    at_end = (1.0 - 3 * up) if 3 * up < 1.0 else None
    v = up / INERTIA - (1.0 - up) / INERTIA if at_end is None else -up / INERTIA + at_end / INERTIA
    assert abs(run["O'"][-1] - v) < 1e-8


def test_loops_too():
    m = cc.library.four_bar()
    m.motor("O", torque=cc.math.where(m.joints["B"].q > 1.0, -20.0, 20.0) * cc.math.where(cc.t < 0.7, 1.0, 0.5))
    ends = [
        cc.simulate(m, until=1.2, rtol=1e-11, method=method).state(-1).q
        for method in (cc.Multipliers(), cc.Projection(), cc.IndependentCoordinates())
    ]
    for end in ends[1:]:
        np.testing.assert_allclose(end, ends[0], atol=1e-8)


# ---- runs: surfaces that are slid along ------------------------------------------------------------------------------


def test_dry_friction_that_stops():
    """A wheel that dry friction stops: the run goes on at rest, and says what it does."""
    m = rotor(lambda j: -0.5 * cc.math.sign(j.v))
    run = cc.simulate(m, m.assemble(O=0.0, velocity={"O": 5.0}), until=0.5, rtol=1e-4)
    stop = 5.0 * INERTIA / 0.5
    assert stop < 0.5
    assert [h.what for h in run.record] == ["condition"]
    assert "sign(v[O]) is not held after t = 0.4 s" in run.record[0].text
    assert abs(run["O"][-1] - 0.5 * 5.0 * stop) < 1e-4
    assert abs(run["O'"][-1]) < 1e-3


# ---- runs: together with other things that happen --------------------------------------------------------------------


def test_together_with_events_and_a_joint_that_opens():
    m = cc.library.four_bar()
    j = m.joints["O"]
    m.motor("O", torque=cc.math.where(j.q > 2.0, -5.0, 5.0))
    half = cc.Event("half", j.q - 2.0)
    loose = cc.Event("loose", cc.t - 0.6, then=cc.Switch(open="B"))
    run = cc.simulate(m, until=1.0, rtol=1e-10, events=[half, loose])
    steps = np.concatenate([s.trajectory.steps_t for s in run.segments])
    passed = [h.t for h in run.record if h.what == "half"]
    assert passed and np.diff(passed).min(initial=1.0) > 1e-3  # on the same surface: each is told, and told once
    assert np.abs(steps[:, None] - np.array(passed)).min(axis=0).max() < 1e-9
    assert abs(run.energy_error).max() < 1e-7
    assert run.complete


def test_stop_on_the_surface():
    m = pendulum(lambda j: cc.math.where(j.q < -0.5, 5.0, 0.0))
    run = cc.simulate(m, until=3.0, events=[cc.Event("there", m.joints["hinge"].q + 0.5, then="stop")])
    assert run.status.name == "event" and abs(run["hinge"][-1] + 0.5) < 1e-9


def test_through_a_singular_pose():
    """A parallelogram that swings through its flat pose while a relay acts on its crank: closures are watched there."""
    m = cc.Mechanism("swing", gravity=(0, -9.81, 0))
    a, b, c = (m.body(name, cc.rod(length=L, mass=1.0)) for name, L in (("a", 1.0), ("b", 2.0), ("c", 1.0)))
    crank = m.revolute("O", m.ground, a, guess=1.0)
    m.revolute("A", a.tip, b, guess=-1.0)
    m.revolute("C", m.ground.at(2, 0, 0), c, guess=1.0)
    m.revolute("B", b.tip, c.tip)
    m.start = {"O": 1.0}
    m.motor("O", torque=cc.math.where(crank.q > -0.5, -1.0, 1.0))
    ends = []
    for rtol in (1e-9, 1e-11):
        with pytest.warns(cc.RunWarning, match="singular pose"):
            run = cc.simulate(m, until=1.0, rtol=rtol, events=[cc.SingularPoses("warn")])
        assert "singular pose" in [h.what for h in run.record]
        assert {-1.0, 1.0} == set(run["O.motor"].values.tolist())  # it was passed, and the relay has changed
        assert abs(run.energy_error).max() < 1e3 * rtol
        ends.append(run.x[-1])
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-6)


def test_calls_are_on_time_whatever_else_happens():
    calls = []

    def law(t, now):
        calls.append(t)
        return 3.0 * (3.0 - now["O'"])

    m = cc.library.four_bar()
    wave = cc.math.where(cc.t % 0.07 < 0.03, 1.0, 0.5)
    m.motor("O", torque=cc.Sampled(law, 0.01) + wave * cc.math.where(m.joints["O"].q > 1.8, -5.0, 5.0))
    times = np.linspace(0, 0.5, 101)
    run = cc.simulate(m, until=0.5, rtol=1e-9, t_eval=times, solver=cc.solvers.DOP853(dense_output=True))
    assert calls == [0.01 * k for k in range(50)]
    np.testing.assert_allclose(run.sol(times), run.x, atol=1e-8)  # also between steps that were cut short
