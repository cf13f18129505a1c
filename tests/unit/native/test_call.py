"""Calls by address from Numba; the caller is compiled once and cached on disk."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import casadi
import numba
import numpy as np
import pytest

from closedchain.native import compile_function
from closedchain.native.call import call


@numba.njit
def through(address, arrays, results):  # type: ignore[no-untyped-def]
    a, b, c, d, e = arrays
    call(address[0], a, results[0])
    call(address[1], a, b, results[1])
    call(address[2], a, b, c, results[2])
    call(address[3], a, b, c, d, results[3])
    call(address[4], a, b, c, d, e, results[4])


def test_all_numbers_of_arrays() -> None:
    symbols = {f"s{k}": casadi.SX.sym(f"s{k}") for k in range(5)}
    functions = []
    for n in range(1, 6):
        inputs = dict(list(symbols.items())[:n])
        functions.append(compile_function(f"f{n}", inputs, {"y": sum(inputs.values(), casadi.SX(0))}))
    arrays = tuple(np.array([10.0**k]) for k in range(5))
    results = tuple(np.zeros(1) for _ in range(5))
    through(np.array([f.address for f in functions]), arrays, results)
    assert [result[0] for result in results] == [1.0, 11.0, 111.0, 1111.0, 11111.0]


_F = numba.types.CPointer(numba.float64)


@numba.cfunc(numba.void(numba.types.CPointer(numba.int64), _F, _F))
def through_memory(memory, a, b):  # type: ignore[no-untyped-def]
    call(memory[0], a, b)


def test_tables_of_integers_and_pointers_are_passed_on() -> None:
    x = casadi.SX.sym("x")
    triple = compile_function("triple", {"x": x}, {"y": 3 * x})

    @numba.njit
    def ask(address, memory, a, b):  # type: ignore[no-untyped-def]
        call(address, memory, a, b)

    result = np.zeros(1)
    ask(through_memory.address, np.array([triple.address]), np.array([7.0]), result)
    assert result[0] == 21.0


def test_wrong_arrays_are_refused_at_compile_time() -> None:
    @numba.njit
    def wrong(address, a):  # type: ignore[no-untyped-def]
        call(address, a, a)

    for array in (np.zeros((2, 2)), np.zeros(4)[::2], np.zeros(4, np.float32), np.zeros(4, np.int32)):
        with pytest.raises(numba.TypingError, match="1-D C-contiguous arrays of float64 or int64"):
            wrong(1, array)
    with pytest.raises(numba.TypingError, match="address of a native function is an integer"):
        wrong(1.5, np.zeros(4))


SCRIPT = """
import sys
import casadi
import numba
import numpy as np
from closedchain.native import compile_function
from closedchain.native.call import call

@numba.njit(cache=True)
def euler(address, t, x, w, dt, n):
    dx = np.empty_like(x)
    for _ in range(n):
        call(address, t, x, w, dx)
        for i in range(x.size):
            x[i] += dt * dx[i]
        t[0] += dt

k = float(sys.argv[1])
t, x, p = casadi.SX.sym("t"), casadi.SX.sym("x", 1), casadi.SX.sym("p", 1)
f = compile_function("decay", {"t": t, "x": x, "p": p}, {"dx": -k * p * x}, slow=("p",))
state = np.array([1.0])
euler(f.address, np.zeros(1), state, f.prepare([0.5]), 1e-3, 1000)
assert abs(state[0] - (1 - k * 0.5e-3) ** 1000) < 1e-13, state
print(sum(euler.stats.cache_hits.values()))
"""


def test_caller_is_cached_on_disk_and_serves_every_function(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "numba"))
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    hits = []
    for k in ("1.0", "2.0"):
        done = subprocess.run([sys.executable, str(script), k], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        hits.append(int(done.stdout))
    # another process and another native function, yet nothing is compiled again
    assert hits == [0, 1]
