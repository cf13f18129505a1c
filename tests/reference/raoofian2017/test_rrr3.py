"""The planar 3-RRR of Raoofian et al. (2017): values at single states, and motion along the rose."""

import numpy as np
import pytest

import closedchain as cc
from tests.reference.compare import columns, load, native_accelerations, off, pointwise, relative
from tests.reference.raoofian2017 import rose

NUMBERS = load("raoofian2017/rrr3")
R0 = NUMBERS["parameters"]["r0_primary"]
ROWS = NUMBERS["inverse_dynamics"]
LEGS = range(3)

ROUNDING = 1e-12  # double precision on both sides, and no matrix with a condition above 100


# ---- two drawings ------------------------------------------------------------------------------------------


def platform_of_its_own(torques, gravity=(0.0, 0.0, 0.0), start=None):
    """As in the reference: nine coordinates, the platform as x, y, angle, all three of its joints cut."""
    p = NUMBERS["parameters"]
    m = cc.Mechanism("3-RRR in nine coordinates", gravity=gravity)
    platform = m.body("platform", cc.rigid(mass=p["mP"], inertia=(p["IP"] / 2, p["IP"] / 2, p["IP"])))
    for k in LEGS:
        proximal, distal = (
            m.body(f"{name}{k + 1}", cc.rigid(p[mass], (p[length] / 2, 0, 0), (0, p[inertia], p[inertia])))
            for name, mass, length, inertia in (("proximal", "m1", "l1", "I1"), ("distal", "m2", "l2", "I2"))
        )
        a, b = (0.0, 0.0) if start is None else start["q"][2 * k : 2 * k + 2]
        m.revolute(f"base{k + 1}", m.ground.at(*rose.base(p, k)), proximal, guess=a)
        m.revolute(f"elbow{k + 1}", proximal.at(p["l1"]), distal, guess=b - a)
        m.revolute(f"wrist{k + 1}", distal.at(p["l2"]), platform.at(*rose.corner(p, k)), cut=True)
        m.motor(f"base{k + 1}", torque=torques[k])
        m.start[f"base{k + 1}"] = a
    m.planar("pose", m.ground, platform, guess=(R0, 0, 0))
    return m


def library(torques, start):
    return cc.library.rrr3(torques, position=(R0, 0.0))


DRAWINGS = {"library": library, "platform of its own": lambda torques, start: platform_of_its_own(torques, start=start)}

# the reference has absolute angles a, b of the two links of each leg; the joints measure a, b - a
JOINTS_FROM_ANGLES = np.eye(9)
for _k in LEGS:
    JOINTS_FROM_ANGLES[2 * _k + 1, 2 * _k] = -1


# ---- values at single states -------------------------------------------------------------------------------


@pytest.mark.parametrize(("case", "gravity"), [("index1 g=0", (0, 0, 0)), ("index1 g=9.81", (0, -9.81, 0))])
def test_accelerations_and_multipliers_at_a_state_that_is_not_closed(case, gravity):
    want = NUMBERS["pointwise"]
    m = platform_of_its_own(want["tau"], gravity)
    q, v = (JOINTS_FROM_ANGLES @ want[name] for name in ("q", "qd"))
    got = pointwise(m)(q, v)
    assert np.abs(want["Delta"]).max() > 0.01
    assert relative(got.c, want["Delta"]) < ROUNDING
    assert relative(got.lam, want[case]["lam"]) < ROUNDING
    for a in (got.a, native_accelerations(m, q, v)):
        assert relative(np.linalg.solve(JOINTS_FROM_ANGLES, a), want[case]["qdd"]) < ROUNDING


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"t={row['t']}")
def test_inverse_dynamics_by_hand(row):
    """The torques that the next tests drive the robot with are those of the reference."""
    p = NUMBERS["parameters"]
    torques, forces = rose.efforts(p, row["t"], R0)
    legs = [rose.leg(p, k, rose.path(row["t"], R0)) for k in LEGS]
    assert relative(torques, row["tau"]) < ROUNDING
    assert relative(np.ravel(forces), row["lam"]) < ROUNDING
    # absolute: rad/s, of the size of one
    assert off(np.ravel([(x.a_dot, x.b_dot) for x in legs]), row["qd"][:6]) < 1e-14


