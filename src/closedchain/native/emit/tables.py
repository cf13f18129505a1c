"""Sums of constants that are chosen by where a value lies, as tables.

A table in a drawing (`cc.math.piecewise`) is traced as a sum with one term for each of its pieces, the constant
of the piece if ``low <= x < high``, and zero otherwise. One of the terms counts, and all are computed. Here such a sum
becomes two operations: ``place`` finds between which of the sorted bounds x lies, by bisection, and ``pick`` reads the
constant from a list. The numbers are the same to the last bit, as the terms do not overlap. The second operand of both
is the number of a list among `Tables`.

With n bounds there are 2n + 2 places: below the first bound, at it, between it and the second one, ..., above the last
one; and the place of a NaN, where no condition holds and the sum is zero.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from closedchain.native.emit.literals import literal
from closedchain.native.traced.graph import Graph

FEWEST = 8  # terms that are worth a table

PLACE, PICK = "closedchain_place", "closedchain_list"


class Interval(NamedTuple):
    """Where a condition on a value holds: its bounds, and whether they belong to it."""

    of: int
    low: float
    low_belongs: bool
    high: float
    high_belongs: bool

    def both(self, other: Interval) -> Interval:
        """Where both conditions hold."""
        low, beyond = max((self.low, not self.low_belongs), (other.low, not other.low_belongs))
        high, belongs = min((self.high, self.high_belongs), (other.high, other.high_belongs))
        return Interval(self.of, low, not beyond, high, belongs)


class Tables:
    """Lists of numbers that functions of a module read, each once."""

    def __init__(self) -> None:
        self._number: dict[tuple[float, ...], int] = {}
        self._searched: set[int] = set()

    def number(self, numbers: tuple[float, ...], searched: bool = False) -> int:
        """The number of a list; in some of them values are searched for."""
        number = self._number.setdefault(numbers, len(self._number))
        if searched:
            self._searched.add(number)
        return number

    def __len__(self) -> int:
        return len(self._number)

    def definitions(self) -> list[str]:
        """IR of all lists, and of the functions that search in them."""
        lines = []
        for numbers, k in self._number.items():
            content = ", ".join(f"double {literal(x)}" for x in numbers)
            lines.append(f"@{PICK}{k} = internal unnamed_addr constant [{len(numbers)} x double] [{content}], align 64")
            if k in self._searched:
                lines.append(_search(k, len(numbers)))
        return lines


def tabulated(graph: Graph, tables: Tables) -> Graph:
    """The graph with ``place`` and ``pick`` instead of long sums; the graph itself if there are none.

    Examples
    --------
    >>> g, total = Graph(), None
    >>> x = g.input(0, 0)
    >>> for k in range(10):
    ...     here = g.operate("and", g.operate("le", g.constant(k), x), g.operate("lt", x, g.constant(k + 1.0)))
    ...     term = g.operate("if_else_zero", here, g.constant(k**2 + 1.0))
    ...     total = term if total is None else g.operate("add", total, term)
    >>> g.outputs = [(0, 0, total)]
    >>> tabulated(g, Tables()).name
    ['input', 'const', 'const', 'place', 'pick']
    """
    terms = _terms(graph)
    sums = _sums(graph, terms)
    lists = {k: steps for k in _whole(graph, sums) if (steps := _steps(graph, terms, k)) is not None}
    if not lists:
        return graph
    new = Graph()
    number_of: list[int] = []
    bounds: dict[int, list[tuple[float, ...]]] = {}  # by value, the longest first: shorter ones may be part of it
    for steps in sorted(lists.values(), key=lambda steps: -len(steps.bounds)):
        mine = bounds.setdefault(steps.of, [])
        if not any(set(steps.bounds) <= set(other) for other in mine):
            mine.append(steps.bounds)
    for k in range(len(graph)):
        name, a, b = graph.name[k], graph.a[k], graph.b[k]
        if k in lists:
            steps = lists[k]
            searched = next(x for x in bounds[steps.of] if set(steps.bounds) <= set(x))
            place = new.operate("place", number_of[steps.of], new.constant(tables.number(searched, searched=True)))
            number_of.append(new.operate("pick", place, new.constant(tables.number(steps.values(searched)))))
        elif name == "const":
            number_of.append(new.constant(graph.constants[a]))
        elif name == "input":
            number_of.append(new.input(a, b))
        else:
            number_of.append(new.operate(name, *(number_of[i] for i in graph.operands(k))))
    new.outputs = [(output, position, number_of[k]) for output, position, k in graph.outputs]
    return new.without_dead_values()


class Steps(NamedTuple):
    """A value that is constant between bounds."""

    of: int
    bounds: tuple[float, ...]
    terms: list[tuple[Interval, float]]

    def values(self, bounds: tuple[float, ...]) -> tuple[float, ...]:
        """What it is at each place among bounds, of which its own are some."""
        at = {bound: i for i, bound in enumerate(bounds)}
        out = [0.0] * (2 * len(bounds) + 2)
        for interval, value in self.terms:
            for place in _places(interval, at):
                out[place] = value
        return tuple(out)


def _places(interval: Interval, at: dict[float, int]) -> range:
    first = 0 if interval.low == -math.inf else 2 * at[interval.low] + (1 if interval.low_belongs else 2)
    last = 2 * len(at) if interval.high == math.inf else 2 * at[interval.high] + (1 if interval.high_belongs else 0)
    return range(first, last + 1)


def _terms(graph: Graph) -> dict[int, tuple[Interval, float]]:
    """Constants that count under a condition on a value."""
    conditions = _conditions(graph)
    found = {}
    for k, name in enumerate(graph.name):
        if name == "if_else_zero" and graph.a[k] in conditions:
            value = graph.constant_of(graph.b[k])
            if value is not None:
                found[k] = (conditions[graph.a[k]], value)
    return found


def _sums(graph: Graph, terms: dict[int, tuple[Interval, float]]) -> dict[int, int]:
    """Terms, and sums of nothing but terms, each with the value that chooses among them."""
    found = {k: interval.of for k, (interval, _) in terms.items()}
    for k, name in enumerate(graph.name):
        if name == "add" and found.get(graph.a[k], -1) == found.get(graph.b[k], -2):
            found[k] = found[graph.a[k]]
    return found


def _conditions(graph: Graph) -> dict[int, Interval]:
    found: dict[int, Interval] = {}
    for k, name in enumerate(graph.name):
        a, b = graph.a[k], graph.b[k]
        if name in ("lt", "le"):
            low, high = graph.constant_of(a), graph.constant_of(b)
            if low is not None and high is None and math.isfinite(low):
                found[k] = Interval(b, low, name == "le", math.inf, False)
            elif high is not None and low is None and math.isfinite(high):
                found[k] = Interval(a, -math.inf, False, high, name == "le")
        elif name == "and" and a in found and b in found and found[a].of == found[b].of:
            found[k] = found[a].both(found[b])
    return found


def _whole(graph: Graph, sums: dict[int, int]) -> list[int]:
    """Sums that are not merely part of another sum."""
    whole = {number for _, _, number in graph.outputs if number in sums}
    for k in range(len(graph)):
        if k not in sums:
            whole.update(i for i in graph.operands(k) if i in sums)
    return sorted(whole)


def _steps(graph: Graph, terms: dict[int, tuple[Interval, float]], number: int) -> Steps | None:
    """A sum as steps; None if it has few terms, or if some of them overlap."""
    mine, stack = [], [number]
    while stack:
        k = stack.pop()
        if k in terms:
            mine.append(terms[k])
        else:
            stack += graph.operands(k)
    if len(mine) < FEWEST:
        return None
    bounds = tuple(sorted({x for interval, _ in mine for x in (interval.low, interval.high) if math.isfinite(x)}))
    at = {bound: i for i, bound in enumerate(bounds)}
    taken = bytearray(2 * len(bounds) + 1)
    for interval, _ in mine:
        for place in _places(interval, at):
            if taken[place]:
                return None
            taken[place] = 1
    return Steps(mine[0][0].of, bounds, mine)


def _search(k: int, n: int) -> str:
    """IR of the search for a place: how many bounds are below x, by bisection."""
    return f"""define internal double @{PLACE}{k}(double %x) noinline nounwind {{
entry:
  br label %loop
loop:
  %low = phi i64 [ 0, %entry ], [ %low.next, %body ]
  %left = phi i64 [ {n}, %entry ], [ %left.next, %body ]
  %more = icmp sgt i64 %left, 0
  br i1 %more, label %body, label %done
body:
  %half = lshr i64 %left, 1
  %middle = add i64 %low, %half
  %at = getelementptr double, ptr @{PICK}{k}, i64 %middle
  %bound = load double, ptr %at, align 8
  %below = fcmp olt double %bound, %x
  %above = add i64 %middle, 1
  %low.next = select i1 %below, i64 %above, i64 %low
  %half.1 = add i64 %half, 1
  %rest = sub i64 %left, %half.1
  %left.next = select i1 %below, i64 %rest, i64 %half
  br label %loop
done:
  %inside = icmp slt i64 %low, {n}
  %index = select i1 %inside, i64 %low, i64 {n - 1}
  %p = getelementptr double, ptr @{PICK}{k}, i64 %index
  %next = load double, ptr %p, align 8
  %equal = fcmp oeq double %next, %x
  %one = zext i1 %equal to i64
  %twice = shl i64 %low, 1
  %place = add i64 %twice, %one
  %nan = fcmp uno double %x, %x
  %all = select i1 %nan, i64 {2 * n + 1}, i64 %place
  %result = uitofp i64 %all to double
  ret double %result
}}"""
