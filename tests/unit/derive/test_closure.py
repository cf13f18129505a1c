"""The rows of every cut joint vanish on the motions that the joint allows, and only there."""

import numpy as np
import pytest

import closedchain as cc
from closedchain.close.formulation import Choice
from closedchain.derive.closure import ROWS
from closedchain.derive.equations import derive
from closedchain.model.joints.types import JOINT_TYPES
from tests.identities.independent import joint_rate, pose, rotate, rotation_of, unskew
from tests.random_mechanisms import random_rotation
from tests.turns import with_counters
from tests.unit.derive.cut_pair import cut_pair
from tests.unit.derive.planar import numbers

CLOSING = [name for name, kind in JOINT_TYPES.items() if kind.closure]

every_cut = pytest.mark.parametrize("kind", CLOSING)
either_side = pytest.mark.parametrize("ground", [False, True], ids=["between bodies", "to the ground"])


@every_cut
def test_counts(kind):
    rows = [row for name in JOINT_TYPES[kind].closure for row in ROWS[name].labels]
    assert len(rows) == 6 - JOINT_TYPES[kind].nv
    closure = cut_pair(kind).equations.closure
    assert len(closure) == len(rows) and not closure.fixed
    assert list(closure.labels) == rows
    assert set(closure.joints) == {"J"}
    assert set(closure.units) <= {"m", "rad", "1"}


@every_cut
@either_side
def test_zero_where_the_joint_moves(kind, ground, rng):
    pair = cut_pair(kind, ground)
    for _ in range(10):
        c, A, _, _ = pair.at(pair.allowed(pair.random(rng)), rng)
        np.testing.assert_allclose(c, 0, atol=1e-13)  # products of a dozen matrices
        # all rows lock something, each something else
        assert np.linalg.svd(A, compute_uv=False)[-1] > 0.1


@every_cut
def test_not_zero_where_it_does_not(kind, rng):
    """A small forbidden displacement shows at its own size: the rows see every locked direction."""
    pair = cut_pair(kind)
    size = 1e-4
    for _ in range(10):
        q = pair.random(rng)
        X = pair.allowed(q)
        # the motions that the joint allows, as twists of S in S
        n = pair.kind.nv
        rates = [joint_rate(kind, q, e) for e in np.eye(n)]
        h = 1e-30
        d = [pair.allowed(q + 1j * h * rate).imag / h for rate in rates]
        Phi = np.array([[*unskew(X[:3, :3].T @ x[:3, :3]), *(X[:3, :3].T @ x[:3, 3])] for x in d]).reshape(n, 6).T
        basis = np.linalg.qr(np.hstack([Phi, rng.normal(size=(6, 6 - n))]))[0]
        twist = size * basis[:, n:] @ _unit(rng, 6 - n)
        off = X @ pose(rotate(twist[:3] / max(np.linalg.norm(twist[:3]), 1e-300), np.linalg.norm(twist[:3])), twist[3:])
        c = pair.at(off, rng)[0]
        assert 1e-2 * size < np.abs(c).max() < 1e2 * size


def _unit(rng, n):
    x = rng.normal(size=n)
    return x / np.linalg.norm(x)


@every_cut
def test_only_there(kind, rng):
    """From any pose Newton finds zeros of the rows; each of them is a pose that the joint allows."""
    pair = cut_pair(kind)
    found = 0
    for _ in range(30):
        q = pair.place(pose(random_rotation(rng), rng.normal(size=3)), rng)
        for _ in range(60):
            c, A, measured, _ = pair.numbers(q)
            if not np.isfinite(c).all() or np.abs(c).max() < 1e-12:
                break
            step = -np.linalg.lstsq(A, c, rcond=None)[0]
            q = _retract(pair, q, step * min(1.0, 0.5 / np.abs(step).max()))
        if not np.abs(c).max() < 1e-12:
            continue
        found += 1
        X = pair.independent.relative(pair.joint, q)
        np.testing.assert_allclose(pair.allowed(measured), X, atol=1e-10)
    assert found >= 20  # of thirty: the others had not converged yet


