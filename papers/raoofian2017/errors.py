"""Figures 5 and 6: how far loops open and how far the platform is off the path, over time, for each stiffness."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise

import numpy as np
from matplotlib.axes import Axes

from papers.paper import CORRECTED, FAILS, HOLDS, Claim, Finding, Shown, Table, judged
from papers.plots import COLOURS, panels
from papers.raoofian2017.robot import (
    BEST,
    LOOSE,
    R0,
    RTOL,
    STIFFNESSES,
    TIMES,
    distance,
    gaps,
    once,
    plain,
    springs,
)

THRESHOLD = -5.0  # of both errors, section 4
FINE = 1e-5  # m: a hundredth of a millimetre
HELD = 0.5  # m: where gaps sum up to more the springs do not hold the platform at all
WINDOW = 0.05  # s: errors swing faster than a figure can show; the largest in each such time is drawn
LARGER = 0.1  # m: a second r0
WORSE = 2.0  # times: an error that is larger than the smallest one by so much is a loss of accuracy


@once
def largest(what: Callable, stiffness: float, rtol: float = RTOL) -> float:
    """The largest error in three roses, m."""
    return float(what(springs(stiffness, rtol=rtol)).max())


def envelope(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Times and the largest value in each window."""
    n = round(WINDOW / TIMES[1])
    return TIMES[1:].reshape(-1, n).mean(axis=1), values[1:].reshape(-1, n).max(axis=1)


def figure(what: Callable, title: str, label: str) -> list[Shown]:
    """An error over time for all stiffnesses, with the natural logarithm at the left, the decimal one at the right."""
    drawn, (ax,) = panels(f"{title} (thick: largest in each {1e3 * WINDOW:g} ms)", y=label)
    drawn.set_size_inches(7.2, 4.2)
    for colour, k in zip(COLOURS, STIFFNESSES, strict=True):
        values = what(springs(k))
        ax.plot(TIMES[1:], np.log(values[1:]), color=colour, linewidth=0.3, alpha=0.35)
        times, most = envelope(values)
        ax.plot(times, np.log(most), color=colour, linewidth=1.4, label=f"$K_s$ = 1e{round(np.log10(k))} N/m")
    ax.axhline(THRESHOLD, color="black", linestyle="--", linewidth=0.9, label=f"{THRESHOLD:g}")
    ax.set(xlim=(0, TIMES[-1]), ylim=(-19, 2))
    _decimal(ax)
    ax.legend(fontsize=8, frameon=False, ncols=1, loc="center left", bbox_to_anchor=(1.13, 0.5))
    return [drawn]


def _decimal(ax: Axes) -> None:
    factor = np.log(10.0)
    other = ax.secondary_yaxis("right", functions=(lambda y: y / factor, lambda y: y * factor))
    other.set_ylabel("with the decimal logarithm")


def table_errors() -> Table:
    """The largest errors in three roses."""
    rows = []
    for k in STIFFNESSES:
        c, p, loose = largest(gaps, k), largest(distance, k), largest(distance, k, LOOSE)
        rows.append(
            (f"{plain(k)}", f"{c:.1e}", f"{np.log(c):.1f}", f"{np.log10(c):.1f}")
            + (f"{p:.1e}", f"{np.log(p):.1f}", f"{np.log10(p):.1f}", f"{loose:.1e}")
        )
    columns = (
        "K_s [N/m]",
        "gaps [m]",
        "e_c, ln",
        "e_c, log10",
        "off the path [m]",
        "e_p, ln",
        "e_p, log10",
        "looser [m]",
    )
    note = (
        f"Largest in 6 s, r0 = {R0} m. Looser: off the path, with the same rtol = 1e-3 held by the root mean square of "
        "the errors of a step and not by the largest of them, as ode45 does."
    )
    return Table(columns, rows, note)


def figure_5() -> list[Shown]:
    """Sum of the gaps, with the table of largest errors."""
    return [*figure(gaps, "closure error", r"$e_c$ = ln $\Sigma |c_i|$, gaps in m"), table_errors()]


def figure_6() -> list[Shown]:
    """Distance from the path."""
    return figure(distance, "position error", r"$e_p$ = ln $|r - \bar{r}|$, distance in m")


def closure_falls() -> Finding:
    """The mean of e_c and the largest gap, from stiffness to stiffness."""
    found = {k: largest(gaps, k) for k in STIFFNESSES}
    held = [x for x in found.values() if x < HELD]
    softest = min((k for k, x in found.items() if x < HELD), default=np.inf)
    falls = all(b < a for a, b in pairwise(held))
    lost = [f"{plain(k)}" for k, x in found.items() if x >= HELD]
    return judged(
        falls and len(held) >= 5,
        {f"gaps at {plain(k)} N/m [m]": x for k, x in found.items()},
        f"the largest sum of gaps falls with each decade, from {held[0]:.1e} m at {plain(softest)} N/m to "
        f"{held[-1]:.1e} m at 1e8 "
        f"N/m; with {' and '.join(lost)} N/m the springs do not hold the platform at all",
    )


def first_below(what: Callable, limit: float) -> float:
    """The smallest stiffness from which on an error stays below a limit, N/m; infinite if there is none."""
    good = [k for k in STIFFNESSES if all(largest(what, x) < limit for x in STIFFNESSES if x >= k)]
    return min(good, default=np.inf)


