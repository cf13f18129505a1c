"""Table 2: what runs cost, in evaluations and operations; no clock is read."""

from __future__ import annotations

from functools import cache

import numpy as np

import closedchain as cc
from papers.paper import CORRECTED, FAILS, HOLDS, Claim, Finding, Shown, Table, judged
from papers.raoofian2017.derivation import operations
from papers.raoofian2017.robot import BEST, DAMPING, STIFFNESSES, UNTIL, costs, distance, fixed_step, plain, springs

SECONDS = (0.576, 0.921, 1.648, 3.550, 11.898, 45.592, 160.600, 499.424)  # Table 2
DENOC_SECONDS = 2.0  # section 4
GROWS = 1.2  # times for ten times the stiffness, at least: "noticeable"
NO_MORE = 2.0  # times for a hundred times the stiffness, at most: steps that follow the springs grow ten times
DESKTOP = 1e9  # operations of one core in a second, at least: one in a nanosecond
SHARE = 0.1  # of a core: real time with room for all else
STEP = 5e-4  # s, fixed: 2.8 / step is above the fastest frequency of springs of 1e6 N/m
ACCEPTED = np.exp(-5.0)  # m: what the paper accepts, see errors.py


@cache
def evaluations(stiffness: float) -> int:
    """Of the right-hand side, in three roses."""
    return springs(stiffness).counts.evaluations


@cache
def denoc_operations() -> int:
    """Of a run with DeNOC that keeps its last state only."""
    counts, n = costs(cc.DeNOC()), operations()
    return counts.evaluations * n["DeNOC"] + counts.corrections * n["correction"]


def springs_operations(stiffness: float = BEST) -> int:
    """Of a run with ModifiedDeNOC."""
    return evaluations(stiffness) * operations()["ModifiedDeNOC"]


@cache
def fitted() -> tuple[float, float, np.ndarray]:
    """Seconds once, seconds for each evaluation, and what both together give for each row of Table 2."""
    n, seconds = np.array([evaluations(k) for k in STIFFNESSES], float), np.array(SECONDS)
    columns = np.stack([np.ones(len(n)), n], axis=1)
    once, each = np.linalg.lstsq(columns / seconds[:, None], np.ones(len(n)), rcond=None)[0]
    return float(once), float(each), columns @ (once, each)


def table_2() -> list[Shown]:
    """Times of the paper and our evaluations, each relative to the row above, and times from evaluations."""
    once, each, seconds = fitted()
    rows, before = [], None
    for stiffness, theirs, ours in zip(STIFFNESSES, SECONDS, seconds, strict=True):
        n = evaluations(stiffness)
        ratios = ("", "") if before is None else (f"{theirs / before[0]:.2f}", f"{n / before[1]:.2f}")
        rows.append((f"{plain(stiffness)}", f"{theirs:g}", ratios[0], f"{n}", ratios[1], f"{ours:.3g}"))
        before = theirs, n
    counts = costs(cc.DeNOC())
    rows.append(("DeNOC", f"{DENOC_SECONDS:g}", "", f"{counts.evaluations} + {counts.corrections} corrections", "", ""))
    note = (
        "dopri5, 6 s. For ten times the stiffness the fastest frequency grows 3.16 times, and so do steps once the "
        f"springs rule them. The last column is {once:.2f} s and {1e3 * each:.2f} ms for each evaluation, fitted to "
        "the paper's eight times."
    )
    return [Table(("K_s [N/m]", "paper [s]", "times", "our evaluations", "times", "fitted [s]"), rows, note)]


def time_grows() -> Finding:
    """Evaluations for each stiffness."""
    n = np.array([evaluations(k) for k in STIFFNESSES], float)
    ratios = n[1:] / n[:-1]
    once, each, seconds = fitted()
    off = float(np.abs(seconds / SECONDS - 1).max())
    return judged(
        bool(ratios.min() > GROWS),
        {f"evaluations at {plain(k)} N/m": x for k, x in zip(STIFFNESSES, n, strict=True)}
        | {"once [s]": once, "each evaluation [s]": each, "fit off by": off},
        f"evaluations grow from {n[0]:.0f} at 1e1 N/m to {n[-1]:.0f} at 1e8 N/m, {ratios.min():.1f} to "
        f"{ratios.max():.1f} times with each decade. {once:.2f} s, and {1e3 * each:.2f} ms for each of our "
        f"evaluations, give all eight times of Table 2 within {100 * off:.0f} %",
    )


