"""Rigid-body mechanics a second time, in NumPy, from definitions alone: 4 x 4 matrices, complex steps, no recursions.

Nothing of `closedchain.derive` is used. A mechanism is walked along its joints as they are drawn; from the library
comes only the numbering of `q` and `v`. Every joint pose is written out again here from the table in the manual.
"""

from functools import cached_property

import numpy as np

from closedchain.testing.terms import difference

STEP = 1e-30  # of a complex step: the derivative is exact to rounding


def skew(a):
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def unskew(W):
    return np.array([W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1]]) / 2


def pose(R=None, r=(0, 0, 0)):
    T = np.eye(4, dtype=np.result_type(np.asarray(r).dtype, float if R is None else np.asarray(R).dtype, float))
    T[:3, :3] = np.eye(3) if R is None else R
    T[:3, 3] = r
    return T


def inverse(T):
    return pose(T[:3, :3].T, -T[:3, :3].T @ T[:3, 3])


def rotate(axis, angle):
    """Rodrigues' formula."""
    K = skew(axis)
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


def rotation_of(quaternion):
    w, u = quaternion[0], np.asarray(quaternion[1:])
    return np.eye(3) + 2 * w * skew(u) + 2 * skew(u) @ skew(u)


def quaternion_of(R):
    """(w, x, y, z) with w >= 0: the eigenvector of Bar-Itzhack's symmetric matrix."""
    K = np.array(
        [
            [R[0, 0] + R[1, 1] + R[2, 2], R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]],
            [0, R[0, 0] - R[1, 1] - R[2, 2], R[0, 1] + R[1, 0], R[0, 2] + R[2, 0]],
            [0, 0, R[1, 1] - R[0, 0] - R[2, 2], R[1, 2] + R[2, 1]],
            [0, 0, 0, R[2, 2] - R[0, 0] - R[1, 1]],
        ]
    )
    q = np.linalg.eigh(K, UPLO="U")[1][:, -1]
    return q if q[0] >= 0 else -q


def joint_pose(kind, q, pitch=0.0):
    """Pose of S in P of a joint; ``pitch`` is the advance per turn."""
    X, Y, Z = np.eye(3)
    if kind == "revolute":
        return pose(rotate(Z, q[0]))
    if kind == "prismatic":
        return pose(r=q[0] * Z)
    if kind == "cylindrical":
        return pose(rotate(Z, q[0]), q[1] * Z)
    if kind == "screw":
        return pose(rotate(Z, q[0]), q[0] / (2 * np.pi) * pitch * Z)
    if kind == "universal":
        return pose(rotate(X, q[0]) @ rotate(Y, q[1]))
    if kind == "planar":
        return pose(rotate(Z, q[2]), q[0] * X + q[1] * Y)
    if kind == "weld":
        return pose()
    if kind == "spherical":
        return pose(rotation_of(q))
    if kind == "free":
        return pose(rotation_of(q[3:]), q[:3])
    raise KeyError(kind)


def joint_rate(kind, q, v):
    """``q'`` of a joint: only quaternions differ from v. Their w is given in S, the free joint's v_lin too."""
    if kind == "spherical":
        return _quaternion_rate(q, v)
    if kind == "free":
        return np.concatenate([rotation_of(q[3:]) @ v[3:], _quaternion_rate(q[3:], v[:3])])
    return v


def _quaternion_rate(quaternion, w):
    """Half the quaternion product of q and (0, w)."""
    s, u = quaternion[0], quaternion[1:]
    return 0.5 * np.concatenate([[-u @ w], s * w + np.cross(u, w)])


