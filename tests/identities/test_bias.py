"""The bias h: Newton and Euler body by body, and Lagrange's equations from the energies alone."""

import casadi as ca
import numpy as np
import pytest

import closedchain as cc
from closedchain.derive.equations import derive
from closedchain.testing.measured import close_to
from closedchain.testing.terms import TIME
from tests.identities.independent import skew
from tests.identities.sample import LOOPS, SCALAR, TREES, case


def effort(c, x, q, v):
    """An effort as a number, computed by the model's own arithmetic; coordinates of cut joints are measured."""
    if not hasattr(x, "evaluate"):
        return float(x)
    values = joint_values(c, q, v)
    parameters = c.mechanism.parameters

    def leaf(node):
        if node.op == "parameter":
            return parameters[node.args[0]]
        if node.op == "time":
            return TIME
        joint = c.mechanism.joints[node.args[0]]
        names = joint.type.coordinates if node.op == "coordinate" else joint.type.velocities
        return values[joint.name][node.op][0 if node.args[1] is None else names.index(node.args[1])]

    return float(x.evaluate(leaf))


def joint_values(c, q, v):
    m = c.equations.measures
    out = {}
    joints = c.topology.joints
    got = c.evaluate([x for j in joints for x in (m.coordinates(j), m.velocities(j))], q, v)
    for i, joint in enumerate(joints):
        out[joint.name] = {"coordinate": got[2 * i][:, 0], "velocity": got[2 * i + 1][:, 0]}
    return out


def frame_forces(c, q, v):
    """Generalised forces of everything that acts at frames: ``sum J' f``."""
    ref = c.independent
    T, J = ref.poses(q), ref.jacobians(q)
    total = np.zeros(ref.nv)

    def at(frame):
        name, place = frame.body.name, ref.frame(frame)
        return T[name] @ place, ref.at(J, T, name, place[:3, 3])

    for push in c.mechanism.forces.values():
        here, J_f = at(push.frame)
        f, n = (np.array([effort(c, x, q, v) for x in part]) for part in (push.force, push.moment))
        if not push.world:
            f, n = here[:3, :3] @ f, here[:3, :3] @ n
        total += J_f[3:].T @ f + J_f[:3].T @ n
    for spring in c.mechanism.springs.values():
        (A, J_a), (B, J_b) = at(spring.a), at(spring.b)
        k, rest, damping = (ref.value(x) for x in (spring.stiffness, spring.length, spring.damping))
        d = B[:3, 3] - A[:3, 3]
        J_d = J_b[3:] - J_a[3:]
        length = np.linalg.norm(d)
        pull = k * (length - rest) + damping * d @ J_d @ v / length
        total -= J_d.T @ d / length * pull
    return total


@pytest.mark.parametrize("key", TREES + LOOPS, ids=str)
def test_newton_and_euler(key):
    c = case(*key)
    q, v = c.anywhere()
    h = c.independent.bias(q, v) - frame_forces(c, q, v)
    # accelerations of the bodies by sixth-order differences: about 1e-11 of the largest term
    close_to(c.numbers(q, v)["h"], h, 1e-9)


@pytest.mark.parametrize("key", SCALAR, ids=str)
def test_lagrange(key):
    """d/dt dT/dv - dT/dq + dV/dq with a = 0, where V is gravity and every spring: all but what has no potential."""
    c = case(*key)
    e = c.equations
    q, v = c.anywhere()
    T, V = e.energies.kinetic, e.energies.potential
    Lagrange = ca.jtimes(ca.gradient(T, e.limbs.v), e.limbs.q, e.limbs.v) - ca.gradient(T, e.limbs.q)
    (lhs,) = c.evaluate([Lagrange + ca.gradient(V, e.limbs.q)], q, v)
    # pushes at frames and the damped spring have no potential, motors and dampers neither; their generalised force
    # follows from the power they give to unit velocities, at the efforts of the present velocity
    got = c.numbers(q, v)
    close_to(got["h"] - got["tau"], lhs[:, 0] - generalised(c, q, v), 1e-11)


def generalised(c, q, v):
    """Forces without potential in the tree's velocities."""
    ref = c.independent
    total = frame_forces(c, q, v)
    T, J = ref.poses(q), ref.jacobians(q)
    for spring in c.mechanism.springs.values():  # the part with a potential is in V already
        places = [(f.body.name, ref.frame(f)[:3, 3]) for f in (spring.a, spring.b)]
        a, b = (T[name] @ [*r, 1] for name, r in places)
        J_a, J_b = (ref.at(J, T, name, r)[3:] for name, r in places)
        d = (b - a)[:3]
        k, rest = ref.value(spring.stiffness), ref.value(spring.length)
        total += (J_b - J_a).T @ d * k * (1 - rest / np.linalg.norm(d))
    at = {link.joint.name: link.v.start for link in c.topology.links}
    for motor in c.mechanism.motors.values():
        total[at[motor.joint] + motor.index] += effort(c, motor.effort, q, v)
    for damper in c.mechanism.joint_dampers.values():
        i = at[damper.joint] + damper.index
        total[i] -= ref.value(damper.damping) * v[i]
        total[i] -= ref.value(damper.coulomb) * np.tanh(v[i] / ref.value(damper.velocity))
    return total


def test_a_spinning_top_feels_its_gyroscopic_torque():
    """The part of h that no other test isolates by hand: w x I w of a free body about its centre of mass."""
    m = cc.Mechanism("top", gravity=(0, 0, 0))
    m.spherical("ball", m.ground, m.body("top", cc.rigid(1.0, inertia=(0.2, 0.3, 0.4))))
    e = derive(m)
    w = np.array([1.0, -2.0, 0.5])
    h = e.function("h", {"h": e.h})(0, [1, 0, 0, 0], w, list(m.parameters.values()))
    np.testing.assert_allclose(np.array(h)[:, 0], skew(w) @ np.diag([0.2, 0.3, 0.4]) @ w, rtol=1e-14)
