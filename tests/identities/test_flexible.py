"""Flexible links on random mechanisms against positions, quadrature and differences (`flexible.py`).

Joints sit anywhere on the beams, also where the shapes move and turn, and are drawn either way round; bodies hang by
their tips, on free joints and on balls; all fields of deformation and all families of shapes take part.
"""

from functools import cache

import casadi as ca
import numpy as np
import pytest

from closedchain.derive.rnea import rnea
from closedchain.pose.state import State, parameter_vector
from closedchain.results.reactions.wrenches import wrenches
from closedchain.results.samples import Samples
from closedchain.testing.measured import close_to
from closedchain.testing.terms import TIME, difference, skew
from tests.identities.flexible import FlexibleTree, draw, random_state
from tests.identities.sample import Case
from tests.identities.test_bias import effort, joint_values

ROUNDING = 1e-11  # the slopes of functions of a user, which polynomials meet to some 1e-12; for all others it is 1e-13

TREES = {
    "chain": {"seed": 1, "kinds": ("universal", "-revolute", "cylindrical"), "sets": ("floating", "own", None)},
    "branches": {
        "seed": 2,
        "kinds": ("-prismatic", "spherical", "-universal", "screw"),
        "sets": ("polynomial", "floating", "cantilever", None),
        "parents": (0, 1, 1, 2),
        "stiffening": True,
    },
    "afloat": {"seed": 3, "kinds": ("free", "-spherical", "-screw"), "sets": ("floating", "own", "static")},
    "on balls": {
        "seed": 4,
        "kinds": ("-spherical", "-free", "weld"),
        "sets": ("polynomial", "cantilever", "floating"),
        "parents": (0, 1, 1),
        "stiffening": True,
    },
}
LOOPS = {
    "turning": {
        "seed": 11,
        "kinds": ("universal", "-spherical", "cylindrical", "-planar"),
        "sets": ("sines", "floating", None, "static"),
        "closing": (("revolute", 2, 0), ("spherical", 4, 3)),
    },
    "sliding": {
        "seed": 12,
        "kinds": ("-spherical", "cylindrical", "-universal"),
        "sets": ("cantilever", None, "polynomial"),
        "closing": (("prismatic", 3, 2), ("universal", 1, 0)),
        "stiffening": True,
    },
    "turning and sliding": {
        "seed": 13,
        "kinds": ("spherical", "-free", "universal"),
        "sets": ("polynomial", None, "floating"),
        "parents": (0, 0, 2),
        "closing": (("cylindrical", 1, 2), ("screw", 3, 0)),
    },
    "fixed": {
        "seed": 14,
        "kinds": ("-revolute", "free", "weld"),
        "sets": ("static", None, "floating"),
        "parents": (0, 0, 1),
        "closing": (("weld", 3, 2), ("planar", 3, 0)),
    },
    # from beam to beam, open: there is no closed state to start from
    "beam to beam": {
        "seed": 15,
        "kinds": ("revolute", "-universal", "spherical"),
        "sets": ("floating", "cantilever", "static"),
        "parents": (0, 0, 1),
        "closing": (("revolute", 1, 2), ("universal", 3, 2)),
    },
}
CLOSED = [name for name in LOOPS if name != "beam to beam"]
of_trees = pytest.mark.parametrize("name", TREES)
of_loops = pytest.mark.parametrize("name", LOOPS)
of_closed = pytest.mark.parametrize("name", CLOSED)
of_all = pytest.mark.parametrize("name", [*TREES, *LOOPS])


@cache
def case(name):
    drawn = (TREES | LOOPS)[name]
    return FlexibleCase(draw(**drawn, acting=True), drawn["seed"])


class FlexibleCase(Case):
    def anywhere(self, which=0):
        """A random state, loops open."""
        rng = np.random.default_rng([self.seed, 1, which])
        q = np.concatenate([random_state(rng, self.topology), rng.uniform(-9, 9, len(self.topology.counters))])
        return q, self.some_velocities(rng)

    def closed(self, which=0):
        """The drawn state, beams bent, with random velocities that keep the loops closed."""
        q, v = self.drawing.q(), self.some_velocities(np.random.default_rng([self.seed, 2, which]))
        got = self.numbers(q, v)
        return q, v - np.linalg.lstsq(got["A"], got["A"] @ v, rcond=1e-10)[0]

    def some_velocities(self, rng):
        """Of shapes so small that the ends of the beams turn with some rad/s, as all does."""
        v = rng.normal(size=self.topology.nv)
        for link in self.topology.links:
            v[link.shape_v] *= 0.3
        return v


