"""Native functions of a mechanism: compiled once, right, and dropped when the drawing changes."""

import numpy as np
import pytest

import closedchain as cc
from closedchain.derive.equations import derive
from closedchain.march.program.compiled import compiled, operations, right_hand_side
from closedchain.pose.state import parameter_vector


@pytest.fixture(scope="module")
def four_bar():
    return cc.library.four_bar()


def test_the_same_question_gives_the_same_program(four_bar):
    state = four_bar.assemble()

    assert compiled(state, cc.Multipliers()) is compiled(four_bar.assemble(O=1.0), cc.Multipliers())


def test_other_options_give_another_program(four_bar):
    state = four_bar.assemble()
    programs = {
        id(compiled(state, method))
        for method in (
            cc.Multipliers(),
            cc.Multipliers("none"),
            cc.Multipliers(cc.Baumgarte(5.0)),
            cc.Multipliers(cc.Baumgarte(6.0)),
        )
    }

    assert len(programs) == 4


def test_values_do_not_compile_again():
    m = cc.library.four_bar()
    before = compiled(m.assemble(), cc.Multipliers())
    m.parameters["crank.length"] = 1.1

    assert compiled(m.assemble(), cc.Multipliers()) is before
    assert compiled(m.assemble(parameters={"crank.length": 0.9}), cc.Multipliers()) is before


@pytest.mark.parametrize(
    "change",
    [
        lambda m: m.motor("O", torque=1.0),
        lambda m: m.parameter("k", 1.0),
        lambda m: m.force("push", m.bodies["crank"].tip, (1.0, 0, 0)),
        lambda m: m.joint_damper("A", 1.0),
        lambda m: m.spring("string", m.ground, m.bodies["coupler"].tip, 1.0),
    ],
    ids=["motor", "parameter", "force", "damper", "spring"],
)
def test_a_changed_drawing_is_compiled_again(change):
    m = cc.library.four_bar()
    before = compiled(m.assemble(), cc.Multipliers())
    change(m)
    after = compiled(m.assemble(), cc.Multipliers())

    assert after is not before
    assert after.equations is not before.equations
    assert after.closed.x.numel() == before.closed.x.numel()


def test_the_right_hand_side_solves_the_equations(four_bar):
    """``M a + h = tau - A' lam`` and ``A a + gamma = 0``, assembled as one matrix and solved with NumPy."""
    state = four_bar.assemble(O=1.0, velocity={"O": 2.0})
    e = derive(four_bar)
    f = e.function("terms", {"M": e.M, "h": e.h, "tau": e.tau, "A": e.closure.A, "gamma": e.closure.gamma})
    M, h, tau, A, gamma = (np.array(x) for x in f(0, state.q, state.v, parameter_vector(four_bar)))
    n = len(A)
    solution = np.linalg.solve(np.block([[M, A.T], [A, np.zeros((n, n))]]), np.concatenate([tau - h, -gamma])).ravel()
    dx = right_hand_side(state, cc.Multipliers())

    q, v, rest = np.split(dx, [e.topology.nq, e.topology.nq + e.topology.nv])
    np.testing.assert_array_equal(q[:3], state.v)
    np.testing.assert_allclose(q[3:], [state.velocities["B"]], rtol=1e-14)  # of the cut hinge, to count its turns
    np.testing.assert_allclose(v, solution[:3], rtol=1e-12)  # condition of the system times rounding
    assert rest == pytest.approx([6.0 * 2.0], rel=1e-14)  # power of the motor


def test_the_correction_puts_a_state_back(four_bar):
    state = four_bar.assemble(O=1.0, velocity={"O": 2.0})
    program = compiled(state, cc.Multipliers())
    x = program.pack(state.q, state.v)
    p = parameter_vector(four_bar)
    off = x + np.array([1e-4, -2e-4, 3e-4, 2e-4, 1e-4, -1e-4, 2e-4, 0.0])
    for _ in range(4):
        off, residual = program.correct(0.0, off, p)

    assert np.abs(residual[:2]).max() < 1e-14  # position and velocity; the third number is the smallest pivot
    assert 0 < residual[2] <= 1
    assert 0 < np.abs(off - x).max() < 1e-3


def test_what_never_drifts_needs_no_correction():
    pendulum = cc.library.pendulum()

    assert compiled(pendulum.assemble(), cc.Multipliers()).correct is None


def test_quaternions_are_corrected_whatever_the_method():
    m = cc.Mechanism("top", gravity=(0, 0, -9.81))
    m.spherical("pivot", m.ground, m.body("top", cc.cylinder(0.1, 0.05, 1.0)))

    assert compiled(m.assemble(), cc.Multipliers("none")).correct is not None


def test_operations_are_counted(four_bar):
    counts = operations(four_bar.assemble(), cc.Multipliers())

    assert counts["total"] == sum(v for k, v in counts.items() if k != "total") > 0
    assert counts["total"] <= 250  # the guide for this mechanism
    assert counts["trig"] > 0


def test_times_are_noted():
    m = cc.library.pendulum()
    program = compiled(m.assemble(), cc.Multipliers())

    assert set(program.seconds) == {"derive", "close", "compile"}
    assert all(x >= 0 for x in program.seconds.values())


def test_parameters_reach_the_native_code():
    """Gravity of another planet: an angular acceleration in proportion."""
    m = cc.library.pendulum()
    earth = right_hand_side(m.assemble(hinge=0.0), cc.Multipliers())
    moon = right_hand_side(m.assemble(hinge=0.0, parameters={"gravity.y": -9.81 / 6}), cc.Multipliers())

    assert earth[1] == pytest.approx(-1.5 * 9.81, rel=1e-14)  # a rod of 1 m, level: 3 g / (2 L)
    assert moon[1] == pytest.approx(earth[1] / 6, rel=1e-14)
