"""Newton and Euler for each body of a run, from the motion of its frame alone: what all joints together must exert."""

from __future__ import annotations

import casadi as ca
import numpy as np

from closedchain.derive.equations import derive

# sixth-order central difference: with steps of 1e-3 it is exact to some 1e-13 of the value
OFFSETS = 1e-3 * np.array([-3, -2, -1, 1, 2, 3])
WEIGHTS = np.array([-1, 9, -45, 45, -9, 1]) / 60 / 1e-3


def skew(r):
    return np.array([[0, -r[2], r[1]], [r[2], 0, -r[0]], [-r[1], r[0], 0]])


class Bodies:
    """Momentum of every body, and its rate along a run."""

    def __init__(self, run):
        m = run.mechanism
        value = m.values(run.start.parameters)
        self.run, self.names = run, list(m.bodies)
        self.mass = {name: value(b.properties.mass) for name, b in m.bodies.items()}
        self.inertia = {}
        for name, b in m.bodies.items():
            xx, yy, zz, xy, xz, yz = (value(x) for x in b.properties.inertia)
            self.inertia[name] = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        self.gravity = np.array([value(x) for x in m.gravity])
        e = derive(m)
        self.nq, self.nv = e.topology.nq, e.topology.nv
        frames = [e.motion.frame(b["com"]) for b in m.bodies.values()]
        columns = [ca.horzcat(f.X.r, f.X.R, f.velocity.lin, f.velocity.ang) for f in frames]
        self._f = e.function("bodies", {"all": ca.vertcat(*columns)})
        self._qdot = e.function("rates", {"qdot": e.qdot})

    def state(self, t, q, v):
        """(bodies, 3, 6): centre, axes, velocity and angular velocity of each body, in world axes."""
        return np.array(self._f(t, q, v, self.run.p)).reshape(len(self.names), 3, 6)

    def momentum(self, t, q, v):
        """(bodies, 6): moment of momentum about the world's origin, and momentum."""
        out = []
        for name, x in zip(self.names, self.state(t, q, v), strict=True):
            r, R, velocity, spin = x[:, 0], x[:, 1:4], x[:, 4], x[:, 5]
            p = self.mass[name] * velocity
            out.append(np.concatenate([R @ self.inertia[name] @ R.T @ spin + np.cross(r, p), p]))
        return np.array(out)

    def needed(self, i):
        """(bodies, 6): what the joints must exert on each body at sample i, about the world's origin."""
        t, x = self.run.t[i], self.run.x[i]
        q, v, a = x[: self.nq], x[self.nq : self.nq + self.nv], self.run._outputs["a"][i]
        qdot = np.array(self._qdot(t, q, v, self.run.p)).ravel()
        rate = sum(w * self.momentum(t, q + h * qdot, v + h * a) for h, w in zip(OFFSETS, WEIGHTS, strict=True))
        for k, (name, x) in enumerate(zip(self.names, self.state(t, q, v), strict=True)):
            weight = self.mass[name] * self.gravity
            rate[k] -= np.concatenate([np.cross(x[:, 0], weight), weight])
        return rate

    def exerted(self, i, reactions):
        """(bodies, 6): what joints exert on each body at sample i, about the world's origin."""
        out = np.zeros((len(self.names), 6))
        for name, got in reactions.items():
            joint = self.run.mechanism.joints[name]
            r = self.run.frame(joint.b).position.values[i]
            force, moment = got.force.values[i], got.moment.values[i]
            wrench = np.concatenate([moment + np.cross(r, force), force])
            for body, sign in ((joint.b.body.name, 1), (joint.a.body.name, -1)):
                if body != "ground":
                    out[self.names.index(body)] += sign * wrench
        return out


def all_reactions(run, **options):
    """Reactions in all joints of a run, in world axes."""
    return {name: run.reaction(name, **options) for name, j in run.mechanism.joints.items() if j.type.closure}


def imbalance(run, samples, **options):
    """Largest violation of Newton and Euler by the returned reactions, relative to the largest wrench."""
    bodies, reactions = Bodies(run), all_reactions(run, **options)
    needed = np.array([bodies.needed(i) for i in samples])
    exerted = np.array([bodies.exerted(i, reactions) for i in samples])
    return float(np.abs(needed - exerted).max() / np.abs(needed).max())


def self_stress(run, i):
    """Wrenches of all joints that balance each other (joints x 6, as columns), and nothing moves for them.

    From the places and directions of the joints alone; only hinges and slides are understood.
    """
    m = run.mechanism
    names, joints = list(m.bodies), list(m.joints.values())
    rows = np.zeros((6 * len(names), 6 * len(joints)))
    along = []
    for k, joint in enumerate(joints):
        frame = run.frame(joint.b)
        r, R = frame.position.values[i], frame.rotation.values[i] @ np.array(joint.rotation, float)
        carry = np.block([[np.eye(3), skew(r)], [np.zeros((3, 3)), np.eye(3)]])
        for body, sign in ((joint.b.body.name, 1), (joint.a.body.name, -1)):
            if body != "ground":
                j = names.index(body)
                rows[6 * j : 6 * j + 6, 6 * k : 6 * k + 6] += sign * carry
        free = np.zeros(6 * len(joints))
        part = {"revolute": 6 * k, "prismatic": 6 * k + 3}[joint.type.name]
        free[part : part + 3] = R[:, 2]
        along.append(free)
    system = np.vstack([rows, along])
    _, s, vt = np.linalg.svd(system)
    rank = int((s > 1e-10 * s[0]).sum())
    return vt[rank:].T
