"""Sampled controllers: held outputs give the motion of the discrete-time system, with every solver and method."""

import os
from itertools import pairwise

import numpy as np
import pytest

import closedchain as cc
from closedchain.integrate.solvers import SOLVERS
from tests.solvers import stepping

INERTIA = 0.5 * 2.0 * 0.2**2  # of the rotor
EULER = next(name for name in SOLVERS if "euler" in name)
TIGHT = 1e-10  # runs of one motion at rtol 1e-12


def rotor(torque=None):
    m = cc.Mechanism("rotor")
    m.revolute("O", m.ground, m.body("disc", cc.disc(radius=0.2, mass=2.0)))
    if torque is not None:
        m.motor("O", torque=torque)
    return m


class Recorded:
    """A controller that remembers when it was called and what it saw."""

    def __init__(self, law):
        self.law, self.t, self.seen, self.resets = law, [], [], 0

    def reset(self):
        self.t, self.seen, self.resets = [], [], self.resets + 1

    def __call__(self, t, now):
        self.t.append(t)
        self.seen.append((now["O"], now["O'"]))
        return self.law(t, now)


def towards_one(t, now):
    return -3.0 * (now["O"] - 1.0) - 0.4 * now["O'"]


def held_exactly(law, period, n, step=None):
    """Angle, velocity and torque of the rotor at each call: exact for a held torque, or by semi-implicit Euler."""
    q = v = 0.0
    rows = []
    for k in range(n + 1):
        u = law(k * period, {"O": q, "O'": v})
        rows.append((q, v, u))
        for _ in range(1 if step is None else round(period / step)):
            h = period if step is None else step
            if step is None:
                q += h * v + 0.5 * h**2 * u / INERTIA
            v += h * u / INERTIA
            if step is not None:
                q += h * v
    return np.array(rows)


# ---- a rotor, whose motion under a held torque is known --------------------------------------------------------------


@pytest.mark.parametrize(
    ("solver", "step"),
    [
        ("dop853", None),
        ("dopri5", None),
        ("radau5", None),
        ("rodas5p", None),
        ("auto", None),
        ("rk4", 1e-3),
        ("rk4", 1e-2),
        ("rosenbrock2", 1e-3),
        (EULER, 1e-3),
    ],
)
def test_a_rotor_under_a_sampled_controller(solver, step):
    period, n = 0.01, 200
    controller = Recorded(towards_one)
    m = rotor(cc.Sampled(controller, period))
    times = [k * period for k in range(n + 1)]
    run = cc.simulate(m, until=times[-1], solver=stepping(solver, step), t_eval=times)
    expected = held_exactly(towards_one, period, n, step if solver == EULER else None)
    # a parabola between calls is exact for all of them; rounding grows little in 200 periods of a damped motion
    np.testing.assert_allclose(run["O"], expected[:, 0], atol=1e-12)
    np.testing.assert_allclose(run["O'"], expected[:, 1], atol=1e-11)
    np.testing.assert_allclose(run["O.motor"][:-1], expected[:-1, 2], atol=1e-11)
    assert controller.t == times[:-1]  # none at the end: nothing would come of it
    assert run["O.motor"][-1] == run["O.motor"][-2]
    np.testing.assert_allclose(np.array(controller.seen), expected[:-1, :2], atol=1e-11)


def test_calls_do_not_drift():
    controller = Recorded(lambda t, now: 0.0)
    cc.simulate(rotor(cc.Sampled(controller, 1e-3)), until=10.0, t_eval=[0.0, 10.0])
    assert controller.t == [k * 1e-3 for k in range(10_000)]


@pytest.mark.parametrize("until", [0.3, 0.7, 1.0, 0.35, 0.05])
@pytest.mark.parametrize("period", [0.1, 1 / 49, 1 / 3])
def test_the_number_of_calls(until, period):
    """Also where the last instant but for rounding is the end of the run."""
    controller = Recorded(lambda t, now: 1.0)
    run = cc.simulate(rotor(cc.Sampled(controller, period)), until=until)
    assert run.complete
    assert controller.t[: int(until / period)] == [k * period for k in range(int(until / period))]
    assert len(controller.t) - until / period < 1 + 1e-9
    assert abs(run["O'"][-1] * INERTIA - until) < 1e-12


