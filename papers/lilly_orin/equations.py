"""Table 1 and the equations it sums up, at states of four machines, against the library's answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache

import numpy as np

from papers.lilly_orin import machines
from papers.lilly_orin.five_steps import Chain, Member, effective_inertia, five_steps
from papers.lilly_orin.machines import Machine, cross
from papers.paper import CORRECTED, FAILS, Claim, Finding, Table, judged

ROUNDING = 1e-10  # of the largest term: conditions of Phi_c' Lambda_inv Phi_c are up to 1e5

Sides = tuple[np.ndarray, np.ndarray]


@cache
def states() -> tuple[Machine, ...]:
    """All four move: three arms with a box (rigid grasps, hard points, soft fingers), and the hexapod."""
    return (*(machines.arms(contact) for contact in ("rigid", "point", "soft")), machines.hexapod())


def off(left: np.ndarray, right: np.ndarray) -> float:
    """Largest difference, relative to the largest term."""
    return float(np.abs(left - right).max() / max(np.abs(left).max(), np.abs(right).max(), 1e-300))


def a_0_off(x: Machine, member: Member | None = None, chains: Sequence[Chain] | None = None) -> float:
    """How far a_0 by the five steps is from the library's, with something else in the place of its terms."""
    return off(five_steps(member or x.member, chains or x.chains).a_0, x.library.a_0)


# ---- equation by equation --------------------------------------------------------------------------------------------


def _by_chain(sides: Callable[..., Sides]) -> Callable[[Machine], Iterator[Sides]]:
    """Both sides of an equation for each chain: of the chain, the library's f and q'', and the tip's acceleration."""

    def of(x: Machine) -> Iterator[Sides]:
        a_0 = x.library.a_0
        for c, f, qdd in zip(x.chains, x.library.f, x.library.qdd, strict=True):
            yield sides(c, f, qdd, c.J @ qdd + c.Jv, c.X @ a_0 + c.zeta)

    return of


def _balance(x: Machine) -> Iterator[Sides]:
    forces = sum(c.X.T @ f for c, f in zip(x.chains, x.library.f, strict=True))
    yield forces + x.member.g, x.member.I @ x.library.a_0 + x.member.b


def _for_a_0(x: Machine) -> Iterator[Sides]:
    both = [c.P_and_R(np.linalg.inv) for c in x.chains]
    inertia = x.member.I + sum(c.X.T @ R for c, (_, R) in zip(x.chains, both, strict=True))
    forces = sum(c.X.T @ P for c, (P, _) in zip(x.chains, both, strict=True)) - x.member.b + x.member.g
    yield inertia @ x.library.a_0, forces


def _force(c: Chain, f: np.ndarray, a_k: np.ndarray) -> np.ndarray:
    """P - R a_0, where X a_0 is a_k less zeta."""
    P, _ = c.P_and_R(np.linalg.inv)
    return P - c.Phi_c @ np.linalg.inv(c.G) @ c.Phi_c.T @ (a_k - c.zeta)


