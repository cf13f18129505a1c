"""Paths one after another, again and again, and with an orientation."""

import numpy as np
import pytest

import closedchain as cc
from closedchain.model import paths
from closedchain.model.expressions.expression import parameter
from closedchain.model.forces.sampled import JUMPS

GO = paths.line((0, 0, 0), (0.3, 0, 0.1), duration=0.8)
BACK = paths.line((0.3, 0, 0.1), (0, 0.2, 0), duration=0.5)


def test_each_path_has_its_turn():
    path = GO.then(paths.rest((0.3, 0, 0.1), 0.4)).then(BACK)
    for times, piece, begin in (
        (np.linspace(-1, 0.8, 19), GO, 0.0),
        (np.linspace(0.81, 1.19, 5), paths.rest((0.3, 0, 0.1), 1), 0.8),
        (np.linspace(1.2, 3, 19), BACK, 1.2),
    ):
        a, b = path.at(times), piece.at(times - begin)
        for name in ("value", "rate", "acceleration"):
            # t - begin rounds, and the acceleration moves by 60 way / T^3 times that
            np.testing.assert_allclose(getattr(a, name), getattr(b, name), atol=1e-13)
    assert path.duration == pytest.approx(1.7, rel=1e-15)


def test_minimum_jerk_moves_join_twice_differentiably():
    path = paths.points([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 0, 2)], times=[0, 1, 1.5, 3])
    assert path.breaks == ()
    for t in (0.0, 1.0, 1.5, 3.0):
        a, b = path.at(t - 1e-9), path.at(t + 1e-9)
        np.testing.assert_allclose(a.value, b.value, atol=1e-15)
        np.testing.assert_allclose(a.rate, b.rate, atol=1e-13)
        np.testing.assert_allclose(a.acceleration, b.acceleration, atol=1e-6)  # 2e-9 s times a jerk of 60 * 2 / 0.5^3


@pytest.mark.parametrize(
    ("first", "second", "breaks"),
    [
        (paths.line(0, 1, duration=1), paths.line(1, 0, duration=1), ()),
        (paths.line(0, 1, duration=1, law="trapezoidal"), paths.rest(1, 1), (0, 0.25, 0.75, 1)),
        (paths.line(0, 1, duration=1, law="uniform"), paths.line(1, 2, duration=1, law="uniform"), (0, 2)),
        (paths.line(0, 1, duration=1, law="uniform"), paths.line(1, 3, duration=1, law="uniform"), (0, 1, 2)),
        (paths.sine(1, 1), paths.rest(0, 1), (1,)),
        (paths.rest(0, 1), paths.sine(1, 1), (1,)),
    ],
    ids=["smooth", "ramp to rest", "same speed", "other speed", "stop swinging", "start swinging"],
)
def test_breaks_of_two(first, second, breaks):
    assert first.then(second).breaks == breaks


def test_what_goes_on_for_ever_does_so_at_the_end_only():
    path = paths.sine(1, 1).then(paths.line(0, 1, duration=1))
    assert not path.endless and path.at(5.0).value == 1.0
    path = paths.rest(0, 0.5).then(paths.sine(1, 2))
    assert path.endless and path.at(100.5 + 0.25).value == pytest.approx(np.sin(np.pi * 0.25), abs=1e-13)


def test_shift():
    there = paths.line((0, 0, 0), (0.1, 0, 0), duration=1.0)
    path = there.then(there, shift=True).then(there, shift=True)
    np.testing.assert_allclose(path.at([1, 2, 3]).value[:, 0], [0.1, 0.2, 0.3], rtol=1e-15)
    assert paths.chain(there, there, there, shift=True).at(3.0).value[0] == pytest.approx(0.3, rel=1e-15)


def test_free_components_stay_free():
    a = paths.formula(cc.t, None, None, duration=1)
    b = paths.formula(1 + cc.t, None, None, duration=1)
    joined = a.then(b)
    assert joined.components[1] is None and joined.at(1.5).value[0] == 1.5


def test_conditions_are_shared():
    """A run looks for each instant once, not once for each component."""
    path = paths.points([(0, 0, 0), (1, 2, 3), (2, 1, 0)], times=[0, 1, 2], law="uniform")
    stack, jumps = list(path.components), set()
    while stack:
        node = stack.pop()
        stack += [a for a in node.args if isinstance(a, cc.Expression)]
        jumps |= {id(node)} if node.op in JUMPS else set()
    # one between the moves, and two for the ends of each move
    assert len(jumps) == 5


def test_many_moves_make_no_deep_nest():
    n = 60
    path = paths.points(np.arange(n + 1.0), times=np.arange(n + 1.0))

    def depth(node):
        return 1 + max((depth(a) for a in node.args if isinstance(a, cc.Expression)), default=0)

    assert depth(path.components[0]) < 20  # 6 levels of conditions and a polynomial
    np.testing.assert_allclose(path.at(np.arange(n + 1.0)).value, np.arange(n + 1.0), atol=1e-13)