def test_calls_are_counted_from_the_beginning_of_the_run():
    controller = Recorded(lambda t, now: 1.0)
    m = rotor(cc.Sampled(controller, 0.1))
    cc.simulate(m, m.assemble(time=0.25), until=0.6)
    assert controller.t == [0.25 + k * 0.1 for k in range(4)]


@pytest.mark.parametrize("solver", ["rk4", "rosenbrock2", EULER])
def test_a_period_that_no_number_of_steps_fits(solver):
    """The last step before each call is shorter: calls are on time, and a held torque is exact."""
    period, step, n = 0.01, 3e-3, 20
    controller = Recorded(towards_one)
    times = [k * period for k in range(n + 1)]
    run = cc.simulate(
        rotor(cc.Sampled(controller, period)),
        until=times[-1],
        solver=stepping(solver, step),
        t_eval=times,
    )
    assert controller.t == times[:-1]
    assert run.counts.steps == 4 * n
    if solver != EULER:
        np.testing.assert_allclose(run["O"], held_exactly(towards_one, period, n)[:, 0], atol=1e-12)


def test_a_step_longer_than_the_period_is_cut():
    controller = Recorded(towards_one)
    run = cc.simulate(rotor(cc.Sampled(controller, 0.01)), until=0.1, solver=cc.solvers.RK4(step=0.03))
    assert len(controller.t) == 10 and run.counts.steps == 10


def test_samples_between_calls_carry_the_torque_that_holds():
    run = cc.simulate(rotor(cc.Sampled(lambda t, now: 10 * t, 0.1)), until=0.4, t_eval=np.linspace(0, 0.4, 9))
    np.testing.assert_allclose(run["O.motor"], [0, 0, 1, 1, 2, 2, 3, 3, 3], atol=1e-12)
    np.testing.assert_allclose(run["O''"] * INERTIA, run["O.motor"], atol=1e-12)
    np.testing.assert_allclose(run["power"], run["O.motor"] * run["O'"], atol=1e-12)


# ---- mechanisms: the same as pieces with a constant torque -----------------------------------------------------------


def balance(t, now):
    """Proportional and derivative control of a pendulum towards an angle."""
    return -20.0 * (now["hinge"] - 1.0) - 4.0 * now["hinge'"]


def steady(t, now):
    """The crank of a four-bar at a given speed."""
    return 6.0 * (3.0 - now["O'"])


DRIVEN = {"pendulum": (cc.library.pendulum, "hinge", balance), "four-bar": (cc.library.four_bar, "O", steady)}


def put_together(name, period, n, **how):
    """The state after n periods of a motion put together by hand: between two calls the torque is a parameter."""
    build, joint, law = DRIVEN[name]
    m = build()
    m.motor(joint, torque=m.parameter("u", 0.0))
    state = m.assemble()
    for k in range(n):
        u = law(k * period, {joint: state.coordinates[joint], f"{joint}'": state.velocities[joint]})
        times = [k * period, (k + 1) * period]
        state = cc.simulate(m, state, until=times[1], parameters={"u": u}, t_eval=times, **how).state(-1)
    return state


@pytest.mark.parametrize(
    ("name", "method", "solver"),
    [
        ("pendulum", cc.Multipliers(), "dop853"),
        ("pendulum", cc.Multipliers(), "radau5"),
        ("four-bar", cc.Multipliers(), "dop853"),
        ("four-bar", cc.Multipliers(), "rodas5p"),
        ("four-bar", cc.Projection(), "dopri5"),
        ("four-bar", cc.IndependentCoordinates(), "dop853"),
        ("four-bar", cc.VirtualSpring(1e4), "dop853"),
    ],
    ids=str,
)
def test_control_at_one_kilohertz(name, method, solver):
    build, joint, law = DRIVEN[name]
    m = build()
    m.motor(joint, torque=cc.Sampled(law, 1e-3))
    n = 100
    how = {"method": method, "solver": solver, "rtol": 1e-12}
    run = cc.simulate(m, until=n * 1e-3, **how)
    end, expected = run.state(-1), put_together(name, 1e-3, n, **how)
    np.testing.assert_allclose(end.q, expected.q, atol=TIGHT)
    np.testing.assert_allclose(end.v, expected.v, atol=TIGHT)
    assert abs(run.energy_error).max() < TIGHT


