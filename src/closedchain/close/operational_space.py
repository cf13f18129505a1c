"""Operational space: chains that meet at a reference member, each known by its inverse inertia at the tip.

K. W. Lilly and D. E. Orin, Efficient Dynamic Simulation for Multiple Chain Robotic Mechanisms (1989), and in Journal of
Dynamic Systems, Measurement, and Control 116 (1994) 223-231. The numbers in brackets are those of 1989:

    a = a_open - Omega f                            joints of a chain under the force f at its tip     (10), (48)
    x'' = x''_open - Lambda_inv f                   its tip                                            (12)
    f = Phi h + Phi_c h_c                           h is known (motors, springs), h_c is not           (33)
    Phi_c' x'' + alpha_c = Phi_c' (X a_0 + zeta)    the tip moves with the reference member            (30)
    I_0 a_0 + b_0 = sum X' f + g_0                  balance of the reference member                    (43)

They hold, signs included, with the classical accelerations of frame origins that (2) has. Then b_0 is
``[w x I w; w x (w x m s)]`` and zeta is ``[0; A (w x (w x b))]``; (14), ``b_0 = v_0 x I_0 v_0``, does not fit (2) if it
is read as a spatial cross product. ``alpha_c = 0`` is true of rigid grasps and hard points only.

In our letters a closure row has the coefficients ``Phi_c'`` on the tip and ``B = -Phi_c' X`` on a_0; ``gamma`` has all
velocity terms (``alpha_c``, ``zeta`` and the tip's own); ``lam`` is ``h_c`` if the joint is drawn from the chain to the
reference member; and ``h`` is among the forces on the open chains. Then (36) and (43) are

    G lam - B a_0 = s           for every chain, with G = Phi_c' Lambda_inv Phi_c and s = Phi_c' x''_open + gamma
    I_0 a_0 = f_0 - sum B' lam

The paper solves each chain for its force, ``h_c = M_k (...)`` with ``M_k = G^-1`` (37), and then a 6 x 6 system with
``I_0 + sum B' M_k B`` for a_0 (45). But G is singular if a chain has fewer freedoms than rows, and where it stands
stretched. A force component with a small pivot must then wait, as an unknown, until a_0 is solved for. Which ones
have to wait changes with the pose; that all of them may wait does not. So here all of them wait: the reference member
is known by ``P``, the inverse of its inertia as it is felt with some chains closed, and one more chain changes it to

    P - K' D^-1 K   with   S = G + B P B' = L D L',  K = L^-1 B P         (45), where G^-1 exists

S is regular wherever the rows are independent of those before, in every pose of the chain, and nothing has to be
decided while running. The forces follow from the last chain to the first (47).

The chains are those of the tree as it is cut. One that hangs on the ground is the paper's (Type 0). One that hangs on
the reference member (Type 1: a leg whose foot is cut) is the same seen from its other end: ``I_0`` is the articulated
inertia with all that hangs there, and ``B`` is what arrives there of a force at the foot. The chain that carries the
reference member in the tree keeps it as its last link: ``P`` begins as the inverse operational-space inertia of that
chain at the reference member. So ``I_0`` alone need not be regular either, as it is not for a thin rod.

Loops inside a chain are rows of that chain with ``B = 0``, and are eliminated before those at its tip. A rotor on a cut
joint is a row that yields: the inverse of its inertia is added to its place in G.

The theory is in ``docs/theory/operational_space.md``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import ClassVar

import casadi as ca

from closedchain.close.denoc import factor_limbs
from closedchain.close.formulation import Choice, Closed, Formulation, Sums, state_symbols
from closedchain.close.parts.chains import Chains, Row, closure_rows, find_chains
from closedchain.close.parts.elimination import ClosureFactor, Column
from closedchain.close.parts.manifold import newton_step
from closedchain.derive.articulated import ArticulatedBodies, Columns
from closedchain.derive.equations import Equations
from closedchain.derive.ldl import LDL
from closedchain.derive.rnea import body_forces
from closedchain.derive.rotors import rotor_inertia
from closedchain.derive.spatial import Vector6, symmetric


@dataclass(frozen=True)
class OperationalSpace(Formulation):
    """Lilly and Orin's method for chains that meet at one body; closed to rounding by projection.

    Attributes
    ----------
    reference
        Name of the reference member; by default the body where most chains meet.
    """

    by_limbs: ClassVar[bool] = True

    reference: str | None = None

    def citation(self) -> str:
        """What to cite."""
        return (
            "Lilly and Orin (1989), Efficient Dynamic Simulation for Multiple Chain Robotic Mechanisms; "
            "(1994), J. Dyn. Syst. Meas. Control 116, 223-231"
        )

    def close(self, equations: Equations, choice: Choice) -> Closed:
        """Trace the closed system; see the module's docstring for the equations."""
        return self._close(equations, choice, None)

    def close_with(self, sums: Sums, equations: Equations, choice: Choice) -> Closed:
        """The same by (45), with ``I_0 + sum B' M_k B`` a sum over limbs, where chains have freedoms for their rows."""
        return self._close(equations, choice, sums)

    def _close(self, e: Equations, choice: Choice, sums: Sums | None) -> Closed:
        rows = choice.rows
        constraints = closure_rows(e, rows)
        steps = FiveSteps(e, constraints, find_chains(e, constraints, self.reference), choice.guarded, choice.redundant)
        a, forces = steps.solve() if sums is None else steps.solve_with(sums)
        lam = ca.densify(forces[: len(rows), :])

        # step 5 is the integrator's; it may leave the manifold, and needs a way back
        x = state_symbols(e)
        picked = list(rows)
        c, c_t = e.closure.c[picked, :], e.closure.c_t[picked, :]
        c_dot = ca.densify(e.closure.A[picked, :] @ e.limbs.v + c_t)
        tree = factor_limbs(e)
        cuts = ClosureFactor(tree, e.closure, rows, choice.guarded, choice.redundant)
        correction = newton_step(e, x, c, c_dot, tree, cuts)
        if correction is not None and steps.alone:  # where a chain stands stretched, its forces cannot be solved for
            error, pivot = correction.residual[:2], correction.residual[2]
            health = ca.vertcat(error, reduce(ca.fmin, steps.pivots(cuts), pivot))
            correction = correction._replace(residual=health)
        power = e.energies.power + (lam.T @ c_t if rows else 0)  # prescribed motions do work
        dx = ca.vertcat(e.qdot, a, power)
        return Closed(x, dx, e.limbs.q, e.limbs.v, a, lam, correction)


