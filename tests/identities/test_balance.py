"""Reactions at random states against Newton and Euler written a second time, in NumPy, from definitions alone.

Masses, centres and inertias are those of the drawing, poses come from 4 x 4 matrices and velocities from complex steps
(`independent.py`). Of the library are only the accelerations of the joints, and the wrenches to be tested.
"""

from functools import cache, cached_property
from types import SimpleNamespace

import numpy as np
import pytest

from closedchain.cut.topology import cut
from closedchain.model.library import MECHANISMS
from closedchain.results.reactions.wrenches import wrenches
from closedchain.results.samples import Samples
from closedchain.testing.formulations import states
from closedchain.testing.terms import TIME
from tests.identities.independent import STEP, Independent, skew, unskew
from tests.identities.sample import GEARED, LOOPS, PLATFORMS, TREES, Case, case
from tests.identities.test_bias import effort, joint_values

LIBRARY = tuple(("library", name) for name in MECHANISMS)
CLOSED = LOOPS[::2] + PLATFORMS[::2] + GEARED + LIBRARY
ALL = TREES[::3] + CLOSED


@cache
def moving(kind, seed):
    """A mechanism in a random closed state; a pose of the library's is closed, and its velocities keep it so."""
    if kind != "library":
        return Moving(case(kind, seed))
    m = MECHANISMS[seed].build()
    drawing = SimpleNamespace(mechanism=m, independent=Independent(cut(m)), q=next(states(m)).q.copy)
    return Moving(Case(drawing, list(MECHANISMS).index(seed)))


class Moving:
    """A mechanism in motion, with reactions, and what they should be."""

    def __init__(self, c):
        self.c, self.m, self.ref = c, c.mechanism, c.independent
        self.q, self.v = c.closed()
        self.a, self.lam = c.accelerations(self.q, self.v)
        samples = Samples(c.equations, np.array([TIME]), self.q[None], self.v[None], self.a[None], c.p)
        self.found = wrenches(samples)
        self.wrench = dict(zip(self.found.joints, self.found.wrench[0], strict=True))
        self.T, self.J = self.ref.poses(self.q), self.ref.jacobians(self.q)
        self.size = max(np.abs(x).max() for x in (*self.wrench.values(), *self.needed.values()))

    def joint(self, name):
        return next(j for j in self.c.topology.joints if j.name == name)

    def place(self, joint):
        """Where the second frame of a joint is."""
        return (self.T[joint.b.body.name] @ self.ref.ends[joint.name][1])[:3, 3]

    @cached_property
    def needed(self):
        """What joints must exert on each body together, about the world's origin: moment, force."""
        names, v = list(self.ref.bodies), self.v
        drift = dict(zip(names, self.ref.drift(self.velocities, self.q, v), strict=True))
        gravity = np.array([self.ref.value(x) for x in self.m.gravity])
        out = {}
        for name, (mass, com, I_body) in self.ref.bodies.items():
            R, J = self.T[name][:3, :3], self.ref.at(self.J, self.T, name, com)
            I, w, acceleration = R @ I_body @ R.T, J[:3] @ v, drift[name] + J @ self.a
            force = mass * (acceleration[3:] - gravity)
            moment = I @ acceleration[:3] + np.cross(w, I @ w)
            centre = (self.T[name] @ [*com, 1])[:3]
            out[name] = np.concatenate([moment + np.cross(centre, force), force]) - self.pushed[name]
        return out

    def velocities(self, q):
        """(bodies, 6): angular velocity and velocity of the centre of mass, as q changes with the velocities."""
        moved = self.ref.poses(q + 1j * STEP * self.ref.rate(q, self.v))
        out = []
        for name, (_, com, _) in self.ref.bodies.items():
            R, rate = moved[name].real[:3, :3], moved[name].imag / STEP
            out.append(np.concatenate([unskew(rate[:3, :3] @ R.T), (rate @ [*com, 1])[:3]]))
        return np.array(out)

    @cached_property
    def pushed(self):
        """What forces and springs at frames exert on each body, about the world's origin."""
        out = {name: np.zeros(6) for name in ["ground", *self.m.bodies]}

        def push(frame, force, moment=(0, 0, 0)):
            r = (self.T[frame.body.name] @ self.ref.frame(frame))[:3, 3]
            out[frame.body.name] += np.concatenate([moment + np.cross(r, force), force])

        for acting in self.m.forces.values():
            f, n = (np.array([effort(self.c, x, self.q, self.v) for x in y]) for y in (acting.force, acting.moment))
            R = np.eye(3) if acting.world else (self.T[acting.frame.body.name] @ self.ref.frame(acting.frame))[:3, :3]
            push(acting.frame, R @ f, R @ n)
        for spring in self.m.springs.values():
            ends = [(self.T[x.body.name] @ self.ref.frame(x))[:3, 3] for x in (spring.a, spring.b)]
            speeds = [
                self.ref.at(self.J, self.T, x.body.name, self.ref.frame(x)[:3, 3])[3:] @ self.v
                for x in (spring.a, spring.b)
            ]
            k, rest, damping = (self.ref.value(x) for x in (spring.stiffness, spring.length, spring.damping))
            d, d_dot = ends[1] - ends[0], speeds[1] - speeds[0]
            length = np.linalg.norm(d)
            pull = (k * (length - rest) + damping * d @ d_dot / length) * d / length
            push(spring.a, pull)
            push(spring.b, -pull)
        return out

    @cached_property
    def along(self):
        """What acts along the freedoms of each joint, by the laws of what was drawn; drives and gears apart."""
        c = self.c
        values = joint_values(c, self.q, self.v)
        out = {j.name: np.zeros(j.type.nv) for j in c.topology.joints}
        value = self.ref.value
        for x in self.m.motors.values():
            out[x.joint][x.index] += effort(c, x.effort, self.q, self.v)
        for x in self.m.joint_springs.values():
            out[x.joint][x.index] -= value(x.stiffness) * (values[x.joint]["coordinate"][x.index] - value(x.rest))
        for x in self.m.joint_dampers.values():
            v = values[x.joint]["velocity"][x.index]
            out[x.joint][x.index] -= value(x.damping) * v + value(x.coulomb) * np.tanh(v / value(x.velocity))
        for x in self.m.joint_stops.values():
            q, v = (values[x.joint][what][x.index] for what in ("coordinate", "velocity"))
            beyond = max(q - value(x.high), 0) + min(q - value(x.low), 0)
            out[x.joint][x.index] -= value(x.stiffness) * beyond + value(x.damping) * v * (beyond != 0)
        for x in self.m.rotors.values():
            row, bias = self.c.evaluate(self.c.equations.measures.velocity_row(x.joint, x.index), self.q, self.v)
            out[x.joint][x.index] -= value(x.inertia) * value(x.ratio) ** 2 * (row @ self.a + bias).item()
        return out

    @property
    def held(self):
        """Joints along which a drive or a gear acts with an effort that no law tells."""
        ends = [gear.driven[0] for gear in self.m.couplings.values()]
        ends += [gear.driver[0] for gear in self.m.couplings.values()]
        return {*ends, *(drive.joint for drive in self.m.drives.values())}

    def relative(self, joint):
        """(6, nv): velocity of a joint's second body relative to its first, at the second's frame."""
        r = self.place(joint)
        out = np.zeros((6, self.c.topology.nv))
        for body, sign in ((joint.b.body.name, 1), (joint.a.body.name, -1)):
            if body != "ground":
                J = self.J[body]
                out += sign * np.vstack([J[:3], J[3:] - skew(r - self.T[body][:3, 3]) @ J[:3]])
        return out


