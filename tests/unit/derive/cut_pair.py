"""Two floating bodies and one cut joint between them: the joint's rows and measures at any relative pose."""

from functools import cache

import numpy as np

import closedchain as cc
from closedchain.derive.equations import derive
from closedchain.model.joints.types import JOINT_TYPES
from tests.identities.independent import Independent, inverse, joint_pose, quaternion_of
from tests.random_mechanisms import coordinates, put_on, random_axes, random_frame, shape
from tests.turns import with_counters

PITCH = 0.6


@cache
def cut_pair(kind, ground=False):
    return CutPair(kind, ground)


class CutPair:
    """P is on the first floating body, or on the ground; S on the second. All frames are random."""

    def __init__(self, kind, ground):
        rng = np.random.default_rng([list(JOINT_TYPES).index(kind), ground])
        self.kind = JOINT_TYPES[kind]
        m = cc.Mechanism(kind)
        first, second = m.body("first", shape(rng)), m.body("second", shape(rng))
        m.free("f1", m.ground, first)
        m.free("f2", m.ground, second)
        options, self.turn = random_axes(rng, kind)
        if kind == "screw":
            options["pitch"] = PITCH
        self.P, self.S = random_frame(rng), random_frame(rng)
        self.joint = m.joint(
            kind, "J", put_on(m.ground if ground else first, self.P), put_on(second, self.S), cut=True, **options
        )
        self.on_ground = ground
        self.equations = e = derive(m)
        self.topology = e.topology
        self.p = list(m.parameters.values())
        self.independent = Independent(self.topology)
        self.f = e.function(
            "f",
            {
                "c": e.closure.c,
                "A": e.closure.A,
                "measured": e.measures.coordinates(self.joint),
                "J": e.measures.jacobian(self.joint),
            },
        )

    def place(self, X, rng, near=()):
        """Coordinates of the two bodies at which S stands at X in P; the first body is anywhere.

        Angles of the joint are counted from the turns next to ``near``, its coordinates, or next to zero.
        """
        first = random_frame(rng)
        base = (np.eye(4) if self.on_ground else first) @ self.P @ self.turn
        second = base @ X @ inverse(self.S @ self.turn)
        at = {"f1": first, "f2": second}
        poses = (at[link.joint.name] for link in self.topology.links)
        q = np.concatenate([np.concatenate([T[:3, 3], quaternion_of(T[:3, :3])]) for T in poses])
        counted = {x.label: near[x.index] for x in self.topology.counters} if len(near) else {}
        return with_counters(self.topology, q, **counted)

    def at(self, X, rng, near=()):
        """c, A, measured coordinates and Jacobian where S stands at X in P."""
        return self.numbers(self.place(X, rng, near))

    def numbers(self, q):
        c, A, measured, J = (np.array(x) for x in self.f(0, q, np.zeros(12), self.p))
        return c[:, 0], A, measured[:, 0], J

    def allowed(self, q):
        """Pose of S in P that the joint itself makes."""
        return joint_pose(self.kind.name, q, PITCH)

    def random(self, rng):
        return coordinates(rng, self.kind.name)
