"""The traced beam: its integrals in closed form, frames on it, and structure that costs nothing."""

import casadi as ca
import numpy as np
import pytest

import closedchain as cc
from closedchain.derive.beams import cayley
from closedchain.derive.equations import derive
from closedchain.pose.state import parameter_vector

L, MU, EI, EA, GJ = 2.0, 0.25, 50.0, 4e3, 7.0
SECTION = cc.Section(A=EA / 1e4, Iz=EI / 1e4, Iy=3 * EI / 1e4, J=GJ / 3e3)


def beam(modes, **options):
    """A beam that moves freely, with the frame ``side`` off its axis."""
    m = cc.Mechanism("beam", gravity=(0, 0, 0))
    body = m.body("bar", cc.rod(length=L, mass=MU * L))
    body.flexible(E=1e4, G=3e3, section=SECTION, shapes=modes, **options)
    body.frame("side", at=(0.5, 0.2, 0.1))
    m.joint("free", "pose", m.ground, body)
    return m


def numbers(m, expressions, q=None, v=None):
    e = derive(m)
    pose = [0, 0, 0, 1, 0, 0, 0]
    q = np.array([*pose, *(q if q is not None else np.zeros(e.topology.nq - 7))])
    v = np.zeros(e.topology.nv) if v is None else v
    f = e.function("f", expressions(e))
    return [np.array(x) for x in f.call([0.0, q, v, parameter_vector(m)])]


def test_inertia_of_two_sines():
    """NOTES of the flexible coupler: mu L/2 on the diagonal, mu L^2/pi and -mu L^2/(2 pi) with the rotation."""
    eta = np.array([0.03, -0.02])
    m = beam(cc.shapes.pinned_pinned(y=2))
    found = derive(m).limbs.links[0].inertia
    own, spin, turning = numbers(
        m, lambda e: {"G": found.shaping.G, "C": found.shaping.momentum.ang, "I": found.I}, eta
    )
    assert own == pytest.approx(np.diag([MU * L / 2] * 2), abs=1e-14)
    assert spin[2] == pytest.approx([MU * L**2 / np.pi, -MU * L**2 / (2 * np.pi)], rel=1e-13)
    assert turning[2, 2] == pytest.approx(MU * L**3 / 3 + MU * L / 2 * eta @ eta, rel=1e-13)
    assert turning[0, 0] == pytest.approx(MU * L / 2 * eta @ eta, rel=1e-12)  # about its own axis once it is bent


def test_stiffness_of_each_way_to_deform():
    modes = cc.shapes.pinned_pinned(y=1, z=1, axial=1, torsion=1)
    (K,) = numbers(beam(modes), lambda e: {"K": e.limbs.links[0].beam.K})
    bend, stretch = np.pi**4 / (2 * L**3), np.pi**2 / (2 * L)
    order = {name: i for i, name in enumerate(modes.names)}
    wanted = {"y1": EI * bend, "z1": 3 * EI * bend, "axial1": EA * stretch, "torsion1": GJ * stretch}
    assert np.diag(K)[[order[x] for x in wanted]] == pytest.approx(list(wanted.values()), rel=1e-12)
    assert np.count_nonzero(K) == 4


def test_modal_damping_gives_the_ratio_that_was_asked_for():
    m = beam(cc.shapes.craig_bampton(y=2, z=0), damping=0.03)
    traced = derive(m).limbs.links[0]
    K, D, G = numbers(m, lambda e: {"K": traced.beam.K, "D": traced.beam.D, "G": traced.beam.inertia.shaping.G})
    values, shapes = np.linalg.eig(np.linalg.solve(G, K))
    modal = shapes.T @ D @ shapes / np.diag(shapes.T @ G @ shapes)[:, None]
    assert np.diag(modal) / (2 * np.sqrt(values)) == pytest.approx(0.03, rel=1e-9)


def test_rayleigh_damping():
    m = beam(cc.shapes.craig_bampton(y=1), rayleigh=(0.4, 2e-3))
    traced = derive(m).limbs.links[0]
    K, D, G = numbers(m, lambda e: {"K": traced.beam.K, "D": traced.beam.D, "G": traced.beam.inertia.shaping.G})
    assert pytest.approx(0.4 * G + 2e-3 * K, rel=1e-13) == D


def test_a_frame_off_the_axis_turns_with_its_section():
    m = beam(cc.shapes.polynomials(y=1, z=1, torsion=1))
    eta, at, arm = np.array([0.04, 0.03, 0.2]), 0.5 / L, np.array([0, 0.2, 0.1])
    frame = m.bodies["bar"]["side"]
    attached = derive(m).limbs.links[0].beam.attach(derive(m).limbs.in_body(frame))
    R, r = numbers(m, lambda e: {"R": attached.X.R, "r": attached.X.r}, eta)
    U, T = m.flexible["bar"].shapes.at(at)
    theta = np.diag([1, 1 / L, 1 / L]) @ T @ eta
    assert pytest.approx(np.eye(3), abs=1e-15) == R.T @ R
    # a rotation by 2 atan(|theta| / 2) about theta
    assert np.arccos((np.trace(R) - 1) / 2) == pytest.approx(2 * np.arctan(np.linalg.norm(theta) / 2), rel=1e-12)
    assert r[:, 0] == pytest.approx(np.array([0.5, 0, 0]) + U @ eta + R @ arm, rel=1e-13)


