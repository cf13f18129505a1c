"""Ranks that come to a run, and ranks that do not."""

import pytest

from closedchain.parallel import arrival
from closedchain.parallel.arrival import await_all


class Request:
    def __init__(self, looks):
        self.looks = looks  # how often one has to look

    def test(self):
        self.looks -= 1
        return self.looks < 0, None

    def Test(self):
        return self.test()[0]

    def wait(self):
        pass


class Ended(Exception):
    pass


class Job:
    """Ranks of which some come after so many looks."""

    def __init__(self, rank, looks):
        self.rank, self.size, self.looks, self.handle = rank, len(looks), looks, id(self)

    def Idup(self):
        return self, Request(max(self.looks))

    def isend(self, what, dest, tag):
        return Request(0)

    def irecv(self, source, tag):
        return Request(self.looks[source])

    def Abort(self, code):
        raise Ended


class Clock:
    """Time that passes only while a rank sleeps: the machine may be busy."""

    def __init__(self):
        self.passed = 0.0

    def monotonic(self):
        return self.passed

    def sleep(self, seconds):
        self.passed += seconds


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    monkeypatch.setattr(arrival, "time", Clock())


@pytest.fixture
def met(monkeypatch):
    """A job whose ranks have met before."""

    def job(rank, looks):
        made = Job(rank, looks)
        monkeypatch.setitem(arrival._OWN, made.handle, made)
        return made

    return job


def test_ranks_that_come_late_are_waited_for(capsys, met):
    await_all(met(0, [0, 3, 30]), patience=10.0)
    assert capsys.readouterr().err == ""


def test_a_rank_that_does_not_come_is_named_and_ends_the_job(capsys, met):
    with pytest.raises(Ended):
        await_all(met(0, [0, 0, 10**9]), patience=0.01)
    first, last = capsys.readouterr().err.splitlines()
    assert first == (
        "closedchain: others have waited for rank 2 for 0.01 s, which did not begin this run: every rank has to make "
        "the same call"
    )
    assert "for rank 2 for 0.1 s" in last and "All ranks have been ended" in last


def test_the_first_rank_that_is_there_speaks(capsys, met):
    await_all(met(1, [40, 0, 0]), patience=0.01)  # rank 0 is missing: rank 1 is the first
    assert "for rank 0 for 0.01 s" in capsys.readouterr().err
    await_all(met(1, [0, 0, 40]), patience=0.01)
    assert capsys.readouterr().err == ""


def test_at_the_first_meeting_nobody_knows_who_is_missing(capsys, monkeypatch):
    monkeypatch.setattr(arrival, "_OWN", {})
    await_all(Job(0, [0, 3, 30]), patience=10.0)
    assert capsys.readouterr().err == "" and len(arrival._OWN) == 1
    with pytest.raises(Ended):
        await_all(Job(1, [0, 0, 10**9]), patience=0.01)
    first, last = capsys.readouterr().err.splitlines()
    assert "rank 1 has waited 0.01 s for others to begin this run: every rank has to make the same call" in first
    assert "not all ranks began this run in 0.1 s. All ranks have been ended" in last
    await_all(Job(2, [0, 40, 0]), patience=0.01)  # others have said it
    assert capsys.readouterr().err == ""
