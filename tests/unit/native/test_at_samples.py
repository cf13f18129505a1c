"""A CasADi function at samples, some of them at a time: the same numbers, in bounded memory."""

import tracemalloc

import casadi as ca
import numpy as np
import pytest

from closedchain.native import at_samples as module
from closedchain.native.at_samples import IN_A_CALL, at_samples, samples_in_a_call


@pytest.fixture
def f():
    t, x, p = ca.SX.sym("t"), ca.SX.sym("x", 3), ca.SX.sym("p", 2)
    outputs = [ca.densify(t * p[0] * x), ca.densify(x @ x.T + p[1]), ca.SX(0, 1)]
    return ca.Function("f", [t, x, p, ca.SX(0, 1)], outputs)


def inputs(n, rng, rows=False):
    p = rng.normal(size=(n, 2) if rows else 2)
    return [rng.normal(size=(n, 1)), rng.normal(size=(n, 3)), p, np.zeros(0)]


@pytest.mark.parametrize("rows", [False, True], ids=["one p", "a p for each"])
@pytest.mark.parametrize("n", [0, 1, 2, 7])
def test_numbers_are_those_of_each_sample(f, rng, n, rows):
    given = inputs(n, rng, rows)
    got = at_samples(f, n, given)
    assert [x.shape for x in got] == [(n, 3, 1), (n, 3, 3), (n, 0, 1)]
    for k in range(n):
        one = f(*(x if x.ndim == 1 else x[k] for x in given))
        for a, b in zip(got, one, strict=True):
            assert np.array_equal(a[k], np.array(b).reshape(a[k].shape))


def test_pieces_give_the_same_bits(f, rng, monkeypatch):
    given = inputs(50, rng)
    whole = at_samples(f, 50, given)
    for most in (1, 40, 10**6):
        monkeypatch.setattr(module, "IN_A_CALL", most)
        for a, b in zip(at_samples(f, 50, given), whole, strict=True):
            assert np.array_equal(a, b)


def test_no_call_takes_more_than_it_may(f):
    most = samples_in_a_call(f)
    assert 1 <= most * (f.nnz_in() + f.nnz_out()) <= IN_A_CALL


def test_memory_is_the_result_and_little_more(f, rng):
    """What Python and NumPy allocate; CasADi's own matrices are those of one call."""
    n = 8 * samples_in_a_call(f)
    given = inputs(n, rng)
    tracemalloc.start()
    try:
        got = at_samples(f, n, given)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    result = sum(x.nbytes for x in got)
    assert peak - result < 4 * 8 * IN_A_CALL
