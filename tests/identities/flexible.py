"""Beams a second time, in NumPy, from definitions alone: quadrature along the axis, complex steps, no recursions.

A point of a beam is where the pose of its body and its displacement put it; what moves, and how much energy it has,
follows by complex steps of positions and by Gauss points along the axis. Shape functions are written out here again.
The bias comes from the energy by the equations of Boltzmann and Hamel, with all derivatives by differences.

`draw` makes random trees and loops of rigid and flexible bodies, with joints anywhere on them and drawn either way.
"""

from functools import cached_property
from types import SimpleNamespace

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import brentq

import closedchain as cc
from closedchain.cut.topology import cut
from closedchain.model.bodies.sections import Section
from tests.identities.independent import (
    STEP,
    Independent,
    difference,
    inverse,
    joint_pose,
    joint_rate,
    pose,
    skew,
    unskew,
)
from tests.random_mechanisms import coordinates, effort, put_on, random_axes, random_rotation, shape

POINTS, WEIGHTS = (x / 2 for x in np.polynomial.legendre.leggauss(40))  # shapes have three waves at most
POINTS = POINTS + 0.5


def _products(weights, V, W):
    return np.einsum("k,kai,kaj", weights, V, W)


# ---- shapes: for each one the fields it moves, as functions of complex numbers ------------------------------------


def floating(k):
    """Bending mode k of a free beam, 1 at its start."""
    b = brentq(lambda b: np.cos(b) - 1 / np.cosh(b), (k + 0.5) * np.pi - 0.5, (k + 0.5) * np.pi + 0.5, xtol=1e-15)
    sigma = (np.cosh(b) - np.cos(b)) / (np.sinh(b) - np.sin(b))
    return lambda xi: (np.cosh(b * xi) + np.cos(b * xi) - sigma * (np.sinh(b * xi) + np.sin(b * xi))) / 2


def cantilever(k):
    """Bending mode k of a clamped beam, 1 at its tip."""
    b = brentq(lambda b: np.cos(b) + 1 / np.cosh(b), (k - 0.5) * np.pi - 0.5, (k - 0.5) * np.pi + 0.5, xtol=1e-15)
    sigma = (np.cosh(b) + np.cos(b)) / (np.sinh(b) + np.sin(b))

    def mode(xi):
        return np.cosh(b * xi) - np.cos(b * xi) - sigma * (np.sinh(b * xi) - np.sin(b * xi))

    return lambda xi: mode(xi) / mode(1.0)


def floating_set():
    """Nothing is at rest at either end."""
    shapes = [{"v": floating(1)}, {"v": floating(2)}, {"w": floating(1)}]
    shapes += [{"u": lambda xi: np.cos(np.pi * xi)}, {"t": lambda xi: np.cos(np.pi * xi)}]
    return cc.shapes.free_free(y=2, z=1, axial=1, torsion=1), shapes


def cantilever_set():
    sines = [{field: lambda xi: np.sin(np.pi * xi / 2)} for field in "ut"]
    return cc.shapes.clamped_free(y=1, z=2, axial=1, torsion=1), [
        {"v": cantilever(1)}, {"w": cantilever(1)}, {"w": cantilever(2)}, *sines
    ]  # fmt: skip


def polynomial_set():
    shapes = [{"v": lambda xi: xi**2}, {"v": lambda xi: xi**3}, {"w": lambda xi: xi**2}]
    return cc.shapes.polynomials(y=2, z=1, axial=1, torsion=1), [*shapes, {"u": lambda xi: xi}, {"t": lambda xi: xi}]


def static_set():
    bending = (lambda xi: 3 * xi**2 - 2 * xi**3, lambda xi: xi**3 - xi**2)
    shapes = [{field: f} for field in "vw" for f in bending]
    return cc.shapes.static(y=True, z=True, torsion=True), [*shapes, {"t": lambda xi: xi}]


