"""What controllers remember is saved and comes back, or is refused by name before a run starts."""

import collections
import functools
import itertools
import random

import numpy as np
import pytest
from scipy.interpolate import interp1d

import closedchain as cc
from closedchain.disk import plain
from closedchain.march.controllers import memories
from closedchain.model.forces.sampled import Controller
from closedchain.progress import reported

LOG = []
TABLE = np.arange(4.0)
BIG = np.zeros(20000)
COUNT = 0


def controller(function):
    return Controller(function, 0.1, 1, (0.0,))


class Sums:
    def __init__(self):
        self.sum, self.past = 0.0, [1.0]

    def __call__(self, t, now, *more, **others):
        self.sum += t + 1
        self.past.append(t)
        return self.sum

    def step(self, t, now):
        return self(t, now)


class Tells(Sums):
    def __init__(self):
        super().__init__()
        self.random = random.Random(1)

    def state(self):
        return {"sum": self.sum, "past": list(self.past)}

    def restore(self, state):
        self.sum, self.past = state["sum"], list(state["past"])


def with_a_list(past, t, now):
    past.append(t)
    return len(past)


def logs(t, now):
    LOG.append(t)
    return len(LOG)


def calls_another(t, now):
    return logs(t, now)


def has_a_default(t, now, past=[]):  # noqa: B006  (that is the point)
    return with_a_list(past, t, now)


def has_an_attribute(t, now):
    return with_a_list(has_an_attribute.past, t, now)


has_an_attribute.past = []


def closure():
    past, owner, buffer = [], Sums(), np.zeros(3)

    def law(t, now):
        buffer[0] += t + 1
        return with_a_list(past, t, now) + owner(t, now) + buffer[0]

    return law


def decorated():
    inner = closure()

    @functools.wraps(inner)
    def law(t, now):
        return inner(t, now)

    return law


def captured_method():
    append, step = LOG.append, Sums().step

    def law(t, now):
        append(t)
        return step(t, now) + len(LOG)

    return law


def within():
    """The list is in a function within the function."""
    past = []
    return lambda t, now: sum(with_a_list(past, x, now) for x in (t, t))


REMEMBER = {
    "object": Sums,
    "method": lambda: Sums().step,
    "told": Tells,
    "partial": lambda: functools.partial(with_a_list, []),
    "partial of a partial": lambda: functools.partial(functools.partial(Sums().step), now=None),
    "partial with an object": lambda: functools.partial(lambda owner, t, now: owner(t, now), Sums()),
    "partial keyword": lambda: functools.partial(has_a_default, past=[]),
    "closure": closure,
    "decorated": decorated,
    "captured method": captured_method,
    "function within": within,
    "lambda with a default": lambda: lambda t, now, owner=Sums(): owner(t, now),  # noqa: B008
    "default": lambda: has_a_default,
    "attribute": lambda: has_an_attribute,
    "variable of the module": lambda: logs,
    "of another function": lambda: calls_another,
    "tuple": lambda: functools.partial(lambda pair, t, now: pair[1](t, now), (1.0, Sums())),
    "views of one array": lambda: (lambda a, b: lambda t, now: (a.__iadd__(1.0), float(a[0] + b[0]))[1])(
        *np.zeros((3, 2)).T
    ),
}


@pytest.mark.parametrize("name", REMEMBER)
def test_what_is_remembered_comes_back(name):
    """Of two controllers of a kind the second goes on where the first was; what modules hold is taken back."""
    one = controller(REMEMBER[name]())
    function = functools.partial(one.function, now=None) if name != "partial of a partial" else one.function
    for t in range(3):
        function(t)
    kept = plain.from_bytes(plain.to_bytes(memories.saved([one])))
    wanted = [function(t) for t in range(3, 6)]
    other = controller(REMEMBER[name]())
    memories.restore([other], kept)
    function = functools.partial(other.function, now=None) if name != "partial of a partial" else other.function
    assert [function(t) for t in range(3, 6)] == wanted
    assert len(set(wanted)) == 3  # it does remember


def test_what_two_controllers_share_is_saved_once():
    shared = Sums()
    kept = memories.saved([controller(shared), controller(shared.step)])
    assert [len(x) for x in kept] == [1, 0]


def test_constants_and_objects_of_this_package_are_no_memory():
    m, pi, table = cc.library.pendulum(), np.pi, {"gain": 2.0}

    @functools.cache
    def gain(t):
        return 2.0 * t

    def law(t, now):
        return float(np.interp(t, TABLE, TABLE)) * pi * m.parameters["arm.mass"] * table["gain"] * gain(t)

    assert [len(x) for x in memories.saved([controller(law)])] == [2]  # the two tables


