"""Threads: one traces and compiles at a time, and what they compute is what one of them would."""

import asyncio
import contextlib
import functools
import importlib
import os
import pkgutil
import signal
import sys
import threading
import types
from concurrent.futures import ThreadPoolExecutor

import casadi
import numpy as np
import pytest

import closedchain as cc
from closedchain import lock, results
from closedchain.close.methods import METHODS
from closedchain.derive.equations import derive
from closedchain.lock import LOCK, PATIENCE, locked, once, patient
from closedchain.march.batch import ways
from closedchain.march.program.compiled import compiled
from closedchain.march.program.index3 import step_equations
from closedchain.march.program.kinematics import kinematics
from closedchain.pose.closing import Closing
from closedchain.pose.state import parameter_vector
from tests.solvers import usual

WALKS = "substitute cse jacobian jtimes gradient hessian symvar depends_on integrator".split()


class Wrong(AssertionError):
    """Not caught by anything that catches errors of CasADi."""


# ---- the lock itself -------------------------------------------------------------------------------------------------


def test_a_locked_function_may_call_another():
    @locked
    def outer(n):
        assert LOCK.owned()
        return n if n == 0 else 1 + outer(n - 1)

    assert outer(3) == 3
    assert not LOCK.owned()


def test_the_lock_is_released_after_an_error():
    @locked
    def fail():
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        fail()
    assert not LOCK.owned()


def test_once_is_computed_once_whoever_asks():
    class Thing:
        computed = 0

        @once
        def value(self):
            """The value."""
            Thing.computed += 1
            return object()

    assert Thing.value.__doc__ == "The value."
    thing, meet = Thing(), threading.Barrier(8)

    def ask(_):
        meet.wait()
        return thing.value

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(ask, range(8)))) == 1
    assert Thing.computed == 1


def test_computing_two_values_does_not_lock_two_threads_up():
    """One thread asks for a value that takes the lock, the other has the lock and asks for the same kind of value."""

    class Thing:
        @once
        def value(self):
            inside.set()
            return locked(lambda: 1)()

    inside = threading.Event()
    with LOCK:
        other = threading.Thread(target=lambda: Thing().value, daemon=True)
        other.start()
        assert not inside.wait(0.05)  # it waits before it begins
        assert Thing().value == 1
    other.join(60)
    assert not other.is_alive()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_has_the_lock_free():
    """Another thread is inside when the process forks: the fork waits for it."""
    inside, leave = threading.Event(), threading.Event()

    def hold():
        with LOCK:
            inside.set()
            leave.wait(60)

    holder = threading.Thread(target=hold)
    holder.start()
    inside.wait(60)
    threading.Timer(0.05, leave.set).start()
    child = os.fork()
    if child == 0:
        os._exit(0 if LOCK.acquire(timeout=10) else 1)
    holder.join(60)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


# ---- Ctrl-C ----------------------------------------------------------------------------------------------------------


class Interrupting:
    """What CasADi is given while somebody presses Ctrl-C: exceptions of Python are swallowed there."""

    @property
    def shape(self):
        os.kill(os.getpid(), signal.SIGINT)
        return (1, 1)


def given_to_casadi(went_on):
    with contextlib.suppress(NotImplementedError):
        casadi.SX(Interrupting())
    went_on.append(True)


@pytest.mark.parametrize("how", [locked, patient], ids=lambda x: x.__name__)
def test_ctrl_c_in_the_middle_of_casadi_is_not_lost(how):
    went_on, after = [], []

    def outer():
        how(given_to_casadi)(went_on)
        after.append(True)

    with pytest.raises(KeyboardInterrupt):
        how(outer)()
    assert went_on and not after  # where the inner one ended
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler and not LOCK.owned()


def test_the_second_ctrl_c_does_not_wait():
    def twice():
        os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
        raise ValueError("what went wrong meanwhile")

    with pytest.raises(KeyboardInterrupt):
        locked(twice)()


