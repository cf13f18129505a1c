"""What a drawing with rounded numbers leaves open."""

from dataclasses import replace

import numpy as np
import pytest

import closedchain as cc
from closedchain.integrate.trajectory import Status
from closedchain.march.controllers.held_inputs import HeldInputs
from closedchain.march.judge.divergence import Judge
from closedchain.march.judge.gaps import dropped_rows, fitted, fixed_rows, impulse, listed, opened, told
from closedchain.march.program.compiled import compiled
from closedchain.pose.state import parameter_vector
from tests.invariants.drawings import bennett
from tests.invariants.rounded import perturbed


def test_rows_in_words():
    assert listed([("B", "z"), ("C", "x"), ("B", "tilt x")]) == "B: z, tilt x; C: x" and listed([]) == ""
    program = compiled(cc.library.four_bar().assemble(), cc.Multipliers())
    assert dropped_rows(program) == "B: z, tilt x, tilt y"
    assert [row.label for row in fixed_rows(program)] == ["z", "tilt x", "tilt y"]
    assert dropped_rows(compiled(cc.library.pendulum().assemble(), cc.Multipliers())) == ""


def test_rows_of_an_open_joint_hold_nothing():
    m = cc.library.four_bar()
    assert not fixed_rows(compiled(m.assemble(O=1.0, open_joints=("B",)), cc.Multipliers()))


def test_every_gap_is_told():
    m = perturbed(bennett(), 1e-6, 1e-5)
    start = m.assemble()
    program = compiled(start, cc.Multipliers())
    happening = told(program, start)
    gaps = happening.numbers["gaps"]
    assert len(gaps) == 5 and 1e-7 < max(gaps.values()) < 1e-5
    assert len(program.rows) == 2 and "3 of 5 closure rows" in happening.text
    names = [f"{program.equations.closure.joints[row]} {program.equations.closure.labels[row]}" for row in program.rows]
    np.testing.assert_allclose(np.abs(program.aims), [gaps[name] for name in names], rtol=1e-12)


def three_legs():
    """A bar on three parallel legs, the last of them 1 mm too long."""
    m = cc.Mechanism("three legs", gravity=(0, -9.81, 0), tolerance=1e-2)
    bar = m.body("bar", cc.rod(2.0, mass=1.0))
    for i in range(3):
        leg = m.body(f"leg{i}", cc.rod(1.001 if i == 2 else 1.0, mass=0.3))
        m.revolute(f"g{i}", m.ground.at(i, 0, 0), leg, guess=1.2)
        m.revolute(f"t{i}", leg.tip, bar.at(i, 0, 0), guess=-1.2)
    return m


def test_springs_rest_at_what_the_numbers_miss():
    """A gap of 0.4 mm would load springs of 1 MN/m by 370 N; those who stretch them on purpose are obeyed."""
    m = three_legs()
    start, pulled = m.assemble(g0=1.2), m.assemble(g0=1.2, gaps={"t1 x": 2e-3})
    for method in (cc.VirtualSpring(1e6, 1e3), cc.ModifiedDeNOC(1e6, 1e3)):

        def loads(state, method=method):
            program = compiled(state, method)
            outputs = {"lam": program.closed.lam, "E": program.closed.stored}
            x = program.pack(state.q, state.v)
            got = program.evaluate("loads", lambda: outputs, np.array([0.0]), x[None], parameter_vector(m))
            return got["lam"].ravel(), got["E"].item()

        lam, stored = loads(start)
        text = told(compiled(start, method), start).text
        assert "open by up to 0.00037 m (t1 y), and the springs rest as they are there" in text
        # the nearest closed pose is found anew, to the square of the tolerance
        assert np.abs(lam).max() < 1.0 and stored < 1e-6
        lam, stored = loads(pulled)
        assert 500 < np.abs(lam).max() < 2500 and 0.5 < stored < 2.5
    run = cc.simulate(m, start, until=0.02, method=cc.VirtualSpring(1e6, 1e3))
    assert run.good and float(np.abs(run.reaction("g1")["force"]).max()) < 10.0  # all weights are 19 N