EQUATIONS: dict[str, tuple[str, Callable[[Machine], Iterator[Sides]]]] = {
    "(8)": ("a chain under the force at its tip", _by_chain(lambda c, f, q, x, a: (c.H @ q + c.J.T @ f, c.u))),
    "(9), (10), (48)": ("its joints", _by_chain(lambda c, f, q, x, a: (q, c.q_open - c.Omega @ f))),
    "(11), (12)": ("its tip", _by_chain(lambda c, f, q, x, a: (x, c.x_open - c.Lambda_inv @ f))),
    "(13), (15), (16), (43)": ("balance of the reference member", _balance),
    "(22)-(26)": (
        "tip and reference member, with free accelerations",
        _by_chain(lambda c, f, q, x, a: (x + c.Phi @ (c.Phi.T @ (a - x)) + c.Phi_c @ c.alpha_c, a)),
    ),
    "(27), (30)": (
        "the same in locked directions",
        _by_chain(lambda c, f, q, x, a: (c.Phi_c.T @ x + c.alpha_c, c.Phi_c.T @ a)),
    ),
    "(28), (29)": (
        "orthogonal spaces",
        _by_chain(lambda c, f, q, x, a: (c.Phi_c.T @ np.hstack([c.Phi, c.Phi_c]), _unit(c))),
    ),
    "(31), (32)": (
        "force in locked directions",
        _by_chain(
            lambda c, f, q, x, a: (c.Phi_c.T @ c.Lambda_inv @ f, c.alpha_c - c.Phi_c.T @ (a - c.x_open))
        ),
    ),
    "(33)": (
        "known and unknown parts of the force",
        _by_chain(lambda c, f, q, x, a: (f, c.Phi @ c.h + c.Phi_c @ (c.Phi_c.T @ f))),
    ),
    "(34)-(36)": (
        "the unknown part",
        _by_chain(lambda c, f, q, x, a: (c.G @ c.Phi_c.T @ f, c.S - c.Phi_c.T @ (a - c.zeta))),
    ),
    "(37), (38)": (
        "solved for it",
        _by_chain(
            lambda c, f, q, x, a: (c.Phi_c.T @ f, np.linalg.inv(c.G) @ (c.S - c.Phi_c.T @ (a - c.zeta)))
        ),
    ),
    "(40)-(42), (47)": ("P and R", _by_chain(lambda c, f, q, x, a: (f, _force(c, f, a)))),
    "(44)-(46)": ("the system for a_0", _for_a_0),
}  # fmt: skip


def _unit(c: Chain) -> np.ndarray:
    return np.hstack([np.zeros((c.Phi_c.shape[1], c.Phi.shape[1])), np.eye(c.Phi_c.shape[1])])


@cache
def residuals() -> dict[str, dict[str, float]]:
    """Of each equation on each machine, with the library's accelerations and forces put in."""
    return {
        number: {x.title: max(off(*sides) for sides in of(x)) for x in states()}
        for number, (_, of) in EQUATIONS.items()
    }


def table_1() -> list[Table]:
    """The five steps, and how well each equation is met."""
    steps = Table(
        ("step", "the paper", "of it here"),
        (
            ("1", "open chains: q''_open, x''_open, Omega, Lambda_inv", "the library's M, h and Jacobians, NumPy"),
            ("2", "a_0 from I_0 + sum X'R and sum X'P - b_0 + g_0", "as printed"),
            ("3", "forces f = P - R a_0", "as printed"),
            ("4", "joints q'' = q''_open - Omega f", "as printed"),
            ("5", "integration, with feedback against drift", "see step5"),
        ),
        "Typed in from Table 1 in papers/lilly_orin/five_steps.py, to be compared with cc.OperationalSpace, which "
        "closes one chain after another instead of step 2.",
    )
    found = residuals()
    rows = [
        (number, EQUATIONS[number][0], *(f"{x:.0e}" if x else "0" for x in by.values())) for number, by in found.items()
    ]
    note = (
        "Largest difference of the two sides, relative to the largest term, with the library's accelerations and "
        "forces put in; all four machines move."
    )
    return [steps, Table(("equation", "says", *(x.title for x in states())), rows, note)]


def all_equations() -> Finding:
    """Each equation with the library's answer put in, and the five steps from their beginning."""
    worst = max(x for by in residuals().values() for x in by.values())
    steps = {}
    for x in states():
        found = five_steps(x.member, x.chains)
        pairs = zip((found.a_0, *found.f, *found.qdd), (x.library.a_0, *x.library.f, *x.library.qdd), strict=True)
        steps[x.title] = max(off(mine, library) for mine, library in pairs)
    return judged(
        max(worst, *steps.values()) < ROUNDING,
        {"equations": worst} | {f"steps, {name}": value for name, value in steps.items()},
        f"with the library's accelerations and forces put in, each equation from (8) to (48) is met to {worst:.0e} "
        "of its largest term, signs included; and a_0, f_k and q'' by the five steps are the library's to "
        f"{max(steps.values()):.0e} on all four machines, with classical accelerations and the b_0, zeta and alpha_c "
        "that belong to them",
    )


# ---- what is read into them ------------------------------------------------------------------------------------------


def spatial_cross(v: np.ndarray) -> np.ndarray:
    """``v x`` on forces, with [angular; linear]."""
    return np.block([[cross(v[:3]), cross(v[3:])], [np.zeros((3, 3)), cross(v[:3])]])


