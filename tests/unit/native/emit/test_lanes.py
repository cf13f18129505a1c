"""Several points at once: every operation in every lane as in the scalar code, and no lane that depends on another."""

from __future__ import annotations

import casadi
import numpy as np
import pytest

from closedchain.native import compile_function, compile_lanes
from closedchain.native.emit.lanes import lane_template
from closedchain.native.emit.operations import OPERATIONS
from tests.unit.native.emit.test_operations import PAIRS, expression

LANES = 4
# assign, lift and printme are nothing in native code
NAMES = sorted(name for name in OPERATIONS if OPERATIONS[name].template)


@pytest.fixture(scope="module")
def everything() -> tuple[casadi.SX, casadi.SX, casadi.SX]:
    x, y = casadi.SX.sym("x"), casadi.SX.sym("y")
    return x, y, casadi.vertcat(*(expression(name, x, y) for name in NAMES))


def test_every_operation_gives_in_lanes_what_it_gives_alone(everything) -> None:
    x, y, z = everything
    one = compile_function("one", {"x": x, "y": y}, {"z": z})
    four = compile_lanes("four", {"x": x, "y": y}, {"z": z}, lanes=LANES)
    pairs = PAIRS[: len(PAIRS) // LANES * LANES]
    alone = one.batch(pairs[:, 0], pairs[:, 1])
    blocks = pairs.reshape(-1, LANES, 2)
    together = np.concatenate([four(block[:, :1], block[:, 1:])[0] for block in blocks])
    for k, name in enumerate(NAMES):
        # the compiler may fuse and reorder differently; functions of the library are the same ones
        np.testing.assert_allclose(together[:, k], alone[:, k], rtol=4e-16, atol=0, err_msg=name)


def test_a_lane_does_not_depend_on_its_neighbours(everything) -> None:
    x, y, z = everything
    four = compile_lanes("four", {"x": x, "y": y}, {"z": z}, lanes=LANES)
    mine = (0.7, -1.3)
    quiet = four([[mine[0]]] * LANES, [[mine[1]]] * LANES)[0]
    # a NaN, an angle that goes to the library, and an overflow beside it
    noisy = four([[np.nan], [mine[0]], [1e9], [1e300]], [[0.0], [mine[1]], [np.inf], [-1e300]])[0]
    np.testing.assert_array_equal(noisy[1], quiet[1])
    assert np.isnan(noisy[0, NAMES.index("sin")])


def test_operations_without_a_text_stay_without_one() -> None:
    assert lane_template("assign", 4) == ""


def test_numbers_in_a_text_become_vectors() -> None:
    text = lane_template("not", 2)
    assert "<2 x i1>" in text and "double 1.0" not in text and text.count("0x3FF0000000000000") == 2
