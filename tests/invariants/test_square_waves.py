"""Torques that jump: a run equals the one put together from smooth pieces, however the jumps are written."""

from itertools import pairwise

import numpy as np
import pytest

import closedchain as cc

# Two runs of one motion at this tolerance differ by what it leaves, some tens of rtol times the size of the state.
RTOL, SAME = 1e-12, 1e-10
INERTIA = 0.5 * 2.0 * 0.2**2  # of the rotor
PERIOD = 0.21


def rotor(torque):
    m = cc.Mechanism("rotor")
    m.revolute("O", m.ground, m.body("disc", cc.disc(radius=0.2, mass=2.0)))
    m.motor("O", torque=torque(m))
    return m


def square(m):
    return cc.math.where(cc.t % PERIOD < PERIOD / 2, 1.0, -1.0)


def plain_square(t):
    return np.where(t % PERIOD < PERIOD / 2, 1.0, -1.0)


def pulses(m):
    period, duty = m.parameter("T", 0.1), m.parameter("duty", 0.3)
    return cc.math.where(cc.t % period < duty * period, 1.0, 0.0)


# what a user writes, and the same in plain numbers
WAVES = {
    "where": (square, plain_square),
    "sign of a sine": (lambda m: cc.math.sign(cc.math.sin(2 * cc.pi / PERIOD * cc.t)), plain_square),
    # 100 periods in a second: looks at round fractions of the run would all find the same value
    "sign of a cosine": (
        lambda m: cc.math.sign(cc.math.cos(2 * cc.pi * 100 * cc.t)),
        lambda t: np.sign(np.cos(2 * np.pi * 100 * t)),
    ),
    "floor": (lambda m: 1 - 2 * (cc.math.floor(2 * cc.t / PERIOD) % 2), plain_square),
    "ceil": (lambda m: 2 * (cc.math.ceil(2 * cc.t / PERIOD) % 2) - 1, plain_square),
    "staircase": (lambda m: cc.math.floor(10 * cc.t), lambda t: np.floor(10 * t)),
    "pulses by parameters": (pulses, lambda t: np.where(t % 0.1 < 0.03, 1.0, 0.0)),
    "nested": (
        lambda m: cc.math.where(
            cc.t < 0.5, cc.math.where(cc.t < 0.2, 1.0, -1.0), cc.math.where(cc.t % 0.3 < 0.1, 2.0, 0.0)
        ),
        lambda t: np.where(t < 0.5, np.where(t < 0.2, 1.0, -1.0), np.where(t % 0.3 < 0.1, 2.0, 0.0)),
    ),
    "product of two": (
        lambda m: cc.math.where(cc.t % 0.1 < 0.05, 1.0, -1.0) * cc.math.where(cc.t % 0.14 < 0.07, 1.0, -1.0),
        lambda t: np.where(t % 0.1 < 0.05, 1.0, -1.0) * np.where(t % 0.14 < 0.07, 1.0, -1.0),
    ),
    "logic": (
        lambda m: cc.math.where(((cc.t > 0.1) & ~(cc.t > 0.4)) | (cc.t >= 0.55), 1.0, -0.5),
        lambda t: np.where(((t > 0.1) & (t <= 0.4)) | (t >= 0.55), 1.0, -0.5),
    ),
    "chirp": (
        lambda m: cc.math.where(cc.t**2 % 0.1 < 0.05, 1.0, -1.0),
        lambda t: np.where(t**2 % 0.1 < 0.05, 1.0, -1.0),
    ),
    # a pulse that is narrow compared with the run
    "table against a level": (
        lambda m: cc.math.where(cc.math.interp(cc.t, [0, 0.2, 0.21, 0.22, 1.0], [0, 0, 1.0, 0, 0]) > 0.5, 1.0, 0.0),
        lambda t: np.where((t > 0.205) & (t < 0.215), 1.0, 0.0),
    ),
    # the slope of the sawtooth in the condition jumps as well
    "condition on what jumps": (
        lambda m: cc.math.where((cc.t % 0.2) * cc.math.where(cc.t < 0.55, 1.0, 2.0) < 0.1, 1.0, -1.0),
        lambda t: np.where((t % 0.2) * np.where(t < 0.55, 1.0, 2.0) < 0.1, 1.0, -1.0),
    ),
}


