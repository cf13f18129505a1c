"""Values computed once for each revision of a drawing: what they are found by, and what drops them."""

import copy
import gc
import pickle
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import closedchain as cc
from closedchain.derive.equations import derive
from closedchain.errors import ModelError
from closedchain.lock import LOCK
from closedchain.march.start import residuals
from closedchain.model.derived import Derived, cached, cached_by
from closedchain.model.drawing import attempt


class Value:
    """A value that can be watched until it is freed."""


@cached
def value(m):
    return Value()


@cached
def value_of(m, *arguments):
    return Value()


@cached
def law(m):
    """A value that cannot be pickled."""
    return lambda: m.name


@cached
def names(m):
    return [*m.bodies]


# ---- once ------------------------------------------------------------------------------------------------------------


def test_a_value_is_computed_once(m, a):
    assert value(m) is value(m)
    assert len(m._cache) == 1


def test_none_is_a_value(m):
    computed = []

    @cached
    def nothing(m):
        computed.append(m)

    assert (nothing(m), nothing(m)) == (None, None)
    assert computed == [m]


def test_each_mechanism_has_its_own(m):
    other = cc.Mechanism("rig", gravity=(0, 0, 0))
    assert value(m) is not value(other)


def test_an_error_is_no_value(m):
    @cached
    def needs_a_body(m):
        if not m.bodies:
            raise ModelError("no body")
        return len(m.bodies)

    for _ in range(2):
        with pytest.raises(ModelError, match="no body"):
            needs_a_body(m)
    assert len(m._cache) == 0 and not LOCK.owned()
    m.body("c", cc.ball(1, 1))
    assert needs_a_body(m) == 1


def test_many_threads_compute_once(m):
    computed = []
    meet = threading.Barrier(8)

    @cached
    def slow(m):
        assert LOCK.owned()
        computed.append(threading.get_ident())
        threading.Event().wait(0.01)  # time for others to ask
        return Value()

    def ask(_):
        meet.wait()
        return slow(m)

    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(ask, range(8)))
    assert len(computed) == len(found) == 1


def test_a_cached_function_keeps_its_name_and_text():
    assert (law.__name__, law.__doc__) == ("law", "A value that cannot be pickled.")


# ---- by function and arguments ---------------------------------------------------------------------------------------


def test_values_are_found_by_their_arguments(m):
    found = [value_of(m), value_of(m, 1), value_of(m, 2), value_of(m, 1, 2), value_of(m, ("O", 0)), value_of(m, "O")]
    assert len(set(found)) == len(found) == len(m._cache)
    assert value_of(m, ("O", 0)) is found[4]


def test_equal_options_are_one_argument(m):
    assert value_of(m, cc.VirtualSpring(1e6)) is value_of(m, cc.VirtualSpring(1e6))
    assert value_of(m, cc.VirtualSpring(1e6)) is not value_of(m, cc.VirtualSpring(1e5))


def test_functions_do_not_share_values(m):
    """Not even two of the same name."""

    def made():
        @cached
        def value(m):
            return Value()

        return value

    assert len({made()(m), made()(m), value(m), value_of(m)}) == 4


def test_arguments_are_given_by_position(m):
    """Otherwise a value would be computed once for each way to write the call."""

    @cached
    def heavier(m, least):
        return Value()

    with pytest.raises(TypeError, match="keyword"):
        heavier(m, least=1.0)


def test_an_argument_that_cannot_be_a_key_is_refused(m):
    with pytest.raises(TypeError, match="unhashable"):
        value_of(m, [1.0])
    assert not LOCK.owned()


def test_an_argument_outlives_its_last_use(m):
    """A later object in its place in memory would find its value."""

    class Argument:
        pass

    found = {value_of(m, Argument()) for _ in range(100)}
    assert len(found) == 100


def test_owner_and_key_may_be_chosen(m, a, b):
    @cached_by(lambda body, least, aloud: (body.mechanism, least))
    def lighter(body, least, aloud):
        return Value()

    found = lighter(a, 1.0, True)
    assert lighter(b, 1.0, aloud=False) is found
    assert lighter(b, least=2.0, aloud=False) is not found
    assert found in m._cache
    m.parameter("k", 1.0)
    assert lighter(a, 1.0, True) is not found


# ---- dropped ---------------------------------------------------------------------------------------------------------


def test_a_change_of_the_drawing_drops_all_values(m, a, b):
    changes = [
        lambda: m.parameter("k", 1.0),
        lambda: m.body("c", cc.ball(1, 1)),
        lambda: a.frame("eye", at=(1, 0, 0)),
        lambda: m.revolute("O", m.ground, a),
        lambda: m.motor("O", torque=1.0),
        lambda: m.force("push", a, (1, 0, 0)),
        lambda: a.flexible(E=1e9, section=cc.Section.circle(0.01)),
    ]
    for change in changes:
        before = value(m), value_of(m, 1)
        change()
        assert value(m) is not before[0] and value_of(m, 1) is not before[1]
        assert len(m._cache) == 2
    assert names(m) == ["a", "b", "c"]


