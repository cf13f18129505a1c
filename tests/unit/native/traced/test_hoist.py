"""Hoisting: the same values, less work in the main function, nothing in the work vector that is not read."""

from __future__ import annotations

import casadi
import numpy as np
import pytest

from closedchain.native import compile_function
from closedchain.native.traced.hoist import hoist
from closedchain.native.traced.trace import trace

x, p = casadi.SX.sym("x", 3), casadi.SX.sym("p", 4)

# expression, operations of main, elements of w
CASES = {
    "only the maximal subexpression": (x[0] * casadi.sin(p[0] * p[1] + p[2]), 1, 1),
    "division becomes multiplication": (x[0] / p[0], 1, 1),
    "division by an expression": (x[0] / (p[0] + p[1] ** 2), 1, 1),
    "factors are collected": (x[0] * p[0] * p[1] / p[2], 1, 1),
    "constants too": (2 * (x[0] * p[0]) * 3.5, 1, 1),
    "terms are collected": (x[0] + p[0] - p[1] + 2.0, 1, 1),
    "differences are collected": (x[0] - p[0] - p[1], 1, 1),
    "mixed signs": (x[0] - p[0] + p[1], 1, 1),
    "a negation": (-(x[0] * p[0]), 1, 1),
    "a negation of what is needed as well": (casadi.vertcat(-(x[0] * p[0]), casadi.sin(x[0] * p[0])), 3, 1),
    "an output of slow inputs alone": (p[0] * p[1], 0, 1),
    "a slow input itself": (p[3] + 0 * x[0], 0, 1),
    "no slow input": (x[0] * x[1], 1, 0),
    "shared by two": (casadi.vertcat(x[0] * casadi.exp(p[0]), x[1] * casadi.exp(p[0])), 2, 1),
    "slow divided by fast": ((p[0] + p[1]) / x[0], 1, 1),
    "a selection": (casadi.if_else(p[0] > 0, x[0], 0), 1, 1),
}


@pytest.mark.parametrize("case", CASES)
def test_counts_and_values(case: str) -> None:
    y, operations, n_work = CASES[case]
    native = compile_function("f", {"x": x, "p": p}, {"y": y}, slow=("p",), cache=False)
    assert (native.counts.total, native.n_work) == (operations, n_work)
    reference = casadi.Function("f", [x, p], [y])
    rng = np.random.default_rng(5)
    for _ in range(20):
        at, parameters = rng.normal(size=3), rng.normal(size=4)
        np.testing.assert_allclose(
            native(at, parameters), np.array(reference(at, parameters)).ravel(), rtol=1e-14, atol=1e-15
        )


def test_random_expressions_lose_nothing() -> None:
    rng = np.random.default_rng(11)
    pool = [*casadi.vertsplit(x), *casadi.vertsplit(p), casadi.SX(1.5)]
    for _ in range(400):
        a, b = (pool[i] for i in rng.integers(len(pool), size=2))
        choice = [a + b, a - b, a * b, a / (3 + b**2), casadi.sin(a), -a, casadi.fmax(a, b)]
        pool.append(choice[rng.integers(len(choice))])
    y = casadi.vertcat(*[casadi.tanh(e) for e in pool[-60:]])
    reference = casadi.Function("f", [x, p], [y])
    plain = compile_function("f", {"x": x, "p": p}, {"y": y}, cache=False)
    hoisted = compile_function("f", {"x": x, "p": p}, {"y": y}, slow=("p",), cache=False)
    assert hoisted.counts.total <= plain.counts.total
    at, parameters = rng.normal(size=3), rng.normal(size=4)
    expected = np.array(reference(at, parameters)).ravel()
    # the order of sums is free: differences of large terms leave some units in the last place
    np.testing.assert_allclose(plain(at, parameters), expected, rtol=1e-11)
    np.testing.assert_allclose(hoisted(at, parameters), expected, rtol=1e-11)


def test_main_reads_no_slow_input_and_each_element_once() -> None:
    graph = trace("f", {"p": p, "x": x}, {"y": casadi.vertcat(x[0] * p[0] * p[1], x[1] / p[2], p[0] * x[2])})
    prepare, main = hoist(graph, frozenset([0]), 2)
    assert {main.a[k] for k in range(len(main)) if main.name[k] == "input"} == {0, 1}
    read = sorted(main.b[k] for k in range(len(main)) if main.name[k] == "input" and main.a[k] == 1)
    assert read == list(range(len(prepare.outputs)))
    assert {prepare.a[k] for k in range(len(prepare)) if prepare.name[k] == "input"} == {0}


def test_several_slow_inputs_in_declared_order() -> None:
    u, q = casadi.SX.sym("u", 2), casadi.SX.sym("q")
    native = compile_function(
        "f", {"q": q, "x": x, "p": p, "u": u}, {"y": q * x[0] + p[0] * u[0]}, slow=("u", "q"), cache=False
    )
    assert list(native.slow_shapes) == ["q", "u"]
    assert list(native.input_shapes) == ["x", "p"]
    assert native(2.0, [3.0, 0, 0], [5.0, 0, 0, 0], [7.0, 0.0])[0] == 41.0