def pieces(plain, begin, until):
    """Ends of the pieces in which a function is constant: a grid finer than any of them, and bisection."""
    grid = np.linspace(begin, until, 3001) + 1e-7 * (until - begin)  # on no jump itself
    values = plain(grid)
    ends = []
    for i in np.flatnonzero(np.diff(values)):
        low, high = grid[i], grid[i + 1]
        while abs(high - low) > 1e-16:
            middle = 0.5 * (low + high)
            if middle in (low, high):
                break
            low, high = (middle, high) if plain(middle) == values[i] else (low, middle)
        ends.append(float(high))
    return [begin, *(x for x in ends if abs(until - x) > 1e-12), until]


# ---- every way to write a wave ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("which", WAVES)
@pytest.mark.parametrize(("begin", "until"), [(0.0, 1.0), (0.137, 0.9), (1.0, 0.0), (0.93, -0.1)])
def test_a_rotor_under_any_wave_moves_as_computed_by_hand(which, begin, until):
    wave, plain = WAVES[which]
    m = rotor(wave)
    # between jumps the motion is a parabola, which the solver gets exactly: a loose rtol must do
    run = cc.simulate(m, m.assemble(time=begin), until=until, solver="dopri5", rtol=1e-4)
    q = v = 0.0
    for a, b in pairwise(pieces(plain, begin, until)):
        acceleration = plain(0.5 * (a + b)) / INERTIA
        q, v = q + v * (b - a) + 0.5 * acceleration * (b - a) ** 2, v + acceleration * (b - a)
    # rounding of some hundred steps with numbers of size 10; a jump that is missed by 1e-11 s would be seen
    np.testing.assert_allclose([run["O"][-1], run["O'"][-1]], [q, v], rtol=0, atol=1e-10)
    assert abs(run.energy_error).max() < 1e-10
    assert run.counts.rejections == 0  # nothing of a jump is left that a step control could see
    assert run.record == []


# ---- the same as smooth pieces, put together by hand -----------------------------------------------------------------

# what is driven, by which joint, by how much, and for how long
MECHANISMS = {
    "four-bar": (cc.library.four_bar, "O", 8.0, 1.0),
    "slider-crank": (cc.library.slider_crank, "O", 2.0, 0.5),
    "3-RRR": (cc.library.rrr3, "base1", 1.0, 0.5),
    "gough-stewart": (cc.library.gough_stewart, "leg1 slide", 20.0, 0.4),
}
METHODS = {
    "multipliers": cc.Multipliers(),
    "projection": cc.Projection(),
    "independent": cc.IndependentCoordinates(),
    "operational space": cc.OperationalSpace(),
    "DeNOC": cc.DeNOC(),
    "springs": cc.VirtualSpring(1e4),
}


def draw(name, wave):
    """A mechanism of the library with one more motor; ``wave`` gives its torque from the drawing, in units."""
    build, joint, size, _ = MECHANISMS[name]
    m = build()
    m.motor(joint, **{"force" if "slide" in joint else "torque": size * wave(m)})
    return m


def stitched(name, ends, plain, **how):
    """The state at the end of a motion put together by hand: a constant torque in each piece."""
    m = draw(name, lambda m: m.parameter("u", 0.0))
    state = m.assemble(time=ends[0])
    for a, b in pairwise(ends):
        run = cc.simulate(m, state, until=b, parameters={"u": float(plain(0.5 * (a + b)))}, t_eval=[a, b], **how)
        state = run.state(-1)
    return state


def difference(run, state):
    """Largest difference of coordinates and velocities at the end, relative to their size where that is above one."""
    end = run.state(-1)
    assert end.t == state.t
    ours, theirs = np.concatenate([end.q, end.v]), np.concatenate([state.q, state.v])
    return np.max(np.abs(ours - theirs) / np.maximum(1.0, np.abs(theirs)))