def about_the_world(x: Machine) -> tuple[np.ndarray, np.ndarray]:
    """a_0 of rigid grasps by (21), in coordinates at one point for all bodies, and the library's; both spatial.

    That point is the origin of frame 0 as it is now, at rest: accelerations of the body there are [alpha; a - w x v].
    """
    v, member = x.member.v, x.member
    inertia, force = member.I.copy(), -spatial_cross(v) @ member.I @ v + member.g
    for c in x.chains:
        # the tip's, spatial: less w x (velocity of the tip), then moved to the origin of frame 0
        v_tip = c.X @ v
        x_open = np.linalg.solve(c.X, c.x_open - np.r_[np.zeros(3), np.cross(v_tip[:3], v_tip[3:])])
        Lambda = c.X.T @ np.linalg.inv(c.Lambda_inv) @ c.X
        inertia += Lambda
        force += Lambda @ x_open
    return np.linalg.solve(inertia, force), x.library.a_0 - np.r_[np.zeros(3), np.cross(v[:3], v[3:])]


def special_case() -> Finding:
    """(17) to (21)."""
    x = machines.arms("rigid")
    error = off(*about_the_world(x))
    same = off(np.linalg.inv(x.chains[0].G), np.linalg.inv(x.chains[0].Lambda_inv))
    return judged(
        error < ROUNDING,
        {"a_0": error, "M_k and Lambda_k": same},
        "three arms with rigid grasps and six joints each: a_0 by (21), with everything spatial and referred to one "
        f"point, is the library's to {error:.0e}, and M_k of (39) is Lambda_k",
    )


def velocity_terms() -> Finding:
    """(14) as a spatial cross product, with spatial accelerations and with those of (2)."""
    x = machines.arms("rigid")
    fits = off(*about_the_world(x))
    literal = replace(x.member, b=spatial_cross(x.member.v) @ x.member.I @ x.member.v)
    wrong, right = a_0_off(x, literal), a_0_off(x)
    return judged(
        wrong < ROUNDING,
        {"spatial accelerations": fits, "with (2)": wrong, "b_0 mended": right},
        f"as a spatial cross product it fits spatial accelerations (a_0 to {fits:.0e}), but (2) has the "
        f"accelerations of the origin of frame 0, and with these it puts a_0 off by {100 * wrong:.0f} %; with b_0 = "
        f"[w x I w; w x (w x m s)] a_0 is right to {right:.0e}",
        otherwise=CORRECTED if max(fits, right) < ROUNDING < wrong else FAILS,
    )


def known_accelerations() -> Finding:
    """alpha_c from velocities, and what happens without."""
    numbers = {}
    for x in states():
        without = five_steps(x.member, [replace(c, alpha_c=0 * c.alpha_c) for c in x.chains])
        numbers |= {
            f"{x.title}, alpha_c": float(max(np.abs(c.alpha_c).max() for c in x.chains)),
            f"{x.title}, a_0": off(without.a_0, x.library.a_0),
            f"{x.title}, joints": max(off(a, b) for a, b in zip(without.qdd, x.library.qdd, strict=True)),
        }
    right = max(a_0_off(x) for x in states())
    rigid, point, soft, legs = (x.title for x in states())
    return judged(
        right < ROUNDING and numbers[f"{rigid}, alpha_c"] == numbers[f"{point}, alpha_c"] == 0.0,
        numbers | {"with alpha_c": right},
        "they follow from the velocities of tip and reference member, with a formula for each kind of joint that "
        "the paper does not give: zero for rigid grasps and hard points, but not for joints whose axes turn. Taken "
        f"as zero there, accelerations of an arm are off by up to {100 * numbers[f'{soft}, joints']:.0f} % with soft "
        f"fingers, those of a leg by {100 * numbers[f'{legs}, joints']:.0f} % in the hexapod, whose hips are hinges, "
        f"and its a_0 by {100 * numbers[f'{legs}, a_0']:.0f} %",
    )


