"""The residual of ERLS and its derivatives: laws that hold at any state, in a plane and in space."""

import numpy as np
import pytest

import closedchain as cc
from closedchain.close.erls import ERLS
from closedchain.erls.energy import closed_coordinates, look
from closedchain.erls.kernels.closing import FAR
from closedchain.erls.matrices import element_stiffness, matrices, nodal_jacobian, nodal_map
from closedchain.erls.system import system
from closedchain.erls.workspace import Workspace
from tests.motions import moving_erls

SECTION = cc.Section.rectangle(y=0.02, z=0.03)


def spatial():
    """Two beams in space, the second on a rigid wrist with an offset; rotor, spring, friction, forces, damping."""
    m = cc.Mechanism("arm", gravity=(0.5, -1.0, -9.0))
    upper, wrist, lower = m.body("upper", cc.rod(0.4, 0.6)), m.body("wrist", cc.box((0.05, 0.06, 0.04), 0.3)), None
    lower = m.body("lower", cc.rod(0.3, 0.5, radius=0.01))
    for beam in (upper, lower):
        beam.flexible(
            E=2e9, section=SECTION, nu=0.33, shapes=cc.shapes.polynomials(y=1), rayleigh=(0.3, 1e-4), damping=0.05
        )
    m.revolute("shoulder", m.ground, upper, axis=(0, 0, 1), friction=cc.Friction(coulomb=0.1, velocity=0.5))
    m.universal("elbow", upper.at(0.4, 0.02, 0.0), wrist.at(-0.03, 0, 0))
    m.weld("clamp", wrist.at(0.02, 0.0, 0.01), lower)
    m.motor("shoulder", torque=0.4 + 0.1 * m.joints["shoulder"].v)
    m.joint_spring("shoulder", stiffness=3.0, rest=0.2)
    m.joint_damper("elbow", damping=0.05, coordinate="angle1")
    m.rotor("shoulder", inertia=1e-4, ratio=20.0)
    m.force("push", lower.tip, (0.3, -0.2, 0.5), moment=(0.0, 0.02, 0.0))
    m.spring("tie", m.ground.at(0.2, 0.3, 0.1), lower.at(0.15, 0, 0), stiffness=40.0, length=0.2)
    m.start = {"shoulder": 0.4, "elbow.angle1": 0.5, "elbow.angle2": -0.6}
    return m


def planar():
    """A five-bar with three flexible links and a rigid one: a loop, and pins between all kinds of links."""
    m = cc.library.five_bar()
    for name in ("left proximal", "left distal", "right proximal"):
        m.bodies[name].flexible(
            E=1e9, section=SECTION, shapes=cc.shapes.polynomials(y=1), stiffening=True, damping=0.05
        )
    m.gravity = (0.0, -9.81, 0.0)
    m.revision += 1
    return m


@pytest.fixture(scope="module", params=[planar, spatial])
def made(request):
    m = request.param()
    return system(m, m.assemble(), ERLS(elements=3))


@pytest.fixture
def state(made, rng):
    return moving_erls(made, rng)


def test_kinds(made):
    assert made.d.planar == (made.mechanism.name == "five-bar")
    assert made.n_q == (2 if made.d.planar else 3)


def test_power(made, state):
    """y' R = d(energy)/dt - power, for any accelerations: the equations are Lagrange's."""
    y, v, a = state
    ws = Workspace(made)
    t, h = 0.1, 1e-5
    got = v @ ws.residual(t, y, v, a)
    power = ws.room.work.sum()
    times = np.array([t - h, t + h])
    x = np.array([[y + s * h * v + h**2 / 2 * a, v + s * h * a, a] for s in (-1.0, 1.0)])
    before, after = look(made, times, x, closed_coordinates(made, times, x[:, 0])).energy
    want = (after - before) / (2 * h) - power
    # central differences of an energy of some joules: 1e-16 / 1e-5 by rounding, and h^2 times a third derivative
    assert got == pytest.approx(want, rel=1e-6, abs=1e-6)


def test_damping_takes_energy(made, rng):
    """At any state, however joints turn: Rayleigh's damping is of the rates of u_hat, and so is its power."""
    other = system(made.mechanism, made.start, ERLS(elements=3, rayleigh=(0.7, 2e-4)))
    ws = Workspace(other)
    y, _ = other.at_rest()
    lost = []
    for _ in range(20):
        bent = y + 1e-3 * rng.normal(size=other.n) * (np.arange(other.n) < other.n - other.n_q)
        v = rng.normal(size=other.n) * np.r_[np.full(other.n - other.n_q, 0.01), np.full(other.n_q, 20.0)]
        ws.residual(0.1, bent, v, np.zeros(other.n))
        lost.append(ws.room.work[1])
    assert max(lost) < 0


def test_the_mass_matrix_is_symmetric_and_positive(made):
    M, _, _ = matrices(made)
    kept = [k for k in range(made.n) if k not in set(made.zeroed.tolist())]
    assert np.abs(M - M.T).max() < 1e-13 * np.abs(M).max()
    assert np.linalg.eigvalsh(M[np.ix_(kept, kept)])[0] > 0
    if not made.twin.rotors:
        # rigid motions are counted twice, by u and by q; a rotor knows the difference: it is no part of a body
        values = np.linalg.eigvalsh(M)
        assert (np.abs(values) < 1e-12 * values[-1]).sum() == made.n_q