# ---- trees -----------------------------------------------------------------------------------------------------------


@of_trees
def test_inertia_and_energies(name):
    c = case(name)
    for which in range(2):
        q, v = c.anywhere(which)
        got, ref = c.numbers(q, v), c.independent
        M = ref.inertia_matrix(q)
        close_to(got["M"], M, ROUNDING)
        assert (got["M"] == got["M"].T).all()
        # energy of the second order in the shape is positive as long as slopes are small, which they are not here
        assert any(x.stiffening for x in c.mechanism.flexible.values()) or np.linalg.eigvalsh(got["M"])[0] > 0
        close_to(got["kinetic"][0], ref.kinetic(q, v), ROUNDING)
        close_to(got["kinetic"][0], v @ M @ v / 2, ROUNDING)
        np.testing.assert_allclose(got["qdot"], ref.rate(q, v), atol=1e-15)


@of_trees
def test_potential(name):
    """Gravity, elasticity and springs at frames."""
    c = case(name)
    q, v = c.anywhere()
    ref = c.independent
    springs = 0.0
    for spring in c.mechanism.springs.values():
        ends = [ref.frame_motion(f, q, v)[0][:3, 3] for f in (spring.a, spring.b)]
        springs += ref.value(spring.stiffness) * (np.linalg.norm(ends[1] - ends[0]) - ref.value(spring.length)) ** 2 / 2
    close_to(c.numbers(q, v)["potential"][0], ref.potential(q) + springs, ROUNDING)


def pushes(c, q, v):
    """Force and moment in the world on every frame that something acts at."""
    ref = c.independent
    for push in c.mechanism.forces.values():
        R = np.eye(3) if push.world else ref.frame_motion(push.frame, q, v)[0][:3, :3]
        f, n = (np.array([effort(c, x, q, v) for x in part]) for part in (push.force, push.moment))
        yield push.frame, R @ f, R @ n
    for spring in c.mechanism.springs.values():
        (A, v_a), (B, v_b) = (ref.frame_motion(f, q, v) for f in (spring.a, spring.b))
        k, rest, damping = (ref.value(x) for x in (spring.stiffness, spring.length, spring.damping))
        d, d_dot = (B - A)[:3, 3], (v_b - v_a)[3:]
        length = np.linalg.norm(d)
        pull = (k * (length - rest) + damping * d @ d_dot / length) * d / length
        yield spring.a, pull, np.zeros(3)
        yield spring.b, -pull, np.zeros(3)


def of_pushes(c, q, v):
    """Their generalised forces."""
    total = np.zeros(c.topology.nv)
    for frame, f, n in pushes(c, q, v):
        if frame.body is not c.mechanism.ground:
            total += c.independent.frame_jacobian(frame, q).T @ np.concatenate([n, f])
    return total


@of_trees
def test_bias(name):
    """From the energies, by Boltzmann and Hamel; forces at frames do the work that they should."""
    c = case(name)
    q, v = c.anywhere()
    h = c.independent.bias(q, v) - of_pushes(c, q, v)
    # differences of sixth order with a step of 2e-4 s: about 1e-12 of the largest terms
    close_to(c.numbers(q, v)["h"], h, 1e-10)


@of_trees
def test_columns_from_inverse_dynamics(name):
    c = case(name)
    e, (q, v), n = c.equations, c.anywhere(), c.topology.nv
    a = ca.SX.sym("a", n)
    f = ca.Function("torques", [*e.symbols.values(), a], [rnea(e.limbs, e.motion, e.applied.wrenches, a) - e.h])
    got = np.hstack([np.array(f(TIME, q, v, c.p, x)) for x in np.eye(n)])
    close_to(got, c.numbers(q, v)["M"], ROUNDING)  # a difference of terms of the size of h


@of_trees
def test_power(name):
    """Of damping, motors and what acts at frames, at any velocity."""
    c = case(name)
    q, v = c.anywhere()
    got = c.numbers(q, v)
    work = v @ got["tau"] - v @ c.independent.damping(v)
    for frame, f, n in pushes(c, q, v):
        moving = c.independent.frame_motion(frame, q, v)[1] if frame.body is not c.mechanism.ground else np.zeros(6)
        work += n @ moving[:3] + f @ moving[3:]
    # what springs at frames do is in the potential, but for their dampers
    e = c.equations
    (rate,) = c.evaluate([ca.jtimes(e.applied.potential, e.limbs.q, e.qdot)], q, v)
    close_to(got["power"][0], work + rate[0, 0], 1e-11)


