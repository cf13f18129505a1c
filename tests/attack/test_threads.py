"""Threads that run one after the other's mechanism, and that the judge sees other bits and errors.

Fresh mechanisms in threads at once are left to `benchmarks.attack` until equations are derived under a lock.
"""

import numpy as np

import closedchain as cc
from benchmarks.attack import threads


def always(monkeypatch, results):
    """Tasks that give these states, or raise them."""

    class Result:
        def __init__(self, x):
            self.x = np.array([x])

    def work():
        result = next(results)
        if isinstance(result, Exception):
            raise result
        return Result(result)

    monkeypatch.setattr(threads, "task", lambda rng: (work, "some task"))


def test_the_same_bits(monkeypatch, rng):
    always(monkeypatch, iter([1.0] * 100))

    assert threads.attack(rng).label.endswith("threads")


def test_other_bits_and_errors_are_findings(monkeypatch, rng):
    always(monkeypatch, iter([1.0, *[2.0] * 100]))
    assert threads.attack(rng).label == "other bits"

    always(monkeypatch, iter([RuntimeError("SXFunction::init"), *[2.0] * 100]))
    assert threads.attack(rng).label == "raised RuntimeError"


def test_a_refusal_that_is_the_same_alone_is_none(monkeypatch, rng):
    always(monkeypatch, iter([cc.ModelError("no")] * 100))

    assert threads.attack(rng).label.endswith("threads")


def test_tasks_run(rng):
    for _ in range(2):
        work, python = threads.task(rng)
        assert work().complete and python
