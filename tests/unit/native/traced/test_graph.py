"""Value numbering and the rewritings of single operations."""

from __future__ import annotations

import math

from closedchain.native.traced.graph import Graph


def pair() -> tuple[Graph, int, int]:
    graph = Graph()
    return graph, graph.input(0, 0), graph.input(0, 1)


def test_equal_values_have_one_number() -> None:
    g, x, y = pair()
    assert g.operate("add", x, y) == g.operate("add", y, x)
    assert g.operate("sub", x, y) != g.operate("sub", y, x)
    assert g.operate("sin", x) == g.operate("sin", x)


def test_constants_differ_by_their_bits() -> None:
    g = Graph()
    assert g.constant(0.0) != g.constant(-0.0)
    assert g.constant(math.nan) == g.constant(math.nan)


def test_negations_are_absorbed() -> None:
    g, x, y = pair()
    minus_x, minus_y = g.operate("neg", x), g.operate("neg", y)
    assert g.operate("add", x, minus_y) == g.operate("sub", x, y)
    assert g.operate("add", minus_x, y) == g.operate("sub", y, x)
    assert g.operate("sub", x, minus_y) == g.operate("add", x, y)
    assert g.operate("mul", minus_x, minus_y) == g.operate("mul", x, y)
    assert g.operate("div", minus_x, minus_y) == g.operate("div", x, y)
    assert g.operate("sq", minus_x) == g.operate("sq", x)
    assert g.operate("neg", minus_x) == x


def test_division_by_a_constant_is_a_multiplication_unless_the_reciprocal_is_lost() -> None:
    g, x, _ = pair()
    assert g.name[g.operate("div", x, g.constant(3.0))] == "mul"
    for divisor in (0.0, math.inf, math.nan, 5e-324, 1.7e308):
        assert g.name[g.operate("div", x, g.constant(divisor))] == "div"


def test_dead_values_are_dropped() -> None:
    g, x, y = pair()
    g.operate("mul", x, y)
    g.outputs = [(0, 0, g.operate("sin", y))]
    alive = g.without_dead_values()
    assert alive.name == ["input", "sin"]
    assert alive.b[0] == 1
    assert alive.outputs == [(0, 0, 1)]
