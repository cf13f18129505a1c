"""Two parallel robots that follow paths under control: a planar 3-RRR on a rose, and a Delta that picks and places.

Each takes four steps: say where the platform is to be, find the motion of all joints (`cc.follow`), close the loop with
a law on the motors (`m.control`), and simulate. The second robot is worse off: its law believes in a wrong load, and
its motors have a limit. Run it with ``python examples/follow_a_path.py``.
"""

from pathlib import Path

import numpy as np

import closedchain as cc
from closedchain.results.run import Run

OUT = Path("out")
ARMS = ["arm1 motor", "arm2 motor", "arm3 motor"]


def mechanism() -> cc.Mechanism:
    return cc.library.rrr3()


def rose() -> Run:
    """The planar robot with three motors for its three freedoms: position and angle."""
    robot = mechanism()
    path = cc.paths.rose(0.05, period=2.0).turned(about=(0, 0, 1), angle=0.0)
    motion = cc.follow(robot, {"platform": path}, until=2.0, samples=41)
    robot.control(cc.ComputedTorque(motion, kp=400.0, kd=40.0))
    run = cc.simulate(robot, motion.start, until=2.0)

    off = np.linalg.norm(run.frame("platform").position.values - path.at(run.t).value, axis=1)
    print(run)
    print(f"the platform follows the rose within {off.max():.0e} m")
    return run


def pick_and_place() -> Run:
    """Up, across and down in half a second, and a rest; the gripper holds 0.3 kg that the law knows nothing of."""
    robot = cc.library.delta("none")
    corners = [(-0.15, 0, -0.8), (-0.12, 0, -0.72), (0.12, 0.1, -0.72), (0.15, 0.1, -0.8)]
    path = cc.paths.spline(corners, duration=0.5, ends="rest").then(cc.paths.rest(corners[-1], 0.1))
    motion = cc.follow(robot, {"platform": path}, samples=61)
    robot.control(cc.ComputedTorque(motion, kp=2500.0, joints=ARMS, limit=40.0, parameters={"platform.mass": 1.0}))
    robot.parameters["platform.mass"] = 1.3
    run = cc.simulate(robot, motion.start, until=0.6)

    off = np.linalg.norm(run.frame("platform").position.values - path.at(run.t).value, axis=1)
    torques = run.dataset[[f"{arm}.control" for arm in ARMS]].to_array()
    print(run)
    print(f"the gripper is off by up to {1e3 * off.max():.1f} mm, and by {1e3 * off[-1]:.1f} mm in the end")
    print(f"the motors give up to {float(abs(torques).max()):.1f} N m")
    return run


def main() -> None:
    OUT.mkdir(exist_ok=True)
    pictures = {
        "rose.png": (rose(), [f"base{k}.control" for k in (1, 2, 3)]),
        "pick_and_place.png": (pick_and_place(), ["pose.x", "pose.z", *(f"{arm}.control" for arm in ARMS)]),
    }
    for name, (run, shown) in pictures.items():
        run.plot(*shown, path=OUT / name)
        print(f"wrote {OUT / name}")


if __name__ == "__main__":
    main()
