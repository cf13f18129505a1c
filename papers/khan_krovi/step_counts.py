"""Section 6.1: how many steps a tolerance asks for; Figure 6."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from papers import plots
from papers.khan_krovi.adaptive import LOOSE, SIGMA_RUNS, SPRING_RUNS, TIGHT
from papers.khan_krovi.equations import second_opinion
from papers.khan_krovi.fixed_steps import decays_up_to
from papers.khan_krovi.runs import (
    SIGMAS,
    STIFFNESSES,
    TOLERANCES,
    UNTIL,
    adaptive,
    gap,
    power,
    projection,
    springs,
    straight,
)
from papers.paper import CORRECTED, FAILS, HOLDS, Claim, Exhibit, Finding, Table, judged

MANY_SIGMAS = (0.0, 1.0, 10.0, 100.0, 250.0, 500.0, 750.0, 1000.0)
MANY_STIFFNESSES = tuple(10.0**x for x in np.arange(1.0, 6.01, 0.5))
STIFF = tuple(k for k in MANY_STIFFNESSES if k >= 1e3)
OPINIONS: tuple[tuple[str, dict[str, float], Any], ...] = (
    ("projection, sigma = 1 /s", {"sigma": 1.0}, projection(1.0)),
    ("projection, sigma = 10 /s", {"sigma": 10.0}, projection(10.0)),
    ("springs, K = 1e+03 N/m", {"K": 1e3}, springs(1e3)),
)
STRAIGHT = 0.1  # of the largest: a line that misses its points by less looks straight
GROWS = 1.05  # times for a decade of rtol, at least: less is no growth


def steps(method, rtol: float) -> int:
    """Accepted steps for ten seconds."""
    return adaptive(method, rtol).counts.steps


def fig6() -> Sequence[Figure | Table]:
    """Steps."""
    figure, axes = plots.panels("(a) projection", "(b) compliance", y=f"steps for {UNTIL:g} s")
    for rtol in reversed(TOLERANCES):
        axes[0].plot(
            MANY_SIGMAS, [steps(projection(x), rtol) for x in MANY_SIGMAS], "o-", ms=3, label=f"rtol = {rtol:g}"
        )
        axes[1].loglog(
            MANY_STIFFNESSES, [steps(springs(x), rtol) for x in MANY_STIFFNESSES], "o-", ms=3, label=f"rtol = {rtol:g}"
        )
    axes[0].set_xlabel("sigma [1/s]")
    axes[1].set_xlabel("K [N/m]")
    axes[0].set_ylim(0)
    plots.legend(*axes)
    rows = [
        [name, *(f"{steps(method, rtol)}" for rtol in TOLERANCES)]
        for name, method in {**SIGMA_RUNS, **SPRING_RUNS}.items()
    ]
    return [figure, Table([f"steps for {UNTIL:g} s", *(f"rtol = {rtol:g}" for rtol in TOLERANCES)], rows), typed()]


def typed() -> Table:
    """The paper's equations, typed in and marched by another code, beside the library."""
    rows = []
    for name, how, method in OPINIONS:
        for rtol in (LOOSE, TIGHT):
            made, (count, opened) = adaptive(method, rtol), second_opinion(rtol, **how)
            rows.append([name, f"{rtol:g}", f"{made.counts.steps}", f"{count}", f"{gap(made):.1e}", f"{opened:.1e}"])
    return Table(
        ["method", "rtol", "steps", "steps, typed in", "closure error [m]", "closure error, typed in [m]"],
        rows,
        "Typed in: (17) and (20) in the paper's angles, by RK45 of SciPy, the same pair with other rules for the "
        "steps.",
    )


def misfit(x, y) -> float:
    """Largest distance of points from the straight line that fits them best."""
    return float(np.abs(np.polyval(np.polyfit(x, y, 1), x) - y).max())


# ---- claims ----------------------------------------------------------------------------------------------------------


def more_steps() -> Finding:
    """Steps against sigma and K."""
    grow = {}
    for name, values, method in (("sigma", SIGMAS, projection), ("K", STIFFNESSES, springs)):
        for rtol in TOLERANCES:
            found = [steps(method(x), rtol) for x in values]
            grow[name, rtol] = found
    more = all(x[-1] > 1.5 * x[0] for x in grow.values())
    monotone = all((np.diff(x) > 0).all() for x in grow.values())
    ours = [steps(method, TIGHT) for _, _, method in OPINIONS]
    others = [second_opinion(TIGHT, **how)[0] for _, how, _ in OPINIONS]
    a, b = grow["sigma", TIGHT], grow["K", TIGHT]
    return Finding(
        FAILS if not more else HOLDS if monotone else CORRECTED,
        {
            f"{name}, rtol {rtol:g}, {which}": x[i]
            for (name, rtol), x in grow.items()
            for i, which in ((0, "first"), (-1, "last"))
        }
        | {f"{OPINIONS[i][0]}, {who}": x[i] for i in (1, 2) for who, x in (("library", ours), ("typed in", others))},
        f"at rtol = {TIGHT:g} the projection takes {', '.join(map(str, a))} steps for sigma = "
        f"{', '.join(f'{x:g}' for x in SIGMAS)} /s, springs {', '.join(map(str, b))} for K = {STIFFNESSES[0]:.0e} to "
        f"{STIFFNESSES[-1]:.0e} N/m: it begins at some 100 /s and 1e+03 N/m, below the motion itself chooses the "
        f"steps. Typed in and marched by SciPy, the paper's equations take {others[1]} steps with sigma = 10 /s and "
        f"{others[2]} with K = 1e+03 N/m, where the library takes {ours[1]} and {ours[2]}",
    )


