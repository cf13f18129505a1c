"""The four-bar with a flexible coupler of Wang, Gosselin and Cheng (2002), section 3.2: at a state, at rest, in motion.

The paper's alpha is the angle of the chord of the coupler. The joint A sits on the section there, which has turned by
the slope of the bent coupler: by the rotation of Cayley, ``2 atan(slope / 2)``.
"""

from functools import cache

import numpy as np
import pytest

import closedchain as cc
from closedchain.march.program.compiled import compiled
from closedchain.pose.state import parameter_vector
from tests.reference.compare import columns, load, native_accelerations, off, pointwise, relative
from tests.turns import with_counters

NUMBERS = load("wang2002/four_bar_flexible")
WANT = NUMBERS["pointwise"]
SLOPE = np.array([0.0, 0.0, 0.0, np.pi, 2 * np.pi]) / NUMBERS["parameters"]["l2"]  # at A, by the paper's coordinates
NAMES = ("O", "A", "coupler.y1", "coupler.y2", "C")
ORDER = [0, 1, 3, 4, 2]  # the library counts limb by limb
ROUNDING = 1e-12  # double precision on both sides, and no matrix with a condition above 1000


@cache
def drawn():
    return cc.library.four_bar(flexible=True)


def ours(q):
    """Coordinates of the library from the paper's (..., 5)."""
    q = np.asarray(q, float)
    out = q.copy()
    out[..., 1] += 2 * np.arctan(q @ SLOPE / 2) - q[..., 0]
    return out[..., ORDER]


def papers(q):
    """The inverse of `ours`."""
    out = np.array(q, float)[..., np.argsort(ORDER)]
    out[..., 1] += out[..., 0] - 2 * np.arctan(out @ SLOPE / 2)
    return out


def jacobian(q, qd):
    """T with ``v = T qd`` in the paper's rates, and ``T' qd``."""
    slope, rate = np.asarray(q) @ SLOPE, np.asarray(qd) @ SLOPE
    T, drift = np.eye(5), np.zeros(5)
    T[1] += SLOPE / (1 + slope**2 / 4)
    T[1, 0] -= 1
    drift[1] = -(rate**2) * slope / 2 / (1 + slope**2 / 4) ** 2
    return T[ORDER], drift[ORDER]


@pytest.fixture(scope="module")
def at_a_state():
    q, (T, drift) = ours(WANT["q"]), jacobian(WANT["q"], WANT["qd"])
    v = T @ WANT["qd"]
    return pointwise(drawn())(q, v), native_accelerations(drawn(), q, v), T, drift


def test_the_two_sets_of_coordinates():
    """The transformation itself, by a difference."""
    q, qd, step = np.array(WANT["q"]), np.array(WANT["qd"]), 1e-4
    T, drift = jacobian(q, qd)
    assert off(papers(ours(q)), q) < 1e-15
    assert off(T @ qd, (ours(q + step * qd) - ours(q - step * qd)) / (2 * step)) < 1e-8  # second order
    assert off(drift, (ours(q + step * qd) - 2 * ours(q) + ours(q - step * qd)) / step**2) < 1e-6


def test_inertia_and_bias(at_a_state):
    got, _, T, drift = at_a_state
    assert relative(T.T @ got.M @ T, WANT["M"]) < ROUNDING
    assert relative(T.T @ (got.M @ drift + got.h), WANT["h"]) < ROUNDING


def test_closure(at_a_state):
    got, _, T, drift = at_a_state
    A = got.A @ T
    assert np.abs(WANT["Delta"]).max() > 0.1  # A and gamma must be right off the manifold too
    assert relative(got.c, WANT["Delta"]) < ROUNDING
    assert relative(A, WANT["J"]) < ROUNDING
    assert relative(A @ WANT["qd"], WANT["Delta_dot"]) < ROUNDING
    assert relative(-(got.gamma + got.A @ drift), WANT["index1"]["minus_Jdot_qd"]) < ROUNDING


