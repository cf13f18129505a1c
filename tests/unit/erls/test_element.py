"""Elements of ERLS: integrals, and the fields of displacements that the kernels gather and scatter."""

import numpy as np
import pytest

from closedchain.derive.erls.nodes import PLANAR, SPATIAL
from closedchain.erls.element import BeamSection, beam_element, rigid_piece
from closedchain.erls.kernels.forces import gather, scatter
from closedchain.erls.mesh import elements_between

NUMBERS = {"mass": 1.62, "EA": 4e6, "EIy": 30.0, "EIz": 17.0, "GJ": 11.0, "j": (3e-4, 2e-4, 1e-4)}
INERTIA = np.array([[0.03, 0.002, -0.001], [0.002, 0.04, 0.003], [-0.001, 0.003, 0.05]])


def element(names=SPATIAL, x=0.3, length=0.2):
    return beam_element(names, x, length, BeamSection(**NUMBERS))


def body(names=SPATIAL):
    return rigid_piece(names, 2.5, np.array([0.1, -0.2, 0.05]), INERTIA)


def rigid_displacements(names, places):
    """Displacements of nodes (rows) by small translations and rotations about the origin (columns)."""
    rows = []
    for place in places:
        turns = [np.cross(axis, place) for axis in np.eye(3)]
        both = np.block([[np.eye(3), np.array(turns).T], [np.zeros((3, 3)), np.eye(3)]])
        rows += [both[SPATIAL.index(name)] for name in names]
    return np.array(rows)


@pytest.mark.parametrize("names", [SPATIAL, PLANAR], ids=["space", "plane"])
def test_rigid_motions_strain_nothing_and_have_the_inertia_of_a_rod(names):
    e = element(names)
    r = rigid_displacements(names, [(0.3, 0, 0), (0.5, 0, 0)])
    if names == PLANAR:
        r[:, [2, 3, 4]] = 0.0  # motions out of the plane
    assert np.abs(e.K @ r).max() < 1e-12 * e.K.max()
    m, L, c = NUMBERS["mass"] * 0.2, 0.2, 0.4
    want = np.zeros((6, 6))
    want[[0, 1], [0, 1]] = m
    want[5, 5] = m * (L**2 / 12 + c**2) + 1e-4 * L
    want[1, 5] = want[5, 1] = m * c
    if names == SPATIAL:
        want[2, 2], want[4, 4], want[3, 3] = m, want[5, 5] + 1e-4 * L, 3e-4 * L
        want[2, 4] = want[4, 2] = -m * c
    assert np.abs(r.T @ e.M @ r - want).max() < 1e-15


def test_sections_turn(rng):
    """Their inertia is that of the angles (rx, -dw/dx, dv/dx) along the element."""
    e, L = element(), 0.2
    u = rng.normal(size=12)
    places, weights = np.polynomial.legendre.leggauss(5)
    s, weights = (places + 1) * L / 2, weights * L / 2
    # derivatives of the Hermite polynomials by value and slope at both ends
    x = s / L
    slopes = np.array([-6 * x * (1 - x) / L, (1 - x) * (1 - 3 * x), 6 * x * (1 - x) / L, x * (3 * x - 2)])
    v, w = (np.einsum("i,is->s", e.E[a] @ u, slopes) for a in (1, 2))
    theta = np.array([(1 - x) * u[3] + x * u[9], -w, v])
    assert e.turned @ u == pytest.approx(theta @ weights, abs=1e-14)
    assert u @ e.spin @ u == pytest.approx(np.array(NUMBERS["j"]) @ (theta**2 @ weights), rel=1e-13)


def test_rigid_body():
    """Its node is at its origin."""
    piece, com = body(), np.array([0.1, -0.2, 0.05])
    want = np.zeros((6, 6))
    want[:3, :3] = 2.5 * np.eye(3)
    want[3:, 3:] = INERTIA + 2.5 * (com @ com * np.eye(3) - np.outer(com, com))
    cross = 2.5 * np.array([[0, com[2], -com[1]], [-com[2], 0, com[0]], [com[1], -com[0], 0]])  # -m [c x]
    want[:3, 3:], want[3:, :3] = cross, cross.T
    assert np.abs(piece.M - want).max() < 1e-15
    assert not piece.K.any()


def test_a_cubic_bends_exactly():
    """v = x^3: K u is the end forces of that shape, and the mass matrix integrates its square."""
    e, h, EI = beam_element(PLANAR, 0.0, 0.2, BeamSection(**NUMBERS | {"j": (0.0, 0.0, 0.0)})), 0.2, NUMBERS["EIz"]
    u = np.array([0, 0, 0, 0, h**3, 3 * h**2])
    assert e.K @ u == pytest.approx(EI * np.array([0, 6, 0, 0, -6, 6 * h]), abs=1e-12)  # -(EI v'')', EI v'' at the ends
    assert u @ e.M @ u == pytest.approx(NUMBERS["mass"] * h**7 / 7, rel=1e-14)
    assert u @ e.slopes @ u == pytest.approx(9 * h**5 / 5, rel=1e-14)


@pytest.mark.parametrize("names", [SPATIAL, PLANAR], ids=["space", "plane"])
@pytest.mark.parametrize("make", [element, body], ids=["beam", "rigid"])
def test_fields(make, names, rng):
    """What the kernels gather is the field E u, and what they scatter is its transpose."""
    piece, n = make(names), len(names)
    one, two = rng.normal(size=(2, n))
    u = np.concatenate([one, two]) if piece.length else one
    P, Q = np.empty((3, 4)), rng.normal(size=(3, 4))
    gather.py_func(one, two, piece.length, P)
    assert np.abs(P - piece.E @ u).max() < 1e-14
    f, g = np.zeros(n), np.zeros(n)
    scatter.py_func(Q, piece.length, f, g)
    want = np.einsum("aik,ai->k", piece.E, Q)
    assert np.abs((np.concatenate([f, g]) if piece.length else f) - want).max() < 1e-14


def test_elements_between_stations():
    assert elements_between([0.0, 0.5, 1.0], 4) == [2, 2]
    assert elements_between([0.0, 0.01, 1.0], 2) == [1, 2]