def zero_for_rigid_grasps() -> Finding:
    """H and alpha_c of a weld, and h_c against M_k."""
    x = machines.arms("rigid")
    relative = [c.X @ x.library.a_0 + c.zeta - c.J @ q - c.Jv for c, q in zip(x.chains, x.library.qdd, strict=True)]
    size = np.abs(x.library.a_0).max()
    worst = float(max(np.abs(r).max() for r in relative) / size)
    free = max(c.h.size for c in x.chains)
    same = max(off(np.linalg.inv(c.G), np.linalg.inv(c.Lambda_inv)) for c in x.chains)
    return judged(
        worst < ROUNDING and free == 0 and same < ROUNDING,
        {"relative acceleration": worst, "free directions": float(free), "M_k - Lambda_k": same},
        f"a tip and the box differ in acceleration by {worst:.0e} of a_0, there is no free direction for a force h, "
        "and M_k is the operational space inertia",
    )


def constant_spaces() -> Finding:
    """Locked directions in the axes of the tip: of joints in different poses."""
    level = machines.arms("soft", pose=(0.0, 0.0, 0.45, 1.0, 0.0, 0.0, 0.0)).chains
    fingers, legs, balls = (x.chains for x in (machines.arms("soft"), machines.hexapod(), machines.arms("point")))
    pairs = {
        "balls": [(c, balls[0]) for c in balls],
        "hinges": [(c, legs[0]) for c in legs],
        "universal joints": list(zip(fingers, level, strict=True)),
    }
    moved = {name: max(float(np.abs(x.Phi_c - y.Phi_c).max()) for x, y in both) for name, both in pairs.items()}
    return judged(
        max(moved.values()) < ROUNDING,
        moved,
        "they are for rigid grasps, balls and hinges; a universal joint has an axis in each of its bodies, and the "
        f"direction it locks changed by {moved['universal joints']:.2f} in the axes of the tip between two poses of "
        "the box",
        otherwise=CORRECTED if max(moved["balls"], moved["hinges"]) < ROUNDING else FAILS,
    )


def felt_inertia() -> Finding:
    """The matrix of (46) against what all equations at once answer to a unit force on the reference member."""
    errors = {x.title: off(effective_inertia(x.member, x.chains) @ x.felt, np.eye(6)) for x in states()}
    worst = max(errors.values())
    heavier = {
        x.title: float(np.linalg.eigvalsh(effective_inertia(x.member, x.chains) - x.member.I).max()) for x in states()
    }
    least = min(float(np.linalg.eigvalsh(effective_inertia(x.member, x.chains) - x.member.I).min()) for x in states())
    return judged(
        worst < ROUNDING and least > -ROUNDING * max(heavier.values()),
        errors | {f"{name}, added": value for name, value in heavier.items()} | {"least added": least},
        "a force on the reference member accelerates it by the inverse of that matrix, to "
        f"{worst:.0e} of what all equations of the machine solved at once say; chains only ever add to I_0",
    )


SECTION_2 = (
    Claim(
        "constant spaces",
        "section II",
        "free and locked directions of a general joint are constant in the joint's frame",
        constant_spaces,
    ),
)
EQ_14 = (
    Claim("velocity terms", "equations (14), (15)", "b_0 is the cross product of v_0 and I_0 v_0", velocity_terms),
)
EQ_21 = (
    Claim(
        "special case",
        "equations (17)-(21)",
        "for rigid grasps and regular arms of six joints a_0 comes from the sum of the operational space inertias",
        special_case,
    ),
    Claim(
        "rigid grasps",
        "equation (39)",
        "with a rigid grasp alpha_c and h are zero, and M_k is the operational space inertia",
        zero_for_rigid_grasps,
    ),
)
EQ_22 = (
    Claim(
        "known accelerations",
        "equation (22)",
        "the relative accelerations alpha_c in locked directions are known",
        known_accelerations,
    ),
)
EQ_46 = (
    Claim(
        "effective inertia",
        "equation (46)",
        "the matrix of a_0 is the inertia that the reference member feels, its own and that of all chains",
        felt_inertia,
    ),
)
TABLE_1 = (
    Claim(
        "five steps",
        "Table 1, equations (8)-(48)",
        "the five steps solve the direct dynamics of simple closed-chain mechanisms",
        all_equations,
    ),
)
