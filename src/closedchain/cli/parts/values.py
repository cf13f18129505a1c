"""``NAME=VALUE`` on the command line: numbers, with ``pi`` and ``deg`` and the four operations."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Sequence

from closedchain.cli.parts.exits import WrongUsage

MOST = 10_000_000  # values or times that are made at once: more are a mistake of typing, and would fill the memory
NAMES = {"pi": math.pi, "deg": math.pi / 180}

_OPERATIONS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}


def assignments(option: str, texts: Sequence[str]) -> dict[str, float]:
    """Numbers by name from ``["crank.mass=2", "O.motor=-3"]``."""
    out = {}
    for name, value in _split(option, texts).items():
        out[name] = number(f"{option} {name}={value}", value)
    return out


def pose(option: str, texts: Sequence[str]) -> dict[str, list[float]]:
    """Values by joint; a joint with several coordinates takes as many values, ``"leg base=0.1,0.2"``."""
    out = {}
    for name, value in _split(option, texts).items():
        out[name] = [number(f"{option} {name}={part}", part) for part in value.split(",")]
    return out


def texts(option: str, typed: Sequence[str]) -> dict[str, str]:
    """Texts by name from ``["crank.length=0.8:1.2:50"]``."""
    return {name: value.strip() for name, value in _split(option, typed).items()}


def _split(option: str, texts: Sequence[str]) -> dict[str, str]:
    out: dict[str, str] = {}
    for text in texts:
        # names are free text, values never contain '='
        name, equals, value = text.rpartition("=")
        if not equals or not name.strip() or not value.strip():
            raise WrongUsage(f"{option} takes NAME=VALUE, for instance {option} 'A=0.5', not {text!r}")
        if name in out:
            raise WrongUsage(f"{option} gives {name!r} twice, as {out[name]} and as {value}: leave one of them out")
        out[name] = value
    return out


def number(typed: str, text: str) -> float:
    """One number; ``typed`` says for messages where it stands."""
    try:
        value = _evaluate(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ValueError, ArithmeticError, RecursionError, MemoryError):
        value = math.nan
    if not math.isfinite(value):
        raise WrongUsage(
            f"{typed}: {text.strip()!r} is not a finite number (write for instance 0.5, 1e-3, pi/2 or 90*deg)"
        )
    return value


def count(typed: str, n: float) -> int:
    """A number of values or times, refused before any of them is made."""
    if n > MOST:
        raise WrongUsage(f"{typed}: {n:.3g} are too many, {MOST:.0g} are the most")
    return int(n)


def _evaluate(node: ast.AST) -> float:
    """The value of an arithmetic expression; nothing is ever called."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        return float(node.value)
    if isinstance(node, ast.Name) and node.id in NAMES:
        return NAMES[node.id]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        value = _evaluate(node.operand)
        return -value if isinstance(node.op, ast.USub) else value
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATIONS:
        value = _OPERATIONS[type(node.op)](_evaluate(node.left), _evaluate(node.right))
        if isinstance(value, float):  # a root of a negative number is complex
            return value
    raise ValueError("not a number")


def names(option: str, typed: str) -> list[str]:
    """Names separated by commas."""
    out = [name.strip() for name in typed.split(",") if name.strip()]
    if not out:
        raise WrongUsage(f"{option} needs at least one name")
    return out
