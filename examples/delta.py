"""A Delta robot of your own drawing, which moves its tool along a path.

Three arms turn on the ceiling; a pair of rods leads from each of them to the tool plate, with a universal joint at the
arm and a ball joint at the plate. The pairs are parallelograms, so the plate keeps its orientation. A free joint gives
the plate's pose a name, and the library then cuts the six ball joints.

The angles that belong to a path of the tool come from `assemble` with the pose held (inverse kinematics). The motors
follow them as a table, with a simple controller. Run it with ``python examples/delta.py``.
"""

from math import cos, radians, sin
from pathlib import Path

import numpy as np

import closedchain as cc

OUT = Path("out")
ARMS = {k: radians(120 * (k - 1)) for k in (1, 2, 3)}
SIDES = {"left": 0.05, "right": -0.05}
PERIOD = 0.8  # s, there and back


def mechanism() -> cc.Mechanism:
    m = cc.Mechanism("delta")
    tool = m.body("tool", cc.disc(radius=0.06, mass=0.4, thickness=0.01))
    m.free("pose", m.ground, tool, guess=(0, 0, -0.7, 1, 0, 0, 0))
    length = m.parameter("rod length", 0.7)
    for k, azimuth in ARMS.items():
        # x of these frames points outwards, z upwards: a positive angle about y lowers the arm
        shoulder = m.ground.at(0.2 * cos(azimuth), 0.2 * sin(azimuth), 0, rpy=(0, 0, azimuth))
        arm = m.body(f"arm{k}", cc.rod(length=0.3, mass=0.4))
        m.revolute(f"motor{k}", shoulder, arm, axis=(0, 1, 0), guess=0.4)
        for side, y in SIDES.items():
            rod = m.body(f"{side} rod{k}", cc.rod(length=length, mass=0.06, radius=0.005))
            at = (0.06 * cos(azimuth) - y * sin(azimuth), 0.06 * sin(azimuth) + y * cos(azimuth), 0)
            m.universal(f"{side} elbow{k}", arm.at(0.3, y, 0), rod, axes=((0, 1, 0), (0, 0, 1)), guess=(1.5, 0))
            m.spherical(f"{side} wrist{k}", rod.tip, tool.frame(f"{side}{k}", at=at))
    m.start = {"motor1": 0.4, "motor2": 0.4, "motor3": 0.4}
    return m


def path(s: float) -> tuple[float, ...]:
    """Pose of the tool for s from 0 to 1: across by 0.3 m, with a lift of 0.08 m, and back."""
    there = (1 - cos(2 * np.pi * s)) / 2
    return (-0.15 + 0.3 * there, 0.05 * sin(2 * np.pi * s), -0.72 + 0.08 * sin(np.pi * there) ** 2, 1, 0, 0, 0)


def main() -> None:
    m = mechanism()
    print("\n".join(str(m).splitlines()[-2:]))

    # inverse kinematics: hold the pose, read the angles
    places = np.linspace(0, 1, 81)
    poses = [m.assemble({"pose": path(s)}) for s in places]
    for k in ARMS:
        joint = m.joints[f"motor{k}"]
        angles = [pose[joint.name] for pose in poses]
        wanted = cc.math.interp(cc.t, PERIOD * places, angles)
        rate = cc.math.interp(cc.t, PERIOD * places, np.gradient(angles, PERIOD * places))
        m.motor(joint, torque=400.0 * (wanted - joint.q) + 6.0 * (rate - joint.v))

    run = cc.simulate(m, m.assemble({"pose": path(0)}), until=PERIOD, rtol=1e-7)
    reached = run.frame("tool")["position"].values
    asked = np.array([path(s)[:3] for s in run.t / PERIOD])
    torques = run.dataset[[f"motor{k}.motor" for k in ARMS]].to_array()
    tilt = 2 * abs(run.dataset[["pose.qx", "pose.qy", "pose.qz"]].to_array()).max()
    print(run)
    print(f"the tool follows within {1e3 * np.linalg.norm(reached - asked, axis=1).max():.1f} mm")
    print(f"the motors need up to {float(abs(torques).max()):.1f} N m")
    print(f"the plate tilts by no more than {float(tilt):.0e} rad, the loops stay closed: {run.good}")

    OUT.mkdir(exist_ok=True)
    run.plot("pose.x", "pose.z", *(f"motor{k}.motor" for k in ARMS), path=OUT / "delta.png")
    print(f"wrote {OUT / 'delta.png'}")


if __name__ == "__main__":
    main()
