"""Section 6.2: equal steps; Figure 7.

The paper does not name its method. We take the classic one of order 4, and beside it that of order 5 by Dormand and
Prince, whose pair is the adaptive one.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
from matplotlib.figure import Figure

from papers import plots
from papers.khan_krovi.equations import OURS, angles
from papers.khan_krovi.runs import (
    DECADE,
    EARLY,
    SIGMAS,
    STEP,
    STIFFNESSES,
    UNTIL,
    WINDOW,
    envelope,
    exact,
    fixed,
    gap,
    power,
    projection,
    springs,
)
from papers.paper import CORRECTED, FAILS, HOLDS, Claim, Exhibit, Finding, Table, judged

SOLVERS = {"rk4": "order 4", "dopri5": "order 5"}
STEPS = (1e-3, 1e-4, 1e-5)  # s; 1e-6 s would take half a minute
# 1, z, z^2 ... of the factor by which a step multiplies a decaying or swinging solution of x' = (z / h) x
FACTORS = {"rk4": (1, 1, 1 / 2, 1 / 6, 1 / 24), "dopri5": (1, 1, 1 / 2, 1 / 6, 1 / 24, 1 / 120, 1 / 600)}


@cache
def swings() -> tuple[float, float]:
    """Lowest and highest of the springs' faster frequencies over ten seconds, rad/s, for K = 1 N/m."""
    q, v = angles(exact())[::20], angles(exact(), "'")[::20]
    found = []
    for x, y in zip(q, v, strict=True):
        A, _ = OURS.jacobian(x, y)
        found.append(np.linalg.eigvalsh(A @ np.linalg.solve(OURS.inertia(x), A.T))[-1])
    return float(np.sqrt(min(found))), float(np.sqrt(max(found)))


def stable_up_to(solver: str) -> float:
    """The largest h omega at which a swinging solution does not grow, on the way from 0."""
    y = np.linspace(1e-2, 4.0, 40000)
    grows = np.abs(np.polynomial.polynomial.polyval(1j * y, FACTORS[solver])) > 1 + 1e-9
    return float(y[np.argmax(grows)])


def decays_up_to(solver: str) -> float:
    """The largest h sigma at which a decaying solution does not grow."""
    y = np.linspace(1e-2, 6.0, 40000)
    return float(y[np.argmax(np.abs(np.polynomial.polynomial.polyval(-y, FACTORS[solver])) > 1 + 1e-9)])


# ---- what is shown ---------------------------------------------------------------------------------------------------


def fig7() -> Sequence[Figure | Table]:
    """Closure errors at the fixed step."""
    figure, axes = plots.panels(
        "(a) projection, order 4", "(b) compliance, order 4", y=f"largest closure error in {WINDOW:g} s [m]"
    )
    for x in SIGMAS:
        axes[0].semilogy(*envelope(fixed(projection(x))), label=f"sigma = {x:g} /s", linewidth=1.0)
    for x in STIFFNESSES:
        axes[1].semilogy(*envelope(fixed(springs(x))), label=f"K = {x:.0e} N/m", linewidth=1.0)
    for ax in axes:
        ax.set_xlim(0, UNTIL)
        ax.legend(fontsize=7, frameon=False, ncols=2, loc="lower right")
    return [figure, by_step(), by_stiffness()]


def opens(method, step: float, solver: str) -> str:
    """The largest closure error in ten seconds, or that there is none."""
    made = fixed(method, step, solver)
    return f"{gap(made):.1e}" if made.complete else f"unstable, ends at {made.t[-1]:.2f} s"


def by_step() -> Table:
    """The largest error of each step length."""
    rows = []
    for name, method in (
        ("projection, sigma = 0 /s", projection(0.0)),
        ("projection, sigma = 10 /s", projection(10.0)),
        ("springs, K = 1e+04 N/m", springs(1e4)),
        ("springs, K = 1e+06 N/m", springs(1e6)),
    ):
        many = STEPS if method in (projection(0.0), springs(1e6)) else STEPS[:2]
        rows.append([f"{name}, order 4", *(opens(method, h, "rk4") for h in many), *[""] * (len(STEPS) - len(many))])
        rows.append([f"{name}, order 5", *(opens(method, h, "dopri5") for h in STEPS[:2]), ""])
    return Table([f"largest closure error in {UNTIL:g} s [m]", *(f"step {h:g} s" for h in STEPS)], rows)


