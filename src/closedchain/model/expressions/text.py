"""Expressions as text, for messages and tables."""

from __future__ import annotations

from typing import Any

from closedchain.model.expressions.expression import Expression

_INFIX = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "div": "/",
    "pow": "**",
    "lt": "<",
    "le": "<=",
    "and": "&",
    "or": "|",
}


def text(node: Any) -> str:
    """The expression in the notation of Python; constants as short as they can be."""
    if not isinstance(node, Expression):
        return f"{node:g}" if isinstance(node, float | int) else repr(node)
    if node.op == "parameter":
        return node.args[0]
    if node.op == "time":
        return "t"
    if node.op in ("coordinate", "velocity"):
        joint, index = node.args
        return f"{'q' if node.op == 'coordinate' else 'v'}[{joint}{'' if index is None else f'.{index}'}]"
    if node.op in ("place", "speed"):
        body, frame, axis = node.args
        return f"{node.op}[{body}.{frame}.{'xyz'[axis]}]"
    if node.op == "multiplier":
        return f"lam[{node.args[0]} {node.args[1]}]"
    if node.op == "conditioning":
        return f"conditioning[{node.args[0]}]"
    if node.op == "sampled":
        controller, index = node.args
        return f"Sampled({controller.name}){'' if controller.outputs == 1 or index is None else f'[{index}]'}"
    if node.op == "control":
        return f"{node.args[0]}[{node.args[1]}]"
    if node.op == "polynomials":
        x, breaks, rows, order = node.args
        pieces = (
            f"{len(rows)} piece{'s' * (len(rows) != 1)} of degree {len(rows[0]) - 1} in {breaks[0]:g}..{breaks[-1]:g}"
        )
        return f"polynomials{chr(39) * order}({text(x)}, {pieces})"
    parts = [text(a) for a in node.args]
    if node.op in _INFIX:
        return f"({parts[0]} {_INFIX[node.op]} {parts[1]})"
    if node.op == "neg":
        return f"-{parts[0]}"
    return f"{node.op}({', '.join(parts)})"
