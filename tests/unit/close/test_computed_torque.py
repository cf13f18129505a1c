"""Computed torque: the efforts are those of the dense equations, and actuated coordinates do what they are told."""

import casadi as ca
import numpy as np
import pytest

import closedchain as cc
from closedchain.close.computed_torque import _share, _solve
from closedchain.close.parts.elimination import REDUNDANT
from closedchain.derive.equations import derive
from closedchain.march.program.compiled import compiled, operations
from closedchain.model.forces.control import traced_laws
from closedchain.pose.state import parameter_vector
from closedchain.results.efforts.computed_torque import ComputedTorque
from tests.invariants import drawings

TIME, KP, KD = 0.3, 90.0, 14.0


def open_four_bar(cut=None, coupler=1.0):
    m = cc.Mechanism("four-bar", gravity=(0, -9.8, 0))
    bars = {"crank": 1.0, "coupler": 4.0, "rocker": 2.5}
    crank, link, rocker = (
        m.body(name, cc.rod(length=length, mass=coupler if name == "coupler" else 1.0)) for name, length in bars.items()
    )
    m.revolute("O", m.ground, crank)
    m.revolute("A", crank.tip, link, guess=-1.2)
    m.revolute("C", m.ground.at(3, 0, 0), rocker, guess=1.3)
    m.revolute("B", link.tip, rocker.tip, cut=cut)
    m.start = {"O": 1.5}
    return m


def busy_four_bar():
    """With a spring, a damper, a rotor, a force and a motor beside the law."""
    m = open_four_bar()
    m.joint_spring("C", 3.0, rest=0.2)
    m.joint_damper("A", 0.3)
    m.rotor("A", 0.1, ratio=3.0)
    m.force("wind", m.bodies["rocker"].tip, (lambda t: 5 * cc.math.sin(4 * t), m.joints["C"].v, 0))
    m.motor("C", torque=lambda t, q, v: -2 * v["B"] + cc.math.where(t < 0.2, 1.0, -1.0))
    return m


def two_on_one_freedom():
    """A four-bar with two motors, and a pendulum on its coupler that nothing drives."""
    m = open_four_bar()
    bob = m.body("bob", cc.rod(length=0.5, mass=0.3))
    m.revolute("free", m.bodies["coupler"].at(2, 0, 0), bob, guess=-1.0)
    m.start["free"] = -1.0
    return m


def driven_five_bar():
    m = cc.library.five_bar()
    m.drive("left motor", 2.2 + 0.1 * cc.math.sin(cc.t))
    m.start = {"right motor": float(np.pi) - 2.2}
    return m


LEGS = [f"leg{k} slide" for k in range(1, 7)]
# what is drawn, which coordinates are actuated
CASES = {
    "four-bar": (cc.library.four_bar, ["O"]),
    "at a cut joint": (lambda: open_four_bar(cut=True), ["B"]),
    "among other things": (busy_four_bar, ["O"]),
    "without mass": (lambda: open_four_bar(coupler=0.0), ["O"]),
    "five-bar": (cc.library.five_bar, ["left motor", "right motor"]),
    "beside a drive": (driven_five_bar, ["right motor"]),
    "3-RRR": (cc.library.rrr3, ["base1", "base2", "base3"]),
    "gough-stewart": (cc.library.gough_stewart, LEGS),
    "one of two": (cc.library.double_pendulum, ["shoulder"]),
    "the other of two": (cc.library.double_pendulum, ["elbow"]),
    "closed more than once": (lambda: drawings.delta("hinges"), ["shoulder0", "shoulder1", "shoulder2"]),
    "bennett": (drawings.bennett, ["J2"]),
}


def references(state, labels):
    return {label: state[label] + 0.1 * (k + 1) * cc.math.sin(2 * cc.t) for k, label in enumerate(labels)}


def asked(state, label, k, q, v):
    """What the law asks of a coordinate at TIME."""
    swing = 0.1 * (k + 1)
    r, rate, acceleration = (
        state[label] + swing * np.sin(2 * TIME),
        2 * swing * np.cos(2 * TIME),
        -4 * swing * np.sin(2 * TIME),
    )
    return acceleration + KD * (rate - v) + KP * (r - q)


def numbers(m, terms, q, v):
    """Terms of the equations at a state; columns as vectors."""
    f = derive(m).function("terms", {f"out{k}": x for k, x in enumerate(terms)})
    found = f(TIME, q, v, parameter_vector(m))
    return [
        np.array(x).squeeze(axis=1) if x.shape[1] == 1 else np.array(x) for x in (found if len(terms) > 1 else [found])
    ]