def by_stiffness() -> Table:
    """Both methods at the fixed step, in two seconds and in ten, and what stability says of it."""
    low, high = swings()
    rows = []
    for x in SIGMAS:
        early = [f"{gap(fixed(projection(x), STEP, solver), EARLY):.1e}" for solver in SOLVERS]
        rows.append([f"sigma = {x:g} /s", f"{STEP * x:g}", *early, *(opens(projection(x), STEP, y) for y in SOLVERS)])
    for k in STIFFNESSES:
        early = [f"{gap(fixed(springs(k), STEP, y), EARLY):.1e}".replace("inf", "unstable") for y in SOLVERS]
        swing = f"{STEP * low * k**0.5:.2f} to {STEP * high * k**0.5:.2f}"
        rows.append([f"K = {k:.0e} N/m", swing, *early, *(opens(springs(k), STEP, y) for y in SOLVERS)])
    orders = [f"{end:g} s, {order} [m]" for end in (EARLY, UNTIL) for order in SOLVERS.values()]
    swinging, decaying = (
        ", ".join(f"{f(x):.2f} ({y})" for x, y in SOLVERS.items()) for f in (stable_up_to, decays_up_to)
    )
    return Table(
        ["largest closure error", "h sigma or h omega", *orders],
        rows,
        f"Step h = {STEP:g} s; omega is the faster frequency of the springs, on the way. Steps are stable up to h "
        f"omega = {swinging}, and h sigma = {decaying}.",
    )


# ---- claims ----------------------------------------------------------------------------------------------------------


def near_rounding() -> Finding:
    """Largest errors of the projection by sigma and solver, in two seconds and in ten."""
    claimed = 1e-12
    found = {(y, x): fixed(projection(x), STEP, y) for y in SOLVERS for x in SIGMAS}
    early, late = ({key: gap(made, end) for key, made in found.items()} for end in (EARLY, UNTIL))
    speed = float(exact()["O'"].values[-1])
    some = max(early["dopri5", x] for x in SIGMAS[:3])
    return Finding(
        HOLDS if max(late.values()) < DECADE * claimed else CORRECTED if some < DECADE * claimed else FAILS,
        {f"{SOLVERS[y]}, sigma {x:g}, 10 s [m]": error for (y, x), error in late.items()}
        | {f"{SOLVERS[y]}, sigma {x:g}, 2 s [m]": error for (y, x), error in early.items()},
        f"in the first {EARLY:g} s it is so with a method of order 5 and sigma up to 10 /s ({some:.0e} m at most), "
        f"but not with one of order 4 ({early['rk4', 0.0]:.0e} m), and not with sigma = 1000 /s "
        f"({early['dopri5', 1000.0]:.0e} m). In {UNTIL:g} s, at whose end the crank turns at {speed:.0f} rad/s, "
        f"errors are {min(late.values()):.0e} to {max(late.values()):.0e} m",
    )


def sigma_is_minor() -> Finding:
    """The largest over all sigma by the smallest."""
    few, every = (
        max(
            max(gap(fixed(projection(x), STEP, y)) for x in values)
            / min(gap(fixed(projection(x), STEP, y)) for x in values)
            for y in SOLVERS
        )
        for values in (SIGMAS[1:4], SIGMAS[1:])
    )
    shorter = {x: gap(fixed(projection(x), 1e-4)) for x in (10.0, 1000.0)}
    return Finding(
        HOLDS if every < DECADE else CORRECTED if few < DECADE else FAILS,
        {"ratio, 1 to 100": few, "ratio, 1 to 1000": every}
        | {f"step 1e-4 s, sigma {x:g} [m]": error for x, error in shorter.items()},
        f"over {UNTIL:g} s errors with sigma from 1 to 100 /s differ by a factor of {few:.1f} at most. With 1000 /s, "
        f"where h sigma = 1, they differ by {every:.0f}: with fixed steps a large sigma is worse, at 1e-4 s, too "
        f"({shorter[1000.0]:.0e} m against {shorter[10.0]:.0e} m with 10 /s)",
    )


