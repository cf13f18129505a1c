"""What is integrated, how exactly, and where the solution is sampled: the data classes that `integrate` takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from closedchain.integrate.structure import Structure


@dataclass(frozen=True, eq=False)
class Correction:
    """Puts states back on the manifold of the constraints, see `integrate.project`.

    Attributes
    ----------
    address : of the native correction.
    w : (p,) its parameters; None: those of the right-hand side.
    tolerance : residual at which a state counts as being on the manifold.
    samples : whether samples between steps are put back, too.
    """

    address: int
    w: Any = None
    tolerance: float = 1e-13
    samples: bool = True


@dataclass(frozen=True, eq=False)
class Jacobian:
    """The Jacobian of the right-hand side, for implicit solvers.

    Attributes
    ----------
    address : of the native Jacobian.
    w : (p,) its parameters; None: those of the right-hand side.
    structure : of its zeros, from `integrate.structure`; None: all n times n entries, column after column.
    """

    address: int
    w: Any = None
    structure: Structure | None = None


@dataclass(frozen=True, eq=False)
class Problem:
    """What is integrated: ``x' = rhs(t, x, w)``, with what belongs to it.

    Attributes
    ----------
    rhs : address of the native right-hand side.
    w : (p,) its parameters, constant between two changes of the solver's inputs (`Hooks.inputs`).
    correction : puts states back on the manifold; None: there is no manifold.
    extra : what the solver needs besides the right-hand side: a `Jacobian`, or the named tuple that its kernel
        takes as last argument (its parameters are the entry ``w``).
    corners : where forces have corners, for solvers with step control, by names of `step_control.OPTIONS`, from
        `march.program.corners`; w then ends with the work vector of their signals.
    time : by which rates are compared with states where the first step is chosen; None: the length of the run.
    pivot_after, pivot_before : end the run (status `singular`) after, or before, a step whose correction tells a
        smaller pivot.
    team : address that brings numbers of all members together, if this is one of several that integrate parts of one
        state; see `step_control.together`.
    """

    rhs: int
    w: Any = ()
    correction: Correction | None = None
    extra: Any = None
    corners: Mapping[str, int] | None = None
    time: float | None = None
    pivot_after: float = -np.inf
    pivot_before: float = -np.inf
    team: int = 0


@dataclass(frozen=True, eq=False)
class Tolerances:
    """How large the error of a step may be: ``rtol |x_i| + atol_i``.

    Attributes
    ----------
    rtol, atol : atol may be a vector (n,).
    relative : the tolerance relative to the sizes of the entries, by which Radau IIA loosens its estimate; None: the
        larger of rtol and the least atol.
    newton : error that the iterations of an implicit solver may leave, in units of the tolerance; None: its own choice.
    """

    rtol: float = 1e-8
    atol: Any = 1e-8
    relative: float | None = None
    newton: float | None = None


@dataclass(frozen=True, eq=False)
class Samples:
    """Where the solution is sampled.

    Attributes
    ----------
    t_eval : (m,) times, strictly monotone from start to end (an array, or anything that gives one when it is sliced,
        such as `integrate.times.Equal`); None: the start and every accepted step.
    store : called as ``store(times, states)`` with samples as they become available, ``window`` at a time; the
        trajectory then holds only the rest, and no ends of steps.
    window : samples in memory at a time, if they are stored.
    """

    t_eval: Any = None
    store: Callable[[np.ndarray, np.ndarray], object] | None = None
    window: int = 4096
