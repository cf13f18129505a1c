"""Operation counts of every mechanism of the library, and how they grow with the number of loops.

Counts are exact: no machine and no neighbour changes them. ``python -m benchmarks.operations`` takes some ten seconds,
nearly all of them for tracing. Nothing is compiled.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass, fields

import casadi as ca
import numpy as np

import closedchain as cc
from benchmarks.families import hub, ladder, tower
from benchmarks.report import Report, Table, arguments, finish
from closedchain.close.formulation import Formulation
from closedchain.close.methods import METHODS
from closedchain.march.program.compiled import chosen
from closedchain.native import OperationCounts
from closedchain.native.traced.counts import count_operations
from closedchain.native.traced.hoist import hoist
from closedchain.native.traced.schedule import share_divisors
from closedchain.native.traced.trace import trace

# most operations that a right-hand side should have
GUIDE = {"four-bar": 250, "gough-stewart": 4500}

FAMILIES: dict[str, tuple[str, Callable[[int], cc.Mechanism], tuple[int, ...]]] = {
    "ladder": ("four-bars side by side", ladder, (1, 2, 3, 4, 6, 8, 12, 16)),
    "tower": ("four-bars one on top of the other", tower, (1, 2, 3, 4, 6, 8)),
    "hub": ("a platform on n legs", hub, (2, 3, 4, 5, 6, 8, 12, 16)),
}
QUICK = {"ladder": (1, 2, 3), "tower": (1, 2, 3), "hub": (2, 3, 4)}


@dataclass(frozen=True)
class Cost:
    """Operations of a mechanism under a formulation."""

    freedoms: int
    rows: int
    rhs: OperationCounts
    correct: OperationCounts
    prepare: OperationCounts


def count(inputs: dict[str, ca.SX], outputs: dict[str, ca.SX], slow: str) -> tuple[OperationCounts, OperationCounts]:
    """Operations of a function and of its ``prepare``: what `compile_function` counts, without compiling."""
    graph = trace("counted", inputs, outputs)
    prepare, graph = hoist(graph, frozenset([list(inputs).index(slow)]), len(inputs))
    return (
        count_operations(share_divisors(graph.without_dead_values())),
        count_operations(share_divisors(prepare)),
    )


def cost(mechanism: cc.Mechanism, method: Formulation | None = None) -> Cost:
    """Count the operations of a mechanism under a formulation; `Multipliers()` if none is given."""
    method = method or cc.Multipliers()
    e, choice = chosen(mechanism.assemble(), method)
    closed = method.close(e, choice)
    inputs = {"t": e.limbs.t, "x": closed.x, "p": ca.vertcat(e.limbs.p, closed.parameters)}
    rhs, prepare = count(inputs, {"dx": closed.dx}, "p")
    correct = OperationCounts()
    if closed.correction is not None:
        correct, _ = count(inputs, closed.correction._asdict(), "p")
    return Cost(e.topology.nv, len(choice.rows), rhs, correct, prepare)


def formulations(names: Sequence[str]) -> Table:
    """Operations of one evaluation by mechanism and formulation."""
    methods = {
        name: method for name, method in METHODS.items() if name not in ("multipliers-none", "multipliers-baumgarte")
    }
    rows = []
    for name in names:
        m = cc.library.get(name).build()
        rows.append([name, *(f"{cost(m, method).rhs.total}" for method in methods.values())])
    return Table(
        "Operations of one evaluation, by formulation",
        ["mechanism", *methods],
        rows,
        "The whole right-hand side. independent-coordinates: at solved positions; each Newton step of its closure "
        "comes on top. Springs (virtual-spring, modified-denoc) need far more evaluations, the stiffer the more.",
    )


def exponent(sizes: Sequence[int], totals: Sequence[int]) -> float:
    """Slope of the totals on logarithmic axes, fitted to the upper half of the sizes (the limit of large ones)."""
    half = len(sizes) // 2
    return float(np.polyfit(np.log(sizes[half:]), np.log(totals[half:]), 1)[0])


def library(names: Sequence[str]) -> Table:
    """Operations by kind."""
    kinds = [f.name for f in fields(OperationCounts)]
    rows = []
    for name in names:
        c = cost(cc.library.get(name).build())
        guide = f"{GUIDE[name]}" if name in GUIDE else ""
        rows.append([name, f"{c.freedoms}", f"{c.rows}", "rhs", *map(str, astuple(c.rhs)), f"{c.rhs.total}", guide])
        if c.correct.total:
            rows.append(["", "", "", "correct", *map(str, astuple(c.correct)), f"{c.correct.total}", ""])
    return Table(
        "Operations of the library's mechanisms",
        ["mechanism", "n", "m", "function", *kinds, "total", "at most"],
        rows,
        "n velocities, m independent closure equations. rhs: the right-hand side; correct: one step back to closed "
        "positions and velocities. What depends on parameters alone is computed once, before a run, and not counted.",
    )


def growth(family: str, sizes: Sequence[int]) -> Table:
    """Operations of the members of a family."""
    about, build, _ = FAMILIES[family]
    costs = [cost(build(n)) for n in sizes]
    rhs, correct = [c.rhs.total for c in costs], [c.correct.total for c in costs]
    rows = []
    for k, (n, c) in enumerate(zip(sizes, costs, strict=True)):
        more = (rhs[k] - rhs[k - 1]) / (n - sizes[k - 1]) if k else None
        rows.append(
            [
                f"{n}",
                f"{c.freedoms}",
                f"{c.rows}",
                f"{c.rhs.total}",
                f"{c.correct.total}",
                "" if more is None else f"{more:.0f}",
            ]
        )
    rows.append(["exponent", "", "", f"{exponent(sizes, rhs):.2f}", f"{exponent(sizes, correct):.2f}", ""])
    half = sizes[len(sizes) // 2]
    return Table(
        f"Growth, {family}: {about}",
        ["n", "velocities", "closure rows", "rhs", "correct", "rhs for one more"],
        rows,
        f"Exponent: fitted to the members from n = {half} on.",
    )


def main(given: Sequence[str] | None = None) -> None:
    """Count, and print the tables."""
    options = arguments(__doc__.partition("\n")[0], given)
    names = ["pendulum", "four-bar"] if options.quick else list(cc.library.MECHANISMS)
    report = Report("operations", timed=False)
    report.tables.append(library(names))
    report.tables.append(formulations(names))
    for family, (_, _, sizes) in FAMILIES.items():
        report.tables.append(growth(family, QUICK[family] if options.quick else sizes))
    finish(report, options.markdown)


if __name__ == "__main__":
    main()