@of_all
def test_rate_of_energy_is_power(name):
    c = case(name)
    q, v = c.anywhere() if name in TREES else c.closed()
    got = c.numbers(q, v)
    if name == "beam to beam":
        a, power = np.linalg.solve(got["M"], got["tau"] - got["h"]), got["power"][0]
    else:
        a, lam = c.accelerations(q, v)
        power = got["power"][0] - lam @ got["A"][list(c.rows)] @ v

    def energy(s):
        there = c.numbers(q + s * got["qdot"], v + s * a)
        return there["kinetic"][0] + there["potential"][0]

    size = 1 + np.abs(got["h"]).max() + np.abs(got["tau"]).max() + np.abs(got["M"] @ a).max()
    # differences of sixth order
    close_to(difference(energy, 1e-4) / size, power / size, 1e-9)


@of_trees
def test_frames(name):
    """Places, velocities, Jacobians and bias accelerations of all frames of all bodies."""
    c = case(name)
    q, v = c.anywhere()
    ref, tree = c.independent, c.independent.tree
    X = ref.tree_rate(q, v)
    g = np.array([ref.value(x) for x in c.mechanism.gravity])
    frames = [f for body in c.mechanism.bodies.values() for f in body.frames.values()]
    traced = [c.equations.motion.frame(f) for f in frames]
    got = c.evaluate([x for f in traced for x in (f.X.R, f.X.r, *f.velocity, *f.bias, *f.J)], q, v)
    for i, frame in enumerate(frames):
        R, r, w, vel, bias_w, bias_v, J_w, J_v = got[8 * i : 8 * i + 8]
        here, moving = ref.frame_motion(frame, q, v)
        close_to(R, here[:3, :3], ROUNDING)
        close_to(r[:, 0], here[:3, 3], ROUNDING)
        close_to(np.concatenate([w, vel])[:, 0], moving, ROUNDING)
        close_to(np.vstack([J_w, J_v]) @ v, moving, ROUNDING)
        if i % 3 == 0:
            close_to(np.vstack([J_w, J_v]), ref.frame_jacobian(frame, q), ROUNDING)
        drift = difference(lambda s, f=frame: ref.frame_motion(f, q[:tree] + s * X, v)[1], 2e-4)
        # the root falls upwards with -g, so gravity is in every bias; differences: about 1e-11
        close_to(np.concatenate([bias_w, bias_v + g[:, None]])[:, 0], drift, 1e-10)


@pytest.mark.parametrize("name", ["chain", "branches", "on balls"])
def test_numbers_are_parameters(name):
    """Other lengths, sections and moduli without tracing again: frames drawn at a place stay there on a longer beam."""
    c = case(name)
    q, v = c.anywhere()
    rng = np.random.default_rng([c.seed, 3])
    changed = {key: x * rng.uniform(0.8, 1.25) for key, x in c.mechanism.parameters.items()}
    other = FlexibleTree(c.topology, c.drawing.shapes, changed)
    got = c.numbers(q, v, parameter_vector(c.mechanism, changed))
    close_to(got["M"], other.inertia_matrix(q), ROUNDING)
    close_to(got["kinetic"][0], other.kinetic(q, v), ROUNDING)


# ---- loops -----------------------------------------------------------------------------------------------------------


def closure(kind, R_P, R_S, d, pitch):
    """Rows of a cut joint that do not depend on the root, from the poses of its two frames."""
    Q, along = R_P.T @ R_S, R_P.T @ d
    z = Q[:, 2]
    align = 2 * np.array([z[1], -z[0]]) / (1 + z[2])
    turn = 2 * np.array([Q[1, 2] - Q[2, 1], Q[2, 0] - Q[0, 2], Q[0, 1] - Q[1, 0]]) / (1 + np.trace(Q))
    turned = along[2] / pitch if pitch else 0.0
    s, c = Q[1, 0] * np.cos(turned) - Q[0, 0] * np.sin(turned), Q[0, 0] * np.cos(turned) + Q[1, 0] * np.sin(turned)
    return {
        "revolute": align, "spherical": [], "universal": [Q[0, 1]], "weld": turn,
        "prismatic": [*turn, -along[0], -along[1]], "cylindrical": [*align, -along[0], -along[1]],
        "planar": [*align, -along[2]], "screw": [*align, -along[0], -along[1], 2 * pitch * s / (1 + c)],
    }[kind]  # fmt: skip