def own_set():
    """Shapes of a user, at rest nowhere, one of which moves all fields at once."""
    screw = {
        "u": lambda xi: 0.3 - xi + xi**3,
        "v": lambda xi: 0.5 + xi**2,
        "w": lambda xi: np.exp(xi) - 1.7,
        "t": lambda xi: 1 + 2 * xi,
    }
    wave = {"v": lambda xi: np.cos(3 * xi), "w": lambda xi: np.sin(1 + 2 * xi)}
    return cc.shapes.from_functions({"screw": screw, "wave": wave}), [screw, wave]


def sine_set():
    sines = [{"v": lambda xi, k=k: np.sin(k * np.pi * xi)} for k in (1, 2)]
    return cc.shapes.pinned_pinned(y=2), sines


SETS = {
    "floating": floating_set,
    "cantilever": cantilever_set,
    "polynomial": polynomial_set,
    "static": static_set,
    "own": own_set,
    "sines": sine_set,
}


class Shapes:
    """Functions of xi for one beam: values and derivatives of all fields, by complex numbers."""

    def __init__(self, shapes):
        self.shapes = shapes
        self.n = len(shapes)

    def __call__(self, field, xi, order=0):
        """(places, n)."""
        xi = np.atleast_1d(np.asarray(xi, float))
        out = np.zeros((len(xi), self.n))
        for i, fields in enumerate(self.shapes):
            if field in fields:
                out[:, i] = derivative(fields[field], xi, order)
        return out

    def U(self, xi):
        """Displacement along x, y, z: (places, 3, n)."""
        return np.stack([self(field, xi) for field in "uvw"], axis=1)

    def turn(self, xi, length):
        """Rotation about x, y, z: (places, 3, n)."""
        return np.stack([self("t", xi), -self("w", xi, 1) / length, self("v", xi, 1) / length], axis=1)

    def H(self, xi):
        """``int_0^xi v' v' + w' w'``: (places, n, n)."""
        out = []
        for end in np.atleast_1d(xi):
            slopes = [self(field, POINTS * end, 1) for field in "vw"]
            out.append(sum(np.einsum("k,ki,kj", WEIGHTS * end, s, s) for s in slopes))
        return np.array(out)

    def integral(self, field, order=0):
        """``int f' f dxi`` of a field, or of a derivative of it."""
        f = self(field, POINTS, order)
        return np.einsum("k,ki,kj", WEIGHTS, f, f)


def derivative(f, xi, order):
    """Cauchy's integral on a circle of radius 1/4: exact to rounding for functions that are analytic."""
    circle = np.exp(2j * np.pi * np.arange(32) / 32)
    values = f(xi[:, None] + circle / 4) + 0j * xi[:, None]
    factor = {0: 1.0, 1: 4.0, 2: 32.0}[order]
    return (values @ circle**-order).real / 32 * factor


def cayley(theta):
    """The rotation with the Gibbs vector theta / 2."""
    K = skew(theta / 2)
    return np.linalg.solve(np.eye(3) - K, np.eye(3) + K)


# ---- the tree -----------------------------------------------------------------------------------------------