@pytest.mark.parametrize("key", ALL, ids=str)
def test_every_body_is_in_balance(key):
    x = moving(*key)
    exerted = {name: np.zeros(6) for name in ["ground", *x.m.bodies]}
    for name, (moment, force) in ((k, np.split(w, 2)) for k, w in x.wrench.items()):
        joint = x.joint(name)
        about_origin = np.concatenate([moment + np.cross(x.place(joint), force), force])
        exerted[joint.b.body.name] += about_origin
        exerted[joint.a.body.name] -= about_origin
    for name, needed in x.needed.items():
        # rounding, and differences of sixth order in the accelerations
        np.testing.assert_allclose(exerted[name] / x.size, needed / x.size, rtol=0, atol=1e-10, err_msg=name)


@pytest.mark.parametrize("key", ALL, ids=str)
def test_constraints_do_no_virtual_work(key):
    """In each joint, on any motion that all joints allow: the wrench does the work of what acts along its freedoms."""
    x = moving(*key)
    got = x.c.numbers(x.q, x.v)
    u = np.random.default_rng([3, x.c.seed]).normal(size=x.c.topology.nv)
    u -= np.linalg.lstsq(got["A"], got["A"] @ u, rcond=1e-10)[0]
    u /= max(np.abs(u).max(), 1e-300)
    total = 0.0
    for name, wrench in x.wrench.items():
        joint = x.joint(name)
        rates = x.c.evaluate([x.c.equations.measures.jacobian(joint)], x.q, x.v)[0] @ u
        power = wrench @ x.relative(joint) @ u - x.along[name] @ rates
        total += power
        if name not in x.held:
            # rounding times the condition of the random loops
            assert abs(power) < 1e-10 * x.size, name
    # a drive does no work on u, and a gear takes at one joint what it gives at the other
    assert abs(total) < 1e-10 * x.size


@pytest.mark.parametrize("key", CLOSED, ids=str)
def test_multipliers_are_the_reactions_of_cut_joints(key):
    """Wrenches less what acts along freedoms are ``-A' lam`` of all cuts; of each cut alone where they are unique."""
    x = moving(*key)
    e, rows = x.c.equations, list(x.c.rows)
    A = x.c.numbers(x.q, x.v)["A"]
    lam = dict(zip(rows, x.lam, strict=True))
    held = {name: np.zeros_like(tau) for name, tau in x.along.items()}  # by drives and gears
    for row, force in lam.items():
        name = e.closure.joints[row]
        if name in x.m.drives:
            held[x.m.drives[name].joint][x.m.drives[name].index] += force
        if name in x.m.couplings:
            gear = x.m.couplings[name]
            held[gear.driven[0]][gear.driven[1]] += force
            held[gear.driver[0]][gear.driver[1]] -= x.ref.value(gear.ratio) * force
    total, compared = np.zeros(x.c.topology.nv), 0
    for joint in x.c.topology.cuts:
        rates = x.c.evaluate([e.measures.jacobian(joint)], x.q, x.v)[0]
        force = x.relative(joint).T @ x.wrench[joint.name] - rates.T @ (x.along[joint.name] + held[joint.name])
        closing = sum((-A[r] * f for r, f in lam.items() if e.closure.joints[r] == joint.name), np.zeros(len(force)))
        total += force - closing
        if np.abs(x.found.part([joint.name]).loose).max(initial=0.0) < 1e-7:  # of columns of length one
            compared += 1
            # rounding times the condition of the random loops
            np.testing.assert_allclose(force / x.size, closing / x.size, rtol=0, atol=1e-10, err_msg=joint.name)
    np.testing.assert_allclose(total / x.size, 0, atol=1e-10)
    assert compared or x.found.loose.any() or not x.c.topology.cuts
