"""Threads begin on processors of their own, and may be moved later; linear algebra takes none of them."""

import os
import threading

import pytest
import scipy.linalg  # noqa: F401  so that its library is there to be looked at
from threadpoolctl import threadpool_info, threadpool_limits

import closedchain as cc
from closedchain.parallel import processors
from closedchain.parallel.processors import start_apart


def crew_that_waits(n, done):
    return [threading.Thread(target=done.wait, args=(30.0,), daemon=True) for _ in range(n)]


@pytest.fixture
def placed(monkeypatch):
    """Where threads were told to run, in the order of telling; there are two processors."""
    told = []
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {4, 7}, raising=False)
    monkeypatch.setattr(os, "sched_setaffinity", lambda who, where: told.append((who, list(where))), raising=False)
    monkeypatch.setattr(processors.sys, "platform", "linux")
    return told


def test_each_is_held_for_a_moment_and_then_let_go(placed):
    done = threading.Event()
    crew = crew_that_waits(2, done)
    start_apart(crew)
    first, second = (thread.native_id for thread in crew)
    done.set()
    assert placed == [(first, [4]), (second, [7]), (first, [4, 7]), (second, [4, 7])]


@pytest.mark.parametrize("members", [1, 3])
def test_one_alone_and_more_than_processors_are_left_where_they_are(placed, members):
    done = threading.Event()
    start_apart(crew_that_waits(members, done))
    done.set()
    assert placed == []


def test_a_system_that_does_not_let_one_choose(placed, monkeypatch):
    def refuse(who, where):
        raise PermissionError

    monkeypatch.setattr(os, "sched_setaffinity", refuse)
    done = threading.Event()
    crew = crew_that_waits(2, done)
    start_apart(crew)
    assert all(thread.is_alive() for thread in crew)
    done.set()


def test_the_real_system_has_all_processors_again():
    done = threading.Event()
    crew = crew_that_waits(2, done)
    start_apart(crew)
    if hasattr(os, "sched_getaffinity"):
        assert all(os.sched_getaffinity(thread.native_id) == os.sched_getaffinity(0) for thread in crew)
    done.set()


def threads_of_linear_algebra():
    return {found["num_threads"] for found in threadpool_info() if found["user_api"] == "blas"}


def test_linear_algebra_has_no_threads_while_a_team_is_at_work():
    """Seen by a controller on the way, and as it was when the run is over."""
    seen = []
    m = cc.library.four_bar()
    m.motor("O", torque=cc.Sampled(lambda t, state: seen.append(threads_of_linear_algebra()) or 0.0, 0.01))
    with threadpool_limits(2, user_api="blas"):
        cc.simulate(m, until=0.05, partition=cc.Threads(2))
        assert seen and set.union(*seen) == {1}
        assert threads_of_linear_algebra() == {2}