def test_rigid_motions_strain_nothing(made):
    """K J = 0 for the stiffness of all beams."""
    ws = Workspace(made)
    y, v = made.at_rest()
    ws.residual(0.0, y, v, v)
    N = nodal_map(ws)
    K = N.T @ element_stiffness(made) @ N
    assert np.abs(K @ nodal_jacobian(made)).max() < 1e-15 * np.abs(K).max() * made.n  # rounding of sums of n terms


def slopes(ws, t, state, which, step):
    """Derivatives by y, y' or y'' from five points: exact for polynomials up to the fourth degree, whatever the step.

    The residual is such a polynomial in all but q, and friction; there errors are of the fourth order.
    """
    out = np.empty((len(state[0]), len(state[0])))
    for j in range(len(state[0])):
        r = {}
        for steps in (-2, -1, 1, 2):
            moved = [x.copy() for x in state]
            moved[which][j] += steps * step
            r[steps] = ws.residual(t, *moved)
        out[:, j] = (8 * (r[1] - r[-1]) - (r[2] - r[-2])) / (12 * step)
    return out


@pytest.mark.parametrize(
    ("terms", "damping"), [("consistent", "dissipative"), ("consistent", "paper"), ("paper", "paper")]
)
def test_the_eliminated_system_is_that_of_the_derivatives(made, state, terms, damping):
    """Link by link elimination against dense differences: rates of T, stiffening and all damping are in the matrix."""
    method = ERLS(elements=3, terms=terms, damping=damping, rayleigh=(0.3, 1e-4), stiffening=True)
    other = system(made.mechanism, made.start, method)
    check_elimination(other, state)


def check_elimination(made, state):
    """Solutions with the eliminated system against those with dense differences of the residual."""
    ws = Workspace(made)
    M, C, K = (slopes(ws, 0.1, state, which, step) for which, step in ((2, 1e3), (1, 1e-2), (0, 1e-3)))
    rows, columns = (np.r_[: made.n_chain, made.n_chain + x[: made.n_u]] for x in (ws.kept.rows, ws.kept.columns))
    b = np.sin(np.arange(made.n) + 1.0)
    assert ws.linearise(0.1, *state)
    # derivatives by q are good to 1e-9, and K is not well conditioned; all else is exact
    for m, c, k, close in (
        (1.0, 0.0, 0.0, 1e-10),
        (1.0, 1e-3, 1e-6, 1e-9),
        (1.0, 0.1, 0.01, 1e-7),
        (0.0, 0.0, 1.0, 1e-7),
    ):
        assert ws.factor(m, c, k)
        x = ws.solve(b)
        Z = (m * M + c * C + k * K)[np.ix_(rows, columns)]
        want = np.zeros(made.n)
        want[columns] = np.linalg.solve(Z, b[rows])
        assert np.linalg.norm(x - want) < close * np.linalg.norm(want)
        assert not x[made.zeroed].any()


@pytest.fixture(scope="module")
def driven():
    """The five-bar with one of its motors replaced by a drive."""
    m = planar()
    begun = m.assemble().coordinates["left motor"]
    m.motors.clear()
    m.revision += 1
    m.drive("left motor", begun + 2 * cc.t + 0.5 * cc.math.sin(5 * cc.t))
    return system(m, m.assemble(), ERLS(elements=2, stiffening=True))


def test_the_eliminated_system_of_a_driven_mechanism(driven, rng):
    assert driven.n_q == 1
    check_elimination(driven, moving_erls(driven, rng))


def test_loops_follow_a_drive_however_far_it_goes(driven):
    """In steps of time: at once Newton's method would be too far away."""
    ws, (y, v) = Workspace(driven), driven.at_rest()
    ws.residual(0.0, y, v, np.zeros_like(y))
    before = ws.room.tree.q.copy()
    assert np.isfinite(ws.residual(0.2, y, v, np.zeros_like(y))).all()
    assert np.abs(ws.room.tree.q - before).max() > FAR


def test_elements_change_nothing_that_is_rigid(made):
    """The same forces on q at rest, whatever the mesh."""
    values = []
    for elements in (1, 4):
        other = system(made.mechanism, made.start, ERLS(elements=elements))
        ws = Workspace(other)
        y, v = other.at_rest()
        values.append(ws.residual(0.0, y, v, np.zeros_like(y))[-other.n_q :])
    assert np.abs(values[0] - values[1]).max() < 1e-12


def test_loops_that_do_not_close_are_told(made):
    ws = Workspace(made)
    y, v = made.at_rest()
    if made.d.planar:
        y[-2:] += (2.0, -2.0)  # the two arms of the five-bar cannot reach each other
        assert np.isnan(ws.residual(0.0, y, v, v)).all()
    y, _ = made.at_rest()
    assert np.isfinite(ws.residual(0.0, y, v, v)).all()  # and nothing is lost by it
