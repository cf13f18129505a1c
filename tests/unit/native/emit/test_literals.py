"""Literals keep every bit."""

from __future__ import annotations

import math
import struct

import pytest

from closedchain.native.emit.literals import literal


@pytest.mark.parametrize("value", [0.0, -0.0, 0.1, -1e300, 5e-324, math.inf, -math.inf, math.nan])
def test_bits_survive(value: float) -> None:
    back = struct.unpack("<d", struct.pack("<Q", int(literal(value), 16)))[0]
    assert struct.pack("<d", back) == struct.pack("<d", value)