def check(name, method="multipliers", solver="dop853", which="where", begin=0.0, until=None, rtol=RTOL):
    wave, plain = WAVES[which]
    until = MECHANISMS[name][3] if until is None else until
    how = {"method": METHODS[method], "solver": solver, "rtol": rtol}
    m = draw(name, wave)
    run = cc.simulate(m, m.assemble(time=begin), until=until, **how)
    ends = pieces(plain, begin, until)
    assert len(ends) > 3
    assert difference(run, stitched(name, ends, plain, **how)) < SAME
    return run


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_run_equals_its_pieces(name):
    check(name)


@pytest.mark.parametrize("method", METHODS)
def test_a_run_equals_its_pieces_under_every_method(method):
    check("four-bar", method)


@pytest.mark.parametrize("solver", ["dopri5", "radau5", "rodas5p", "auto"])
def test_a_run_equals_its_pieces_with_every_solver(solver):
    # of low order: fewer pieces, and a tolerance that needs fewer steps
    check("four-bar", solver=solver, until=0.4, rtol=1e-11 if solver == "rodas5p" else RTOL)


@pytest.mark.parametrize("which", ["sign of a sine", "floor", "pulses by parameters", "product of two", "chirp"])
def test_a_run_equals_its_pieces_however_the_wave_is_written(which):
    check("four-bar", which=which)


def test_a_run_backward_equals_its_pieces():
    check("four-bar", begin=0.8, until=0.0)


# ---- exact at any tolerance ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-8])
@pytest.mark.parametrize("solver", ["dop853", "radau5"])
def test_the_energy_book_is_as_good_as_under_a_smooth_torque(solver, rtol):
    jumping, smooth = draw("four-bar", square), draw("four-bar", lambda m: 1.0)
    book = [abs(cc.simulate(m, until=1.0, rtol=rtol, solver=solver).energy_error).max() for m in (jumping, smooth)]
    assert book[0] < book[1]  # of a constant torque of this size, which makes the crank turn faster


def test_jumps_cost_a_step_each_and_no_rejections():
    run = cc.simulate(draw("four-bar", square), until=1.0, rtol=1e-9)
    pieces_of_it = len(pieces(plain_square, 0.0, 1.0)) - 1
    constant = cc.simulate(draw("four-bar", lambda m: 1.0), until=1.0, rtol=1e-9)
    # a piece needs its last step, which may be short, and no more than one rejection
    assert run.counts.steps <= constant.counts.steps + 3 * pieces_of_it
    assert run.counts.rejections <= constant.counts.rejections + pieces_of_it


def test_steps_end_at_the_jumps():
    run = cc.simulate(draw("four-bar", square), until=1.0)
    steps = np.concatenate([s.trajectory.steps_t for s in run.segments])
    for k in range(1, 10):
        assert np.abs(steps - 0.5 * k * PERIOD).min() < 1e-15  # one unit of rounding


def test_smeared_jumps_would_be_seen():
    """Jumps made steep instead miss what is asked for by far; fixed steps that end at them do not."""
    exact = check("four-bar", until=0.4).state(-1)
    stepped = cc.simulate(draw("four-bar", square), until=0.4, solver=cc.solvers.RK4(step=1e-3))
    steep = draw("four-bar", lambda m: cc.math.tanh(1e3 * cc.math.sin(2 * cc.pi / PERIOD * cc.t)))
    smeared = cc.simulate(steep, until=0.4, solver="dopri5", rtol=RTOL)
    assert difference(stepped, exact) < 10 * SAME
    assert difference(smeared, exact) > 1e2 * SAME
    # ... although a smooth torque is no trouble for the same fixed step
    smooth = draw("four-bar", lambda m: cc.math.sin(2 * cc.pi / PERIOD * cc.t))
    fine = cc.simulate(smooth, until=0.4, rtol=RTOL).state(-1)
    assert difference(cc.simulate(smooth, until=0.4, solver=cc.solvers.RK4(step=1e-3)), fine) < 10 * SAME


