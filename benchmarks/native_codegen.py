"""Compile time and run time of native functions, against the optimiser level, the chunk length and the size.

Run ``python benchmarks/native_codegen.py`` (about a minute), or with some of the words ``levels``, ``chunks``,
``sizes``, ``sincos``, ``warm``. Times are the best of several; compare the columns of one run, not the runs of two
machines.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import replace

import casadi
import numpy as np

from closedchain.native import compile_function, engine
from closedchain.native.engine import QUICK, THOROUGH, Effort
from closedchain.native.function import NativeFunction, Parts, compile_parts


def rotations(x: casadi.SX, n: int, seed: int = 0) -> casadi.SX:
    """A product of n random homogeneous transformations: the sines and short products of kinematics."""
    rng = np.random.default_rng(seed)
    product, seen = casadi.SX.eye(4), []
    for k in range(n):
        angle = x[k % x.numel()] * (1 + k // x.numel())
        c, s, a = casadi.cos(angle), casadi.sin(angle), rng.uniform(0, 2 * np.pi)
        turn = casadi.blockcat([[c, -s, 0, rng.normal()], [s, c, 0, 0], [0, 0, 1, rng.normal()], [0, 0, 0, 1]])
        tilt = casadi.SX(
            np.array([[1, 0, 0, 0], [0, np.cos(a), -np.sin(a), 0], [0, np.sin(a), np.cos(a), 0], [0, 0, 0, 1]])
        )
        product = casadi.mtimes([product, turn, casadi.sparsify(tilt)])
        if k % 8 == 7:
            seen.append(casadi.vec(product))
            product = casadi.SX.eye(4)
    return casadi.vertcat(*seen)


def cholesky_solve(matrix: casadi.SX, right: casadi.SX) -> casadi.SX:
    """The solution of a positive definite system, unrolled."""
    n = matrix.shape[0]
    factor = casadi.SX(n, n)
    inverse = []
    for j in range(n):
        pivot = matrix[j, j] - casadi.sumsqr(factor[j, :j])
        inverse.append(1 / casadi.sqrt(pivot))
        factor[j, j] = pivot * inverse[j]
        for i in range(j + 1, n):
            factor[i, j] = (matrix[i, j] - casadi.dot(factor[i, :j], factor[j, :j])) * inverse[j]
    y: list[casadi.SX] = []
    for i in range(n):
        y.append((right[i] - sum((factor[i, k] * y[k] for k in range(i)), casadi.SX(0))) * inverse[i])
    z: dict[int, casadi.SX] = {}
    for i in reversed(range(n)):
        z[i] = (y[i] - sum((factor[k, i] * z[k] for k in range(i + 1, n)), casadi.SX(0))) * inverse[i]
    return casadi.vertcat(*(z[i] for i in range(n)))


def dynamics_like(n: int = 18) -> tuple[casadi.SX, casadi.SX]:
    """Some 4,000 operations in the proportions of a mechanism: kinematics, an n x n inertia, a solution."""
    x = casadi.SX.sym("x", 2 * n)
    terms = rotations(x[:n], 32)
    m = terms.numel()
    matrix = casadi.SX(n, n)
    for i in range(n):
        for j in range(i + 1):
            matrix[i, j] = terms[(3 * i + j) % m] * terms[(5 * j + i + 7) % m] + (40 if i == j else 0)
            matrix[j, i] = matrix[i, j]
    return x, cholesky_solve(matrix, terms[:n] * x[n:])


def chain(n_operations: int) -> tuple[casadi.SX, casadi.SX]:
    """A function of about the given number of operations."""
    x = casadi.SX.sym("x", 40)
    return x, rotations(x, max(8, 8 * (n_operations // 492)))


def best(action: Callable[[], object], repeats: int = 7) -> float:
    """The shortest of several runs, in seconds."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return min(times)


def run_time(function: NativeFunction, n: int = 2000) -> float:
    """Seconds for one evaluation, timed in the native loop."""
    rng = np.random.default_rng(1)
    inputs = [rng.uniform(-1, 1, (n, rows)) for rows, _ in function.input_shapes.values()]
    return best(lambda: function.batch(*inputs)) / n


def made(x: casadi.SX, y: casadi.SX, effort: Effort = THOROUGH) -> NativeFunction:
    """Compiled anew."""
    return compile_parts("f", Parts.of("f", {"x": x}, {"y": y}), effort, cache=False)


def levels() -> None:
    """Which levels of the optimiser and the code generator?"""
    x, y = dynamics_like()
    print("optimiser  generator  compile [ms]  run [us]  (dynamics_like)")
    for optimiser in (0, 1, 2, 3):
        for generator in (0, 1, 2, 3):
            f = made(x, y, Effort(optimiser, generator))
            print(f"{optimiser:9d} {generator:10d} {1e3 * f.timings.machine_code:13.0f} {1e6 * run_time(f):9.3f}")
    print(f.counts)


def chunk_lengths() -> None:
    """Which length of a chunk, for what is evaluated often and seldom?"""
    for n in (18, 36, 60):
        x, y = dynamics_like(n)
        print(f"effort  chunk length  compile [us/operation]  run [ns/operation]  (dynamics_like({n}))")
        for word, effort in (("often", THOROUGH), ("seldom", QUICK)):
            for length in (200, 400, 1000, 2000, 4000, 8000):
                f = made(x, y, replace(effort, chunk_length=length))
                total = f.counts.total
                compiling, running = 1e6 * f.timings.machine_code / total, 1e9 * run_time(f, 300) / total
                print(f"{word:6s} {length:13d} {compiling:23.1f} {running:19.3f}  {total} operations")


def sincos() -> None:
    """What do sines and cosines in vectors bring?"""
    x = casadi.SX.sym("x", 24)
    cases = {
        "24 sines and cosines": (x, casadi.vertcat(casadi.sin(x), casadi.cos(x))),
        "dynamics_like": dynamics_like(),
    }
    keep = engine.vector_width
    print("                      library [us]  vectors [us]")
    for name, (symbol, expression) in cases.items():
        times = []
        for width in (1, keep()):
            engine.vector_width = lambda width=width: width
            times.append(run_time(made(symbol, expression)))
        print(f"{name:22s} {1e6 * times[0]:11.3f} {1e6 * times[1]:13.3f}")
    engine.vector_width = keep


def warm() -> None:
    """What is left to do when the code is in the cache?"""
    x, y = dynamics_like()
    for _ in range(2):
        f = compile_function("f", {"x": x}, {"y": y})
    t = f.timings
    print(
        f"warm: trace {1e3 * t.trace:.1f} ms, IR {1e3 * t.ir:.1f} ms, load {1e3 * t.machine_code:.1f} ms, {t.cached=}"
    )


def sizes(greatest: int = 100_000) -> None:
    """Is the time to compile linear?"""
    print("operations  trace [s]  IR [s]  compile [s]  us/operation  run [us]")
    n = 1000
    while n <= greatest:
        x, y = chain(n)
        f = made(x, y)
        t, total = f.timings, f.counts.total
        each = 1e6 * t.machine_code / total
        print(
            f"{total:10d} {t.trace:10.3f} {t.ir:7.3f} {t.machine_code:12.3f} {each:13.1f} {1e6 * run_time(f, 200):9.2f}"
        )
        n *= 10


def main() -> None:
    """Run the measurements that are named, or all."""
    todo = {"levels": levels, "chunks": chunk_lengths, "sizes": sizes, "sincos": sincos, "warm": warm}
    for name in sys.argv[1:] or todo:
        todo[name]()
        print()


if __name__ == "__main__":
    main()