def _retract(pair, q, v):
    q = q + pair.independent.rate(q, v)
    for four in (slice(3, 7), slice(10, 14)):
        q[four] /= np.linalg.norm(q[four])
    return q


@pytest.mark.parametrize("kind", [kind for kind in CLOSING if kind not in ("spherical", "universal")])
def test_no_zero_upside_down(kind, rng):
    """Half a turn about a locked axis is far from closed: never a small number, at worst not a number."""
    pair = cut_pair(kind)
    for axis in _locked_axes(kind):
        for angle in (np.pi - 1e-3, np.pi - 1e-6, np.pi + 1e-3):
            X = pair.allowed(pair.random(rng)) @ pose(rotate(axis, angle))
            c = np.abs(pair.at(X, rng)[0]).max()
            assert c > 10 or not np.isfinite(c)


def _locked_axes(kind):
    """Axes in S about which the joint cannot turn. (A Hooke joint turned by half a turn is a Hooke joint again.)"""
    x, y, z = np.eye(3)
    if kind in ("revolute", "cylindrical", "planar", "screw"):
        return [x, y, (x + y) / np.sqrt(2)]
    return [x, y, z, (x + y + z) / np.sqrt(3)]


@pytest.mark.parametrize("turns", [-3, -1, 1, 2])
def test_a_screw_may_turn_many_times(turns, rng):
    pair = cut_pair("screw")
    q = pair.random(rng) + 2 * np.pi * turns
    c, _, measured, _ = pair.at(pair.allowed(q), rng)
    np.testing.assert_allclose(c, 0, atol=1e-12)
    np.testing.assert_allclose(measured, q, atol=1e-11)


def test_a_screw_out_of_step_is_seen(rng):
    pair = cut_pair("screw")
    q = pair.random(rng)
    X = pair.allowed(q)
    X[:3, 3] += 0.01 * X[:3, 2]  # one centimetre along its axis without the turn
    c = pair.at(X, rng)[0]
    # the row measures the advance in metres, to first order
    np.testing.assert_allclose(np.abs(c[-1]), 0.01, rtol=0.01)
    np.testing.assert_allclose(c[:-1], 0, atol=1e-13)


@every_cut
def test_sign(kind, rng):
    """P seen from S: when S stands off by d, the translation rows give -d, in the axes they are measured in."""
    pair = cut_pair(kind, ground=True)
    d = 1e-3 * rng.normal(size=3)
    X = pair.allowed(pair.random(rng))
    X[:3, 3] += d
    c = pair.at(X, rng)[0]
    labels = pair.equations.closure.labels
    if "point" in pair.kind.closure:
        R = (pair.P @ pair.turn)[:3, :3]  # the root's axes: here the world's
        np.testing.assert_allclose(c[:3], -R @ d, atol=1e-13)
        return
    for row, label in zip(c, labels, strict=True):
        if label in "xyz":
            np.testing.assert_allclose(row, -d["xyz".index(label)], atol=1e-13)


def test_small_angles_are_measured_as_they_are(rng):
    """2 tan(angle / 2), with the sign of P seen from S."""
    pair = cut_pair("weld")
    w = 1e-3 * rng.normal(size=3)
    angle = np.linalg.norm(w)
    c = pair.at(pose(rotate(w / angle, angle)), rng)[0]
    np.testing.assert_allclose(c[3:], -w * 2 * np.tan(angle / 2) / angle, atol=1e-13)
    half = pair.at(pose(rotation_of([np.cos(0.7), np.sin(0.7), 0, 0])), rng)[0]
    np.testing.assert_allclose(half[3], -2 * np.tan(0.7), rtol=1e-12)


def geared():
    """A driven slide, and an angle geared to it: 2 q + 0.5."""
    m = cc.Mechanism("geared", gravity=(0, 0, 0))
    cart, wheel = m.body("cart", cc.box((1, 1, 1), mass=2.0)), m.body("wheel", cc.disc(radius=0.5, mass=1.0))
    m.prismatic("slide", m.ground, cart, axis=(1, 0, 0))
    m.revolute("turn", cart, wheel)
    m.couple("gear", "turn", "slide", ratio=2.0, offset=0.5)
    m.drive("slide", 0.1 * cc.math.sin(3 * cc.t))
    return m


