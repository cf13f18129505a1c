"""Every operation code of the installed CasADi, against CasADi's own evaluation, edge cases included."""

from __future__ import annotations

import itertools

import casadi
import numpy as np
import pytest

from closedchain.native import UnsupportedOperation, compile_function
from closedchain.native.emit.operations import OPERATIONS, STRUCTURAL, UNSUPPORTED, codes

# operations on matrices: they exist in MX graphs only
MATRIX_OPERATIONS = frozenset(
    """
    find low map mtimes solve transpose determinant inverse dot bilin rank1 horzcat vertcat diagcat horzsplit vertsplit
    diagsplit reshape subref subassign getnonzeros getnonzeros_param addnonzeros addnonzeros_param setnonzeros
    setnonzeros_param project assertion monitor norm2 norm1 norminf normf mmin mmax horzrepmat horzrepsum einstein
    bspline convexify sparsity_cast logsumexp dump kron kron_contract
    """.split()
)

# how an SX expression with a given operation is written, where casadi has no function of the same name
EXPRESSION = {
    "assign": lambda x, y: x,
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "neg": lambda x, y: -x,
    "inv": lambda x, y: 1 / x,
    "twice": lambda x, y: 2 * x,
    "sq": lambda x, y: x * x,
    "pow": lambda x, y: x**y,
    "constpow": lambda x, y: casadi.constpow(x, 2.7),
    "lt": lambda x, y: x < y,
    "le": lambda x, y: x <= y,
    "eq": lambda x, y: x == y,
    "ne": lambda x, y: x != y,
    "not": lambda x, y: casadi.logic_not(x),
    "and": lambda x, y: casadi.logic_and(x, y),
    "or": lambda x, y: casadi.logic_or(x, y),
    "lift": lambda x, y: casadi.SX.binary(casadi.OP_LIFT, x, y),
    "printme": lambda x, y: x.printme(y),
    "if_else_zero": lambda x, y: casadi.if_else(x, y, 0),
}

EDGES = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, 3.0, -2.5, 1e-300, -1e-9, 1e9, 1e300, np.inf, -np.inf, np.nan]
REGULAR = np.random.default_rng(7).uniform(-3, 3, (200, 2))
PAIRS = np.array([*itertools.product(EDGES, EDGES), *REGULAR])


def expression(name: str, x: casadi.SX, y: casadi.SX) -> casadi.SX:
    """An SX expression whose only operation has the given name."""
    if name in EXPRESSION:
        return EXPRESSION[name](x, y)
    return getattr(casadi, name)(*(x, y)[: OPERATIONS[name].arity])


def test_every_code_is_supported_or_said_not_to_be() -> None:
    known = set(OPERATIONS) | set(STRUCTURAL) | set(UNSUPPORTED) | MATRIX_OPERATIONS
    assert set(codes().values()) == known


@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_same_value_as_casadi(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    x, y = casadi.SX.sym("x"), casadi.SX.sym("y")
    function = casadi.Function("f", [x, y], [expression(name, x, y)])
    operations = [codes()[function.instruction_id(k)] for k in range(function.n_instructions())]
    # CasADi's SX drops these two itself
    assert name in operations or name in ("assign", "lift")

    native = compile_function(name, {"x": x, "y": y}, {"z": expression(name, x, y)}, cache=False)
    result = native.batch(PAIRS[:, 0], PAIRS[:, 1])[:, 0]
    expected = np.array([float(function(a, b)) for a, b in PAIRS])
    # a NaN is a NaN, an infinity has its sign; the last digits are the library's and of fused operations
    np.testing.assert_allclose(result, expected, rtol=4e-15, atol=0)


def test_selection_hides_a_nan_of_the_branch_not_taken() -> None:
    x = casadi.SX.sym("x")
    y = casadi.if_else(x > 0, casadi.log(x), -x)
    native = compile_function("f", {"x": x}, {"y": y}, cache=False)
    assert native(-2.0)[0] == 2.0
    assert np.isnan(native(np.nan)[0]) or native(np.nan)[0] == float(casadi.Function("f", [x], [y])(np.nan))


@pytest.mark.parametrize("kind", ["sum", "product", "difference", "quotient", "root"])
def test_nan_stays_nan(kind: str) -> None:
    x, y = casadi.SX.sym("x"), casadi.SX.sym("y")
    z = {
        "sum": x + y + 1,
        "product": 0.5 * x * y,
        "difference": casadi.sin(x) - casadi.sin(y) * casadi.sin(x),
        "quotient": x / (x + y),
        "root": casadi.sqrt(x) * casadi.sqrt(y),
    }[kind]
    native = compile_function("f", {"x": x, "y": y}, {"z": z}, cache=False)
    assert np.isnan(native(np.nan, 1.0)[0])
    assert np.isnan(native(1.0, np.nan)[0])
    # an infinity is not assumed away either
    assert not np.isfinite(native(np.inf, np.inf)[0])


def test_call_of_a_function_is_refused_by_name() -> None:
    x = casadi.SX.sym("x", 2)
    inner = casadi.Function("inner", [x], [casadi.sin(x)], {"never_inline": True})
    with pytest.raises(UnsupportedOperation, match="outer: operation OP_CALL cannot be compiled"):
        compile_function("outer", {"x": x}, {"y": inner(x)})


def test_the_inverse_error_function_is_refused_by_name() -> None:
    x = casadi.SX.sym("x")
    with pytest.raises(UnsupportedOperation, match="f: operation OP_ERFINV cannot be compiled: the C library has no"):
        compile_function("f", {"x": x}, {"y": casadi.erfinv(x)})


def test_unknown_operation_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(OPERATIONS, "tan")
    x = casadi.SX.sym("x")
    with pytest.raises(UnsupportedOperation, match="OP_TAN"):
        compile_function("f", {"x": x}, {"y": casadi.tan(x)})
