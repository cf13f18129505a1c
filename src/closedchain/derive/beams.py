"""Flexible links on a floating frame: inertia that depends on the shape, elastic forces, and how frames on a beam move.

A point of the beam at the distance x along its axis is at ``r = (x, 0, 0) + U(x) eta`` in the body's frame, with the
shape functions U (3 x n) and the coordinates eta of the shape; the section there has turned by ``theta``, small. The
kinetic energy of this field is taken as it is, all couplings included. With the integrals over the mass

    mc = m c + S_0 eta,   S_0 = int U dm             first moment, and momentum of the shape's rates
    I  = I_0 + ...        int (|r|^2 1 - r r') dm    quadratic in eta
    C  = int r x U dm     linear in eta              angular momentum of the shape's rates
    G  = int U' U dm                                 their own inertia

the link moves by Lagrange's equations in the quasi-velocities ``V = (omega, v, eta')`` (Boltzmann and Hamel):

    f = M V' + M' V + V x* M V - [0; 0; dT/d eta] + [0; 0; K eta + D eta']

where ``M'`` and ``dT/d eta`` come by automatic differentiation. See A. A. Shabana, Dynamics of Multibody Systems, and
for this use in mechanisms J. Wang, C. M. Gosselin and L. Cheng, Multibody System Dynamics 7 (2002) section 3.2.

With ``stiffening`` the bent axis keeps its length: the field has the second-order term ``-(1/2L) eta' H(x) eta`` along
x (T. R. Kane, R. R. Ryan and A. K. Banerjee, Journal of Guidance 10 (1987) 139-151). Tension along the beam then
stiffens it, as in a turning blade. The kinetic energy is that of this field: what is quadratic in eta by exact
integrals, the rest, without which it would not stay positive, by quadrature.

All integrals over shapes are pure numbers; length, mass and stiffness stay parameters.

The theory is in ``docs/theory/flexible.md``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import casadi as ca
import numpy as np

from closedchain.derive.spatial import Inertia, Shaping, Transform, Vector6, skew, symmetric, tidy
from closedchain.lock import once
from closedchain.model.expressions.expression import is_zero

if TYPE_CHECKING:
    from closedchain.derive.limbs import Limbs
    from closedchain.model.bodies.flexible import Flexibility

PLACES = 4  # of Gauss for each shape and one more, for terms of third and fourth order: each shape has more waves
ROUNDING = 1e-13  # of the largest entry: what is smaller in an integral or a shape is zero


class Attachment(NamedTuple):
    """A frame on a link: its pose, and the twist of the frame in the link that each rate of the shape gives (columns).

    The twist is about the frame's origin, in the link's axes; None on a rigid link.
    """

    X: Transform
    rates: Vector6 | None = None

    def seen_from(self, X: Transform) -> Attachment:
        """The same in the frame P, in which the old one has the pose X."""
        turn = lambda part: ca.sparsify(X.R @ part)  # noqa: E731
        return Attachment(X @ self.X, None if self.rates is None else self.rates.map(turn))


@dataclass(frozen=True, eq=False)
class Beam:
    """A traced flexible body.

    Attributes
    ----------
    drawn
        Mass properties of the undeformed body, in its frame.
    eta, rate
        Coordinates of the shape, and their rates (n).
    length, mass
        m, kg.
    K, D
        Stiffness and damping of the shape (n x n).
    """

    limbs: Limbs
    data: Flexibility
    drawn: Inertia
    eta: ca.SX
    rate: ca.SX
    length: ca.SX
    mass: ca.SX
    K: ca.SX
    D: ca.SX

    # ---- mass --------------------------------------------------------------------------------------------------

    @once
    def inertia(self) -> Inertia:
        """Mass properties in the body's frame, functions of eta."""
        m, L, eta, on, drawn = self.mass, self.length, self.eta, self.data.shapes.integrals, self.drawn
        G = [[_exact(on.G[a][b]) for b in range(3)] for a in range(3)]
        N1 = _exact(on.N1)
        moment, momentum = m * (_exact(on.N0) @ eta), ca.sparsify(m * _exact(on.N0))
        first = ca.SX(3, 3)  # int X_0 s' dm, with X_0 = (x, 0, 0) and s the displacement
        first[0, :] = m * L * (N1 @ eta).T
        if self.data.stiffening:
            H0, H1 = _exact(on.H0), _exact(on.H1)
            moment[0] -= m / (2 * L) * ca.bilin(H0, eta, eta)
            momentum[0, :] -= m / L * (H0 @ eta).T
            first[0, 0] -= m / 2 * ca.bilin(H1, eta, eta)
        second = ca.blockcat([[m * ca.bilin(G[a][b], eta, eta) for b in range(3)] for a in range(3)])  # int s s' dm
        sum_ = ca.sparsify(first + first.T + second)
        turning = ca.sparsify(drawn.I + ca.trace(sum_) * ca.SX.eye(3) - sum_)

        spin = ca.SX(3, eta.numel())
        spin[1, :], spin[2, :] = -m * L * N1[2, :], m * L * N1[1, :]  # X_0 x U
        for a, (b, c) in enumerate(((1, 2), (2, 0), (0, 1))):  # s x U
            spin[a, :] += m * (eta.T @ (G[b][c] - G[c][b]))
        own = self.G
        if on.t2.any():
            spin[0, :] += self.polar * _exact(on.t0)
            if is_zero(self.data.body.properties.inertia[0]):  # a thin rod as drawn, but with a section that turns
                turning[0, 0] += self.polar
        if self.data.stiffening:
            more = self._beyond_second_order()
            turning, spin, momentum, own = (x + y for x, y in zip((turning, spin, momentum, own), more, strict=True))
        shaping = Shaping(Vector6(ca.sparsify(spin), ca.sparsify(momentum)), symmetric(own))
        return Inertia(drawn.m, ca.sparsify(drawn.mc + moment), symmetric(turning), shaping)

    def _beyond_second_order(self) -> tuple[ca.SX, ca.SX, ca.SX, ca.SX]:
        """Of I, C, S_0 and G: what the square of ``V_0 + V_1 + V_2``, by powers of eta, has beyond ``V_0 V_2``."""
        n, shapes = self.eta.numel(), self.data.shapes
        total = ca.SX(6 + n, 6 + n)
        places, weights = np.polynomial.legendre.leggauss(PLACES * (n + 1))
        for xi, weight in zip((1 + places) / 2, weights / 2, strict=True):
            U, bent = _exact(shapes.at(xi)[0]), _exact(shapes.integrals.H(xi)) @ self.eta
            back, slip = ca.SX(3, 1), ca.SX(3, n)
            back[0], slip[0, :] = -ca.dot(bent, self.eta) / (2 * self.length), -bent.T / self.length
            V1 = ca.horzcat(-skew(ca.sparsify(U @ self.eta)), ca.SX(3, 3), U)
            V2 = ca.horzcat(-skew(back), ca.SX(3, 3), slip)
            cross = V1.T @ V2
            total += weight * self.mass * (cross + cross.T + V2.T @ V2)
        return total[:3, :3], total[:3, 6:], total[3:6, 6:], total[6:, 6:]

    @property
    def G(self) -> ca.SX:
        """Inertia of the shape's own rates, undeformed."""
        on = self.data.shapes.integrals
        own = self.mass * sum((_exact(on.G[a][a]) for a in range(3)), ca.SX(0))
        return ca.sparsify(own + self.polar * _exact(on.t2) if on.t2.any() else own)

    @property
    def polar(self) -> ca.SX:
        """Moment of inertia about the axis; see `Flexibility.polar`."""
        return self.limbs.number(self.data.polar)

    def forces(self, inertia: Inertia, twist: Vector6) -> Vector6:
        """What the shape adds to ``M V' + V x* M V``: ``M' V``, ``-dT/d eta`` and the elastic forces.

        Parameters
        ----------
        inertia
            Of the link, in the frame of the twist.
        twist
            Of the link, with the rates of its shape.
        """
        rate = ca.SX.sym("rate", self.rate.numel())
        V = Vector6(ca.SX.sym("w", 3), ca.SX.sym("v", 3), rate)
        momentum = inertia.times(V).stacked()
        T = ca.dot(ca.vertcat(*V), ca.densify(momentum)) / 2
        changing = ca.jtimes(ca.densify(momentum), self.eta, rate)
        changing[6:] -= ca.gradient(T, self.eta)
        now = ca.substitute(changing, ca.vertcat(*V), ca.densify(ca.vertcat(twist.ang, twist.lin, self.rate)))
        now[6:] += self.K @ self.eta + self.D @ self.rate
        return Vector6.split(ca.sparsify(now))

    # ---- elasticity ----------------------------------------------------------------------------------------------

    @property
    def energy(self) -> ca.SX:
        """Elastic energy, J."""
        return ca.bilin(self.K, self.eta, self.eta) / 2

    @property
    def loss(self) -> ca.SX:
        """Power lost to damping, W."""
        return ca.bilin(self.D, self.rate, self.rate)

    # ---- frames --------------------------------------------------------------------------------------------------

    def attach(self, drawn: Transform) -> Attachment:
        """A frame on the beam: it moves and turns with the nearest section, on a rigid arm if it is off the axis."""
        U, Theta, H = self._shapes_at(drawn.r[0])
        base = ca.SX(3, 1)
        base[0] = self._along(drawn.r[0])
        arm = tidy(drawn.r - base)
        theta = ca.sparsify(Theta @ self.eta)
        R = cayley(theta)
        shift = U @ self.eta
        if H is not None:
            shift[0] -= ca.bilin(H, self.eta, self.eta) / (2 * self.length)
        r = tidy(base + shift + R @ arm)
        w = (Theta + skew(theta) @ Theta / 2) / (1 + ca.sumsqr(theta) / 4) if theta.nnz() else ca.SX(*Theta.shape)
        rates = Vector6(ca.sparsify(w), ca.sparsify(ca.jacobian(ca.densify(r), self.eta)))
        return Attachment(Transform(tidy(R @ drawn.R), r), rates)

    def _along(self, x: ca.SX) -> ca.SX:
        """The place on the axis that a frame at x hangs on: beyond the ends it hangs on these."""
        xi = self._constant(x / self.length)
        if xi is None:
            return ca.fmin(ca.fmax(x, 0), self.length)
        return ca.SX(0) if xi <= 0 else self.length if xi >= 1 else x

    def _shapes_at(self, x: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX | None]:
        """Shape functions, rotations and foreshortening at x."""
        shapes, xi = self.data.shapes, self._constant(x / self.length)
        place: Any = self._along(x) / self.length if xi is None else min(max(xi, 0.0), 1.0)
        U, T = shapes.at(place)
        H = shapes.integrals.H(place) if self.data.stiffening else None
        if xi is not None:
            U, T, H = _exact(U), _exact(T), None if H is None else _exact(H)
        scale = ca.diag(ca.vertcat(1, 1 / self.length, 1 / self.length))
        return ca.sparsify(U), ca.sparsify(scale @ T), H

    def _constant(self, xi: ca.SX) -> float | None:
        """The value of a ratio that no parameter changes; None if one does."""
        m, p = self.limbs.topology.mechanism, self.limbs.p
        if not ca.depends_on(xi, p):
            return float(ca.evalf(xi))
        f = ca.Function("xi", [p], [xi])
        now = np.ones(p.numel())
        now[: len(m.parameters)] = list(m.parameters.values())
        # the tip of a rod is at its length, whatever that is: at other values of the parameters, too
        values = [float(f(now * (1 + 0.1 * np.sin(k * np.arange(p.numel()))))) for k in (0, 1, 2)]
        return values[0] if np.ptp(values) < 1e-12 else None