def measured(m, labels):
    """Coordinates and velocities by name, and ``B, b`` of their accelerations."""
    e, places = derive(m), [m._coordinate(label, "test") for label in labels]
    rows = [e.measures.velocity_row(*x) for x in places]
    return [
        ca.vertcat(*(e.measures.coordinates(m.joints[j])[i] for j, i in places)),
        ca.vertcat(*(e.measures.velocities(m.joints[j])[i] for j, i in places)),
        ca.vertcat(*(x for x, _ in rows)),
        ca.vertcat(*(x for _, x in rows)),
    ]


def efforts(m, labels):
    return ca.vertcat(*(derive(m).applied.efforts[f"{label}.control"] for label in labels))


def moving_state(m, seed):
    """A closed configuration, with random velocities that keep it closed at TIME."""
    state = m.assemble(time=TIME)
    closure = derive(m).closure
    v = np.random.default_rng(seed).normal(0, 0.5, len(state.v))
    if len(closure):
        A, c_t = numbers(m, [closure.A, closure.c_t], state.q, state.v)
        v -= np.linalg.pinv(A, rcond=1e-9) @ (A @ v + c_t)
    return state, v


def dense_efforts(m, labels, alpha, state, v):
    """``[M A' -B'; A 0 0; B 0 0]`` of a mechanism without the law, solved as a whole."""
    e = derive(m)
    M, force, A, gamma, *_, B, b = numbers(
        m, [e.M, e.tau - e.h, e.closure.A, e.closure.gamma, *measured(m, labels)], state.q, v
    )
    n, k, r = len(v), len(A), len(B)
    K = np.block([[M, A.T, -B.T], [A, np.zeros((k, k + r))], [B, np.zeros((r, k + r))]])
    right = np.concatenate([force, -gamma, alpha - b])
    # forces of closures that repeat others are nobody's business; accelerations and efforts are unique
    x = np.linalg.lstsq(K, right, rcond=1e-11)[0]
    assert np.abs(K @ x - right).max() < 1e-8 * np.abs(right).max()
    return x[n + k :]


@pytest.mark.parametrize("name", CASES)
def test_efforts_are_those_of_the_dense_equations(name):
    draw, labels = CASES[name]
    twin, m = draw(), draw()
    for label in labels:  # the same cuts
        joint, index = twin._coordinate(label, "test")
        turns = twin.joints[joint].type.velocity_units[index] == "rad/s"
        twin.motor(joint, coordinate=index, **{"torque" if turns else "force": twin.parameter(f"none {label}", 0.0)})
    state, v = moving_state(twin, seed=5)
    m.control(ComputedTorque(references(state, labels), KP, KD))
    assert derive(m).topology.q_labels == derive(twin).topology.q_labels

    q_now, v_now, u = numbers(m, [*measured(m, labels)[:2], efforts(m, labels)], state.q, v)
    alpha = [asked(state, label, k, q_now[k], v_now[k]) for k, label in enumerate(labels)]
    expected = dense_efforts(twin, labels, np.array(alpha), state, v)
    assert u == pytest.approx(expected, rel=1e-9, abs=1e-9 * np.abs(expected).max())


METHODS = (
    cc.Multipliers(),
    cc.Multipliers("none"),
    cc.Projection(sigma=10.0),
    cc.IndependentCoordinates(),
    cc.OperationalSpace(),
    cc.DeNOC(),
)


def accelerations(program, state, v):
    x, p = program.pack(state.q, v)[None], parameter_vector(state.mechanism)
    return program.evaluate("a", lambda: {"a": program.closed.a}, np.array([TIME]), x, p)["a"][0, :, 0]


@pytest.mark.parametrize("name", ["at a cut joint", "among other things", "3-RRR", "one of two"])
def test_every_formulation_gives_the_acceleration_that_was_asked_for(name):
    draw, labels = CASES[name]
    m = draw()
    before = m.assemble().coordinates
    m.control(ComputedTorque(references(before, labels), KP, KD))
    state, v = moving_state(m, seed=8)
    found = [accelerations(compiled(state, method), state, v) for method in METHODS]
    for a in found[1:]:
        assert a == pytest.approx(found[0], rel=1e-9, abs=1e-9 * np.abs(found[0]).max())
    q_now, v_now, B, b = numbers(m, measured(m, labels), state.q, v)
    alpha = [asked(before, label, k, q_now[k], v_now[k]) for k, label in enumerate(labels)]
    assert B @ found[0] + b == pytest.approx(alpha, rel=1e-9, abs=1e-9)


