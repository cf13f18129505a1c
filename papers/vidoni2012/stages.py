"""Figures 3 and 4: flow charts of the simulator, as stages of ours with exact counts."""

from __future__ import annotations

from collections.abc import Sequence

from papers.paper import CORRECTED, FAILS, HOLDS, Claim, Exhibit, Finding, Shown, Table
from papers.vidoni2012.runs import flexible

MANAGEABLE = 100_000  # operations: they are compiled within a minute and run in a tenth of a millisecond
HEADS = ("in the paper", "in closedchain", "where", "work")


def step() -> Sequence[Shown]:
    """dynamic.m: from X and X' to X'', and the integration."""
    run = flexible()
    c, system = run.counts, run.solution.system
    kept = system.n_u + system.n_q - len(system.zeroed)
    rows = [
        ["take X = (u, q) and X'", "stages of an implicit step", "erls/steps/esdirk.py", f"{c.steps} steps"],
        [
            "create the dynamic matrices (Figure 4)",
            "the residual R(t, y, y', y''), no matrix of it",
            "erls/kernels/evaluate.py",
            f"{c.evaluations} evaluations",
        ],
        [
            "put (36) together",
            "derivatives of R by y, y', y''",
            "erls/kernels/linearise.py",
            f"{c.jacobians} times: kept for several steps",
        ],
        [
            "take out zeroed displacements",
            f"{len(system.zeroed)} columns and rows less: {', '.join(run.zeroed)}",
            "erls/kernels/eliminate.py",
            f"{system.n} unknowns, {len(system.zeroed)} zeroed",
        ],
        [
            "solve for X''",
            "inner nodes link by link, then what is left",
            "erls/kernels/condense.py",
            f"{c.factorisations} factorisations: {system.n_chain} inner unknowns, {kept} left",
        ],
        ["integrate twice", "Newton's iterations on y", "erls/steps/stage.py", f"{c.iterations} iterations"],
    ]
    note = f"Counts are those of the drop of Figure 7 ({run.t[-1]:g} s, mesh of Table 2, rtol {run.rtol:g})."
    return (Table(HEADS, rows, note),)


def inside() -> Sequence[Shown]:
    """createDynamicMatrices.m: kinematics, rotations and speeds, link matrices, assembly."""
    run = flexible()
    c, compiled = run.counts, run.solution.system.compiled
    elements = int((run.solution.system.mesh.arrays.ends[:, 1] >= 0).sum())
    rows = [
        [
            "kinematic analysis, numeric",
            "Newton steps that close the rigid loops, traced",
            "erls/kernels/closing.py",
            f"{compiled.newton.counts.total} operations each, {c.corrections / c.evaluations:.2f} per evaluation",
        ],
        [
            "rotations and speeds",
            "poses, twists, J, T and their rates, traced",
            "derive/erls/links.py",
            f"{compiled.motion.counts.total} operations",
        ],
        [
            "link matrices, symbolic and off-line",
            "integrals of each element, numbers, once for a run",
            "erls/element.py",
            f"{elements} elements",
        ],
        [
            "assemble the matrices of the mechanism",
            "forces of elements summed on nodes, joints and q",
            "erls/kernels/forces.py",
            f"{elements} elements, 6 forces each",
        ],
        [
            "",
            "what u does to T and loads, for the derivatives, traced",
            "close/erls.py",
            f"{compiled.tangent.counts.total} operations, {c.jacobians} times",
        ],
    ]
    note = "Operations are additions, multiplications and functions of the compiled code, counted exactly."
    return (Table(HEADS, rows, note),)


def numeric_kinematics() -> Finding:
    """What has to be iterated, and how large the rest is once it is traced."""
    run = flexible()
    c, compiled = run.counts, run.solution.system.compiled
    newton, motion = compiled.newton.counts.total, compiled.motion.counts.total
    per_call = c.corrections / c.evaluations
    iterated = newton * per_call / (newton * per_call + motion)
    return Finding(
        FAILS if per_call <= 0 else CORRECTED if motion < MANAGEABLE else HOLDS,
        {"operations of a Newton step": newton, "Newton steps": per_call, "operations of all else": motion},
        f"only the positions of loops need iterations, {per_call:.2f} Newton steps of {newton} operations in an "
        "evaluation; given these, poses, Jacobians, joint frames and all rates of the whole robot are one expression "
        f"of {motion} operations, traced once. So iterations are {100 * iterated:.0f} % of the kinematics, and the "
        "rest stays in closed form, serial robot or not",
    )


EXHIBITS = (
    Exhibit("fig3", "flow chart of a step of the integration", step),
    Exhibit(
        "fig4",
        "flow chart of the dynamic matrices",
        inside,
        (
            Claim(
                "numeric kinematics",
                "section A Matlab implementation, Figure 4",
                "for parallel robots kinematics can no longer be managed as symbols: only the matrices of links stay "
                "symbolic, all else is numeric",
                numeric_kinematics,
            ),
        ),
    ),
)