# ---- samples, ends, and where they coincide with jumps ---------------------------------------------------------------


def test_samples_on_the_jumps_and_an_end_on_one():
    m = draw("four-bar", square)
    ends = [0.5 * k * PERIOD for k in range(7)]
    run = cc.simulate(m, until=ends[-1], t_eval=ends, rtol=RTOL)
    assert run.t.tolist() == ends
    for k in range(1, 7):
        alone = cc.simulate(m, until=ends[k], rtol=RTOL)
        at = run.state(k)
        assert difference(alone, at) < SAME
    # the value that holds from an instant on, and its torque on the crank
    np.testing.assert_allclose(run["O.motor2"], 8.0 * plain_square(np.array(ends)))


@pytest.mark.parametrize("end", [1.0, np.nextafter(1.0, 0), np.nextafter(1.0, 2), 1.0 - 1e-13, 1.0 - 1e-11])
def test_a_jump_just_before_the_end(end):
    run = cc.simulate(rotor(lambda m: cc.math.where(cc.t < end, 1.0, -1.0)), until=1.0)
    assert run.complete and run.t[-1] == 1.0
    # all but the last moment is under the torque 1
    assert abs(run["O'"][-1] * INERTIA - 1.0) < 3e-11


def test_two_waves_whose_jumps_fall_together_but_for_rounding():
    """0.1 + 0.1 + 0.1 is not 0.3: steps between them would be of one unit of rounding."""
    waves = cc.math.where(cc.t % 0.1 < 0.05, 1.0, -1.0) + cc.math.where(cc.t % 0.3 < 0.15, 1.0, -1.0)
    run = cc.simulate(rotor(lambda m: waves), until=3.0)
    assert abs(run["O'"][-1]) < 1e-12  # as many seconds of one as of the other
    assert run.counts.steps < 100


def test_parameters_of_a_wave_change_its_jumps():
    m = rotor(pulses)
    for period, duty in [(0.1, 0.3), (0.25, 0.5), (0.07, 0.9)]:
        run = cc.simulate(m, until=1.0, parameters={"T": period, "duty": duty})
        on = sum(np.clip(1.0 - k * period, 0.0, duty * period) for k in range(20))
        assert abs(run["O'"][-1] * INERTIA - on) < 1e-12


@pytest.mark.parametrize(("mode", "torque"), [(0.5, -3.0), (1.0, 2.0), (1.5, 2.0)])
def test_conditions_on_parameters_alone_are_what_they_say(mode, torque):
    """Also where both sides are equal: 1 >= 1."""
    run = cc.simulate(rotor(lambda m: cc.math.where(m.parameter("mode", mode) >= 1, 2.0, -3.0)), until=1.0)
    assert abs(run["O'"][-1] * INERTIA - torque) < 1e-12


def test_branches_that_have_no_value_on_the_other_side():
    """A root that ends at its zero: its own argument must not be touched beyond."""
    run = cc.simulate(rotor(lambda m: cc.math.where(cc.t < 0.5, cc.math.sqrt(0.5 - cc.t), 0.0)), until=1.0, rtol=1e-10)
    assert abs(run["O'"][-1] * INERTIA - 2 / 3 * 0.5**1.5) < 1e-9
    assert run.record == []


def test_forces_jump_as_motors_do():
    m = cc.library.pendulum()
    m.force("gust", m.bodies["arm"].tip, (0.0, 20 * square(m), 0.0))
    twin = cc.library.pendulum()
    twin.force("gust", twin.bodies["arm"].tip, (0.0, 20 * twin.parameter("u", 0.0), 0.0))
    state = twin.assemble()
    for a, b in pairwise(pieces(plain_square, 0.0, 1.0)):
        u = float(plain_square(0.5 * (a + b)))
        state = cc.simulate(twin, state, until=b, parameters={"u": u}, rtol=RTOL, t_eval=[a, b]).state(-1)
    assert difference(cc.simulate(m, until=1.0, rtol=RTOL), state) < SAME


