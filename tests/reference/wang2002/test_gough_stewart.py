"""The Gough-Stewart platform of Wang, Gosselin and Cheng (2002): values at single states, motion under two drives."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import closedchain as cc
from tests.reference.compare import columns, load, native_accelerations, off, pointwise, relative

NUMBERS = load("wang2002/gough_stewart")
LEGS = range(1, 7)
SLIDES = tuple(f"leg{k} slide" for k in LEGS)

ROUNDING = 1e-12  # double precision on both sides, and no matrix with a condition above 100


# ---- two drawings ------------------------------------------------------------------------------------------


def drawn_from_the_numbers(drive):
    """The platform hangs on leg 1, the other five ball joints are cut; all numbers are the file's own."""
    p, drives, points = NUMBERS["parameters"], NUMBERS["drives"], NUMBERS["geometry"]
    m = cc.Mechanism("platform on a leg", gravity=(0, 0, -p["g"]))
    platform = m.body("platform", cc.rigid(mass=p["m_p"], inertia=(p["I_p"],) * 3))
    for i in range(6):
        leg, (rho, alpha, beta) = f"leg{i + 1}", (points["initial"][x][i] for x in ("rho", "alpha", "beta"))
        lower = m.body(f"{leg} lower", cc.rigid(p["m_il"], (0, 0, p["r_il"]), p["I_link"]))
        upper = m.body(f"{leg} upper", cc.rigid(p["m_iu"], (0, 0, -p["r_iu"]), p["I_link"]))
        ground = m.ground.at(*points["base"][i])
        m.universal(f"{leg} base", ground, lower, axes=((0, 0, 1), (0, 1, 0)), guess=(alpha, beta))
        slide = m.prismatic(f"{leg} slide", lower, upper, guess=rho)
        from_leg = Rotation.from_euler("ZY", [alpha, beta]).inv() * Rotation.from_euler("Y", 0.1)
        m.spherical(f"{leg} ball", upper, platform.at(*points["platform"][i]), guess=quaternion(from_leg))
        m.start[slide.name] = rho
        if drive == "open":
            force = 9 * cc.math.sin(cc.pi * cc.t)
        else:
            stroke = drives["A"][i]
            wanted, rate = (
                rho + stroke * cc.math.sin(cc.pi * cc.t / 2) ** 2,
                stroke * (cc.pi / 2) * cc.math.sin(cc.pi * cc.t),
            )
            force = drives["tau0"][i] + 500 * (wanted - slide.q) + 50 * (rate - slide.v)
        m.motor(slide, force=force)
    return m


DRAWINGS = {"library": cc.library.gough_stewart, "on a leg": drawn_from_the_numbers}


def quaternion(rotation):
    """(w, x, y, z)."""
    return np.roll(rotation.as_quat(), 1).tolist()


def balls(run):
    """Joint (0..5) and direction (0..2) of each multiplier of a run."""
    names = [str(x).split() for x in run["lam"]["closure"].values]
    return [int(leg[3:]) - 1 for leg, _, _ in names], ["xyz".index(axis) for _, _, axis in names]


# ---- values at single states -------------------------------------------------------------------------------


