"""What a formulation is: traced equations in, a right-hand side ``dx = f(t, x, p)`` out.

How to write your own formulation
---------------------------------
A formulation is one class, in one file, which may be yours: no line of the library changes. One that solves for
accelerations and multipliers at once, from a matrix that is larger than it needs to be, is ::

    @dataclass(frozen=True)
    class Whole(Formulation):
        guards = False
        drifts = True
        unstabilised = True

        def close(self, equations, choice):
            e, rows, n = equations, list(choice.rows), equations.topology.nv
            A, gamma = e.closure.A[rows, :], e.closure.gamma[rows, :]
            K = ca.blockcat([[e.M, A.T], [A, ca.SX(len(rows), len(rows))]])
            z = ca.solve(K, ca.vertcat(e.tau - e.h, -gamma))
            a, lam = z[:n, :], z[n:, :]
            x = state_symbols(e)
            power = e.energies.power - ca.dot(lam, ca.densify(A @ e.limbs.v))
            return Closed(x, ca.vertcat(e.qdot, a, power), e.limbs.q, e.limbs.v, a, lam)

    cc.simulate(m, until=1.0, method=Whole())

1. Make a file named after the method; one of the library stands in this folder. Its docstring gives the reference and
   the equations with the paper's own numbers.
2. Write a frozen dataclass, derived from `Formulation`, with the options of the method and a method
   ``close(equations, choice) -> Closed``. `equations` (see `derive.equations`) has ``M, h, tau, c, A, gamma`` as
   traced matrices; `Choice` tells which closure rows to solve. Say in the attributes of the class what the method needs
   and what it does to the loops: here it cannot pass singular poses, and closures hold as accelerations only.
3. Choose the state ``x``: the coordinates ``q``, then all velocities or some of them. Its last entry is the work ``W``
   done on the mechanism by all that has no potential, so that the energy balance of a run can be checked:
   ``W' = power``. Where loops are open, the closing forces do work as well.
4. If the method lets the state drift off its manifold, or the mechanism has quaternions, give a `Correction`;
   `close.parts.manifold.newton_step` is the usual one.
5. If the method has numbers of its own, trace them as symbols, `Closed.parameters`, and give their values in
   ``numbers``; methods that differ in them share one compiled program if ``family`` leaves them out. Say in ``decays``
   which of them are rates at which closure errors decay, and in ``follows_steps`` whether they follow the steps. A
   formulation knows neither steps nor the direction of time: `march.stabilisation` decides the values in a run.
6. `closedchain.testing.check_formulation` compares accelerations, multipliers, reactions and work with those of
   `Multipliers` on every mechanism of the library, checks the energy of a run, and counts operations.
7. ``close.methods.register("whole", Whole())`` lets people write its name on the command line. One of the library
   stands in ``METHODS`` there, and in ``closedchain/__init__.py``; ``tests/agreement`` then goes through it.

``tests/recipes/test_formulation.py`` follows these steps; `multipliers.py` is the example with all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import casadi as ca

from closedchain.close.parts.elimination import REDUNDANT
from closedchain.derive.equations import Equations


@dataclass(frozen=True)
class Choice:
    """What was decided with numbers, before anything is traced.

    Attributes
    ----------
    rows
        Closure rows to solve; all others follow from them.
    guarded
        Whether rows may lose their independence on the way, and are then to be left out (see
        `close.parts.elimination`).
    pivots
        Each row with a velocity that it determines, in an order that a factorisation can follow; the velocities left
        over are independent. Only for methods that choose independent velocities.
    aimed
        Whether rows are held at small residuals instead of at zero, because the drawing's numbers are rounded (see
        `close.parts.aims`).
    redundant
        Relative pivot below which a guarded row is left out.
    """

    rows: tuple[int, ...]
    guarded: bool = False
    pivots: tuple[tuple[int, int], ...] = ()
    aimed: bool = False
    redundant: float = REDUNDANT


class Correction(NamedTuple):
    """One Newton step back to the manifold.

    Attributes
    ----------
    x_plus
        The state after the step.
    residual
        Before it: the residuals of position and velocity (rad, or of the mechanism's length; over seconds), and how
        healthy the equations are (the smallest relative pivot of the closures: small near a singular pose, or where
        rows or independent velocities have to be chosen anew).
    """

    x_plus: ca.SX
    residual: ca.SX


class Unknowns(NamedTuple):
    """Algebraic unknowns in a state: their units, and those of the equations that determine them."""

    units: tuple[str, ...] = ()
    balances: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Closed:
    """A closed system of ordinary differential equations, traced.

    Attributes
    ----------
    x
        State symbol: coordinates q, velocities (all or some), work W.
    dx
        Its rate, a function of the equations' ``t``, ``x`` and ``p``.
    q, v
        Coordinates and velocities as functions of ``t, x, p``.
    a, lam
        Accelerations, and the multipliers of the chosen rows.
    correction
        One Newton step back to the manifold; None if never needed.
    parameters
        Symbols of the method's own numbers, which follow those of the mechanism in the compiled functions.
    stored
        Energy in the closures, where they are springs, J.
    velocities
        Which velocities belong to the state; None for all.
    unknowns
        Entries of ``x``, before the work W, that have no rate: in their places ``dx`` holds equations that must be
        zero. Only solvers for differential-algebraic equations can march these.
    solved_first
        Whether ``dx`` is right only at states that the Newton step has been applied to until it rests.
    """

    x: ca.SX
    dx: ca.SX
    q: ca.SX
    v: ca.SX
    a: ca.SX
    lam: ca.SX
    correction: Correction | None = None
    stored: ca.SX = field(default_factory=lambda: ca.SX(0))
    parameters: ca.SX = field(default_factory=lambda: ca.SX(0, 1))
    velocities: tuple[int, ...] | None = None
    unknowns: Unknowns = field(default_factory=Unknowns)
    solved_first: bool = False

    @property
    def algebraic(self) -> int:
        """How many entries of the state have no rate."""
        return len(self.unknowns.units)


class Sums:
    """Sums over limbs that are made elsewhere, one limb here and another there: symbols in their places.

    A formulation that adds up what each limb contributes takes totals from here, if it is given one; what the limbs
    contribute is then to be added up by others, before anything that depends on a total can be computed.

    Attributes
    ----------
    symbols
        The totals (n,).
    parts
        By limb: its contributions (n,).
    """

    def __init__(self, limbs: int) -> None:
        self.symbols = ca.SX(0, 1)
        self.parts = [ca.SX(0, 1) for _ in range(limbs)]

    def total(self, parts: Mapping[int, ca.SX]) -> ca.SX:
        """The sum of matrices of one shape, given by limb."""
        one = next(iter(parts.values()))
        pattern = ca.Sparsity(*one.shape)
        for part in parts.values():
            pattern = pattern.unite(part.sparsity())
        total = ca.SX.sym("total", pattern)
        self.symbols = ca.vertcat(self.symbols, entries(total))
        for limb in range(len(self.parts)):
            mine = ca.project(parts[limb], pattern) if limb in parts else ca.SX(pattern)
            self.parts[limb] = ca.vertcat(self.parts[limb], entries(mine))
        return total


def entries(A: ca.SX) -> ca.SX:
    """Nonzeros of a sparse matrix, column after column."""
    return ca.vertcat(ca.SX(0, 1), *(ca.SX(x) for x in A.nonzeros()))  # type: ignore[call-overload]


class Formulation:
    """The base of every method in this folder.

    Attributes
    ----------
    all_rows
        Springs act in every closure row, also in those that repeat others.
    by_limbs
        Each limb must have inertia of its own: the method divides by it.
    chooses
        ``"velocities"`` or ``"coordinates"`` where the method needs independent ones, in `Choice.pivots`; a quaternion
        is one coordinate, but three velocities.
    guards
        The method can pass singular poses, with `Choice.guarded`.
    kind
        Of its equations: ``"ode"``; differential-algebraic ones, ``"index 2"`` or ``"index 3"``; finite elements,
        ``"elements"`` or, with damping by the solver, ``"damped elements"``.
    """

    all_rows: ClassVar[bool] = False
    by_limbs: ClassVar[bool] = False
    chooses: ClassVar[str | None] = None
    guards: ClassVar[bool] = True
    kind: ClassVar[str] = "ode"

    @property
    def drifts(self) -> bool:
        """Whether closures are left open by about the integration error."""
        return False

    @property
    def unstabilised(self) -> bool:
        """Whether closures hold as accelerations only, so that errors of velocity open them further and further."""
        return False

    @property
    def family(self) -> object:
        """What a compiled program depends on; methods that differ in `numbers` only share one."""
        return self

    def numbers(self, equations: Equations, choice: Choice) -> list[float]:
        """Values of `Closed.parameters`."""
        return []

    @property
    def decays(self) -> tuple[int, ...]:
        """Which of `numbers` are rates of decay of closure errors: with the opposite sign these would grow."""
        return ()

    @property
    def follows_steps(self) -> bool:
        """Whether all of `numbers` are rates that follow the length of the steps; they are zero without steps."""
        return False

    def close(self, equations: Equations, choice: Choice) -> Closed:
        """Trace the closed system."""
        raise NotImplementedError

    def close_with(self, sums: Sums, equations: Equations, choice: Choice) -> Closed:
        """The same with sums over limbs left open, for methods that have such."""
        return self.close(equations, choice)

    def citation(self) -> str:
        """What to cite."""
        raise NotImplementedError


def state_symbols(equations: Equations) -> ca.SX:
    """The state ``x = (q, v, W)`` made of the equations' own symbols."""
    return ca.vertcat(equations.limbs.q, equations.limbs.v, ca.SX.sym("W"))


def normalise(equations: Equations, q: ca.SX) -> ca.SX:
    """Coordinates with all quaternions brought back to length one."""
    q = ca.SX(q)
    for link in equations.topology.links:
        if link.joint.type.has_quaternion:
            four = slice(link.q.stop - 4, link.q.stop)
            q[four] = q[four] / ca.norm_2(q[four])
    return q


def has_quaternions(equations: Equations) -> bool:
    """Whether any coordinate belongs to a quaternion."""
    return any(link.joint.type.has_quaternion for link in equations.topology.links)
