"""HeldInputs forces and trajectory forces of the Gough-Stewart platform, and the four-bar's force at B."""

import numpy as np
import pytest

import closedchain as cc
from tests.reference.compare import load, off, relative

PLATFORM, FOUR_BAR = load("wang2002/gough_stewart"), load("wang2002/four_bar")
LEGS = [f"leg{k} slide" for k in range(1, 7)]
ROUNDING = 1e-13  # the numbers have sixteen digits
METHODS = ("projection", "virtual-spring", "denoc")


def forces_on_the_platform(need):
    """(n, 6, 3): the first body of a ball joint is the leg."""
    return np.stack([need.reaction(f"leg{k} ball")["force"].values for k in range(1, 7)], axis=1)


@pytest.mark.parametrize("method", METHODS)
def test_forces_that_hold_the_platform(method):
    m, want = cc.library.gough_stewart(drive="none"), PLATFORM["static_hold"]
    need = cc.holding_efforts(m, actuators=LEGS, method=method)
    assert relative(need.tau[0], want["tau"]) < ROUNDING
    assert relative(forces_on_the_platform(need)[0], want["force_on_platform"]) < ROUNDING


@pytest.mark.parametrize("method", METHODS)
def test_forces_along_the_trajectory(method):
    """The file's trajectory in zyz angles: ``Q = Rz(phi) Ry(theta) Rz(psi)``."""
    s, c, t, pi = cc.math.sin, cc.math.cos, cc.t, cc.pi
    place = (-1.5 + 0.1 * s(pi * t), 0.1 + 0.05 * s(2 * pi * t), 1.5 + 0.1 * (1 - c(pi * t)))
    angles = (0.2 * s(pi * t), 0.1 + 0.05 * (1 - c(pi * t)), -0.15 * s(pi * t))
    path = cc.paths.pose(cc.paths.formula(*place, duration=1.0), cc.paths.euler("zyz", *angles, duration=1.0))
    m = cc.library.gough_stewart(drive="none")
    times = [0.0, 0.25, 1.0]
    rows = [PLATFORM["inverse_dynamics"][f"{x:g}"] for x in times]
    motion = cc.follow(m, {"platform": path}, t_eval=times)
    for k, row in enumerate(rows):
        assert off([motion[leg].values[k] for leg in LEGS], row["rho"]) < ROUNDING
        assert off([motion[f"leg{j} base.angle1"].values[k] for j in range(1, 7)], row["alpha"]) < ROUNDING
        assert off([motion[f"leg{j} base.angle2"].values[k] for j in range(1, 7)], row["beta"]) < ROUNDING
    frame = motion.frame("platform")
    assert off(frame["angular_velocity"].values, [row["w_world"] for row in rows]) < ROUNDING
    assert off(frame["angular_acceleration"].values, [row["wdot"] for row in rows]) < ROUNDING
    need = cc.inverse_dynamics(m, motion, actuators=LEGS, method=method)
    assert relative(need.tau, [row["tau"] for row in rows]) < ROUNDING
    assert relative(forces_on_the_platform(need), [row["force_on_platform"] for row in rows]) < ROUNDING


@pytest.mark.parametrize("row", FOUR_BAR["constrained"], ids=lambda row: f"t={row['t']}")
def test_joint_force_at_b_of_the_four_bar(row):
    """At the states of the file's motion under 6 N m: that torque comes back, and the force at B is the file's.

    The coupler is the first body of B, so the reaction is its force on the output link, as in the file. Accelerations
    are those of the equations of motion at this state; the states of the file have sixteen digits, which leaves 1e-12
    of the accelerations after 2 s, where the crank turns at 13 rad/s.
    """
    m = cc.library.four_bar()
    theta, alpha, phi = row["q"]
    guess = {"O": theta, "A": alpha - theta, "C": phi}
    state = m.assemble({"O": theta}, guess=guess, velocity={"O": row["qd"][0]})
    assert state["C"] == pytest.approx(phi, abs=1e-12)
    run = cc.simulate(m, state, 0.0)
    a = {name: float(run[f"{name}''"][0]) for name in ("O", "A", "C")}
    for method in METHODS:
        at = m.assemble({"O": theta}, guess=guess, velocity={"O": row["qd"][0]}, acceleration={"O": a["O"]})
        need = cc.inverse_dynamics(m, at, method=method)
        assert need["O"].values == pytest.approx([6.0], abs=1e-10)
        force = need.reaction("B")["force"].values[0, :2]
        assert off(force, row["lam"]) < 1e-11 * max(1.0, np.abs(row["lam"]).max())
