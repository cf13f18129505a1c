"""`OperationalSpace`: the states of Lilly and Orin's machines, singular chains, both types, and what it gives back."""

from functools import cache

import casadi as ca
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import closedchain as cc
from benchmarks.growth import arms as arms_of
from closedchain.close.formulation import Choice
from closedchain.derive.articulated import ArticulatedBodies
from closedchain.derive.equations import derive
from closedchain.derive.rnea import body_forces
from closedchain.derive.spatial import Vector6
from closedchain.model.library.legged import HEXAPOD_HIPS, HEXAPOD_LEG, UPRIGHT
from closedchain.model.library.legged import G as GRAVITY
from closedchain.pose.redundancy import independent_rows
from closedchain.pose.state import parameter_vector
from papers.lilly_orin.machines import table
from tests.reference.compare import load, relative
from tests.turns import with_counters

NUMBERS = load("lilly_orin1989/states")
STATES, PARAMETERS = NUMBERS["states"], NUMBERS["parameters"]
ARMS = {"rigid at rest": 6, "point moving": 6, "straight wrist": 6, "without wrists": 3}
POSE = [f"pose.{x}" for x in ("x", "y", "z", "qw", "qx", "qy", "qz")]
TWIST = [f"pose.{x}" for x in ("wx", "wy", "wz", "vx", "vy", "vz")]

GOLDEN = 1e-10  # as promised; the two implementations behind the numbers agree to 2e-13


def solve(m, q, v, method=None, guarded=False, t=0.0):
    """Accelerations by name, and lam."""
    e = derive(m)
    rows = independent_rows(e, cc.State(m, np.asarray(q, float), np.asarray(v, float), t=t))
    choice = Choice(rows.moving, guarded=True) if guarded else Choice(rows.kept)
    closed = (method or cc.OperationalSpace()).close(e, choice)
    f = e.function("f", {"a": closed.a, "lam": closed.lam})
    a, lam = (np.array(x)[:, 0] for x in f(t, q, v, parameter_vector(m)))
    return dict(zip(e.topology.v_labels, a, strict=True)), lam


def both(m, q, v, reference=None, **options):
    """Largest difference from `Multipliers`, relative to the largest value: of accelerations and of forces."""
    mine, wanted = (solve(m, q, v, method, **options) for method in (cc.OperationalSpace(reference), cc.Multipliers()))
    a, b = (list(x[0].values()) for x in (mine, wanted))
    return relative(a, b), relative(mine[1], wanted[1])


def closed_state(m, seed=0, **values):
    """The drawing's own pose with random velocities that keep it closed."""
    e, start = derive(m), m.assemble(**values)
    f = e.function("A", {"A": e.closure.A})
    A = np.array(f(0, start.q, start.v, parameter_vector(m)))
    v = np.random.default_rng(seed).normal(size=e.topology.nv)
    return start.q, v - np.linalg.lstsq(A, A @ v, rcond=1e-10)[0]


# ---- the reference states ------------------------------------------------------------------------------------------


def load_acceleration(a, v0):
    """Angular, and of the origin, in the load's axes: (2)."""
    twist = np.array([a[name] for name in TWIST])
    return [*twist[:3], *(twist[3:] + np.cross(v0[:3], v0[3:]))]


@cache
def arms(name):
    """Three arms with a box, driven by plain torques, and their state."""
    state = STATES[name]
    grasps = [(g["R"], g["p"]) for g in PARAMETERS["grasp"]]
    if "grasp1" in state:
        grasps[0] = (state["grasp1"]["R"], state["grasp1"]["p"])
    m = cc.library.arms_with_box(state["contact"], joints=ARMS[name], drive="none", grasps=grasps)
    joints = [[f"arm{k} joint{i + 1}" for i in range(ARMS[name])] for k in (1, 2, 3)]
    q = dict(zip(POSE, [*state["p0"], *np.roll(Rotation.from_matrix(state["R0"]).as_quat(), 1)], strict=True))
    v = dict(zip(TWIST, state["v0"], strict=True))
    for names, *columns in zip(joints, state["tau"], state["q"], state["qd"], strict=True):
        for joint, torque, x, rate in zip(names, *columns, strict=True):
            m.motor(joint, torque=torque)
            q[joint], v[joint] = x, rate
    topology = derive(m).topology
    return m, [q[label] for label in topology.q_labels], [v[label] for label in topology.v_labels], joints


