"""Arms with a box and a hexapod at single states: accelerations of all joints and of the load, forces at the tips."""

from functools import cache

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import closedchain as cc
from closedchain.model.library.arms_with_box import PUMA
from tests.reference.compare import load, native_accelerations, off, pointwise, relative

NUMBERS = load("lilly_orin1989/states")
PARAMETERS, STATES = NUMBERS["parameters"], NUMBERS["states"]
POSE = [f"pose.{x}" for x in ("x", "y", "z", "qw", "qx", "qy", "qz")]
TWIST = [f"pose.{x}" for x in ("wx", "wy", "wz", "vx", "vy", "vz")]

AGREEMENT = 1e-12  # the two of the reference agree to 2e-13 (`spread`); ours meet them to 6e-14

ARMS = {"rigid at rest": 6, "point moving": 6, "straight wrist": 6, "without wrists": 3}
LEG = ("yaw", "hip", "knee")


def quaternion(R):
    """(w, x, y, z)."""
    return np.roll(Rotation.from_matrix(R).as_quat(), 1).tolist()


class Machine:
    """A drawing with torques as plain numbers, at a state of the reference, and what it says there."""

    def __init__(self, m, state, joints):
        self.joints = joints  # of each limb, in the order of the reference's rows
        torques = {
            name: tau
            for row, taus in zip(joints, state["tau"], strict=True)
            for name, tau in zip(row, taus, strict=True)
        }
        for name, torque in torques.items():
            m.motor(name, torque=torque)
        topology = m.assemble().topology
        self.labels = topology.v_labels
        coordinates = dict(zip(POSE, [*state["p0"], *quaternion(state["R0"])], strict=True)) | self.by_name(state["q"])
        velocities = dict(zip(TWIST, state["v0"], strict=True)) | self.by_name(state["qd"])
        q, v = (
            [values[label] for label in labels]
            for values, labels in ((coordinates, topology.q_labels), (velocities, self.labels))
        )
        self.v = np.array(v)
        self.at = pointwise(m)(q, v)
        self.native = native_accelerations(m, q, v)

    def by_name(self, rows):
        return {
            name: x for names, row in zip(self.joints, rows, strict=True) for name, x in zip(names, row, strict=True)
        }

    def accelerations(self, a):
        """Of the joints by limb, and of the load: angular, and linear at its origin, in its own axes."""
        named = dict(zip(self.labels, a, strict=True))
        twist, rate = (
            [values[name] for name in TWIST] for values in (dict(zip(self.labels, self.v, strict=True)), named)
        )
        linear = np.array(rate[3:]) + np.cross(twist[:3], twist[3:])
        return [[named[name] for name in row] for row in self.joints], [*rate[:3], *linear]


@cache
def arms(name):
    state = STATES[name]
    grasps = [(g["R"], g["p"]) for g in PARAMETERS["grasp"]]
    if "grasp1" in state:
        grasps[0] = (state["grasp1"]["R"], state["grasp1"]["p"])
    m = cc.library.arms_with_box(state["contact"], joints=ARMS[name], drive="none", grasps=grasps)
    return Machine(m, state, [[f"arm{k} joint{i + 1}" for i in range(ARMS[name])] for k in (1, 2, 3)])


def tips(state):
    """Axes of the tips in the world: those of the last links."""
    for base, q in zip(PARAMETERS["arm_base"], state["q"], strict=True):
        turns = [Rotation.from_euler("ZX", [x, row[2]]) for x, row in zip(q, PARAMETERS["puma"], strict=False)]
        yield np.array(base["R"]) @ np.linalg.multi_dot([turn.as_matrix() for turn in turns])


# ---- arms that carry a box ---------------------------------------------------------------------------------------


