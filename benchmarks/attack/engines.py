"""Accelerations of a cut mechanism by other engines: Pinocchio, MuJoCo, and NumPy from definitions.

Every joint is taken apart into elementary motions (``Rx ... Tz``, ``ball``), in the direction of the tree, and given to
the engine one by one. The engine tells the inertia matrix, the bias, and of every body its pose, Jacobian and the
acceleration at zero joint accelerations. Loops are closed here, exactly, by one linear system (KKT): the relative
acceleration of the two frames of a cut joint, in the directions that the joint locks, is zero. MuJoCo's own soft
constraints are not used.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from closedchain.cut.topology import Link, Topology
from tests.identities.independent import Independent, inverse, quaternion_of, rotation_of, skew

MOTIONS = {
    "revolute": ["Rz"], "prismatic": ["Tz"], "cylindrical": ["Tz", "Rz"], "screw": ["Tz", "Rz"],
    "universal": ["Rx", "Ry"], "planar": ["Tx", "Ty", "Rz"], "weld": [], "spherical": ["ball"],
    "free": ["Tx", "Ty", "Tz", "ball"],
}  # fmt: skip
ORDER = {"cylindrical": [1, 0], "screw": [0, 0]}  # coordinate of each motion, where it is not just counted
AXES = {"x": np.array([1.0, 0, 0]), "y": np.array([0, 1.0, 0]), "z": np.array([0, 0, 1.0])}


@dataclass(frozen=True)
class Step:
    """One elementary motion of the tree, with its value and rate; a ball has a matrix and an angular velocity."""

    kind: str
    value: Any
    rate: Any


def steps(link: Link, q: np.ndarray, v: np.ndarray, lead: float) -> list[Step]:
    """The motions from parent to child, in order; ``lead`` is a screw's advance per radian."""
    kind, q, v = link.joint.type.name, q[link.q], v[link.v]
    out: list[Step] = []
    for i, motion in enumerate(MOTIONS[kind]):
        if motion == "ball":
            out.append(Step("ball", rotation_of(q[-4:]), v[:3]))
            continue
        k = ORDER.get(kind, [0, 1, 2])[i]
        if kind == "free":
            out.append(Step(motion, q[k], (rotation_of(q[3:]) @ v[3:])[k]))
        elif kind == "screw" and motion == "Tz":
            out.append(Step(motion, lead * q[0], lead * v[0]))
        else:
            out.append(Step(motion, q[k], v[k]))
    if not link.reversed:
        return out
    return [
        Step("ball", s.value.T, -s.value @ s.rate) if s.kind == "ball" else Step(s.kind, -s.value, -s.rate)
        for s in reversed(out)
    ]


def lifted(link: Link, q: np.ndarray, v: np.ndarray, a: np.ndarray, lead: float) -> np.ndarray:
    """Accelerations of a joint as those of its elementary motions."""
    kind, q, v, a = link.joint.type.name, q[link.q], v[link.v], a[link.v]
    sign, R = (-1.0 if link.reversed else 1.0), None
    if kind in ("spherical", "free"):
        R = rotation_of(q[-4:])
    if kind == "free":
        turning = a[:3] if not link.reversed else -R @ a[:3]
        sliding = sign * (R @ (np.cross(v[:3], v[3:]) + a[3:]))
        return np.concatenate([turning, sliding[::-1]] if link.reversed else [sliding, turning])
    if kind == "spherical":
        return a if not link.reversed else -R @ a
    out = [a[k] for k in ORDER.get(kind, [0, 1, 2])[: len(MOTIONS[kind])]]
    if kind == "screw":
        out[0] *= lead
    return sign * np.array(out[::-1] if link.reversed else out)


