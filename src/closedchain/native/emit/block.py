"""The IR of one basic block: loads on first use, operations, stores."""

from __future__ import annotations

from collections.abc import Sequence

from closedchain.native.emit.literals import literal
from closedchain.native.emit.operations import OPERATIONS, SEARCHES, Operation
from closedchain.native.emit.sincos import sincos_name
from closedchain.native.traced.graph import Graph


class Block:
    """The instructions of one basic block.

    Parameters
    ----------
    graph : Graph
    pointers : sequence of str
        The parameter that each input of the graph is read from.
    angles : frozenset of int
        Values whose sines and cosines are computed in vectors of ``vector_width``.
    vector_width : int
    stores : dict of int to list of (str, int)
        The parameter and the position that a value has to be written to.
    slot : dict of int to int
        The place in the work array of a value that other blocks need.
    """

    def __init__(
        self,
        graph: Graph,
        pointers: Sequence[str],
        angles: frozenset[int],
        vector_width: int,
        stores: dict[int, list[tuple[str, int]]],
        slot: dict[int, int],
    ) -> None:
        self._angles, self._width = angles, vector_width
        self._graph, self._pointers, self._stores, self._slot = graph, pointers, stores, slot
        self._lines: list[str] = []
        self._text: dict[int, str] = {}  # how a value that this block knows is spelled
        self._addresses = 0
        self._coming: list[int] = []  # angles of this block, in the order of their first use
        self._known: dict[int, tuple[str, int]] = {}  # angle -> the vector it is in, and where

    def lines(self, values: Sequence[int]) -> list[str]:
        """IR of the given values, which are operations in the order of evaluation, or leaves to be stored."""
        graph, text, stores = self._graph, self._text, self._stores
        names, a, b = graph.name, graph.a, graph.b
        out = self._lines
        self._coming = list(dict.fromkeys(a[n] for n in values if self._is_vector_trig(n)))
        for number in values:
            if graph.is_leaf(number):
                result = self._operand(number)
            elif self._is_vector_trig(number):
                result = text[number] = f"%v{number}"
                self._trigonometric(number, result)
                self._keep(number, result)
            else:
                operation = OPERATIONS.get(names[number]) or SEARCHES[names[number]]
                first = text.get(a[number]) or self._operand(a[number])
                second = ""
                if operation.name in SEARCHES:
                    second = str(int(graph.constants[a[b[number]]]))
                elif operation.arity == 2:
                    second = text.get(b[number]) or self._operand(b[number])
                result = text[number] = f"%v{number}"
                out.append("  " + self._template(operation).format(r=result, a=first, b=second))
                self._keep(number, result)
            for pointer, position in stores.get(number, ()):
                self._store(result, pointer, position)
        return out

    def _template(self, operation: Operation) -> str:
        """The text of an operation."""
        return operation.template

    def _trigonometric(self, number: int, result: str) -> None:
        """A sine or cosine, computed together with those of other angles."""
        angle = self._graph.a[number]
        if angle not in self._known:
            done = len(self._known)
            self._known |= self._sincos(self._coming[done : done + self._width])
        vector, lane = self._known[angle]
        part = f"{vector}.{self._graph.name[number]}"
        self._lines.append(f"  {result} = extractelement <{self._width} x double> {part}, i32 {lane}")

    def _is_vector_trig(self, number: int) -> bool:
        graph = self._graph
        return graph.name[number] in ("sin", "cos") and graph.a[number] in self._angles

    def _sincos(self, angles: Sequence[int]) -> dict[int, tuple[str, int]]:
        """Sines and cosines of up to one vector of angles."""
        kind = f"<{self._width} x double>"
        vector, out = f"%s{angles[0]}", self._lines
        last = "zeroinitializer"
        for lane, angle in enumerate(angles):
            value = self._operand(angle)
            out.append(f"  {vector}.x{lane} = insertelement {kind} {last}, double {value}, i32 {lane}")
            last = f"{vector}.x{lane}"
        out.append(f"  {vector} = call {{ {kind}, {kind} }} @{sincos_name(self._width)}({kind} {last})")
        for place, part in enumerate(("sin", "cos")):
            out.append(f"  {vector}.{part} = extractvalue {{ {kind}, {kind} }} {vector}, {place}")
        return {angle: (vector, lane) for lane, angle in enumerate(angles)}

    def _keep(self, number: int, text: str) -> None:
        """Store a value that a later chunk needs."""
        if number in self._slot:
            self._store(text, "work", self._slot[number])

    def _address(self, pointer: str, position: int) -> str:
        if position == 0:
            return f"%{pointer}"
        self._addresses += 1
        self._lines.append(f"  %p{self._addresses} = getelementptr double, ptr %{pointer}, i64 {position}")
        return f"%p{self._addresses}"

    def _store(self, value: str, pointer: str, position: int) -> None:
        self._lines.append(f"  store double {value}, ptr {self._address(pointer, position)}, align 8")

    def _operand(self, number: int) -> str:
        """A leaf, or a value of an earlier chunk: spelled out, or loaded on its first use."""
        graph = self._graph
        if number in self._text:
            return self._text[number]
        if graph.name[number] == "const":
            text = literal(graph.constants[graph.a[number]])
        else:
            if graph.name[number] == "input":
                address = self._address(self._pointers[graph.a[number]], graph.b[number])
            else:
                address = self._address("work", self._slot[number])
            text = f"%v{number}"
            self._lines.append(f"  {text} = load double, ptr {address}, align 8")
        self._text[number] = text
        return text
