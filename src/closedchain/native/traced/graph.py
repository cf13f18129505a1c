"""An expression graph as a list of scalar values in the order of evaluation, without duplicates.

Value number ``k`` is ``name[k]`` applied to the values ``a[k]`` and ``b[k]`` (for unary operations ``b[k]`` is 0).
Leaves are ``"const"`` (``a`` is an index into ``constants``) and ``"input"`` (``a`` is the input, ``b`` the position in
it). Equal values get equal numbers while the graph is built, so common subexpressions, also ``a*b`` and ``b*a``, are
merged without a separate pass.
"""

from __future__ import annotations

import math
import struct

from closedchain.native.emit.operations import OPERATIONS, SEARCHES

_COMMUTATIVE = frozenset(name for name, operation in OPERATIONS.items() if operation.commutative)
_ARITY = {name: operation.arity for name, operation in (OPERATIONS | SEARCHES).items()}
_SMALLEST_NORMAL = 2.0**-1022


class Graph:
    """A growing list of distinct scalar values.

    Examples
    --------
    >>> g = Graph()
    >>> x, y = g.input(0, 0), g.input(0, 1)
    >>> g.operate("mul", x, y) == g.operate("mul", y, x)
    True
    """

    def __init__(self) -> None:
        self.name: list[str] = []
        self.a: list[int] = []
        self.b: list[int] = []
        self.constants: list[float] = []
        self.outputs: list[tuple[int, int, int]] = []  # output, dense position, value
        self._number: dict[tuple[object, ...], int] = {}

    def __len__(self) -> int:
        return len(self.name)

    def _value(self, name: str, a: int, b: int) -> int:
        key = (name, a, b)
        number = self._number.get(key)
        if number is None:
            number = self._number[key] = len(self.name)
            self.name.append(name)
            self.a.append(a)
            self.b.append(b)
        return number

    def input(self, which: int, position: int) -> int:
        """The value at a position of an input."""
        return self._value("input", which, position)

    def constant(self, value: float) -> int:
        """A constant; values with different bits (0.0 and -0.0, two NaNs) are different constants."""
        bits = struct.pack("<d", value)
        index = self._number.get(("bits", bits))
        if index is None:
            index = self._number[("bits", bits)] = len(self.constants)
            self.constants.append(value)
        return self._value("const", index, 0)

    def constant_of(self, number: int) -> float | None:
        """The number that a value is known to be, None if it is not a constant."""
        return self.constants[self.a[number]] if self.name[number] == "const" else None

    def operate(self, name: str, a: int, b: int = 0) -> int:
        """The value of an operation, after the rewritings that drop a negation or a division."""
        names = self.name
        if name == "add":
            if names[b] == "neg":
                return self.operate("sub", a, self.a[b])
            if names[a] == "neg":
                return self.operate("sub", b, self.a[a])
        elif name == "sub":
            if names[b] == "neg":
                return self.operate("add", a, self.a[b])
        elif name == "mul":
            if names[a] == "neg" and names[b] == "neg":
                return self.operate("mul", self.a[a], self.a[b])
        elif name == "div":
            if names[a] == "neg" and names[b] == "neg":
                return self.operate("div", self.a[a], self.a[b])
            divisor = self.constant_of(b)
            if divisor is not None and divisor != 0.0:
                reciprocal = 1.0 / divisor
                if _SMALLEST_NORMAL <= abs(reciprocal) < math.inf:
                    return self.operate("mul", a, self.constant(reciprocal))
        elif name == "neg":
            if names[a] == "neg":
                return self.a[a]
        elif name == "sq" and names[a] == "neg":
            return self.operate("sq", self.a[a])
        elif name in OPERATIONS and not OPERATIONS[name].template:
            return a
        if b < a and name in _COMMUTATIVE:
            a, b = b, a
        return self._value(name, a, b)

    def is_leaf(self, number: int) -> bool:
        """Whether a value is an input or a constant."""
        return self.name[number] in ("input", "const")

    def operands(self, number: int) -> tuple[int, ...]:
        """The values that a value is computed from."""
        name = self.name[number]
        if name in ("input", "const"):
            return ()
        return (self.a[number], self.b[number])[: _ARITY[name]]

    def number_of_uses(self) -> list[int]:
        """How often each value is an operand or an output."""
        uses = [0] * len(self)
        for number in range(len(self)):
            for operand in self.operands(number):
                uses[operand] += 1
        for _, _, number in self.outputs:
            uses[number] += 1
        return uses

    def without_dead_values(self) -> Graph:
        """The same outputs, without the values that no output needs."""
        alive = bytearray(len(self))
        for _, _, number in self.outputs:
            alive[number] = 1
        for number in range(len(self) - 1, -1, -1):
            if alive[number]:
                for operand in self.operands(number):
                    alive[operand] = 1
        return self.reordered([number for number in range(len(self)) if alive[number]])[0]

    def reordered(self, order: list[int]) -> tuple[Graph, list[int]]:
        """The same graph with only the given values, in the given order, and the new number of each value.

        Operands have to come before their users.
        """
        graph = Graph()
        new = [0] * len(self)
        for number in order:
            name, a, b = self.name[number], self.a[number], self.b[number]
            if name == "const":
                new[number] = graph.constant(self.constants[a])
            elif name == "input":
                new[number] = graph.input(a, b)
            else:
                new[number] = graph._value(name, new[a], new[b] if _ARITY[name] == 2 else 0)
        graph.outputs = [(output, position, new[number]) for output, position, number in self.outputs]
        return graph, new
