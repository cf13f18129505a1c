"""K. W. Lilly and D. E. Orin (1989)."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import closedchain as cc
from closedchain.derive.equations import derive
from papers.lilly_orin import counts, machines
from papers.lilly_orin.five_steps import five_steps, forces_that_wait
from papers.paper import CORRECTED, HOLDS
from tests.papers.computed import computed
from tests.reference.compare import load, relative

METHOD = {
    "super-real-time": HOLDS,
    "loops are broken": HOLDS,
    "loops inside chains": HOLDS,
    "any number of freedoms": HOLDS,
    "both types": HOLDS,
    "constant spaces": CORRECTED,
    "velocity terms": CORRECTED,
    "special case": HOLDS,
    "rigid grasps": HOLDS,
    "known accelerations": HOLDS,
    "singular chains": CORRECTED,
    "effective inertia": HOLDS,
    "five steps": HOLDS,
    "drift": HOLDS,
}
WORK = {
    "best from six joints": CORRECTED,
    "arithmetic of Table 2": HOLDS,
    "rows of Table 2": HOLDS,
    "row of Table 3": HOLDS,
    "O(mN)": HOLDS,
    "recursive doubling": HOLDS,
    "a processor for each chain": HOLDS,
    "significant improvement": CORRECTED,
}
VERDICTS = METHOD | WORK

NUMBERS = load("lilly_orin1989/states")
STATES, PARAMETERS = NUMBERS["states"], NUMBERS["parameters"]
GOLDEN = 1e-11  # the two implementations behind the numbers agree to 2e-13; inverses of a condition of 1e5 lose more
STRAIGHT = 1e-4  # eigenvalues of a chain that count as none


def test_lilly_orin_method():
    found = computed("lilly_orin", METHOD, (
        "section1", "fig1", "fig2", "section2", "eq14", "eq21", "eq22", "eq38", "eq46", "table1", "step5",
    ))  # fmt: skip

    # both within some roundings of quantities of size 1, and far from what they are compared with
    assert found["five steps"]["equations"] < 1e-11
    assert max(found["any number of freedoms"].values()) < 1e-12
    assert found["singular chains"]["straight, pseudo-inverse"] > 0.1
    assert found["singular chains"]["straight, unknowns"] == 7 and found["singular chains"]["two joints, unknowns"] == 9
    assert found["velocity terms"]["with (2)"] > 0.005
    assert found["known accelerations"]["hexapod, joints"] > 0.05


def test_lilly_orin_work():
    found = computed("lilly_orin", WORK, ("section3", "table2", "table3", "section5", "parallel", "conclusion"))

    # golden: operation_counts_of_the_paper of lilly_orin.json
    rows = found["rows of Table 2"]
    for case, golden in (("6, n_c = 3", (3402, 2772)), ("6, n_c = 6", (3733, 3076)), ("12, n_c = 6", (7669, 6352))):
        assert tuple(rows[f"N = {case}, {kind}, paper"] for kind in ("mul", "add")) == golden
    assert [found["row of Table 3"][f"machine, {kind}"] for kind in ("mult.", "add.")] == [10292, 8468]
    # as docs/theory/operational_space.md says
    assert (found["O(mN)"]["joint"], found["O(mN)"]["chain"]) == (735, 3858)
    assert found["a processor for each chain"]["numbers summed"] == 27


@pytest.mark.parametrize("way", ["recursive", "dense"])
def test_the_counted_expressions_are_the_right_ones(way):
    """Step 1 as it is counted, against that of the same machine in NumPy."""
    joints, machine = 6, machines.general(1, 6)
    chain = counts.open_chain(joints, 3)
    at = machines.values_at_random(chain.e, getattr(chain, way)() | {"R": chain.e.motion.frame(chain.tip).X.R})
    wanted = machine.chains[0]
    gravity = np.r_[np.zeros(3), at["R"].T @ machines.GRAVITY]
    # condition of the inertia matrix: 1e3
    assert relative(at["q_open"][:, 0], wanted.q_open) < 1e-12
    assert relative(at["x_open"][:, 0] + gravity, wanted.x_open) < 1e-12
    assert relative(at["Omega"], wanted.Omega) < 1e-12
    assert relative(np.tril(at["Lambda_inv"]), np.tril(wanted.Lambda_inv)) < 1e-12


# ---- golden states ---------------------------------------------------------------------------------------------------


def arms(name):
    """Three arms with a box at a state of the reference."""
    state = STATES[name]
    grasps = [(g["R"], g["p"]) for g in PARAMETERS["grasp"]]
    if "grasp1" in state:
        grasps[0] = (state["grasp1"]["R"], state["grasp1"]["p"])
    joints = len(state["q"][0])
    m = cc.library.arms_with_box(state["contact"], joints=joints, drive="none", grasps=grasps)
    quaternion = np.roll(Rotation.from_matrix(state["R0"]).as_quat(), 1)
    q = dict(zip(machines.POSE, [*state["p0"], *quaternion], strict=True))
    v = dict(zip(machines.TWIST, state["v0"], strict=True))
    for k in range(3):
        for i in range(joints):
            label = f"arm{k + 1} joint{i + 1}"
            m.motor(label, torque=state["tau"][k][i])
            q[label], v[label] = state["q"][k][i], state["qd"][k][i]
    labels = derive(m).topology
    at = [np.array([x[label] for label in names]) for x, names in ((q, labels.q_labels), (v, labels.v_labels))]
    return machines.machine(name, m, *at), state


@pytest.mark.parametrize("name", ["rigid at rest", "point moving", "without wrists"])
def test_the_five_steps_at_golden_states(name):
    """Also with q'' and f, whose signs the paper's (47) and (48) have."""
    x, state = arms(name)
    found = five_steps(x.member, x.chains)
    assert relative(found.a_0, state["a0"]) < GOLDEN
    assert relative(found.f, state["f"]) < GOLDEN
    assert relative(found.qdd, state["qdd"]) < GOLDEN


def test_forces_that_wait_at_a_straight_wrist():
    x, state = arms("straight wrist")
    found, waiting = forces_that_wait(x.member, x.chains, STRAIGHT)
    assert waiting >= 1
    assert relative(found.a_0, state["a0"]) < GOLDEN
    assert relative(found.f, state["f"]) < GOLDEN
    assert relative(found.qdd, state["qdd"]) < GOLDEN


def test_the_hexapod_from_the_ground_at_its_golden_state():
    """Joints are drawn the other way round than those of the reference."""
    state = STATES["hexapod at rest"]
    m = machines.vehicle()
    for k, torques in enumerate(state["tau"], 1):
        for part, torque in zip(machines.LEG, torques, strict=True):
            m.motor(f"leg{k} {part}", torque=-torque)
    start = m.assemble()
    x = machines.machine("hexapod", m, start.q, start.v)
    found = five_steps(x.member, x.chains)
    assert relative(found.a_0, state["a0"]) < GOLDEN
    assert relative(found.f, state["f"]) < GOLDEN
    # of each leg: the ball joint of the foot, then knee and hip
    bends = [[-q[-1], -q[-2]] for q in found.qdd]
    assert relative(bends, np.array(state["qdd"])[:, 1:]) < GOLDEN
