"""The equations of elements, typed in and compared: (6) and (11), (15) to (22) with (34)."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

import closedchain as cc
from papers.paper import CORRECTED, FAILS, HOLDS, Claim, Exhibit, Finding
from papers.vidoni2012 import printed

if TYPE_CHECKING:
    from closedchain.erls.system import System

ROUNDING = 1e-11  # relative: sums of some ten terms of all sizes, in double precision
SEED = 7


# ---- (6) and (11): interpolation of rigid motions --------------------------------------------------------------------


def interpolated() -> Finding:
    """Rigid displacements and accelerations of a link by its shape functions, in the plane and in space."""
    L, (w, alpha) = printed.LENGTH, (np.array([3.0, -2.0, 5.0]), np.array([10.0, 20.0, -30.0]))
    moves = spread = space = plane = size = 0.0
    for x in np.linspace(0.0, L, 11):
        moved = hermite(x, L, lambda at: np.cross(alpha, [at, 0, 0]), alpha)
        moves = max(moves, float(np.abs(moved - np.cross(alpha, [x, 0, 0])).max()))
        for turning, accelerating in ((w, alpha), (w * [0, 0, 1], alpha * [0, 0, 1])):

            def field(at: float, turning=turning, accelerating=accelerating) -> np.ndarray:
                arm = np.array([at, 0.0, 0.0])
                return np.cross(accelerating, arm) + np.cross(turning, np.cross(turning, arm))

            spread = float(np.abs(hermite(x, L, field, accelerating) - field(x)).max())
            if turning is w:
                space, size = max(space, spread), max(size, float(np.abs(field(x)).max()))
            else:
                plane = max(plane, spread)
    exact = moves < ROUNDING * size and plane < ROUNDING * size
    return Finding(
        FAILS if not exact else HOLDS if space < ROUNDING * size else CORRECTED,
        {"displacements": moves, "plane [m/s^2]": plane, "space [m/s^2]": space, "largest acceleration": size},
        f"virtual displacements of a rigid link are interpolated exactly (to {moves:.0e}), and so are accelerations in "
        f"the plane; in space a link that turns about its own axis and across it has slopes w_x w_y that the angular "
        f"accelerations of its nodes do not know: with w = (3, -2, 5) rad/s (11) is off by up to {space:.1f} m/s^2 of "
        f"{size:.0f}",
    )


def hermite(x: float, L: float, field, slope: np.ndarray) -> np.ndarray:
    """A vector field along a beam from its values at the ends, and the rotations there."""
    near, far, (_, ry, rz) = field(0.0), field(L), slope
    y = printed.shapes(x, L) @ np.array([near[0], near[1], rz, far[0], far[1], rz])
    z = printed.shapes(x, L)[1] @ np.array([0.0, near[2], -ry, 0.0, far[2], -ry])
    return np.array([*y, z])


# ---- (15) to (22), (34) ----------------------------------------------------------------------------------------------


@cache
def chain() -> System:
    """Two flexible links in a plane, one beam each; the joint between them has the axes of the second."""
    from closedchain.erls.system import system  # loads Numba

    m, before = cc.Mechanism("chain", gravity=(0, -printed.GRAVITY, 0)), None
    for k in (1, 2):
        link = m.body(f"link{k}", cc.rod(printed.LENGTH, printed.MASS))
        link.flexible(1.0, cc.Section(A=printed.EA, Iz=printed.EI), shapes=cc.shapes.polynomials(y=1))
        m.revolute(f"joint{k}", m.ground if before is None else before.tip, link)
        before = link
    m.start = {"joint1": 0.3, "joint2": -0.8}
    return system(m, m.assemble(), cc.ERLS(elements=1, zero="base"))


@cache
def states() -> tuple[np.ndarray, ...]:
    """q, q', q'' and u, u', u'' at random."""
    rng = np.random.default_rng(SEED)
    q = np.array([0.3, -0.8])
    return (q, *(5 * rng.normal(size=(2, 2))), *(1e-3 * rng.normal(size=(3, 8)) * [[1], [50], [1e4]]))


def typed_rows() -> Finding:
    """(34) typed in, against the rows that the library assembles."""
    from closedchain.erls.workspace import Workspace  # loads Numba

    made, (q, q_dot, q_ddot, u, u_dot, u_ddot) = chain(), states()
    at = [made.labels.index(label) for label in printed.LABELS]
    y, v, a = np.zeros((3, made.n))
    for x, moved, turned in ((y, u, q), (v, u_dot, q_dot), (a, u_ddot, q_ddot)):
        x[at], x[made.n - made.n_q :] = moved, turned
    ours = Workspace(made).residual(0.0, y, v, a)[at]
    mended, literal, without = (printed.nodal_equilibrium(*states(), how) for how in ("mended", "printed", "none"))
    off = float(np.abs(mended - ours).max() / np.abs(ours).max())
    wrong = float(np.abs(literal - ours).max() / np.abs(mended - without).max())
    still = (q, q_dot, 0 * q_ddot)
    hidden = printed.nodal_equilibrium(q, q_dot, q_ddot, u, u_dot, u_ddot)
    hidden = hidden - printed.nodal_equilibrium(*still, u, u_dot, u_ddot)
    rigid = printed.nodal_equilibrium(q, q_dot, q_ddot, *np.zeros((3, 8)))
    rigid = rigid - printed.nodal_equilibrium(*still, *np.zeros((3, 8)))
    part = float(np.abs(hidden - rigid).max() / np.abs(rigid).max())
    return Finding(
        FAILS if off > ROUNDING else CORRECTED if wrong > ROUNDING else HOLDS,
        {"mended, relative": off, "as printed, of these terms": wrong, "q'' in (19), (21), of M J q''": part},
        f"typed in for two links, (34) gives the rows that the library assembles to {off:.0e} of the largest; as "
        "printed (17) to (21) have two rows, since the factor T' N' R' on the left is missing, and without its "
        f"rotations these terms are off by {100 * wrong:.0f} %. (19) and (21) hold q'', which is unknown: "
        f"{100 * part:.2g} % of M J q'' at displacements of some millimetres",
    )


EXHIBITS = (
    Exhibit(
        "eq11",
        "equations (6) and (11): rigid motions by shape functions",
        None,
        (
            Claim(
                "interpolated rigid motions",
                "equations (6) and (11)",
                "virtual displacements and accelerations of the rigid link are those of its nodes, interpolated by the "
                "shape functions",
                interpolated,
            ),
        ),
    ),
    Exhibit(
        "eq34",
        "equation (34) with the integrals (15) to (22): nodal equilibrium",
        None,
        (
            Claim(
                "nodal equilibrium",
                "equations (15) to (22) and (34)",
                "mass, Coriolis, centrifugal, stiffness and gravity terms of an element are these integrals",
                typed_rows,
            ),
        ),
    ),
)
