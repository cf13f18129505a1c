"""Step 5, and super-real-time simulation: motions of seconds, what they cost, and drift."""

from __future__ import annotations

import warnings
from functools import cache

import numpy as np
from matplotlib.figure import Figure

import closedchain as cc
from closedchain.march.program.compiled import compiled
from closedchain.results.run import Run
from papers.paper import Claim, Finding, Table, judged
from papers.plots import legend, panels

UNTIL, RTOL = 2.0, 1e-6
REPEATS = 3  # the fastest counts: others on the machine only ever make it slower
TIMES = np.linspace(0.0, UNTIL, 21)
PER_SECOND = 1e9  # operations of a slow processor of today
WITHIN = 0.1  # s: two seconds of motion in less are a matter of milliseconds
ACCURATE = 1e-4  # m: where the reference member is, against tighter steps
LONGER, LOOSE = 6.0, 1e-4  # s and rtol, for a drift that can be seen
FEEDBACK = cc.Baumgarte(5.0, 5.0)  # 1/s: small beside steps of some 40 ms
BEATEN = 0.1  # of the drift without feedback

MACHINES = {
    "Gough-Stewart platform": (cc.library.gough_stewart, "platform.origin"),
    "arms with a box": (cc.library.arms_with_box, "box.origin"),
    "hexapod": (cc.library.hexapod, "body.origin"),
}


@cache
def drawing(name: str) -> cc.Mechanism:
    return MACHINES[name][0]()


@cache
def moved(name: str, rtol: float = RTOL) -> Run:
    """Two seconds under servos; the fastest of some repeats."""
    runs = [
        cc.simulate(drawing(name), until=UNTIL, method=cc.OperationalSpace(), rtol=rtol, atol=rtol, t_eval=TIMES)
        for _ in range(REPEATS if rtol == RTOL else 1)
    ]
    return min(runs, key=lambda run: run.seconds["march"])


@cache
def operations(name: str) -> tuple[int, int]:
    """Of an evaluation of the right-hand side and of a correction, exactly."""
    program = compiled(drawing(name).assemble(), cc.OperationalSpace())
    assert program.correct is not None
    return program.rhs.counts.total, program.correct.counts.total


def spent(name: str) -> int:
    """Operations of the whole run, those of the integrator itself not counted."""
    run, (rhs, correct) = moved(name), operations(name)
    return run.counts.evaluations * rhs + run.counts.corrections * correct


def factor(name: str) -> float:
    """Seconds of motion for a second of the clock."""
    return UNTIL / moved(name).seconds["march"]


def error(name: str) -> float:
    """Of the place of the reference member, m."""
    one, other = (run.frame(MACHINES[name][1]).position.values for run in (moved(name), moved(name, 1e-10)))
    return float(np.abs(one - other).max())


def about(x: float) -> float:
    """Rounded down to one digit: clocks do not give more."""
    decade = 10.0 ** np.floor(np.log10(x))
    return float(decade * np.floor(x / decade))


def costs() -> list[Table]:
    """What two seconds of motion cost."""
    rows = []
    for name in MACHINES:
        run, (rhs, correct) = moved(name), operations(name)
        rows.append(
            (
                name,
                f"{run.counts.steps}",
                f"{run.counts.evaluations} x {rhs}",
                f"{run.counts.corrections} x {correct}",
                f"{1e-6 * spent(name):.1f}",
                f"{error(name):.0e}",
                f"{about(factor(name)):.0f}",
            )
        )
    columns = (
        "machine", "steps", "evaluations x operations", "corrections x operations", "operations [1e6]", "error [m]",
        "times as fast as the clock, at least",
    )  # fmt: skip
    note = (
        f"{UNTIL:g} s under servos with dop853 at rtol = {RTOL:g}, the library's drives. Compiled beforehand; the "
        f"fastest of {REPEATS} runs on the machine that wrote this page, rounded down to one digit. The error is that "
        "of the place of the reference member."
    )
    return [Table(columns, rows, note)]


def super_real_time() -> Finding:
    """Two seconds of machines of both types; judged by operations, since clocks depend on who else is on a machine."""
    work = {name: spent(name) for name in MACHINES}
    slowest, most = max(work, key=work.__getitem__), max(work.values())
    quickest = min(work, key=work.__getitem__)
    worst = max(error(name) for name in MACHINES)
    return judged(
        most / PER_SECOND < WITHIN and worst < ACCURATE,
        {f"{name}, operations": float(x) for name, x in work.items()} | {"error [m]": worst},
        f"it is met today: {UNTIL:g} s of motion take from {1e-6 * work[quickest]:.0f} million operations "
        f"({quickest}) to {1e-6 * most:.0f} million ({slowest}), which are {1e3 * work[quickest] / PER_SECOND:.0f} "
        f"to {1e3 * most / PER_SECOND:.0f} ms at a billion a second, with the reference member within {worst:.0e} m "
        "of where it belongs; by the clock of the machine that wrote this, the motion was at "
        f"least {about(factor(quickest)):.0f} and {about(factor(slowest)):.0f} times slower than its computation",
    )


# ---- drift -----------------------------------------------------------------------------------------------------------


@cache
def drifting(method: str) -> Run:
    """A Gough-Stewart platform with loops closed in accelerations only, with feedback, and by projection."""
    methods = {
        "none": cc.Multipliers("none"), "feedback": cc.Multipliers(FEEDBACK), "projection": cc.OperationalSpace(),
    }  # fmt: skip
    times = np.linspace(0.0, LONGER, 301)
    with warnings.catch_warnings():
        # drift is what is to be seen here
        warnings.simplefilter("ignore", cc.RunWarning)
        return cc.simulate(
            drawing("Gough-Stewart platform"),
            until=LONGER,
            method=methods[method],
            rtol=LOOSE,
            atol=LOOSE,
            t_eval=times,
        )


def drift() -> list[Figure]:
    """Gaps of the loops over time."""
    figure, (ax,) = panels("Gough-Stewart platform, dop853, rtol = 1e-4", y="gap of the loops [m]")
    figure.set_size_inches(5.8, 3.6)
    for name, label in (
        ("none", "accelerations only"), ("feedback", "with feedback"), ("projection", "cc.OperationalSpace, projected"),
    ):  # fmt: skip
        run = drifting(name)
        ax.semilogy(run.t[1:], np.maximum(run.closure_error.values[1:], 1e-17), label=label)
    ax.set_ylim(1e-17, 1e-3)
    legend(ax)
    return [figure]


def counteracted() -> Finding:
    """The gap in the last second with and without feedback; between steps interpolation adds to it now and then."""
    last = drifting("none").t > LONGER - 1.0
    names = ("none", "feedback", "projection")
    gaps = {name: float(np.median(drifting(name).closure_error.values[last])) for name in names}
    return judged(
        gaps["feedback"] < BEATEN * gaps["none"],
        gaps,
        f"in the last of {LONGER:g} s of a Gough-Stewart platform at rtol = {LOOSE:g} the loops are apart by "
        f"{gaps['none']:.0e} m (median) without feedback and by {gaps['feedback']:.0e} m with it (decay rates of 5 "
        f"/s); projection after each step, which we use, keeps them closed to {gaps['projection']:.0e} m",
    )


SECTION_1 = (
    Claim(
        "super-real-time",
        "section I",
        "beyond real time lies the challenge to compute seconds of motion in milliseconds, for vehicles and arms",
        super_real_time,
    ),
)
STEP_5 = (
    Claim(
        "drift",
        "section IV",
        "drift from the closures comes with integration, and small feedback of positions and rates counteracts it",
        counteracted,
    ),
)