class Beam:
    """Numbers of one flexible body."""

    def __init__(self, data, shapes, value):
        self.shapes, self.sections = Shapes(shapes), {}
        self.n = self.shapes.n
        self.L, self.E, self.G = (value(x) for x in (data.length, data.E, data.G))
        self.A, self.Iy, self.Iz, self.J = (value(getattr(data.section, x)) for x in ("A", "Iy", "Iz", "J"))
        self.zeta, self.rayleigh = value(data.damping), tuple(map(value, data.rayleigh))
        self.stiffening = data.stiffening
        p = data.body.properties
        self.mass = value(p.mass)
        drawn = np.diag([value(x) for x in p.inertia[:3]])
        # a section turns about the axis; what the drawing has beyond a thin rod turns with the frame
        self.polar = drawn[0, 0] or (self.mass * (self.Iy + self.Iz) / self.A if "t" in self.moving else 0.0)
        rest = drawn - np.diag([0, 1, 1]) * self.mass * self.L**2 / 12
        rest[0, 0] = 0.0
        self.rest = rest
        self.U = self.shapes.U(POINTS)
        self.twist = self.shapes("t", POINTS)
        self.H = self.shapes.H(POINTS)

    @property
    def moving(self):
        """Fields that move."""
        return {field for fields in self.shapes.shapes for field in fields}

    def attach(self, drawn, eta):
        """Pose of a frame in the body: with the nearest section, on an arm."""
        axis = np.array([np.clip(drawn[0, 3], 0, self.L), 0, 0])
        U, turn, H = self.section(axis[0] / self.L)
        R = cayley(turn @ eta)
        shift = U @ eta
        if self.stiffening:
            shift = shift - np.array([eta @ H @ eta / (2 * self.L), 0, 0])
        return pose(R @ drawn[:3, :3], axis + shift + R @ (drawn[:3, 3] - axis))

    def section(self, xi):
        """Displacement, rotation and foreshortening at a place, computed once."""
        if xi not in self.sections:
            self.sections[xi] = (self.shapes.U(xi)[0], self.shapes.turn(xi, self.L)[0], self.shapes.H(xi)[0])
        return self.sections[xi]

    @cached_property
    def few(self):
        """Four places for each shape and one more, their weights, displacements and foreshortening."""
        places, weights = (x / 2 for x in np.polynomial.legendre.leggauss(4 * (self.n + 1)))
        return places + 0.5, weights, self.shapes.U(places + 0.5), self.shapes.H(places + 0.5)

    def velocities(self, eta, at=None):
        """Velocities of the Gauss points from (w, v, eta'): by powers of eta, (places, 3, 6 + n) each."""
        places, _, U, H = (POINTS, WEIGHTS, self.U, self.H) if at is None else at
        k, n = len(places), self.n
        arm, s1, s2 = np.zeros((k, 3)), U @ eta, np.zeros((k, 3))
        arm[:, 0] = places * self.L
        parts = [np.zeros((k, 3, 6 + n)) for _ in range(3)]
        parts[0][:, :, 3:6] = np.eye(3)
        parts[1][:, :, 6:] = U
        if self.stiffening:
            bent = H @ eta
            s2[:, 0] = -bent @ eta / (2 * self.L)
            parts[2][:, 0, 6:] = -bent / self.L
        for part, r in zip(parts, (arm, s1, s2), strict=True):
            part[:, :, :3] += np.array([-skew(x) for x in r])
        return parts

    def inertia(self, eta):
        """(6 + n) x (6 + n), of the twist in body axes and the rates."""
        V0, V1, V2 = self.velocities(eta)
        M = _products(self.mass * WEIGHTS, V0 + V1, V0 + V1)
        if self.stiffening:
            # beyond second order the library integrates with few points, and so do we
            cross = _products(self.mass * WEIGHTS, V0, V2)
            _, weights, _, _ = self.few
            _, V1, V2 = self.velocities(eta, self.few)
            M += cross + cross.T + _products(self.mass * weights, V1 + V2, V1 + V2)
            M -= _products(self.mass * weights, V1, V1)
        spin = np.zeros((len(POINTS), 6 + self.n))
        spin[:, 0], spin[:, 6:] = 1.0, self.twist
        M += self.polar * np.einsum("k,ki,kj", WEIGHTS, spin, spin)
        M[:3, :3] += self.rest
        return M

    def middle(self, eta):
        """Centre of mass in the body."""
        r = self.U @ eta
        r[:, 0] += POINTS * self.L
        if self.stiffening:
            r[:, 0] -= self.H @ eta @ eta / (2 * self.L)
        return WEIGHTS @ r

    @cached_property
    def stiffness(self):
        s, L = self.shapes, self.L
        K = self.E * self.A / L * s.integral("u", 1) + self.G * self.J / L * s.integral("t", 1)
        return K + self.E / L**3 * (self.Iz * s.integral("v", 2) + self.Iy * s.integral("w", 2))

    @cached_property
    def damping(self):
        """Rayleigh's, and a ratio for each mode that the shapes of one field have on their own."""
        s = self.shapes
        G = self.mass * sum(s.integral(field) for field in "uvw") + self.polar * s.integral("t")
        D = self.rayleigh[0] * G + self.rayleigh[1] * self.stiffness
        if self.zeta:
            for field in sorted(self.moving):
                own = [i for i, fields in enumerate(s.shapes) if field in fields]
                block = np.ix_(own, own)
                squared, phi = eigh(self.stiffness[block], G[block])
                left = G[block] @ phi
                D[block] += left @ np.diag(2 * self.zeta * np.sqrt(squared)) @ left.T
        return D