def test_what_the_law_believes_is_another_mechanism():
    """Its efforts are those of a mechanism with these masses; gains and references are not touched."""
    found = []
    for believed, true in (({"coupler.mass": 2.5, "rocker.length": 2.5}, 1.0), (None, 2.5)):
        m = open_four_bar()
        m.parameters["coupler.mass"] = true
        m.control(ComputedTorque({"O": 1.5 + 0.1 * cc.math.sin(2 * cc.t)}, KP, KD, parameters=believed))
        state, v = moving_state(m, seed=3)
        found += numbers(m, [efforts(m, ["O"])], state.q, v)
    assert found[0] == pytest.approx(found[1], rel=1e-12)


def test_the_work_of_the_law_is_counted():
    """``power`` has the efforts times the velocities, beside those of the motor that was there."""
    m = cc.library.five_bar()
    labels = ["left motor", "right motor"]
    m.control(ComputedTorque(references(m.assemble(), labels), KP, KD))
    state, v = moving_state(m, seed=2)
    e = derive(m)
    drawn = ca.vertcat(*(e.applied.efforts[f"{label}.motor"] for label in labels))
    power, old, new, rates = numbers(
        m, [e.energies.power, drawn, efforts(m, labels), measured(m, labels)[1]], state.q, v
    )
    assert np.abs(new).min() > 0.01
    assert power == pytest.approx([(old + new) @ rates], rel=1e-12)


def test_two_laws_count_on_each_other():
    """Together they are one law for both coordinates."""
    found = []
    for split in (True, False):
        m = cc.library.five_bar()
        wanted = references(m.assemble(), ["left motor", "right motor"])
        for part in [{k: x} for k, x in wanted.items()] if split else [wanted]:
            m.control(ComputedTorque(part, KP, KD))
        assert len(traced_laws(m)) == 1 + split
        state, v = moving_state(m, seed=4)
        found += numbers(m, [efforts(m, wanted)], state.q, v)
    assert found[0] == pytest.approx(found[1], rel=1e-11)


def test_motors_on_the_same_freedom_share_its_effort():
    """Two motors move one freedom of two: the torques are the smallest ones, without strain in the loop."""
    m = two_on_one_freedom()
    before = m.assemble()
    m.control(ComputedTorque({"O": 1.5, "C": before["C"]}, KP, KD))
    law = traced_laws(m)[0]
    assert (law.mobility.freedoms, law.mobility.moved) == (2, 1)
    state, v = moving_state(m, seed=1)
    A, B, u = numbers(m, [derive(m).closure.A, measured(m, "OC")[2], efforts(m, "OC")], state.q, v)
    moves = B @ np.linalg.svd(A)[2][len(A) :].T
    assert np.linalg.matrix_rank(moves, tol=1e-9) == 1
    # the least efforts have no part that only strains the loop
    strain = np.linalg.svd(moves.T)[2][1:]
    assert np.abs(strain @ u).max() < 1e-9 * np.abs(u).max()


def torques_and_forces():
    """A platform in the plane on two legs with motors and two with cylinders: four efforts for three freedoms."""
    m = cc.Mechanism("2-RRR-2-RPR", gravity=(0, -9.81, 0))
    platform = m.body("platform", cc.rigid(mass=5.0, inertia=(0.03, 0.03, 0.06)))
    for k in range(4):
        polar = np.pi / 4 + k * np.pi / 2
        out, turn = np.array([np.cos(polar), np.sin(polar), 0.0]), polar + 2.0
        foot, wrist = m.ground.at(*(0.7 * out)), platform.at(*(0.15 * out))
        if k % 2:
            upper, lower = m.body(f"upper{k}", cc.rod(0.4, mass=2.0)), m.body(f"lower{k}", cc.rod(0.5, mass=1.5))
            m.revolute(f"motor{k}", foot, upper, guess=turn)
            m.revolute(f"elbow{k}", upper.tip, lower, guess=1.5)
            m.revolute(f"wrist{k}", lower.tip, wrist, guess=-turn - 1.5)
        else:
            tube, rod = m.body(f"tube{k}", cc.rod(0.3, mass=1.0)), m.body(f"rod{k}", cc.rod(0.3, mass=0.5))
            m.revolute(f"foot{k}", foot, tube, guess=polar + np.pi)
            m.prismatic(f"cylinder{k}", tube, rod, axis=(1, 0, 0), guess=0.25)
            m.revolute(f"wrist{k}", rod.tip, wrist, guess=-polar - np.pi)
    return m


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"weights": {"motor1": 5.0, "cylinder2": 0.3}},
        {"preload": {"motor1": 4.0, "cylinder0": -20.0}},
        {"weights": {"motor3": 0.1}, "preload": {"cylinder2": 30.0}},
    ],
)
@pytest.mark.parametrize("length", [0.5, 0.9])
def test_efforts_at_rest_are_those_that_hold_the_pose(options, length):
    """Torques and forces compare as in inverse dynamics, by the size of the mechanism as it is now."""
    m = torques_and_forces()
    labels = ["cylinder0", "motor1", "cylinder2", "motor3"]
    before = m.assemble()
    m.control(ComputedTorque({x: before[x] for x in labels}, KP, KD, **options))
    m.parameters["lower1.length"] = length
    state = m.assemble()
    held = cc.holding_efforts(m, state, actuators=labels, **options)
    # the poses differ where the length does: corrections by the gains are none of the holding efforts
    parameters = {f"control.{gain}": 0.0 for gain in ("kp", "kd")}
    f = derive(m).function("efforts", {"u": efforts(m, labels)})
    u = np.array(f(TIME, state.q, np.zeros_like(state.v), parameter_vector(m, parameters))).ravel()
    assert u == pytest.approx(held.tau[0], rel=1e-9, abs=1e-9 * np.abs(held.tau).max())


