"""Functions that compute something else have another fingerprint; the same ones keep theirs."""

import functools

import numpy as np
import pytest

import closedchain as cc
from closedchain.march.controllers.fingerprint import fingerprint


class Scaled:
    """Is called, and has a number."""

    def __init__(self, factor):
        self.factor = factor

    def __call__(self, run):
        return self.factor * run

    def method(self, run):
        return self.factor - run


class Hides(Scaled):
    """Has its number where others do not look, and uses another function."""

    def __init__(self, factor):
        self._factor, self._random = factor, np.random.default_rng(factor)

    def __call__(self, run):
        return self._factor * run


GAIN, GAINS = 2, {"k": 2}


def helper(run):
    return GAINS["k"] * run


def by_name(run):
    return GAIN * helper(run)


def times(factor, run):
    return factor * run


def capturing(factor):
    return lambda run: factor * run


PAIRS = {  # made twice with each number
    "a number in it": lambda k: eval(f"lambda run: {k} * run"),
    "a function within": lambda k: eval(f"lambda run: sum(x * {k} for x in run)"),
    "a default": lambda k: lambda run, factor=k: factor * run,
    "a default by name": lambda k: lambda run, *, factor=k: factor * run,
    "captured": capturing,
    "a captured array": lambda k: capturing(np.full(2000, float(k))),
    "partial": lambda k: functools.partial(times, k),
    "partial by name": lambda k: functools.partial(times, factor=k),
    "an object": Scaled,
    "a method": lambda k: Scaled(k).method,
}


@pytest.mark.parametrize("name", PAIRS)
def test_what_computes_something_else(name):
    make = PAIRS[name]
    assert fingerprint(make(2)) == fingerprint(make(2)) != fingerprint(make(3))


def test_what_is_remembered_does_not_count_where_it_may_change():
    for name in ("captured", "a captured array", "an object", "a method"):
        assert fingerprint(PAIRS[name](2), values=False) == fingerprint(PAIRS[name](3), values=False), name
    assert fingerprint(PAIRS["a function within"](2), values=False) != fingerprint(
        PAIRS["a function within"](3), values=False
    )


def test_what_contains_itself_has_an_end():
    def again(run):
        return again(run)

    assert len(fingerprint(again)) == 8


def test_a_mechanism_that_was_captured_may_be_used_meanwhile():
    m = cc.library.pendulum()
    before = fingerprint(capturing(m)), fingerprint(m.assemble)
    cc.simulate(m, until=0.01)
    assert before == (fingerprint(capturing(m)), fingerprint(m.assemble))


def test_values_of_the_module_count(monkeypatch):
    def digits():
        return fingerprint(by_name), fingerprint(by_name, values=False)

    first = digits()
    monkeypatch.setitem(GAINS, "k", 3)
    second = digits()
    monkeypatch.setitem(globals(), "GAIN", 3)
    third = digits()
    assert len({first[0], second[0], third[0]}) == 3 and first[1] == second[1] == third[1]


def test_what_an_object_keeps_to_itself_counts_if_asked():
    assert fingerprint(Hides(2)) == fingerprint(Hides(3))
    assert fingerprint(Hides(2), private=True) == fingerprint(Hides(2), private=True)
    assert fingerprint(Hides(2), private=True) != fingerprint(Hides(3), private=True)


def test_values_of_the_class_count(monkeypatch):
    before = fingerprint(Scaled(2)), fingerprint(Scaled(2).method)
    monkeypatch.setattr(Scaled, "gain", 3.0, raising=False)
    assert fingerprint(Scaled(2)) != before[0] and fingerprint(Scaled(2).method) != before[1]