class FlexibleTree(Independent):
    """The open tree of a cut mechanism with flexible bodies; ``shapes`` gives their functions by body."""

    def __init__(self, topology, shapes, parameters=None):
        super().__init__(topology, parameters)
        self.beams = {name: Beam(self.mechanism.flexible[name], x, self.value) for name, x in shapes.items()}
        assert set(self.beams) == set(self.mechanism.flexible)
        self.link = {link.body.name: link for link in self.links}

    def eta(self, name, q):
        return q[self.link[name].shape_q]

    def on(self, name, drawn, q):
        """Pose of a frame in its body, as it is now."""
        return self.beams[name].attach(drawn, self.eta(name, q)) if name in self.beams else drawn

    def sides(self, joint, q):
        """The two frames of a joint in their bodies."""
        return (self.on(f.body.name, end, q) for f, end in zip((joint.a, joint.b), self.ends[joint.name], strict=True))

    def poses(self, q):
        """Pose of every body's frame in the world."""
        T = {"ground": pose()}
        todo = list(self.links)
        while todo:
            joint = (link := todo.pop(0)).joint
            a, b = joint.a.body.name, joint.b.body.name
            P, S = self.sides(joint, q)
            X = P @ joint_pose(joint.type.name, q[link.q], self.pitch(joint)) @ inverse(S)
            if a in T:
                T[b] = T[a] @ X
            else:
                T[a] = T[b] @ inverse(X)
        return T

    def relative(self, joint, q):
        """Pose of S in P of any joint."""
        T = self.poses(q)
        P, S = self.sides(joint, q)
        return inverse(T[joint.a.body.name] @ P) @ T[joint.b.body.name] @ S

    def rate(self, q, v):
        """``q' = N(q) v``."""
        tree = self.tree_rate(q, v)
        return np.concatenate([tree, [self.turning(x, q, tree) for x in self.counters]])

    def tree_rate(self, q, v):
        parts = []
        for k in self.links:
            parts += [joint_rate(k.joint.type.name, q[k.q], v[k.v]), v[k.shape_v]]
        return np.concatenate(parts)

    def motions(self, q, v):
        """Twist in body axes of each body, as q changes with v; and the rates of its shape."""
        moved = self.poses(q[: self.tree] + 1j * STEP * self.tree_rate(q, v))
        out = {}
        for name in self.mechanism.bodies:
            R, d = moved[name].real[:3, :3], moved[name].imag / STEP
            shape = v[self.link[name].shape_v]
            out[name] = np.concatenate([unskew(R.T @ d[:3, :3]), R.T @ d[:3, 3], shape])
        return out

    @cached_property
    def tree(self):
        return sum(link.q.stop - link.q.start + link.shapes for link in self.links)

    def body_inertia(self, name, q):
        """Of the twist in body axes, and of the rates."""
        if name in self.beams:
            return self.beams[name].inertia(self.eta(name, q))
        mass, com, I = self.bodies[name]
        C = skew(com)
        return np.block([[I - mass * C @ C, mass * C], [-mass * C, mass * np.eye(3)]])

    def inertia_matrix(self, q):
        """``sum J' I J``."""
        columns = [self.motions(q, e) for e in np.eye(self.nv)]
        M = np.zeros((self.nv, self.nv))
        for name in self.mechanism.bodies:
            J = np.array([x[name] for x in columns]).T
            M += J.T @ self.body_inertia(name, q) @ J
        return M

    def kinetic(self, q, v):
        motions = self.motions(q, v)
        return sum(x @ self.body_inertia(name, q) @ x for name, x in motions.items()) / 2

    def potential(self, q):
        """Of gravity and of elasticity."""
        T, g = self.poses(q[: self.tree]), np.array([self.value(x) for x in self.mechanism.gravity])
        total = 0.0
        for name, (mass, com, _) in self.bodies.items():
            if name in self.beams:
                eta = self.eta(name, q)
                com = self.beams[name].middle(eta)
                total += eta @ self.beams[name].stiffness @ eta / 2
            total -= mass * g @ (T[name] @ [*com, 1])[:3]
        return total

    def damping(self, v):
        """Generalised forces of the damping of beams."""
        out = np.zeros(self.nv)
        for name, beam in self.beams.items():
            at = self.link[name].shape_v
            out[at] = beam.damping @ v[at]
        return out

    def bias(self, q, v):
        """Boltzmann and Hamel with a = 0: ``dp/dt - p . [v, e_k] - dT/dpi_k + dV/dpi_k``, and what damping takes."""
        q = q[: self.tree]
        X = self.tree_rate(q, v)
        p = self.inertia_matrix(q) @ v
        h = difference(lambda s: self.inertia_matrix(q + s * X) @ v, 2e-4) + self.damping(v)
        N = np.array([self.tree_rate(q, e) for e in np.eye(self.nv)]).T
        for k, e in enumerate(np.eye(self.nv)):
            Y = N[:, k]
            along, across = (self.tree_rate(q + 1j * STEP * d, x).imag / STEP for d, x in ((X, e), (Y, v)))
            bracket = np.linalg.lstsq(N, along - across, rcond=None)[0]
            energy = difference(lambda s, Y=Y: self.kinetic(q + s * Y, v) - self.potential(q + s * Y), 2e-4)
            h[k] -= p @ bracket + energy
        return h

    def frame_motion(self, frame, q, v):
        """Position and orientation in the world, and angular velocity and velocity."""
        drawn, name = self.frame(frame), frame.body.name
        z = q[: self.tree] + 1j * STEP * self.tree_rate(q, v)
        T = self.poses(z)[name] @ self.on(name, drawn, z)
        R, d = T.real[:3, :3], T.imag / STEP
        return T.real, np.concatenate([unskew(d[:3, :3] @ R.T), d[:3, 3]])

    def frame_jacobian(self, frame, q):
        """6 x n: angular velocity and velocity in the world."""
        return np.array([self.frame_motion(frame, q, e)[1] for e in np.eye(self.nv)]).T


