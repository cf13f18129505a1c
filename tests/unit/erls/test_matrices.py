"""Frequencies in space against an independent assembly of the same elements in world axes."""

import numpy as np
import pytest
from scipy.linalg import eigvalsh, null_space

import closedchain as cc
from closedchain.close.erls import ERLS
from closedchain.derive.erls.nodes import SPATIAL
from closedchain.erls.element import beam_element
from closedchain.erls.mesh import beam_numbers

ELEMENTS = 3
ANGLES = (0.3, 0.7)
OFFSET = np.array([0.0, 0.03, -0.02])


@pytest.fixture(scope="module")
def arm():
    """Two links with perpendicular axes; the elbow is beside the end of the first one."""
    m = cc.Mechanism("arm", gravity=(0, 0, -9.81))
    upper, lower = m.body("upper", cc.rod(0.4, 0.648)), m.body("lower", cc.rod(0.3, 0.486, radius=0.012))
    for beam in (upper, lower):
        beam.flexible(E=1.4e9, section=cc.Section.rectangle(y=0.02, z=0.03), nu=0.33, shapes=cc.shapes.polynomials(y=1))
    m.revolute("shoulder", m.ground, upper, axis=(0, 0, 1))
    m.revolute("elbow", upper.at(0.4, *OFFSET[1:]), lower, axis=(0, 1, 0))
    m.motor("shoulder", torque=0.0)
    m.motor("elbow", torque=0.0)
    m.start = dict(zip(("shoulder", "elbow"), ANGLES, strict=True))
    return m


def turns():
    a, b = ANGLES
    Rz = np.array([[np.cos(a), -np.sin(a), 0], [np.sin(a), np.cos(a), 0], [0, 0, 1]])
    Ry = np.array([[np.cos(b), 0, np.sin(b)], [0, 1, 0], [-np.sin(b), 0, np.cos(b)]])
    return Rz, Rz @ Ry


def independent(m, free):
    """All frequencies, Hz, with joints that are free to turn: displacements of all nodes in world axes, tied by
    rows."""
    size = 6 * (ELEMENTS + 1)
    K, M = np.zeros((2, 2 * size, 2 * size))
    for link, (name, R) in enumerate(zip(("upper", "lower"), turns(), strict=True)):
        beam = m.flexible[name]
        length = m.values()(beam.length) / ELEMENTS
        e = beam_element(SPATIAL, 0.0, length, beam_numbers(beam, m.values(), SPATIAL))
        T = np.kron(np.eye(4), R.T)
        for i in range(ELEMENTS):
            at = slice(link * size + 6 * i, link * size + 6 * (i + 2))
            K[at, at] += T.T @ e.K @ T
            M[at, at] += T.T @ e.M @ T
    rows = []

    def tie(*terms):
        row = np.zeros(2 * size)
        for at, values in terms:
            row[at : at + 3] += values
        rows.append(row)

    one, two = turns()
    arm = one @ OFFSET
    tip, start = size - 6, size
    for axis in np.eye(3):
        tie((0, axis))
        # displacement at the elbow: of the tip, and by its rotation
        tie((tip, axis), (tip + 3, np.cross(arm, axis)), (start, -axis))
    for k in range(3):
        if k != 2 or "shoulder" not in free:
            tie((3, one[:, k]))
        if k != 1 or "elbow" not in free:
            tie((tip + 3, two[:, k]), (start + 3, -two[:, k]))
    Z = null_space(np.array(rows))
    values = eigvalsh(Z.T @ K @ Z, Z.T @ M @ Z)
    return np.sqrt(np.maximum(values, 0.0)) / (2 * np.pi)


@pytest.mark.parametrize("locked", [(), ("elbow",), ("shoulder", "elbow")], ids=str)
def test_frequencies(arm, locked):
    free = {"shoulder", "elbow"} - set(locked)
    got = arm.modes(method=ERLS(elements=ELEMENTS), locked=locked)
    want = independent(arm, free)[len(free) :]
    assert got.rigid == len(free)
    # rounding: 1e-15 of the largest eigenvalue, which is 1e7 times the smallest
    assert np.abs(got.frequencies / want - 1).max() < 1e-8


def test_a_zeroed_choice_changes_no_frequency(arm):
    chord, base = (
        arm.modes(method=ERLS(elements=ELEMENTS, zero=zero), count=6).frequencies for zero in ("chord", "base")
    )
    assert np.abs(chord / base - 1).max() < 1e-9