def test_another_value_of_a_parameter_drops_nothing(m, a):
    before = value(m)
    m.parameters["a.mass"] = 2.0
    assert value(m) is before


def test_a_refused_change_drops_nothing(m, a):
    before = value(m)
    with pytest.raises(ModelError, match="unknown joint"):
        m.motor("O", torque=1.0)
    assert value(m) is before and len(m._cache) == 1


@pytest.mark.parametrize("counted", [True, False], ids=["counted", "not counted yet"])
def test_nothing_stays_that_a_refused_change_computed(m, a, counted):
    before = value(m)

    def refused():
        with attempt(m):
            m.bodies["ghost"] = a
            m.revision += counted
            assert names(m) == ["a", "ghost"]
            raise ModelError("refused")

    with pytest.raises(ModelError, match="refused"):
        refused()
    assert names(m) == ["a"] and value(m) is before
    m.body("b", cc.ball(1, 1))  # has the same revision as the refused one
    assert names(m) == ["a", "b"]


def test_a_value_of_a_drawing_that_changed_meanwhile_is_not_kept(m):
    @cached
    def changing(m):
        m.revision += 1
        return Value()

    assert changing(m) is not changing(m)
    assert len(m._cache) == 0


def test_values_are_freed_with_their_mechanism():
    m = cc.library.pendulum()
    left = [weakref.ref(x) for x in (m, value(m), value_of(m, m), value_of(m, m.bodies["arm"]))]
    del m
    gc.collect()
    assert [x() for x in left] == [None] * len(left)


def test_values_of_an_older_drawing_are_freed(m):
    old = weakref.ref(value(m))
    m.parameter("k", 1.0)
    value(m)
    gc.collect()
    assert old() is None


# ---- copies ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "copied",
    [copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m)), lambda m: m.rigid_twin()],
    ids=["copy", "deepcopy", "pickle", "rigid twin"],
)
def test_a_copy_computes_its_own_values(m, a, copied):
    before = value(m), law(m)
    other = copied(m)
    assert len(other._cache) == 0
    assert value(other) is not before[0]
    other.body("c", cc.ball(1, 1))
    assert (value(m), law(m)) == before
    assert names(m) == ["a"] and names(other) == ["a", "c"]
    other.name = "other"
    assert law(other)() == "other"


def test_a_pickle_does_not_grow_with_what_is_computed():
    m = cc.library.four_bar()
    before = pickle.dumps(m)
    cc.simulate(m, until=0.01)
    assert len(m._cache) > 3
    assert len(pickle.dumps(m)) == len(before)


# ---- values of equations ---------------------------------------------------------------------------------------------


def test_equations_of_an_older_drawing_keep_their_own_values(m, a):
    m.revolute("O", m.ground, a)
    old = derive(m)
    before = value(old), old.without(("none",))
    m.revolute("P", a.tip, m.body("b", cc.ball(1, 1)))
    new = derive(m)
    assert residuals(new).size1_in("q") == 2
    assert residuals(old).size1_in("q") == 1  # asked for after those of the newer drawing
    assert value(old) is before[0] and value(new) is not before[0]
    assert old.without(("none",)) is not before[1]  # reads the motors of the drawing


def test_equations_of_an_older_drawing_are_freed_with_their_values(m, a):
    m.revolute("O", m.ground, a)
    left = [weakref.ref(x) for x in (derive(m), derive(m).without(("none",)), value(derive(m)))]
    m.parameter("k", 1.0)
    derive(m)
    gc.collect()
    assert [x() for x in left] == [None] * len(left)


def test_equations_are_copied_only_while_they_are_those_of_the_drawing(m, a):
    m.revolute("O", m.ground, a)
    e = derive(m)
    assert copy.copy(e) is e
    assert len(pickle.loads(pickle.dumps(e))._cache) == 0
    m.parameter("k", 1.0)
    for _ in range(2):  # before and after others are derived
        with pytest.raises(ModelError, match="'rig' has changed"):
            copy.copy(e)
        derive(m)


# ---- the collection --------------------------------------------------------------------------------------------------


def test_a_collection_holds_very_objects():
    found = Derived()
    x = found.find(("x",), lambda: np.zeros(2))
    assert x in found and np.zeros(2) not in found
    assert len(found) == 1 and next(iter(found)) is x


def test_values_may_be_added_while_others_are_looked_at():
    found = Derived()
    for k in range(3):
        found.find((k,), lambda k=k: k)
    for k in found:
        found.find((k, "again"), lambda k=k: k)
    assert sorted(found) == [0, 0, 1, 1, 2, 2]


def test_a_copy_of_a_collection_has_a_life_of_its_own():
    found = Derived(revision=3)
    x = found.find(("x",), Value)
    other = found.copy()
    y = other.find(("y",), Value)
    assert other.revision == 3
    assert x in other and y not in found