def test_a_handler_of_somebody_else_is_left_alone():
    met = []
    before = signal.signal(signal.SIGINT, lambda number, frame: met.append(number))
    try:
        locked(given_to_casadi)([])
    finally:
        signal.signal(signal.SIGINT, before)
    assert met and not LOCK.owned()


def test_another_thread_leaves_signals_alone():
    with ThreadPoolExecutor(1) as pool:
        handler = pool.submit(locked(lambda: signal.getsignal(signal.SIGINT))).result()
    assert handler is signal.default_int_handler


@pytest.fixture
def handlers(monkeypatch):
    """Handlers in the order in which they are set; what is called after each of them may be changed."""
    told = types.SimpleNamespace(handlers=[], after=lambda: None)

    def change(number, handler):
        before = signal.signal(number, handler)
        told.handlers.append(handler)
        told.after()
        return before

    monkeypatch.setattr(lock, "_signal", types.SimpleNamespace(signal=change, getsignal=signal.getsignal))
    return told


def test_ctrl_c_at_the_begin_of_a_block_is_not_lost(handlers):
    """It comes as soon as the handler is there, before the block has begun."""

    def press():
        handlers.after = lambda: None
        os.kill(os.getpid(), signal.SIGINT)

    handlers.after = press
    with pytest.raises(KeyboardInterrupt):
        patient(lambda: 1.0)()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_waits_again_after_a_second_one_cut_the_end_of_a_block(monkeypatch):
    """The handler is left where the second one came before it was taken back."""
    monkeypatch.setattr(PATIENCE, "_noted", True)
    before = signal.signal(signal.SIGINT, PATIENCE._note)
    try:
        went_on = []
        with pytest.raises(KeyboardInterrupt):
            patient(given_to_casadi)(went_on)
        assert went_on and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_process_forked_by_another_thread_has_no_block():
    def fork():
        child = os.fork()
        if child == 0:
            usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
            with PATIENCE:
                begun = signal.getsignal(signal.SIGINT) == PATIENCE._note
            os._exit(0 if usual and begun else 1)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    with ThreadPoolExecutor(1) as pool, PATIENCE:
        assert pool.submit(fork).result(60) == 0


def test_a_search_sets_the_handler_once(handlers):
    m = cc.library.four_bar()
    closing = Closing(derive(m), parameter_vector(m), held={"O": 1.0})
    evaluations = []
    residual = closing._closure
    closing._closure = lambda *args: evaluations.append(args) or residual(*args)
    handlers.handlers.clear()
    closing.search(closing.q0 + 0.1)
    assert len(evaluations) > 2 and len(handlers.handlers) == 2  # there and back


def test_only_the_outputs_that_are_asked_for_become_arrays():
    found = patient(lambda: ([1.0], [2.0], Interrupting()), 2)()  # a third one would be Ctrl-C
    assert [x.tolist() for x in found] == [[1.0], [2.0]]


# ---- all of CasADi that is not safe is behind it ---------------------------------------------------------------------


@pytest.fixture
def watched(monkeypatch):
    """CasADi and lazy attributes, which say so when they are used with or without the lock, as they must not be."""
    met = set()

    def watch(owner, name):
        real = getattr(owner, name)

        @functools.wraps(real)
        def asked(*args, **kwargs):
            met.add(name)
            ours = sys._getframe(1).f_globals.get("__name__", "").startswith("closedchain")
            if ours and not LOCK.owned():
                raise Wrong(f"casadi's {name} is used without the lock")
            return real(*args, **kwargs)

        monkeypatch.setattr(owner, name, asked)

    for name in WALKS:
        watch(casadi, name)
    watch(casadi.Function, "__init__")
    watch(casadi.Function, "map")

    class Watched(functools.cached_property):
        def __get__(self, instance, owner=None):
            if instance is not None and self.attrname not in vars(instance) and LOCK.owned():
                raise Wrong(f"{type(instance).__name__}.{self.attrname} may wait for another thread: make it `once`")
            return super().__get__(instance, owner)

    for part in pkgutil.walk_packages(results.__path__, "closedchain.results."):
        for kind in vars(importlib.import_module(part.name)).values():
            for name, value in list(vars(kind).items()) if isinstance(kind, type) else ():
                if type(value) is functools.cached_property:
                    lazy = Watched(value.func)
                    lazy.__set_name__(kind, name)
                    monkeypatch.setattr(kind, name, lazy)
    return met


