"""The equations of motion to first order about a state, along motions that keep the loops closed.

Nothing is differenced. The closures determine the dependent coordinates only implicitly, and so they are differentiated
implicitly. With y for displacements along the independent velocities nu, and D for the dependent columns of A::

    dq = N S dy                                    A S = 0,   S_I = 1
    dv = S dnu + dv_y dy                           A dv_y = -d(A v + c_t)/dq  N S
    M da + A' dlam = -R_q dq - R_v dv + J' du      R  = M a + h + A' lam - tau   at constant a, lam
    A da           = -r_q dq - r_v dv              r  = A a + gamma              at constant a

The partial derivatives on the right come from CasADi. A change of S along y needs no term of its own: it is in ``dv_y``
and in the second pair of equations. Rows that repeat others are left out, as everywhere; the multipliers of those kept
are one of many distributions of the closing forces, but ``S' A' = 0`` makes all of them equal here.

A drive moved off its prescribed motion by w is one more column of S: ``A S_w = -e`` for the unit vector e of its row.

Quaternions have no rates that are velocities. Their displacements are rotations ``phi`` about the axes of the body, and
the positions of a free body move along these axes by ``eta``; these obey (Lie group SE(3), twist (w, u))::

    phi' = dw - w x phi          eta' = du - w x eta - u x phi

The theory is in ``docs/how-to/linearise.md``.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

from closedchain.derive.equations import Equations
from closedchain.errors import ModelError
from closedchain.model.derived import cached
from closedchain.pose.state import State, parameter_vector


class Tangent:
    """First-order terms about a state.

    Parameters
    ----------
    e, state
        Equations and where they are looked at.
    rows, dependent
        Closure rows to solve, and as many velocities that they determine.
    moved
        Closure rows of drives whose position is let vary.

    Attributes
    ----------
    S
        Feasible motions (n x f), and after them one column for each of ``moved``.
    T
        ``N S``: the same in coordinates.
    inertia
        ``S' M S`` of the first f motions.
    a, lam
        Accelerations and multipliers at the state.
    v_y, a_y, a_nu
        Derivatives of v and a by displacements and velocities along S.
    drift
        ``y' = nu + drift y``; zero but for quaternions that turn.
    """

    def __init__(
        self, e: Equations, state: State, rows: Sequence[int], dependent: Sequence[int], moved: Sequence[int] = ()
    ) -> None:
        p = parameter_vector(state.mechanism, state.parameters)
        self.e, self.rows, self.columns = e, list(rows), list(dependent)
        self.independent = [k for k in range(e.topology.nv) if k not in set(dependent)]
        self.point = (state.t, state.q, state.v, p)
        terms, slopes = functions(e)
        self.M, force, self.A, bias, self.N = (np.array(x) for x in terms(*self.point))
        self._A_D = self.A[np.ix_(self.rows, self.columns)]

        n, m, f = e.topology.nv, len(e.closure), len(self.independent)
        self.units = np.eye(m)[:, list(moved)]
        self.S = np.zeros((n, f))
        self.S[self.independent] = np.eye(f)
        self.S -= self.follow(self.A @ self.S)
        self.inertia = self.S.T @ self.M @ self.S
        self.S = np.hstack([self.S, -self.follow(self.units)])
        self.free = f
        self.T = self.N @ self.S

        self.a = self.accelerate(force, bias)[:, 0]
        self.lam = np.zeros(m)
        self.lam[self.rows] = np.linalg.solve(self._A_D.T, (force[:, 0] - self.M @ self.a)[self.columns])
        R_q, R_v, r_q, r_v, c_dot_q = (np.array(x) for x in slopes(*self.point, self.a, self.lam))
        self.v_y = -self.follow(c_dot_q @ self.T)
        self.a_y = self.accelerate(-(R_q @ self.T + R_v @ self.v_y), r_q @ self.T + r_v @ self.v_y)
        self.a_nu = self.accelerate(-R_v @ self.S, r_v @ self.S)
        self.drift = 0.0 - (_turning(e, state.v) @ self.S)[self.independent]
        if not all(np.isfinite(x).all() for x in (self.a, self.a_y, self.a_nu)):
            raise ModelError(
                f"the equations of {state.mechanism.name!r} have no derivative at this state: a torque or force there "
                "is not smooth, or a spring has no length"
            )

    def follow(self, values: np.ndarray) -> np.ndarray:
        """``A_D^-1 values`` at the dependent places of n velocities; values (all closure rows x k) by columns."""
        out = np.zeros((self.e.topology.nv, values.shape[1]))
        if self.columns:
            out[self.columns] = np.linalg.solve(self._A_D, values[self.rows])
        return out

    def accelerate(self, force: np.ndarray, bias: np.ndarray) -> np.ndarray:
        """Accelerations under generalised forces (n x k), for ``A a + bias = 0`` (bias: all rows x k)."""
        S = self.S[:, : len(self.independent)]
        a_0 = -self.follow(bias)
        return S @ np.linalg.solve(self.inertia, S.T @ (force - self.M @ a_0)) + a_0


@cached
def functions(e: Equations) -> tuple[ca.Function, ca.Function]:
    """CasADi functions of a drawing: the terms, and the slopes of the residuals R, r and c'."""
    limbs, closure = e.limbs, e.closure
    a, lam = ca.SX.sym("a", e.topology.nv), ca.SX.sym("lam", len(closure))
    N = ca.jacobian(e.qdot, limbs.v)
    terms = {"M": e.M, "force": e.tau - e.h, "A": closure.A, "gamma": closure.gamma, "N": N}
    R = e.M @ a + e.h + closure.A.T @ lam - e.tau
    r = closure.A @ a + closure.gamma
    c_dot = closure.A @ limbs.v + closure.c_t
    slopes = [
        ca.jacobian(R, limbs.q),
        ca.jacobian(R, limbs.v),
        ca.jacobian(r, limbs.q),
        ca.jacobian(r, limbs.v),
        ca.jacobian(c_dot, limbs.q),
    ]
    inputs = [*e.symbols.values(), a, lam]
    return (
        e.function("terms", terms),
        ca.Function("slopes", inputs, [ca.densify(x) for x in slopes]),
    )


def _turning(e: Equations, v: np.ndarray) -> np.ndarray:
    """``dv - (displacement)'`` as a matrix on displacements: of joints with quaternions, see the module's docstring."""
    out = np.zeros((len(v), len(v)))
    for link in e.topology.links:
        if link.joint.type.has_quaternion:
            i = link.v.start
            w = _cross(v[i : i + 3])
            out[i : i + 3, i : i + 3] = w
            if link.joint.type.nv == 6:
                out[i + 3 : i + 6, i + 3 : i + 6] = w
                out[i + 3 : i + 6, i : i + 3] = _cross(v[i + 3 : i + 6])
    return out


def _cross(w: np.ndarray) -> np.ndarray:
    return np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