class Platform:
    """The library's drawing in the letters of the reference: twist ``(v, w)`` in world axes, legs rho, alpha, beta."""

    def __init__(self, drive):
        self.m = cc.library.gough_stewart(drive)
        if drive == "none":  # forces as plain numbers
            for name in SLIDES:
                self.m.motor(name, force=self.m.parameter(f"force on {name}", 0.0))
        self.evaluate = pointwise(self.m)
        labels = self.m.assemble().topology.v_labels
        self.pose = [labels.index(f"pose.{x}") for x in ("vx", "vy", "vz", "wx", "wy", "wz")]
        self.alpha, self.beta = ([labels.index(f"leg{k} base.angle{i}") for k in LEGS] for i in (1, 2))
        self.rho = [labels.index(name) for name in SLIDES]

    def coordinates(self, p, Q, row):
        """q of a pose and the leg coordinates in ``row``."""
        topology = self.m.assemble().topology
        values = dict(
            zip([f"pose.{x}" for x in ("x", "y", "z", "qw", "qx", "qy", "qz")], [*p, *quaternion(Q)], strict=True)
        )
        for i, k in enumerate(LEGS):
            values |= {f"leg{k} slide": row["rho"][i]}
            values |= {f"leg{k} base.angle1": row["alpha"][i], f"leg{k} base.angle2": row["beta"][i]}
        return [values[label] for label in topology.q_labels]

    def feasible(self, A, R):
        """S: all velocities from the platform's twist in world axes."""
        legs = [i for i in range(A.shape[1]) if i not in self.pose]
        own = np.kron(np.eye(2), R.T)  # the free joint has its twist in the platform's axes
        S = np.zeros((A.shape[1], 6))
        S[self.pose] = own
        S[legs] = -np.linalg.solve(A[:, legs], A[:, self.pose] @ own)
        return S

    def accelerations(self, a, R, v, w):
        """v', w' of the platform in world axes."""
        vx, wx = a[self.pose[:3]], a[self.pose[3:]]
        return R @ vx + np.cross(w, v), R @ wx


@pytest.fixture(scope="module")
def at_the_start():
    platform = Platform("open")
    start = platform.m.assemble()
    R = Rotation.from_euler("Y", 0.1).as_matrix()
    return platform, start, R


def test_start(at_the_start):
    _, start, _ = at_the_start
    want = NUMBERS["geometry"]["initial"]
    # some roundings of lengths of 1.5 m
    assert off([start[name] for name in SLIDES], want["rho"]) < 1e-14
    assert off([start[f"leg{k} base.angle1"] for k in LEGS], want["alpha"]) < 1e-14
    assert off([start[f"leg{k} base.angle2"] for k in LEGS], want["beta"]) < 1e-14


def test_inertia_bias_and_leg_jacobian_at_the_start(at_the_start):
    platform, start, R = at_the_start
    want = NUMBERS["evaluation_t0"]
    got = platform.evaluate(start.q, start.v)
    S = platform.feasible(got.A, R)
    diagonal = np.diag(got.M)
    assert relative(S.T @ got.M @ S, want["mass_matrix_platform_world"]) < ROUNDING
    assert relative(S.T @ got.h, want["bias_h"]) < ROUNDING
    assert relative(S[platform.rho], want["J_rho"]) < ROUNDING
    legs = np.stack([diagonal[platform.rho], diagonal[platform.alpha], diagonal[platform.beta]], axis=1)
    assert relative(legs, want["leg_mass_diag_rho_alpha_beta"]) < ROUNDING


@pytest.mark.parametrize(("time", "case"), [(0.0, "tau_zero"), (0.5, "tau_9")])  # 9 sin(pi t)
def test_accelerations_and_reactions_at_the_start(at_the_start, time, case):
    platform, start, R = at_the_start
    want = NUMBERS["evaluation_t0"][case]
    got = platform.evaluate(start.q, start.v, time)
    native = native_accelerations(platform.m, start.q, start.v, time)
    assert relative(got.lam.reshape(6, 3), want["force_on_platform"]) < ROUNDING
    # coordinates of the reference: p, (phi, theta, psi), rho, alpha, beta; at rest w' = W (phi, theta, psi)''
    W = np.array([[0, 0, math.sin(0.1)], [0, 1, 0], [1, 0, math.cos(0.1)]])
    _, euler, *legs = np.split(np.array(want["qdd24"]), [3, 6, 12, 18])
    for a in (got.a, native):
        v_dot, w_dot = platform.accelerations(a, R, np.zeros(3), np.zeros(3))
        assert relative(v_dot, want["vdot"]) < ROUNDING
        assert relative(w_dot, want["wdot"]) < ROUNDING
        assert relative(w_dot, W @ euler) < ROUNDING * 20  # the angles' accelerations are 1/sin(0.1) times larger
        for places, expected in zip((platform.rho, platform.alpha, platform.beta), legs, strict=True):
            assert relative(a[places], expected) < ROUNDING


