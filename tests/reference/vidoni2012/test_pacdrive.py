"""PacDrive with rigid links (Vidoni et al. 2012): values at two poses, and the motion under two torque pulses."""

import math

import numpy as np
import pytest

import closedchain as cc
from closedchain.derive.equations import derive
from closedchain.pose.state import parameter_vector
from tests.reference.compare import columns, load, off

NUMBERS = load("vidoni2012/pacdrive")
PRINTED = 1e-12  # all numbers are printed to 12 decimals

# bodies, the direction of a link in them, and where a joint lies on them
LINKS = {str(k): (f"link{k}", 0.0) for k in (1, 2, 3, 4, 6, 10)} | {
    "5": ("tool", -90.0),
    "7": ("triangle", -90.0),
    "8": ("triangle", 150.0),
    "9": ("triangle", 30.0),
    "11": ("tool", -30.0),
}
JOINTS = {
    "3": "link3", "4": "link4", "5": "tool", "0": "tool.tip",
    "7": "triangle.joint7", "9": "link10", "11": "tool.joint11",
}  # fmt: skip


class Pose:
    """The robot at rest at motor angles (degrees), without torques."""

    def __init__(self, name):
        self.want = NUMBERS["assembled"][name]
        angles = [math.radians(float(x)) for x in name.removeprefix("q=").split(",")]
        self.m = cc.library.pacdrive("none", tuple(angles))
        self.start = self.m.assemble()
        self.run = cc.simulate(self.m, self.start, until=1e-3, t_eval=[0.0])
        e = derive(self.m)
        terms = e.function("terms", {"M": e.M, "h": e.h, "A": e.closure.A})
        got = terms(0.0, self.start.q, self.start.v, parameter_vector(self.m))
        self.M, self.h, A = (np.array(x) for x in got)
        labels = self.start.topology.v_labels
        motors = [labels.index("joint1"), labels.index("joint2")]
        others = [i for i in range(len(labels)) if i not in motors]
        # all velocities from those of the motors
        S = np.zeros((len(labels), 2))
        S[motors] = np.eye(2)
        S[others] = -np.linalg.solve(A[:, others], A[:, motors])
        self.S = S

    def rate(self, column, frame):
        """Velocity of a frame, and angular velocity about z, for a unit rate of one motor."""
        v = self.m.assemble(dict(self.m.start), velocity={"joint1": 1.0 - column, "joint2": float(column)})
        found = cc.simulate(self.m, v, until=1e-3, t_eval=[0.0]).frame(frame).isel(time=0)
        return found.velocity.values[:2], float(found.angular_velocity[2])


@pytest.fixture(scope="module", params=NUMBERS["assembled"])
def pose(request):
    return Pose(request.param)


def turned(run, body):
    """Direction of a body's x axis, degrees."""
    R = run.frame(body).rotation.values[0]
    return math.degrees(math.atan2(R[1, 0], R[0, 0]))


def test_masses():
    m = cc.library.pacdrive()
    value = m.values()
    masses = {name: value(body.properties.mass) for name, body in m.bodies.items()}
    for link in NUMBERS["links"]:
        if link["name"] in ("1", "2", "3", "4", "6", "10"):
            assert masses[f"link{link['name']}"] == pytest.approx(link["mass"], rel=1e-14)
    assert sum(masses.values()) == pytest.approx(NUMBERS["total_mass"], rel=1e-14)


def test_joints_are_where_they_should_be(pose):
    for joint, frame in JOINTS.items():
        assert off(pose.run.frame(frame).position.values[0, :2], pose.want["joints"][joint]) < PRINTED


def test_directions_of_links(pose):
    for link, (body, offset) in LINKS.items():
        found = turned(pose.run, body) + offset - pose.want["link_angles_deg"][link]
        assert abs((found + 180) % 360 - 180) < 1e-9  # printed to ten decimals of a degree


def test_rates_of_links_and_of_the_tip(pose):
    tip = []
    for column in (0, 1):
        tip.append(pose.rate(column, "tool.tip")[0])
        for link in ("3", "4", "5", "6", "7", "10"):
            assert abs(pose.rate(column, LINKS[link][0])[1] - pose.want["dtheta_dq"][link][column]) < PRINTED
    assert off(np.array(tip).T, pose.want["tip_jacobian"]) < PRINTED


def test_inertia_gravity_and_release(pose):
    S, want = pose.S, pose.want
    M, gravity = S.T @ pose.M @ S, -(S.T @ pose.h).ravel()
    assert off(M, want["rigid_mass_matrix"]) < PRINTED
    assert off(gravity, want["gravity_generalised_torque"]) < 10 * PRINTED  # sums of 8 N m
    assert off(np.linalg.solve(M, gravity), want["release_acceleration"]) < 1e-9  # printed to nine or ten decimals
    released = columns(pose.run, "joint1''", "joint2''")[0]
    assert off(released, want["release_acceleration"]) < 1e-9
    assert float(pose.run["potential_energy"][0]) == pytest.approx(want["potential"], abs=10 * PRINTED)


KINKS = (0.1, 0.12, 0.2, 0.22, 0.4)  # s: a run from one to the next sees a smooth torque


def pieces(m, times):
    """Runs from kink to kink; each keeps the times that lie in it."""
    state = m.assemble()
    for end in KINKS:
        inside = times[(times >= state.t) & (times < end)]
        run = cc.simulate(m, state, until=end, rtol=1e-13, t_eval=[*inside, end])
        yield run
        state = run.state()


@pytest.mark.parametrize(("case", "drive"), [("drop", "step"), ("drop_smooth", "smooth")])
def test_motion(case, drive):
    reference = NUMBERS["rigid"][case]
    want = dict(zip(reference["columns"], np.array(reference["rows"]).T, strict=True))
    compared = []
    for run in pieces(cc.library.pacdrive(drive), want["t"]):
        tip = run.frame("tool.tip")
        rows = np.searchsorted(want["t"], run.t)
        compared += rows.tolist()
        motors = columns(run, "joint1", "joint2", "joint1'", "joint2'")
        got = dict(zip(("q1", "q2", "q1d", "q2d"), motors.T, strict=True))
        got |= dict(zip(("tip_x", "tip_y"), tip.position.values.T, strict=False))
        got |= dict(zip(("tip_vx", "tip_vy"), tip.velocity.values.T, strict=False))
        got |= {"kinetic": run["kinetic_energy"], "potential": run["potential_energy"]}
        for name, values in got.items():
            # all digits of motions up to 10 rad/s and of energies up to 20 J, of which 12 decimals are printed
            assert off(values, want[name][rows]) < (2e-11 if name in ("kinetic", "potential") else 5e-12), name
        assert run.good
    assert set(compared) == set(range(len(want["t"])))