@pytest.mark.parametrize("name", ARMS)
def test_arms_with_a_box(name):
    """a_0 (45), the joints (48) and the forces (47), also where the wrist of an arm is straight."""
    (m, q, v, joints), state = arms(name), STATES[name]
    a, lam = solve(m, q, v)
    assert relative(load_acceleration(a, state["v0"]), state["a0"]) < GOLDEN
    assert relative([[a[x] for x in row] for row in joints], state["qdd"]) < GOLDEN
    # the force of a chain on the box is lam, in world axes: its size does not depend on axes
    sizes = np.linalg.norm(lam.reshape(3, -1)[:, :3], axis=1)
    assert relative(sizes, np.linalg.norm(np.array(state["f"])[:, 3:], axis=1)) < GOLDEN
    # all components are those of `Multipliers`, which tests/reference/lilly_orin1989 compares with f one by one
    assert relative(lam, solve(m, q, v, cc.Multipliers())[1]) < GOLDEN


def test_the_straight_wrist_is_singular():
    """So the test above tests what it says: five of six directions of the first tip can move."""
    m, q, v, _ = arms("straight wrist")
    mobility = tip_mobility(m, "arm1 link6", q, v)
    mobility /= np.sqrt(np.outer(np.diag(mobility), np.diag(mobility)))
    values = np.linalg.eigvalsh(mobility)
    assert values[0] < 1e-15 < 1e-6 < values[1]


def tip_mobility(m, body, q, v):
    """Lambda_inv of an open chain at the origin of its last link."""
    e = derive(m)
    eye, tip = ca.SX.eye(6), e.topology.link_of[body]
    bodies = ArticulatedBodies(e.limbs, {})
    z, _ = bodies.inward({tip: Vector6(eye[:3, :], eye[3:, :])}, {})
    return np.array(e.function("f", {"L": bodies.product(z, z)})(0, q, v, parameter_vector(m)))


def test_step_one_is_the_open_chain():
    """Accelerations of an arm that holds nothing (9), against its own inertia matrix."""
    m, q, v, _ = arms("point moving")
    e = derive(m)
    bodies = ArticulatedBodies(e.limbs, {})
    wrenches = {i: -f for i, f in enumerate(body_forces(e.limbs, e.motion, e.applied.wrenches))}
    z, _ = bodies.inward(wrenches, {link.index: e.tau[link.v, :] for link in e.topology.links})
    f = e.function("f", {"M": e.M, "h": e.h, "tau": e.tau, "a": bodies.outward(z)})
    M, h, tau, a = (np.array(x) for x in f(0, q, v, parameter_vector(m)))
    assert relative(a, np.linalg.solve(M, tau - h)) < 1e-12  # condition of some 1e3


@pytest.mark.parametrize("bend", [1e-2, 1e-4, 1e-6, 1e-8])
def test_near_a_straight_wrist(bend):
    """Nothing is lost on the way into the singular pose: the grasp is where the bent arm has it."""
    m, q, v, _ = arms("straight wrist")
    e = derive(m)
    q = np.array(q)
    q[e.topology.q_labels.index("arm1 joint5")] += bend
    terms = {"M": e.M, "h": e.h, "tau": e.tau, "A": e.closure.A, "gamma": e.closure.gamma}
    M, h, tau, A, gamma = (np.array(x) for x in e.function("f", terms)(0, q, v, parameter_vector(m)))
    K = np.block([[M, A.T], [A, np.zeros((18, 18))]])
    b = np.vstack([tau - h, -gamma])
    x = np.linalg.solve(K, b)
    x += np.linalg.solve(K, b - K @ x)  # refined once
    closed = cc.OperationalSpace().close(e, Choice(tuple(range(18))))
    a, lam = (np.array(y) for y in e.function("f", {"a": closed.a, "lam": closed.lam})(0, q, v, parameter_vector(m)))
    assert relative(a, x[: len(M)]) < 1e-9
    assert relative(lam, x[len(M) :]) < 1e-9


# ---- Type 1 --------------------------------------------------------------------------------------------------------


