"""The tasks of threads, one by one, and that the judge sees other bits and errors.

Threads at once are left to `benchmarks.attack`.
"""

import pytest

import closedchain as cc
from benchmarks.attack import threads


def always(monkeypatch, results):
    """Tasks that give these states, or raise them."""

    def work():
        result = next(results)
        if isinstance(result, Exception):
            raise result
        return result

    monkeypatch.setattr(threads, "TASKS", [lambda rng: (work, "some task")])


def test_the_same_bits(monkeypatch, rng):
    always(monkeypatch, iter([b"1"] * 100))

    assert threads.attack(rng).label.endswith("threads")


def test_other_bits_and_errors_are_findings(monkeypatch, rng):
    always(monkeypatch, iter([b"1", *[b"2"] * 100]))
    assert threads.attack(rng).label == "other bits"

    always(monkeypatch, iter([RuntimeError("SXFunction::init"), *[b"2"] * 100]))
    assert threads.attack(rng).label == "raised RuntimeError"


def test_a_refusal_that_is_the_same_alone_is_none(monkeypatch, rng):
    always(monkeypatch, iter([cc.ModelError("no")] * 100))

    assert threads.attack(rng).label.endswith("threads")


@pytest.mark.parametrize("task", dict.fromkeys(threads.TASKS))
def test_tasks_run(task, rng):
    work, python = task(rng)

    assert python and work() == work()
