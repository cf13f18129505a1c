"""Integrals of a beam element and of a rigid body: pure numbers, computed once.

A piece of a body (an element of a beam, or all of a rigid body) moves by a field of four functions in each component,

    p(s) = sum_k P[:, k] phi_k(s),        P (3 x 4)

for a beam the cubic polynomials of Hermite, by values and slopes at both ends; for a rigid body 1, x, y, z. All that is
inertial then needs one Gram matrix ``G = int phi phi' dm`` (4 x 4), whatever the motion: with accelerations A (3 x 4)
of the field, ``Q = A G`` are the forces on its coefficients. Axial displacements are linear in s, which is a cubic,
too.

Sections that are not thin turn against inertia, too, by ``theta = (rx, -dw/dx, dv/dx)``, with j about the three axes:
see `sections`. What they do is of fourth degree along an element, so that three points of Gauss integrate it exactly.

The displacements of a node are (x, y, z, rx, ry, rz) in the axes of the body, or (x, y, rz) in a plane; a section that
bends by v(x), w(x) turns by (rx, -dw/dx, dv/dx). The paper's (15) is ``M = int N' N dm``, (16) ``K = int B' D B dv``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from closedchain.lock import once

# integrals over 0..1 of products of the Hermite polynomials by value and slope at both ends
HERMITE = np.array([[156, 22, 54, -13], [22, 4, 13, -3], [54, 13, 156, -22], [-13, -3, -22, 4]]) / 420
# of their first derivatives: the geometric stiffness
HERMITE_SLOPES = np.array([[36, 3, -36, 3], [3, 4, -3, -1], [-36, -3, 36, -3], [3, -1, -3, 4]]) / 30
# and of their second derivatives
HERMITE_CURVATURES = np.array([[12, 6, -12, 6], [6, 4, -6, 2], [-12, -6, 12, -6], [6, 2, -6, 4]], float)

# places of Gauss on 0..1, and their weights
GAUSS = np.array([0.5 - np.sqrt(0.15), 0.5, 0.5 + np.sqrt(0.15)]), np.array([5.0, 8.0, 5.0]) / 18


@dataclass(frozen=True, eq=False)
class Piece:
    """Constants of an element or of a rigid body.

    Attributes
    ----------
    G : (4, 4) Gram matrix of the field.
    P0 : (3, 4) the field at rest: where the points are.
    one : (4,) the field that is 1 everywhere.
    E : (3, 4, k) coefficients of the field for each unit displacement of the nodes.
    K : (k, k) stiffness.
    j : (3,) moments of inertia of the sections, kg m; of a thin rod they are zero.
    spin, turned : (k, k), (3, k) ``int theta' j theta dx`` and ``int theta dx`` of unit displacements.
    length : m; 0 of a rigid body.
    EA : N; for the mean axial strain.
    alpha, beta : Rayleigh's damping, 1/s and s.
    """

    G: np.ndarray
    P0: np.ndarray
    one: np.ndarray
    E: np.ndarray
    K: np.ndarray
    j: np.ndarray
    spin: np.ndarray
    turned: np.ndarray
    length: float = 0.0
    EA: float = 0.0
    alpha: float = 0.0
    beta: float = 0.0

    @once
    def B(self) -> np.ndarray:
        """``int N_a' N_b dm`` (3, 3, k, k), with N_a the component a of the displacement."""
        return np.einsum("aik,ij,bjl->abkl", self.E, self.G, self.E)

    @once
    def N1(self) -> np.ndarray:
        """``int N dm`` (3, k)."""
        return np.einsum("i,ij,ajk->ak", self.one, self.G, self.E)

    @once
    def M(self) -> np.ndarray:
        """Mass matrix (15), (k, k)."""
        return np.einsum("aakl->kl", self.B) + self.spin

    @once
    def sections(self) -> np.ndarray:
        """Of the sections at the points of Gauss (3, 6): weight (m), place, and slopes of the four functions."""
        x, weights = GAUSS
        L = self.length
        if not L:
            return np.zeros((3, 6))
        return np.stack([L * weights, x, *hermite_slopes(x, L)], axis=1)

    @once
    def turns(self) -> np.ndarray:
        """Rotations of these sections by unit displacements (3, 3, k)."""
        out = np.zeros((3, 3, self.E.shape[2]))
        if self.length:
            x, slopes = self.sections[:, 1], self.sections[:, 2:]
            ends = np.repeat(np.stack([1 - x, x], axis=1), self.E.shape[2] // 2, axis=1)
            out[:, 0] = 2 / self.length * self.turned[0] * ends
            out[:, 1], out[:, 2] = -slopes @ self.E[2], slopes @ self.E[1]
        return out

    @once
    def slopes(self) -> np.ndarray:
        """``int v_x v_x' + w_x w_x' dx`` (k, k): the geometric stiffness of a unit tension."""
        L = self.length
        if not L:
            return np.zeros_like(self.K)
        scale = np.array([1, L, 1, L])
        S = HERMITE_SLOPES / L * np.outer(scale, scale)
        return sum(np.einsum("ik,ij,jl->kl", self.E[a], S, self.E[a]) for a in (1, 2))


def hermite_slopes(x: np.ndarray, length: float) -> np.ndarray:
    """Slopes of the Hermite polynomials by value and slope at both ends, at places x from 0 to 1 (4, len(x))."""
    return np.array([-6 * x * (1 - x) / length, (1 - x) * (1 - 3 * x), 6 * x * (1 - x) / length, x * (3 * x - 2)])


class BeamSection(NamedTuple):
    """Numbers of a beam.

    Attributes
    ----------
    mass : kg per metre.
    EA, EIy, EIz, GJ : stiffness against stretching (N), bending along z and y, and twisting (N m^2).
    j : moments of inertia of the sections about x, y, z, kg m^2 per metre.
    alpha, beta : Rayleigh's damping.
    """

    mass: float
    EA: float
    EIy: float
    EIz: float
    GJ: float
    j: tuple[float, float, float] = (0.0, 0.0, 0.0)
    alpha: float = 0.0
    beta: float = 0.0


def beam_element(names: tuple[str, ...], x: float, length: float, beam: BeamSection) -> Piece:
    """An Euler-Bernoulli element from x to x + length along a body's axis.

    ``names`` are the displacements of a node, `derive.erls.nodes.SPATIAL` or `PLANAR`.
    """
    h, n, j = length, len(names), beam.j
    scale = np.array([1, h, 1, h])
    E = np.zeros((3, 4, 2 * n))
    for end in (0, 1):
        for i, name in enumerate(names):
            k = end * n + i
            if name == "x":  # linear between the nodes
                E[0, 2 * end, k] = 1.0
                E[0, [1, 3], k] = (2 * end - 1) / h
            elif name == "y":
                E[1, 2 * end, k] = 1.0
            elif name == "z":
                E[2, 2 * end, k] = 1.0
            elif name == "ry":
                E[2, 2 * end + 1, k] = -1.0
            elif name == "rz":
                E[1, 2 * end + 1, k] = 1.0
    bending = HERMITE_CURVATURES / h**3 * np.outer(scale, scale)
    K = beam.EIz * np.einsum("ik,ij,jl->kl", E[1], bending, E[1]) + beam.EIy * np.einsum(
        "ik,ij,jl->kl", E[2], bending, E[2]
    )
    slopes = HERMITE_SLOPES / h * np.outer(scale, scale)
    spin = j[2] * np.einsum("ik,ij,jl->kl", E[1], slopes, E[1]) + j[1] * np.einsum("ik,ij,jl->kl", E[2], slopes, E[2])
    ends = np.array([-1.0, 0, 1, 0])  # of the field: what its slope adds up to
    turned = np.stack([np.zeros(2 * n), -ends @ E[2], ends @ E[1]])
    pull = np.array([[1, -1], [-1, 1]])
    ux = [i for i, name in enumerate(names * 2) if name == "x"]
    K[np.ix_(ux, ux)] += beam.EA / h * pull
    if "rx" in names:
        rx = [i for i, name in enumerate(names * 2) if name == "rx"]
        K[np.ix_(rx, rx)] += beam.GJ / h * pull
        spin[np.ix_(rx, rx)] = j[0] * h / 6 * np.array([[2, 1], [1, 2]])
        turned[0, rx] = h / 2
    P0 = np.zeros((3, 4))
    P0[0] = x, 1.0, x + h, 1.0
    G = beam.mass * h * HERMITE * np.outer(scale, scale)
    return Piece(G, P0, np.array([1.0, 0, 1, 0]), E, K, np.array(j), spin, turned, h, beam.EA, beam.alpha, beam.beta)


def rigid_piece(names: tuple[str, ...], mass: float, com: np.ndarray, inertia: np.ndarray) -> Piece:
    """A rigid body as a node at its origin.

    Parameters
    ----------
    mass, com, inertia : kg, m, kg m^2 about the centre of mass (3, 3).
    """
    about_origin = inertia + mass * (com @ com * np.eye(3) - np.outer(com, com))
    G = np.zeros((4, 4))
    G[0, 0], G[0, 1:], G[1:, 0] = mass, mass * com, mass * com
    G[1:, 1:] = np.trace(about_origin) / 2 * np.eye(3) - about_origin
    E = np.zeros((3, 4, len(names)))
    for k, name in enumerate(names):
        axis = "xyz".index(name[-1])
        if name.startswith("r"):
            for j in range(3):  # theta x e_j
                E[:, 1 + j, k] = np.cross(np.eye(3)[axis], np.eye(3)[j])
        else:
            E[axis, 0, k] = 1.0
    P0 = np.zeros((3, 4))
    P0[:, 1:] = np.eye(3)
    none = np.zeros((len(names), len(names)))
    return Piece(G, P0, np.array([1.0, 0, 0, 0]), E, none, np.zeros(3), none, np.zeros((3, len(names))))