@pytest.mark.parametrize("place", [-0.3, L + 0.3])
def test_a_frame_beyond_an_end_hangs_on_it(place):
    m = beam(cc.shapes.free_free(y=1))
    body = m.bodies["bar"]
    end = 0.0 if place < 0 else L
    frames = [body.frame("there", at=(place, 0, 0)), body.frame("end", at=(end, 0, 0))]
    limbs = derive(m).limbs
    found = [limbs.links[0].beam.attach(limbs.in_body(x)).X for x in frames]
    R, there, r = numbers(m, lambda e: {"R": found[1].R, "there": found[0].r, "r": found[1].r}, [0.05])
    assert there == pytest.approx(r + R @ np.array([[place - end], [0], [0]]), rel=1e-13)


def test_a_place_on_the_beam_that_a_parameter_changes():
    m = beam(cc.shapes.pinned_pinned(y=1))
    where = m.parameter("where", 0.5)
    frame = m.bodies["bar"].frame("moving", at=(where, 0, 0))
    limbs = derive(m).limbs
    r = limbs.links[0].beam.attach(limbs.in_body(frame)).X.r
    for x in (0.5, 1.3):
        m.parameters["where"] = x
        (got,) = numbers(m, lambda e: {"r": r}, [0.1])
        assert got[:, 0] == pytest.approx([x, 0.1 * np.sin(np.pi * x / L), 0], abs=1e-14)


def test_a_clamped_end_costs_nothing():
    """Shapes that vanish at the joint with their slope leave no columns in its motion."""
    m = beam(cc.shapes.clamped_free(y=2))
    Phi = derive(m).limbs.links[0].motion.Phi
    assert Phi.ang.shape == (3, 8)
    assert Phi.ang[:, 6:].nnz() == Phi.lin[:, 6:].nnz() == 0


def test_a_straight_beam_is_not_turned():
    assert cayley(ca.SX(3, 1)).is_eye()
    R = np.array(ca.DM(cayley(ca.SX([0.3, 0, 0]))))
    assert pytest.approx(np.array(ca.DM(cayley(ca.SX([-0.3, 0, 0])))).T) == R


def test_foreshortening_keeps_the_length_of_the_axis():
    """Of a circular arc, drawn in by eta^2 H / (2 L): to second order, the arc is as long as the beam."""
    lengths = []
    for height in (0.1, 0.2):
        m = beam(cc.shapes.pinned_pinned(y=1), stiffening=True)
        limbs = derive(m).limbs
        drawn = [limbs.in_body(m.bodies["bar"].at(x, 0, 0)) for x in np.linspace(0, L, 201)]
        places = [limbs.links[0].beam.attach(x).X.r for x in drawn]
        (r,) = numbers(m, lambda e, places=places: {"r": ca.horzcat(*places)}, [height])
        lengths.append(np.linalg.norm(np.diff(r, axis=1), axis=0).sum() - L)
    # fourth order is left; without foreshortening the axis would be pi^2 0.1^2 / (4 L) = 0.0123 m too long
    assert abs(lengths[0]) < 1e-4 and lengths[1] / lengths[0] == pytest.approx(16, rel=0.06)


@pytest.mark.parametrize(
    "modes", [cc.shapes.clamped_free(y=6), cc.shapes.clamped_free(y=10), cc.shapes.craig_bampton(y=4, elements=12)]
)
def test_a_stiffened_beam_has_a_positive_inertia_however_it_is_bent(modes):
    m = beam(modes, stiffening=True)
    found = derive(m).limbs.links[0].inertia
    whole = ca.blockcat(
        [
            [found.I, ca.skew(ca.densify(found.mc)), found.shaping.momentum.ang],
            [-ca.skew(ca.densify(found.mc)), found.m * ca.SX.eye(3), found.shaping.momentum.lin],
            [found.shaping.momentum.ang.T, found.shaping.momentum.lin.T, found.shaping.G],
        ]
    )
    f = derive(m).function("f", {"M": whole})
    rng = np.random.default_rng(3)
    n = modes.n
    for _ in range(40):
        eta = rng.normal(0, 0.1, n) / np.arange(1, n + 1)  # a twentieth of the length
        q = np.array([0, 0, 0, 1, 0, 0, 0, *eta])
        M = np.array(f(0.0, q, np.zeros(6 + n), parameter_vector(m)))
        size = np.sqrt(np.maximum(np.diag(M), 1e-12))  # a straight beam has no inertia about its axis
        assert np.linalg.eigvalsh(M / np.outer(size, size))[0] > -1e-9
