"""What a formulation is: traced equations in, a right-hand side ``dx = f(t, x, p)`` out.

How to write your own formulation
---------------------------------
1. Make a file in this folder, named after the method. Its docstring gives the reference and the equations with the
   paper's own numbers.
2. Write a frozen dataclass with the options of the method and a method ``close(equations, rows, guarded) -> Closed``.
   `equations` (see `derive.equations`) has ``M, h, tau, c, A, gamma`` as traced matrices; ``rows`` are the closure
   rows that are independent, all others follow from them; ``guarded`` asks for pivots that are watched (see
   `close.elimination`).
3. Choose the state ``x``. Its last entry is the work ``W`` done on the mechanism by all that has no potential, so that
   the energy balance of a run can be checked: ``W' = power``.
4. If the method lets the state drift off its manifold, or the mechanism has quaternions, give a ``correct`` step;
   `put_back` below is the usual one.
5. Add the class to ``METHODS`` in `close.methods` and to the names in ``closedchain/__init__.py``. The tests in
   ``tests/agreement`` then compare its accelerations and multipliers with all others on every mechanism of the library.

`multipliers.py` is the example to follow.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import casadi as ca
import numpy as np

from closedchain.derive.equations import Equations


@dataclass(frozen=True, eq=False)
class Closed:
    """A closed system of ordinary differential equations, traced.

    Attributes
    ----------
    x
        State symbol.
    dx
        Its rate, a function of the equations' ``t``, ``x`` and ``p``.
    q, v
        Coordinates and velocities as functions of ``t, x, p``.
    a, lam
        Accelerations, and the multipliers of the kept rows.
    x_plus, residual
        One Newton step back to the manifold, and before it: the residuals of position and velocity, and the smallest
        relative pivot of the closures (small near a singular pose); None if never needed.
    watched
        Whether that pivot is real: only then singular poses can be seen coming.
    """

    x: ca.SX
    dx: ca.SX
    q: ca.SX
    v: ca.SX
    a: ca.SX
    lam: ca.SX
    x_plus: ca.SX | None = None
    residual: ca.SX | None = None
    watched: bool = False


class Formulation(Protocol):
    """The interface of every method in this folder."""

    def close(self, equations: Equations, rows: tuple[int, ...], guarded: bool = False) -> Closed:
        """Trace the closed system."""
        ...

    def citation(self) -> str:
        """What to cite."""
        ...


def state_symbols(equations: Equations) -> ca.SX:
    """The state ``x = (q, v, W)`` made of the equations' own symbols."""
    return ca.vertcat(equations.limbs.q, equations.limbs.v, ca.SX.sym("W"))


def pack(q: np.ndarray, v: np.ndarray, W: float = 0.0) -> np.ndarray:
    """Numbers of a state ``x = (q, v, W)``."""
    return np.concatenate([q, v, [W]])


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