def test_multipliers_and_accelerations(at_a_state):
    got, native, T, drift = at_a_state
    assert relative(got.lam, WANT["index1"]["lam"]) < ROUNDING
    for a in (got.a, native):
        assert relative(np.linalg.solve(T, a - drift), WANT["index1"]["qdd"]) < ROUNDING


@pytest.mark.parametrize("b", [0, 50])
def test_springs_at_a_state(b, at_a_state):
    _, _, T, drift = at_a_state
    want = WANT[f"spring k=1e6 b={b}"]
    program = compiled(drawn().assemble(), cc.VirtualSpring(1e6, float(b)))
    e, p = program.equations, parameter_vector(drawn())
    x = program.pack(with_counters(e.topology, ours(WANT["q"])), T @ WANT["qd"])
    lam = program.evaluate("golden", lambda: {"lam": program.closed.lam}, np.zeros(1), x[None], p)["lam"]
    assert relative(lam[0, :, 0], want["lam"]) < ROUNDING
    a = program.rhs(0.0, x, p)[e.topology.nq : -1]
    assert relative(np.linalg.solve(T, a - drift), want["qdd"]) < ROUNDING


def test_static_sag():
    """With the crank held; the deflection at the middle is that of the first mode."""
    m = cc.library.four_bar(flexible=True)
    m.drive("O", cc.pi / 2)
    rest = m.equilibrium()
    # m: printed with 16 digits
    assert off(rest["coupler.y1"], NUMBERS["static_midspan_sag_at_alpha0"]) < 1e-14
    assert off(rest["coupler.y2"], 0.0) < 1e-14


def test_pinned_frequencies():
    """Of the coupler on two pins of the ground."""
    m = cc.Mechanism("coupler")
    coupler = m.body("coupler", cc.rod(length=4.0, mass=1.0))
    coupler.flexible(E=2123.56, section=cc.Section(A=0.02, Iz=1.333417), shapes=cc.shapes.pinned_pinned(y=2))
    m.revolute("A", m.ground, coupler)
    m.revolute("B", m.ground.at(4, 0, 0), coupler.tip, cut=True)
    found = sorted(abs(m.linearise().eigenvalues.imag))[::2]
    assert relative(found, NUMBERS["pinned_pinned_rad_s"]) < ROUNDING


def compare(run, rows, angle, rate, force):
    q = columns(run, *NAMES)[1:]
    v = columns(run, *(f"{name}'" for name in NAMES))[1:]
    found = papers(q)
    rates = np.array([np.linalg.solve(jacobian(x, np.zeros(5))[0], y) for x, y in zip(found, v, strict=True)])
    assert off(found, [row["q"] for row in rows]) < angle
    assert off(rates, [row["qd"] for row in rows]) < rate
    assert off(run["lam"][1:], [row["lam"] for row in rows]) < force
    assert run.good


def test_motion():
    rows = NUMBERS["constrained"]
    run = cc.simulate(drawn(), until=2.0, rtol=1e-12, atol=1e-14, t_eval=[0.0, *(row["t"] for row in rows)])
    # rtol in each of 2000 steps; measured 4e-13, 3e-12 and 2e-10 N
    compare(run, rows, 1e-11, 1e-10, 1e-8)


@pytest.mark.parametrize("k", NUMBERS["springs"])
def test_motion_with_springs(k):
    rows = NUMBERS["springs"][k]
    run = cc.simulate(
        drawn(),
        until=1.0,
        method=cc.VirtualSpring(float(k), 0.0),
        rtol=1e-13,
        atol=1e-14,
        t_eval=[0.0, *(row["t"] for row in rows)],
    )
    # rad and m, rates, N: the spring rings with some 5000 rad/s, and k times the error of a gap is that of a force
    compare(run, rows, 1e-11, 1e-8, 1e-5)