def test_couplings_and_prescribed_motions_are_rows():
    m = geared()

    def outputs(e):
        return [e.closure.c, e.closure.A, e.closure.gamma, e.closure.c_t]

    t, q, v = 0.4, np.array([0.3, 0.8]), np.array([0.7, -0.2])
    c, A, gamma, c_t = numbers(m, outputs, q, v, t)
    np.testing.assert_allclose(c[:, 0], [2 * 0.3 + 0.5 - 0.8, 0.1 * np.sin(1.2) - 0.3], rtol=1e-14)
    np.testing.assert_allclose(A, [[2, -1], [-1, 0]])
    np.testing.assert_allclose(c_t[:, 0], [0, 0.3 * np.cos(1.2)], rtol=1e-14)
    np.testing.assert_allclose(gamma[:, 0], [0, -0.9 * np.sin(1.2)], rtol=1e-14)
    assert derive(m).closure.joints == ("gear", "slide.drive")


def test_what_a_prescribed_motion_takes():
    """Cart and wheel accelerate as the motion says; the drive moves both masses and, by the gear, turns the wheel."""
    m = geared()
    t = 0.4
    slide, rate, a_slide = 0.1 * np.sin(1.2), 0.3 * np.cos(1.2), -0.9 * np.sin(1.2)
    e = derive(m)
    closed = cc.Multipliers("none").close(e, Choice((0, 1)))
    q, v = [slide, 2 * slide + 0.5], [rate, 2 * rate]
    a, lam = numbers(m, lambda e: [closed.a, closed.lam], q, v, t)
    np.testing.assert_allclose(a[:, 0], [a_slide, 2 * a_slide], rtol=1e-13)
    wheel = 1.0 * 0.5**2 / 2
    np.testing.assert_allclose(lam[:, 0], [wheel * 2 * a_slide, 3.0 * a_slide + 2 * wheel * 2 * a_slide], rtol=1e-13)


def roof():
    """Two rods pinned at the ridge, which is cut: its angle is the difference of the other two."""
    m = cc.Mechanism("roof", gravity=(0, 0, 0))
    left, right = m.body("left", cc.rod(length=1.0, mass=3.0)), m.body("right", cc.rod(length=1.0, mass=3.0))
    m.revolute("A", m.ground, left)
    m.revolute("B", m.ground.at(1, 0, 0), right)
    m.revolute("C", left.tip, right.tip, cut=True)
    return m


@pytest.mark.parametrize("turns", [-2, 0, 5])
def test_angles_of_cut_joints_are_coupled_and_driven_in_their_turn(turns):
    m = roof()
    m.couple("gear", "C", "A", ratio=3.0, offset=0.2)
    m.couple("back", "B", "C", ratio=0.5)
    m.drive("C", 2.0 * cc.t**2, name="ridge")
    e = derive(m)
    closure = e.closure
    f = e.function("f", {"c": closure.c, "A": closure.A, "gamma": closure.gamma, "c_t": closure.c_t})
    angle = 1.5 - 0.5 + 2 * np.pi * turns
    q = with_counters(e.topology, [0.5, 1.5], C=angle + 3.0)  # off, but by less than half a turn
    c, A, gamma, c_t = (np.array(x) for x in f(0.4, q, [0.7, -0.2], list(m.parameters.values())))
    at = [closure.joints.index(name) for name in ("gear", "back", "ridge")]
    expected = [3 * 0.5 + 0.2 - angle, 0.5 * angle - 1.5, 2 * 0.4**2 - angle]
    np.testing.assert_allclose(c[at, 0], expected, rtol=1e-13)
    np.testing.assert_allclose(A[at], [[3 + 1, -1], [-0.5, 0.5 - 1], [1, -1]], atol=1e-14)
    np.testing.assert_allclose(c_t[at, 0], [0, 0, 4 * 0.4], rtol=1e-14)
    np.testing.assert_allclose(gamma[at, 0], [0, 0, 4.0], atol=1e-13)
