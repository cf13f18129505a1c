"""Table 1 of the paper, typed in as it is printed: NumPy, one machine at one state.

Nothing here is shared with ``closedchain.close.operational_space``, which takes another way through step 2: this is the
paper's, to be compared with it. Vectors are [angular; linear] as in (1) to (3); a_0 and all accelerations are the
classical ones of frame origins, so b_0 and zeta are those of `papers.lilly_orin.machines`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

Invert = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False)
class Member:
    """The reference member: inertia (7), velocity terms (15), external force (13), velocity, in its own axes."""

    I: np.ndarray
    b: np.ndarray
    g: np.ndarray
    v: np.ndarray


@dataclass(frozen=True, eq=False)
class Chain:
    """A chain at a state, opened at its tip.

    Attributes
    ----------
    H, u
        Inertia matrix, and ``tau - C q' - G`` (8).
    J, Jv
        Jacobian of the tip, in its axes, and the tip's acceleration with all joint accelerations zero.
    Phi, Phi_c
        Free and locked directions of the joint at the tip, in its axes.
    h, alpha_c
        Known force along Phi (33), and relative acceleration along Phi_c (22).
    X, zeta
        From the accelerations of the reference member to those at the tip (25).
    """

    H: np.ndarray
    u: np.ndarray
    J: np.ndarray
    Jv: np.ndarray
    Phi: np.ndarray
    Phi_c: np.ndarray
    h: np.ndarray
    alpha_c: np.ndarray
    X: np.ndarray
    zeta: np.ndarray

    @cached_property
    def q_open(self) -> np.ndarray:
        """(9)."""
        return np.linalg.solve(self.H, self.u)

    @cached_property
    def x_open(self) -> np.ndarray:
        """(11)."""
        return self.J @ self.q_open + self.Jv

    @cached_property
    def Omega(self) -> np.ndarray:
        """(10)."""
        return np.linalg.solve(self.H, self.J.T)

    @cached_property
    def Lambda_inv(self) -> np.ndarray:
        """(12)."""
        return self.J @ self.Omega

    @cached_property
    def G(self) -> np.ndarray:
        """The matrix of (36), whose inverse is the paper's M_k."""
        return self.Phi_c.T @ self.Lambda_inv @ self.Phi_c

    @cached_property
    def S(self) -> np.ndarray:
        """(36)."""
        return self.alpha_c - self.Phi_c.T @ (self.zeta - self.x_open + self.Lambda_inv @ self.Phi @ self.h)

    def P_and_R(self, invert: Invert) -> tuple[np.ndarray, np.ndarray]:
        """(42)."""
        M = invert(self.G)
        P = self.Phi @ self.h + self.Phi_c @ M @ self.S
        return P, self.Phi_c @ M @ self.Phi_c.T @ self.X


@dataclass(frozen=True, eq=False)
class Answer:
    """Accelerations of the reference member and of the joints of each chain, and the forces of the chains on it."""

    a_0: np.ndarray
    f: list[np.ndarray]
    qdd: list[np.ndarray]


def five_steps(member: Member, chains: Sequence[Chain], invert: Invert = np.linalg.inv) -> Answer:
    """Steps 1 to 4; the fifth is an integrator's."""
    inertia, force = member.I.copy(), -member.b + member.g
    both = [chain.P_and_R(invert) for chain in chains]
    for chain, (P, R) in zip(chains, both, strict=True):
        inertia += chain.X.T @ R
        force += chain.X.T @ P
    a_0 = np.linalg.solve(inertia, force)  # (45)
    f = [P - R @ a_0 for P, R in both]  # (47)
    return Answer(a_0, f, [chain.q_open - chain.Omega @ x for chain, x in zip(chains, f, strict=True)])  # (48)


def effective_inertia(member: Member, chains: Sequence[Chain]) -> np.ndarray:
    """The matrix of a_0 in (46)."""
    return member.I + sum(chain.X.T @ chain.P_and_R(np.linalg.inv)[1] for chain in chains)


def forces_that_wait(member: Member, chains: Sequence[Chain], small: float) -> tuple[Answer, int]:
    """The same, with force components that a chain cannot be solved for kept as unknowns beside a_0; and their number.

    G, scaled to a unit diagonal, is split at its eigenvalues: where they are not small there is an inverse, as in (37).
    Where they are, the tip hardly yields or not at all, and (36) is a condition on a_0 with a force as its multiplier.
    """
    inertia, force = member.I.copy(), -member.b + member.g
    parts, left = [], []
    for chain in chains:
        scale = 1 / np.sqrt(np.diag(chain.G))
        values, vectors = np.linalg.eigh(chain.G * np.outer(scale, scale))
        vectors = scale[:, None] * vectors
        yields = values > small
        M = vectors[:, yields] / values[yields] @ vectors[:, yields].T
        B = chain.Phi_c.T @ chain.X
        inertia += B.T @ M @ B
        force += chain.X.T @ chain.Phi @ chain.h + B.T @ M @ chain.S
        parts.append((M, B, vectors[:, ~yields]))
        left += list(values[~yields])
    held = np.vstack([N.T @ B for _, B, N in parts])
    right = np.concatenate([N.T @ chain.S for (_, _, N), chain in zip(parts, chains, strict=True)])
    whole = np.block([[inertia, -held.T], [held, np.diag(left)]])
    x = np.linalg.solve(whole, np.concatenate([force, right]))
    a_0, waiting = x[:6], x[6:]
    f, first = [], 0
    for chain, (M, B, N) in zip(chains, parts, strict=True):
        mine = waiting[first : first + N.shape[1]]
        first += N.shape[1]
        f.append(chain.Phi @ chain.h + chain.Phi_c @ (M @ (chain.S - B @ a_0) + N @ mine))
    return Answer(a_0, f, [chain.q_open - chain.Omega @ y for chain, y in zip(chains, f, strict=True)]), len(left)


def all_at_once(member: Member, chains: Sequence[Chain]) -> Answer:
    """Every equation in one dense system, refined once: (8), (30), (33) and (43) with nothing eliminated."""
    sizes = [len(chain.u) for chain in chains]
    forces = [chain.Phi_c.shape[1] for chain in chains]
    n, joints = 6 + sum(sizes) + sum(forces), 6
    K, right = np.zeros((n, n)), np.zeros(n)
    K[:6, :6], right[:6] = member.I, member.g - member.b
    row = 6 + sum(sizes)
    for chain, size, count in zip(chains, sizes, forces, strict=True):
        mine, tip = slice(joints, joints + size), slice(row, row + count)
        known = chain.Phi @ chain.h
        K[mine, mine], right[mine] = chain.H, chain.u - chain.J.T @ known
        K[mine, tip] = chain.J.T @ chain.Phi_c
        K[tip, mine] = chain.Phi_c.T @ chain.J
        K[tip, :6] = -chain.Phi_c.T @ chain.X
        K[:6, tip] = -(chain.X.T @ chain.Phi_c)
        right[:6] += chain.X.T @ known
        right[tip] = chain.Phi_c.T @ (chain.zeta - chain.Jv) - chain.alpha_c
        joints, row = joints + size, row + count
    x = np.linalg.solve(K, right)
    x += np.linalg.solve(K, right - K @ x)
    qdd = np.split(x[6 : 6 + sum(sizes)], np.cumsum(sizes)[:-1])
    h_c = np.split(x[6 + sum(sizes) :], np.cumsum(forces)[:-1])
    return Answer(x[:6], [c.Phi @ c.h + c.Phi_c @ y for c, y in zip(chains, h_c, strict=True)], qdd)