def hexapod_from_the_ground():
    """The hexapod as the paper opens it: chains begin at the feet, and end at driven hips, which are cut."""
    state = STATES["hexapod at rest"]
    m = cc.Mechanism("hexapod", gravity=(0, 0, -GRAVITY))
    body = m.body("body", cc.rigid(30.0, (0.01, -0.005, 0.02), (0.9, 2.6, 3.2)))
    m.free("pose", m.ground, body)
    q = dict(zip(POSE, [*state["p0"], 1, 0, 0, 0], strict=True))
    for k, ((place, outwards), angles, torques) in enumerate(
        zip(HEXAPOD_HIPS, state["q"], state["tau"], strict=True), 1
    ):
        coxa, femur, tibia = (
            m.body(f"leg{k} {part}", cc.rigid(*link))
            for part, link in zip(("coxa", "femur", "tibia"), HEXAPOD_LEG.links, strict=True)
        )
        R = Rotation.from_euler("z", outwards).as_matrix()
        foot = HEXAPOD_LEG.chain(R, np.array(state["p0"]) + place, angles)[3]
        m.spherical(f"leg{k} foot", m.ground.at(*foot[:2], 0.0), tibia.at(HEXAPOD_LEG.lengths[2]), cut=False)
        m.revolute(f"leg{k} knee", femur.at(HEXAPOD_LEG.lengths[1]), tibia)
        m.revolute(f"leg{k} hip", coxa.at(HEXAPOD_LEG.lengths[0], R=UPRIGHT), femur)
        m.revolute(f"leg{k} yaw", body.at(*place, R=R), coxa, cut=True)
        for joint, torque in zip(("yaw", "hip", "knee"), torques, strict=True):
            m.motor(f"leg{k} {joint}", torque=torque)
        assert angles[0] == 0  # so that the leg stays in the plane of its hip
        tibia_turn = Rotation.from_matrix(R @ UPRIGHT) * Rotation.from_euler("z", angles[1] + angles[2])
        quaternion = np.roll(tibia_turn.as_quat(), 1)
        q |= dict(zip((f"leg{k} foot.{x}" for x in ("qw", "qx", "qy", "qz")), quaternion, strict=True))
        q |= {f"leg{k} hip": angles[1], f"leg{k} knee": angles[2]}
    topology = derive(m).topology
    return m, with_counters(topology, [q[label] for label in topology.q_labels[: topology.tree_nq]])


def test_a_hexapod_whose_legs_begin_at_the_ground():
    """N = 5, n_c = 5, and the torque of the hip is the known force h along the freedom of the tip joint."""
    m, q = hexapod_from_the_ground()
    state = STATES["hexapod at rest"]
    topology = derive(m).topology
    assert [joint.name for joint in topology.cuts] == [f"leg{k} yaw" for k in range(1, 7)]
    v = np.zeros(topology.nv)
    a, lam = solve(m, q, v)
    assert relative(load_acceleration(a, state["v0"]), state["a0"]) < GOLDEN
    bends = [[a[f"leg{k} hip"], a[f"leg{k} knee"]] for k in range(1, 7)]
    assert relative(bends, np.array(state["qdd"])[:, 1:]) < GOLDEN
    assert len(lam) == 30


def test_a_hexapod_whose_legs_hang_on_the_body():
    """The same from the other end: N = 3, n_c = 3."""
    state = STATES["hexapod at rest"]
    m = cc.library.hexapod("none")
    joints = [[f"leg{k} {part}" for part in ("yaw", "hip", "knee")] for k in range(1, 7)]
    for names, torques in zip(joints, state["tau"], strict=True):
        for name, torque in zip(names, torques, strict=True):
            m.motor(name, torque=torque)
    q = m.assemble().q
    a, lam = solve(m, q, np.zeros(derive(m).topology.nv))
    assert relative(load_acceleration(a, state["v0"]), state["a0"]) < GOLDEN
    assert relative([[a[name] for name in names] for names in joints], state["qdd"]) < GOLDEN
    assert relative(lam.reshape(6, 3), state["ground_force_on_foot"]) < GOLDEN


@pytest.mark.parametrize(("name", "joint"), [("hexapod", "leg1 knee"), ("rrr3", "elbow1"), ("rrr3", "elbow3")])
def test_a_stretched_chain(name, joint):
    """One limb cannot move along itself: no special case, whether it carries the reference member or not."""
    m = cc.library.get(name).build()
    q, v = closed_state(m)
    q = q.copy()
    q[derive(m).topology.q_labels.index(joint)] = 0.0  # its loop is open here, which the equations do not mind
    assert max(both(m, q, v)) < 1e-10  # regular: condition of some 1e3