# ---- behind springs --------------------------------------------------------------------------------------------------


def behind_a_spring(k, d, J, label, drawn):
    motor = cc.DCMotor(resistance=0.3, torque_constant=0.05, gear=10, rotor_inertia=J / 100, drive="torque")
    drawn.control(ComputedTorque({label: 0.4}, KP, KD), actuator=cc.SeriesElastic(motor, stiffness=k, damping=d))
    return drawn


def free_rod():
    m = cc.Mechanism("rod", gravity=(0, 0, 0))
    m.revolute("hinge", m.ground, m.body("arm", cc.rod(length=1.0, mass=3.0)))
    return m


def test_a_series_spring_is_no_load():
    """The efforts are those of the joint with the rotor on it, whatever the spring does."""
    m, rigid = behind_a_spring(1e3, 5.0, 0.3, "O", open_four_bar()), open_four_bar()
    rigid.rotor("O", 0.003, ratio=10.0)
    rigid.control(ComputedTorque({"O": 0.4}, KP, KD))
    state, v = moving_state(rigid, seed=6)
    expected = numbers(rigid, [efforts(rigid, "O")], state.q, v)[0]
    whole = m.assemble(state.coordinates | {"O.control.angle": 2.0}, velocity={"O": v[0], "O.control.angle": -3.0})
    assert numbers(m, [efforts(m, "O")], whole.q, whole.v)[0] == pytest.approx(expected, rel=1e-10)


def test_a_spring_that_the_law_does_not_act_through_is_a_load():
    """The law drives the joint itself, and another motor pulls at a spring."""
    m = open_four_bar()
    motor = cc.ForceLimit(-50.0, 50.0)
    m.actuator("O", cc.SeriesElastic(motor, stiffness=70.0, inertia=0.2), command=1.0, name="other")
    m.control(ComputedTorque({"O": 1.5}, KP, KD))
    found = []
    for angle in (1.5, 1.7):
        state = m.assemble({"O": 1.5, "other.angle": angle})
        found += numbers(m, [efforts(m, "O")], state.q, np.zeros_like(state.v))
    assert found[1] - found[0] == pytest.approx([-70.0 * 0.2], rel=1e-10)


@pytest.mark.parametrize(("d", "stable"), [(2.0, False), (4.0, True)])
def test_poles_behind_a_spring(d, stable):
    """Those of the fourth-order equation; stable if the damper is more than kd times the reduced inertia."""
    k, m_arm, J = 1e4, 1.0, 0.3
    mu = m_arm * J / (m_arm + J)
    m = behind_a_spring(k, d, J, "hinge", free_rod())
    rest = m.equilibrium(guess={"hinge": 0.4, "hinge.control.angle": 0.4})
    poles = np.sort_complex(m.linearise(rest).eigenvalues)
    expected = np.sort_complex(np.roots([mu, d, k + KD * d, KD * k + KP * d, KP * k]))
    assert np.abs(poles - expected).max() < 1e-6 * np.abs(expected).max()
    assert (poles.real.max() < 0) == stable == (d > mu * KD)


def test_a_drawing_that_changes_afterwards_is_watched():
    """The freedoms were counted before the drive was drawn: the law trusts no count any more, and is right."""
    m = cc.library.five_bar()
    right = m.assemble()["right motor"]
    m.control(ComputedTorque({"right motor": right + 0.1 * cc.math.sin(cc.t)}, KP, KD))
    law = traced_laws(m)[0]
    assert law._independent(derive(m)) and law._exact(derive(m))
    m.drive("left motor", 2.2 + 0.1 * cc.math.sin(cc.t))
    assert not law._independent(derive(m)) and not law._exact(derive(m))
    run = cc.simulate(m, m.assemble({"right motor": right}, velocity={"right motor": 0.1}), until=0.5, rtol=1e-9)
    assert np.abs(run["right motor"] - right - 0.1 * np.sin(run.t)).max() < 1e-8  # integration


