"""Equations (17) and (23) to (26) of a leg, typed in: twists, their complement, inertia and centrifugal terms.

Twists are [omega, v] of the centres of mass, angles those of the joints. ``E`` turns a vector by a right angle, so that
``d(E d)/dt = -omega d`` for a vector that turns with omega.
"""

from __future__ import annotations

import numpy as np

from papers.paper import CORRECTED, FAILS, HOLDS, Claim, Finding, Shown, Table
from papers.raoofian2017.equations import at_sample
from papers.raoofian2017.robot import BEST, springs

LENGTHS, MASSES, INERTIAS = (0.4, 0.6), (3.0, 4.0), (0.04, 0.12)  # Table 1
E = np.array([[0.0, -1.0], [1.0, 0.0]])
ROUNDING = 1e-12  # of the largest entry
SAMPLES = range(0, 2401, 240)


def leg(q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """``T``, ``dT/dt`` and the mass matrix of the two links, from the angles of a leg and their rates."""
    (d1, r1), (d2, _) = (
        (length / 2 * np.array([np.cos(angle), np.sin(angle)]),) * 2
        for length, angle in zip(LENGTHS, np.cumsum(q), strict=True)
    )
    w1, w2 = np.cumsum(v)
    N_l, N_d = np.eye(6), np.zeros((6, 2))
    N_l[4:, 0] = E @ (r1 + d2)  # B_21 of (23)
    N_l[3:, :3] += np.eye(3)
    N_d[0, 0] = N_d[3, 1] = 1.0  # p_1 and p_2
    N_d[1:3, 0], N_d[4:, 1] = E @ d1, E @ d2
    dN_l, dN_d = np.zeros((6, 6)), np.zeros((6, 2))
    dN_l[4:, 0] = -(w1 * r1 + w2 * d2)
    dN_d[1:3, 0], dN_d[4:, 1] = -w1 * d1, -w2 * d2
    M = np.diag([INERTIAS[0], MASSES[0], MASSES[0], INERTIAS[1], MASSES[1], MASSES[1]])
    return N_l @ N_d, dN_l @ N_d + N_l @ dN_d, M


def terms_of_leg(sample: int) -> dict[str, np.ndarray]:
    """Inertia and centrifugal terms of leg I by (17) mended, by (17) as printed, and from the library."""
    run = springs(BEST)
    q, v = (np.array([run[f"{x}1{mark}"].values[sample] for x in ("base", "elbow")]) for mark in ("", "'"))
    T, dT, M = leg(q, v)
    inertia, turning = T.T @ M @ T, T.T @ M @ dT @ v
    ours, h, *_ = at_sample(run, sample)
    return {
        "I": inertia,
        "I, library": ours[:2, :2],
        "C dq/dt": turning,
        "C dq/dt, printed": turning + inertia @ v,  # M N_l N_d in the place of dM/dt N_l N_d
        "C dq/dt, library": h[:2].ravel(),
    }


def table_17() -> list[Shown]:
    """Both at a quarter of a second."""
    found = terms_of_leg(100)
    rows = [
        (name, *(f"{x:.6f}" for x in (found[name][0, 0], found[name][0, 1], found[name][1, 1])), "", "")
        for name in ("I", "I, library")
    ]
    rows += [
        (name, "", "", "", *(f"{x:.6f}" for x in found[name]))
        for name in ("C dq/dt", "C dq/dt, library", "C dq/dt, printed")
    ]
    note = "Leg I, 0.25 s after the start, kg m^2 and N m. Printed: with M N_l N_d where (17) needs dM/dt N_l N_d."
    return [Table(("leg I", "11", "12", "22", "1", "2"), rows, note)]


def complement() -> Finding:
    """(17) against the library's inertia matrix and velocity terms, along a run."""
    found = [terms_of_leg(k) for k in SAMPLES]

    def off(name: str, other: str) -> float:
        size = max(float(np.abs(x[other]).max()) for x in found)
        return max(float(np.abs(x[name] - x[other]).max()) for x in found) / size

    inertia, mended = off("I", "I, library"), off("C dq/dt", "C dq/dt, library")
    printed = off("C dq/dt, printed", "C dq/dt, library")
    right = max(inertia, mended) < ROUNDING
    return Finding(
        FAILS if not right else HOLDS if printed < ROUNDING else CORRECTED,
        {"inertia, relative": inertia, "C dq/dt, mended": mended, "C dq/dt, printed": printed},
        f"with twists and propagation of (23) to (26) the inertia of a leg is the library's to {inertia:.0e}, and so "
        f"are the centrifugal terms ({mended:.0e} of the largest) if the last term of C has the rate of M, which is "
        f"zero in the plane. As printed, with M, they would be off by {printed:.1f} times their largest value",
    )


COMPLEMENT = Claim(
    "complement",
    "section 2, equations (15) to (17), (23) to (26)",
    "inertia and centrifugal terms of a leg follow from T = N_l N_d, its rate, and the mass matrices of the links",
    complement,
)
