"""A single beam: what turning does to its stiffness, (19) to (21), and damping in (34)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

import closedchain as cc
from papers.paper import CORRECTED, FAILS, HOLDS, Claim, Exhibit, Finding, Shown, Table, judged
from papers.vidoni2012 import printed
from papers.vidoni2012.runs import flexible

if TYPE_CHECKING:
    from closedchain.erls.system import System

SHARES = (0.25, 0.5, 0.9, 2.0)  # speeds, of the first frequency at rest


# ---- (19) to (21): turning beams -------------------------------------------------------------------------------------


@cache
def drawn() -> cc.Mechanism:
    """The lower arm on a drive that turns it steadily in a plane without gravity."""
    m = cc.Mechanism("turning beam", gravity=(0, 0, 0))
    link = m.body("link", cc.rod(printed.LENGTH, printed.MASS))
    axial = m.parameter("axial", printed.EA)
    link.flexible(1.0, cc.Section(A=axial, Iz=printed.EI), shapes=cc.shapes.polynomials(y=1))
    m.revolute("hinge", m.ground, link)
    m.drive("hinge", m.parameter("speed", 0.0) * cc.t)
    return m


def beam(speed: float = 0.0, axial: float = printed.EA, **options) -> System:
    """The beam with its elements."""
    from closedchain.erls.system import system  # loads Numba

    m = drawn()
    return system(m, m.assemble(), cc.ERLS(**options), parameters={"speed": speed, "axial": axial})


def swings(made: System, M: np.ndarray, C: np.ndarray, K: np.ndarray) -> np.ndarray:
    """Eigenvalues of M x'' + C x' + K x = 0 without what is zeroed."""
    kept = np.setdiff1d(np.arange(made.n), made.zeroed)
    M, C, K = (x[np.ix_(kept, kept)] for x in (M, C, K))
    n = len(kept)
    return np.linalg.eigvals(
        np.block([[np.zeros((n, n)), np.eye(n)], [-np.linalg.solve(M, K), -np.linalg.solve(M, C)]])
    )


@cache
def first_swing(share: float, stiffening: bool) -> float:
    """Square of the first frequency of a beam that turns at a share of its first frequency at rest, (rad/s)^2."""
    from closedchain.erls.matrices import steady, tangents
    from closedchain.erls.workspace import Workspace

    # closed forms have no axial stretch: an axis 1e4 times as stiff
    made = beam(share * first_of_clamped(), 1e4 * printed.EA, elements=12, stiffening=stiffening)
    ws = Workspace(made)
    y, v = made.at_rest()
    y = steady(ws, 0.0, y, v)
    values = swings(made, *tangents(ws, 0.0, y, v, np.zeros(made.n)))
    squares = -(values**2).real
    return float(squares[np.argmin(np.abs(squares))]) if not stiffening else float(squares.min())


def first_of_clamped() -> float:
    """First frequency of the clamped beam, rad/s."""
    return float((1.875104068711961 / printed.LENGTH) ** 2 * np.sqrt(printed.EI * printed.LENGTH / printed.MASS))


def turning_table() -> Sequence[Shown]:
    """First frequencies of a turning beam over its speed."""
    rest, rows = first_of_clamped() ** 2, []
    for share in SHARES:
        linear, stiffer = first_swing(share, False), first_swing(share, True)
        cells = [f"{np.sign(x) * np.sqrt(abs(x) / rest):.4f}" for x in (linear, stiffer)]
        rows.append([f"{share:g}", cells[0], f"{linear / rest:+.4f}", f"{1 - share**2:+.4f}", cells[1]])
    names = ("speed / omega_1", "frequency by (34)", "its square", "1 - speed^2", "frequency with axial loads")
    return (Table(names, rows, "Divided by that at rest, omega_1; negative: it does not swing but grows."),)


def centrifugal() -> Finding:
    """A turning beam, against omega_1^2 - Omega^2, and with axial loads."""
    rest = first_of_clamped() ** 2
    off = max(abs(first_swing(share, False) / rest - (1 - share**2)) for share in SHARES)
    fast, slow = first_swing(2.0, False) / rest, first_swing(2.0, True) / rest
    ratio = float(np.abs(flexible().rigid["joint1'"].values).max()) / first_of_clamped()
    return Finding(
        FAILS if off > 1e-4 else CORRECTED if fast < 0 < slow else HOLDS,
        {"off 1 - speed^2": off, "square at twice omega_1": fast, "with axial loads": slow, "PacDrive, speed": ratio},
        "they are there, but alone they soften: the square of the first frequency of a clamped beam falls by the "
        f"square of its speed (to {off:.0e} of it), so that deflections grow without bound beyond omega_1. What "
        f"stiffens a turning beam is the axial load, which (16) lacks; with it the beam swings {np.sqrt(slow):.2f} "
        f"times as fast at twice omega_1. The driven links of the PacDrive turn at up to {ratio:.2f} omega_1 of its "
        "lower arm",
    )


# ---- damping in (34) -------------------------------------------------------------------------------------------------


def rayleigh() -> Finding:
    """Damping ratios of a clamped beam with alpha = 1 / s and beta = 1e-4 s."""
    alpha, beta = 1.0, 1e-4
    found, omega = damped_beam(alpha, beta)
    ratio = alpha / (2 * omega) + beta * omega / 2
    off = float(np.abs(found - ratio).max())
    listed = ", ".join(f"{x:.4f}" for x in found)
    return judged(
        off < 1e-7,  # of ratios of some per cent: differences of rows give eigenvalues to some 1e-8
        {"off": off} | {f"ratio of mode {k + 1}": float(x) for k, x in enumerate(found)},
        f"a clamped beam has damping ratios {listed}, which are alpha / (2 omega) + beta omega / 2 to {off:.0e}; (35) "
        "must have alpha J' M u' for alpha J' M u",
    )


def damped_beam(alpha: float, beta: float) -> tuple[np.ndarray, np.ndarray]:
    """Damping ratios and frequencies (rad/s) of the first three modes of a clamped beam of 8 elements."""
    from closedchain.erls.matrices import tangents
    from closedchain.erls.workspace import Workspace

    made = beam(elements=8, rayleigh=(alpha, beta))
    y, v = made.at_rest()
    M, C, K = tangents(Workspace(made), 0.0, y, v, np.zeros(made.n))
    values = swings(made, M, C, K)
    values = values[values.imag > 1.0]
    values = values[np.argsort(np.abs(values))][:3]
    return -values.real / np.abs(values), np.abs(values)


EXHIBITS = (
    Exhibit(
        "eq19",
        "equations (19) to (21): centrifugal stiffness",
        turning_table,
        (
            Claim(
                "centrifugal stiffness",
                "equations (14) and (19) to (21)",
                "the equations contain Coriolis and gyroscopic terms and the centrifugal stiffness of the links",
                centrifugal,
            ),
        ),
    ),
    Exhibit(
        "damping",
        "damping in equations (34) and (35)",
        None,
        (
            Claim(
                "rayleigh damping",
                "equations (34) and (35)",
                "damping in proportion to mass and to stiffness stands for friction",
                rayleigh,
            ),
        ),
    ),
)