# ---- prescribed motions that are written in pieces -------------------------------------------------------------------


def rest_and_cycloid(rise=0.8, begin=0.3, length=0.5):
    """Rest, a cycloid, rest: position, velocity and acceleration are continuous, the third derivative is not."""
    s = (cc.t - begin) / length
    ramp = rise * (s - cc.math.sin(2 * cc.pi * s) / (2 * cc.pi))
    return cc.math.where(cc.t < begin, 0.0, cc.math.where(cc.t < begin + length, ramp, rise))


@pytest.mark.parametrize("method", ["multipliers", "projection", "independent"])
def test_a_drive_in_pieces_ends_where_it_should(method):
    m = cc.library.four_bar()
    m.drive("O", cc.pi / 2 + rest_and_cycloid())
    run = cc.simulate(m, until=1.2, method=METHODS[method], rtol=1e-10)
    assert abs(run["O"][-1] - (np.pi / 2 + 0.8)) < 1e-9
    assert np.abs(run["O'"].sel(time=slice(0, 0.29))).max() < 1e-9 and abs(run["O'"][-1]) < 1e-9
    assert run.good
    steps = np.concatenate([s.trajectory.steps_t for s in run.segments])
    for at in (0.3, 0.8):
        assert np.abs(steps - at).min() < 1e-15


# ---- very many jumps -------------------------------------------------------------------------------------------------


def test_ten_thousand_periods_without_drift():
    m = rotor(lambda m: cc.math.where(cc.t % 1e-3 < 5e-4, 1.0, -1.0))
    run = cc.simulate(m, until=10.0, t_eval=[0.0, 10.0])
    # each period leaves the velocity as it was, and moves by T^2 / 4 / I; rounding of 20,000 steps
    assert abs(run["O'"][-1]) < 1e-9
    assert abs(run["O"][-1] - 10_000 * 1e-6 / 4 / INERTIA) < 1e-9
    assert 20_000 <= run.counts.steps < 20_020


def test_periods_that_cannot_be_stepped_onto_are_told():
    with pytest.raises(cc.RunError, match=r"mod\(t, 1e-20\) jumps 1e\+20 times during the run") as caught:
        cc.simulate(rotor(lambda m: cc.math.where(cc.t % 1e-20 < 5e-21, 1.0, -1.0)), until=1.0)
    assert len(caught.value.run.t) == 1


def test_a_level_that_is_grazed_is_not_lost():
    """The motion comes back over a level within one look at the steps: a sawtooth of the angle, against a tight run."""
    found = []
    for rtol in (1e-9, 1e-12):
        m = cc.library.pendulum()
        joint = m.joints["hinge"]
        m.motor(joint, torque=(5 * joint.q) % 0.7)
        found.append(float(cc.simulate(m, until=3.0, rtol=rtol)["hinge"][-1]))
    assert found[1] == pytest.approx(found[0], abs=1e-6) and abs(found[1]) < 3.0


def test_a_sample_at_the_very_change_is_kept():
    def rotor():
        m = cc.Mechanism("rotor", gravity=(0, 0, 0))
        m.revolute("J", m.ground, m.body("disc", cc.disc(radius=0.5, thickness=0.1, mass=1.0)))
        m.motor("J", torque=lambda t, q, v: cc.math.where(q["J"] > 1, -1.0, 1.0))
        return m

    m = rotor()
    free = cc.simulate(m, until=2.0, events=[cc.Event("one", m.joints["J"].q - 1)])
    change = free.record[0].t
    m = rotor()
    run = cc.simulate(m, until=2.0, t_eval=sorted([0.0, 0.3, change, 2.0]))
    np.testing.assert_array_equal(run.t, [0.0, 0.3, change, 2.0])
    assert float(run["J"][2]) == pytest.approx(1.0, abs=1e-12)