# ---- again and again -------------------------------------------------------------------------------------------------


def test_repeated():
    there_and_back = paths.line(0, 1, duration=0.5).then(paths.line(1, 0, duration=0.3))
    path = there_and_back.repeated(3)
    inner = np.linspace(0.0123, 0.79, 30)

    for k in range(3):
        for name in ("value", "rate", "acceleration"):
            a, b = getattr(path.at(inner + 0.8 * k), name), getattr(there_and_back.at(inner), name)
            np.testing.assert_allclose(a, b, atol=1e-11)  # the rounding of the time, times a jerk of 60 / 0.3^3
    np.testing.assert_array_equal(path.at([-1.0, 0.0, 2.5, 100.0]).value, 0.0)
    np.testing.assert_array_equal(path.at([-1.0, 0.0, 2.5, 100.0]).rate, 0.0)
    assert path.duration == pytest.approx(2.4, rel=1e-15) and path.breaks == ()


def test_repeated_breaks():
    ramps = paths.points([0.0, 1.0, 0.0], times=[0, 1, 2], law=paths.Trapezoidal(ramp=0.5))
    assert ramps.breaks == (0, 0.5, 1.5, 2)  # at 1 it goes on decelerating
    assert ramps.repeated(2).breaks == (0, 0.5, 1.5, 2.5, 3.5, 4)  # and at 2 accelerating
    saw = paths.line(0, 1, duration=1, law="uniform").then(paths.line(1, 0, duration=1, law="uniform"))
    assert saw.repeated(2).breaks == (0, 1, 2, 3, 4)
    assert paths.circle(1, period=2).repeated(3).duration == 6


# ---- position and orientation ----------------------------------------------------------------------------------------


def test_pose():
    path = paths.pose(GO, paths.turn((0, 0, 0), (0.2, 0, 0), duration=2, law="trapezoidal"))
    assert (path.duration, path.breaks) == (2.0, (0, 0.5, 1.5, 2))
    assert path.components == GO.components
    np.testing.assert_allclose(path.at(2.0).rotation[1, 1], np.cos(0.2), rtol=1e-15)


def test_poses_follow_each_other():
    a = GO.oriented(paths.turn((0, 0, 0), (0, 0, 1), duration=0.8))
    b = BACK.oriented(paths.turn((0, 0, 1), (0, 0, 0), duration=0.5))
    path = a.then(b)
    np.testing.assert_allclose(path.at(1.3).rotation, np.eye(3), atol=1e-15)
    assert path.breaks == ()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: GO.then(GO), r"path 2 begins at \(0, 0, 0\), but the one before ends at \(0\.3, 0, 0\.1\): .*"),
        (lambda: GO.then(5), "a path is followed by a path, not by 5"),
        (lambda: paths.chain(), "chain needs paths"),
        (lambda: GO.then(paths.rest(0, 1)), "path 2 has other components than the one before"),
        (lambda: GO.then(paths.formula(0.3, None, 0.1, duration=1)), "path 2 has other components"),
        (lambda: GO.then(BACK.oriented((0, 0, 0))), "give both paths an orientation, or none"),
        (
            lambda: GO.oriented((0, 0, 0)).then(BACK.oriented((0, 0, 1))),
            r"path 2 begins with the orientation \(\(0\.540302, -0\.841471, 0\), ",
        ),
        (
            lambda: paths.rest(parameter("a"), 1).then(paths.line(0, 1, duration=1), shift=True),
            "must not depend on parameters",
        ),
        (lambda: GO.repeated(2), r"repeated: the path begins at .*go back first, path\.then\(path\.reversed\(\)\)"),
        (lambda: GO.repeated(0), "repeated: how many times must be a whole number of at least 1, not 0"),
        (lambda: GO.repeated(1.5), r"a whole number of at least 1, not 1\.5"),
        (lambda: paths.rest(0, 0).repeated(2), "takes no time, and so cannot be repeated"),
        (lambda: paths.pose(GO, GO), "a path with an orientation in second place"),
        (lambda: paths.pose(3, GO), "a path with components first, not 3"),
    ],
    ids=[
        "gap", "number", "nothing", "coordinate", "free", "orientation", "other orientation", "parameters", "open",
        "never", "half", "no time", "no orientation", "no position",
    ],
)  # fmt: skip
def test_refused(make, message):
    with pytest.raises(cc.ModelError, match=message):
        make()


def test_paths_of_parameters_are_taken_at_their_word():
    a = parameter("a")
    path = paths.line(0, a, duration=1).then(paths.line(a, 0, duration=1))
    assert path.at(1.0, parameters={"a": 0.7}).value == pytest.approx(0.7, rel=1e-15)
    assert path.breaks == (1.0,)  # nobody knows whether the acceleration jumps there
