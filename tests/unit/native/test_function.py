"""Native functions: shapes, batches, threads, lifetime, messages."""

from __future__ import annotations

import ctypes
import gc
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import casadi
import numpy as np
import pytest

from closedchain.native import compile_function, engine
from closedchain.native.emit import chunks, ir
from closedchain.native.function import NativeFunction

x, u, p = casadi.SX.sym("x", 3), casadi.SX.sym("u", 2, 3), casadi.SX.sym("p", 2)


def mixed() -> NativeFunction:
    return compile_function(
        "mixed",
        {"x": x, "p": p, "u": u},
        {"y": casadi.mtimes(u, x) * p[0], "Z": u * p[1] + x[0], "s": casadi.sumsqr(x)},
        slow=("p",),
    )


def mixed_reference(x_: np.ndarray, p_: np.ndarray, u_: np.ndarray) -> tuple[np.ndarray, ...]:
    return u_ @ x_ * p_[0], u_ * p_[1] + x_[0], np.array([x_ @ x_])


def many_operations(n: int = 3000) -> tuple[casadi.SX, casadi.SX]:
    """A long program in which early values are used late."""
    rng = np.random.default_rng(2)
    s = casadi.SX.sym("s", 8)
    values = casadi.vertsplit(s)
    for _ in range(n):
        a, b, c = rng.integers(len(values), size=3)
        values.append(0.3 * values[a] * values[b] - casadi.sin(values[c]))
    return s, casadi.vertcat(*values[-20:])


def test_values_and_shapes() -> None:
    rng = np.random.default_rng(0)
    x_, p_, u_ = rng.normal(size=3), rng.normal(size=2), rng.normal(size=(2, 3))
    results = mixed()(x_, p_, u_)
    for result, expected in zip(results, mixed_reference(x_, p_, u_), strict=True):
        assert result.shape == expected.shape
        np.testing.assert_allclose(result, expected, rtol=1e-14)


def test_fortran_and_strided_arrays_are_read_correctly() -> None:
    rng = np.random.default_rng(0)
    x_, p_, u_ = rng.normal(size=6)[::2], [1, 2], np.asfortranarray(rng.normal(size=(2, 3)))
    for result, expected in zip(mixed()(x_, p_, u_), mixed_reference(x_, np.array(p_), u_), strict=True):
        np.testing.assert_allclose(result, expected, rtol=1e-14)


def test_attributes() -> None:
    f = mixed()
    assert f.input_shapes == {"x": (3, 1), "u": (2, 3)}
    assert f.slow_shapes == {"p": (2, 1)}
    assert f.output_shapes == {"y": (2, 1), "Z": (2, 3), "s": (1, 1)}
    assert f.n_work == 2
    assert f.prepare([3.0, 4.0]).shape == (2,)
    assert f.timings.total > 0
    assert "mixed(x, u, p) -> y, Z, s" in repr(f)


def test_without_slow_inputs_there_is_no_prepare() -> None:
    f = compile_function("f", {"x": x}, {"y": 2 * x})
    assert (f.prepare_address, f.n_work, f.prepare_counts.total) == (None, 0, 0)


def test_call_by_address_with_the_documented_arguments() -> None:
    f = mixed()
    call = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 6)(f.address)
    x_, u_, w = np.arange(3.0), np.arange(6.0), f.prepare([2.0, 3.0])
    y, z, s = np.empty(2), np.empty(6), np.empty(1)
    call(*(array.ctypes.data for array in (x_, u_, w, y, z, s)))
    expected = mixed_reference(x_, np.array([2.0, 3.0]), u_.reshape(2, 3, order="F"))
    np.testing.assert_allclose(y, expected[0])
    np.testing.assert_allclose(z, expected[1].ravel(order="F"))


def test_sparse_output_is_dense_with_zeros() -> None:
    f = compile_function("f", {"x": x}, {"D": casadi.diag(x), "E": casadi.SX(2, 2), "c": casadi.SX(3.5)})
    d, e, c = f([1.0, 2.0, 3.0])
    np.testing.assert_array_equal(d, np.diag([1.0, 2.0, 3.0]))
    np.testing.assert_array_equal(e, np.zeros((2, 2)))
    np.testing.assert_array_equal(c, [3.5])


def test_empty_input_and_output() -> None:
    f = compile_function("f", {"x": x, "none": casadi.SX.sym("none", 0)}, {"y": x, "empty": casadi.SX(0, 1)})
    y, empty = f([1.0, 2.0, 3.0], [])
    np.testing.assert_array_equal(y, [1, 2, 3])
    assert empty.shape == (0,)


@pytest.mark.parametrize("which", ["x", "u", "both"])
def test_batch_is_a_loop(which: str) -> None:
    f, n = mixed(), 7
    rng = np.random.default_rng(1)
    x_ = rng.normal(size=(n, 3) if which != "u" else 3)
    u_ = rng.normal(size=(n, 2, 3) if which != "x" else (2, 3))
    p_ = rng.normal(size=2)
    batch = f.batch(x_, p_, u_)
    for k in range(n):
        one = f(x_[k] if which != "u" else x_, p_, u_[k] if which != "x" else u_)
        for many, single in zip(batch, one, strict=True):
            np.testing.assert_array_equal(many[k], single)


def test_batch_of_none() -> None:
    y, z, s = mixed().batch(np.empty((0, 3)), [1.0, 2.0], np.ones((2, 3)))
    assert (y.shape, z.shape, s.shape) == ((0, 2), (0, 2, 3), (0, 1))


def test_batch_of_one_scalar() -> None:
    t = casadi.SX.sym("t")
    assert compile_function("f", {"t": t}, {"y": 3 * t}).batch([2.0]).tolist() == [[6.0]]


