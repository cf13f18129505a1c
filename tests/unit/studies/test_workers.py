"""Workers of all kinds give the same bits; one that dies is replaced, and a point that kills it is recorded."""

import multiprocessing
import os
import signal
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest

import closedchain as cc
from closedchain.studies import compute, workers
from closedchain.studies import sweep as home

M = cc.library.pendulum()
STUDY = {"parameters": {"start.hinge": np.linspace(0.1, 1.0, 12)}, "until": 0.05, "t_eval": cc.Every(0.05)}


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch):
    monkeypatch.setattr(home, "IN_A_JOB", {"simulate": 2, "batch": 2})


class Deadly:
    """A measure that kills its process at one point: once, if a file is given, or always."""

    def __init__(self, flag=None):
        self.flag = flag

    def __call__(self, run):
        here = abs(float(run["hinge"][0]) - STUDY["parameters"]["start.hinge"][5]) < 1e-9 and os.getpid() != PARENT
        if here and not (self.flag is not None and self.flag.exists()):
            if self.flag is not None:
                self.flag.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return float(run["hinge"].max())


PARENT = os.getpid()


def march(executor, measure=None):
    return cc.sweep(M, measure={"x": measure or Deadly()}, executor=executor, **STUDY)


def numbers(found):
    return {name: np.asarray(x.values).tolist() for name, x in found.data_vars.items()}


@pytest.fixture(scope="module")
def wanted():
    with ThreadPoolExecutor(1) as executor:
        return numbers(march(executor))


def test_a_worker_that_dies_is_replaced(wanted, tmp_path):
    assert numbers(march(2, Deadly(tmp_path / "died"))) == wanted
    assert (tmp_path / "died").exists()


def test_also_in_a_pool_of_the_users(wanted, tmp_path):
    with ProcessPoolExecutor(2) as executor:
        assert numbers(march(executor, Deadly(tmp_path / "died"))) == wanted


def test_a_point_that_always_kills_its_worker_is_recorded(wanted):
    got = march(2)
    assert got["status"].values[5] == "killed"
    assert "point 5 (start.hinge = 0.509091) ended its worker process 3 times" in got["reason"].values[5]
    others = [k for k in range(12) if k != 5]
    for name, values in numbers(got).items():
        assert [values[k] for k in others] == [wanted[name][k] for k in others], name


def test_an_executor_that_cannot_be_replaced_ends_the_study():
    class Broken(Executor):
        def submit(self, function, /, *args, **kwargs):
            future = Future()
            future.set_exception(workers.BrokenExecutor("gone"))
            return future

    with pytest.raises(cc.ClosedChainError, match="a worker died, and with it this executor"):
        march(Broken())


def test_a_closed_executor_is_said():
    executor = ThreadPoolExecutor(1)
    executor.shutdown()
    with pytest.raises(cc.ClosedChainError, match="the executor takes no more work"):
        march(executor)


def test_a_dask_client_that_is_closed_is_said():
    client = SimpleNamespace(get_executor=lambda: None, status="closed")
    with pytest.raises(cc.ModelError, match="this Dask client is closed"):
        march(client)


def test_a_factory_of_executors(wanted):
    assert numbers(march(lambda: ThreadPoolExecutor(2))) == wanted


def test_a_study_that_cannot_be_sent_is_said(monkeypatch):
    class Stubborn:
        def __reduce__(self):
            raise TypeError("stays at home")

        def __call__(self, run):
            return 1.0

    with ThreadPoolExecutor(1) as executor, pytest.raises(cc.ModelError, match=r"measure 'x' cannot be sent.*at home"):
        march(executor, Stubborn())


def test_lambdas_go_to_processes_of_our_own():
    got = march(2, lambda run: float(run["hinge"][0]))
    np.testing.assert_array_equal(got["x"], STUDY["parameters"]["start.hinge"])


def test_processes_do_not_wait_for_a_study_in_another_thread_of_their_parent():
    with compute._one_at_a_time:  # as that thread has it while it computes
        assert (march(1, lambda run: 1.0)["x"] == 1.0).all()


def test_a_mechanism_is_sent_without_what_was_compiled():
    import pickle

    cc.simulate(M, until=0.01)
    sent = pickle.dumps(M)
    assert len(sent) < 10_000
    again = pickle.loads(sent)
    np.testing.assert_array_equal(cc.simulate(again, until=0.01).x, cc.simulate(M, until=0.01).x)


def test_a_study_within_a_worker_of_a_pool(monkeypatch):
    """Such a process may have no processes of its own."""
    wanted = numbers(march(None, lambda run: len(run.t)))
    monkeypatch.setitem(multiprocessing.current_process()._config, "daemon", True)
    assert numbers(march(None, lambda run: len(run.t))) == wanted
    with pytest.raises(cc.ModelError, match=r"executor=2: this process belongs to a pool .*: leave executor out"):
        march(2)
