"""Sections that turn: their energy against exact rotations, and a beam that spins and is yawed."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import closedchain as cc
from closedchain.close.erls import ERLS
from closedchain.derive.erls.nodes import SPATIAL
from closedchain.erls.element import BeamSection, beam_element
from closedchain.erls.energy import of_sections
from closedchain.erls.matrices import nodal_jacobian
from closedchain.erls.system import system
from closedchain.erls.workspace import Workspace

LENGTH, RADIUS, SPIN, YAW = 0.5, 0.05, 100.0, 5.0
SECTION = cc.Section.circle(0.02)


def shaft(**options):
    """A thick rod that rolls in a fork, which pitches on a hub, which yaws."""
    m = cc.Mechanism("shaft", gravity=(0, 0, 0))
    beam = m.body("beam", cc.rod(LENGTH, 1.0, radius=RADIUS))
    shapes = cc.shapes.polynomials(y=2, z=2, axial=1, torsion=1)
    beam.flexible(E=2e11, section=SECTION, nu=0.3, shapes=shapes, **options)
    hub, fork = (m.body(name, cc.box((0.05, 0.05, 0.05), 0.1)) for name in ("hub", "fork"))
    m.revolute("yaw", m.ground, hub, axis=(0, 0, 1))
    m.revolute("pitch", hub, fork, axis=(0, 1, 0))
    m.revolute("roll", fork, beam, axis=(1, 0, 0))
    return m


def test_energy_is_that_of_turned_sections(rng):
    """Of an element that turns as a whole, by theta; what is left out is of third order."""
    j = (3e-4, 2e-4, 1e-4)
    piece = beam_element(SPATIAL, 0.3, 0.2, BeamSection(mass=1.6, EA=1.0, EIy=1.0, EIz=1.0, GJ=1.0, j=j))
    w, theta, rate = rng.normal(size=(3, 3)) * np.array([[3.0], [1.0], [1.0]])

    def nodes(theta):
        return np.concatenate([[0, *np.cross(theta, [x, 0, 0])[1:], *theta] for x in (0.3, 0.5)])

    gaps = []
    for size in (1e-1, 1e-2):
        turned = Rotation.from_rotvec(size * theta)
        h = 1e-6  # of the derivative of the rotation: errors of 1e-10, of third differences
        ahead, behind = (Rotation.from_rotvec(size * (theta + s * h * rate)) for s in (1, -1))
        spin = turned.inv().apply(w) + (behind.inv() * ahead).as_rotvec() / (2 * h)
        exact = 0.2 / 2 * spin**2 @ j
        gaps.append(of_sections(piece, w[None], size * nodes(theta)[None], size * nodes(rate)[None])[0] - exact)
    assert abs(gaps[0]) > 1e-8 and abs(gaps[1]) < 2e-3 * abs(gaps[0])


def test_rigid_motions_take_the_same_by_nodes_as_by_coordinates(rng):
    """J' R_u = R_q undeformed, with any rates and accelerations of q: what a rigid motion needs can be said by both."""
    m = shaft()
    made = system(m, m.assemble({"yaw": 0.2, "pitch": 0.4, "roll": 0.7}), ERLS(elements=2))
    ws, J, (y, v) = Workspace(made), nodal_jacobian(made), made.at_rest()
    for _ in range(5):
        a = np.zeros_like(y)
        v[-3:], a[-3:] = rng.normal(size=(2, 3)) * np.array([[30.0], [500.0]])
        r = ws.residual(0.0, y, v, a)
        assert np.abs(J.T @ r - r[-3:]).max() < 1e-13 * np.abs(r).max()


def test_a_spinning_beam_that_is_yawed():
    """Its sections need jx w_x w_z about y. So it bends, as a cantilever with a moment along it, and its root carries
    all of it; so does that of a floating frame, whose beam is thin in bending.
    """
    m = shaft(rayleigh=(0.0, 2e-4))  # 15 % of its first mode, of 250 Hz
    for name, rate in (("yaw", YAW), ("pitch", 0.0), ("roll", SPIN)):
        m.drive(name, rate * cc.t)
    times = np.linspace(0.055, 0.06, 6)
    run = cc.simulate(m, until=0.06, method=ERLS(elements=1), rtol=1e-8, t_eval=times)
    other = cc.simulate(m, until=0.06, rtol=1e-6, solver="radau5", t_eval=times)
    moment = 0.5 * RADIUS**2 * SPIN * YAW
    sag = moment * LENGTH**2 / (3 * 2e11 * np.pi * 0.02**4 / 4)
    c, s = np.cos(SPIN * times), np.sin(SPIN * times)

    def in_fork(y, z):
        return np.stack([c * y - s * z, s * y + c * z], axis=1)

    root, tip = run.beam("beam", [0.0]), run.beam("beam", [LENGTH]).displacement[:, 0]
    bending = in_fork(root["My"].values[:, 0], root["Mz"].values[:, 0])
    there = other.beam("beam", [0.0])
    floating = in_fork(there["My"].values[:, 0], there["Mz"].values[:, 0])
    # 14 periods with 15 % of damping leave 1e-5 of what swung at first; the sag turns in the beam, against damping
    assert np.abs(bending - [-moment, 0.0]).max() < 1e-3 * moment
    assert np.abs(floating - [-moment, 0.0]).max() < 1e-3 * moment
    assert np.linalg.norm(tip[:, 1:], axis=1) == pytest.approx(sag, rel=0.01)
    assert np.abs(run.reaction("roll", axes="fork")["moment"].values - [0.0, moment, 0.0]).max() < 1e-3 * moment
