"""Operation counts of chains that meet at one body: how they grow with N joints and m chains, and the paper's own.

Counts are exact and nothing is compiled. ``python -m benchmarks.growth`` traces machines of up to some 400 bodies,
under three formulations, which takes a minute or two.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import casadi as ca
import numpy as np

import closedchain as cc
from benchmarks.operations import exponent
from benchmarks.report import Report, Table, arguments, finish
from closedchain.close.formulation import Choice, Closed, Formulation
from closedchain.derive.equations import derive
from closedchain.native import OperationCounts
from closedchain.testing.operations import count

SIZES = (2, 4, 8, 16, 32, 64)
QUICK = (2, 3, 4)
JOINTS, CHAINS = 6, 2  # of the family in which the other number grows
METHODS: dict[str, Formulation] = {
    "OperationalSpace": cc.OperationalSpace(),
    "DeNOC": cc.DeNOC(),
    "Multipliers": cc.Multipliers(),
}
PARTS = ("rhs", "correct")
TIPS = {3: "spherical", 6: "weld"}  # by the number of constraints n_c


def arms(chains: int, joints: int, constraints: int = 3) -> cc.Mechanism:
    """Arms of revolute joints that hold a free body, with the tips cut: the general machine of Lilly and Orin.

    Links follow each other by all three lengths and the twist of Denavit and Hartenberg, none of them zero or a right
    angle, have ten inertia parameters, and are driven. The drawing is not closed: operations do not depend on that.
    """
    rng = np.random.default_rng(5)
    m = cc.Mechanism(f"{chains} arms of {joints} joints", gravity=(0, 0, -9.81))
    load = m.body("load", _body(rng))
    m.free("pose", m.ground, load)
    for k in range(chains):
        end = m.ground.at(*rng.normal(size=3))
        for i in range(joints):
            link = m.body(f"link {k} {i}", _body(rng))
            m.revolute(f"joint {k} {i}", end, link)
            m.motor(f"joint {k} {i}", torque=rng.normal())
            (a, d), twist = rng.uniform(0.1, 0.4, 2), rng.uniform(0.3, 0.7)
            c, s = math.cos(twist), math.sin(twist)
            end = link.at(a, -s * d, c * d, R=((1, 0, 0), (0, c, -s), (0, s, c)))
        m.joint(TIPS[constraints], f"tip {k}", end, load.at(*rng.normal(size=3)), cut=True)
    return m


def _body(rng: np.random.Generator) -> cc.Body:
    points = rng.uniform(0.05, 0.3, (5, 3)) * rng.choice([-1, 1], (5, 3))
    inertia = sum(np.dot(r, r) * np.eye(3) - np.outer(r, r) for r in points)
    return cc.rigid(5.0, rng.uniform(0.05, 0.2, 3), inertia)


def closed(mechanism: cc.Mechanism, method: Formulation) -> tuple[dict[str, ca.SX], Closed]:
    """Inputs of the traced functions, and the equations closed with all rows."""
    e = derive(mechanism)
    system = method.close(e, Choice(tuple(range(len(e.closure)))))
    return {"t": e.limbs.t, "x": system.x, "p": e.limbs.p}, system


def operations(mechanism: cc.Mechanism, method: Formulation) -> OperationCounts:
    """Operations of the right-hand side with all closure rows."""
    inputs, system = closed(mechanism, method)
    return count(inputs, {"dx": system.dx}, "p")[0]


def totals(mechanism: cc.Mechanism, method: Formulation) -> tuple[int, int]:
    """All operations of the right-hand side, and of one step back to closed positions and velocities."""
    inputs, system = closed(mechanism, method)
    rhs, _ = count(inputs, {"dx": system.dx}, "p")
    assert system.correction is not None
    correct, _ = count(inputs, system.correction._asdict(), "p")
    return rhs.total, correct.total


def published(chains: int, joints: int, constraints: int) -> tuple[int, int]:
    """Multiplications and additions of Tables 2 and 3."""
    N, n_c = joints, constraints
    multiplications = 656 * N - 767 + n_c**3 / 6 + 6.5 * n_c**2 + 124 / 3 * n_c + 46
    additions = 546 * N - 659 + n_c**3 / 6 + 6 * n_c**2 + 221 / 6 * n_c - 14
    return round(chains * multiplications) + 86, round(chains * additions) + 27 * chains + 71


def grow(title: str, letter: str, sizes: Sequence[int], machines: Sequence[cc.Mechanism], note: str) -> Table:
    """Operations of a family under each formulation, with the exponents."""
    both = {name: [totals(m, method) for m in machines] for name, method in METHODS.items()}
    columns = {f"{name}, {what}": [t[k] for t in both[name]] for name in METHODS for k, what in enumerate(PARTS)}
    rows = [[f"{n}", *(f"{column[k]}" for column in columns.values())] for k, n in enumerate(sizes)]
    half = sizes[len(sizes) // 2]
    everywhere = [f"{np.polyfit(np.log(sizes), np.log(t), 1)[0]:.3f}" for t in columns.values()]
    rows.append(["exponent, all sizes", *everywhere])
    rows.append([f"exponent, from {half} on", *(f"{exponent(sizes, t):.3f}" for t in columns.values())])
    for k in range(1, len(sizes)):
        one_more = [f"{(t[k] - t[k - 1]) / (sizes[k] - sizes[k - 1]):.0f}" for t in columns.values()]
        rows.append([f"for one more, {sizes[k - 1]} to {sizes[k]}", *one_more])
    return Table(title, [letter, *columns], rows, note)


def beside_the_paper(machines: Sequence[tuple[int, int, int]]) -> Table:
    """Multiplications and additions beside Tables 2 and 3."""
    rows = []
    for m, N, n_c in machines:
        ours, paper = operations(arms(m, N, n_c), METHODS["OperationalSpace"]), published(m, N, n_c)
        less = [f"{100 * (1 - x / y):.0f} %" for x, y in zip((ours.mul, ours.add), paper, strict=True)]
        rest = ours.total - ours.mul - ours.add
        both = [f"{ours.mul}", f"{paper[0]}", less[0], f"{ours.add}", f"{paper[1]}", less[1], f"{rest}"]
        rows.append([f"m = {m}, N = {N}, n_c = {n_c}", *both])
    return Table(
        "Beside Tables 2 and 3 of Lilly and Orin (1989)",
        ["machine", "mul", "paper", "less", "add", "paper", "less", "other"],
        rows,
        "Ours is the whole right-hand side. The paper takes X, b_0, g_0, zeta, alpha_c, sines and cosines as given.",
    )


def main(given: Sequence[str] | None = None) -> None:
    """Count, and print the tables."""
    options = arguments(__doc__.partition("\n")[0], given)
    sizes = QUICK if options.quick else SIZES
    report = Report("growth", timed=False)
    machines = [(3, 6, 3)] if options.quick else [(1, 6, 3), (3, 6, 3), (3, 6, 6), (3, 12, 6)]
    report.tables.append(beside_the_paper(machines))
    by_joints, by_chains = [arms(CHAINS, n) for n in sizes], [arms(n, JOINTS) for n in sizes]
    what = "All operations of the right-hand side (rhs), and of a step back to closed states (correct)."
    note = (
        f"{what} One more is a joint in each of {CHAINS} chains. The first links are cheaper, since the ground stands "
        "still: a straight line that misses zero, which a fit to all sizes takes for an exponent other than one. With "
        "more than ten freedoms in a row, Multipliers and the correction of OperationalSpace go over to the recursion "
        "of DeNOC."
    )
    report.tables.append(grow(f"Growth with the joints of each of {CHAINS} chains", "N", sizes, by_joints, note))
    report.tables.append(grow(f"Growth with the number of chains of {JOINTS} joints", "m", sizes, by_chains, what))
    finish(report, options.markdown)


if __name__ == "__main__":
    main()