# ---- the small system ------------------------------------------------------------------------------------------------


def symmetric(n, rank, seed):
    F = np.random.default_rng(seed).normal(size=(n, rank))
    return F @ F.T


@pytest.mark.parametrize("n", [1, 2, 4, 6])
def test_solve(n):
    K, b = symmetric(n, n, seed=n), np.arange(1.0, n + 1)
    assert np.array(ca.evalf(_solve(ca.SX(K), ca.SX(b)))).ravel() == pytest.approx(np.linalg.solve(K, b), rel=1e-7)


@pytest.mark.parametrize(("n", "rank"), [(1, 1), (2, 1), (4, 3), (4, 2), (6, 3), (5, 5)])
def test_sharing_is_the_pseudo_inverse(n, rank):
    K, b = symmetric(n, rank, seed=10 * n + rank), np.arange(1.0, n + 1)
    u = np.array(ca.evalf(_share(ca.SX(K), ca.SX(b), None, None))).ravel()
    assert u == pytest.approx(np.linalg.pinv(K, rcond=1e-10) @ b, rel=1e-7)


def test_sharing_by_weights_and_next_to_a_preload():
    K, wanted = symmetric(4, 2, seed=0), np.array([1.0, -2.0, 0.5, 3.0])
    b, weights, preload = K @ wanted, np.array([1.0, 10.0, 0.2, 1.0]), np.array([5.0, 0.0, -1.0, 2.0])
    u = np.array(ca.evalf(_share(ca.SX(K), ca.SX(b), ca.SX(weights), ca.SX(preload)))).ravel()
    assert K @ u == pytest.approx(b, rel=1e-9)
    # the least weighted distance: its gradient is a combination of the rows of K
    null = np.linalg.svd(K)[2][2:]
    assert np.abs(null @ (weights * (u - preload))).max() < 1e-9


def test_sharing_where_the_first_actuators_are_singular():
    """The first two rows are the same: others take over without a jump in the result."""
    F = np.array([[1.0, 0.0], [1.0, 0.0], [0.3, 1.0], [-0.2, 0.5]])
    b = F @ np.array([2.0, -1.0])
    for nearly in (0.0, 1e-7, 1e-3):
        near = F + nearly * np.array([[0.0, 0.0], [0.0, 1.0], [0.0, 0.0], [0.0, 0.0]])
        K = near @ near.T
        u = np.array(ca.evalf(_share(ca.SX(K), ca.SX(b), None, None))).ravel()
        # pivots are left out where 1e-10 is left of them: what that neglects is of the order of its root
        assert u == pytest.approx(np.linalg.pinv(K, rcond=1e-10) @ b, rel=1e-4)


# ---- what it costs ---------------------------------------------------------------------------------------------------


def test_the_right_hand_side_grows_by_less_than_its_own_size():
    """Multipliers share the factors of the inertia and of the closures with the law; others less of it."""
    plain, m = cc.library.rrr3(), cc.library.rrr3()
    labels = ["base1", "base2", "base3"]
    m.control(ComputedTorque(references(m.assemble(), labels), KP, KD))
    for method, most in ((cc.Multipliers(), 1.35), (cc.OperationalSpace(), 1.8)):
        without, counted = (operations(x.assemble(), method)["total"] for x in (plain, m))
        assert counted < most * without


def test_watched_rows_are_compared_with_all_others():
    """A closure that is nothing but rounding must not count: it would be compared with itself."""
    from closedchain.close.computed_torque import ROUNDING, WatchedFactor
    from closedchain.close.parts.elimination import ClosureFactor, TreeFactor

    m = drawings.bennett()
    e = derive(m)
    tree, rows = TreeFactor(e.M), range(len(e.closure))
    plain = ClosureFactor(tree, e.closure, rows, guarded=True)._scales(e.closure, rows)
    watched = WatchedFactor(tree, e.closure)._scales(e.closure, rows)
    state = m.assemble()
    low, high = numbers(m, [ca.vertcat(*plain), ca.vertcat(*watched)], state.q, state.v)
    assert high - low == pytest.approx(np.full_like(low, ROUNDING * low.sum()), abs=1e-15 * low.max())
    assert REDUNDANT * ROUNDING < 1e-20  # rounding of a squared row is 1e-32