def to_a_millimetre() -> Finding:
    """Springs of 1e6 N/m at the fixed step, and at steps that are short enough."""
    k, claimed = STIFFNESSES[-1], 1e-3
    low, high = (STEP * x * k**0.5 for x in swings())
    four, five, fine = fixed(springs(k)), fixed(springs(k), STEP, "dopri5"), fixed(springs(k), 1e-4)
    limit = {solver: stable_up_to(solver) for solver in SOLVERS}

    def of_that_size(x: float) -> bool:
        return claimed / DECADE < x < claimed * DECADE

    early, late = gap(four, EARLY), gap(four)
    swing = 1j * np.linspace(low, high, 101)
    damps = float(np.abs(np.polynomial.polynomial.polyval(swing, FACTORS["rk4"])).max())
    whole = of_that_size(late) and of_that_size(gap(five))
    return Finding(
        HOLDS if whole else CORRECTED if of_that_size(early) else FAILS,
        {
            "order 4, 2 s [m]": early,
            "order 4, 10 s [m]": late,
            "order 5, 10 s [m]": gap(five),
            "order 5, ends at [s]": float(five.t[-1]),
            "step 1e-4 s, 10 s [m]": gap(fine),
            "a swing, by a step": damps,
            "h omega, least": low,
            "h omega, largest": high,
            "limit, order 4": limit["rk4"],
            "limit, order 5": limit["dopri5"],
        },
        f"h omega is {low:.2f} to {high:.2f} at K = {k:.0e} N/m. A step of order 4 is stable up to "
        f"{limit['rk4']:.2f}, and opens the loop by {early:.1e} m in {EARLY:g} s and by {late:.1e} m in {UNTIL:g} s. "
        f"It cannot follow such springs, and damps them: a step multiplies a swing by {damps:.2f} at most; steps of "
        f"1e-4 s, which follow, give {gap(fine):.1e} m. A step of order 5 is stable up to {limit['dopri5']:.2f} only, "
        f"and the run blows up at {five.t[-1]:.2f} s",
    )


def stiffer_is_closer() -> Finding:
    """Errors against K at the fixed step."""
    found = [gap(fixed(springs(k))) for k in STIFFNESSES]
    return judged(
        found[0] > OURS.l[0] and found[0] > DECADE * found[-1],
        {f"K = {k:.0e} [m]": x for k, x in zip(STIFFNESSES, found, strict=True)},
        f"for K from {STIFFNESSES[0]:.0e} to {STIFFNESSES[-1]:.0e} N/m the largest errors in {UNTIL:g} s are "
        f"{', '.join(f'{x:.2g}' for x in found)} m; the first is longer than the crank",
    )


def not_comparable() -> Finding:
    """The best springs against the worst projection at the fixed step."""
    best = min(gap(fixed(springs(k))) for k in STIFFNESSES)
    worst = max(gap(fixed(projection(x))) for x in SIGMAS)
    return judged(
        best > DECADE * worst,
        {"springs, best [m]": best, "projection, worst [m]": worst},
        f"the best springs are open by {best:.0e} m, the projection with the worst sigma by {worst:.0e} m",
    )


def smaller_steps() -> Finding:
    """The order with which the error of the projection falls."""
    steps = (4e-3, 2e-3, 1e-3, 5e-4)
    found = [gap(fixed(projection(0.0), h)) for h in steps]
    order = power(steps, found)
    return judged(
        order > 3.5,
        {f"step {h:g} s [m]": x for h, x in zip(steps, found, strict=True)} | {"order": order},
        f"without any stabilisation (sigma = 0) the error falls like the step to the power {order:.1f}, from "
        f"{found[0]:.0e} m at {1e3 * steps[0]:g} ms to {found[-1]:.0e} m at {1e3 * steps[-1]:g} ms: velocities are "
        "tangent, and what is left is the error of the method",
    )


SMALLER_STEPS = Claim(
    "smaller steps",
    "section 3",
    "since feasible velocities are tangent to the constraints, small enough steps keep these",
    smaller_steps,
)
EXHIBITS = (
    Exhibit(
        "fig7",
        "closure error with fixed steps of 1 ms",
        fig7,
        (
            Claim(
                "near 1e-12",
                "section 6.2, Figure 7(a)",
                "with steps of 1 ms the constraint error of the projection stays near 1e-12",
                near_rounding,
            ),
            Claim(
                "sigma is minor",
                "section 6.2, Figure 7(a)",
                "with steps of 1 ms the choice of sigma plays only a minor role",
                sigma_is_minor,
            ),
            Claim(
                "soft springs",
                "section 6.2, Figure 7(b)",
                "with steps of 1 ms soft springs let the loop open considerably, and stiffer ones less",
                stiffer_is_closer,
            ),
            Claim(
                "to a millimetre",
                "section 6.2, Figure 7(b)",
                "with steps of 1 ms the error comes down to some 1e-3 at K = 1e6",
                to_a_millimetre,
            ),
            Claim(
                "not comparable",
                "section 6.2, Figure 7",
                "with steps of 1 ms springs do not come near the errors of the projection",
                not_comparable,
            ),
        ),
    ),
)
