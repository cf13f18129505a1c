"""The paper's element equations, typed in: (6), (11), (13), (15) to (22) and (34), for two links in a plane.

Each link is one beam. Link 1 turns by q1 about the origin, link 2 by q2 against it; their joint has the axes of link 2,
which starts there, so that T of link 1 turns its end. Displacements are

    u = (rotation at the start of link 1, x, y of the joint, rotations at the end of 1 and at the start of 2,
         x, y and rotation of the tip)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

LENGTH, MASS, EI, EA, GRAVITY = 0.5, 2.352, 100.0, 3e6, 9.81  # of each link: the lower arm of the PacDrive
LABELS = ("link1.0.rz", "link2.0.x", "link2.0.y", "link1.1.rz", "link2.0.rz", "link2.1.x", "link2.1.y", "link2.1.rz")
OF_LINK = ((None, None, 0, 1, 2, 3), (1, 2, 4, 5, 6, 7))  # displacements of the six of each element; None: the ground
POINTS, WEIGHTS = np.polynomial.legendre.leggauss(5)  # exact to the ninth power of x: N' N has the sixth
SPIN = np.array([[0.0, -1.0], [1.0, 0.0]])


def turn(angle: float) -> np.ndarray:
    """Rotation in the plane."""
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


def shapes(x: float, length: float = LENGTH) -> np.ndarray:
    """N (2, 6): linear along the beam, cubic across it."""
    s = x / length
    along = [1 - s, 0, 0, s, 0, 0]
    across = [0, 1 - 3 * s**2 + 2 * s**3, length * s * (1 - s) ** 2]
    return np.array([along, [*across, 0, 3 * s**2 - 2 * s**3, -length * s**2 * (1 - s)]])


def stiffness() -> np.ndarray:
    """The integral of B' D B (6, 6)."""
    L, a, b = LENGTH, EA / LENGTH, EI / LENGTH**3
    K = np.zeros((6, 6))
    K[np.ix_([0, 3], [0, 3])] = a * np.array([[1, -1], [-1, 1]])
    K[np.ix_([1, 2, 4, 5], [1, 2, 4, 5])] = b * np.array(
        [[12, 6 * L, -12, 6 * L], [6 * L, 4 * L**2, -6 * L, 2 * L**2], [-12, -6 * L, 12, -6 * L],
         [6 * L, 2 * L**2, -6 * L, 4 * L**2]]
    )  # fmt: skip
    return K


@dataclass(frozen=True)
class Turning:
    """A rotation matrix R or T with its first and second rates."""

    here: np.ndarray
    rate: np.ndarray
    second: np.ndarray

    @classmethod
    def by(cls, angle: float, rate: float, second: float) -> Turning:
        """About the normal of the plane."""
        R = turn(angle)
        return cls(R, rate * SPIN @ R, second * SPIN @ R - rate**2 * R)

    def end(self) -> Turning:
        """T of an element whose second node has other axes: a block for its displacement."""
        out = []
        for k, block in enumerate((self.here, self.rate, self.second)):
            T = np.eye(6) if k == 0 else np.zeros((6, 6))
            T[3:5, 3:5] = block
            out.append(T)
        return Turning(*out)


def motions(q, q_dot, q_ddot) -> tuple[tuple[Turning, Turning], tuple[Turning, Turning], list[np.ndarray]]:
    """R and T of both links, and inertial accelerations r'' of their nodes in the axes of the joints (6,) each."""
    angles = [np.cumsum(x) for x in (q, q_dot, q_ddot)]
    R = tuple(Turning.by(*(float(x[k]) for x in angles)) for k in (0, 1))
    same = Turning(np.eye(6), np.zeros((6, 6)), np.zeros((6, 6)))
    T = (Turning.by(float(q[1]), float(q_dot[1]), float(q_ddot[1])).end(), same)
    middle = R[0].second @ [LENGTH, 0.0]
    tip = middle + R[1].second @ [LENGTH, 0.0]
    a1, a2 = angles[2]
    inward = R[1].here.T
    return R, T, [
        np.array([0, 0, a1, *(inward @ middle), a1]),
        np.array([*(inward @ middle), a2, *(inward @ tip), a2]),
    ]  # fmt: skip


def nodal_equilibrium(q, q_dot, q_ddot, u, u_dot, u_ddot, integrals: str = "mended") -> np.ndarray:
    """(34) without loads but gravity: left side less right side (8,); integrals (17) to (21) as "mended", as "printed",
    or with "none" of them.

    As printed these integrals have two rows, forces per displacement of the node have six: here they are then spread to
    the nodes by the integral of N, to be comparable at all.
    """
    R, T, r_ddot = motions(q, q_dot, q_ddot)
    out = np.zeros(8)
    for link in (0, 1):
        mine = OF_LINK[link]
        ui, vi, ai = (np.array([0.0 if k is None else x[k] for k in mine]) for x in (u, u_dot, u_ddot))
        Ri, Ti = R[link], T[link]
        total = Ti.here.T @ stiffness() @ Ti.here @ ui  # (16)
        for point, weight in zip(POINTS, WEIGHTS, strict=True):
            N, dm = shapes((point + 1) * LENGTH / 2), weight / 2 * MASS
            spread = Ti.here.T @ N.T @ Ri.here.T
            M = spread @ Ri.here @ N @ Ti.here  # (15)
            total += dm * M @ (r_ddot[link] + ai)
            G = Ri.rate @ N @ Ti.here + Ri.here @ N @ Ti.rate  # (17), (18)
            C = Ri.second @ N @ Ti.here + 2 * Ri.rate @ N @ Ti.rate + Ri.here @ N @ Ti.second  # (19) to (21)
            if integrals != "none":
                total += dm * (spread if integrals == "mended" else N.T) @ (2 * G @ vi + C @ ui)
            total -= dm * spread @ [0.0, -GRAVITY]  # (22)
        for row, k in enumerate(mine):
            if k is not None:
                out[k] += total[row]
    return out
