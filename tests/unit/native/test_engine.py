"""From text to machine code."""

from __future__ import annotations

import numpy as np
import pytest

from closedchain.native import engine

TEXT = """
define void @twice(ptr %x, ptr %y) {
  %a = load double, ptr %x
  %b = fadd double %a, %a
  store double %b, ptr %y
  ret void
}
"""


def test_text_becomes_a_callable_address() -> None:
    machine, cached = engine.build(TEXT, ["twice"])
    assert not cached
    x, y = np.array([4.0]), np.empty(1)
    engine.entry_point(machine.address["twice"], 2)(x.ctypes.data, y.ctypes.data)
    assert y[0] == 8.0
    assert engine.build(TEXT, ["twice"])[1]


def test_what_was_compiled_with_another_effort_is_another_code() -> None:
    other = TEXT.replace("twice", "thrice")
    assert not engine.build(other, ["thrice"])[1]
    assert not engine.build(other, ["thrice"], effort=engine.QUICK)[1]
    assert engine.build(other, ["thrice"], effort=engine.QUICK)[1]


def test_all_functions_of_the_library_are_found() -> None:
    needed = set(engine._LIBRARY) - {"sincos"}  # not everywhere, and then never called
    assert needed <= set(engine._library_addresses())


def test_bad_text_is_an_error() -> None:
    with pytest.raises(RuntimeError, match="LLVM IR parsing error"):
        engine.build("define nonsense", ["f"])