def test_a_loop_is_open_beyond_ten_tolerances_and_promises():
    m = perturbed(bennett(), 1e-6, 1e-5)
    start = m.assemble()
    program, p = compiled(start, cc.Multipliers()), parameter_vector(m)

    def at(off, rtol):
        return opened(program, 0.0, program.pack(start.q + off, start.v), p, rtol)

    assert at(0.0, 1e-8) is None and at(1e-5, 1e-8) is None
    assert "has opened by 0.0" in at(1e-2, 1e-8) and "the tolerance = 1e-05 of the drawing" in at(1e-2, 1e-8)
    assert "; solved rows are off by 0.0" in at(1e-2, 1e-8)
    assert at(1e-2, 1e-4) is None  # rtol explains 0.1
    # with a fixed step the drift of solved rows explains gaps of the others, but no gap where solved rows are closed
    x = program.pack(start.q + 1e-2, start.v)
    assert opened(program, 0.0, x, p, 1e-8, fixed_step=True) is None
    there = program.aimed(replace(start, q=start.q + 1e-2))
    assert "has opened by 0.0" in opened(there, 0.0, x, p, 1e-8, fixed_step=True)
    exact = compiled(bennett().assemble(), cc.Multipliers())
    assert opened(exact, 0.0, program.pack(start.q + 1.0, start.v), p, 1e-8) is None  # `checks` sees all rows


@pytest.mark.parametrize("action", ["stop", "warn", "pass"])
def test_a_run_goes_on_with_an_open_loop_if_it_is_told_to(action):
    m = perturbed(bennett(), 1e-6, 1e-5)
    start = m.assemble()
    program, p, noted = compiled(start, cc.Multipliers()), parameter_vector(m), []
    judge = Judge(program, start, 1.0, action, None, lambda t, text: noted.append(text), rtol=1e-8)
    held_inputs = HeldInputs(m, p, 0.0, 1.0, watched=False)
    ended = [judge(program, 0.5, program.pack(start.q + 1e-2, start.v), held_inputs) for _ in range(2)]
    if action == "stop":
        assert ended[0][0] is Status.opened and "has opened by" in ended[0][1]
    else:
        assert ended == [None, None]
    assert len(noted) == (action == "warn") and all("has opened by" in x for x in noted)  # once


def test_velocities_fit_the_rows_that_are_solved():
    m = perturbed(bennett(), 1e-6, 1e-5)
    start = m.assemble(velocity={"J1": 2.0})
    program = compiled(start, cc.Multipliers())
    e, rows = program.equations, list(program.rows)
    f = e.function("rates", {"rate": e.closure.A[rows, :] @ e.limbs.v, "T": e.energies.kinetic})
    p = np.array(list(m.parameters.merged({}).values()))
    moved = fitted(program, start)
    (slip, before), (rest, after) = (
        (np.abs(np.array(rate)).max(), float(T)) for rate, T in (f(0.0, x.q, x.v, p) for x in (start, moved))
    )
    assert 1e-8 < slip < 1e-4 and rest < 1e-14
    assert abs(after - before) < 1e-9 * before  # the square of what velocities change by
    np.testing.assert_array_equal(moved.q, start.q)


def test_exact_drawings_are_left_alone():
    start = bennett().assemble(velocity={"J1": 2.0})
    program = compiled(start, cc.Multipliers())
    assert fitted(program, start) is start and not program.aims.any()


def test_an_impulse_changes_as_little_as_possible():
    start = cc.library.four_bar().assemble(O=1.0)
    program = compiled(start, cc.Multipliers())
    v, P = impulse(program, replace(start, v=np.array([1.0, 0.0, 0.0])), program.rows)
    e = program.equations
    M, A = (np.array(x) for x in e.function("M", {"M": e.M, "A": e.closure.A})(0.0, start.q, v, _p(start)))
    np.testing.assert_allclose(A @ v, 0.0, atol=1e-13)
    np.testing.assert_allclose(M @ (v - [1.0, 0.0, 0.0]) + A.T @ P, 0.0, atol=1e-12)


def _p(state):
    return np.array(list(state.mechanism.parameters.merged({}).values()))