@dataclass(frozen=True, eq=False)
class Chain:
    """A chain opened at its tip (step 1): what its rows do alone, and what of it the reference member sees.

    Attributes
    ----------
    rows
        Numbers of its rows.
    Z
        What unit forces in the rows do to the joints (see `derive.articulated`).
    G, s
        ``Phi_c' Lambda_inv Phi_c``, and the accelerations of the open rows.
    B
        Coefficients of the rows on a_0.
    """

    rows: tuple[int, ...]
    Z: Columns
    G: ca.SX
    s: ca.SX
    B: ca.SX


@dataclass(frozen=True, eq=False)
class ClosedChain:
    """A chain closed (step 2): ``S = L D L'``, ``K = L^-1 B P`` and ``w = L^-1 (s + B a_0)``."""

    chain: Chain
    S: LDL
    K: ca.SX
    w: ca.SX


class FiveSteps:
    """The steps of the paper's Table 1, for one mechanism; the fifth is the integrator's."""

    def __init__(self, e: Equations, rows: Sequence[Row], chains: Chains, guarded: bool, redundant: float) -> None:
        self.e, self.rows, self.guarded, self.redundant = e, rows, guarded, redundant
        self.reference, self.carrier, self.others = chains.reference, chains.carrier, chains.others
        # a flexible reference member has its shape among the unknowns of a_0
        self.shapes = 0 if self.reference < 0 else e.topology.links[self.reference].shapes
        self.bodies = ArticulatedBodies(e.limbs, _rotors(e))
        self.free = self._open_forces()
        # a_0 in world axes, or in those of the reference member: whichever spares more rows a turn
        tips = [rows[r] for group in self.others for r in group]
        self.in_world = 2 * sum(self.reference in row.wrenches for row in tips) >= len(tips)
        self.alone: list[tuple[Chain, int]] = []  # chains that are solved for their forces alone, and their limbs
        self.P: ca.SX | None = None

    def solve(self) -> tuple[ca.SX, ca.SX]:
        """Joint accelerations, and the forces of all rows."""
        # step 1: the open chains, and the reference member without them
        chains = [self._open(group) for group in self.others]
        Z_0, axes = self._reference_member(chains)
        n = len(axes)
        chains = [replace(chain, B=chain.B[:, axes]) for chain in chains]
        P, a_0 = self._product(Z_0, Z_0, n, n), self._product(Z_0, self.free, n, 1)
        carrier = [self._open(self.carrier, carries=True)] if self.carrier else []
        scales = self._scales([*carrier, *chains], P) if self.guarded else {}

        # step 2: the reference member held by one chain after another
        closed: list[ClosedChain] = []
        for chain in carrier:
            BP = self._product(chain.Z, Z_0, len(chain.rows), n)
            closed.append(self._close(chain, chain.G, BP, chain.s, scales))
            P, a_0 = _held(P, a_0, closed[-1])
        for chain in chains:
            BP = ca.sparsify(chain.B @ P)
            S = symmetric(chain.G + BP @ chain.B.T)
            closed.append(self._close(chain, S, BP, chain.s + chain.B @ a_0, scales))
            P, a_0 = _held(P, a_0, closed[-1])
        return self._forces_and_accelerations(closed, Z_0, n)

    def solve_with(self, sums: Sums) -> tuple[ca.SX, ca.SX]:
        """The same with one sum over all chains, (45): ``(P^-1 + sum B' G^-1 B) a_0 = P^-1 a_open - sum B' G^-1 s``.

        Each chain is solved for its forces alone, so G has to be regular, and P as well. They are not where a chain has
        fewer freedoms than rows, or the one that carries the reference member fewer than a_0 has components: then the
        chains are closed one after another, as in `solve`. So they are near poses where a chain stands stretched:
        `pivots` tell, and the run goes on guarded.
        """
        chains = [self._open(group) for group in self.others]
        Z_0, axes = self._reference_member(chains)
        limbs = [self._limb(chain) for chain in chains]
        if self.guarded or not axes or None in limbs or self.carrier or self._freedoms(Z_0) < len(axes):
            return self.solve()
        n = len(axes)
        chains = [replace(chain, B=chain.B[:, axes]) for chain in chains]
        self.P = self._product(Z_0, Z_0, n, n)
        P, a_open = LDL(self.P), self._product(Z_0, self.free, n, 1)
        inertia = ca.sparsify(P.backward(ca.diag(P.d_inv) @ P.forward(ca.SX.eye(n))))
        home = self.e.topology.links[self.reference].limb
        parts = {home: ca.horzcat(ca.tril(inertia), inertia @ a_open)}
        factors = [LDL(chain.G) for chain in chains]
        for chain, factor, limb in zip(chains, factors, limbs, strict=True):
            K, w = factor.forward(chain.B), factor.forward(chain.s)
            KD = ca.sparsify(K.T @ ca.diag(factor.d_inv))
            part = ca.horzcat(ca.tril(KD @ K), -KD @ w)
            assert limb is not None
            self.alone.append((chain, limb))
            parts[limb] = parts[limb] + part if limb in parts else part
        total = sums.total({limb: ca.sparsify(part) for limb, part in parts.items()})
        low = total[:, :n]
        whole = LDL(low)
        a_0 = whole.backward(whole.d_inv * whole.forward(total[:, n]))

        forces: dict[int, ca.SX] = {}
        z = dict(self.free)
        for chain, factor in zip(chains, factors, strict=True):
            lam = factor.backward(factor.d_inv * factor.forward(chain.s + chain.B @ a_0))
            forces |= dict(zip(chain.rows, ca.vertsplit(ca.densify(lam)), strict=True))
            _subtract(z, chain.Z, lam)
        _subtract(z, Z_0, ca.sparsify(inertia @ (a_open - a_0)))
        return self.bodies.outward(z), ca.vertcat(ca.SX(0, 1), *(forces[r] for r in range(len(self.rows))))

    def _limb(self, chain: Chain) -> int | None:
        """The limb of a chain that can be solved for its forces alone."""
        limbs = {self.e.topology.links[i].limb for i in chain.Z}
        return limbs.pop() if len(limbs) == 1 and self._freedoms(chain.Z) >= len(chain.rows) else None

    def _freedoms(self, Z: Columns) -> int:
        """Of all links that a force passes."""
        links = [self.e.topology.links[i] for i in Z]
        return sum(link.joint.type.nv + link.shapes for link in links)

    def pivots(self, cuts: ClosureFactor) -> list[ca.SX]:
        """Relative pivots of what `solve_with` inverts: they fall to zero where a chain stands stretched.

        The correction has most of it already: G is what the terminals of a chain say, P what those of the reference
        member do.
        """
        topology = self.e.topology
        limb_of = {k: link.limb for link in topology.links for k in range(link.v.start, link.shape_v.stop)}
        out = []
        for chain, limb in self.alone:
            rows = [r for r in chain.rows if self.rows[r].inertia is None]  # those of rotors yield
            ends = sorted({z for r in rows for z in cuts.c[r]}, key=str)
            mine = {z: {k: y for k, y in cuts.Y[z].items() if limb_of[k] == limb} for z in ends}
            mine = {z: column for z, column in mine.items() if column}
            C = ca.vertcat(*(ca.horzcat(*(cuts.c[r].get(z, ca.SX(0)) for z in mine)) for r in rows))
            G = ca.vertcat(*(ca.horzcat(*(_felt(cuts, mine, z, y) for y in mine)) for z in mine))
            out += _relative_pivots(ca.sparsify(C) @ ca.sparsify(G) @ ca.sparsify(C).T)
        assert self.P is not None
        twist = [z for z in cuts.Y if isinstance(z, tuple) and z[:2] == ("twist", self.reference)]
        if len(twist) != self.P.shape[0]:
            return out + _relative_pivots(self.P)
        P = ca.vertcat(*(ca.horzcat(*(cuts.open.get((z, y), ca.SX(0)) for y in twist)) for z in twist))
        return out + _relative_pivots(P)

    def _forces_and_accelerations(self, closed: Sequence[ClosedChain], Z_0: Columns, n: int) -> tuple[ca.SX, ca.SX]:
        """Steps 3 and 4, once the reference member is known."""
        # step 3: forces (47), the last chain first; f_0 is minus what the chains exert on the reference member
        forces: dict[int, ca.SX] = {}
        f_0, z = ca.SX(n, 1), dict(self.free)
        for x in reversed(closed):
            lam = x.S.backward(x.S.d_inv * (x.w - x.K @ f_0))
            forces |= dict(zip(x.chain.rows, ca.vertsplit(ca.densify(lam)), strict=True))
            _subtract(z, x.chain.Z, lam)
            f_0 = ca.sparsify(f_0 + x.chain.B.T @ lam) if x.chain.B.shape[1] else f_0
        _subtract(z, Z_0, f_0)

        # step 4: joint accelerations (48) of all chains in one pass
        return self.bodies.outward(z), ca.vertcat(ca.SX(0, 1), *(forces[r] for r in range(len(self.rows))))

    def _open_forces(self) -> Columns:
        """All that acts on the open chains: velocities, gravity, applied wrenches, motors."""
        e = self.e
        needed = body_forces(e.limbs, e.motion, e.applied.wrenches)
        tau = ca.sparsify(e.tau)
        efforts = {link.index: tau[link.freedoms, :] for link in e.topology.links if tau[link.freedoms, :].nnz()}
        return self.bodies.inward({i: -f for i, f in enumerate(needed)}, efforts)[0]

    def _open(self, group: tuple[int, ...], carries: bool = False) -> Chain:
        """Unit forces in the rows of a chain, carried along it: to the ground and up to the reference member."""
        stop = None if carries else self.reference
        n = len(group)
        wrenches: dict[int, ca.SX] = {}
        efforts: dict[int, ca.SX] = {}
        B = ca.SX(n, 0 if carries else 6 + self.shapes)
        for k, r in enumerate(group):
            for link, C in self.rows[r].wrenches.items():
                if link == stop:
                    B[k, :] = C
                else:
                    wrenches.setdefault(link, ca.SX(n, C.shape[1]))[k, :] = C
            for link, C in self.rows[r].efforts.items():
                efforts.setdefault(link, ca.SX(n, C.shape[1]))[k, :] = C
        X = self.e.motion.X
        Z, arrived = self.bodies.inward(
            {i: Vector6.split(C.T).turned(X[i].R.T) for i, C in wrenches.items()},
            {i: C.T for i, C in efforts.items()},
            stop,
        )
        if not carries:
            B = self._in_axes(B, X[self.reference].R, arrived)
        G = self._product(Z, Z, n, n)
        yields = [self.rows[r].inertia for r in group]
        if any(inertia is not None for inertia in yields):
            G = ca.sparsify(G + ca.diag(ca.vertcat(*(ca.SX(0) if x is None else 1 / x for x in yields))))
        s = self._product(Z, self.free, n, 1) + ca.vertcat(*(self.rows[r].bias for r in group))
        return Chain(group, Z, G, ca.densify(s), ca.sparsify(B))

    def _in_axes(self, direct: ca.SX, R: ca.SX, arrived: Vector6 | None) -> ca.SX:
        """Coefficients on a_0: of rows at the reference member, and of those felt through what hangs on it."""
        through = ca.SX(*direct.shape)
        if arrived is not None:
            felt = arrived.stacked().T
            through[:, : felt.shape[1]] = felt
        both = ca.diagcat(R, R, ca.SX.eye(self.shapes))
        return ca.sparsify(direct + through @ both.T if self.in_world else direct @ both + through)

    def _reference_member(self, chains: Sequence[Chain]) -> tuple[Columns, list[int]]:
        """Unit forces along the components of a_0 that rows see and that can move, and which these are."""
        axes = [i for i in range(6 + self.shapes) if any(chain.B[:, i].nnz() for chain in chains)]
        if not axes:
            return {}, []
        turn = self.e.motion.X[self.reference].R.T if self.in_world else ca.SX.eye(3)
        units = ca.sparsify(ca.diagcat(turn, turn, ca.SX.eye(self.shapes))[:, axes])
        Z, _ = self.bodies.inward({self.reference: Vector6.split(units)}, {})
        moving = [k for k in range(len(axes)) if any(z[:, k].nnz() for z in Z.values())]
        return {i: z[:, moving] for i, z in Z.items()}, [axes[k] for k in moving]

    def _close(self, chain: Chain, S: ca.SX, BP: ca.SX, s: ca.SX, scales: dict[int, ca.SX]) -> ClosedChain:
        """Factors of a chain's rows with all that is closed before."""

        def invert(k: int, pivot: ca.SX) -> ca.SX:
            if chain.rows[k] not in scales:
                return 1 / pivot
            # a row that says nothing new here takes no part: its force is zero, the others carry on
            return ca.if_else(pivot > self.redundant * scales[chain.rows[k]], 1 / pivot, 0)

        factor = LDL(S, invert)
        return ClosedChain(chain, factor, factor.forward(BP), factor.forward(s))

    def _scales(self, chains: Sequence[Chain], P: ca.SX) -> dict[int, ca.SX]:
        """What the pivots of guarded rows are compared with: all rows of the joint with the same unit, nothing closed.

        A single row could vanish as a whole, so it is compared with all rows of its unit.
        """
        alone: dict[int, ca.SX] = {}
        for chain in chains:
            mobility = ca.diag(ca.densify(chain.G + chain.B @ P @ chain.B.T if chain.B.shape[1] else chain.G))
            alone |= dict(zip(chain.rows, ca.vertsplit(mobility), strict=True))
        out = {}
        for r, row in enumerate(self.rows):
            if row.inertia is None:
                like = [i for i in alone if self.rows[i].unit == row.unit and self.rows[i].inertia is None]
                same = [i for i in like if self.rows[i].name == row.name]
                out[r] = ca.sum1(ca.vertcat(*(alone[i] for i in (same if len(same) > 1 else like))))
        return out

    def _product(self, z: Columns, y: Columns, *shape: int) -> ca.SX:
        value = self.bodies.product(z, y)
        return ca.SX(*shape) if value is None else value


