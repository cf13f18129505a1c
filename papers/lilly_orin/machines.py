"""Machines of the paper's two types at a state, in its letters: arms with a box (Type 0) and a hexapod (Type 1).

The paper gives no numbers. The arms are PUMA 560 with a box of 12 kg, the vehicle a hexapod with a body of 30 kg; both
are in ``closedchain.library``. Inertias, Jacobians and bias terms come from the library's traced equations, and so does
the answer that the paper's steps are compared with, by ``OperationalSpace``, which takes another way through step 2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import casadi as ca
import numpy as np
from scipy.spatial.transform import Rotation

import closedchain as cc
from benchmarks.growth import arms as general_arms
from closedchain.close.operational_space import FiveSteps
from closedchain.close.parts.chains import closure_rows, find_chains
from closedchain.derive.equations import Equations, derive
from closedchain.model.library.legged import HEXAPOD_HIPS, HEXAPOD_LEG, UPRIGHT
from closedchain.pose.state import parameter_vector
from papers.lilly_orin.five_steps import Answer, Chain, Member

POSE = tuple(f"pose.{x}" for x in ("x", "y", "z", "qw", "qx", "qy", "qz"))
TWIST = tuple(f"pose.{x}" for x in ("wx", "wy", "wz", "vx", "vy", "vz"))
TILTED = (0.03, -0.02, 0.45, *np.roll(Rotation.from_euler("xyz", (0.2, -0.15, 0.1)).as_quat(), 1))
STANDING = HEXAPOD_LEG.chain(np.eye(3), np.zeros(3), (0.0, 0.35, -1.55))[3]
BENT = (0.23, -0.12, -0.17, 0.3, 0.0, -0.2)  # rad: joints of an arm with a straight wrist
STRONG = {6: (20.0, 20.0, 20.0, 0.1, 0.1, 0.05), 3: (20.0, 20.0, 20.0)}  # N m, of an arm's motors
LEGS = 10.0  # N m
BRISK = 2.0  # rad/s
LEG = ("yaw", "hip", "knee")
MOVING = dict(zip(TWIST, (0.9, -1.2, 1.3, 0.6, -0.3, 0.5), strict=True))  # rad/s and m/s, of the vehicle
GRAVITY = np.array([0.0, 0.0, -9.81])  # of all of them


@dataclass(frozen=True, eq=False)
class Machine:
    """A machine at a state.

    Attributes
    ----------
    title
        What it is.
    member, chains
        In the paper's letters.
    library
        The answer of ``OperationalSpace``.
    felt
        Inverse inertia of the reference member, from the inertia matrix and all closure rows at once.
    """

    title: str
    member: Member
    chains: tuple[Chain, ...]
    library: Answer
    felt: np.ndarray


def cross(v: np.ndarray) -> np.ndarray:
    """(6)."""
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])


def free_velocities(e: Equations, q: np.ndarray, p: np.ndarray, seed: int) -> np.ndarray:
    """Random velocities that keep the loops closed; a reference member with a pose turns with `BRISK`."""
    v = np.random.default_rng(seed).normal(size=e.topology.nv)
    A = np.array(e.function("A", {"A": e.closure.A})(0, q, 0 * v, p))
    v -= np.linalg.lstsq(A, A @ v, rcond=1e-10)[0]
    turning = [e.topology.v_labels.index(x) for x in TWIST[:3] if x in e.topology.v_labels]
    return v * BRISK / np.linalg.norm(v[turning]) if turning else v


def same_first_word(label: str, tip: str) -> bool:
    """Whether a velocity belongs to the chain with this joint at its tip."""
    return label.split()[0] == tip.split()[0]


def machine(
    title: str, m: cc.Mechanism, q: np.ndarray, v: np.ndarray, belongs: Callable[[str, str], bool] = same_first_word
) -> Machine:
    """A drawing with the tips of its chains cut, at a state; a joint at a tip is drawn from the chain to the member."""
    e = derive(m)
    labels, cuts = e.topology.v_labels, e.topology.cuts
    pose = [labels.index(x) for x in TWIST]
    p = parameter_vector(m)
    at_tips = [f"{joint.name}.motor" for joint in cuts if f"{joint.name}.motor" in m.parameters]
    loose = parameter_vector(m, dict.fromkeys(at_tips, 0.0))  # their torques are the known forces h
    frames = {}
    for joint in cuts:
        for side, frame in (("tip", joint.a), ("member", joint.b)):
            x = e.motion.frame(frame, joint)
            frames |= {f"{joint.name} {side} {k}": y for k, y in {
                "R": x.X.R, "r": x.X.r, "w": x.velocity.ang, "Jw": x.J.ang, "Jv": x.J.lin,
                "aw": x.bias.ang, "av": x.bias.lin,
            }.items()}  # fmt: skip
    terms = {"M": e.M, "u": e.tau - e.h, "A": e.closure.A}
    at = _values(e, terms | frames, q, v, loose)
    answer = _values(e, by_the_library(e), q, v, p)
    a, lam = answer["a"][:, 0], answer["lam"][:, 0]

    named = dict(zip(e.topology.q_labels, q, strict=True))
    w, x, y, z = (named[label] for label in POSE[3:])
    R0, p0 = Rotation.from_quat([x, y, z, w]).as_matrix(), np.array([named[label] for label in POSE[:3]])
    member = _member(at["M"][np.ix_(pose, pose)], v[pose], R0.T @ GRAVITY)
    chains, forces, accelerations = [], [], []
    for joint in cuts:
        mine = [i for i, label in enumerate(labels) if belongs(label, joint.name)]
        h = m.parameters.get(f"{joint.name}.motor")
        here = {k.removeprefix(f"{joint.name} "): x for k, x in at.items() if k.startswith(f"{joint.name} ")}
        chain = _chain(joint.type.name, here, at, mine, R0, p0, member.v[:3], h)
        rows = [i for i, name in enumerate(e.closure.joints) if name == joint.name]
        on_member = -at["A"][np.ix_(rows, pose)].T @ lam[rows]
        forces.append(np.linalg.solve(chain.X.T, on_member) + chain.Phi @ chain.h)
        accelerations.append(a[mine])
        chains.append(chain)
    a_0 = a[pose] + np.r_[np.zeros(3), np.cross(v[pose[:3]], v[pose[3:]])]
    M, A = at["M"], at["A"]
    whole = np.linalg.inv(np.block([[M, A.T], [A, np.zeros((len(A), len(A)))]]))
    return Machine(title, member, tuple(chains), Answer(a_0, forces, accelerations), whole[np.ix_(pose, pose)])


def by_the_library(e: Equations) -> dict[str, ca.SX]:
    """Accelerations and forces of all closure rows by ``OperationalSpace``, without its way back to closed states."""
    rows = closure_rows(e, tuple(range(len(e.closure))))
    a, lam = FiveSteps(e, rows, find_chains(e, rows, None), guarded=False, redundant=0.0).solve()
    return {"a": a, "lam": lam}


def _values(e: Equations, outputs: Mapping, q: np.ndarray, v: np.ndarray, p: np.ndarray) -> dict[str, np.ndarray]:
    names = {f"y{k}": x for k, x in enumerate(outputs.values())}
    return dict(zip(outputs, map(np.array, e.function("f", names).call([0, q, v, p])), strict=True))


def _member(I: np.ndarray, v: np.ndarray, g: np.ndarray) -> Member:
    """From its inertia (7): m s stands in the block beside the moments of inertia."""
    mass, ms = I[5, 5], np.array([I[2, 4], I[0, 5], I[1, 3]])
    w = v[:3]
    b = np.r_[np.cross(w, I[:3, :3] @ w), np.cross(w, np.cross(w, ms))]
    return Member(I, b, np.r_[np.cross(ms, g), mass * g], v)


def _chain(
    kind: str, here: Mapping, at: Mapping, mine: Sequence[int], R0: np.ndarray, p0: np.ndarray, w0: np.ndarray,
    h: float | None,
) -> Chain:  # fmt: skip
    R, grasp = here["tip R"], R0.T @ (here["member r"][:, 0] - p0)
    A = R.T @ R0
    X = np.block([[A, np.zeros((3, 3))], [A @ cross(grasp).T, A]])  # (5)
    zeta = np.r_[np.zeros(3), A @ np.cross(w0, np.cross(w0, grasp))]
    # the library's bias accelerations have the root accelerate against gravity
    Jv = np.r_[R.T @ here["tip aw"][:, 0], R.T @ (here["tip av"][:, 0] + GRAVITY)]
    J = np.vstack([R.T @ here["tip Jw"], R.T @ here["tip Jv"]])[:, mine]
    w_t, w_m = here["tip w"][:, 0], here["member w"][:, 0]
    Phi, Phi_c, turning = _spaces(kind, R, here["member R"], w_t, w_m)
    count = Phi_c.shape[1]
    alpha_c = np.zeros(count)
    alpha_c[: count - 3] = turning
    known = np.zeros(Phi.shape[1]) if h is None else np.array([h])
    H = at["M"][np.ix_(mine, mine)]
    return Chain(H, at["u"][mine, 0], J, Jv, Phi, Phi_c, known, alpha_c, X, zeta)


def _spaces(
    kind: str, R: np.ndarray, R_m: np.ndarray, w_t: np.ndarray, w_m: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Motion space, constraint space, and alpha_c along its angular directions; forces are locked in all directions."""
    if kind == "weld":
        locked, turning = np.eye(3), np.zeros(3)
    elif kind == "spherical":
        locked, turning = np.zeros((3, 0)), np.zeros(0)
    elif kind == "revolute":  # the axis is the tip's: it turns with the tip
        n = R[:, 2]
        locked = np.eye(3)[:, :2]
        turning = locked.T @ R.T @ np.cross(w_t, n) * ((w_m - w_t) @ n)
    elif kind == "universal":  # locked about the normal of both axes, of which each body has one
        x, y = R[:, 0], R_m[:, 1]
        n = np.cross(x, y)
        rate = np.cross(np.cross(w_t, x), y) + np.cross(x, np.cross(w_m, y))
        locked, turning = (R.T @ n)[:, None], np.array([-(w_m - w_t) @ rate])
    else:
        raise ValueError(kind)
    free = np.linalg.svd(locked, full_matrices=True)[0][:, locked.shape[1] :]
    Phi = np.vstack([free, np.zeros((3, free.shape[1]))])
    Phi_c = np.block([[locked, np.zeros((3, 3))], [np.zeros((3, locked.shape[1])), np.eye(3)]])
    return Phi, Phi_c, turning