def test_numbers_of_the_library():
    """Those of the reference, but for the first link and for what was moved to it from the third."""
    for mine, row in zip(PUMA, PARAMETERS["puma"], strict=True):
        assert [*mine[:3], *mine[4]] == [*row[:3], *row[4]]
    for k in (1, 3, 4, 5):
        assert [PUMA[k][3], *PUMA[k][5]] == [PARAMETERS["puma"][k][3], *PARAMETERS["puma"][k][5]]
    moved = 0.005
    assert PUMA[0][5][1] == PARAMETERS["puma"][0][5][1] - moved
    assert off(PUMA[2][5], np.add(PARAMETERS["puma"][2][5], [moved, 0, moved])) < 1e-16  # a rounding


@pytest.mark.parametrize("name", ARMS)
def test_the_state_is_closed(name):
    machine = arms(name)
    assert np.abs(machine.at.c).max() < 1e-14  # m: some roundings of lengths of 1 m
    assert np.abs(machine.at.A @ machine.v).max() < 1e-14


@pytest.mark.parametrize("name", ARMS)
def test_accelerations(name):
    machine, state = arms(name), STATES[name]
    for a in (machine.at.a, machine.native):
        joints, box = machine.accelerations(a)
        assert relative(joints, state["qdd"]) < AGREEMENT
        assert relative(box, state["a0"]) < AGREEMENT


@pytest.mark.parametrize("name", ARMS)
def test_forces_on_the_box(name):
    machine, state = arms(name), STATES[name]
    found = []
    for lam, R in zip(machine.at.lam.reshape(3, -1), tips(state), strict=True):
        moment = lam[3:] if len(lam) == 6 else np.zeros(3)
        found.append([*moment, *(R.T @ lam[:3])])
    assert relative(found, state["f"]) < AGREEMENT


def test_reactions_of_a_run_are_these_forces():
    """The same forces from the balance of all bodies."""
    state = STATES["rigid at rest"]
    m = cc.library.arms_with_box(drive="none")
    for k, torques in enumerate(state["tau"], 1):
        for i, torque in enumerate(torques, 1):
            m.motor(f"arm{k} joint{i}", torque=torque)
    guess = {f"arm{k} joint{i}": x for k, row in enumerate(state["q"], 1) for i, x in enumerate(row, 1)}
    run = cc.simulate(m, m.assemble(guess=guess), until=1e-3, t_eval=[0.0])
    found = []
    for k in (1, 2, 3):
        reaction = run.reaction(f"arm{k} tip", axes="joint").isel(time=0)
        found.append([*reaction.moment.values, *reaction.force.values])
    assert relative(found, state["f"]) < AGREEMENT


# ---- the hexapod -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def hexapod():
    state = STATES["hexapod at rest"]
    joints = [[f"leg{k} {part}" for part in LEG] for k in range(1, 7)]
    return Machine(cc.library.hexapod("none"), state, joints), state


def test_the_hexapod_stands(hexapod):
    machine, _ = hexapod
    assert np.abs(machine.at.c).max() < 1e-15  # m


def test_accelerations_of_the_hexapod(hexapod):
    machine, state = hexapod
    for a in (machine.at.a, machine.native):
        joints, body = machine.accelerations(a)
        assert relative(joints, state["qdd"]) < AGREEMENT
        assert relative(body, state["a0"]) < AGREEMENT


def test_forces_on_the_feet(hexapod):
    machine, state = hexapod
    assert relative(machine.at.lam.reshape(6, 3), state["ground_force_on_foot"]) < AGREEMENT


def test_forces_at_the_hips(hexapod):
    """Of the legs on the body, in the axes of the coxas (the yaw angles are zero)."""
    _, state = hexapod
    m = cc.library.hexapod("none")
    for k, torques in enumerate(state["tau"], 1):
        for part, torque in zip(LEG, torques, strict=True):
            m.motor(f"leg{k} {part}", torque=torque)
    run = cc.simulate(m, until=1e-3, t_eval=[0.0])
    found = []
    for k in range(1, 7):
        reaction = run.reaction(f"leg{k} yaw", axes="joint").isel(time=0)  # of the body on the coxa
        found.append([*-reaction.moment.values, *-reaction.force.values])
    assert relative(found, state["f"]) < AGREEMENT