def test_batch_of_scalars() -> None:
    t = casadi.SX.sym("t")
    f = compile_function("f", {"t": t, "x": x}, {"y": t * x})
    np.testing.assert_allclose(f.batch(np.arange(4.0), [1.0, 2.0, 3.0]), np.outer(np.arange(4.0), [1, 2, 3]))


@pytest.mark.parametrize("chunk_length", [17, 200])
@pytest.mark.parametrize("stack_limit", [ir.STACK_LIMIT, 0])
def test_many_chunks(chunk_length: int, stack_limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    s, y = many_operations()
    monkeypatch.setattr(ir, "STACK_LIMIT", stack_limit)
    monkeypatch.setattr(chunks, "suitable_length", lambda n: chunk_length)
    f = compile_function("f", {"s": s}, {"y": y})
    at = np.random.default_rng(4).uniform(-1, 1, (20, 8))
    reference = casadi.Function("f", [s], [y])
    # values stay of the order of one, a thousand roundings may add up
    np.testing.assert_allclose(f.batch(at), [np.array(reference(row)).ravel() for row in at], rtol=1e-9, atol=1e-11)


def test_what_is_evaluated_seldom_is_the_same_function() -> None:
    """Compiled with less effort: other code, the same operations and values."""
    s, y = many_operations()
    often, seldom = (compile_function("f", {"s": s}, {"y": y}, seldom=word, cache=False) for word in (False, True))
    assert seldom.counts == often.counts
    at = np.random.default_rng(3).uniform(-1, 1, 8)
    # sums are taken in another order, and products are not fused with them
    np.testing.assert_allclose(seldom(at), often(at), rtol=1e-13)


def test_threads_do_not_disturb_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    s, y = many_operations()
    monkeypatch.setattr(chunks, "suitable_length", lambda n: 100)
    f = compile_function("f", {"s": s}, {"y": y})
    at = np.random.default_rng(4).uniform(-1, 1, (200, 8))
    expected = f.batch(at)
    with ThreadPoolExecutor(8) as pool:
        for _ in range(5):
            np.testing.assert_array_equal(list(pool.map(f, at)), expected)


def test_threads_may_compile_at_the_same_time() -> None:
    def make(k: int) -> float:
        s = casadi.SX.sym("s")
        return float(compile_function(f"f{k}", {"s": s}, {"y": k * casadi.exp(s)})(0.0)[0])

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(make, range(12))) == list(range(12))


def test_code_lives_and_dies_with_its_object() -> None:
    f = compile_function("f", {"x": x}, {"y": 2 * x})
    others = [compile_function("g", {"x": x}, {"y": (k + 3) * x}) for k in range(20)]
    del others
    gc.collect()
    np.testing.assert_array_equal(f([1.0, 2.0, 3.0]), [2, 4, 6])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ([1, 2], [1, 2], np.ones((2, 3))),
            r"mixed: input 'x' has to have the shape \(3, 1\) or \(3,\), got \(2,\)",
        ),
        (
            ([1, 2, 3], [1, 2], np.ones((3, 2))),
            r"mixed: input 'u' has to have the shape \(2, 3\), got \(3, 2\)",
        ),
        (
            ([1, 2, 3], [1], np.ones((2, 3))),
            r"mixed: input 'p' has to have the shape \(2, 1\) or \(2,\), got \(1,\)",
        ),
        (([1, 2, 3], [1, 2]), r"mixed: expected 3 inputs \(x, p, u\), got 2"),
        ((["a", "b", "c"], [1, 2], np.ones((2, 3))), r"mixed: input 'x' has to hold real numbers, got <U1"),
        (([1j, 0, 0], [1, 2], np.ones((2, 3))), r"mixed: input 'x' has to hold real numbers, got complex128"),
        (([[1], [2, 3]], [1, 2], np.ones((2, 3))), r"mixed: input 'x' is not an array of numbers"),
    ],
)
def test_wrong_arguments_are_named(arguments: tuple[object, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        mixed()(*arguments)


def test_wrong_batches_are_named() -> None:
    f = mixed()
    with pytest.raises(ValueError, match="mixed: batch needs one length of the leading axes, got x: 4, u: 5"):
        f.batch(np.ones((4, 3)), [1, 2], np.ones((5, 2, 3)))
    with pytest.raises(ValueError, match="leading axes, got none"):
        f.batch(np.ones(3), [1, 2], np.ones((2, 3)))
    with pytest.raises(ValueError, match=r"input 'x' has to have the shape .* got \(4, 2\)"):
        f.batch(np.ones((4, 2)), [1, 2], np.ones((2, 3)))


def test_wrong_declarations_are_named() -> None:
    with pytest.raises(ValueError, match=r"f: slow inputs \['q'\] are not among the inputs \['x'\]"):
        compile_function("f", {"x": x}, {"y": x}, slow=("q",))
    with pytest.raises(ValueError, match="f: there are no outputs"):
        compile_function("f", {"x": x}, {})


def test_pickling_says_what_to_do() -> None:
    with pytest.raises(TypeError, match="f: machine code cannot be pickled; compile"):
        pickle.dumps(compile_function("f", {"x": x}, {"y": x}))


def test_import_is_light() -> None:
    code = "import sys, closedchain.native; print([m for m in ('casadi', 'llvmlite', 'numba') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_without_vector_instructions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "vector_width", lambda: 1)
    f = compile_function("f", {"x": x}, {"y": casadi.sin(x) + casadi.cos(x)})
    at = np.array([0.5, 1.5, -2.5])
    np.testing.assert_allclose(f(at), np.sin(at) + np.cos(at), rtol=1e-15)
