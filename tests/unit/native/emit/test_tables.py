"""Long sums of chosen constants become tables: the same numbers, and a graph whose size does not grow with them."""

import casadi as ca
import numpy as np
import pytest

import closedchain as cc
from closedchain.derive.lower import OPERATIONS
from closedchain.march.program.compiled import compiled
from closedchain.native import compile_function
from closedchain.native.emit.tables import FEWEST, Interval, Tables
from closedchain.native.function import Parts


def table(pieces, rng, degree=3):
    """Breaks and coefficients of a continuous function."""
    breaks = np.cumsum(rng.uniform(0.1, 1.0, pieces + 1))
    rows = rng.normal(size=(pieces, degree + 1))
    for k in range(1, pieces):
        rows[k, 0] = np.polyval(rows[k - 1, ::-1], breaks[k] - breaks[k - 1])
    return tuple(breaks.tolist()), tuple(map(tuple, rows.tolist()))


def parts(expressions, *symbols):
    inputs = {f"x{k}": x for k, x in enumerate(symbols)}
    return Parts.of("f", inputs, {f"y{k}": y for k, y in enumerate(expressions)})


def places(breaks):
    """Below, at, between and above the breaks, and a NaN."""
    near = [np.nextafter(b, side) for b in breaks for side in (-np.inf, np.inf)]
    return np.array([*breaks, *near, breaks[0] - 1, breaks[-1] + 1, 0.5 * (breaks[0] + breaks[1]), np.nan])


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("pieces", [1, FEWEST, 50])
def test_values_are_those_of_the_sum(rng, pieces, order):
    breaks, rows = table(pieces, rng)
    x = ca.SX.sym("x")
    y = OPERATIONS["polynomials"](x, breaks, rows, order)
    both = ca.vertcat(y, ca.jacobian(y, x))
    native = compile_function("table", {"x": x}, {"y": both}, cache=False)
    interpreted = ca.Function("table", [x], [ca.densify(both)])
    for at in places(breaks):
        expected = np.array(interpreted(at)).ravel()
        assert np.allclose(native(at), expected, rtol=1e-14, atol=0.0, equal_nan=True)  # products may be fused


def test_chosen_constants_are_the_same_bits(rng):
    breaks, rows = table(30, rng, degree=0)
    rows = tuple((float(v),) for v in rng.normal(size=30))
    x = ca.SX.sym("x")
    y = OPERATIONS["polynomials"](x, breaks, rows, 0)
    native, interpreted = compile_function("table", {"x": x}, {"y": y}, cache=False), ca.Function("table", [x], [y])
    for at in places(breaks):
        assert native(at)[0] == float(interpreted(at))


def test_the_graph_does_not_grow_with_the_table(rng):
    x = ca.SX.sym("x")
    sizes = []
    for pieces in (20, 200):
        traced = parts([OPERATIONS["polynomials"](x, *table(pieces, rng), 0)], x)
        sizes.append((len(traced.main), traced.counts.total, len(traced.tables)))
    assert sizes[0] == sizes[1]
    assert sizes[0][2] == 6  # the bounds, and a list for each of four coefficients and for where pieces begin


def test_operations_of_a_right_hand_side_do_not_grow_with_its_tables(rng):
    counts, lines = [], []
    for pieces in (20, 200):
        m = cc.library.pendulum()
        breaks, rows = table(pieces, rng)
        m.motor("hinge", torque=cc.math.piecewise(cc.t, breaks, rows))
        program = compiled(m.assemble(), cc.Multipliers(), native=False)
        counts.append(program.rhs.counts.total)
        lines.append(len(program.rhs.function._traced[0].text().splitlines()))
    assert counts[0] == counts[1] < 40
    assert lines[0] == lines[1]


def test_derivatives_share_the_search(rng):
    x = ca.SX.sym("x")
    breaks, rows = table(50, rng)
    y = [OPERATIONS["polynomials"](x, breaks, rows, order) for order in (0, 1, 2)]
    traced = parts([*y, ca.jacobian(y[0], x)], x)
    assert traced.main.name.count("place") == 1


def test_terms_that_overlap_stay_a_sum(rng):
    x = ca.SX.sym("x")
    y = sum((ca.if_else(x < float(k), 1.0 + k, 0) for k in range(2 * FEWEST)), ca.SX(0))
    traced = parts([y], x)
    assert "pick" not in traced.main.name
    f = compile_function("steps", {"x": x}, {"y": y}, cache=False)
    assert f(3.5)[0] == sum(1.0 + k for k in range(4, 2 * FEWEST))


def test_conditions_on_different_values_stay_apart(rng):
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    breaks, rows = table(20, rng)
    both = OPERATIONS["polynomials"](x, breaks, rows, 0) + OPERATIONS["polynomials"](y, breaks, rows, 0)
    traced = parts([both], x, y)
    assert traced.main.name.count("place") == 2
    f = compile_function("both", {"x": x, "y": y}, {"z": both}, cache=False)
    g = ca.Function("both", [x, y], [both])
    for at in rng.uniform(breaks[0] - 1, breaks[-1] + 1, (50, 2)):
        assert f(*at)[0] == pytest.approx(float(g(*at)), rel=1e-14)


def test_a_table_of_a_slow_input_is_searched_once(rng):
    x, p = ca.SX.sym("x"), ca.SX.sym("p")
    y = x * OPERATIONS["polynomials"](p, *table(20, rng), 0)
    traced = Parts.of("f", {"x": x, "p": p}, {"y": y}, ("p",))
    assert "place" in traced.prepare.name
    assert "place" not in traced.main.name


def test_intervals_meet():
    low, high = Interval(0, 1.0, True, np.inf, False), Interval(0, -np.inf, False, 2.0, False)
    assert low.both(high) == high.both(low) == (0, 1.0, True, 2.0, False)
    assert low.both(Interval(0, 1.0, False, np.inf, False)).low_belongs is False


def test_equal_lists_are_kept_once():
    tables = Tables()
    assert tables.number((1.0, 2.0)) == tables.number((1.0, 2.0), searched=True) == 0
    assert tables.number((1.0,)) == 1
    assert len(tables.definitions()) == 3