def threshold(what: Callable, name: str, said: float) -> Finding:
    """From which stiffness on an error is below -5, by either logarithm."""
    natural, decimal = first_below(what, np.exp(THRESHOLD)), first_below(what, 10.0**THRESHOLD)
    below, at = largest(what, said / 10), largest(what, said)
    larger = largest_at(what, said, LARGER)
    return Finding(
        HOLDS if decimal == said else CORRECTED if natural == said else FAILS,
        {"from, natural [N/m]": natural, "from, decimal [N/m]": decimal, f"{name}, natural": np.log(at)}
        | {f"{name}, decimal": np.log10(at), f"{name}, natural, a decade softer": np.log(below)}
        | {f"{name}, natural, r0 = 0.1 m": np.log(larger)},
        f"with the natural logarithm, which MATLAB's log is, {name} is below -5 from {plain(natural)} N/m on "
        f"({np.log(at):.1f} at {plain(said)} N/m, a decade softer {np.log(below):.1f}), where the paper says "
        f"{plain(said)} N/m. But -5 is then "
        f"{1e3 * np.exp(THRESHOLD):.1f} mm. With the decimal logarithm, which a hundredth of a millimetre asks for, "
        f"it takes {plain(decimal)} N/m ({np.log10(at):.1f} at {plain(said)} N/m). On a rose of {LARGER} m the "
        f"natural one is {np.log(larger):.1f}",
    )


@once
def largest_at(what: Callable, stiffness: float, r0: float) -> float:
    """The largest error on a rose of another size, m."""
    run = springs(stiffness, r0=r0)
    return float((distance(run, r0) if what is distance else what(run)).max())


def hundredths() -> Finding:
    """Gaps and distances against a hundredth of a millimetre."""
    c, p = largest(gaps, BEST / 10), largest(distance, BEST)
    enough = first_below(gaps, FINE), first_below(distance, FINE)
    return judged(
        max(c, p) < FINE,
        {"gaps at 1e5 N/m [m]": c, "off the path at 1e6 N/m [m]": p}
        | {"gaps: enough [N/m]": enough[0], "path: enough [N/m]": enough[1]},
        f"at 1e5 N/m the gaps sum up to {1e3 * c:.2f} mm, and at 1e6 N/m the platform is up to {1e3 * p:.2f} mm off "
        f"the path. A hundredth of a millimetre takes {plain(enough[0])} N/m for the gaps and {plain(enough[1])} N/m "
        "for the path",
    )


def too_stiff() -> Finding:
    """Distances from the path with the tolerance measured in two ways, and whether they have a minimum."""
    strict, loose = (np.array([largest(distance, k, rtol) for k in STIFFNESSES]) for rtol in (RTOL, LOOSE))
    loses = [bool(x[-1] > WORSE * x.min()) for x in (strict, loose)]
    best = [STIFFNESSES[int(np.argmin(x))] for x in (strict, loose)]
    return Finding(
        HOLDS if all(loses) else CORRECTED if any(loses) else FAILS,
        {
            "off the path at 1e8 N/m [m]": strict[-1],
            "the same, looser [m]": loose[-1],
            "smallest, looser [m]": loose.min(),
        }
        | {"best [N/m]": best[0], "best, looser [N/m]": best[1]},
        "it is the tolerance that loses accuracy, not the stiffness. With no entry of a step's error above rtol = "
        f"1e-3, as in ode45, the error falls up to {plain(best[0])} N/m, to {strict[-1]:.0e} m. With its root mean "
        f"square at 1e-3 it is smallest at {plain(best[1])} N/m ({1e3 * loose.min():.2f} mm) and {1e3 * loose[-1]:.0f} "
        "mm at 1e8 N/m: swinging of the size of the tolerance is fed by the steps, and stiffer springs make larger "
        "forces of it",
    )


def optimum() -> Finding:
    """The cheapest stiffness with both errors below -5."""
    limit = np.exp(THRESHOLD)
    good = max(first_below(gaps, limit), first_below(distance, limit))
    rise = springs(100 * BEST).counts.evaluations / springs(BEST).counts.evaluations
    return judged(
        good == BEST,
        {"cheapest with both below -5 [N/m]": good, "evaluations, 1e8 against 1e6": rise}
        | {"error, 1e8 against 1e6": largest(distance, 100 * BEST) / largest(distance, BEST)},
        f"{plain(good)} N/m is the softest, so the cheapest, of Table 2 with both errors below -5 (natural logarithm). "
        "It is no smallest error: at 1e8 N/m the platform is "
        f"{largest(distance, BEST) / largest(distance, 100 * BEST):.0f} times nearer to the path, for {rise:.0f} "
        "times the evaluations",
    )


FALLS = Claim("closure error falls", "section 4, Figure 5", "the closure error falls as K_s grows", closure_falls)
CLOSURE = Claim(
    "closure threshold",
    "section 4, Figure 5",
    "from K_s = 1e5 N/m on the closure error is below -5",
    partial(threshold, gaps, "e_c", 1e5),
)
POSITION = Claim(
    "position threshold",
    "section 4, Figure 6",
    "from K_s = 1e6 N/m on the position error is below -5",
    partial(threshold, distance, "e_p", 1e6),
)
HUNDREDTHS = Claim(
    "hundredths",
    "section 4, Figures 5 and 6",
    "where hundredths of a millimetre are wanted, 1e5 N/m is enough for the closure, and 1e6 N/m for the position",
    hundredths,
)
TOO_STIFF = Claim(
    "too stiff",
    "section 4 and conclusion",
    "springs that are too stiff make numerical errors, so that accuracy falls again and K_s has an optimum",
    too_stiff,
)
OPTIMUM = Claim("optimum", "section 4", "K_s = 1e6 N/m is the optimum, with both errors small enough", optimum)