def cayley(theta: ca.SX) -> ca.SX:
    """The rotation with the Gibbs vector theta / 2: orthogonal, by theta to second order, and without a square root."""
    if not theta.nnz():
        return ca.SX.eye(3)
    half = skew(theta / 2)
    return tidy(ca.SX.eye(3) + 2 / (1 + ca.sumsqr(theta) / 4) * (half + half @ half))


def trace_beam(limbs: Limbs, data: Flexibility, drawn: Inertia, eta: ca.SX, rate: ca.SX) -> Beam:
    """Trace a flexible body with the coordinates eta of its shape."""
    number, section, on = limbs.number, data.section, data.shapes.integrals
    m, L, E, G = (number(x) for x in (data.body.properties.mass, data.length, data.E, data.G))
    n = len(data.labels)
    beam = Beam(limbs, data, drawn, eta, rate, L, m, ca.SX(n, n), ca.SX(n, n))
    ways = {  # to deform: the stiffness of each, and the inertia that it works against
        "u": (E * number(section.A) / L, m),
        "v": (E * number(section.Iz) / L**3, m),
        "w": (E * number(section.Iy) / L**3, m),
        "t": (G * number(section.J) / L, beam.polar if on.t2.any() else ca.SX(0)),
    }
    K, D = ca.SX(n, n), ca.SX(n, n)
    for field, (stiffness, inertia) in ways.items():
        K += stiffness * _exact(getattr(on, f"k{field}"))
        if not is_zero(data.damping) and data.shapes.using(field):
            D += 2 * number(data.damping) * ca.sqrt(stiffness * inertia) * _exact(getattr(on, f"c{field}"))
    alpha, beta = data.rayleigh
    if not is_zero(beta):
        D += number(beta) * K
    if not is_zero(alpha):
        D += number(alpha) * beam.G
    return replace(beam, K=ca.sparsify(K), D=ca.sparsify(D))


def _exact(x: Any) -> ca.SX:
    """Numbers as a constant matrix, without what is rounding only."""
    a = np.atleast_2d(np.array(x, dtype=float))
    a[np.abs(a) <= ROUNDING * np.abs(a).max(initial=0)] = 0
    return ca.SX(ca.sparsify(ca.DM(a)))
