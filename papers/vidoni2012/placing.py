"""Figures 9 to 11: picking and placing under torques that jump."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import partial

import numpy as np

import closedchain as cc
from papers.paper import CORRECTED, FAILS, HOLDS, Claim, Exhibit, Finding, Shown, judged
from papers.plots import COLOURS, legend, panels
from papers.vidoni2012.motions import DEFORMED, MARKED, coordinates
from papers.vidoni2012.runs import (
    EVERY,
    LONG,
    PERIOD,
    PERIODS,
    SOFT,
    TIMES,
    UNTIL,
    at_rows,
    change_by_tolerance,
    exudyn,
    free_coordinates,
    off_exudyn,
    picking,
    stiff_picking,
    tips,
)

STRESSED = 1e-3  # strain at which mild steel yields


def figure9() -> Sequence[Shown]:
    """Free coordinates."""
    figure, axes = coordinates(picking(), "pick")
    stiff = np.degrees(free_coordinates(stiff_picking()))
    for k, ax in enumerate(axes):
        ax.plot(LONG, stiff[:, k], color="black", lw=0.9, ls="--", label="stiff links")
    legend(*axes)
    return (figure,)


def figure10(axis: int) -> Sequence[Shown]:
    """A coordinate of the tip, and what flexibility adds to it."""
    name, there = "xy"[axis], exudyn("pick")
    titles = (f"{name} of the tip", "less that with stiff links")
    figure, (ax, apart) = panels(*titles, y=(f"{name} [mm]", "difference [mm]"))
    soft, stiff = (1e3 * tips(run)[:, axis] for run in (picking(), stiff_picking()))
    times = picking().t
    rows, theirs = at_rows("pick", picking()), 1e3 * there[f"tip_{name}"]
    ax.plot(times, soft, color=COLOURS[0], lw=1.8, label="ERLS")
    ax.plot(LONG, stiff, color="black", lw=0.9, ls="--", label="stiff links")
    ax.plot(there["t"], theirs, color=COLOURS[1], label="Exudyn", **MARKED)
    apart.plot(times, soft - stiff[: len(times)], color=COLOURS[0], lw=1.4, label="ERLS")
    apart.plot(there["t"], theirs - stiff[rows], color=COLOURS[1], label="Exudyn", **MARKED)
    legend(ax, apart)
    return (figure,)


def up_and_down() -> Finding:
    """The free coordinate of link 1 with stiff links, through three periods of the torques."""
    q = free_coordinates(stiff_picking())[:, 0]
    turns = int((np.diff(np.sign(np.diff(q))) != 0).sum())
    later = round(PERIOD / EVERY)
    off, way = float(np.abs(q[later:] - q[:-later]).max()), float(np.ptp(q))
    up_and_down = turns == 2 * PERIODS
    return Finding(
        (HOLDS if off < 0.1 * way else CORRECTED) if up_and_down else FAILS,
        {"turns": turns, "change in a period [rad]": off, "way [rad]": way},
        f"link 1 turns back {turns} times in {PERIODS} periods of the torques, once up and once down in each; but the "
        f"motion does not repeat: from a period to the next it is off by up to {off:.2f} rad on a way of {way:.2f} "
        "rad, since the links swing under their weight, too (with our places of the pivots)",
    )


def off_rigid(axis: int) -> Finding:
    """A coordinate of the tip while picking and placing, against links a thousand times as stiff.

    Errors of the steps add up: it is judged to 0.3 s, as far as the tolerance was varied and as Exudyn's rows go.
    """
    soft, stiff = (tips(run)[: len(TIMES), axis] for run in (picking(), stiff_picking()))
    off, way, change = float(np.abs(soft - stiff).max()), float(np.ptp(stiff)), change_by_tolerance(UNTIL)
    there = float(off_exudyn("pick", picking())[2 + axis])
    return judged(
        off > DEFORMED > 3 * change,
        {"difference [m]": off, "way [m]": way, "off Exudyn [m]": there, "with a third of rtol [m]": change},
        f"in {UNTIL:g} s the {'xy'[axis]} coordinate of the tip differs by up to {1e3 * off:.2f} mm from that with "
        f"stiff links, on a way of {1e3 * way:.0f} mm (a third of the tolerance changes {1e3 * change:.3f} mm). Two "
        "beams in a long link are not enough for it: Exudyn's tip, with many more, is elsewhere by up to "
        f"{1e3 * there:.2f} mm",
    )


def stressed() -> Finding:
    """The largest strain in a driven link."""
    with warnings.catch_warnings():
        # the axial load of link 2 comes to a tenth of its buckling load, which the paper's linear beams do not know
        warnings.filterwarnings("ignore", "the axial load", cc.RunWarning)
        stress = max(float(np.abs(picking().stress(f"link{k}")["von_mises"].values).max()) for k in (1, 2))
    strain = stress / SOFT
    return judged(
        strain > STRESSED,
        {"stress [Pa]": stress, "strain": strain},
        f"stresses in links 1 and 2 reach {1e-6 * stress:.0f} MPa, a strain of {1e2 * strain:.2f} %: mild steel yields "
        "at some 0.1 %",
    )


EXHIBITS = (
    Exhibit(
        "fig9",
        "picking and placing: free coordinates",
        figure9,
        (
            Claim(
                "pick and place",
                "section A general pick-and-place trajectory, Figure 9",
                "under a periodic square torque the robot goes up and down, and the free coordinates are periodic",
                up_and_down,
            ),
            Claim(
                "stressed links",
                "section A general pick-and-place trajectory",
                "picking and placing, the links are quite stressed",
                stressed,
            ),
        ),
    ),
    Exhibit(
        "fig10",
        "picking and placing: the tip in x",
        partial(figure10, 0),
        (
            Claim(
                "tip in x",
                "section A general pick-and-place trajectory, Figure 10",
                "deformations are not negligible in the x coordinate of the tip",
                partial(off_rigid, 0),
            ),
        ),
    ),
    Exhibit(
        "fig11",
        "picking and placing: the tip in y",
        partial(figure10, 1),
        (
            Claim(
                "tip in y",
                "section A general pick-and-place trajectory, Figure 11",
                "deformations are not negligible in the y coordinate of the tip",
                partial(off_rigid, 1),
            ),
        ),
    ),
)