def look(run):
    """Ask a run for all kinds of results."""
    run.dataset, run.metadata, run.complaints()
    run.reaction("B")
    run.frame("coupler.tip")
    run.state()


@pytest.mark.parametrize("name", METHODS)
def test_simulating_walks_through_graphs_under_the_lock(watched, name):
    look(cc.simulate(cc.library.four_bar(), until=0.02, method=METHODS[name], solver=usual(METHODS[name])))
    assert {"__init__", "map", "substitute"} <= watched


@pytest.mark.parametrize("solver", ["radau5", "idas", "cvodes"])
def test_solvers_walk_through_graphs_under_the_lock(watched, solver):
    cc.simulate(cc.library.four_bar(), until=0.02, solver=solver)


def test_functions_of_a_program_are_made_under_the_lock(monkeypatch):
    met = []

    def watch(owner, name):
        real = getattr(owner, name)

        def asked(*args, **kwargs):
            met.append(LOCK.owned())
            return real(*args, **kwargs)

        monkeypatch.setattr(owner, name, asked)

    start = cc.library.four_bar().assemble()
    program, index3 = compiled(start, cc.Multipliers()), compiled(start, cc.Index3())
    watch(casadi, "vertcat")
    watch(casadi, "densify")
    monkeypatch.setattr(importlib.import_module("closedchain.march.program.index3"), "WithNumbers", lambda *args: None)
    watch(importlib.import_module("closedchain.march.program.index3"), "WithNumbers")
    monkeypatch.setattr(ways, "compile_lanes", lambda *args, **kwargs: None)
    for make in (kinematics, lambda p: ways.in_lanes(p, 4, "kinematics"), lambda _: step_equations(index3)):
        met.clear()
        make(program)
        assert met and all(met)


def test_other_verbs_walk_through_graphs_under_the_lock(watched):
    m = cc.library.four_bar()
    m.assemblies(O=1.0)
    m.mobility()
    m.linearise(m.equilibrium(), outputs=["coupler.tip"])
    need = cc.inverse_dynamics(m, {"O": lambda t: 0.5 + 0.2 * cc.math.sin(4 * t)}, until=0.2)
    need.reaction("B"), need.dataset, need.motion.dataset, need.motion.frame("coupler.tip")
    cc.simulate(m, until=0.05, events=[cc.Event("half", cc.t - 0.02)])
    cc.compare(m, until=0.02, methods=[cc.Multipliers(), cc.Projection()])
    cc.sweep(m, {"crank.mass": [1.0, 2.0]}, until=0.02, executor=1)
    p = cc.library.pendulum()
    p.motor("hinge", torque=cc.Sampled(lambda t, now: -now.place("arm.tip")[0], period=0.01))
    cc.simulate(p, until=0.03)


def test_flexible_links_walk_through_graphs_under_the_lock(watched):
    m = cc.library.four_bar(flexible=True)
    run = cc.simulate(m, until=0.005)
    look(run)
    run.beam("coupler").dataset, run.tip_deflection("coupler.tip")
    run = cc.simulate(m, until=0.002, method=cc.ERLS(elements=1))
    look(run)
    assert run.beam("coupler").dataset


# ---- the same bits ---------------------------------------------------------------------------------------------------


def several(method):
    """A fresh mechanism, drawn, put together, simulated and looked at."""
    m = cc.library.five_bar()
    run = cc.simulate(m, until=0.1, method=method)
    reaction = run.reaction(next(iter(m.joints)))
    look = [run.x, run.dataset["energy_error"].values, reaction["force"].values]
    return [*look, m.assemble().q, np.array(list(run.state().coordinates.values()))]


