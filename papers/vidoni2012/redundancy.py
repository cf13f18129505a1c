"""Nodal and global equilibrium together: (31), (35), (36), and what is zeroed."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

import closedchain as cc
from papers.paper import CORRECTED, FAILS, HOLDS, Claim, Exhibit, Finding, judged
from papers.vidoni2012.runs import EVERY, flexible, mesh, robot, spread

if TYPE_CHECKING:
    from closedchain.erls.system import System

STRAINLESS = 1e-13  # of the largest stiffness: rounding of products of K and J
RANK = 1e-10  # of the largest singular value: below is rounding
SAMPLED = (0.05, 0.12, 0.15, 0.18, 0.22, 0.25, 0.3)  # s
TORQUE = 20.0  # N m, of the drop
NEGLIGIBLE = 1e-2  # of the torque: what is less is not seen beside it


# ---- (31), (35) and (36) ---------------------------------------------------------------------------------------------


@cache
def drop() -> System:
    """The robot at the start of the drop."""
    from closedchain.erls.system import system  # loads Numba

    return system(robot(), spread(), cc.ERLS(elements=mesh()))


@cache
def rows() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """M and K of all displacements, and J."""
    from closedchain.erls.matrices import matrices, nodal_jacobian

    made = drop()
    M, K, _ = matrices(made)
    last = made.n - made.n_q
    return M[:last, :last], K[:last, :last], nodal_jacobian(made)[:last]


def two_sets() -> Finding:
    """K J, and the rank of the matrix of (36)."""
    M, K, J = rows()
    strain = float(np.abs(K @ J).max() / np.abs(K).max())
    whole = np.block([[M, M @ J], [J.T @ M, J.T @ M @ J]])
    scale = 1 / np.sqrt(np.diag(whole))  # lengths and angles
    values = np.linalg.svd(whole * np.outer(scale, scale), compute_uv=False)
    rank = int((values > RANK * values[0]).sum())
    n_u, n_q = J.shape
    return judged(
        strain > STRAINLESS and rank == n_u + n_q,
        {"largest of K J, of K": strain, "equations": n_u + n_q, "rank": rank},
        f"a rigid motion strains nothing: K J is {strain:.0e} of K. So (35) is J' times (34), damping by stiffness "
        f"included, and says nothing new: of the {n_u + n_q} equations (36) for u and q only {rank} are independent",
    )


def not_square() -> Finding:
    """Size and rank of the matrix of (36)."""
    _, K, J = rows()
    n_u, n_q = J.shape
    values = np.linalg.eigvalsh(K)
    elastic = int((values > 1e-9 * values[-1]).sum())
    return Finding(
        CORRECTED if elastic == n_u - n_q else FAILS,
        {"rows": n_u + n_q, "columns": n_u + n_q, "rank of K": elastic, "displacements": n_u},
        f"as printed it is square, {n_u + n_q} by {n_u + n_q}, but singular, by {n_q}: u and q describe the same "
        f"rigid motions. What the paper draws from it is right: K has rank {elastic}, {n_q} less than there are "
        "displacements, and as many must be taken away as there are free coordinates",
    )


def negligible_k1() -> Finding:
    """The terms u' K1 u and J' K u along the drop."""
    both = np.array([global_terms(time) for time in SAMPLED])
    kept, gone = both.max(axis=0)
    return Finding(
        HOLDS if kept < 0.1 * gone else CORRECTED if kept < NEGLIGIBLE * TORQUE else FAILS,
        {"u' K1 u [N m]": float(kept), "J' K u [N m]": float(gone), "torque [N m]": TORQUE},
        f"not beside J' K u, which is zero, because K J = 0 (in the drop it is at most {gone:.0e} N m by rounding), "
        f"so that (31) is no condition on u; but u' K1 u itself is small, up to {kept:.2g} N m on a free coordinate "
        f"where the torques are {TORQUE:g} N m",
    )


def global_terms(time: float) -> tuple[float, float]:
    """The largest entries of u' K1 u and of J' K u, N m, at the displacements of the drop at a time."""
    from closedchain.erls.matrices import element_stiffness, nodal_jacobian, nodal_map
    from closedchain.erls.system import system
    from closedchain.erls.workspace import Workspace

    run, m, h = flexible(), robot(), 1e-5
    sample = int(np.searchsorted(run.t, time - EVERY / 2))
    at = {name: float(run.rigid[name][sample]) for name in ("joint1", "joint2")}
    made = system(m, m.assemble(at), cc.ERLS(elements=mesh()))
    last, ws, stiffness = made.n - made.n_q, Workspace(made), element_stiffness(made)
    y, still = made.at_rest()[0], np.zeros(made.n)
    y[:last] = run.solution.motion.x[sample, 0, :last]

    def strained(moved: np.ndarray) -> tuple[float, np.ndarray]:
        """Elastic energy, and forces on u."""
        ws.residual(0.0, moved, still, still)
        T = nodal_map(ws)
        return 0.5 * float(moved @ T.T @ stiffness @ T @ moved), (T.T @ stiffness @ T @ moved)[:last]

    steps = h * np.eye(made.n)[last:]
    by_q = [(strained(y + step)[0] - strained(y - step)[0]) / (2 * h) for step in steps]
    return float(np.abs(by_q).max()), float(np.abs(nodal_jacobian(made)[:last].T @ strained(y)[1]).max())


def any_zeroed() -> Finding:
    """Determinants of the block of J = dr/dq at zeroed displacements: across driven links, at motors, in the tool."""
    from closedchain.erls import choice

    made = drop()
    J = made.rigid(made.start.t, made.start.q)
    labels = made.labels[made.n_chain : made.n_chain + made.n_u]

    def health(*names: str) -> float:
        which = [labels.index(name) for name in names]
        return abs(float(choice.health(J[which], choice.units(J, made.turning, tuple(which)))))

    across, motors = made.health, health("link1.0.rz", "link2.0.rz")
    tool, last = health("link5.1.rz", "link11.0.rz"), health(*flexible().displacements[-2:])
    good, bad = min(across, motors) > choice.POOR, min(tool, last) < choice.REGULAR
    return Finding(
        FAILS if not good else CORRECTED if bad else HOLDS,
        {"across driven links": across, "at motors": motors, "in the tool": tool, "the last two": last},
        "as many displacements as there are free coordinates are enough where J = dr/dq is regular at them (1 well, 0 "
        f"not at all): it is {across:.2f} across the driven links and {motors:.2f} at the motors, but {tool:.0g} for "
        f"rotations of the tool, which never turns, and {last:.0g} for the last two in the paper's numbering: not "
        "every choice will do",
    )


EXHIBITS = (
    Exhibit(
        "eq31",
        "equation (31): what is neglected in the global equilibrium",
        None,
        (
            Claim(
                "negligible stiffness term",
                "equation (31)",
                "u' K1 u is negligible beside J' K u where displacements are small",
                negligible_k1,
            ),
        ),
    ),
    Exhibit(
        "eq36",
        "equations (35) and (36): redundancy of u and q",
        None,
        (
            Claim(
                "two independent sets",
                "sections Local nodal equilibrium and The integration scheme, equations (34) and (35)",
                "nodal and global equilibrium are two independent sets of equations",
                two_sets,
            ),
            Claim(
                "a matrix that is not square",
                "after equation (36)",
                "with q among the unknowns the matrix on the left is no longer square, so that many increments of u "
                "and q belong to one of the nodes",
                not_square,
            ),
            Claim(
                "zeroed displacements",
                "after equation (36)",
                "the redundancy is removed by zeroing as many displacements as there are free coordinates",
                any_zeroed,
            ),
        ),
    ),
)
