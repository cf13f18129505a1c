"""The generalised-alpha method: orders, its start, its damping, closed loops, and that its memory is kept."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import closedchain as cc
from closedchain.integrate.trajectory import Status
from closedchain.march.program.compiled import compiled
from closedchain.march.program.index3 import step_equations
from closedchain.march.program.solver_inputs import for_solver
from closedchain.pose.state import parameter_vector
from tests.unit.close.test_index3 import amplification
from tests.unit.integrate.flat import integrate

FINE = {"rtol": 1e-3}  # what is promised of a fixed step that is meant to be coarse


@cache
def moving(name, until=0.3):
    """A state in the middle of a motion: at rest odd derivatives vanish, and with them what is looked for."""
    m = getattr(cc.library, name)()
    run = cc.simulate(m, until=until, rtol=1e-12, t_eval=[0.0, until])
    n = run.program.equations.topology.nq
    start = m.assemble()
    return replace(start, q=run.x[-1, :n], v=run.x[-1, n:-1])


def march(start, step, number, rho=0.8, begin=0.0, **options):
    """The trajectory of some steps, and what the method remembers after them."""
    program = compiled(start, cc.Index3(rho))
    p = parameter_vector(start.mechanism, start.parameters)
    extra = for_solver("generalised-alpha", program, p)
    if program.correct is not None:
        options |= {"correct": program.correct.address, "w_correct": program.correct.prepare(p)}
    run = integrate(
        "generalised-alpha", program.rhs.address, program.pack(start.q, start.v), (begin, begin + number * step),
        program.rhs.prepare(p), step=abs(step), extra=extra, **options,
    )  # fmt: skip
    return run, extra.room


def own_forces(start, step, number):
    """The closing forces that the method itself finds at the end of its last step."""
    run, room = march(start, step, number)
    assert run.success
    return room.d[len(room.d) - len(compiled(start, cc.Index3()).rows) :]


def naive_forces(start, step, number):
    """The same from the plain start, with alpha = a and closed velocities: the method by hand."""
    program = compiled(start, cc.Index3())
    p = parameter_vector(start.mechanism, start.parameters)
    equations, n, nv = step_equations(program), program.equations.topology.nq, program.equations.topology.nv
    q, v = start.q, start.v
    a = alpha = program.rhs(0.0, program.pack(q, v), p)[n : n + nv]
    lam = np.zeros(len(program.rows))
    for k in range(1, number + 1):
        u = np.concatenate([a, lam])
        for _ in range(5):
            d = np.concatenate([q, v, alpha, a, [step], u])
            r, end = equations.residual(k * step, d, p)
            u = u - np.linalg.solve(equations.matrix(k * step, d, p), r)
        q, v, alpha = np.split(end, [n, n + nv])
        a, lam = np.split(u, [nv])
    return lam


def exact(start, time, method=None):
    run = cc.simulate(start.mechanism, start, until=time, rtol=1e-13, t_eval=[0.0, time], method=method)
    return run.x[-1, :-1], run["lam"].values[-1]


def order(steps, errors):
    return np.polyfit(np.log(steps), np.log(errors), 1)[0]


# ---- orders ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rho", [0.0, 0.8])
@pytest.mark.parametrize("name", ["double_pendulum", "four_bar", "slider_crank", "gough_stewart"])
def test_order_of_coordinates_velocities_and_forces(name, rho):
    start = moving(name)
    n = start.q.size
    x, lam = exact(start, 0.2)
    steps, errors = [2e-3, 1e-3, 5e-4], []
    for step in steps:
        run = cc.simulate(
            start.mechanism,
            start,
            until=0.2,
            method=cc.Index3(rho),
            solver=cc.solvers.GeneralisedAlpha(step=step),
            t_eval=[0.0, 0.2],
            **FINE,
        )
        assert run.closure_error.max() < 1e-13
        found = [np.abs(run.x[-1, :-1] - x)[:n], np.abs(run.x[-1, :-1] - x)[n:], np.abs(run["lam"].values[-1] - lam)]
        errors.append([part.max() for part in found if part.size])
    for column in np.array(errors).T:
        # seen over finite steps; a method of order 1 would miss by 1
        assert 1.8 < order(steps, column) < 2.4


@pytest.mark.parametrize("number", [1, 2, 5, 20])
@pytest.mark.parametrize("name", ["four_bar", "slider_crank"])
def test_own_forces_are_of_order_two_from_the_first_step_on(name, number):
    """With alpha = a and closed velocities at the start they would be of order 1 for some dozens of steps."""
    start = moving(name)
    # short enough to see the order, long enough for rounding / h^2 to stay below
    steps = [4e-3, 2e-3, 1e-3] if name == "four_bar" else [2e-3, 1e-3, 5e-4]
    wanted = [exact(start, number * step)[1] for step in steps]
    ours = [np.abs(own_forces(start, h, number) - lam).max() for h, lam in zip(steps, wanted, strict=True)]
    naive = [np.abs(naive_forces(start, h, number) - lam).max() for h, lam in zip(steps, wanted, strict=True)]
    assert order(steps, ours) > 1.8
    assert 0.7 < order(steps, naive) < 1.3
    assert max(np.divide(ours, naive)) < 0.2


def test_samples_between_steps():
    start = moving("four_bar")
    times = np.linspace(0.0, 0.2, 97)
    wanted = cc.simulate(start.mechanism, start, until=0.2, rtol=1e-13, t_eval=times)
    errors = []
    for step in (4e-3, 2e-3):
        run = cc.simulate(
            start.mechanism,
            start,
            until=0.2,
            method=cc.Index3(),
            solver=cc.solvers.GeneralisedAlpha(step=step),
            t_eval=times,
            **FINE,
        )
        assert run.closure_error.max() < 1e-13
        errors.append(np.abs(run.x - wanted.x).max())  # with the work and the counter of turns
    assert 1.8 < np.log2(errors[0] / errors[1]) < 2.2


def linkage(cut="B", coupler=1.0):
    """A crank that turns and a rocker."""
    m = cc.Mechanism("crank and rocker", gravity=(0, -9.81, 0))
    bodies = ("crank", 1.0, 1.0), ("coupler", 4.0, coupler), ("rocker", 2.5, 1.0)
    crank, rod, rocker = (m.body(name, cc.rod(length, mass=mass)) for name, length, mass in bodies)
    m.revolute("O", m.ground, crank)
    m.revolute("A", crank.tip, rod, cut=cut == "A")
    m.revolute("C", m.ground.at(3.0, 0, 0), rocker, guess=1.3)
    m.revolute("B", rod.tip, rocker.tip, cut=cut == "B")
    return m


def test_prescribed_motion_and_turns_of_a_cut_joint():
    """A driven crank: a closure that moves with the time, and an angle at the cut that goes round and round."""
    m = linkage(cut="A")
    m.drive("O", lambda t: 1.0 + 8.0 * t + cc.math.sin(3.0 * t))
    start = m.assemble()
    times = np.linspace(0.0, 2.0, 21)
    wanted = cc.simulate(m, start, until=2.0, rtol=1e-12, t_eval=times)
    assert abs(wanted["A"].values[-1] - wanted["A"].values[0]) > 4 * np.pi
    errors = []
    for step in (4e-3, 2e-3):
        run = cc.simulate(
            m, start, until=2.0, method=cc.Index3(), solver=cc.solvers.GeneralisedAlpha(step=step), t_eval=times, **FINE
        )
        assert run.closure_error.max() < 1e-12
        # the motion is prescribed, and so are the forces; the counter itself, and the work, are of order 2
        np.testing.assert_allclose(run["A"], wanted["A"], atol=1e-12)
        np.testing.assert_allclose(run["lam"], wanted["lam"], atol=1e-10 * np.abs(wanted["lam"]).max().item())
        errors.append(np.abs(run.x - wanted.x)[:, [len(start.q) - 1, -1]].max(axis=0))
    assert (np.log2(np.divide(*errors)) > 1.8).all()


def test_a_body_without_mass():
    m = linkage(coupler=0.0)
    start = m.assemble(O=1.2)
    x, lam = exact(start, 0.3)
    errors = []
    for step in (2e-3, 1e-3):
        run = cc.simulate(
            m,
            start,
            until=0.3,
            method=cc.Index3(),
            solver=cc.solvers.GeneralisedAlpha(step=step),
            t_eval=[0.0, 0.3],
            **FINE,
        )
        errors.append([np.abs(run.x[-1, :-1] - x).max(), np.abs(run["lam"].values[-1] - lam).max()])
    assert (np.log2(np.divide(*errors)) > 1.8).all()


def test_there_and_back():
    start = moving("four_bar")
    errors = []
    for step in (2e-3, 1e-3):
        there, _ = march(start, step, round(0.2 / step))
        n = start.q.size
        end = replace(start, q=there.x[-1, :n], v=there.x[-1, n:-1])
        back, _ = march(end, -step, round(0.2 / step), begin=0.2)
        assert back.success
        errors.append(np.abs(back.x[-1, :n] - start.q).max())
    assert errors[0] < 1e-4 and np.log2(errors[0] / errors[1]) > 1.8


# ---- damping ---------------------------------------------------------------------------------------------------------


def oscillator(z):
    """A mass on a spring, h omega = z at steps of one second."""
    m = cc.Mechanism("oscillator", gravity=(0, 0, 0))
    m.prismatic("s", m.ground, m.body("b", cc.point_mass(1.0)), axis=(1, 0, 0))
    m.joint_spring("s", stiffness=z**2)
    return m.assemble(s=1.0)


@pytest.mark.parametrize("z", [0.1, 1.0, 10.0, 1e4])
@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9])
def test_damping_is_that_of_the_theory(rho, z):
    """Positions obey the recursion of the amplification matrix (Cayley and Hamilton), whatever the start."""
    run, _ = march(oscillator(z), 1.0, 40, rho)
    x = run.x[:, 0]
    c = np.poly(amplification(rho, z))
    misfit = sum(c[k] * x[4 - k : len(x) - k] for k in range(4))
    # what Newton's method leaves: 1e-12 of velocities, or the rounding of accelerations z^2, at steps of one second
    assert np.abs(misfit).max() < 1e-10 + 1e-15 * z**2
    assert np.abs(x).max() <= 1.0 + 1e-9  # nothing shoots over, however fast


def test_a_stiff_mode_fades_as_rho_says():
    """A step a thousand times too long for a mode: after n steps n^2 rho^n of it is left, about."""
    for rho in (0.3, 0.6):
        run, _ = march(oscillator(1e4), 1.0, 60, rho)
        left = np.abs(run.x[20:61, 0])
        rate = np.exp(np.polyfit(np.arange(20, 61), np.log(left / np.arange(20, 61) ** 2), 1)[0])
        assert rate == pytest.approx(rho, rel=0.1)  # the power of n is that of a triple eigenvalue in the limit only


def test_energy_of_a_conservative_mechanism():
    """It is lost in the long run, and the less of it the nearer rho is to one."""
    m = cc.library.four_bar()
    start = m.assemble(O=1.0, velocity={"O": 3.0}, parameters={"O.motor": 0.0})
    lost = {}
    for rho, step in ((0.0, 4e-3), (0.5, 4e-3), (0.95, 4e-3), (0.5, 2e-3)):
        run = cc.simulate(
            m, start, until=20.0, method=cc.Index3(rho), solver=cc.solvers.GeneralisedAlpha(step=step), rtol=0.1
        )
        by_second = run.energy_error.values[::10]
        assert (np.diff(by_second[::4]) < 0).all()  # it swings with the motion, but every four seconds there is less
        lost[rho, step] = -by_second[-1]
    assert lost[0.95, 4e-3] < 0.7 * lost[0.5, 4e-3] < 0.2 * lost[0.0, 4e-3]
    assert np.log2(lost[0.5, 4e-3] / lost[0.5, 2e-3]) == pytest.approx(2, abs=0.3)


# ---- a run of its own ------------------------------------------------------------------------------------------------


def test_closures_to_rounding_for_a_long_run():
    m = cc.library.four_bar()
    start = m.assemble(O=1.0, velocity={"O": 3.0}, parameters={"O.motor": 0.0})
    run = cc.simulate(
        m,
        start,
        until=20.0,
        method=cc.Index3(0.9),
        solver=cc.solvers.GeneralisedAlpha(step=5e-3),
        rtol=0.1,
        t_eval=np.linspace(0, 20, 801),
    )
    assert run.closure_error.max() < 1e-13  # to which samples are put back that fall beside a step by a rounding
    p, e = run.p, run.program.equations
    rate = e.function("rate", {"c": e.closure.A @ e.limbs.v})
    n, nv = e.topology.nq, e.topology.nv
    for t, x in zip(run.t, run.x, strict=True):
        assert np.abs(np.array(rate(t, x[:n], x[n : n + nv], p))).max() < 1e-12


@pytest.mark.parametrize("steps_per_call", [1, 7])
def test_chunks_make_no_difference(steps_per_call):
    start = moving("gough_stewart")
    whole, _ = march(start, 1e-3, 40)
    pieces, _ = march(start, 1e-3, 40, steps_per_call=steps_per_call)
    np.testing.assert_array_equal(pieces.x, whole.x)


def test_a_saved_run_goes_on_with_the_same_bits():
    start = moving("four_bar")
    saved = []
    whole, _ = march(start, 1e-3, 40, steps_per_call=16, checkpoint=lambda give: saved.append(give()))
    assert len(saved) == 2
    rest, _ = march(start, 1e-3, 40, steps_per_call=16, resume=saved[0])
    np.testing.assert_array_equal(rest.x[-1], whole.x[-1])


def test_a_shorter_last_step():
    """It begins anew: what is remembered belongs to the other length."""
    start = moving("four_bar")
    run, room = march(start, 2e-3, 50.3)
    assert run.counts.steps == 51 and run.t[-1] == 50.3 * 2e-3
    x, lam = exact(start, 50.3 * 2e-3)
    assert np.abs(run.x[-1, :-1] - x).max() < 1e-5  # as others of the same step
    assert np.abs(room.d[-2:] - lam).max() < 1e-4  # a step of 0.3 h that went on would be off by 0.1


def test_what_a_step_costs():
    start = moving("four_bar")
    counts = march(start, 1e-3, 100)[0].counts
    assert 100 <= counts.jacobians == counts.factorisations <= 103  # one a step, and two for the start
    assert counts.evaluations <= 5 * 100 + 10  # three or four of the residual, one for the rates
    assert counts.rejections == 0


def test_a_held_torque_that_changes():
    """The memory holds accelerations: it begins anew where they jump."""
    calls = []

    def torque(t, now):
        calls.append(t)
        return 2.0 if len(calls) % 2 else -1.0

    errors = []
    for step in (2e-3, 1e-3):
        m = cc.library.double_pendulum()
        m.motor(next(iter(m.joints)), torque=cc.Sampled(torque, period=0.1))
        calls.clear()
        run = cc.simulate(
            m, until=0.5, method=cc.Index3(), solver=cc.solvers.GeneralisedAlpha(step=step), t_eval=[0.0, 0.5], **FINE
        )
        assert len(calls) == 5 or len(calls) == 6
        calls.clear()
        wanted = cc.simulate(m, until=0.5, rtol=1e-12, t_eval=[0.0, 0.5])
        errors.append(np.abs(run.x[-1] - wanted.x[-1]).max())
    assert np.log2(errors[0] / errors[1]) > 1.8


# ---- failures --------------------------------------------------------------------------------------------------------


def test_a_step_without_a_solution_ends_the_run():
    """A prescribed motion that leaves the reach of the crank: no position at the end of the step is closed."""
    m = cc.library.slider_crank()
    start = m.assemble(O=1.0)
    where = start["slide"]
    m.drive("slide", lambda t: where + 0.5 * t)
    start = m.assemble(O=1.0)
    run, _ = march(start, 5.0, 3)
    assert run.status is Status.not_solved and run.counts.rejections == 0
    np.testing.assert_array_equal(run.failure.x[: start.q.size], start.q)


def test_a_singular_pose_ends_the_run_with_a_sentence():
    m = cc.library.four_bar_chain(1)
    with pytest.raises(cc.RunError, match=r"singular.*cc\.Multipliers\(\) can"):
        cc.simulate(m, until=2.0, method=cc.Index3(), solver=cc.solvers.GeneralisedAlpha(step=1e-4), **FINE)
