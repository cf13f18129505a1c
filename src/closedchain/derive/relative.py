"""Any quantity of the relative pose of two frames, with its exact Jacobian and bias.

A quantity is a function of the orientations ``R_P, R_S`` and the distance ``d = p_S - p_P`` in the axes of a common
root. Its time derivatives follow by automatic differentiation from ``R' = w x R``::

    c' = D (w_P, w_S, d') = A v          c'' = A a + gamma

so that ``A`` is the derivative of ``c`` at every state, not only where the loop is closed.

The theory is in ``docs/theory/closures.md``.
"""

from __future__ import annotations

from typing import NamedTuple

import casadi as ca

from closedchain.derive.kinematics import Kinematics, kinematics
from closedchain.derive.limbs import Limbs
from closedchain.derive.spatial import skew, tidy
from closedchain.model.joints.types import Quantity
from closedchain.model.parts import Joint


class Rows(NamedTuple):
    """Values, Jacobian (rows x n) and bias: ``values'' = J a + bias``.

    ``sides`` splits the Jacobian by the links it hangs on: ``J = sum C J_link`` with C (rows x 6, and a column for each
    coordinate of the link's shape) and the link's twist Jacobian in the root's axes. It is empty where the root is not
    the ground.
    """

    value: ca.SX
    J: ca.SX
    bias: ca.SX
    sides: dict[int, ca.SX]


class Pair:
    """The two frames of a joint, followed from the last link that both hang on."""

    def __init__(self, limbs: Limbs, joint: Joint, known: dict[int, Kinematics]) -> None:
        link_of = limbs.topology.link_of
        a, b = link_of[joint.a.body.name], link_of[joint.b.body.name]
        root = limbs.topology.common_ancestor(a, b)
        if root not in known:
            known[root] = kinematics(limbs, root)
        self.P = known[root].frame(joint.a, joint)
        self.S = known[root].frame(joint.b, joint)
        # arms from the links' origins to the joint, for the links that move
        self.arms = {}
        if root < 0:
            self.arms = {i: tidy(F.X.r - known[root].X[i].r) for i, F in ((a, self.P), (b, self.S)) if i >= 0}
        self.link_P, self.link_S = a, b
        self.pitch = limbs.number(joint.pitch)

    def rows(self, quantity: Quantity) -> Rows:
        """A quantity of this pair with its Jacobian and bias."""
        P, S = self.P, self.S
        R_P, R_S, d = ca.SX.sym("R_P", 3, 3), ca.SX.sym("R_S", 3, 3), ca.SX.sym("d", 3)
        w_P, w_S, d_dot, pitch = (
            ca.SX.sym("w_P", 3),
            ca.SX.sym("w_S", 3),
            ca.SX.sym("d_dot", 3),
            ca.SX.sym("pitch"),
        )
        pose = ca.vertcat(ca.vec(R_P), ca.vec(R_S), d)
        rate = ca.vertcat(ca.vec(ca.skew(w_P) @ R_P), ca.vec(ca.skew(w_S) @ R_S), d_dot)
        velocity = ca.vertcat(w_P, w_S, d_dot)

        c = ca.densify(quantity(R_P, R_S, d, pitch))
        c_dot = ca.jtimes(c, pose, rate)
        D = ca.jacobian(c_dot, velocity)
        drift = ca.jtimes(c_dot, pose, rate)
        f = ca.Function("quantity", [R_P, R_S, d, velocity, pitch], [c, D, drift])

        now = ca.vertcat(P.velocity.ang, S.velocity.ang, S.velocity.lin - P.velocity.lin)
        value, D, drift = f(P.X.R, S.X.R, S.X.r - P.X.r, now, self.pitch)
        D = ca.sparsify(D)
        J = ca.sparsify(D @ ca.vertcat(P.J.ang, S.J.ang, S.J.lin - P.J.lin))
        bias = D @ ca.vertcat(P.bias.ang, S.bias.ang, S.bias.lin - P.bias.lin) + drift
        return Rows(ca.densify(value), J, ca.densify(bias), self.sides(D))

    def sides(self, D: ca.SX) -> dict[int, ca.SX]:
        """Split ``D (w_P, w_S, d')`` by links: a point moves with the origin, by ``w x arm``, and by the shape."""
        out = {}
        ends = ((self.link_P, self.P, -1, D[:, 0:3]), (self.link_S, self.S, 1, D[:, 3:6]))
        for link, frame, sign, spin in ends:
            if link in self.arms:
                lin = sign * D[:, 6:9]
                parts = [spin - lin @ skew(self.arms[link]), lin]
                if frame.shape is not None:
                    parts.append(spin @ frame.shape.ang + lin @ frame.shape.lin)
                out[link] = ca.sparsify(ca.horzcat(*parts))
        return out

    def spin(self) -> Rows:
        """Relative angular velocity in S: not the rate of any coordinate, so it has no value."""
        P, S = self.P, self.S
        R, w = S.X.R, S.velocity.ang - P.velocity.ang
        J = ca.sparsify(R.T @ (S.J.ang - P.J.ang))
        bias = R.T @ (S.bias.ang - P.bias.ang - skew(S.velocity.ang) @ w)
        return Rows(ca.SX.nan(3, 1), J, ca.densify(bias), {})
