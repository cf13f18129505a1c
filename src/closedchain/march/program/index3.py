"""One step of the index-3 system as native functions: what must vanish, its exact derivative, and where the step ends.

With the letters of `close.index3`, and alpha for the acceleration-like variable of the method, which Bruels, Cardona
and Arnold (2012) call ``a`` (their ``v'`` is our ``a``), a step of length h from ``q_n, v_n, alpha_n, a_n`` is

    (1 - alpha_m) alpha + alpha_m alpha_n = (1 - alpha_f) a + alpha_f a_n
    v = v_n + h ((1 - gamma) alpha_n + gamma alpha)
    q = q_n o exp(h v_n + h^2 ((1/2 - beta) alpha_n + beta alpha))

    r_1 = M(q) a + h(t, q, v) - tau(t, q, v) + A(t, q)' lam = 0
    r_2 = c(t, q) / (beta kappa h^2) = 0,    kappa = (1 - alpha_f) / (1 - alpha_m)

for the unknowns ``u = (a, lam)`` at the end of the step. The scale of the closures makes the matrix ``dr/du`` that of
the index-1 system up to terms of the order of h, whatever h is. The composition ``o`` goes joint by joint: coordinates
whose rates are velocities are added; quaternions turn by the exponential of a rotation vector, in the turning frame, as
their velocities are; the free joint moves along the screw of its twist. So rotations stay rotations, and the derivative
of the exponential map is found with everything else by differentiating what was traced.

``M a + h`` is one pass of the recursive Newton-Euler algorithm. The theory is in ``docs/theory/generalised_alpha.md``.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from closedchain.close.index3 import Index3, coefficients
from closedchain.derive.equations import Equations
from closedchain.derive.joint_motion import rotation
from closedchain.derive.rnea import rnea
from closedchain.derive.rotors import with_rotors
from closedchain.derive.spatial import cross
from closedchain.errors import ModelError
from closedchain.lock import locked
from closedchain.march.program.compiled import Compiled
from closedchain.native import compile_function
from closedchain.native.partial import WithNumbers
from closedchain.pose.size import drawn_scale, row_sizes, velocity_sizes

TERMS = 11  # of the series below: 1 / 23! is far below rounding


class Step(NamedTuple):
    """The native functions of a step; ``d = (q_n, v_n, alpha_n, a_n, h, a, lam)``.

    Attributes
    ----------
    residual
        ``(t, d, p) -> r, end``, with ``end = (q, v, alpha)``.
    matrix
        ``(t, d, p) -> K = dr/du``.
    """

    residual: WithNumbers
    matrix: WithNumbers


@locked
def step_equations(program: Compiled) -> Step:
    """The functions of a program, compiled when they are first asked for.

    Examples
    --------
    >>> import closedchain as cc
    >>> from closedchain.march.program.compiled import compiled
    >>> step = step_equations(compiled(cc.library.four_bar().assemble(), cc.Index3()))
    >>> step.matrix.output_shapes  # three angles, two closures
    {'K': (5, 5)}
    """
    if not isinstance(program.method, Index3):
        raise ModelError(
            f"generalised-alpha solves the closures in every step, which {type(program.method).__name__} does not "
            "ask for: say method=cc.Index3()"
        )
    if "index3" not in program.functions:
        if "index3" not in program.shared:
            program.shared["index3"] = _traced(program)
        program.functions["index3"] = Step(*(WithNumbers(f, program.numbers) for f in program.shared["index3"]))
    return program.functions["index3"]


@locked
def _traced(program: Compiled) -> tuple[Any, Any]:
    e, rows = program.equations, list(program.rows)
    rho, aims = ca.vertsplit(program.closed.parameters, [0, 1, program.closed.parameters.numel()])
    aims = aims if program.choice.aimed else ca.SX(len(rows), 1)
    topology, t = e.topology, e.limbs.t
    alpha_m, alpha_f, beta, gamma = coefficients(rho)
    kappa = (1 - alpha_f) / (1 - alpha_m)

    # the start, the length and the unknowns
    sizes = {"q": topology.nq, "v": topology.nv, "alpha": topology.nv, "a_n": topology.nv, "h": 1}
    q_n, v_n, alpha_n, a_n, h = (ca.SX.sym(name, size) for name, size in sizes.items())
    a, lam = ca.SX.sym("a", topology.nv), ca.SX.sym("lam", len(rows))

    # the end as a function of the accelerations there
    alpha = kappa * a + (alpha_f * a_n - alpha_m * alpha_n) / (1 - alpha_m)
    v = v_n + h * ((1 - gamma) * alpha_n + gamma * alpha)
    q = moved(e, q_n, h * v_n + h**2 * ((0.5 - beta) * alpha_n + beta * alpha))

    A = e.closure.A[rows, :]
    inputs = [t, e.limbs.q, e.limbs.v, a, lam, e.limbs.p]
    motion = inverse_dynamics(e, a) + ca.densify(A.T @ lam)
    terms = ca.Function("terms", inputs, [motion, ca.densify(e.closure.c[rows, :]), A])
    motion, c, A = terms(t, q, v, a, lam, e.limbs.p)
    r = ca.vertcat(motion, (c - aims) / (beta * kappa * h**2))
    K = ca.horzcat(ca.jacobian(r, a), ca.vertcat(A.T, ca.SX(len(rows), len(rows))))

    name = topology.mechanism.name
    given = {
        "t": t,
        "d": ca.vertcat(q_n, v_n, alpha_n, a_n, h, a, lam),
        "p": ca.vertcat(e.limbs.p, program.closed.parameters),
    }
    end = ca.densify(ca.vertcat(q, v, alpha))
    residual = compile_function(f"{name} step", given, {"r": ca.densify(r), "end": end}, slow=("p",))
    matrix = compile_function(f"{name} step matrix", given, {"K": ca.densify(K)}, slow=("p",), seldom=True)
    return residual, matrix


def inverse_dynamics(e: Equations, a: ca.SX) -> ca.SX:
    """``M a + h - tau``, by recursion."""
    n = e.topology.nv
    rotors, force = with_rotors(e.measures, ca.SX(n, n), rnea(e.limbs, e.motion, e.applied.wrenches, a))
    return ca.densify(force + rotors @ a - e.tau)


def moved(e: Equations, q: ca.SX, delta: ca.SX) -> ca.SX:
    """``q o exp(delta)``: coordinates after a motion with the constant velocities ``delta`` for one unit of time.

    Counters of turns stay as they are.
    """
    parts = [ca.SX(0, 1)]
    for link in e.topology.links:
        here, step = q[link.q, :], delta[link.v, :]
        if link.joint.type.has_quaternion:
            quat, angle = here[-4:], step[:3]
            if link.joint.type.nv == 6:
                parts.append(here[:3] + rotation(quat) @ screw(angle, step[3:]))
            parts.append(turned(quat, angle))
        else:
            parts.append(here + step)
        parts.append(q[link.shape_q, :] + delta[link.shape_v, :])
    return ca.vertcat(*parts, q[e.topology.tree_nq :, :])


def turned(quat: ca.SX, angle: ca.SX) -> ca.SX:
    """A unit quaternion after turning by a rotation vector given in the turning frame."""
    quarter = ca.sumsqr(angle) / 4
    w, u = _series(quarter, 0), _series(quarter, 1) * angle / 2
    s, r = quat[0], quat[1:]
    return ca.vertcat(s * w - r.T @ u, s * u + w * r + cross(r, u))


def screw(angle: ca.SX, way: ca.SX) -> ca.SX:
    """Where a point arrives that moves with the twist ``(angle, way)`` of its own frame for one unit of time."""
    s = ca.sumsqr(angle)
    once = cross(angle, way)
    return way + _series(s, 2) * once + _series(s, 3) * cross(angle, once)


def _series(s: ca.SX, k: int) -> ca.SX:
    """``sum (-s)^i / (2 i + k)!``, for s >= 0: cos x, sin x / x, (1 - cos x) / x^2, (x - sin x) / x^3 of x = sqrt(s).

    For up to one radian the sum itself, which has a derivative at zero and no cancellation; beyond, the closed forms.
    """
    total = ca.SX(0)
    for i in reversed(range(TERMS)):
        total = total * s + (-1) ** i / math.factorial(2 * i + k)
    small = s < 1
    x = ca.sqrt(ca.if_else(small, 1, s))  # where it is not used it must not become infinite
    closed = (ca.cos(x), ca.sin(x) / x, 2 * (ca.sin(x / 2) / x) ** 2, (x - ca.sin(x)) / x**3)[k]
    return ca.if_else(small, total, closed)


def arguments(program: Compiled, p: np.ndarray) -> Any:
    """What a solver of the index-3 system needs; the parameters of both functions are one vector."""
    from closedchain.integrate.implicit import MEMORY  # loads Numba
    from closedchain.integrate.methods.generalised_alpha import Room, StepEquations

    step, topology = step_equations(program), program.equations.topology
    n, nv, m = topology.nq, topology.nv, len(program.rows)
    u = nv + m
    room = Room(
        np.zeros(n + 3 * nv + 1 + u), np.zeros(u), np.zeros(n + 2 * nv), np.zeros(u), np.zeros(u * u),
        np.zeros(u, np.int64), np.zeros(u, np.int64),
    )  # fmt: skip
    w = [step.residual.prepare(p), step.matrix.prepare(p)]
    sizes = np.array([topology.tree_nq, n, nv, m, len(w[0])], np.int64)
    # the numbers of the method, then units: of coordinates, of unknowns (accelerations and forces), and of equations
    scale = drawn_scale(program.equations, p)
    of_q = np.array([scale.length if unit == "m" else 1.0 for unit in topology.q_units])
    of_v, heavy = velocity_sizes(program.equations, scale.length), scale.mass * scale.length**2
    of_c = row_sizes(program.equations, program.rows, scale.length)
    numbers = np.concatenate([coefficients(float(program.numbers[0])), of_q, of_v, heavy / of_c, heavy / of_v, of_c])
    addresses = step.residual.address, step.matrix.address
    return StepEquations(addresses[0], np.concatenate(w), addresses[1], sizes, numbers, room, np.zeros(1, MEMORY))
