"""Which velocities are independent: pivots by numbers, at poses where some of them cannot be."""

from itertools import permutations

import numpy as np
import pytest

import closedchain as cc
from closedchain.derive.equations import derive
from closedchain.march.program.compiled import compiled
from closedchain.pose.independent import choose_pivots, health
from closedchain.pose.redundancy import independent_rows
from closedchain.pose.state import State
from closedchain.testing.terms import TIME
from tests.identities.sample import GEARED, LOOPS, PLATFORMS, case
from tests.unit.close.parts.test_feasible import crank_and_slider


@pytest.mark.parametrize("chooses", ["velocities", "coordinates"])
@pytest.mark.parametrize("key", LOOPS[:9] + GEARED[:3] + PLATFORMS[:3], ids=str)
def test_every_row_has_a_velocity_of_its_own(key, chooses):
    c = case(*key)
    q, v = c.closed()
    state = State(c.mechanism, q, v, t=TIME)
    pivots = choose_pivots(c.equations, state, c.rows, chooses)
    rows, columns = zip(*pivots, strict=True)
    assert sorted(rows) == sorted(c.rows)
    assert len(set(columns)) == len(columns)
    A = c.numbers(q, v)["A"][np.ix_(rows, columns)]
    # what health promises: A_D can be divided by. The worst of the sample has 5e-3.
    assert health(c.equations, state, pivots) > 1e-3
    assert np.linalg.cond(A) < 1e5


def best(e, start):
    """Health of the best of all choices for two closure rows."""
    n = e.topology.nv
    return max(health(e, start, ((0, i), (1, j))) for i, j in permutations(range(n), 2))


@pytest.mark.parametrize("angle", np.linspace(-3, 3, 13))
def test_the_choice_is_nearly_the_best(angle):
    """Of all possible ones, at every pose of the four-bar: not worse than a third of the best."""
    m = cc.library.four_bar()
    e, start = derive(m), m.assemble(O=float(angle))
    pivots = choose_pivots(e, start, (0, 1), "velocities")
    assert health(e, start, pivots) > best(e, start) / 3


def test_dead_points_are_seen():
    """A slider at the end of its stroke cannot drive the crank: that choice has no health, and is not made."""
    m = crank_and_slider(1.0)
    e = derive(m)
    rows = tuple(range(len(e.closure)))
    labels = list(e.topology.v_labels)
    slider = labels.index("X")
    others = [k for k in range(3) if k != slider]
    at_ends, between = [], []
    for angle, collected in ((0.0, at_ends), (np.pi, at_ends), (1.0, between), (2.0, between)):
        start = m.assemble(O=angle)
        orders = [((0, others[0]), (1, others[1])), ((0, others[1]), (1, others[0]))]
        collected.append(max(health(e, start, pivots) for pivots in orders))
        chosen = choose_pivots(e, start, rows, "velocities")
        free = [k for k in range(3) if k not in [column for _, column in chosen]]
        assert angle not in (0.0, np.pi) or free != [slider]
    assert max(at_ends) < 1e-9
    assert min(between) > 0.05


@pytest.mark.parametrize("key", [key for key in LOOPS + PLATFORMS if key[1] % 2 == 0][:6], ids=str)
def test_quaternions_are_kept_whole_where_possible(key):
    """As coordinates: no worse in the number of quaternions that are split than as velocities."""
    c = case(*key)
    q, v = c.closed()
    state = State(c.mechanism, q, v, t=TIME)
    groups = [set(range(x.v.start, x.v.start + 3)) for x in c.topology.links if x.joint.type.has_quaternion]

    def split(chooses):
        tied = {column for _, column in choose_pivots(c.equations, state, c.rows, chooses)}
        return sum(0 < len(tied & group) < 3 for group in groups)

    assert split("coordinates") <= split("velocities")


def test_a_platform_is_driven_by_its_pose():
    """The Gough-Stewart platform: six legs follow the pose of the platform, whose quaternion stays whole."""
    m = cc.library.gough_stewart()
    program = compiled(m.assemble(), cc.IndependentCoordinates())
    labels = [program.equations.topology.v_labels[k] for k in program.closed.velocities]
    assert labels == [f"pose.{x}" for x in ("wx", "wy", "wz", "vx", "vy", "vz")]


def test_a_vanished_pivot_has_no_health():
    m = cc.library.four_bar()
    e, start = derive(m), m.assemble()
    rows = independent_rows(e, start).kept
    assert health(e, start, tuple((row, 0) for row in rows)) == 0  # one velocity for both rows


def test_nothing_to_choose():
    m = cc.library.double_pendulum()
    e, start = derive(m), m.assemble()
    assert choose_pivots(e, start, (), "velocities") == ()
    assert health(e, start, ()) == 1
