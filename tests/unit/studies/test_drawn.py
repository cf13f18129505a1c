"""Whatever a controller remembers, and wherever: after a point it is as before."""

import itertools
import random
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import closedchain as cc
from closedchain.model.forces.sampled import Controller
from closedchain.studies.drawn import as_drawn

COUNT = 0
NUMBERS = [0]
FACTOR = {"k": 1}


class Counts:
    """Remembers in attributes, in its class, and in what its attributes hold."""

    calls = 0

    def __init__(self):
        self.n, self._list, self.array, self.inside = 0, [{"n": 0}], np.zeros(2), {"set": {0}}
        self.alias = self._list

    def __call__(self, t=0.0, now=None):
        self.n += 1
        Counts.calls += 1
        self._list[0]["n"] += 1
        self.array += 1
        self.inside["set"].add(self.n)
        self.late = 1
        return self.tell()

    def tell(self):
        return self.n + Counts.calls + self.alias[0]["n"] + self.array.sum() + len(self.inside["set"])


class Holds:
    def __init__(self, thing, law=lambda thing: next(thing)):
        self.thing, self.law = thing, law

    def __call__(self, t=0.0, now=None):
        return self.law(self.thing)


class Resets(Holds):
    def reset(self):
        self.thing = itertools.count()


def of_module(t=0.0, now=None):
    global COUNT
    COUNT += 1
    NUMBERS[0] += 1
    return COUNT + NUMBERS[0]


def captured():
    n = 0

    def count(t=0.0, now=None):
        nonlocal n
        n += 1
        return n

    return count


REMEMBER = {
    "an object": Counts,
    "a method": lambda: Counts().__call__,
    "a module": lambda: of_module,
    "a captured number": captured,
    "a generator of NumPy": lambda: Holds(np.random.default_rng(1), lambda x: x.normal()),
    "a generator of Python": lambda: Holds(random.Random(1), lambda x: x.random()),
}


def controller(function):
    return Controller(function, 0.01, 1, (0.0,))


@pytest.mark.parametrize("name", REMEMBER)
def test_memories_are_restored(name):
    function = REMEMBER[name]()
    seen = []
    for _ in range(3):
        with as_drawn([controller(function)]):
            seen.append((function(), function()))
    assert seen[0] == seen[1] == seen[2] and seen[0][0] != seen[0][1]


def test_shared_things_stay_shared():
    counts = Counts()
    known = counts._list, counts.array
    with as_drawn([controller(counts)]):
        counts()
    assert counts._list is known[0] is counts.alias and counts.array is known[1]
    assert known[0] == [{"n": 0}] and not hasattr(counts, "late")


def test_what_cannot_be_restored_is_refused_by_name():
    function = Holds(iter([1, 2, 3]))
    with as_drawn([controller(function)]):  # it was not changed
        pass
    told = r"'Holds' has a memory that cannot be restored \(memory.thing is of type list_iterator, .*: .* reset\(\)"
    with pytest.raises(cc.ModelError, match=told), as_drawn([controller(function)]):
        function()
    with pytest.raises(cc.ModelError, match=r"'Holds' .*memory.thing is of type lock\)"):
        as_drawn([controller(Holds(threading.Lock()))]).__enter__()
    for thing in (iter([1, 2, 3]), threading.Lock()):
        with as_drawn([controller(Resets(thing, str))]):
            next(thing, None) if hasattr(thing, "__next__") else None


class Integrates:
    """A controller with a memory and without reset()."""

    def __init__(self):
        self.sum = 0.0

    def __call__(self, t, now):
        self.sum += 0.01 * (1 - now["hinge"])
        return 300 * self.sum


def test_points_do_not_depend_on_who_computes_them():
    function, m = Integrates(), cc.library.pendulum()
    m.motor("hinge", torque=cc.Sampled(function, period=0.01))
    masses = [1.0, 1.2, 1.4, 1.6]
    given = {"until": 0.05, "keep": (), "measure": {"x": "last hinge"}}
    found = [cc.sweep(m, {"arm.mass": masses}, executor=executor, **given) for executor in (1, 2)]
    with ThreadPoolExecutor(1) as executor:
        found.append(cc.sweep(m, {"arm.mass": masses}, executor=executor, **given))
    alone = []
    for mass in masses:
        alone.append(cc.simulate(m, parameters={"arm.mass": mass}, until=0.05)["hinge"][-1])
        function.sum = 0.0
    for got in found:
        np.testing.assert_array_equal(got["x"], alone)
    cc.sweep(m, {"arm.mass": masses[:1]}, executor=None, **given)  # in this process
    assert function.sum == 0.0


class Gain:
    def __init__(self, k):
        self._k = k

    def __call__(self, t, now):
        return self._k * now["hinge"]


def length(run):
    return FACTOR["k"] * len(run.t)


def test_a_folder_belongs_to_the_values_of_its_functions(tmp_path, monkeypatch):
    function, m = Gain(1.0), cc.library.pendulum()
    m.motor("hinge", torque=cc.Sampled(function, period=0.01))

    def study():
        return cc.sweep(m, {"arm.mass": [1.0]}, until=0.02, measure={"x": length}, save=tmp_path / "study")

    first = study()
    assert study()["hinge"].equals(first["hinge"])
    function._k = 3.0
    with pytest.raises(cc.ModelError, match="holds another study, with other controllers: Gain every"):
        study()
    function._k = 1.0
    monkeypatch.setitem(FACTOR, "k", 2)
    with pytest.raises(cc.ModelError, match="holds another study, with other measure: x"):
        study()
