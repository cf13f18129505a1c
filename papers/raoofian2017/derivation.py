"""What has to be derived for DeNOC and for its modification, in exact operations."""

from __future__ import annotations

from functools import cache

import casadi as ca
import numpy as np

import closedchain as cc
from closedchain.derive.equations import derive
from closedchain.testing.operations import cost, count
from papers.paper import CORRECTED, FAILS, HOLDS, Claim, Finding, Shown, Table, judged
from papers.raoofian2017.equations import at_sample
from papers.raoofian2017.robot import BEST, costs, springs

MUCH = 0.5  # "much less": half, or below


@cache
def steadily_driven() -> cc.Mechanism:
    """The robot with constant torques: operations of the path's torques are no matter of a method."""
    m = cc.library.rrr3((1.0, -1.0, 0.5))
    m.planar("pose", m.ground, m.bodies["platform"], cut=False, guess=(0.05, 0.0, 0.0))
    return m


@cache
def operations() -> dict[str, int]:
    """Exact operations: right-hand sides, the correction of DeNOC, and single quantities of the closures."""
    denoc, springs_ = cost(steadily_driven(), cc.DeNOC()), cost(steadily_driven(), cc.ModifiedDeNOC(BEST))
    lagrange = cost(steadily_driven(), cc.VirtualSpring(BEST))
    e = derive(steadily_driven())
    inputs = {"t": e.limbs.t, "q": e.limbs.q, "v": e.limbs.v, "p": e.limbs.p}
    alone = {
        name: count(inputs, {name: ca.densify(x)}, "p")[0].total
        for name, x in (("c", e.closure.c), ("A", e.closure.A), ("gamma", e.closure.gamma))
    }
    return {
        "DeNOC": denoc.rhs.total,
        "correction": denoc.correct.total,
        "ModifiedDeNOC": springs_.rhs.total,
        "VirtualSpring": lagrange.rhs.total,
        **alone,
    }


def table_stages() -> list[Shown]:
    """What has to be derived for each method, in operations."""
    n = operations()
    rows = [
        ("right-hand side, all included", f"{n['DeNOC']}", f"{n['ModifiedDeNOC']}"),
        ("  gaps c, by themselves", f"{n['c']}", f"{n['c']}"),
        ("  Jacobian A, by itself", f"{n['A']}", "not formed"),
        ("  rate of the Jacobian, dA/dt v, by itself", f"{n['gamma']}", "not needed"),
        ("  system for six multipliers", "6 x 6", "not needed"),
        ("one step back to closed loops (forward kinematics)", f"{n['correction']}", "not needed"),
        ("all that is derived", f"{n['DeNOC'] + n['correction']}", f"{n['ModifiedDeNOC']}"),
    ]
    note = (
        "Scalar operations of the 3-RRR in nine coordinates, after common parts are shared; parts share more with the "
        "right-hand side than the lines by themselves tell."
    )
    return [Table(("operations", "DeNOC", "ModifiedDeNOC"), rows, note)]


def no_forward_kinematics() -> Finding:
    """Corrections of positions in a run of each method."""
    with_springs, without = springs(BEST).counts.corrections, costs(cc.DeNOC())
    return judged(
        with_springs == 0 < without.corrections,
        {"corrections, ModifiedDeNOC": with_springs, "corrections, DeNOC": without.corrections},
        f"a run of ModifiedDeNOC makes {with_springs} corrections of positions, one of DeNOC {without.corrections} in "
        f"{without.steps} steps",
    )


def no_jacobian() -> Finding:
    """Whether springs do without A and its rate: what is saved, and what (20) and (29) say themselves."""
    n = operations()
    saves = n["ModifiedDeNOC"] < n["DeNOC"]
    *_, c, A = at_sample(springs(BEST), 240)
    torque = float(np.abs(A.T @ (BEST * c)).max())
    return Finding(
        FAILS if not saves else CORRECTED if torque > 0 else HOLDS,
        {"operations of A": n["A"], "of its rate": n["gamma"], "largest torque A^T K_s c [N m]": torque}
        | {"by wrenches": n["ModifiedDeNOC"], "by (20)": n["VirtualSpring"]},
        f"the rate of the Jacobian ({n['gamma']} operations) is not needed, and nothing is solved with A. A itself "
        "stands in (20), and (29) derives it: its transpose turns the springs' forces into torques. Wrenches on the "
        f"bodies do the same without forming it, in {n['ModifiedDeNOC']} operations for the whole right-hand side; "
        f"with A it takes {n['VirtualSpring']}",
    )


def cheaper_to_derive() -> Finding:
    """Operations of all that is derived, and of the right-hand side alone."""
    n = operations()
    whole, side = n["ModifiedDeNOC"] / (n["DeNOC"] + n["correction"]), n["ModifiedDeNOC"] / n["DeNOC"]
    return Finding(
        HOLDS if whole <= MUCH else CORRECTED if whole < 1 else FAILS,
        {"ModifiedDeNOC": n["ModifiedDeNOC"], "DeNOC": n["DeNOC"], "correction": n["correction"], "ratio": whole},
        f"{n['ModifiedDeNOC']} operations are derived for ModifiedDeNOC, {n['DeNOC']} for the right-hand side of "
        f"DeNOC and {n['correction']} for putting loops back: {100 * whole:.0f} % of both, {100 * side:.0f} % of the "
        "right-hand side",
    )


KINEMATICS = Claim(
    "no forward kinematics",
    "section 2 and conclusion",
    "unlike DeNOC the modified method solves no forward kinematics in each step",
    no_forward_kinematics,
)
JACOBIAN = Claim(
    "no Jacobian",
    "section 2 and conclusion",
    "unlike DeNOC the modified method needs neither the Jacobian of the closures nor its rate",
    no_jacobian,
)
DERIVING = Claim(
    "deriving",
    "abstract, section 4 and conclusion",
    "deriving the equations costs much less than for DeNOC",
    cheaper_to_derive,
)