@of_loops
def test_closure_rows(name):
    """Values from poses of the bent beams; derivatives at any state, however open the loops are."""
    c = case(name)
    e, ref = c.equations, c.independent
    along = [ca.jtimes(x, e.limbs.q, e.qdot) for x in (e.closure.c, ca.densify(e.closure.A @ e.limbs.v))]
    for which in range(2):
        q, v = c.anywhere(which)
        got = c.numbers(q, v)
        for joint in c.topology.cuts:
            T, (P, S) = ref.poses(q), ref.sides(joint, q)
            P, S = T[joint.a.body.name] @ P, T[joint.b.body.name] @ S
            d = (S - P)[:3, 3]
            rows = [k for k, owner in enumerate(e.closure.joints) if owner == joint.name]
            values = {e.closure.labels[k]: got["c"][k] for k in rows}
            wanted = closure(joint.type.name, P[:3, :3], S[:3, :3], d, ref.value(joint.pitch))
            if "point" in joint.type.closure:
                point = np.array([values.pop(axis) for axis in "xyz"])
                np.testing.assert_allclose(np.linalg.norm(point), np.linalg.norm(d), rtol=ROUNDING)
            mine = np.array(list(values.values()))
            # a row that measures an angle as 2 tan(angle / 2) magnifies rounding by 1 + c^2 / 4
            np.testing.assert_allclose(
                np.sort(mine) / (1 + np.sort(mine) ** 2), np.sort(wanted) / (1 + np.sort(wanted) ** 2), atol=ROUNDING
            )
        c_dot, drift = (x[:, 0] for x in c.evaluate(along, q, v))
        scale, size = 1 + got["c"] ** 2, np.abs(v).sum() ** 2
        np.testing.assert_allclose((got["A"] @ v - c_dot) / scale / size, 0, atol=ROUNDING)
        np.testing.assert_allclose((got["gamma"] - drift) / scale**1.5 / size, 0, atol=ROUNDING)


@of_loops
def test_sides(name):
    """Rows of A as coefficients on the twists of links, the rates of their shapes among them."""
    c = case(name)
    e = c.equations
    q, v = c.anywhere()
    A = c.numbers(q, v)["A"]
    links = {i for sides in e.closure.sides for i in sides}
    J = dict(zip(links, c.evaluate([e.closure.twist(i) for i in links], q, v), strict=True))
    told = 0
    for k, sides in enumerate(e.closure.sides):
        if sides:
            told += 1
            parts = zip(sides, c.evaluate(list(sides.values()), q, v), strict=True)
            close_to(sum((C @ J[i])[0] for i, C in parts), A[k], ROUNDING)
    assert told


@of_closed
def test_closed_where_drawn(name):
    c = case(name)
    q, v = c.closed()
    # frames were placed by products of a dozen matrices
    np.testing.assert_allclose(c.numbers(q, v)["c"], 0, atol=ROUNDING)
    values = joint_values(c, q, v)
    ref = c.independent
    for joint in c.topology.cuts:
        X = ref.relative(joint, q)
        if joint.type.name in ("revolute", "cylindrical"):
            np.testing.assert_allclose(
                np.tan(values[joint.name]["coordinate"][0] / 2), np.tan(np.arctan2(X[1, 0], X[0, 0]) / 2)
            )
        if joint.type.name in ("prismatic", "cylindrical"):
            np.testing.assert_allclose(values[joint.name]["coordinate"][-1], X[2, 3], atol=ROUNDING)


# ---- reactions -------------------------------------------------------------------------------------------------------


def momenta(c, q, v):
    """Of every body about the world's origin: angular, linear."""
    ref = c.independent
    T, motions, out = ref.poses(q[: ref.tree]), ref.motions(q, v), {}
    for name, x in motions.items():
        momentum = (ref.body_inertia(name, q) @ x)[:6]
        R, r = T[name][:3, :3], T[name][:3, 3]
        linear = R @ momentum[3:]
        out[name] = np.concatenate([R @ momentum[:3] + np.cross(r, linear), linear])
    return out