class Tree(Protocol):
    """What an engine tells about the open tree at a state."""

    M: np.ndarray
    bias: np.ndarray  # M a + bias = effort

    def motion(self, body: str, point: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of a point fixed to a body: Jacobian (6 x n, angular first), velocity, acceleration at a = 0."""


@dataclass
class Plan:
    """A cut mechanism at a state, ready for any engine: bodies in order, each with its steps and its inertia."""

    topology: Topology
    q: np.ndarray
    v: np.ndarray

    def __post_init__(self) -> None:
        self.model = Independent(self.topology)
        self.poses = self.model.poses(self.q)
        self.leads = [self.model.pitch(link.joint) / (2 * np.pi) for link in self.topology.links]
        links = list(zip(self.topology.links, self.leads, strict=True))
        self.steps = [steps(link, self.q, self.v, lead) for link, lead in links]
        self.gravity = np.array([self.model.value(x) for x in self.topology.mechanism.gravity])
        self.rows: list[tuple[int, int, float]] = []  # slide = lead * turn, by number among all velocities
        at = 0
        for (link, lead), own in zip(links, self.steps, strict=True):
            if link.joint.type.name == "screw":
                slide, turn = (at + 1, at) if link.reversed else (at, at + 1)
                self.rows.append((slide, turn, lead))
            at += sum(3 if s.kind == "ball" else 1 for s in own)
        self.n = at

    def ends(self, link: Link) -> tuple[str, np.ndarray, np.ndarray]:
        """Name of the parent, the joint's frame on it, and the one on the child."""
        P, S = self.model.ends[link.joint.name]
        if link.reversed:
            return link.joint.b.body.name, S, P
        return link.joint.a.body.name, P, S

    def lift(self, a: np.ndarray) -> np.ndarray:
        """The library's accelerations as those of the elementary motions."""
        links = zip(self.topology.links, self.leads, strict=True)
        return np.concatenate([np.zeros(0), *(lifted(link, self.q, self.v, a, lead) for link, lead in links)])


@dataclass(frozen=True)
class Closed:
    """A mechanism with its loops closed.

    Attributes
    ----------
    a
        Accelerations of the engine's velocities.
    conditioning
        Of the closure.
    carried
        What cut joints carry along the directions that they lock, by name, where it is unique: the directions (k x 6,
        in axes of the joint's second frame, about its origin, moments first) and the wrench on the second body there.
    """

    a: np.ndarray
    conditioning: float
    carried: dict[str, tuple[np.ndarray, np.ndarray]]


def close(plan: Plan, tree: Tree, acting: Any = None) -> Closed:
    """Close all loops; ``acting`` as from `acting.added`."""
    n, rows = len(tree.bias), []
    A, b = [np.zeros((0, n))], [np.zeros(0)]
    M, bias = tree.M, tree.bias
    if acting is not None:
        M, bias = M + acting.M, bias - acting.effort
        A.append(acting.A)
        b.append(acting.b)
    if n == plan.n:  # the library's own velocities have one for a screw
        for slide, turn, lead in plan.rows:
            row = np.zeros((1, n))
            row[0, slide], row[0, turn] = 1.0, -lead
            A.append(row)
            b.append(np.zeros(1))
    for joint in plan.topology.cuts:
        motion = relative(plan, tree, joint)
        U, s, _ = np.linalg.svd(np.hstack([motion.Phi, np.zeros((6, 6))]))
        C = U[:, int((s > 1e-12).sum()) :].T  # the directions that the joint locks
        own = np.linalg.lstsq(motion.Phi, motion.V, rcond=None)[0] if motion.Phi.size else np.zeros(0)
        begin = sum(map(len, A))
        rows.append((joint.name, C, slice(begin, begin + len(C))))
        A.append(C @ motion.J)
        b.append(-C @ (motion.D - motion.rate(own)))
    A, b = np.concatenate(A), np.concatenate(b)
    free = np.linalg.solve(M, -bias)
    if not len(A):
        return Closed(free, 1.0, {})
    # Gauss: the accelerations nearest to the free ones in the metric of M that keep the loops closed
    L = np.linalg.cholesky(M)
    B = np.linalg.solve(L, A.T).T
    U, s, Vt = np.linalg.svd(B, full_matrices=False)
    keep = s > 1e-9 * s[0]
    coefficients = (U[:, keep].T @ (b - A @ free)) / s[keep]
    a = free + np.linalg.solve(L.T, Vt[keep].T @ coefficients)
    lam = U[:, keep] @ (coefficients / s[keep])  # M a + bias = A' lam, of all such the smallest
    open_ = np.eye(len(A)) - U[:, keep] @ U[:, keep].T  # changes of lam that move nothing
    carried = {name: (C, lam[at]) for name, C, at in rows if np.abs(open_[at]).max(initial=0.0) < 1e-9}
    return Closed(a, float(s[0] / s[keep][-1]), carried)


@dataclass(frozen=True)
class Relative:
    """Motion of a joint's second frame relative to its first, in axes of the second: ``V' = J a + D``.

    ``Phi`` are the joint's freedoms, ``rate(u)`` is ``Phi' u``.
    """

    J: np.ndarray
    V: np.ndarray
    D: np.ndarray
    Phi: np.ndarray
    rate: Callable[[np.ndarray], np.ndarray]


def relative(plan: Plan, tree: Tree, joint: Any) -> Relative:
    """The relative motion of the two frames of any joint, as the engine sees it."""
    P, S = plan.model.ends[joint.name]
    a, b = joint.a.body.name, joint.b.body.name
    T_S = plan.poses[b] @ S
    R, r = T_S[:3, :3], T_S[:3, 3]
    Ja, Va, Da = tree.motion(a, r)  # of the point of a that lies where the joint is
    Jb, Vb, Db = tree.motion(b, r)
    turn = np.kron(np.eye(2), R.T)
    # rate of the relative twist in axes of S: those turn with b, and the point of a is left behind by that of b
    wa, wb, slip = Va[:3], Vb[:3], (Vb - Va)[3:]
    D = Db - Da
    D = np.concatenate([D[:3] - np.cross(wb, (Vb - Va)[:3]), D[3:] - np.cross(wa, slip) - np.cross(wb, slip)])
    X = inverse(plan.poses[a] @ P) @ T_S
    return Relative(
        turn @ (Jb - Ja), turn @ (Vb - Va), turn @ D, *motion_space(joint.type.name, X, plan.model.pitch(joint))
    )


def motion_space(kind: str, X: np.ndarray, pitch: float) -> tuple[np.ndarray, Any]:
    """``Phi`` of a joint at the pose X of S in P, in axes of S, and its rate times the velocities."""
    R = X[:3, :3]
    x, y, z = np.eye(3)
    zero = np.zeros(3)

    def columns(*pairs: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        return np.array([np.concatenate(pair) for pair in pairs]).reshape(-1, 6).T

    def nothing(own: np.ndarray) -> np.ndarray:
        return np.zeros(6)

    if kind == "universal":  # x is fixed in P and seen from S, which turns about y
        return columns((R.T @ x, zero), (y, zero)), lambda u: np.concatenate([u[0] * u[1] * np.cross(R.T @ x, y), zero])
    if kind == "planar":  # x and y are fixed in P
        Phi = columns((zero, R.T @ x), (zero, R.T @ y), (z, zero))
        return Phi, lambda u: np.concatenate([zero, u[2] * np.cross(R.T @ (u[0] * x + u[1] * y), z)])
    return {
        "revolute": columns((z, zero)),
        "prismatic": columns((zero, z)),
        "cylindrical": columns((z, zero), (zero, z)),
        "screw": columns((z, pitch / (2 * np.pi) * z)),
        "spherical": columns((x, zero), (y, zero), (z, zero)),
        "weld": np.zeros((6, 0)),
        "free": np.eye(6),
    }[kind], nothing


# ---- engines ---------------------------------------------------------------------------------------------------------


class WithNumpy:
    """From definitions, by `tests.identities.independent`: complex steps for Jacobians, differences for rates."""

    def __init__(self, plan: Plan) -> None:
        model, q, v = plan.model, plan.q, plan.v
        # the map from the library's velocities to those of the elementary motions is linear in a
        zero = plan.lift(np.zeros(len(v)))
        G = np.array([plan.lift(e) - zero for e in np.eye(len(v))]).T
        self.plan, self.J, self.poses = plan, model.jacobians(q), plan.poses
        self.v, self.lifting, self.zero = v, G, zero
        self.M, self.bias = model.inertia_matrix(q), model.bias(q, v)

    def motion(self, body: str, point: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of a point of a body."""
        if body == "ground":
            return np.zeros((6, len(self.v))), np.zeros(6), np.zeros(6)
        model = self.plan.model
        T = self.poses[body]
        local = T[:3, :3].T @ (point - T[:3, 3])

        def velocity(q: np.ndarray) -> np.ndarray:
            return model.at(model.jacobians(q), model.poses(q), body, local) @ self.v

        J = model.at(self.J, self.poses, body, local)
        return J, J @ self.v, model.drift(velocity, self.plan.q, self.v)


class WithPinocchio:
    """By Pinocchio: CRBA, RNEA, frame Jacobians and accelerations."""

    def __init__(self, plan: Plan) -> None:
        import pinocchio as pin

        model = pin.Model()
        model.gravity.linear = plan.gravity
        q, v, joint_of, place = [], [], {"ground": 0}, {"ground": pin.SE3.Identity()}
        kinds = {
            f"{m}{a}": getattr(pin, f"JointModel{'R' if m == 'R' else 'P'}{a.upper()}") for m in "RT" for a in "xyz"
        }
        for link, own in zip(plan.topology.links, plan.steps, strict=True):
            parent, P, S = plan.ends(link)
            at, placement = joint_of[parent], place[parent] * se3(pin, P)
            for k, step in enumerate(own):
                kind = pin.JointModelSpherical() if step.kind == "ball" else kinds[step.kind]()
                at = model.addJoint(at, kind, placement, f"{link.body.name} {k}")
                placement = pin.SE3.Identity()
                if step.kind == "ball":
                    q += pin.Quaternion(step.value).coeffs().tolist()
                    v += list(step.rate)
                else:
                    q.append(step.value)
                    v.append(step.rate)
            body = placement * se3(pin, inverse(S))  # of the body's frame in the last joint
            joint_of[link.body.name], place[link.body.name] = at, body
            mass, com, I = plan.model.bodies[link.body.name]
            model.appendBodyToJoint(at, pin.Inertia(mass, com, I), body)
        self.pin, self.model, self.joint_of = pin, model, joint_of
        self.data = data = model.createData()
        self.q, self.v = np.array(q, float), np.array(v, float)
        self.M = pin.crba(model, data, self.q)
        self.M = np.triu(self.M) + np.triu(self.M, 1).T
        self.bias = pin.nonLinearEffects(model, data, self.q, self.v)
        pin.computeJointJacobians(model, data, self.q)
        pin.forwardKinematics(model, data, self.q, self.v, np.zeros(model.nv))

    def motion(self, body: str, point: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of a point of a body."""
        pin, at = self.pin, self.joint_of[body]
        if at == 0:
            return np.zeros((6, self.model.nv)), np.zeros(6), np.zeros(6)
        world = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        J = pin.getJointJacobian(self.model, self.data, at, world).reshape(6, -1)
        V = pin.getVelocity(self.model, self.data, at, world).vector
        a = pin.getClassicalAcceleration(self.model, self.data, at, world).vector
        return at_point(
            np.vstack([J[3:], J[:3]]), np.concatenate([V[3:], V[:3]]), np.concatenate([a[3:], a[:3]]),
            point - self.data.oMi[at].translation,
        )  # fmt: skip


class WithMujoco:
    """By MuJoCo: its inertia matrix, bias, Jacobians and accelerations of bodies, without its solver."""

    def __init__(self, plan: Plan) -> None:
        import mujoco

        spec = mujoco.MjSpec()
        spec.option.gravity = plan.gravity
        spec.option.timestep = 1e-3
        spec.compiler.balanceinertia = False
        spec.compiler.boundmass = spec.compiler.boundinertia = 0.0
        bodies, frames = {"ground": spec.worldbody}, {"ground": np.eye(4)}
        q, v = [], []
        for link, own in zip(plan.topology.links, plan.steps, strict=True):
            parent, P, S = plan.ends(link)
            T = frames[parent] @ P  # frames of MuJoCo's bodies lie at the joints
            mass, com, I = plan.model.bodies[link.body.name]
            X = inverse(S)
            frames[link.body.name] = X
            full = X[:3, :3] @ I @ X[:3, :3].T
            body = bodies[parent].add_body(
                name=link.body.name, pos=T[:3, 3], quat=quaternion_of(T[:3, :3]), mass=mass,
                ipos=X[:3, :3] @ com + X[:3, 3], explicitinertial=True,
                fullinertia=[full[0, 0], full[1, 1], full[2, 2], full[0, 1], full[0, 2], full[1, 2]],
            )  # fmt: skip
            bodies[link.body.name] = body
            for k, step in enumerate(own):
                name = f"{link.body.name} {k}"
                if step.kind == "ball":
                    body.add_joint(name=name, type=mujoco.mjtJoint.mjJNT_BALL)
                    q += quaternion_of(step.value).tolist()
                    v += list(step.rate)
                    continue
                kind = mujoco.mjtJoint.mjJNT_HINGE if step.kind[0] == "R" else mujoco.mjtJoint.mjJNT_SLIDE
                body.add_joint(name=name, type=kind, axis=AXES[step.kind[1]])
                q.append(step.value)
                v.append(step.rate)
        self.mujoco, self.model = mujoco, spec.compile()
        self.data = data = mujoco.MjData(self.model)
        data.qpos[:], data.qvel[:] = q, v
        mujoco.mj_forward(self.model, data)
        self.M = np.zeros((self.model.nv, self.model.nv))
        mujoco.mj_fullM(self.model, data, self.M)
        self.bias = np.array(data.qfrc_bias)
        data.qacc[:] = 0.0
        mujoco.mj_rnePostConstraint(self.model, data)  # mj_jacDot is off where slides follow a ball

    def motion(self, body: str, point: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of a point of a body."""
        n = self.model.nv
        if body == "ground":
            return np.zeros((6, n)), np.zeros(6), np.zeros(6)
        number, J, a = self.model.body(body).id, np.zeros((6, n)), np.zeros(6)
        origin = np.array(self.data.xpos[number])
        self.mujoco.mj_jac(self.model, self.data, J[3:], J[:3], origin, number)
        self.mujoco.mj_objectAcceleration(self.model, self.data, self.mujoco.mjtObj.mjOBJ_XBODY, number, a, 0)
        a[3:] += self.model.opt.gravity  # MuJoCo lets the ground fall upwards
        return at_point(J, J @ self.data.qvel, a, point - origin)


def at_point(J: np.ndarray, V: np.ndarray, a: np.ndarray, r: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Jacobian, velocity and acceleration of a body moved by r."""
    J = np.vstack([J[:3], J[3:] - skew(r) @ J[:3]])
    w = V[:3]
    return (
        J,
        np.concatenate([w, V[3:] + np.cross(w, r)]),
        np.concatenate([a[:3], a[3:] + np.cross(a[:3], r) + np.cross(w, np.cross(w, r))]),
    )


def se3(pin: Any, T: np.ndarray) -> Any:
    """A pose in Pinocchio's words."""
    return pin.SE3(T[:3, :3], T[:3, 3])


ENGINES: dict[str, Any] = {"pinocchio": WithPinocchio, "mujoco": WithMujoco, "numpy": WithNumpy}


def available() -> list[str]:
    """Engines that are installed; NumPy is."""
    from importlib.util import find_spec

    return [name for name in ENGINES if find_spec(name) is not None]
