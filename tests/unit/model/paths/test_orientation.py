"""Orientations that change with time: rotations stay rotations, and their rates are right."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation as Reference

import closedchain as cc
from closedchain.model import paths
from closedchain.model.paths.orientation import as_matrix, as_quaternion

KEYS = [(0.1, 0.2, -0.3), (0.5, -0.4, 0.8), (1.2, 0.3, 1.9), (0.2, 1.0, 2.5), (-0.6, 0.2, 2.0)]
TIMES = [0.0, 0.5, 1.2, 1.7, 2.6]
WILD = [(1.1, 2.4, 2.7), (-0.7, 0.5, 2.6), (-2.7, 2.9, -0.3), (2.1, -2.0, 2.6), (1.6, 0.9, -2.0)]


def matrix(rpy):
    return Reference.from_euler("xyz", rpy).as_matrix()


def by_differences(path, t, h=1e-3):
    """Angular velocity and acceleration from rotations around t, with central formulas of order six."""
    R = path.at(t + h * np.arange(-3, 4)).rotation
    first = np.array([-1, 9, -45, 0, 45, -9, 1]) / 60 / h
    second = np.array([2, -27, 270, -490, 270, -27, 2]) / 180 / h**2
    dR, ddR = np.einsum("k,kij->ij", first, R), np.einsum("k,kij->ij", second, R)
    W, A = dR @ R[3].T, ddR @ R[3].T - dR @ R[3].T @ dR @ R[3].T  # [w]x' = (R' R^T)'
    return np.array([W[2, 1], W[0, 2], W[1, 0]]), np.array([A[2, 1], A[0, 2], A[1, 0]])


PATHS = {
    "turn": paths.turn(KEYS[0], KEYS[2], duration=2.6),
    "turns": paths.turns(KEYS, TIMES),
    "turns rest": paths.turns(KEYS, TIMES, ends="rest"),
    "turns law": paths.turns(KEYS, duration=2.6, law="minimum-jerk"),
    "euler": paths.euler("zyz", cc.math.sin(cc.t), 0.7 + 0.2 * cc.t, cc.t**2, duration=2.6),
    "rpy": paths.rpy(paths.sine(0.3, 1.3), paths.line(0, 0.5, duration=2.6), 0.2),
    "turned": paths.rest((0, 0, 0), 2.6).turned(about=(1, 2, 2), angle=cc.math.sin(2 * cc.t)),
}
EVERY = pytest.mark.parametrize("name", PATHS)


@EVERY
def test_a_rotation_stays_one(name):
    R = PATHS[name].at(np.linspace(0, 2.6, 53)).rotation
    np.testing.assert_allclose(R @ np.swapaxes(R, -1, -2), np.broadcast_to(np.eye(3), R.shape), atol=4e-15)
    np.testing.assert_allclose(np.linalg.det(R), 1.0, rtol=4e-15)


@EVERY
def test_angular_velocity_and_acceleration(name):
    for t in (0.23, 0.9, 1.51, 2.2):  # between the keys, by more than three steps
        at = PATHS[name].at(t)
        w, alpha = by_differences(PATHS[name], t)
        # truncation h^6 times a seventh or eighth derivative of some 1e4, and rounding 1e-16 / h and / h^2
        np.testing.assert_allclose(at.angular_velocity, w, atol=1e-11)
        np.testing.assert_allclose(at.angular_acceleration, alpha, atol=1e-8)


# ---- turn ------------------------------------------------------------------------------------------------------------


def test_turn_is_about_one_axis_the_short_way():
    path = PATHS["turn"]
    relative = Reference.from_matrix(matrix(KEYS[2]) @ matrix(KEYS[0]).T).as_rotvec()
    at = path.at(1.3)

    np.testing.assert_allclose(path.at(0).rotation, matrix(KEYS[0]), atol=1e-15)
    np.testing.assert_allclose(path.at(2.6).rotation, matrix(KEYS[2]), atol=2e-15)
    np.testing.assert_allclose(
        at.rotation, Reference.from_rotvec(relative / 2).as_matrix() @ matrix(KEYS[0]), atol=1e-15
    )
    np.testing.assert_allclose(at.angular_velocity, relative * 15 / 8 / 2.6, rtol=1e-13)
    np.testing.assert_allclose(at.angular_acceleration, 0, atol=1e-14)


def test_turn_with_limits():
    path = paths.turn((0, 0, 0), (0, 0, 1.5), law=paths.Trapezoidal(speed=1.0, acceleration=4.0))
    assert path.duration == pytest.approx(1.5 + 0.25, rel=1e-14)
    np.testing.assert_allclose(path.at(path.duration / 2).angular_velocity, [0, 0, 1], atol=1e-14)


def test_turn_to_the_same_orientation_rests():
    path = paths.turn(KEYS[0], KEYS[0], duration=1.0)
    np.testing.assert_array_equal(path.at(0.5).angular_velocity, 0)


# ---- turns -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ends", ["natural", "clamped", "not-a-knot", "rest"])
def test_turns_pass_their_keys_twice_differentiably(ends):
    path = paths.turns(KEYS, TIMES, ends=ends)
    np.testing.assert_allclose(path.at(TIMES).rotation, [matrix(key) for key in KEYS], atol=4e-15)
    for t in TIMES[1:-1]:
        before, after = path.at(np.nextafter(t, 0)), path.at(t)
        np.testing.assert_allclose(before.angular_velocity, after.angular_velocity, atol=1e-12)
        np.testing.assert_allclose(before.angular_acceleration, after.angular_acceleration, atol=1e-11)


def test_turns_at_rest():
    at = PATHS["turns rest"].at([0.0, 2.6])
    np.testing.assert_allclose(at.angular_velocity, 0, atol=1e-12)
    np.testing.assert_allclose(at.angular_acceleration, 0, atol=1e-11)
    assert PATHS["turns rest"].breaks == ()


def test_the_signs_of_quaternions_do_not_matter(rng):
    q = np.array([as_quaternion(key, "key") for key in KEYS])
    flipped = q * rng.choice([-1.0, 1.0], (len(q), 1))
    t = np.linspace(0, 2.6, 27)
    np.testing.assert_allclose(
        paths.turns(flipped, TIMES).at(t).rotation, paths.turns(q, TIMES).at(t).rotation, atol=1e-15
    )


def test_no_singularity_on_the_way():
    """Straight up, where roll and yaw are the same: nothing happens."""
    path = paths.turns([(0, 1.2, 0), (0, math.pi / 2, 0), (0.4, 1.3, 0.3)], times=[0, 1, 2], ends="rest")
    w = path.at(np.linspace(0, 2, 201)).angular_velocity
    assert np.linalg.norm(w, axis=1).max() < 2.0


@pytest.mark.parametrize("rounds", [1, 2])
def test_periodic_turns_go_round(rounds):
    """One whole turn brings a quaternion to its negative, two to itself; the orientation goes on either way."""
    n = 8 * rounds
    times = np.linspace(0, 2.0, n + 1)
    path = paths.turns([(0, 0, 2 * math.pi * rounds * k / n) for k in range(n + 1)], times, ends="periodic")
    t = np.linspace(0, 2, 17)

    assert path.duration == 2.0 and path.endless
    np.testing.assert_allclose(path.at(t + 2.0).rotation, path.at(t).rotation, atol=1e-13)
    np.testing.assert_allclose(path.at(t + 6.0).angular_acceleration, path.at(t).angular_acceleration, atol=1e-11)
    # eight keys in a round follow the uniform turn closely
    np.testing.assert_allclose(path.at(t).angular_velocity, [[0, 0, math.pi * rounds]] * 17, atol=0.05 * rounds)


def test_periodic_turns_by_a_duration():
    path = paths.turns([(0, 0, math.pi * k / 2) for k in range(5)], duration=3.0, ends="periodic")
    assert path.duration == pytest.approx(3.0, rel=1e-15)
    np.testing.assert_allclose(path.at(0.75).rotation, matrix((0, 0, math.pi / 2)), atol=1e-15)


# ---- Euler angles ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sequence", ["zyz", "xyz", "zxz", "yxz", "zyx"])
def test_euler_angles_are_those_of_scipy(sequence):
    R = paths.euler(sequence, 0.3, -0.7, 1.1).at(0.0).rotation
    np.testing.assert_allclose(R, Reference.from_euler(sequence.upper(), (0.3, -0.7, 1.1)).as_matrix(), atol=1e-15)


def test_rpy_is_that_of_frames():
    np.testing.assert_allclose(paths.rpy(0.3, -0.7, 1.1).at(0.0).rotation, matrix((0.3, -0.7, 1.1)), atol=1e-15)


def test_angles_may_be_paths():
    path = paths.euler("zyz", 0.3, paths.line(0, 0.5, duration=2, law="uniform"), paths.sine(0.1, 3.0))
    assert (path.duration, path.breaks, path.endless) == (3.0, (0.0, 2.0), True)


# ---- ways to say an orientation --------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_three_ways_to_say_the_same(seed):
    R = Reference.random(random_state=seed)
    x, y, z, w = R.as_quat()
    for said in (R.as_euler("xyz"), (w, x, y, z), R.as_matrix(), tuple(map(tuple, R.as_matrix()))):
        np.testing.assert_allclose(as_matrix(said, "key"), R.as_matrix(), atol=1e-15)
        assert abs(as_quaternion(said, "key") @ (w, x, y, z)) == pytest.approx(1.0, rel=1e-14)


@pytest.mark.parametrize("axis", np.eye(3).tolist(), ids=["x", "y", "z"])
def test_quaternions_of_half_turns(axis):
    """Where w is zero and the trace is least, another component is taken first."""
    q = as_quaternion(Reference.from_rotvec(math.pi * np.array(axis)).as_matrix(), "key")
    np.testing.assert_allclose(np.abs(q), [0, *axis], atol=1e-15)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: paths.turn((0, 0, 0), (0, 0, math.pi), duration=1), r"half a turn apart.*use turned\(about"),
        (lambda: paths.turn((0, 0, 0), (0, 0), duration=1), r"turn: its end: an orientation is three angles"),
        (lambda: paths.turn((0, 0, cc.t), (0, 0, 0), duration=1), r"its ends are plain numbers; use turned\(about"),
        (lambda: paths.turn((0, 0, 0), (0, 0, 1)), "turn: say how long it takes"),
        (lambda: paths.turn((1, 1, 0, 0), (0, 0, 1), duration=1), r"quaternion .* has the length 1\.41421, not 1"),
        (lambda: paths.turns([(0, 0, 0)], [0]), "turns needs a list of at least two orientations"),
        (lambda: paths.turns([(0, 0, 0), (0, math.pi, 0)], [0, 1]), "orientations 1 and 2 are half a turn apart"),
        (lambda: paths.turns([(0, 0, 0), (0, 0, 1, 2, 3)], [0, 1]), "turns: orientation 2: an orientation is"),
        (lambda: paths.turns([(0, 0, 0), (0, 1, 0)]), "turns: give either times or duration"),
        (lambda: paths.turns([(0, 0, 0), (0, 0, 1)], [0, 1], ends="periodic"), "repeat the first point at the end"),
        (
            lambda: paths.turns(WILD, [0, 2, 3, 3.1, 4.1]),
            "the spline of the quaternions is .* long.*put more orientations between",
        ),
        (lambda: paths.euler("zzx", 1, 2, 3), "no neighbours the same, not 'zzx'"),
        (lambda: paths.euler("zy", 1, 2, 3), "three axes such as 'zyz'"),
        (lambda: paths.euler("zyz", cc.t, 0, 0), "euler: say how long it takes, duration="),
        (lambda: paths.euler("zyz", "a", 0, 0), "euler: angle 1 must be a number"),
    ],
    ids=[
        "half turn", "two numbers", "time", "no duration", "quaternion", "one key", "half turns", "five numbers",
        "no times", "open", "wild", "neighbours", "two axes", "no end", "text",
    ],
)  # fmt: skip
def test_refused(make, message):
    with pytest.raises(cc.ModelError, match=message):
        make()
