"""Equation (28): what the virtual displacement of q leaves out, and what that does to the drop."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from papers.paper import Claim, Exhibit, Finding, Shown, Table, judged
from papers.plots import COLOURS, legend, panels
from papers.vidoni2012.runs import SEEN, TIMES, flexible, off_exudyn, rigid, tips

FREE = TIMES >= 0.2  # the torques are gone
NEGLIGIBLE = 1e-3  # of the kinetic energy, in the 0.1 s that are left
ROWS = {
    "all terms, chords zeroed": {},
    "all terms, motors zeroed": {"zero": "base"},
    "rows of the paper, chords zeroed": {"terms": "paper"},
    "rows of the paper, motors zeroed": {"terms": "paper", "zero": "base"},
}


def gained(name: str) -> float:
    """Energy that comes and goes after the torques are gone, J."""
    return float(np.ptp(flexible(**ROWS[name]).energy_error.values[FREE]))


def compared() -> Sequence[Shown]:
    """Energy from nowhere over time, by what is kept and what is zeroed."""
    figure, (near, far) = panels("energy from nowhere", "the same, from near", y="E(t) - E(0) - W(t) [J]")
    rows = []
    for k, name in enumerate(ROWS):
        run = flexible(**ROWS[name])
        for ax in (near, far):
            style = "--" if k == 1 else "-"
            ax.plot(TIMES, run.energy_error.values, color=COLOURS[k], ls=style, lw=1.6, label=name)
        x, y = off_exudyn("step", run)[2:]
        effect = np.abs(tips(run) - tips(rigid())).max()
        rows.append([name, f"{gained(name):.4f}", f"{1e3 * effect:.2f}", f"{1e3 * x:.2f}", f"{1e3 * y:.2f}"])
    far.set_ylim(-0.006, 0.006)
    legend(near)
    heads = ("equations", "energy off after 0.2 s [J]", "tip off rigid links [mm]", "off Exudyn in x [mm]", "in y [mm]")
    note = (
        "The drop of Figure 7 with the mesh of Table 2; the rows of the paper have its misprints mended. That "
        "with all terms is an error of the steps: it falls with the tolerance."
    )
    return figure, Table(heads, rows, note)


def dropped_terms() -> Finding:
    """Energy after the torque is gone, with and without the terms of first order in u."""
    whole, motors = gained("all terms, chords zeroed"), gained("rows of the paper, motors zeroed")
    chords = gained("rows of the paper, chords zeroed")
    tip = float(np.abs(tips(flexible()) - tips(flexible(terms="paper"))).max())
    effect = float(np.abs(tips(flexible()) - tips(rigid())).max())
    motion = float(np.abs(flexible().dataset["kinetic_energy"].values[FREE]).max())
    return judged(
        max(motors, chords) < NEGLIGIBLE * motion and tip < SEEN * effect,
        {
            "gained, the paper's rows [J]": motors,
            "gained, chords [J]": chords,
            "gained, all terms [J]": whole,
            "kinetic energy [J]": motion,
            "tip, chords [m]": tip,
            "effect of flexibility [m]": effect,
        },
        f"with motor angles as coordinates the energy of the robot changes by {motors:.2f} J out of nothing in the "
        f"0.1 s after the torque is gone, where it moves with {motion:.1f} J (with all terms by {whole:.4f} J). With "
        f"chords as coordinates, which keep u small, it is {chords:.3f} J, but the tip is elsewhere by "
        f"{1e3 * tip:.2f} mm, where flexibility itself moves it by {1e3 * effect:.1f} mm: what is dropped is of first "
        "order in u, as this is",
    )


EXHIBITS = (
    Exhibit(
        "eq28",
        "equation (28): terms of first order in u",
        compared,
        (
            Claim(
                "dropped terms",
                "equations (27) and (28)",
                "terms with u in the virtual displacement of q can be neglected",
                dropped_terms,
            ),
        ),
    ),
)
