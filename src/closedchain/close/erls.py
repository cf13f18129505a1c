"""The equivalent rigid-link system (ERLS): finite elements on links that move as a mechanism with rigid links would.

R. Vidoni, A. Gasparetto, P. Boscariol and M. Giovagnoni (2012), Kinematic and dynamic analysis of flexible-link
parallel robots by means of an ERLS approach, ASME DETC2012-70939, after M. Giovagnoni (1994), Journal of Dynamic
Systems, Measurement and Control 116, 73-80. The state is ``y = (u, q)``: nodal elastic displacements u, measured from a
mechanism with rigid links, and the coordinates q of the latter, as many as it has freedoms.

A point of link i is at ``p = w + v`` (2): it rides on the rigid link, displaced by the element's field. With the
velocity ``V_i = (twist of the link; u_hat')`` of a link, linear in y',

    V_i = B_i y',     B_i = [ 0   J_i ]      twist of the rigid link by q'
                            [ T_i D_i ]      u_hat = T(q) u, D = d(T u)/dq

and f_i the generalised forces of the link (inertia with the exact acceleration (13), gravity, elasticity, damping), the
equations are

    sum B_i' f_i = loads                                                         terms="consistent"
    sum [0 T_i]' f_i = loads on u                                                terms="paper": (34)

The first keep the virtual displacement (27) whole: they are Lagrange's, with a symmetric mass matrix, and conserve
energy. The second are the paper's, which drops from (28) and (31) what is first order in u; (35) is then J' times (34),
because ``K J = 0``, and says nothing new.

As many displacements as there are coordinates q are zeroed, since u and q describe the same rigid motions (after (36)).
That is regular exactly where the rows of J = dr/dq at the zeroed displacements form a regular block: it is checked at
the start and all along a run.

Misprints of the paper that are mended here: (3) has the sign of the external work wrong; in (14) the last term is du'
f; (17) to (21) lack the factor T' N' R' on the left; (19) and (21) contain R'' and T'', and so the unknown q'', which
belongs to the left side of (36); K1 in (30), (31) is (1/2) u' (dK/dq_j) u; in (35) the damping is alpha J' M u'; in
(36) row 2 has J' M J' (with the rate of J), and u is missing from the vector.

The theory is in ``docs/theory/erls.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields

import casadi as ca
import numpy as np

from closedchain.arguments import boolean, listed, one_of, real, whole
from closedchain.close.formulation import Choice, Closed, Formulation, entries, normalise
from closedchain.close.parts.feasible import DependentFactor, FeasibleMotions
from closedchain.derive.equations import Equations
from closedchain.derive.erls.links import Displacements
from closedchain.derive.erls.loads import trace_loads
from closedchain.derive.size import traced_sizes
from closedchain.errors import ModelError
from closedchain.lock import locked, once

TERMS = ("consistent", "paper")
ZERO = ("chord", "base")
DAMPING = ("dissipative", "paper")
STARTS = ("undeformed", "sagged")


@dataclass(frozen=True, repr=False)
class ERLS(Formulation):
    """Flexible links as finite elements on an equivalent rigid-link system.

    Parameters
    ----------
    elements
        Of each flexible link: a number for all, or by body (others then have 2).
    terms
        ``"consistent"``: all terms, energy is conserved; ``"paper"``: as published, with the misprints mended.
    zero
        Which displacements are zeroed. ``"chord"``: displacements of the far ends of driven links across them, so that
        q are the directions of their chords; ``"base"``: rotations (or slides) at the driven joints, so that q are the
        motor angles; or names from ``run.displacements``.
    coordinates
        Names of the coordinates q, as many as there are freedoms; None: those of the motors' joints, if they are
        independent, filled up by others.
    rho_inf
        Spectral radius at infinity of the generalised-alpha method: 1 damps nothing, 0 all that the step does not
        resolve. None: 1.
    rayleigh
        alpha (1/s) and beta (s) of all beams: damping alpha times mass plus beta times stiffness; None: as each body
        says.
    damping
        ``"dissipative"``: Rayleigh's damping is that of the rates of ``u_hat = T u``, and takes energy away whatever
        moves. ``"paper"``: of (34) and (35), with the rates T u', and by mass on the rigid links, too; the paper's
        terms have no other.
    stiffening
        Whether axial loads change the stiffness against bending; None: as each body says.
    start
        ``"undeformed"``: a run begins with straight beams, or with the displacements of ``run.state()``; ``"sagged"``:
        with those at which it rests under its weight and other loads, while efforts at the joints of q hold these.

    Examples
    --------
    >>> from closedchain.close.erls import ERLS
    >>> ERLS(elements={"link1": 4})
    ERLS(elements={'link1': 4})
    """

    elements: int | Mapping[str, int] = 2
    terms: str = "consistent"
    zero: str | tuple[str, ...] = "chord"
    coordinates: tuple[str, ...] | None = None
    rho_inf: float | None = None
    rayleigh: tuple[float, float] | None = None
    stiffening: bool | None = None
    damping: str = "dissipative"
    start: str = "undeformed"

    def __post_init__(self) -> None:
        if isinstance(self.elements, Mapping):
            counts = {body: whole(f"ERLS: elements of {body!r}", x, 1) for body, x in self.elements.items()}
            self._keep("elements", _Frozen(counts))
        else:
            self._keep(
                "elements", whole("ERLS: elements (of each flexible link, or a mapping by link)", self.elements, 1)
            )
        for name, allowed in (("terms", TERMS), ("damping", DAMPING), ("start", STARTS)):
            value = getattr(self, name)
            one_of(f"ERLS: {name}", str(value) if isinstance(value, str) else value, allowed)
        if not (isinstance(self.zero, str) and self.zero in ZERO):
            self._keep("zero", _names(self.zero, "zero is 'chord', 'base' or names of displacements"))
        if self.coordinates is not None:
            given = (self.coordinates,) if isinstance(self.coordinates, str) else self.coordinates
            self._keep("coordinates", _names(given, "coordinates are names, as in ('O', 'A')"))
        if self.rho_inf is not None:
            rho = _number(self.rho_inf)
            if rho is None or not 0 <= rho <= 1:
                raise ModelError(f"ERLS: rho_inf is between 0 (damps most) and 1 (damps nothing), not {self.rho_inf!r}")
            self._keep("rho_inf", rho)
        if self.rayleigh is not None:
            numbers = [_number(x) for x in listed(self.rayleigh) or ()]
            if len(numbers) != 2 or not all(x is not None and 0 <= x < math.inf for x in numbers):
                raise ModelError(
                    f"ERLS: rayleigh is alpha and beta, 0 or more, as in (0.5, 1e-4), not {self.rayleigh!r}"
                )
            self._keep("rayleigh", tuple(numbers))
        if self.stiffening is not None:
            self._keep("stiffening", boolean("ERLS: stiffening (None: as each body says)", self.stiffening))

    def __repr__(self) -> str:
        told = [(f.name, getattr(self, f.name)) for f in fields(self) if getattr(self, f.name) != f.default]
        return f"ERLS({', '.join(f'{name}={value!r}' for name, value in told)})"

    @property
    def kind(self) -> str:  # type: ignore[override]
        """Of its equations: finite elements, which only some solvers damp by ``rho_inf``."""
        return "elements" if self.rho_inf is None else "damped elements"

    def _keep(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def citation(self) -> str:
        """What to cite."""
        return (
            "Vidoni, Gasparetto, Boscariol, Giovagnoni (2012), Kinematic and dynamic analysis of flexible-link "
            "parallel robots by means of an ERLS approach, ASME DETC2012-70939"
        )

    def close(self, equations: Equations, choice: Choice) -> Closed:
        """ERLS is no right-hand side: its equations are assembled with numbers."""
        raise ModelError(
            "cc.ERLS() assembles its equations with numbers and marches them itself: use it with cc.simulate(...)"
        )


def _number(x: object) -> float | None:
    """The value of a number; True and False are none."""
    return None if isinstance(x, bool | np.bool_) else real(x)


def _names(given: object, said: str) -> tuple[str, ...]:
    names = () if isinstance(given, str) or not isinstance(given, Sequence) else tuple(given)
    if not names or not all(isinstance(x, str) for x in names):
        raise ModelError(f"ERLS: {said}, not {given!r}")
    if len(set(names)) < len(names):
        raise ModelError(f"ERLS: {said}, each of them once, not {given!r}")
    return names


class _Frozen(dict):  # type: ignore[type-arg]
    """A dictionary that can be part of a key."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(sorted(self.items())))


