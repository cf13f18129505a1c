"""Exact operation counts of a mechanism under a formulation, without compiling."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from closedchain.close.formulation import Formulation
from closedchain.close.multipliers import Multipliers
from closedchain.march.program.compiled import chosen
from closedchain.model.mechanism import Mechanism
from closedchain.native import OperationCounts
from closedchain.native.traced.counts import count_operations
from closedchain.native.traced.hoist import hoist
from closedchain.native.traced.schedule import share_divisors
from closedchain.native.traced.trace import trace


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


def cost(mechanism: Mechanism, method: Formulation | None = None) -> Cost:
    """Count the operations of a mechanism under a formulation; `Multipliers()` if none is given."""
    method = method or Multipliers()
    e, choice = chosen(mechanism.assemble(), method)
    closed = method.close(e, choice)
    inputs = {"t": e.limbs.t, "x": closed.x, "p": ca.vertcat(e.limbs.p, closed.parameters)}
    rhs, prepare = count(inputs, {"dx": closed.dx}, "p")
    correct = OperationCounts()
    if closed.correction is not None:
        correct, _ = count(inputs, closed.correction._asdict(), "p")
    return Cost(e.topology.nv, len(choice.rows), rhs, correct, prepare)