class Independent:
    """The open tree of a cut mechanism: poses, Jacobians, inertia matrix and bias, each from its definition."""

    def __init__(self, topology, parameters=None):
        self.mechanism = topology.mechanism
        self.links = topology.links
        self.nv = topology.nv
        self.counters = topology.counters
        self.value = self.mechanism.values(parameters)
        self.ends = {}  # the two sides of every joint, in their bodies, with the joint's axes
        for joint in {link.joint for link in self.links} | set(self.mechanism.joints.values()):
            turn = pose([[self.value(x) for x in row] for row in joint.rotation])
            self.ends[joint.name] = (self.frame(joint.a) @ turn, self.frame(joint.b) @ turn)

    def frame(self, frame):
        """Pose of a frame in its body."""
        R = [[self.value(x) for x in row] for row in frame.rotation]
        return pose(R, [self.value(x) for x in frame.position])

    def pitch(self, joint):
        """Advance per turn, m."""
        return self.value(joint.pitch) * 2 * np.pi

    @cached_property
    def bodies(self):
        """Mass, centre of mass, inertia about it, by name."""
        out = {}
        for name, body in self.mechanism.bodies.items():
            p = body.properties
            xx, yy, zz, xy, xz, yz = (self.value(x) for x in p.inertia)
            I = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
            out[name] = (self.value(p.mass), np.array([self.value(x) for x in p.com]), I)
        return out

    def poses(self, q):
        """Pose of every body in the world."""
        T = {"ground": pose()}
        todo = list(self.links)
        while todo:
            link = todo.pop(0)
            joint = link.joint
            a, b = joint.a.body.name, joint.b.body.name
            P, S = self.ends[joint.name]
            X = P @ joint_pose(joint.type.name, q[link.q], self.pitch(joint)) @ inverse(S)
            if a in T:
                T[b] = T[a] @ X
            elif b in T:
                T[a] = T[b] @ inverse(X)
            else:
                todo.append(link)
        return T

    def relative(self, joint, q):
        """Pose of S in P of any joint, cut or not, at the coordinates q of the tree."""
        T = self.poses(q)
        P, S = self.ends[joint.name]
        return inverse(T[joint.a.body.name] @ P) @ T[joint.b.body.name] @ S

    def rate(self, q, v):
        """``q' = N(q) v``."""
        parts = [joint_rate(k.joint.type.name, q[k.q], v[k.v]) for k in self.links]
        tree = np.concatenate([np.zeros(0), *parts])
        return np.concatenate([tree, [self.turning(x, q, tree) for x in self.counters]])

    def turning(self, counter, q, rate):
        """Rate of a counter of turns, as the coordinates of the tree change at the given rate.

        It is the relative angular velocity along z of S; for a Hooke joint along x of P and along y of S.
        """
        n = len(rate)
        Q = self.relative(counter.joint, q[:n] + 1j * STEP * rate)
        spin = unskew(Q.real[:3, :3].T @ Q.imag[:3, :3]) / STEP  # in S
        if counter.joint.type.name != "universal":
            return spin[2]
        return spin[1] if counter.index else Q.real[0, :3] @ spin

    def jacobians(self, q):
        """Of every body, 6 x n: angular velocity, and velocity of its origin, in world axes."""
        names = list(self.mechanism.bodies)
        J = {name: np.zeros((6, self.nv)) for name in ["ground", *names]}
        here = self.poses(q)
        for k in range(self.nv):
            direction = self.rate(q, np.eye(self.nv)[k])
            moved = self.poses(q + 1j * STEP * direction)
            for name in names:
                d = moved[name].imag / STEP
                J[name][:3, k] = unskew(d[:3, :3] @ here[name][:3, :3].T)
                J[name][3:, k] = d[:3, 3]
        return J

    def at(self, J, T, name, point):
        """A body's Jacobian moved to a point given in the body."""
        r = T[name][:3, :3] @ point
        return np.vstack([J[name][:3], J[name][3:] - skew(r) @ J[name][:3]])

    def inertia_matrix(self, q):
        """``sum J' I J`` over the bodies, at their centres of mass."""
        J, T = self.jacobians(q), self.poses(q)
        M = np.zeros((self.nv, self.nv))
        for name, (mass, com, I) in self.bodies.items():
            R = T[name][:3, :3]
            Jc = self.at(J, T, name, com)
            M += Jc[:3].T @ R @ I @ R.T @ Jc[:3] + mass * Jc[3:].T @ Jc[3:]
        return M

    def drift(self, f, q, v, step=1e-3):
        """Time derivative of f(q) along ``q' = N(q) v``, by a central difference of sixth order."""
        d = self.rate(q, v)
        return difference(lambda s: f(q + s * d), step)

    def bias(self, q, v):
        """``sum J' (I J' v + w x I w - m g)``: what holds the motion up when all joint accelerations are zero."""
        g = np.array([self.value(x) for x in self.mechanism.gravity])
        T, J = self.poses(q), self.jacobians(q)
        names = list(self.bodies)

        def velocities(q):
            T, J = self.poses(q), self.jacobians(q)
            return np.array([self.at(J, T, name, self.bodies[name][1]) @ v for name in names])

        acceleration = dict(zip(names, self.drift(velocities, q, v), strict=True))
        h = np.zeros(self.nv)
        for name, (mass, com, I_body) in self.bodies.items():
            R = T[name][:3, :3]
            I = R @ I_body @ R.T
            Jc = self.at(J, T, name, com)
            w, a = Jc[:3] @ v, acceleration[name]
            h += Jc[:3].T @ (I @ a[:3] + np.cross(w, I @ w)) + Jc[3:].T @ (mass * (a[3:] - g))
        return h