def _held(P: ca.SX, a_0: ca.SX, x: ClosedChain) -> tuple[ca.SX, ca.SX]:
    """Inverse inertia and acceleration of the reference member, with one more chain closed."""
    KD = ca.sparsify(x.K.T @ ca.diag(x.S.d_inv))
    return symmetric(P - KD @ x.K), ca.sparsify(a_0 - KD @ x.w)


def _subtract(z: Columns, Z: Columns, force: ca.SX) -> None:
    for i, columns in Z.items():
        push = columns @ force
        z[i] = ca.sparsify(z[i] - push if i in z else -push)


def _rotors(e: Equations) -> dict[int, ca.SX]:
    """Inertia of rotors on joints of the tree."""
    out: dict[int, ca.SX] = {}
    for rotor in e.topology.mechanism.rotors.values():
        link = e.topology.tree_joints.get(rotor.joint)
        if link is not None:
            inertias = out.setdefault(link.index, ca.SX.zeros(link.joint.type.nv + link.shapes, 1))
            inertias[rotor.index] += rotor_inertia(e.limbs, rotor)
    return out


def _felt(cuts: ClosureFactor, mine: Mapping[object, Column], z: object, y: object) -> ca.SX:
    """What a force at one terminal of a chain does to another one, through the chain alone."""
    if len(mine[z]) == len(cuts.Y[z]) and len(mine[y]) == len(cuts.Y[y]):
        return cuts.open.get((z, y), ca.SX(0))
    value = cuts.factor.product(mine[z], mine[y])
    return ca.SX(0) if value is None else value


def _relative_pivots(A: ca.SX) -> list[ca.SX]:
    """Of ``A = L D L'``, each by its place in A."""
    found: list[ca.SX] = []

    def invert(k: int, pivot: ca.SX) -> ca.SX:
        found.append(pivot / A[k, k])
        return 1 / pivot

    LDL(ca.sparsify(A), invert)
    return found