# ---- tips of other kinds, loops inside a chain ---------------------------------------------------------------------


@pytest.mark.parametrize("contact", ["rigid", "point", "soft"])
def test_tips_with_velocity_terms(contact):
    """alpha_c is not zero where a finger turns on the box while both move."""
    m = cc.library.arms_with_box(contact)
    q, v = closed_state(m, seed=3)
    assert max(both(m, q, v)) < 1e-9


@pytest.mark.parametrize("which", [None, 0, 1, -1])
def test_a_chain_with_two_tips(which):
    """The parallelograms of a Delta meet the platform at two joints each; any body may be the reference member."""
    m = cc.library.delta()
    reference = which if which is None else derive(m).topology.links[which].body.name
    q, v = closed_state(m)
    assert max(both(m, q, v, reference)) < 1e-9


@pytest.mark.parametrize("reference", [None, "table", "top0", "post1"])
def test_loops_inside_chains(reference):
    """Also inside the chain that carries the reference member."""
    m = table()
    q, v = closed_state(m)
    assert max(both(m, q, v, reference)) < 1e-10


def test_a_thin_rod_may_be_the_reference_member():
    """No inertia about its own axis, and the plane of motion is no coordinate plane: I_0 is singular."""
    m = cc.Mechanism("tilted", gravity=(3.0, -9.0, 2.0))
    turn = Rotation.from_rotvec([0.9, -1.3, 0.4]).as_matrix()
    crank, coupler, rocker = (
        m.body(name, cc.rod(length=x, mass=x)) for name, x in (("crank", 1.0), ("coupler", 4.0), ("rocker", 2.5))
    )
    m.revolute("O", m.ground.at(0, 0, 0, R=turn), crank, guess=1.5)
    m.revolute("A", crank.tip, coupler, guess=-1.2)
    m.revolute("C", m.ground.at(*(turn @ [3, 0, 0]), R=turn), rocker, guess=1.3)
    m.revolute("B", coupler.tip, rocker.tip)
    m.start = {"O": 1.5}
    q, v = closed_state(m)
    assert max(both(m, q, v, "coupler")) < 1e-10


# ---- what else acts ------------------------------------------------------------------------------------------------


def cut_at_b():
    """A four-bar in space, drawn so that its last joint is cut, whatever acts there."""
    m = cc.Mechanism("four-bar", gravity=(0, -9.81, 0))
    crank, coupler, rocker = (
        m.body(name, cc.rod(length=x, mass=x)) for name, x in (("crank", 1.0), ("coupler", 4.0), ("rocker", 2.5))
    )
    m.revolute("O", m.ground, crank, guess=1.5)
    m.revolute("A", crank.tip, coupler, guess=-1.2)
    m.revolute("C", m.ground.at(3, 0, 0), rocker, guess=1.3)
    m.revolute("B", coupler.tip, rocker.tip, cut=True)
    m.start = {"O": 1.5}
    return m


def test_a_motor_and_a_rotor_on_a_cut_joint():
    """The motor is the known force h along the freedom of the tip joint; the rotor resists and is not held."""
    m = cut_at_b()
    m.rotor("O", 0.2, ratio=3.0)
    m.rotor("B", 0.05, ratio=2.0)
    m.motor("B", torque=1.5)
    q, v = closed_state(m)
    assert max(both(m, q, v)) < 1e-11


def test_a_rotor_on_a_ball_joint():
    m = cc.library.gough_stewart()
    m.rotor("leg2 ball", 0.05, coordinate=1)
    q, v = closed_state(m)
    assert max(both(m, q, v)) < 1e-11


def test_a_rotor_without_inertia_is_none():
    m, plain = cut_at_b(), cut_at_b()
    m.rotor("B", 0.0)
    q, v = closed_state(plain)
    np.testing.assert_allclose(solve(m, q, v)[1], solve(plain, q, v)[1], rtol=1e-12)


def test_a_drive_within_a_chain():
    m = cc.library.rrr3()
    m.drive("base2", m.start["base2"] + 0.3 * cc.math.sin(cc.t))
    q, v = closed_state(m)
    assert max(both(m, q, v, t=0.4)) < 1e-10