# ---- random drawings ------------------------------------------------------------------------------------------


def beam_frame(rng, length):
    """A pose on a beam: at its ends, between them, beyond, and off the axis."""
    x = rng.choice([0.0, length, rng.uniform(0.1, 0.9) * length, 1.1 * length, -0.1 * length])
    away = rng.normal(0, 0.1, 2) if rng.random() < 0.5 else np.zeros(2)
    R = random_rotation(rng) if rng.random() < 0.7 else np.eye(3)
    return pose(R, [x, *away])


def draw(seed, kinds, sets, *, parents=None, closing=(), stiffening=False, acting=False):
    """A random mechanism.

    Parameters
    ----------
    seed
        Of all numbers.
    kinds
        Joint of each body, the first letter "-" if it is drawn from the body towards its parent.
    sets
        Names of `SETS` for each body; None: rigid.
    parents
        Number of the body that each hangs on, 0 the ground; a chain if None.
    closing
        (kind, a, b): cut joints between two bodies, closed at the drawn state if b is rigid.
    acting
        Also forces, moments and springs at frames, motors and dampers.
    """
    rng = np.random.default_rng(seed)
    m = cc.Mechanism(f"flexible {seed}", gravity=rng.normal(0, 5, 3))
    bodies, shapes, frames = [m.ground], {}, {}
    for i, name in enumerate(sets, start=1):
        if name is None:
            bodies.append(m.body(f"b{i}", shape(rng)))
            continue
        L, radius = rng.uniform(0.5, 1.5), rng.choice([0.0, 0.05])
        body = m.body(f"b{i}", cc.rod(L, rng.uniform(0.5, 2.0), radius=radius))
        chosen, shapes[body.name] = SETS[name]()
        # as soft as jelly, so that elastic forces are as large as all others
        section = Section(A=2e-3, Iy=3e-5, Iz=5e-5, J=7e-5)
        body.flexible(rng.uniform(1, 3) * 1e3, section, shapes=chosen, nu=0.2, stiffening=stiffening,
                      damping=0.0 if name == "own" else 0.03, rayleigh=(0.3, 2e-3))  # fmt: skip
        bodies.append(body)
        frames[body.name] = L

    def somewhere(i):
        body = bodies[i]
        if body.name in frames:
            return put_on(body, beam_frame(rng, frames[body.name]))
        return put_on(body, pose(random_rotation(rng), rng.normal(0, 0.4, 3)))

    for i, kind in enumerate(kinds, start=1):
        parent, backwards = (i - 1 if parents is None else parents[i - 1]), kind.startswith("-")
        kind = kind.removeprefix("-")
        options, _ = random_axes(rng, kind)
        if kind == "screw":
            options["pitch"] = rng.uniform(0.2, 1.0)
        ends = (somewhere(i), somewhere(parent)) if backwards else (somewhere(parent), somewhere(i))
        m.joint(kind, f"j{i}", *ends, **options)
    drawing = SimpleNamespace(mechanism=m, shapes=shapes, closing=[])
    topology = cut(m)
    q = random_state(rng, topology)
    tree = FlexibleTree(topology, shapes)
    T = tree.poses(q)
    for k, (kind, a, b) in enumerate(closing):
        here = somewhere(a)
        want, options = coordinates(rng, kind), {"pitch": 0.4} if kind == "screw" else {}
        T_a = T[bodies[a].name] @ tree.on(bodies[a].name, tree.frame(here), q)
        there = inverse(T[bodies[b].name]) @ T_a @ joint_pose(kind, want, options.get("pitch", 0.0))
        m.joint(kind, f"loop{k + 1}", here, put_on(bodies[b], there), cut=True, **options)
    if acting:
        act(m, rng, somewhere, len(sets))
    topology = cut(m)
    drawing.independent = FlexibleTree(topology, shapes)
    drawing.q = lambda: np.concatenate([q, np.zeros(len(topology.counters))])
    return drawing