def stiff() -> Finding:
    """Steps at two stiffnesses a hundred times apart, explicit and implicit, undamped and damped."""
    pairs = ((BEST, DAMPING), (100 * BEST, 10 * DAMPING))  # the same damping ratio
    steps = {
        (solver, damped): [springs(k, damped * b, solver=solver).counts.steps for k, b in pairs]
        for solver in ("dopri5", "radau5")
        for damped in (0, 1)
    }
    grow = {key: b / a for key, (a, b) in steps.items()}
    swings = grow["radau5", 0] > NO_MORE
    stiff_when_damped = grow["radau5", 1] < NO_MORE < grow["dopri5", 1]
    return Finding(
        FAILS if not stiff_when_damped else CORRECTED if swings else HOLDS,
        {f"{solver}, {'damped' if d else 'undamped'}": x for (solver, d), x in grow.items()}
        | {"steps, radau5, damped, 1e8 N/m": steps["radau5", 1][1]},
        "undamped springs make the equations fast rather than stiff: they swing, and who wants to be accurate has to "
        f"follow. From 1e6 to 1e8 N/m steps grow {grow['dopri5', 0]:.1f} times with dopri5, and "
        f"{grow['radau5', 0]:.1f} times with radau5, whose steps stability does not limit. With dampers (1e3 and 1e4 "
        f"N s/m) they are stiff: radau5 takes {steps['radau5', 1][0]} and {steps['radau5', 1][1]} steps, dopri5 "
        f"{steps['dopri5', 1][0]} and {steps['dopri5', 1][1]}",
    )


def denoc_is_faster() -> Finding:
    """Operations of whole runs."""
    ratio = springs_operations() / denoc_operations()
    theirs = SECONDS[STIFFNESSES.index(BEST)] / DENOC_SECONDS
    per_evaluation = operations()["ModifiedDeNOC"] / operations()["DeNOC"]
    return judged(
        ratio > 10,
        {"operations, ModifiedDeNOC": springs_operations(), "operations, DeNOC": denoc_operations(), "ratio": ratio}
        | {"paper": theirs},
        f"at 1e6 N/m ModifiedDeNOC takes {ratio:.0f} times the operations of DeNOC for the 6 s (the paper's times: "
        f"{theirs:.0f}). One evaluation costs {per_evaluation:.2f} of DeNOC's, but {evaluations(BEST)} are needed and "
        f"not {costs(cc.DeNOC()).evaluations}",
    )


def not_for_real_time() -> Finding:
    """Operations in a second of motion, with steps that are chosen and with fixed ones."""
    chosen = springs_operations() / UNTIL
    run = fixed_step(BEST, STEP)
    fixed = run.counts.evaluations * operations()["ModifiedDeNOC"] / UNTIL
    off = float(distance(run).max())
    possible = max(chosen, fixed) < SHARE * DESKTOP and off < ACCEPTED
    return Finding(
        FAILS if possible else HOLDS,
        {"operations in 1 s": chosen, "with fixed steps": fixed, "off the path with fixed steps [m]": off},
        f"at 1e6 N/m a second of motion takes {chosen / 1e6:.1f} million operations, {fixed / 1e6:.1f} million with "
        f"fixed steps of {1e3 * STEP:g} ms of rk4 ({1e3 * off:.2f} mm off the path after three roses): a core that "
        "does an operation in a nanosecond is busy for some milliseconds. It is slower than DeNOC, but not too slow",
    )


GROWS_WITH_STIFFNESS = Claim(
    "time grows", "section 4, Table 2", "computing time grows noticeably with the stiffness", time_grows
)
STIFFNESS = Claim(
    "stiff",
    "section 4",
    "it grows because large stiffnesses make the differential equations stiff",
    stiff,
)
FASTER = Claim(
    "DeNOC is faster",
    "section 4 and conclusion",
    "the modified method takes some 45 s where DeNOC takes some 2 s",
    denoc_is_faster,
)
REAL_TIME = Claim(
    "not for real time",
    "abstract and section 4",
    "the modified method cannot be used for computations in real time",
    not_for_real_time,
)