def test_control_comes_to_its_end():
    m = cc.library.pendulum()
    m.motor("hinge", torque=cc.Sampled(balance, 1e-2))
    run = cc.simulate(m, until=8.0)
    weight = 9.81 / 2 * np.cos(float(run["hinge"][-1]))
    # at rest the controller carries the weight, with the angle that this takes
    assert abs(run["hinge'"][-1]) < 1e-4
    assert abs(-20.0 * (run["hinge"][-1] - 1.0) - weight) < 1e-3
    assert abs(run["hinge.motor"][-1] - weight) < 1e-3


@pytest.mark.parametrize("solver", ["dop853", "radau5"])
def test_reactions_and_power_under_a_controller(solver):
    """At each sample they belong to the torque that holds there, as in a run with that torque as a number."""
    m = cc.library.four_bar()
    m.motor("O", torque=cc.Sampled(steady, 0.02))
    run = cc.simulate(m, until=0.2, solver=solver, t_eval=np.linspace(0, 0.2, 21), rtol=1e-10)
    twin = cc.library.four_bar()
    twin.motor("O", torque=twin.parameter("u", 0.0))
    force = run.reaction("B")
    for i in (0, 1, 7, 20):
        u = float(run["O.motor2"][i])
        state = twin.assemble(
            O=float(run["O"][i]), velocity={"O": float(run["O'"][i])}, guess=dict(run.state(i).coordinates)
        )
        one = cc.simulate(twin, state, until=0.0, parameters={"u": u})
        np.testing.assert_allclose(force["force"][i], one.reaction("B")["force"][0], atol=1e-7)
        np.testing.assert_allclose(run["lam"][i], one["lam"][0], atol=1e-7)
        np.testing.assert_allclose(run["power"][i], one["power"][0], atol=1e-7)


# ---- several of them -------------------------------------------------------------------------------------------------


def test_several_outputs():
    m = cc.library.five_bar()
    calls = []

    def both(t, now):
        calls.append(t)
        return -2.0 * now["left motor'"], -3.0 * now["right motor'"]

    left, right = cc.Sampled(both, 0.01, outputs=2)
    m.motor("left motor", torque=left)
    m.motor("right motor", torque=right)
    run = cc.simulate(m, until=0.1, t_eval=np.linspace(0, 0.1, 11))
    assert len(calls) == 10  # once for both
    for side, gain in (("left", 2.0), ("right", 3.0)):
        np.testing.assert_allclose(run[f"{side} motor.motor2"][:-1], -gain * run[f"{side} motor'"][:-1], atol=1e-12)


def test_one_controller_in_two_motors_and_an_expression():
    calls = []

    def law(t, now):
        calls.append(t)
        return 1.0 + t

    u = cc.Sampled(law, 0.1)
    m = rotor(u)
    m.motor("O", torque=2.0 * u - 1.0)
    run = cc.simulate(m, until=0.5, t_eval=np.linspace(0, 0.5, 6))
    assert calls == [0.1 * k for k in range(5)]
    np.testing.assert_allclose(run["O.motor2"], 2 * run["O.motor"] - 1)


