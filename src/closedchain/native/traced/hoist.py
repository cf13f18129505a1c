"""Hoisting: what depends on slow inputs alone is computed once, by a function of its own.

The slow inputs (masses, lengths, stiffnesses) stay the same during thousands of evaluations. The graph is split in two:
``prepare`` computes a work vector ``w`` from the slow inputs, ``main`` reads ``w`` in their place. Only what ``main``
reads is in ``w``: the *maximal* slow subexpressions, not their intermediate values.

Some rewritings let more of a graph depend on slow inputs alone (``x`` is fast, ``s`` and ``r`` are slow):
``x / s = x * (1/s)``, ``(x * s) * r = x * (s*r)``, ``-(x * s) = x * (-s)`` and ``(x + s) + r = x + (s+r)``, the last
also with differences. None of them adds an operation to ``main``.
"""

from __future__ import annotations

from closedchain.native.traced.graph import Graph


def hoist(graph: Graph, slow: frozenset[int], n_inputs: int) -> tuple[Graph, Graph]:
    """Split a graph by which inputs are slow.

    Parameters
    ----------
    graph : Graph
        The whole function.
    slow : frozenset of int
        Numbers of the slow inputs.
    n_inputs : int
        Number of inputs of the whole function, slow and fast.

    Returns
    -------
    prepare : Graph
        Inputs: the slow inputs, renumbered in their order. One output: the work vector.
    main : Graph
        Inputs: the fast inputs, renumbered in their order, and then the work vector.

    Examples
    --------
    >>> g = Graph()
    >>> x, p, q = g.input(0, 0), g.input(1, 0), g.input(1, 1)
    >>> g.outputs = [(0, 0, g.operate("div", g.operate("mul", x, p), q))]
    >>> prepare, main = hoist(g, frozenset([1]), 2)
    >>> main.name, prepare.name
    (['input', 'input', 'mul'], ['input', 'input', 'inv', 'mul'])
    """
    splitter = _Splitter(slow, n_inputs, graph.number_of_uses())
    for number in range(len(graph)):
        splitter.take(graph, number)
    main = splitter.main
    main.outputs = [(out, position, splitter.fast(number)) for out, position, number in graph.outputs]
    return _with_compact_work(splitter, main.without_dead_values())


class _Splitter:
    """Builds both graphs value by value."""

    def __init__(self, slow: frozenset[int], n_inputs: int, uses: list[int]) -> None:
        self._uses = uses
        self.prepare, self.main = Graph(), Graph()
        self._slow_inputs = slow
        fast = [i for i in range(n_inputs) if i not in slow]
        self._new_input = {old: new for new, old in enumerate(fast)}
        self._new_input |= {old: new for new, old in enumerate(sorted(slow))}
        self.work_input = len(fast)
        self.work: list[int] = []  # value of prepare in each element of w
        self._element: dict[int, int] = {}
        # of each value of the whole graph: is it slow, and its number in prepare or in main
        self._is_slow: list[bool] = []
        self._number: list[int] = []

    def take(self, graph: Graph, number: int) -> None:
        """Put the next value of the whole graph where it belongs."""
        name, a, b = graph.name[number], graph.a[number], graph.b[number]
        if name == "input":
            slow = a in self._slow_inputs
            value = (self.prepare if slow else self.main).input(self._new_input[a], b)
        elif name == "const":
            slow, value = False, self.main.constant(graph.constants[a])
        else:
            operands = graph.operands(number)
            slow = any(self._is_slow[i] for i in operands) and all(
                self._is_slow[i] or graph.name[i] == "const" for i in operands
            )
            if slow:
                value = self.prepare.operate(name, *(self._in_prepare(i) for i in operands))
            else:
                # -(x s) is x (-s), unless x s is needed as well
                absorb = name == "neg" and self._uses[a] == 1
                fast = [self.fast(i) for i in operands]
                value = self._operate(name, fast[0], fast[-1] if len(fast) == 2 else 0, absorb)
        self._is_slow.append(slow)
        self._number.append(value)

    def fast(self, number: int) -> int:
        """The value of ``main`` that stands for a value of the whole graph."""
        value = self._number[number]
        return self._from_work(value) if self._is_slow[number] else value

    def _in_prepare(self, number: int) -> int:
        value = self._number[number]
        if self._is_slow[number]:
            return value
        return self.prepare.constant(self.main.constants[self.main.a[value]])

    def _from_work(self, value: int) -> int:
        element = self._element.get(value)
        if element is None:
            element = self._element[value] = len(self.work)
            self.work.append(value)
        return self.main.input(self.work_input, element)

    def _slow_value(self, number: int) -> int | None:
        """The value of ``prepare`` behind a value of ``main``, None if it is not slow."""
        main = self.main
        if main.name[number] == "input" and main.a[number] == self.work_input:
            return self.work[main.b[number]]
        return None

    def _operate(self, name: str, a: int, b: int = 0, absorb: bool = False) -> int:
        """An operation of ``main``, with the slow factors and terms collected."""
        main = self.main
        if name == "div":
            s = self._slow_value(b)
            if s is not None:
                return self._operate("mul", a, self._from_work(self.prepare.operate("inv", s)))
        if name in ("mul", "add", "sub", "twice") or absorb:
            collected = self._collect(name, a, b)
            if collected is not None:
                return collected
        return main.operate(name, a, b)

    def _collect(self, name: str, a: int, b: int) -> int | None:
        """``(x . s) . r`` as ``x . (s . r)`` if s and r are slow (or one of them constant), else None."""
        main, prepare = self.main, self.prepare
        if name in ("twice", "neg"):
            name, b = "mul", main.constant(2.0 if name == "twice" else -1.0)
        if name != "sub" and self._is_coefficient(a):
            a, b = b, a
        inner = main.name[a]
        if not self._is_coefficient(b) or inner not in (("mul",) if name == "mul" else ("add", "sub")):
            return None
        x, c = main.a[a], main.b[a]
        if inner != "sub" and not self._is_coefficient(c):
            x, c = c, x
        if not self._is_coefficient(c) or (self._slow_value(b) is None and self._slow_value(c) is None):
            return None
        s, r = self._coefficient(c), self._coefficient(b)
        if inner == name:  # (x s) r, (x + s) + r, (x - s) - r
            return main.operate(name, x, self._from_work(prepare.operate("mul" if name == "mul" else "add", s, r)))
        first, second = (s, r) if inner == "add" else (r, s)  # (x + s) - r, (x - s) + r
        return main.operate("add", x, self._from_work(prepare.operate("sub", first, second)))

    def _is_coefficient(self, number: int) -> bool:
        return self.main.name[number] == "const" or self._slow_value(number) is not None

    def _coefficient(self, number: int) -> int:
        """The value of ``prepare`` behind a slow value or a constant of ``main``."""
        s = self._slow_value(number)
        return self.prepare.constant(self.main.constants[self.main.a[number]]) if s is None else s


def _with_compact_work(splitter: _Splitter, main: Graph) -> tuple[Graph, Graph]:
    """Drop the elements of ``w`` that nothing reads any more."""
    used = [
        number for number in range(len(main)) if main.name[number] == "input" and main.a[number] == splitter.work_input
    ]
    prepare = splitter.prepare
    prepare.outputs = [(0, new, splitter.work[main.b[number]]) for new, number in enumerate(used)]
    for new, number in enumerate(used):
        main.b[number] = new
    return prepare.without_dead_values(), main
