"""The same operations on several points at once: every value is a vector with one lane for each point.

Arithmetic, comparisons and selections are those of the scalar code, with ``<4 x double>`` in the place of ``double``.
Sines and cosines come from `native.emit.sincos`; functions of the C library are called lane by lane. A lane never
depends on another one, to the last bit.

In memory the lanes of a value stand side by side: element k of an array begins at ``k * lanes``. Inputs that are
*shared* (the time) have one value for all lanes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from closedchain.native.emit.block import Block
from closedchain.native.emit.literals import literal
from closedchain.native.emit.operations import OPERATIONS, Operation
from closedchain.native.emit.sincos import sincos_name
from closedchain.native.traced.graph import Graph

_NUMBER = re.compile(r"(?<= )-?[01]\.0\b")


def vector(lanes: int) -> str:
    """The type of a value."""
    return f"<{lanes} x double>"


def splat(value: float, lanes: int) -> str:
    """A number in all lanes."""
    return f"<{', '.join([f'double {literal(value)}'] * lanes)}>"


def intrinsic(name: str, lanes: int) -> str | None:
    """The form of LLVM's own functions for vectors; None for functions of the library."""
    return name.replace(".f64", f".v{lanes}f64") if name.startswith("llvm.") else None


@cache
def lane_template(name: str, lanes: int) -> str:
    """The IR text of an operation on vectors, with the fields of `Operation.template`.

    Examples
    --------
    >>> lane_template("add", 2)
    '{r} = fadd reassoc nsz arcp contract afn <2 x double> {a}, {b}'
    """
    operation = OPERATIONS[name]
    if operation.calls and intrinsic(operation.calls, lanes) is None:
        return _lane_by_lane(operation, lanes)
    text = re.sub(r"\bi1\b", f"<{lanes} x i1>", operation.template).replace("double", vector(lanes))
    if operation.calls:
        text = text.replace(operation.calls, str(intrinsic(operation.calls, lanes)))
    return _NUMBER.sub(lambda number: splat(float(number.group()), lanes), text)


def _lane_by_lane(operation: Operation, lanes: int) -> str:
    lines, last, kind = [], "zeroinitializer", vector(lanes)
    names = "ab"[: operation.arity]
    for i in range(lanes):
        lines += [f"{{r}}.{x}{i} = extractelement {kind} {{{x}}}, i32 {i}" for x in names]
        operands = ", ".join(f"double {{r}}.{x}{i}" for x in names)
        lines.append(f"{{r}}.y{i} = call double @{operation.calls}({operands})")
        result = "{r}" if i == lanes - 1 else f"{{r}}.l{i}"
        lines.append(f"{result} = insertelement {kind} {last}, double {{r}}.y{i}, i32 {i}")
        last = result
    return "\n  ".join(lines)


class LaneBlock(Block):
    """The instructions of one basic block on vectors; see `Block`.

    Parameters
    ----------
    graph, pointers, stores, slot
        As for `Block`.
    lanes : int
    shared : frozenset of int
        Inputs that have one value for all lanes.
    """

    def __init__(
        self,
        graph: Graph,
        pointers: Sequence[str],
        lanes: int,
        shared: frozenset[int],
        stores: dict[int, list[tuple[str, int]]],
        slot: dict[int, int],
    ) -> None:
        super().__init__(graph, pointers, frozenset(), lanes, stores, slot)
        self._shared, self._type = shared, vector(lanes)

    def _template(self, operation: Operation) -> str:
        return lane_template(operation.name, self._width)

    def _is_vector_trig(self, number: int) -> bool:
        return self._graph.name[number] in ("sin", "cos")

    def _trigonometric(self, number: int, result: str) -> None:
        angle, pair = self._graph.a[number], f"{{ {self._type}, {self._type} }}"
        if angle not in self._known:
            value, both = self._operand(angle), f"%s{angle}"
            self._lines.append(f"  {both} = call {pair} @{sincos_name(self._width)}({self._type} {value})")
            self._known[angle] = both, 0
        place = ("sin", "cos").index(self._graph.name[number])
        self._lines.append(f"  {result} = extractvalue {pair} {self._known[angle][0]}, {place}")

    def _store(self, value: str, pointer: str, position: int) -> None:
        address = self._address(pointer, position * self._width)
        self._lines.append(f"  store {self._type} {value}, ptr {address}, align 8")

    def _operand(self, number: int) -> str:
        graph, out = self._graph, self._lines
        if number in self._text:
            return self._text[number]
        text = f"%v{number}"
        if graph.name[number] == "const":
            text = splat(graph.constants[graph.a[number]], self._width)
        elif graph.name[number] == "input" and graph.a[number] in self._shared:
            address = self._address(self._pointers[graph.a[number]], graph.b[number])
            out.append(f"  {text}.x = load double, ptr {address}, align 8")
            out.append(f"  {text}.y = insertelement {self._type} poison, double {text}.x, i32 0")
            mask = f"<{self._width} x i32> zeroinitializer"
            out.append(f"  {text} = shufflevector {self._type} {text}.y, {self._type} poison, {mask}")
        else:
            pointer, position = "work", self._slot.get(number, 0)
            if graph.name[number] == "input":
                pointer, position = self._pointers[graph.a[number]], graph.b[number]
            out.append(f"  {text} = load {self._type}, ptr {self._address(pointer, position * self._width)}, align 8")
        self._text[number] = text
        return text