def weights(c, q):
    """Of every body about the world's origin."""
    ref, T, out = c.independent, c.independent.poses(q[: c.independent.tree]), {}
    g = np.array([ref.value(x) for x in c.mechanism.gravity])
    for name, (mass, com, _) in ref.bodies.items():
        if name in ref.beams:
            com = ref.beams[name].middle(ref.eta(name, q))
        out[name] = np.concatenate([np.cross((T[name] @ [*com, 1])[:3], mass * g), mass * g])
    return out


@cache
def moving(name):
    """Accelerations at a closed state, and the wrenches of all joints."""
    c = case(name)
    q, v = c.closed()
    a, lam = c.accelerations(q, v)
    found = wrenches(Samples(c.equations, np.array([TIME]), q[None], v[None], a[None], c.p))
    return q, v, a, lam, dict(zip(found.joints, found.wrench[0], strict=True))


@pytest.mark.parametrize("name", [*TREES, *CLOSED])
def test_every_body_is_in_balance(name):
    c = case(name)
    q, v, a, _, wrench = moving(name)
    ref = c.independent
    X, tree = ref.tree_rate(q, v), ref.tree
    joints = {j.name: j for j in c.topology.joints}
    exerted = {body: np.zeros(6) for body in ["ground", *c.mechanism.bodies]}
    for key, (moment, force) in ((k, np.split(w, 2)) for k, w in wrench.items()):
        r = (
            ref.frame_motion(joints[key].b, q, v)[0][:3, 3]
            if joints[key].b.body is not c.mechanism.ground
            else ref.frame(joints[key].b)[:3, 3]
        )
        about_origin = np.concatenate([moment + np.cross(r, force), force])
        exerted[joints[key].b.body.name] += about_origin
        exerted[joints[key].a.body.name] -= about_origin
    for frame, f, n in pushes(c, q, v):
        if frame.body is not c.mechanism.ground:
            r = ref.frame_motion(frame, q, v)[0][:3, 3]
            exerted[frame.body.name] += np.concatenate([n + np.cross(r, f), f])
    size = max(np.abs(w).max() for w in wrench.values())
    given, weight = momenta(c, q, a), weights(c, q)
    for body in c.mechanism.bodies:
        drift = difference(lambda s, b=body: momenta(c, q[:tree] + s * X, v)[b], 2e-4)
        # differences of sixth order, and the condition of the loops
        np.testing.assert_allclose(
            (exerted[body] + weight[body]) / size, (given[body] + drift) / size, atol=1e-9, err_msg=body
        )


def relative(c, joint, q):
    """(6, nv): velocity of a joint's second frame relative to its first, at the second's origin."""
    ref, out = c.independent, np.zeros((6, c.topology.nv))
    r_S = _place(c, joint.b, q)
    for frame, sign in ((joint.b, 1), (joint.a, -1)):
        if frame.body is not c.mechanism.ground:
            J = ref.frame_jacobian(frame, q)
            out += sign * np.vstack([J[:3], J[3:] - skew(r_S - _place(c, frame, q)) @ J[:3]])
    return out


def _place(c, frame, q):
    if frame.body is c.mechanism.ground:
        return c.independent.frame(frame)[:3, 3]
    return c.independent.frame_motion(frame, q, np.zeros(c.topology.nv))[0][:3, 3]


@pytest.mark.parametrize("name", ["turning", "turning and sliding", "fixed"])  # "sliding" is held more than once
def test_multipliers_are_the_reactions_of_cut_joints(name):
    """As forces on all velocities, those of shapes too."""
    c = case(name)
    q, v, _, lam, wrench = moving(name)
    e, A = c.equations, c.numbers(q, v)["A"]
    assert np.linalg.matrix_rank(A, tol=1e-8) == len(A)  # so that all is determined
    size = np.abs(lam).max()
    for joint in c.topology.cuts:
        acting = c.evaluate([e.applied.on_joints.get(joint.name, ca.SX.zeros(joint.type.nv, 1))], q, v)[0][:, 0]
        along = c.evaluate([e.measures.jacobian(joint)], q, v)[0].T @ acting
        rows = [k for k, row in enumerate(c.rows) if e.closure.joints[row] == joint.name]
        closing = -A[[c.rows[k] for k in rows]].T @ lam[rows]
        force = relative(c, joint, q).T @ wrench[joint.name] - along
        # rounding times the condition of the loops
        np.testing.assert_allclose(force / size, closing / size, atol=1e-9, err_msg=joint.name)


def test_states_are_what_the_library_takes():
    c = case("turning")
    q, v = c.closed()
    State(c.mechanism, q, v).check()