def test_two_controllers_with_different_periods():
    """Their instants fall together now and then, but for rounding."""
    slow, fast = Recorded(lambda t, now: t), Recorded(lambda t, now: -now["O'"])
    m = rotor(cc.Sampled(slow, 0.3))
    m.motor("O", torque=cc.Sampled(fast, 0.1))
    run = cc.simulate(m, until=3.0)
    assert slow.t == pytest.approx([0.3 * k for k in range(10)], abs=1e-15)
    assert fast.t == pytest.approx([0.1 * k for k in range(30)], abs=1e-15)
    assert run.counts.steps < 50
    q = v = 0.0
    for k in range(30):
        u = 0.3 * (k // 3) - v
        q, v = q + 0.1 * v + 0.005 * u / INERTIA, v + 0.1 * u / INERTIA
    assert abs(run["O"][-1] - q) < 1e-11 * abs(q)


def test_an_inner_loop_sees_nothing_of_the_outer_one_but_the_motion():
    """A cascade is written in one controller, or in two that share an object."""

    class Cascade:
        target = 0.0

        def outer(self, t, now):
            self.target = 2.0 * (1.0 - now["O"])
            return 0.0

        def inner(self, t, now):
            return 0.5 * (self.target - now["O'"])

    c = Cascade()
    m = rotor(cc.Sampled(c.outer, 0.1))
    m.motor("O", torque=cc.Sampled(c.inner, 0.01))
    run = cc.simulate(m, until=6.0)
    assert abs(run["O"][-1] - 1.0) < 1e-3


def test_together_with_a_square_wave():
    wave = cc.math.where(cc.t % 0.07 < 0.035, 0.2, -0.2)
    run = cc.simulate(rotor(cc.Sampled(towards_one, 0.05) + wave), until=1.0, rtol=1e-6)
    q = v = 0.0
    u, instants = 0.0, sorted({round(x, 12) for x in [*np.arange(0, 1.0001, 0.05), *np.arange(0, 1.0, 0.035)]})
    for a, b in pairwise(instants):
        if abs(a / 0.05 - round(a / 0.05)) < 1e-9:
            u = towards_one(a, {"O": q, "O'": v})
        torque = u + (0.2 if (0.5 * (a + b)) % 0.07 < 0.035 else -0.2)
        q, v = q + (b - a) * v + 0.5 * (b - a) ** 2 * torque / INERTIA, v + (b - a) * torque / INERTIA
    assert abs(run["O"][-1] - q) < 1e-10


def test_conditions_on_an_output():
    """A relay after a controller: the condition jumps with the output, and not where it passes zero."""
    u = cc.Sampled(lambda t, now: 1.0 if t < 0.499 else -1.0, 0.1, initial=1.0)
    run = cc.simulate(rotor(cc.math.sign(u)), until=1.0)
    assert abs(run["O'"][-1]) < 1e-12 and abs(run["O"][-1] * INERTIA - 0.25) < 1e-12


@pytest.mark.parametrize("initial", [-5.0, 0.0, 5.0])
def test_a_relay_about_a_target_that_a_controller_moves(initial):
    """A condition on the state and on an output: it changes at a call, and at a crossing between two calls."""

    def law(t, now):
        return 100.0 if t < 0.299 else (-100.0 if t < 0.599 else 12.0)

    m = rotor()
    m.motor("O", torque=cc.math.where(m.joints["O"].q < cc.Sampled(law, 0.1, initial=initial), 1.0, -1.0))
    run = cc.simulate(m, until=1.0, rtol=1e-11)
    q = v = 0.0
    # up for 0.3 s, down for 0.3 s, up again, and down from where 12 rad is passed
    for sign in (1, -1):
        q, v = q + 0.3 * v + sign * 0.045 / INERTIA, v + sign * 0.3 / INERTIA
    assert v == 0 and q < 12
    rise = np.sqrt(2 * (12 - q) * INERTIA)
    assert rise > 0.4  # it is not passed: q stays below
    q += 0.5 * 0.4**2 / INERTIA
    assert abs(run["O"][-1] - q) < 1e-9


# ---- a controller that remembers -------------------------------------------------------------------------------------


def test_reset_is_called_when_a_run_begins():
    class Integral:
        def __init__(self):
            self.sum = 5.0

        def reset(self):
            self.sum = 0.0

        def __call__(self, t, now):
            self.sum += 0.1 * (1.0 - now["O"])
            return self.sum

    m = rotor(cc.Sampled(Integral(), 0.1))
    first, second = (cc.simulate(m, until=1.0) for _ in range(2))
    assert np.array_equal(first.x, second.x)
    assert abs(first["O.motor"][0] - 0.1) < 1e-15


# ---- what it sees ----------------------------------------------------------------------------------------------------


def test_cut_joints_places_and_speeds():
    m = cc.library.four_bar()
    seen = []

    def look(t, now):
        seen.append((now["B"], now["B'"], now.place("coupler.tip"), now.speed("coupler.tip"), now.t, now["A"]))
        return 0.0

    m.motor("O", torque=cc.Sampled(look, 0.05))
    run = cc.simulate(m, until=0.2, t_eval=[0.05 * k for k in range(5)], rtol=1e-10)
    assert run.program.equations.topology.cuts[0].name == "B"  # it is the one that is cut
    tip = run.frame("coupler.tip")
    for i, (q, v, place, speed, t, a) in enumerate(seen):
        assert t == run.t[i]
        # the run's own numbers at the same instant, but for the correction of samples
        assert abs(q - run["B"][i]) < 1e-9 and abs(v - run["B'"][i]) < 1e-9 and abs(a - run["A"][i]) < 1e-9
        np.testing.assert_allclose(place, tip["position"][i], atol=1e-9)
        np.testing.assert_allclose(speed, tip["velocity"][i], atol=1e-9)


# ---- where nothing is simulated --------------------------------------------------------------------------------------


def test_initial_holds_where_nothing_is_simulated():
    carried = 9.81 / 2 * np.cos(0.5)  # the weight of the rod at 0.5 rad from the horizontal
    m, twin = cc.library.pendulum(), cc.library.pendulum()
    m.motor("hinge", torque=cc.Sampled(balance, 1e-2, initial=carried))
    twin.motor("hinge", torque=carried)
    rest = m.equilibrium({"hinge": -0.4})
    assert rest["hinge"] == pytest.approx(-0.5, abs=1e-9)
    about = [x.linearise(x.assemble(hinge=-0.5)) for x in (m, twin)]
    np.testing.assert_allclose(about[0].A, about[1].A, rtol=1e-12)
    np.testing.assert_allclose(about[0].B, about[1].B, rtol=1e-12)
    # nothing of it is left when a run begins
    assert cc.simulate(m, m.assemble(hinge=0.0), until=0.1)["hinge.motor"][0] == 20.0


# ---- what goes wrong -------------------------------------------------------------------------------------------------


def fails(at, how):
    def law(t, now):
        return how(now) if t >= at else 1.0

    law.__name__ = "my_law"
    return law


@pytest.mark.parametrize(
    ("how", "words"),
    [
        (lambda now: 1 / 0, "raised ZeroDivisionError: division by zero"),
        (lambda now: float("nan"), "returned nan, which is not finite"),
        (lambda now: [1.0, 2.0], "returned 2 numbers instead of 1"),
        (lambda now: None, "returned nothing: it must end with 'return'"),
        (lambda now: "1.0", "returned '1.0', which is no number"),
        (lambda now: 1j, "returned 1j, which is no number"),
        (lambda now: cc.t, "returned t, which is no number"),
        (lambda now: now["hinge"], "raised ModelError: a controller asks for 'hinge'; known: 'O'"),
        (lambda now: now["O''"], 'a controller asks for "O\'\'"; did you mean "O\'"'),
        (lambda now: now.place("disk"), "has no body or frame 'disk'; did you mean 'disc'"),
        (lambda now: now.q.fill(0.0), "raised ValueError: assignment destination is read-only"),
    ],
)
@pytest.mark.parametrize("solver", ["dop853", "rk4"])
def test_a_controller_that_fails_is_named_with_the_time(how, words, solver):
    m = rotor(cc.Sampled(fails(0.35, how), 0.1))
    with pytest.raises(cc.RunError) as caught:
        cc.simulate(
            m,
            until=1.0,
            t_eval=np.linspace(0, 1, 21),
            solver=stepping(solver, 0.01),
        )
    message, run = str(caught.value), caught.value.run
    assert "ended at t = 0.4 s: the controller 'my_law'" in message and words in message
    # what was computed before is kept, and is right
    assert len(run.t) == 9 and run.t[-1] == pytest.approx(0.4)
    assert run["O'"][-1] * INERTIA == pytest.approx(0.4)
    assert not run.complete


def test_a_number_beyond_floating_point_is_told_in_short():
    with pytest.raises(cc.RunError, match=r"the controller 'my_law' returned 1000.*which is no number") as caught:
        cc.simulate(rotor(cc.Sampled(fails(0.0, lambda now: 10**400), 0.1)))
    assert len(str(caught.value)) < 500


def test_a_controller_that_fails_at_once():
    with pytest.raises(cc.RunError, match="ended at t = 0 s: the controller 'my_law' raised") as caught:
        cc.simulate(rotor(cc.Sampled(fails(0.0, lambda now: 1 / 0), 0.1)))
    assert len(caught.value.run.t) == 1


def test_ctrl_c_in_a_controller_keeps_the_run():
    def law(t, now):
        if t > 0.45:
            raise KeyboardInterrupt
        return 1.0

    with pytest.raises(cc.Interrupted, match="was interrupted") as caught:
        cc.simulate(rotor(cc.Sampled(law, 0.1)), until=1.0, t_eval=np.linspace(0, 1, 11))
    run = caught.value.run
    assert run.status.name == "interrupted" and run.t[-1] == pytest.approx(0.5)


class Interrupted:
    """An integrator of which one call ends with Ctrl-C, when it has changed its memory already."""

    def __init__(self):
        self.calls, self.sum = 0, 0.0

    def __call__(self, t, now):
        self.calls += 1
        self.sum += 1.0 - now["O"]
        if str(self.calls) == os.environ.get("CTRL_C_AT"):  # no value of the controller: with others it is refused
            raise KeyboardInterrupt
        return 5.0 * (1.0 - now["O"]) + 0.1 * self.sum


@pytest.mark.parametrize("save_every", [0.0, 1e9], ids=["often", "never before"])
@pytest.mark.parametrize("stop", [1, 2, 37])
@pytest.mark.parametrize(("solver", "step"), [("dop853", None), ("radau5", None), ("rk4", 3e-3)])
def test_ctrl_c_in_a_controller_of_a_saved_run(solver, step, stop, save_every, tmp_path, monkeypatch):
    """The call is made again when the run goes on, with the memory from before it: the same to the last bit."""

    def run(**saved):
        m = rotor(cc.Sampled(Interrupted(), 0.01) + cc.math.where(cc.t % 0.02 < 0.01, 1.0, 0.0))
        return cc.simulate(m, until=0.5, solver=stepping(solver, step), t_eval=cc.Every(1e-2), **saved)

    saved = {"save": cc.SaveTo(tmp_path / "run", every=save_every)}
    monkeypatch.setenv("CTRL_C_AT", str(stop))
    with pytest.raises(KeyboardInterrupt, match="was interrupted"):
        run(**saved)
    monkeypatch.undo()
    whole, plain = run(**saved), run()
    np.testing.assert_array_equal(whole.t, plain.t)
    np.testing.assert_array_equal(whole.x, plain.x)


def test_runs_that_cannot_be():
    m = rotor(cc.Sampled(lambda t, now: 0.0, 0.1))
    with pytest.raises(cc.ModelError, match="a run with a sampled controller cannot go back in time"):
        cc.simulate(m, m.assemble(time=1.0), until=0.0)
    fast = rotor(cc.Sampled(towards_one, 1e-17))
    with pytest.raises(
        cc.ModelError, match=r"'towards_one' would be called 1e\+17 times in this run: its period of 1e-17 s"
    ):
        cc.simulate(fast, until=1.0)


@pytest.mark.parametrize("solver", ["cvodes", "idas"])
def test_a_second_opinion_calls_the_controller_too(solver):
    def run(by, rtol):
        m = cc.library.four_bar()
        m.motor("O", torque=cc.Sampled(lambda t, now: 4.0 * cc.math.sin(3 * t) - now["O'"], period=0.05))
        m.motor("C", torque=lambda t: cc.math.where(t % 0.3 < 0.1, 2.0, 0.0))
        return cc.simulate(m, until=0.6, solver=by, rtol=rtol)

    # BDF passes on the errors of many steps: some thousand rtol
    np.testing.assert_allclose(run(solver, 1e-9).x, run("dop853", 1e-11).x, atol=3e-6)


def test_an_event_cannot_watch_what_is_held():
    m = cc.library.pendulum()
    u = cc.Sampled(lambda t, now: 1.0, period=0.1)
    m.motor("hinge", torque=u)
    with pytest.raises(cc.ModelError, match="which jumps and passes no zero"):
        cc.simulate(m, until=1.0, events=[cc.Event("level", u - 0.5)])


@pytest.mark.parametrize("solver", ["dop853", "cvodes", "idas"])
def test_a_controller_that_fails_is_told_by_every_solver(solver):
    m = cc.library.pendulum()
    m.motor("hinge", torque=cc.Sampled(lambda t, now: 1.0 / 0.0 if t > 0.25 else 0.0, period=0.1))
    with pytest.raises(
        cc.RunError, match=r"ended at t = 0\.3 s: the controller '<lambda>' raised ZeroDivisionError"
    ) as told:
        cc.simulate(m, until=1.0, solver=solver)
    assert told.value.run.t[-1] == pytest.approx(0.3)


def test_steps_are_limited_over_all_calls_of_a_controller():
    m = cc.library.four_bar()
    m.motor("O", torque=cc.Sampled(lambda t, now: 0.0, period=0.05))
    with pytest.raises(cc.RunError, match="limit of steps"):
        cc.simulate(m, until=2.0, solver=cc.solvers.CVODES(max_steps=300))
