"""The heavy top of the Lie group papers: on a ball joint, and in absolute coordinates held by three closures."""

from functools import cache

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import closedchain as cc
from closedchain.march.program.compiled import right_hand_side
from tests.reference.compare import load, off

NUMBERS = load("index3/heavy_top")
UNTIL = NUMBERS["until"]
STEPS = [1e-3, 5e-4, 2.5e-4]


@cache
def top(cut):
    """Its frame is at the centre of mass; cut open, the body has the six coordinates of its pose."""
    m = cc.Mechanism("heavy top", gravity=(0, 0, -NUMBERS["g"]))
    body = m.body("top", cc.rigid(NUMBERS["mass"], inertia=NUMBERS["inertia"]))
    m.spherical("S", m.ground, body.at(*(-x for x in NUMBERS["com"])), cut=cut)
    joint = "top.free" if cut else "S"
    spin = {f"{joint}.w{axis}": w for axis, w in zip("xyz", NUMBERS["omega"], strict=True)}
    return m, m.assemble(velocity=spin)


@cache
def quaternion_and_spin():
    """At the end, from Euler's equations about the fixed point, written down here and integrated by SciPy."""
    c, m, g = np.array(NUMBERS["com"]), NUMBERS["mass"], NUMBERS["g"]
    J = np.diag(NUMBERS["inertia"]) + m * (c @ c * np.eye(3) - np.outer(c, c))

    def rate(t, y):
        s, u, w = y[0], y[1:4], y[4:]
        down = np.array([2 * (u[0] * u[2] - s * u[1]), 2 * (u[1] * u[2] + s * u[0]), 1 - 2 * (u[0] ** 2 + u[1] ** 2)])
        w_dot = np.linalg.solve(J, np.cross(c, -m * g * down) - np.cross(w, J @ w))
        return np.concatenate([[-u @ w / 2], (s * w + np.cross(u, w)) / 2, w_dot])

    start = np.concatenate([[1, 0, 0, 0], NUMBERS["omega"]])
    y = solve_ivp(rate, (0, UNTIL), start, method="DOP853", rtol=1e-13, atol=1e-13).y[:, -1]
    return y[:4], y[4:]


def run(cut, step, rho=0.9):
    m, start = top(cut)
    return cc.simulate(
        m,
        start,
        until=UNTIL,
        method=cc.Index3(rho),
        solver=cc.solvers.GeneralisedAlpha(step=step),
        t_eval=[0.0, UNTIL],
        rtol=0.1,
    )


def errors(cut, step):
    """Of quaternion and angular velocity."""
    made = run(cut, step)
    if cut:
        assert made.closure_error.max() < 1e-13
    first = 3 if cut else 0
    q = made.x[-1, first : first + 4]
    w = made.x[-1, first + 4 : first + 7]
    assert abs(np.linalg.norm(q) - 1) < 1e-15
    return off(q, quaternion_and_spin()[0]), off(w, quaternion_and_spin()[1])


def test_published_quaternion():
    assert off(quaternion_and_spin()[0], NUMBERS["quaternion"]) < 6e-6  # five digits
    m, start = top(False)
    exact = cc.simulate(m, start, until=UNTIL, rtol=1e-12, t_eval=[0.0, UNTIL])
    assert off(exact.x[-1, :4], quaternion_and_spin()[0]) < 1e-10


def test_published_accelerations_at_the_start():
    _, start = top(True)
    rates = right_hand_side(start, cc.Index3())
    w, v, w_dot, v_dot = start.v[:3], start.v[3:], rates[7:10], rates[10:13]
    assert off(w_dot, NUMBERS["start"]["omega_dot"]) < 1e-11  # of 661, all but three digits
    # velocities are those of the body's frame, which turns
    assert off(v_dot + np.cross(w, v), NUMBERS["start"]["x_ddot"]) < 1e-12


@pytest.mark.parametrize("cut", [False, True], ids=["ball joint", "absolute coordinates"])
def test_order_on_the_rotation_group(cut):
    found = np.array([errors(cut, step) for step in STEPS])
    for column in found.T:
        assert np.polyfit(np.log(STEPS), np.log(column), 1)[0] == pytest.approx(2, abs=0.1)
    assert found[-1, 0] < 1e-3 and found[-1, 1] < 2e-2


def test_absolute_coordinates_change_nothing():
    """Along screws a body moves on its ball joint as it does in the joint's own coordinates, step by step."""
    held, free = (run(cut, 1e-3).x[-1] for cut in (False, True))
    assert off(free[3:7], held[:4]) < 1e-11  # roundings of 200 steps with 150 rad/s


def test_closing_force():
    """Of order 2; it is the weight and what the centre of mass needs to turn."""
    m, start = top(True)
    exact = cc.simulate(m, start, until=UNTIL, rtol=1e-12, t_eval=[0.0, UNTIL])["lam"].values[-1]
    found = [off(run(True, step)["lam"].values[-1], exact) for step in STEPS]
    assert np.polyfit(np.log(STEPS), np.log(found), 1)[0] == pytest.approx(2, abs=0.1)