def act(m, rng, somewhere, count):
    """Forces and springs at frames of any bodies, and efforts on joints."""
    for axes in ("world", "frame"):
        on = somewhere(int(rng.integers(1, count + 1)))
        m.force(f"push in {axes} axes", on, rng.normal(0, 3, 3), moment=rng.normal(0, 1, 3), axes=axes)
    m.force("pull", somewhere(1), [effort(m, rng) for _ in range(3)])
    for name, length, damping in (("plain", 0, 0), ("damped", 0.2, 1.3)):
        m.spring(f"{name} spring", somewhere(int(rng.integers(1, count + 1))), somewhere(0), rng.uniform(1, 9),
                 length=length, damping=damping)  # fmt: skip
    moving = [j for j in m.joints.values() if j.type.nv]
    m.joint_damper(moving[0], rng.uniform(0.1, 2), coordinate=0)
    turns = moving[-1].type.velocity_units[0] == "rad/s"
    m.motor(moving[-1], **{"torque" if turns else "force": rng.normal()}, coordinate=0)


def random_state(rng, topology):
    """Coordinates of the tree: of joints anywhere, of shapes a tenth of a beam's length."""
    q = []
    for link in topology.links:
        q += [coordinates(rng, link.joint.type.name), rng.normal(0, 0.05, link.shapes)]
    return np.concatenate(q)