# ---- the machines ----------------------------------------------------------------------------------------------------


def torques(m: cc.Mechanism, joints: Sequence[str], sizes: Sequence[float], seed: int) -> None:
    """Plain numbers for motors."""
    for name, size, x in zip(joints, sizes, np.random.default_rng(seed).normal(size=len(joints)), strict=True):
        m.motor(name, torque=size * x)


@cache
def arms(contact: str, joints: int = 6, pose: tuple[float, ...] = TILTED) -> Machine:
    """Three arms that hold a box, which moves."""
    m = cc.library.arms_with_box(contact, joints=joints, drive="none")
    for k in (1, 2, 3):
        torques(m, [f"arm{k} joint{i + 1}" for i in range(joints)], STRONG[joints], k)
    q = m.assemble(dict(zip(POSE, pose, strict=True))).q
    e = derive(m)
    return machine(f"arms, {contact}, N = {joints}", m, q, free_velocities(e, q, parameter_vector(m), 1))


@cache
def _plain_arms() -> tuple[cc.Mechanism, np.ndarray]:
    m = cc.library.arms_with_box(drive="none")
    return m, m.assemble().q


@cache
def stretched_arm(bend: float) -> Machine:
    """The same with rigid grasps, at rest, the wrist of the first arm bent by so much only."""
    first = {f"arm1 joint{i + 1}": x + (bend if i == 4 else 0.0) for i, x in enumerate(BENT)}
    plain, start = _plain_arms()
    e = derive(plain)
    named = dict(zip(e.topology.q_labels, start, strict=True)) | first
    q, v = np.array(list(named.values())), np.zeros(e.topology.nv)
    tips = [e.motion.frame(plain.joints[f"arm{k} tip"].a).X for k in (1, 2, 3)]
    places = {f"{x}{k}": getattr(tip, x) for k, tip in enumerate(tips) for x in ("R", "r")}
    at = _values(e, places, q, v, parameter_vector(plain))
    box = [named[label] for label in POSE[:3]]
    m = cc.library.arms_with_box(drive="none", grasps=[(at[f"R{k}"], at[f"r{k}"][:, 0] - box) for k in range(3)])
    for k in (1, 2, 3):
        torques(m, [f"arm{k} joint{i + 1}" for i in range(6)], STRONG[6], k)
    return machine("arms, a straight wrist", m, q, v)


