"""Constraint reactions: K_s c of undamped, averaged and damped springs against exact forces, and other methods'."""

from __future__ import annotations

from functools import cache

import numpy as np

import closedchain as cc
from papers.paper import CORRECTED, FAILS, HOLDS, Claim, Finding, Shown, Table, judged
from papers.plots import legend, panels
from papers.raoofian2017.robot import (
    BEST,
    DAMPING,
    LEGS,
    LOOSE,
    PERIOD,
    TIMES,
    exact_forces,
    forces,
    needed,
    plain,
    rose,
    springs,
)

MEAN = 0.05  # s: many periods of the slowest swinging at 1e6 N/m, a fortieth of a rose
SETTLED = 0.1  # s: the springs begin unstretched; after so long the damped ones carry the load
FIRST = TIMES <= PERIOD
GOOD, POOR = 0.05, 0.2  # of the largest force: an estimate, and none
ROUNDING = 1e-6  # N, of 16 N: rounding of two orders of the same operations, in thousands of steps


def errors(found: np.ndarray) -> np.ndarray:
    """Of forces in the first rose, once damped springs have settled, N."""
    n = len(found)
    return np.abs(found - exact_forces()[:n])[FIRST[:n] & (TIMES[:n] >= SETTLED)]


def rms(x: np.ndarray) -> float:
    """Root mean square."""
    return float(np.sqrt((x**2).mean()))


