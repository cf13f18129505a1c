"""Equation (38) for chains that cannot move their tips in every locked direction: stretched ones, and short ones."""

from __future__ import annotations

from functools import cache

import numpy as np
from matplotlib.figure import Figure

from papers.lilly_orin import machines
from papers.lilly_orin.equations import off
from papers.lilly_orin.five_steps import all_at_once, five_steps, forces_that_wait
from papers.lilly_orin.machines import Machine
from papers.paper import CORRECTED, FAILS, Claim, Finding, judged
from papers.plots import legend, panels

BENDS = (1.0, 1e-3, 1e-6, 1e-8, 0.0)  # rad, of the wrist
NEARLY = 1e-8  # rad
SMALL = 1e-9  # eigenvalues of the scaled matrix that count as none for a pseudo-inverse: rounding leaves 1e-16
WAITS = 1e-4  # and those whose force waits: not more digits are lost than that
ROUNDING = 1e-9  # of a_0: the dense system that the others are compared with has a condition of 1e6
FAR = 1e-2  # of a_0: an answer that is another one
NOTHING = 1e-17  # where a difference of zero is drawn


@cache
def ways(x: Machine) -> dict[str, float]:
    """Errors of a_0 against all equations at once: (45) with M_k in two senses, forces that wait, and ours."""
    wanted = all_at_once(x.member, x.chains).a_0
    waiting, count = forces_that_wait(x.member, x.chains, WAITS)
    return {
        "inverse": by_inverse(x, wanted),
        "pseudo-inverse": off(five_steps(x.member, x.chains, pseudo).a_0, wanted),
        "forces that wait": off(waiting.a_0, wanted),
        "library": off(x.library.a_0, wanted),
        "unknowns": 6.0 + count,
    }


def by_inverse(x: Machine, wanted: np.ndarray) -> float:
    """Error of (45) as it is printed; 1 where it cannot be computed."""
    try:
        return off(five_steps(x.member, x.chains).a_0, wanted)
    except np.linalg.LinAlgError:  # singular to the last digit
        return 1.0


def pseudo(G: np.ndarray) -> np.ndarray:
    """The inverse of what can be inverted, in the scale of `forces_that_wait`."""
    scale = 1 / np.sqrt(np.diag(G))
    return np.linalg.pinv(G * np.outer(scale, scale), rcond=SMALL, hermitian=True) * np.outer(scale, scale)


def near_a_straight_wrist() -> list[Figure]:
    """Errors of a_0 over the bend of the wrist."""
    figure, (ax,) = panels("three arms, rigid grasps", x="bend of a wrist [rad]", y="error of a_0, relative")
    figure.set_size_inches(6.6, 3.8)
    found = [ways(machines.stretched_arm(bend)) for bend in BENDS]
    left = 1e-10  # where a straight wrist is drawn
    styles = (("inverse", "s-"), ("pseudo-inverse", "^-"), ("forces that wait", "d:"), ("library", "o-"))
    labels = {
        "inverse": "(45), M_k an inverse", "pseudo-inverse": "(45), M_k a pseudo-inverse",
        "forces that wait": "forces that wait", "library": "cc.OperationalSpace",
    }  # fmt: skip
    for name, style in styles:
        y = [max(x[name], NOTHING) for x in found]
        ax.loglog([bend or left for bend in BENDS], y, style, ms=4, label=labels[name])
    ax.set_xticks([left, 1e-8, 1e-6, 1e-3, 1.0], ["straight", "1e-8", "1e-6", "1e-3", "1"])
    ax.set_ylim(1e-16, 10)
    legend(ax)
    return [figure]


def rank() -> Finding:
    """A straight wrist, one that is nearly straight, and arms of two joints on hard points."""
    straight, nearly = ways(machines.stretched_arm(0.0)), ways(machines.stretched_arm(NEARLY))
    short = ways(machines.general(3, 2))
    wrong = min(straight["pseudo-inverse"], short["pseudo-inverse"])
    right = max(x[name] for x in (straight, short) for name in ("forces that wait", "library"))
    told = [f"{100 * x['pseudo-inverse']:.0f} %" for x in (straight, short)]
    cases = {"straight": straight, "nearly straight": nearly, "two joints": short}
    return judged(
        wrong < ROUNDING,
        {f"{case}, {name}": value for case, x in cases.items() for name, value in x.items()},
        f"where the matrix of (36) has no inverse there is no M_k at all: a pseudo-inverse puts a_0 off by {told[0]} "
        f"with a straight wrist and by {told[1]} with three arms of two joints on hard points, and next to the "
        f"singular pose ({NEARLY:g} rad) the inverse loses digits ({nearly['inverse']:.0e}). A force component that "
        f"the chain cannot be solved for has to stay unknown until a_0 is found: {straight['unknowns']:.0f} and "
        f"{short['unknowns']:.0f} equations instead of 6, which are right to {right:.0e}, as ours are",
        otherwise=CORRECTED if wrong > FAR and right < ROUNDING else FAILS,
    )


EQ_38 = (
    Claim(
        "singular chains",
        "equations (37), (38)",
        "with care for the rank of its matrix the solution for the force serves chains in singular poses and chains "
        "with fewer than six freedoms",
        rank,
    ),
)
