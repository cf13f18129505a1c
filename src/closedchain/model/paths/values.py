"""Several expressions at once: what they share is computed, or rebuilt, once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from closedchain.errors import ModelError
from closedchain.model.expressions.expression import Expression, Number, fold
from closedchain.model.expressions.functions import rate
from closedchain.model.expressions.operations import OPERATIONS


def evaluated(expressions: Sequence[Number | None], times: np.ndarray, parameters: Mapping[str, float]) -> np.ndarray:
    """Values, rates and accelerations, (3, ..., number of expressions); NaN for None."""
    orders = [tuple(expressions)]
    for _ in range(2):
        orders.append(tuple(None if x is None else rate(x) for x in orders[-1]))

    def leaf(node: Expression) -> Any:
        if node.op == "time":
            return times
        if node.args[0] not in parameters:
            raise ModelError(f"the path depends on the parameter {node}: give its value, parameters={{'{node}': ...}}")
        return float(parameters[node.args[0]])

    with np.errstate(all="ignore"):  # a branch that is not taken may divide by zero
        numbers = _fold_all([x for order in orders for x in order], leaf, OPERATIONS)
    columns = [np.broadcast_to(np.asarray(np.nan if x is None else x, float), times.shape) for x in numbers]
    table = np.stack(columns, axis=-1).reshape(*times.shape, 3, len(expressions))
    return np.moveaxis(table, -2, 0)


def at_time(expressions: Sequence[Number | None], time: Number) -> list[Any]:
    """The same expressions with another time."""
    return _fold_all(expressions, lambda node: time if node.op == "time" else node, _REBUILT)


def _fold_all(nodes: Sequence[Any], leaf: Callable[[Expression], Any], operations: dict[str, Any]) -> list[Any]:
    return fold(Expression("all", *nodes), leaf, operations | {"all": lambda *values: list(values)})


_REBUILT: dict[str, Any] = {op: lambda *args, op=op: Expression(op, *args) for op in OPERATIONS}