def _random_state(e: Equations, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    q, v = rng.normal(size=e.topology.nq), rng.normal(size=e.topology.nv)
    turn = [e.topology.q_labels.index(label) for label in POSE[3:]]
    q[turn] /= np.linalg.norm(q[turn])
    return q, v


def values_at_random(e: Equations, outputs: Mapping, seed: int = 1) -> dict[str, np.ndarray]:
    """Of traced quantities, at the state of `general`."""
    return _values(e, outputs, *_random_state(e, seed), parameter_vector(e.topology.mechanism))


@cache
def general(chains: int, joints: int, seed: int = 1) -> Machine:
    """The general machine of Table 2 at a random state; its loops are open, which the equations do not mind."""
    m = general_arms(chains, joints)
    q, v = _random_state(derive(m), seed)
    numbered = lambda label, tip: label.startswith(f"joint {tip.split()[1]} ")  # noqa: E731
    return machine(f"{chains} chains, N = {joints}", m, q, v, numbered)


def vehicle() -> cc.Mechanism:
    """The hexapod as the paper opens it: chains begin at the feet and end at driven hips, which are cut."""
    m = cc.Mechanism("hexapod", gravity=tuple(GRAVITY))
    body = m.body("body", cc.rigid(30.0, (0.01, -0.005, 0.02), (0.9, 2.6, 3.2)))
    pose = (0.0, 0.0, -STANDING[2], 1.0, 0.0, 0.0, 0.0)
    m.free("pose", m.ground, body, guess=pose)
    m.start = dict(zip(POSE, pose, strict=True))
    for k, (place, outwards) in enumerate(HEXAPOD_HIPS, 1):
        coxa, femur, tibia = (
            m.body(f"leg{k} {part}", cc.rigid(*link))
            for part, link in zip(("coxa", "femur", "tibia"), HEXAPOD_LEG.links, strict=True)
        )
        R = Rotation.from_euler("z", outwards).as_matrix()
        foot = R @ STANDING + place
        tibia_turn = Rotation.from_matrix(R @ UPRIGHT) * Rotation.from_euler("z", 0.35 - 1.55)
        guess = tuple(np.roll(tibia_turn.as_quat(), 1))
        m.spherical(
            f"leg{k} foot", m.ground.at(*foot[:2], 0.0), tibia.at(HEXAPOD_LEG.lengths[2]), cut=False, guess=guess
        )
        m.revolute(f"leg{k} knee", tibia, femur.at(HEXAPOD_LEG.lengths[1]), guess=1.55)
        m.revolute(f"leg{k} hip", femur, coxa.at(HEXAPOD_LEG.lengths[0], R=UPRIGHT), guess=-0.35)
        m.revolute(f"leg{k} yaw", coxa, body.at(*place, R=R), cut=True)
    return m


@cache
def hexapod() -> Machine:
    """The vehicle on its feet, moving, under torques in all joints of its legs."""
    m = vehicle()
    for k in range(1, 7):
        torques(m, [f"leg{k} {x}" for x in LEG], (-LEGS,) * 3, k)  # joints are drawn from the ground: the other way
    start = m.assemble(velocity=MOVING)
    return machine("hexapod", m, start.q, start.v)


def hexapod_from_the_body() -> np.ndarray:
    """a_0 of the same vehicle at the same state, by the library, with legs that hang on the body and feet cut."""
    m = cc.library.hexapod("none")
    for k in range(1, 7):
        torques(m, [f"leg{k} {x}" for x in LEG], (LEGS,) * 3, k)
    start, e = m.assemble(velocity=MOVING), derive(m)
    a = _values(e, by_the_library(e), start.q, start.v, parameter_vector(m))["a"][:6, 0]
    return a + np.r_[np.zeros(3), np.cross(start.v[:3], start.v[3:6])]


def table() -> cc.Mechanism:
    """A table in a plane on two legs; each leg is a four-bar on the ground with a post on its coupler."""
    m = cc.Mechanism("table", gravity=(0, -9.81, 0))
    for k, x in enumerate((0.0, 3.0)):
        left, right, top = (m.body(f"{n}{k}", cc.rod(length=1.0, mass=1.0)) for n in ("left", "right", "top"))
        m.revolute(f"A{k}", m.ground.at(x, 0, 0), left, guess=1.1)
        m.revolute(f"B{k}", m.ground.at(x + 1, 0, 0), right, guess=1.1)
        m.revolute(f"C{k}", left.tip, top, guess=-1.1)
        m.revolute(f"D{k}", top.tip, right.tip, cut=True)
        post = m.body(f"post{k}", cc.rod(length=0.8, mass=0.5))
        m.revolute(f"E{k}", top.at(0.5, 0, 0), post, guess=1.0 + k)
        m.start |= {f"A{k}": 1.1}
    board = m.body("table", cc.rod(length=3.0, mass=4.0))
    m.revolute("F0", m.bodies["post0"].tip, board, guess=-1.0)
    m.revolute("F1", board.tip, m.bodies["post1"].tip, cut=True)
    m.motor("A0", torque=3.0)
    return m