def test_accelerations_and_multipliers_along_the_path():
    """In the library's drawing the platform hangs on leg 1. The torques give the accelerations of the path back."""
    m = cc.library.rrr3((1.0, 1.0, 1.0))
    evaluate = pointwise(m)
    p = NUMBERS["parameters"]
    for row in ROWS:
        legs = [rose.leg(p, k, rose.path(row["t"], R0)) for k in LEGS]
        torques = {f"base{k + 1}.motor": row["tau"][k] for k in LEGS}
        got = evaluate(*(_hanging_on_leg_1(row[x]) for x in ("q", "qd")), parameters=torques)
        wanted = np.ravel([(x.a_ddot, x.b_ddot) for x in legs])
        assert off(got.c, np.zeros(4)) < 1e-14  # metres
        assert relative(got.a, _hanging_on_leg_1([*wanted, 0, 0, 0])) < ROUNDING
        assert relative(got.lam, row["lam"][2:]) < ROUNDING  # wrists 2 and 3 are cut


def _hanging_on_leg_1(x):
    """Values of base1, elbow1, wrist1, base2, elbow2, base3, elbow3."""
    a1, b1, a2, b2, a3, b3, _, _, angle = x
    return [a1, b1 - a1, angle - b1, a2, b2 - a2, a3, b3 - a3]


# ---- motion ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("drawing", DRAWINGS)
def test_motion_along_the_rose(drawing):
    """Three roses under torques that are exact functions of time."""
    torques, _ = rose.efforts(NUMBERS["parameters"], cc.t, R0)
    start, rows = ROWS[0], NUMBERS["forward"]
    m = DRAWINGS[drawing](torques, start)
    state = m.assemble(m.start, velocity={f"base{k + 1}": start["qd"][2 * k] for k in LEGS})
    # The motion is unstable: a deviation grows 8 times with each rose, 500 times in all. An rtol of 1e-12 leaves some
    # 1e-11 in the angles and 1e-10 N in the forces after the third.
    run = cc.simulate(m, state, until=6.0, rtol=1e-12, t_eval=[0.0, *(row["t"] for row in rows)])
    q, v = (np.array([row[name] for row in rows]) for name in ("q", "qd"))
    a, b = q[:, 0:6:2], q[:, 1:6:2]
    a_dot, b_dot = v[:, 0:6:2], v[:, 1:6:2]
    bases, elbows = (tuple(f"{name}{k + 1}" for k in LEGS) for name in ("base", "elbow"))
    # elbows are known up to whole turns
    turns = np.round((columns(run, *elbows)[1:] - (b - a)) / (2 * np.pi))
    assert off(columns(run, *bases)[1:], a) < 1e-9
    assert off(columns(run, *elbows)[1:] - 2 * np.pi * turns, b - a) < 1e-9
    assert off(columns(run, *(f"{x}'" for x in bases))[1:], a_dot) < 1e-9
    assert off(columns(run, *(f"{x}'" for x in elbows))[1:], b_dot - a_dot) < 1e-9
    platform = run.frame("platform").isel(time=slice(1, None))
    angle = np.arctan2(platform.rotation[:, 1, 0], platform.rotation[:, 0, 0])
    assert off(np.column_stack([platform.position[:, :2], angle]), q[:, 6:]) < 1e-9
    assert off(np.column_stack([platform.velocity[:, :2], platform.angular_velocity[:, 2]]), v[:, 6:]) < 1e-9
    # reactions of the cut wrists, N
    lam = np.array([row["lam"] for row in rows])
    assert off(run["lam"][1:], lam[:, -run["lam"].shape[1] :]) < 1e-9
    assert run.good