def linear_in_sigma() -> Finding:
    """A straight line through the steps, and what stability says of its slope."""
    numbers: dict[str, float] = {}
    for rtol in TOLERANCES:
        _, slope, off = straight(MANY_SIGMAS, [steps(projection(x), rtol) for x in MANY_SIGMAS])
        numbers |= {f"slope, rtol {rtol:g} [steps s]": slope, f"misfit, rtol {rtol:g}": off}
    slopes, offs = list(numbers.values())[::2], list(numbers.values())[1::2]
    few = [steps(projection(x), TIGHT) for x in (0.0, 1.0, 10.0)]
    limit = decays_up_to("dopri5")
    return judged(
        max(offs) < STRAIGHT,
        numbers | {"steps, sigma 0": few[0], "steps, sigma 10": few[2]},
        f"straight lines miss the steps for sigma from 0 to 1000 /s by {100 * max(offs):.0f} % of the largest number "
        f"at most; each 1/s costs {slopes[0]:.1f} steps at rtol = {LOOSE:g} and {slopes[-1]:.1f} at {TIGHT:g}, where "
        f"stability alone would ask for {UNTIL / limit:.1f} (a step of up to {limit:.2f}/sigma). Up to 10 /s it costs "
        f"hardly anything: {', '.join(map(str, few))} steps",
    )


def exponential_in_k() -> Finding:
    """An exponential in K against a power of K, where springs choose the steps."""
    numbers = {}
    for rtol in TOLERANCES:
        found = np.array([steps(springs(k), rtol) for k in STIFF], float)
        numbers[f"exponent, rtol {rtol:g}"] = power(STIFF, found)
        numbers[f"misfit of the power, rtol {rtol:g}"] = misfit(np.log(STIFF), np.log(found))
        numbers[f"misfit of the exponential, rtol {rtol:g}"] = misfit(STIFF, np.log(found))
    misfits = {
        kind: max(numbers[f"misfit of the {kind}, rtol {rtol:g}"] for rtol in TOLERANCES)
        for kind in ("power", "exponential")
    }
    exponents = [numbers[f"exponent, rtol {rtol:g}"] for rtol in TOLERANCES]
    return Finding(
        HOLDS if misfits["exponential"] < misfits["power"] else FAILS,
        numbers,
        f"from 1e+03 N/m on steps grow like K to the power {min(exponents):.2f} to {max(exponents):.2f}, as its root, "
        "since the frequencies of springs do: slower than linearly. A power fits all points within "
        f"{100 * np.expm1(misfits['power']):.0f} %, an exponential in K is off by up to "
        f"{100 * np.expm1(misfits['exponential']):.0f} %. It is on an axis of decades that a power looks like an "
        "exponential",
    )


def exponential_in_rtol() -> Finding:
    """Steps for a decade of rtol less, at each K and each sigma; an exponential in rtol against a power of it."""

    def by_decade(method) -> float:
        return float(10 ** -power(TOLERANCES, [steps(method, rtol) for rtol in TOLERANCES]))

    soft, stiff = (
        {x: by_decade(method(x)) for x in values} for method, values in ((springs, STIFFNESSES), (projection, SIGMAS))
    )
    # of springs that choose the steps
    logs = [np.log([steps(springs(k), rtol) for rtol in TOLERANCES]) for k in STIFFNESSES[2:]]
    law, growth = (max(misfit(x, y) for y in logs) for x in (np.log(TOLERANCES), TOLERANCES))
    return Finding(
        FAILS if min(soft.values()) < GROWS else HOLDS if growth < law else CORRECTED,
        {"misfit of the power": law, "misfit of the exponential": growth}
        | {f"K = {k:.0e}, factor by decade": x for k, x in soft.items()}
        | {f"sigma = {k:g}, factor by decade": x for k, x in stiff.items()},
        f"for each decade that rtol is smaller, springs need {min(soft.values()):.2f} to {max(soft.values()):.2f} "
        f"times as many steps: exponential in the digits, a power of rtol from {-np.log10(min(soft.values())):.2f} to "
        f"{-np.log10(max(soft.values())):.2f} (from 1e+03 N/m on it fits within {100 * np.expm1(law):.0f} %, an "
        f"exponential in rtol is off by up to {100 * np.expm1(growth):.0f} %), "
        f"where a method of order 5 has -0.20 if accuracy alone chooses the "
        f"steps. It is nothing special of springs: the projection with sigma = 0 needs {stiff[0.0]:.2f} times as many",
    )


EXHIBITS = (
    Exhibit(
        "fig6",
        "steps for ten seconds",
        fig6,
        (
            Claim(
                "more steps",
                "section 6.1, Figure 6",
                "both methods need distinctly more steps with larger sigma or K",
                more_steps,
            ),
            Claim(
                "linear in sigma",
                "section 6.1, Figure 6(a)",
                "the number of steps grows linearly with sigma",
                linear_in_sigma,
            ),
            Claim(
                "exponential in K",
                "section 6.1, Figure 6(b)",
                "the number of steps tends to grow exponentially with K",
                exponential_in_k,
            ),
            Claim(
                "exponential in rtol",
                "section 6.1, Figure 6(b)",
                "at a given stiffness the number of steps grows exponentially as the tolerance is lowered",
                exponential_in_rtol,
            ),
        ),
    ),
)
