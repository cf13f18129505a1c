"""The order of evaluation, and divisions that share a divisor.

Two passes over a finished graph:

* Several divisions by one value become one reciprocal and multiplications. (CasADi writes ``x * (1/y)`` as ``x / y``,
  so a pivot that was inverted once in the source is divided by again and again in the graph.)
* The sines and cosines that depend on no other sine or cosine, in a mechanism those of the joint angles, come first,
  side by side. They are then computed several at a time with vector instructions
  (:mod:`closedchain.native.emit.sincos`), and do not interrupt the arithmetic, which would have to save all
  its registers around each call.
"""

from __future__ import annotations

from collections import Counter

from closedchain.native.traced.graph import Graph

_TRIG = ("sin", "cos")


def share_divisors(graph: Graph) -> Graph:
    """Replace ``x/y, z/y, ...`` by multiplications with ``1/y``.

    Examples
    --------
    >>> g = Graph()
    >>> x, y, z = (g.input(0, i) for i in range(3))
    >>> g.outputs = [(0, 0, g.operate("div", x, z)), (0, 1, g.operate("div", y, z))]
    >>> share_divisors(g).name
    ['input', 'input', 'input', 'inv', 'mul', 'mul']
    """
    divisions = Counter(
        graph.b[k] if graph.name[k] == "div" else graph.a[k]
        for k in range(len(graph))
        if graph.name[k] in ("div", "inv")
    )
    if not any(number > 1 for number in divisions.values()):
        return graph
    new = Graph()
    number_of: list[int] = []
    for k in range(len(graph)):
        name, a, b = graph.name[k], graph.a[k], graph.b[k]
        if name == "const":
            number_of.append(new.constant(graph.constants[a]))
        elif name == "input":
            number_of.append(new.input(a, b))
        elif name == "div" and divisions[b] > 1:
            number_of.append(new.operate("mul", number_of[a], new.operate("inv", number_of[b])))
        else:
            number_of.append(new.operate(name, *(number_of[i] for i in graph.operands(k))))
    new.outputs = [(output, position, number_of[k]) for output, position, k in graph.outputs]
    return new.without_dead_values()


def angles_first(graph: Graph) -> tuple[Graph, frozenset[int]]:
    """Move the sines and cosines that need no other one to the front.

    Returns
    -------
    graph : Graph
        First what the angles are computed from, then their sines and cosines, then everything else.
    angles : frozenset of int
        The values whose sines and cosines stand together.

    Examples
    --------
    >>> g = Graph()
    >>> x, y = g.input(0, 0), g.input(0, 1)
    >>> z = g.operate("mul", g.operate("sin", x), y)
    >>> g.outputs = [(0, 0, g.operate("add", z, g.operate("cos", x)))]
    >>> angles_first(g)[0].name
    ['input', 'sin', 'cos', 'input', 'mul', 'add']
    """
    n = len(graph)
    after_trig = bytearray(n)
    first: dict[int, list[int]] = {}  # angle -> its sine and cosine
    for k in range(n):
        operands = graph.operands(k)
        later = any(after_trig[i] for i in operands)
        is_trig = graph.name[k] in _TRIG
        after_trig[k] = later or is_trig
        if is_trig and not later:
            first.setdefault(graph.a[k], []).append(k)
    needed = bytearray(n)
    for angle in first:
        needed[angle] = 1
    for k in range(n - 1, -1, -1):
        if needed[k]:
            for i in graph.operands(k):
                needed[i] = 1
    front = [k for k in range(n) if needed[k]] + [k for pair in first.values() for k in pair]
    placed = bytearray(n)
    for k in front:
        placed[k] = 1
    ordered, new = graph.reordered(front + [k for k in range(n) if not placed[k]])
    return ordered, frozenset(new[angle] for angle in first)