def averaged(found: np.ndarray) -> np.ndarray:
    """A moving mean over `MEAN`."""
    n = round(MEAN / TIMES[1]) | 1
    kernel = np.ones(n) / n
    return np.apply_along_axis(lambda x: np.convolve(np.pad(x, n // 2, mode="edge"), kernel, mode="valid"), 0, found)


@cache
def estimates() -> dict[str, np.ndarray]:
    """Forces of the legs on the platform by name of the estimate, N."""
    undamped, loose = springs(BEST), springs(BEST, rtol=LOOSE)
    return {
        "undamped": forces(undamped),
        "undamped, rms of errors at 1e-3": forces(loose),
        "undamped, mean over 50 ms": averaged(forces(undamped)),
        "undamped, 1e8 N/m": forces(springs(100 * BEST)),
        "damped": forces(springs(BEST, DAMPING)),
    }


def figure_reactions() -> list[Shown]:
    """The force of leg I on the platform in x, exact and by springs, and what the estimates miss."""
    figure, axes = panels(
        "undamped, K_s = 1e6 N/m", "mean over 50 ms, and damped", y="force of leg I on platform, x [N]"
    )
    figure.set_size_inches(9.6, 3.4)
    found = estimates()
    exact = exact_forces()[FIRST][:, 0, 0]
    axes[0].plot(TIMES[FIRST], found["undamped"][FIRST][:, 0, 0], linewidth=0.6, label="K_s c")
    axes[1].plot(TIMES[FIRST], found["undamped, mean over 50 ms"][FIRST][:, 0, 0], label="mean of K_s c")
    axes[1].plot(TIMES[FIRST], found["damped"][FIRST][:, 0, 0], label="damped springs")
    for ax in axes:
        ax.plot(TIMES[FIRST], exact, color="black", linestyle="--", linewidth=1.0, label="exact")
    legend(*axes)
    size = float(np.abs(exact_forces()).max())
    rows = [
        (name, f"{errors(x).max():.3g} N", f"{rms(errors(x)):.3g} N", f"{100 * rms(errors(x)) / size:.2g} %")
        for name, x in found.items()
    ]
    note = (
        f"Six components of the forces between legs and platform from {SETTLED} to {PERIOD:g} s, against inverse "
        f"dynamics (up to {size:.1f} N). Damped: {plain(DAMPING)} N s/m."
    )
    return [figure, Table(("estimate", "largest error", "root mean square", "of the largest force"), rows, note)]


def springs_tell_reactions() -> Finding:
    """K_s c against the exact forces: undamped, averaged, damped."""
    size = float(np.abs(exact_forces()).max())
    found = estimates()
    undamped, mean, damped = (rms(errors(found[x])) / size for x in ("undamped", "undamped, mean over 50 ms", "damped"))
    most = float(errors(found["undamped"]).max())
    stiffer = rms(errors(found["undamped, 1e8 N/m"])) / size
    return Finding(
        HOLDS if undamped < GOOD else CORRECTED if damped < GOOD and mean < POOR else FAILS,
        {"undamped": undamped, "undamped, largest [N]": most, "mean over 50 ms": mean, "damped": damped}
        | {"undamped, 1e8 N/m": stiffer, "largest force [N]": size},
        f"undamped springs, as in the paper, swing about the reaction: K_s c is off by {100 * undamped:.0f} % of the "
        f"largest force ({size:.1f} N) in the root mean square, and by up to {most:.0f} N; a stiffness of 1e8 N/m "
        f"leaves {100 * stiffer:.0f} %. Its mean over 50 ms is off by {100 * mean:.1f} %, and with dampers of 1e3 N "
        f"s/m K_s c + b dc/dt is off by {100 * damped:.2g} % once they have settled",
    )


def all_reactions() -> Finding:
    """Forces in the joints that were not cut, from the damped springs' motion."""
    run = springs(BEST, DAMPING)
    m = needed().mechanism
    times = TIMES[FIRST & (TIMES >= SETTLED)][::20]
    at = np.searchsorted(TIMES, times - 1e-9)
    exact = cc.inverse_dynamics(m, cc.follow(m, {"platform": rose()}, t_eval=times))
    joints = [f"{name}{k}" for k in LEGS for name in ("base", "elbow")]
    off = size = 0.0
    for joint in joints:
        want = exact.reaction(joint)["force"].values[:, :2]
        off = max(off, float(np.abs(run.reaction(joint)["force"].values[at, :2] - want).max()))
        size = max(size, float(np.abs(want).max()))
    return judged(
        off < GOOD * size,
        {"largest error [N]": off, "largest force [N]": size},
        f"with damped springs the forces in the {len(joints)} joints that were not cut, too, follow from the balance "
        f"of the bodies: within {off:.2g} N of the exact ones, which reach {size:.1f} N",
    )


def energy_methods() -> Finding:
    """Forces at the cuts with Lagrange's virtual springs, against those of the modified method."""
    other = springs(BEST, DAMPING, until=0.5, method=cc.VirtualSpring)
    mine = springs(BEST, DAMPING, until=0.5)
    off = float(np.abs(forces(other) - forces(mine)).max())
    joint = float(np.abs(other.reaction("elbow1")["force"].values - mine.reaction("elbow1")["force"].values).max())
    return Finding(
        FAILS if max(off, joint) < ROUNDING else HOLDS,
        {"forces at cuts [N]": off, "force at an elbow [N]": joint},
        f"Lagrange's equations with virtual springs have the same K_s c, to {off:.0e} N, since it is there that the "
        "springs are; and once the motion is known the forces in all other joints follow from the balance of bodies, "
        f"to {joint:.0e} N the same",
    )


def as_accurate() -> Finding:
    """Motion of both methods with springs, undamped, in the first rose."""
    n = int(FIRST.sum())
    other, mine = springs(BEST, until=PERIOD, method=cc.VirtualSpring), springs(BEST)
    off = float(np.abs(other.frame("platform").position.values - mine.frame("platform").position.values[:n]).max())
    own = float(np.abs(mine.frame("platform").position.values[:n, :2] - rose().at(TIMES[:n]).value[:, :2]).max())
    counts = other.counts.evaluations
    return judged(
        off < 1e-3 * own,
        {"between the two [m]": off, "off the path [m]": own, "evaluations": counts},
        f"the two have the same equations, solved in another order: in the first rose their platforms are {off:.0e} m "
        f"from each other, where both are {own:.0e} m off the path",
    )


ESTIMATE = Claim(
    "reactions",
    "section 4 and conclusion",
    "the forces of the springs are estimates of the constraint reactions",
    springs_tell_reactions,
)
ALL = Claim(
    "all reactions",
    "conclusion",
    "with the modified method all constraint reactions of the robot can be computed",
    all_reactions,
)
ENERGY = Claim(
    "energy methods",
    "abstract and section 1",
    "unlike energy methods, Lagrange's virtual springs among them, the modified method gives constraint reactions",
    energy_methods,
)
ACCURACY = Claim(
    "as accurate",
    "abstract and section 1",
    "its accuracy is that of Lagrange's equations with virtual springs",
    as_accurate,
)