def close_cycles(d: Displacements, pivots: Sequence[tuple[int, int]]) -> None:
    """Make the displacements of rigid bodies that form cycles with their joints dependent on the others.

    ``pivots`` are pairs of a row of `Displacements.gaps` and the displacement that it determines.
    """
    G = ca.sparsify(ca.jacobian(d.gaps, d.u))
    factor = DependentFactor(G, pivots)
    dependent = {column for _, column in pivots}
    kept = [k for k in range(len(d.of)) if k not in dependent]
    Z = ca.SX(len(d.of), len(kept))
    for i, k in enumerate(kept):
        Z[k, i] = 1
        hits = {row: G[row, k] for row, _ in pivots if G[row, k].nnz()}
        for column, x in factor.solve(hits).items():
            Z[column, i] = -x
    d.solve_for(kept, lambda u: Z @ u)


class Traced:
    """Everything that the numerics ask for, as functions of ``x = (t, q, w, w', u, u', u'')`` and of the parameters.

    Here q are all coordinates of the tree of the rigid twin, closed, and w the rates of the independent ones, which are
    the paper's q.

    Attributes
    ----------
    independent
        Numbers of the independent velocities of the tree.
    T
        ``d u_hat / d u`` (sparse).
    sizes
        Of the parts of `outputs`, by name, in their order.
    """

    def __init__(self, displacements: Displacements, pivots: Sequence[tuple[int, int]], zeroed: Sequence[int]) -> None:
        d = self.d = displacements
        self.e = d.e
        self.zeroed = tuple(zeroed)
        self.motions = FeasibleMotions(d.e, pivots)
        self.independent = tuple(self.motions.independent)
        n = len(self.independent)
        self.w, self.w_dot = ca.SX.sym("w", n), ca.SX.sym("w_dot", n)
        self.loads = trace_loads(d)
        limbs = self.e.limbs
        self.x = ca.vertcat(limbs.t, limbs.q, self.w, self.w_dot, d.u, d.u_dot, d.u_ddot)

        S = self.motions.S
        v = self.motions.velocities(self.w, ca.SX(len(self.e.closure), 1))
        a = ca.densify(S @ self.w_dot) - self.motions.dependent(ca.sparsify(self.e.closure.gamma))
        self._v, self._a = v, ca.substitute(ca.densify(a), limbs.v, v)
        self.T = ca.sparsify(ca.jacobian(d.columns, d.u))

    @locked
    def closed(self, x: Sequence[ca.SX]) -> list[ca.SX]:
        """Expressions with the velocities and accelerations of the tree put in."""
        return ca.substitute([ca.densify(y) for y in x], [self.e.limbs.v, self.d.a], [self._v, self._a])

    # ---- closing the loops -----------------------------------------------------------------------------------------

    @once
    def newton(self) -> ca.SX:
        """One Newton step for the dependent coordinates: the new ones, and how far it went, rad or of the length."""
        e = self.e
        dq = ca.densify(-self.motions.dependent(ca.sparsify(e.closure.c)))
        moved = normalise(e, e.limbs.q + ca.substitute(e.qdot, e.limbs.v, dq))
        for counter in e.topology.counters:  # the turns of cut joints follow their angles
            moved[counter.q] = e.measures.coordinates(counter.joint)[counter.index]
        relative = dq / traced_sizes(e, e.topology.v_units)
        return ca.vertcat(moved, ca.norm_2(relative) if self.motions.rows else ca.SX(0))

    # ---- the motion ----------------------------------------------------------------------------------------------

    @once
    def parts(self) -> dict[str, ca.SX]:
        """By name: motions of the bodies, their Jacobians, displacements with rates, T, D, loads, the zeroed block,
        and how well the coordinates determine all others.
        """
        d, S = self.d, self.motions.S
        links = range(len(self.e.topology.links))
        bodies, jacobians = [ca.SX(0, 1)], [ca.SX(0, 1)]
        for i in links:
            J, twist, bias = d.bodies[i].J, d.bodies[i].twist, d.bodies[i].bias
            bodies += [ca.densify(twist.ang)]
            bodies += [ca.densify(part @ d.a + b) for part, b in ((J.ang, bias.ang), (J.lin, bias.lin))]
            bodies += [ca.densify(twist.lin)]
            jacobians += [ca.vec(ca.densify(ca.vertcat(J.ang, J.lin) @ S).T)]  # row after row
        rate = d.rate(d.columns)
        D = ca.jacobian(rate, self.e.limbs.v) @ S
        block = (d.J @ S)[list(self.zeroed), :] if self.zeroed else ca.SX(0, len(self.independent))
        return {
            "bodies": ca.vertcat(*bodies),
            "J": ca.vertcat(*jacobians),
            "u": d.columns,
            "u_dot": rate,
            "u_ddot": d.second_rate(rate),
            "T": entries(self.T),
            "D": ca.vec(ca.densify(D).T),
            "on_u": self.loads.on_u,
            "on_q": ca.densify(S.T @ self.loads.on_v),
            "power": self.loads.power,
            "pushed": ca.dot(self.loads.on_v, self.e.limbs.v) + ca.dot(self.loads.on_u, d.u_dot),
            "block": ca.vec(ca.densify(block).T),
            "closed": self.motions.health,
        }

    @once
    def motion(self) -> tuple[ca.SX, dict[str, slice]]:
        """All parts below each other, and where each is."""
        return _stacked(self.parts, self.closed)

    @once
    def tangent(self) -> tuple[ca.SX, ca.SX, dict[str, slice]]:
        """For the iteration matrix: the symbol of the forces on u_hat, derivatives by u, and where each is.

        ``T_dot`` and ``T_ddot`` are rates of the entries of T: derivatives of the rates of u_hat by u. ``turning`` is
        ``d(D' f)/du`` (q x u); the others are derivatives of the loads (u, then q) by u, u', u'' and w.
        """
        d, S = self.d, self.motions.S
        f = ca.SX.sym("f", self.T.shape[0])
        rate = ca.densify(d.rate(d.columns)).T @ f
        turning = ca.jacobian(ca.densify(S.T @ ca.jacobian(rate, self.e.limbs.v).T), d.u)
        loads = ca.densify(ca.vertcat(self.loads.on_u, S.T @ self.loads.on_v))
        T_dot = d.rate(entries(self.T))
        parts = {
            "T_dot": T_dot,
            "T_ddot": d.second_rate(T_dot),
            "turning": turning,
            "by_u": ca.jacobian(loads, d.u),
            "by_u_dot": ca.jacobian(loads, d.u_dot),
            "by_u_ddot": ca.jacobian(loads, d.u_ddot),
            "by_w": ca.jacobian(self.closed([loads])[0], self.w),
        }
        parts = {name: ca.vec(ca.densify(x).T) for name, x in parts.items()}  # row after row
        both, places = _stacked(parts, self.closed)
        return f, both, places

    @once
    def energies(self) -> dict[str, ca.SX]:
        """For energies at samples: twists, poses of bodies, and energies of springs and rotors."""
        d = self.d
        links = range(len(self.e.topology.links))
        twists = ca.vertcat(
            ca.SX(0, 1), *(x for i in links for x in map(ca.densify, (d.bodies[i].twist.ang, d.bodies[i].twist.lin)))
        )
        poses = [d.body_pose(i) for i in links]
        out = {
            "twists": twists,
            "R": ca.vertcat(ca.SX(0, 1), *(ca.vec(ca.densify(X.R).T) for X in poses)),
            "r": ca.vertcat(ca.SX(0, 1), *(ca.densify(X.r) for X in poses)),
            "u": d.columns,
            "u_dot": d.rate(d.columns),
            "potential": self.loads.potential,
            "kinetic": self.loads.kinetic,
        }
        return dict(zip(out, self.closed(list(out.values())), strict=True))


def _stacked(parts: dict[str, ca.SX], closed: Callable[[list[ca.SX]], list[ca.SX]]) -> tuple[ca.SX, dict[str, slice]]:
    """Parts below each other, with all velocities put in, and where each is."""
    places, at = {}, 0
    for name, part in parts.items():
        places[name] = slice(at, at + part.numel())
        at += part.numel()
    return ca.vertcat(*closed(list(parts.values()))), places