def test_forces_that_hold_the_platform():
    platform = Platform("none")
    start = platform.m.assemble()
    want = NUMBERS["static_hold"]
    forces = {f"force on {name}": tau for name, tau in zip(SLIDES, want["tau"], strict=True)}
    got = platform.evaluate(start.q, start.v, parameters=forces)
    assert np.abs(got.a).max() < 1e-12  # m/s^2 or rad/s^2, against 9.8 without forces
    assert relative(got.lam.reshape(6, 3), want["force_on_platform"]) < ROUNDING


@pytest.mark.parametrize("time", list(NUMBERS["inverse_dynamics"]))
def test_accelerations_and_reactions_in_motion(time):
    """The forces of an inverse analysis give back its accelerations: all velocity terms at work."""
    platform = Platform("none")
    want = NUMBERS["inverse_dynamics"][time]
    phi, theta, psi = want["q"][3:]
    Q = Rotation.from_euler("ZYZ", [phi, theta, psi])
    R, v, w = Q.as_matrix(), np.array(want["qd"][:3]), np.array(want["w_world"])
    q = platform.coordinates(want["q"][:3], Q, want)
    forces = {f"force on {name}": tau for name, tau in zip(SLIDES, want["tau"], strict=True)}
    A = platform.evaluate(q, np.zeros(24)).A
    rates = platform.feasible(A, R) @ np.concatenate([v, w])
    got = platform.evaluate(q, rates, parameters=forces)
    v_dot, w_dot = platform.accelerations(got.a, R, v, w)
    assert off(got.c, np.zeros(18)) < 1e-14  # metres: the leg coordinates belong to the pose
    # absolute, for some of these vanish; against terms of the size of g
    assert off(v_dot, want["qdd"][:3]) < 1e-11
    assert off(w_dot, want["wdot"]) < 1e-11
    assert relative(got.lam.reshape(6, 3), want["force_on_platform"]) < ROUNDING


# ---- motion ------------------------------------------------------------------------------------------------

# Under the drive "open" the platform tumbles: a deviation grows 12 times to 1 s, and the reactions, up to 19 N near
# 0.5 s, follow the state with gains of some 10. So an rtol of 1e-11 leaves up to 1e-9, a digit below the wanted 1e-8.
# Under "pd" deviations die out, and the controller keeps the steps short.


@pytest.mark.parametrize("drawing", DRAWINGS)
@pytest.mark.parametrize(("drive", "tolerance"), [("open", 1e-8), ("pd", 1e-9)])
def test_motion(drive, tolerance, drawing):
    m = DRAWINGS[drawing](drive)
    times = [float(t) for t in NUMBERS[drive]]
    rows = NUMBERS[drive].values()
    run = cc.simulate(m, until=times[-1], rtol=1e-11, t_eval=[0.0, *times])
    platform = run.frame("platform").isel(time=slice(1, None))
    want = {
        name: np.array([row[name] for row in rows])
        for name in ("p", "Q", "v", "w_world", "rho", "rhod", "force_on_platform")
    }
    assert off(platform.position, want["p"]) < tolerance
    assert off(platform.rotation, want["Q"]) < tolerance
    assert off(platform.velocity, want["v"]) < tolerance
    assert off(platform.angular_velocity, want["w_world"]) < tolerance
    assert off(columns(run, *SLIDES)[1:], want["rho"]) < tolerance
    assert off(columns(run, *(f"{name}'" for name in SLIDES))[1:], want["rhod"]) < tolerance
    leg, axis = balls(run)
    assert len(leg) == (18 if drawing == "library" else 15)
    assert off(run["lam"][1:], want["force_on_platform"][:, leg, axis]) < tolerance
    energies = [("kinetic", "kinetic_energy"), ("work_actuators", "work")]
    for name, variable in energies:
        assert off(run[variable][1:], [row[name] for row in rows]) < 10 * tolerance  # J, of up to 30
    # falling freely it passes poses that its legs cannot hold
    assert not [said for said in run.complaints() if "lose their hold" not in said]
