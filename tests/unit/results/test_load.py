"""Many samples, many runs and many mechanisms in one process: nothing stays that nobody asks for."""

import gc
import tracemalloc
import weakref

import numpy as np
import pytest

import closedchain as cc
from closedchain.derive.equations import derive
from closedchain.march.program.compiled import Compiled
from closedchain.native import engine
from closedchain.results.reactions import reactions as module


def drawn(k):
    """A mechanism that no other one equals."""
    m = cc.Mechanism(f"arm {k}", gravity=(0, -9.81, 0))
    arm = m.body("arm", cc.rod(length=1.0, mass=1.0))
    m.revolute("hinge", m.ground, arm)
    m.motor("hinge", torque=cc.math.sin(cc.t * (k + 1.0)))
    return m


def test_a_mechanism_is_freed_with_its_equations_and_machine_code():
    m = drawn(0)
    run = cc.simulate(m, until=0.01)
    run.reaction("hinge"), run.frame("arm"), m.linearise(m.equilibrium()), m.mobility()
    program = run.program
    left = [weakref.ref(x) for x in (m, run, program, program.equations, program.rhs.function.native._machine)]
    del m, run, program
    gc.collect()
    assert [x() for x in left] == [None] * len(left)


def test_linkers_are_renewed_and_freed(monkeypatch):
    """LLVM keeps something of each library in its linker."""
    monkeypatch.setattr(engine, "LIBRARIES", 3)
    monkeypatch.setattr(engine, "_LINKERS", [])
    linkers = []
    for k in range(8):
        cc.simulate(drawn(k), until=0.01)
        [linker] = engine._LINKERS
        assert linker.linked <= 3
        linkers += [] if any(x() is linker for x in linkers) else [weakref.ref(linker)]
        del linker
    gc.collect()
    assert len(linkers) >= 3
    assert [x() is not None for x in linkers] == [False] * (len(linkers) - 1) + [True]


def test_code_outlives_a_linker_that_is_full(monkeypatch):
    monkeypatch.setattr(engine, "LIBRARIES", 1)
    monkeypatch.setattr(engine, "_LINKERS", [])
    runs = [cc.simulate(drawn(k), until=0.05) for k in range(3)]
    again = [cc.simulate(run.mechanism, until=0.05) for run in runs]
    assert all(np.array_equal(a.x, b.x) for a, b in zip(runs, again, strict=True))


def test_runs_leave_nothing_in_their_mechanism():
    m = drawn(0)

    def simulate():
        run = cc.simulate(m, until=0.01, events=[cc.Event("then", cc.t - 0.005)])
        run.dataset, run.reaction("hinge"), run.complaints()

    def kept():
        cached = [*m._cache, *derive(m)._cache]
        programs = [x for x in cached if isinstance(x, Compiled)]
        return len(cached), [(len(x.shared), len(x.functions)) for x in programs]

    simulate()
    before = kept()
    assert before[0] > 5 and len(before[1]) == 1
    for _ in range(5):
        simulate()
    assert kept() == before


@pytest.fixture
def run():
    return cc.simulate(cc.library.four_bar(), until=0.5, t_eval=np.linspace(0, 0.5, 301))


def test_batches_of_reactions_are_those_of_all_samples(run, monkeypatch):
    options = {"axes": "coupler", "about": "ground"}
    one, table = run.reaction("B", **options), run.reactions(**options)
    monkeypatch.setattr(module, "KEPT", 100)
    monkeypatch.setattr(module, "BATCH", 64)
    run._reactions.clear()
    assert run.reaction("B", **options).identical(one)
    assert run.reactions(**options).identical(table)
    assert not run._reactions  # of many samples nothing is kept
    with pytest.raises(cc.ModelError, match="has no joint 'X'"):
        run.reaction("X")


def test_batches_under_springs_and_controllers(monkeypatch):
    m = cc.library.four_bar(torque=0.0)
    m.motor("O", torque=cc.Sampled(lambda t, now: 1.0 + t, period=0.01), name="turn")
    run = cc.simulate(m, until=0.1, method=cc.VirtualSpring(1e5), t_eval=np.linspace(0, 0.1, 150))
    whole = run.reaction("B")
    monkeypatch.setattr(module, "KEPT", 100)
    monkeypatch.setattr(module, "BATCH", 64)
    run._reactions.clear()
    assert run.reaction("B").identical(whole)


def test_memory_of_reactions_does_not_follow_the_samples(run, monkeypatch):
    """Twice as many samples take the memory of the result more, and no more working memory."""
    monkeypatch.setattr(module, "KEPT", 0)
    monkeypatch.setattr(module, "BATCH", 50)
    extra = []
    for every in (2, 1):
        part = run.window(every=every)
        samples = part._samples()
        monkeypatch.setattr(part, "_samples", lambda samples=samples: samples)
        part.reaction("B")
        tracemalloc.start()
        try:
            found = part.reaction("B")
            extra.append(tracemalloc.get_traced_memory()[1] - 8 * found["force"].size * 2)
        finally:
            tracemalloc.stop()
    assert extra[1] < 1.5 * extra[0]