def test_fresh_mechanisms_in_many_threads():
    methods = [cc.Multipliers(), cc.Projection(), cc.OperationalSpace(), cc.VirtualSpring(1e5)]
    alone = [several(method) for method in methods]
    meet = threading.Barrier(6)

    def work(k):
        meet.wait()
        return [several(methods[(k + i) % len(methods)]) for i in range(2)]

    with ThreadPoolExecutor(6) as pool:
        for k, found in enumerate(pool.map(work, range(6))):
            for i, result in enumerate(found):
                for a, b in zip(result, alone[(k + i) % len(methods)], strict=True):
                    assert np.array_equal(a, b)


def test_one_fresh_mechanism_in_many_threads():
    """All derive the same equations; nothing is derived twice, and the verbs do not disturb each other."""

    def verbs(m):
        path = {"O": lambda t: 0.5 + 0.2 * cc.math.sin(4 * t)}
        yield "x", lambda: cc.simulate(m, until=0.1).x
        yield "O", lambda: cc.simulate(m, until=0.1, method=cc.Projection())["O"].values
        yield "reaction", lambda: cc.simulate(m, until=0.1).reaction("B")["force"].values
        yield "q", lambda: m.assemble(O=1.0, guess={"A": -1.0, "C": 1.0}).q
        yield "tau", lambda: cc.inverse_dynamics(m, path, until=0.2).tau
        errors = cc.compare(m, until=0.05, methods=[cc.Multipliers(), cc.DeNOC()])
        yield "compare", lambda: errors.dataset["error"].values

    alone = {name: verb() for name, verb in verbs(cc.library.four_bar())}
    for _ in range(3):
        m = cc.library.four_bar()
        tasks = list(verbs(m)) * 2
        m.revision += 1  # as after a change of the drawing: everything is derived anew
        meet = threading.Barrier(len(tasks))

        def work(task, meet=meet):
            meet.wait()
            return task[0], task[1]()

        with ThreadPoolExecutor(len(tasks)) as pool:
            for name, found in pool.map(work, tasks):
                assert np.array_equal(found, alone[name]), name


def test_native_and_interpreted_functions_may_be_called_by_many_threads():
    """CasADi hands out memory for each call; ours need none."""
    start = cc.library.gough_stewart().assemble()
    program = compiled(start, cc.Multipliers())
    p = np.array([*start.mechanism.parameters.values()])
    x = program.pack(start.q, start.v) + 1e-3 * np.random.default_rng(1).normal(size=(50, program.closed.x.numel()))
    t = np.zeros(len(x))

    def work(_):
        values = program.evaluate("look", lambda: {"a": program.closed.a}, t, x, p)["a"]
        return values, np.array([program.rhs(0.0, row, p) for row in x])

    interpreted, native = work(0)
    with ThreadPoolExecutor(8) as pool:
        for found in pool.map(work, range(32)):
            assert np.array_equal(found[0], interpreted) and np.array_equal(found[1], native)


def drawn_and_run(how):
    """A fresh mechanism under a method, as finite elements, or in a study."""
    m = cc.library.four_bar()
    if how == "sweep":
        return cc.sweep(m, {"O.motor": [5.0, 6.0]}, until=0.02)["O"].values
    if how == "ERLS":
        m.bodies["coupler"].flexible(E=2e11, section=cc.Section(A=1e-4, Iz=1e-9), shapes=cc.shapes.pinned_pinned(y=1))
        return cc.simulate(m, until=1e-3, method=cc.ERLS())["O"].values
    return cc.simulate(m, until=0.02, method=METHODS[how], solver=usual(METHODS[how])).x


def test_the_other_methods_at_once_in_the_executor_of_an_event_loop():
    tested_above = ("multipliers", "projection", "operational-space", "virtual-spring")
    hows = [*(name for name in METHODS if name not in tested_above), "ERLS", "sweep"]
    alone = [drawn_and_run(how) for how in hows]

    async def together():
        loop = asyncio.get_running_loop()
        with ThreadPoolExecutor(6) as pool:
            return await asyncio.gather(*(loop.run_in_executor(pool, drawn_and_run, how) for how in hows[::-1]))

    for how, a, b in zip(hows, alone, asyncio.run(together())[::-1], strict=True):
        assert np.array_equal(a, b), how