class Slow(list):
    def __call__(self, t, now):
        self.append(t)
        return len(self)


def assigns(t, now):
    global COUNT
    COUNT += 1
    return COUNT


def captures(x):
    return lambda t, now: x


def raises(*args):
    raise KeyError("boo")


REFUSED = {
    "generator": (captures(np.random.default_rng(1)), r"x is of type Generator"),
    "its method": (captures(np.random.default_rng(1).normal), r"x is of type Generator"),
    "counter": (functools.partial(lambda k, t, now: next(k), itertools.count()), r"argument 0 is of type count"),
    "deque": (captures(collections.deque()), r"x is of type deque"),
    "a kind of list": (Slow(), r"memory is of type Slow"),
    "set": (functools.partial(with_a_list, past={1}), r"past is of type set"),
    "deep": (captures({"rng": random.Random(1)}), r"x\['rng'\] is of type Random"),
    "iterator": (captures(x for x in [1]), r"x is of type generator"),
    "global": (assigns, r"'assigns' remembers 'COUNT' outside of itself"),
    "global in another": (captures(assigns), r"remembers 'COUNT' outside of itself"),
    "global in a partial": (functools.partial(assigns), r"'assigns' remembers 'COUNT' outside of itself"),
    "state() raises": (type("Odd", (Tells,), {"state": raises})(), r"'Odd' cannot tell what it remembers \(KeyError"),
    "state() is odd": (
        type("Odd", (Tells,), {"state": lambda x: {1: {2}}})(),
        r"'Odd' .*state\(\)\[1\] is of type set",
    ),
    "captured": (captures(type("Odd", (Tells,), {"state": raises})()), r"cannot tell what it remembers \(KeyError"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_saved_is_refused_by_name(name):
    function, message = REFUSED[name]
    with pytest.raises(cc.ModelError, match=rf"the controller .*{message}"):
        memories.saved([controller(function)])


# ---- constants -------------------------------------------------------------------------------------------------------


class Table:
    """As those of SciPy: two names for one array, a function, and another object."""

    def __init__(self, size=4):
        self.y, self.look, self.inner = np.arange(float(size)), captures(1.0), Sums()
        self._y = self.y.reshape(-1, 1)


def saved_and_restored(one, change, other=None):
    """Save a controller after a change and give that to another one; returns both results."""
    begun = memories.begun([one])
    change()
    kept = plain.from_bytes(plain.to_bytes(memories.saved([one], begun)))
    return kept, memories.restore([other or one], kept)


CONSTANTS = {
    "object": Table,
    "dictionary": lambda: {"table": Table(), "law": captures(2.0), "drawing": cc.library.pendulum()},
    "interpolation": lambda: interp1d(np.arange(3.0), np.arange(3.0), fill_value="extrapolate"),
    "large array": lambda: np.arange(1e5),
    "large dictionary": lambda: {"table": np.arange(1e5)},
}


@pytest.mark.parametrize("name", CONSTANTS)
def test_constants_are_not_saved(name):
    """Neither those that cannot be saved nor large ones; a fresh one is taken for the same."""
    one, other = (controller(captures(CONSTANTS[name]())) for _ in range(2))
    kept, begun = saved_and_restored(one, lambda: None, other)
    assert len(kept[0]) == 1 and begun == [{0: kept[0][0]}]


def test_a_large_memory_is_saved_when_it_has_changed():
    buffers = np.zeros((2, 20000))
    one, other = (controller(captures(x)) for x in buffers)
    _, begun = saved_and_restored(one, lambda: buffers[0].fill(2.0), other)
    assert (buffers == 2.0).all() and begun == [{}]  # and from now on


@pytest.mark.parametrize("change", ["y", "look", "inner"])
def test_what_cannot_be_saved_is_refused_when_it_has_changed(change):
    table = Table()
    changes = {
        "y": lambda: table.y.fill(1.0),
        "look": lambda: setattr(table, "look", captures(2.0)),
        "inner": lambda: table.inner(1.0, None),
    }
    with pytest.raises(cc.ModelError, match="remembers something that cannot be saved, x"):
        saved_and_restored(controller(captures(table)), changes[change])


def test_another_table_than_that_of_the_start_is_refused():
    with pytest.raises(cc.ModelError, match=r"x, which the controller .* looks at, is not what it was when the run"):
        saved_and_restored(controller(captures(Table())), lambda: None, controller(captures(Table(5))))


@pytest.mark.parametrize("name", REFUSED)
def test_what_may_hide_a_memory_is_refused_at_the_start(name):
    function, message = REFUSED[name]
    with pytest.raises(cc.ModelError, match=rf"the controller .*{message}"):
        memories.saved([controller(function)], memories.begun([controller(function)]))


def test_a_controller_that_is_no_plain_object_is_refused_at_the_start():
    odd = controller(type("Odd", (Table,), {"__call__": raises})())
    with pytest.raises(cc.ModelError, match=r"'Odd' remembers something that cannot be saved, memory\['look'\]"):
        memories.saved([odd], memories.begun([odd]))


def test_one_list_in_two_objects_is_refused():
    one, two = Sums(), Sums()
    two.past = one.past
    with pytest.raises(cc.ModelError, match="share a list, a dictionary or an array, and would be two"):
        memories.saved([controller(one), controller(two)])


@pytest.mark.parametrize("method", ["restore", "reset"])
def test_methods_that_raise_name_the_controller(method):
    odd = controller(type("Odd", (Tells,), {method: raises})())
    with pytest.raises(
        cc.ModelError, match=r"'Odd' cannot (restore what it had saved|be reset) .KeyError: 'boo'.: mend it"
    ):
        memories.reset([odd]) if method == "reset" else memories.restore([odd], memories.saved([odd]))


@pytest.mark.parametrize("saved", [[], [[]], [None], [[None]], [[{}]], [[[1.0], 2]]])
def test_memories_of_others_are_not_taken(saved):
    past = [3.0]
    with pytest.raises((ValueError, cc.ModelError)):
        memories.restore([controller(functools.partial(with_a_list, past))], saved)


def test_a_saved_run_goes_on_with_the_memory_of_a_partial(tmp_path):
    """And with two tables, which are constant."""
    table = interp1d([0.0, 2.0], [0.0, 0.1])

    def law(past, t, now):
        return with_a_list(past, t, now) + float(table(t)) + BIG[int(10 * t)]

    def drawn():
        m = cc.library.pendulum()
        m.motor("hinge", torque=cc.Sampled(functools.partial(law, []), 0.1))
        return m

    def interrupt(t, steps):
        if t > 0.5:
            raise KeyboardInterrupt

    with pytest.raises(cc.Interrupted), reported(interrupt):
        cc.simulate(drawn(), until=1.0, save=tmp_path / "run")
    assert sum(x.stat().st_size for x in tmp_path.rglob("*") if x.is_file()) < BIG.nbytes / 2
    resumed = cc.simulate(drawn(), until=1.0, save=tmp_path / "run")
    np.testing.assert_array_equal(resumed.x, cc.simulate(drawn(), until=1.0).x)


# ---- controllers with other values -----------------------------------------------------------------------------------


class Gain:
    """A gain, and an integral that is remembered."""

    def __init__(self, gain):
        self.gain, self.sum = gain, 0.0

    def __call__(self, t, now):
        self.sum += 0.01 * now["hinge"]
        return -self.gain * now["hinge'"] - 0.1 * self.sum


def captured(gain):
    return lambda t, now: -gain * now["hinge'"]


def counting(gain):
    def law(t, now):
        law.count = getattr(law, "count", 0) + 1
        return -gain * now["hinge'"] + 0.05 * law.count

    return law


def controlled(function, **options):
    m = cc.library.pendulum()
    m.motor("hinge", torque=cc.Sampled(function, period=0.02))
    return cc.simulate(m, until=0.4, **options)


def interrupt(t, steps):
    if t > 0.2:
        raise KeyboardInterrupt


@pytest.mark.parametrize("make", [Gain, captured, counting])
def test_a_saved_run_goes_on_with_its_own_gain_only(make, tmp_path):
    undisturbed, law = controlled(make(1.0)), make(1.0)
    with pytest.raises(cc.Interrupted), reported(interrupt):
        controlled(law, save=cc.SaveTo(tmp_path, every=0))
    with pytest.raises(cc.ModelError, match=r"has other values .* save to another folder"):
        controlled(make(3.0), save=tmp_path)

    for again in (law, make(1.0), law):  # as the run left it, as it was drawn, and when the run has ended
        assert np.array_equal(controlled(again, save=tmp_path).x, undisturbed.x)
    with pytest.raises(cc.ModelError, match="has other values"):
        controlled(make(3.0), save=tmp_path)