def test_appendages_ride_along():
    """A pendulum under a platform belongs to it, and needs no closure."""
    m = cc.library.gough_stewart()
    bob = m.body("bob", cc.rigid(mass=0.4, com=(0, 0, -0.3), inertia=(0.01, 0.01, 0.01)))
    m.universal("hook", m.bodies["platform"], bob)
    q, v = closed_state(m)
    assert max(both(m, q, v)) < 1e-10


def test_an_open_chain_is_forward_dynamics():
    m = cc.library.double_pendulum()
    a, lam = solve(m, [0.3, 0.5], [1.0, -2.0])
    wanted, _ = solve(m, [0.3, 0.5], [1.0, -2.0], cc.Multipliers())
    assert lam.shape == (0,)
    np.testing.assert_allclose(list(a.values()), list(wanted.values()), rtol=1e-13)


# ---- singular poses of the whole mechanism -------------------------------------------------------------------------


def test_guarded_rows_that_repeat_others_get_no_force():
    """A flat parallelogram: one row says nothing, and the accelerations are those of the other."""
    m = cc.Mechanism("parallelogram", gravity=(0, -9.81, 0))
    left, right, top = (m.body(n, cc.rod(length=x, mass=1.0)) for n, x in (("left", 1), ("right", 1), ("top", 2)))
    m.revolute("A", m.ground, left)
    m.revolute("B", m.ground.at(2, 0, 0), right)
    m.revolute("C", left.tip, top)
    m.revolute("D", top.tip, right.tip)
    m.motor("A", torque=0.3)
    m.start = {"A": 0.0}
    start = m.assemble()
    mine, wanted = (
        solve(m, start.q, [1.0, 1.0, -1.0], method, guarded=True)
        for method in (cc.OperationalSpace(), cc.Multipliers())
    )
    assert relative(list(mine[0].values()), list(wanted[0].values())) < 1e-12
    assert np.count_nonzero(mine[1]) == 1


def test_guards_do_nothing_elsewhere():
    m = cc.library.rrr3()
    q, v = closed_state(m)
    assert max(both(m, q, v, guarded=True)) < 1e-12


# ---- a run ---------------------------------------------------------------------------------------------------------


def test_a_run():
    """Closed to rounding, energy kept, reactions at a cut joint and at a joint of the tree."""
    m = cc.library.four_bar()
    mine, wanted = (cc.simulate(m, until=0.5, method=x, rtol=1e-10) for x in (cc.OperationalSpace(), cc.Multipliers()))
    assert float(mine.closure_error.max()) < 1e-13
    assert float(abs(mine.energy_error).max()) < 1e-7
    assert abs(float(mine["O"][-1] - wanted["O"][-1])) < 1e-9
    for joint in ("A", "B"):
        last = [run.reaction(joint).isel(time=-1).force.values for run in (mine, wanted)]
        assert relative(*last) < 1e-7


def test_a_link_without_mass_is_refused_with_a_reason():
    """A coupler without mass at the end of its limb: the recursions would divide by nothing."""
    m = cc.Mechanism("light", gravity=(0, -9.81, 0))
    crank, rocker = (m.body(name, cc.rod(length=1.0, mass=1.0)) for name in ("crank", "rocker"))
    coupler = m.body("coupler", cc.massless())
    m.revolute("O", m.ground, crank, guess=1.2)
    m.revolute("A", crank.tip, coupler, guess=-1.2)
    m.revolute("C", m.ground.at(1.2, 0, 0), rocker, guess=1.2)
    m.revolute("B", coupler.at(1.2, 0, 0), rocker.tip, cut=True)
    m.start = {"O": 1.2}
    with pytest.raises(cc.ModelError, match=r"OperationalSpace divides by the inertia .* use cc\.Multipliers\(\)"):
        cc.simulate(m, until=0.1, method=cc.OperationalSpace())


def test_options():
    assert cc.OperationalSpace() == cc.OperationalSpace(reference=None)
    assert hash(cc.OperationalSpace("box")) != hash(cc.OperationalSpace())
    assert "Lilly and Orin" in cc.OperationalSpace().citation()


@pytest.mark.parametrize("joints", [2, 5, 7, 9])
def test_chains_with_fewer_or_more_than_six_freedoms(joints):
    m = arms_of(3, joints)
    e = derive(m)
    rng = np.random.default_rng(joints)
    assert max(both(m, rng.normal(size=e.topology.nq), rng.normal(size=e.topology.nv))) < 1e-10
