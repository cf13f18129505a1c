"""The solvers: one class for each, with its own options; `SOLVERS` finds them by name.

A user writes ``solver="dop853"``, or the object where an option matters: ``solver=cc.solvers.DOP853(first_step=1e-3)``.

How to add your own solver
--------------------------
A solver is one jitted function `advance` with the signature `step_control.ADVANCE`, in a file of `methods/`. It
makes some attempts at steps and returns how many were accepted; Python then looks around (progress, Ctrl-C)
and calls it again. Read `rk4.py` as the shortest example, `dopri5.py` as one with step control.

1. Put the numbers of the method into `tableaus.py`, with their source.
2. Write one step as a pure function: start, length and workspace in, end and error out. `work[0]` is the
   derivative at the start; the other rows are yours. Allocate nothing in the loop.
3. Write `advance`: while `state[0].status` is 0 and attempts are left, ask `next_step` for a length, make
   the step, then `reject` it, or: `put_back` its end, evaluate the derivative there, fill `rows` if
   `wants_rows` says so, `take_samples`, `accept`, `propose` the next length. Whatever must survive until the
   next call lives in `state`, `x` and `work`, never in a local variable: results may not depend on how many
   attempts one call makes.
4. The polynomial of a step is a nested one (see `tableaus.py`); `hermite_rows` fills the first four rows,
   which are a valid polynomial of third degree on their own.
5. An implicit solver has the signature `implicit.ADVANCE_IMPLICIT`; `rodas.py` is the example to follow.
6. Decorate with `native.jit.jit` (in a package of your own: with `numba.njit(ADVANCE, cache=True)`), and write a
   class below, derived from `StepControlled` or `FixedStep`, with the decorator `listed`. The tests of order, sampling,
   backward runs, chunks and failures are parametrised over `SOLVERS`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from closedchain.arguments import suggest
from closedchain.errors import ModelError


class StepLengths(NamedTuple):
    """Lengths of steps that the user has chosen, s: of all steps, of the first one to try, and of the longest."""

    fixed: float | None = None
    first: float | None = None
    longest: float = math.inf


@dataclass(frozen=True, kw_only=True)
class Solver:
    """A method of integration, with its options.

    Attributes
    ----------
    name : as users and the command line say it.
    order : of the step.
    dense_order : observed order of the samples between steps.
    adaptive : whether the step is controlled; otherwise it is given.
    error_order : `q` in `err ~ h^q`, for the starting step; 0 if not adaptive.
    home : finds the module of the method, with the jitted `advance`, WORK_ROWS and DENSE_ROWS; None with a driver.
    citation : where the method comes from.
    implicit : whether it solves linear equations.
    needs : the native function it needs besides the right-hand side, by its name in `march.program.solver_inputs`.
    driver : who marches, if it is not `integrate`.
    marches : kinds of equations (`Formulation.kind`) it can march.
    general : whether it marches any x' = f(t, x), and not mechanisms alone.
    max_steps : attempts, accepted or not, before a run is given up.
    dense_output : keep the solution between steps, as ``run.sol(t)``.
    """

    name: ClassVar[str] = ""
    order: ClassVar[int]
    dense_order: ClassVar[int]
    adaptive: ClassVar[bool] = True
    error_order: ClassVar[int] = 0
    home: ClassVar[Callable[[], ModuleType] | None] = None
    citation: ClassVar[str] = ""
    implicit: ClassVar[bool] = False
    needs: ClassVar[str] = ""
    driver: ClassVar[str] = ""
    marches: ClassVar[tuple[str, ...]] = ("ode",)
    general: ClassVar[bool] = True

    max_steps: int = 10_000_000
    dense_output: bool = False

    def __post_init__(self) -> None:
        """Check the options."""
        _positive(self, "max_steps", whole=True)
        _boolean(self, "dense_output")

    @property
    def lengths(self) -> StepLengths:
        """Lengths of steps, as far as they are chosen."""
        return StepLengths()

    def needs_step(self, kind: str) -> bool:
        """Whether the length of all steps must be given where it marches equations of a kind."""
        return not self.adaptive

    @classmethod
    def load(cls) -> tuple[Any, Any]:
        """The jitted function and its module; the first call in a process imports Numba."""
        if cls.home is None:
            return None, None
        home = cls.home()
        return home.advance, home


@dataclass(frozen=True, kw_only=True)
class StepControlled(Solver):
    """A solver that chooses its steps by an error estimate.

    Attributes
    ----------
    first_step : the first one to try, s; None: chosen from the derivatives at the start.
    max_step : the longest one, s.
    """

    first_step: float | None = None
    max_step: float = math.inf

    def __post_init__(self) -> None:
        """Check the options."""
        super().__post_init__()
        if self.first_step is not None:
            _positive(self, "first_step")
        _positive(self, "max_step")

    @property
    def lengths(self) -> StepLengths:
        """Of the first step and of the longest, as far as they are chosen."""
        return StepLengths(first=self.first_step, longest=self.max_step)


@dataclass(frozen=True, kw_only=True)
class FixedStep(Solver):
    """A solver whose steps have one length.

    Attributes
    ----------
    step : length of a step, s; the last one is shortened to end at the end.
    """

    adaptive: ClassVar[bool] = False

    step: float

    def __post_init__(self) -> None:
        """Check the options."""
        super().__post_init__()
        _positive(self, "step", finite=True)

    @property
    def lengths(self) -> StepLengths:
        """Of all steps."""
        return StepLengths(fixed=self.step)


@dataclass(frozen=True, kw_only=True)
class ElementSolver(StepControlled):
    """A solver that marches finite elements of `ERLS`, with steps of its own choice or of one length.

    Attributes
    ----------
    step : length of all steps, s; None: chosen by an error estimate.
    """

    step: float | None = None

    def __post_init__(self) -> None:
        """Check the options."""
        super().__post_init__()
        if self.step is not None:
            _positive(self, "step", finite=True)

    @property
    def lengths(self) -> StepLengths:
        """Of all steps, of the first one and of the longest, as far as they are chosen."""
        return StepLengths(self.step, self.first_step, self.max_step)

    def needs_step(self, kind: str) -> bool:
        """Not for finite elements."""
        return not self.adaptive and "elements" not in kind


def _positive(solver: Solver, option: str, *, whole: bool = False, finite: bool = False) -> None:
    value = getattr(solver, option)
    number = isinstance(value, int if whole else int | float | np.integer | np.floating) and not isinstance(value, bool)
    if not number or not value > 0 or (finite and not value < math.inf):
        kind = "whole number > 0" if whole else "positive number of seconds"
        raise ModelError(f"{type(solver).__name__}: {option} must be a {kind}, not {value!r}")


def _boolean(solver: Solver, option: str) -> None:
    if not isinstance(getattr(solver, option), bool):
        raise ModelError(f"{type(solver).__name__}: {option} is True or False, not {getattr(solver, option)!r}")


SOLVERS: dict[str, type[Solver]] = {}
"""Classes of the solvers, by name."""

S = TypeVar("S", bound=type[Solver])


def listed(solver: S) -> S:
    """Put a class into `SOLVERS`."""
    SOLVERS[solver.name] = solver
    return solver


# modules of the methods: each loads Numba, and is imported when it is needed


def _dop853() -> ModuleType:
    from closedchain.integrate.methods import dop853

    return dop853


def _dopri5() -> ModuleType:
    from closedchain.integrate.methods import dopri5

    return dopri5


def _radau5() -> ModuleType:
    from closedchain.integrate.methods import radau5

    return radau5


def _rodas() -> ModuleType:
    from closedchain.integrate.methods import rodas

    return rodas


def _rk4() -> ModuleType:
    from closedchain.integrate.methods import rk4

    return rk4


def _semi_implicit_euler() -> ModuleType:
    from closedchain.integrate.methods import semi_implicit_euler

    return semi_implicit_euler


def _rosenbrock2() -> ModuleType:
    from closedchain.integrate.methods import rosenbrock2

    return rosenbrock2


def _generalised_alpha() -> ModuleType:
    from closedchain.integrate.methods import generalised_alpha

    return generalised_alpha


_HAIRER = "Hairer, Norsett, Wanner (1993), Solving Ordinary Differential Equations I, 2nd ed., Springer"
_WANNER = "Hairer, Wanner (1996), Solving Ordinary Differential Equations II, 2nd ed., Springer"
_SUNDIALS = (
    "Hindmarsh et al. (2005), SUNDIALS: suite of nonlinear and differential/algebraic equation solvers, "
    "ACM Trans. Math. Softw. 31, 363-396"
)


@listed
@dataclass(frozen=True, kw_only=True)
class DOP853(StepControlled):
    """Dormand and Prince, order 8(5,3): the usual one."""

    name = "dop853"
    order, dense_order, error_order = 8, 8, 8
    home = staticmethod(_dop853)
    citation = f"{_HAIRER}, II.5, II.6, II.10"


@listed
@dataclass(frozen=True, kw_only=True)
class DOPRI5(StepControlled):
    """Dormand and Prince, order 5(4): for loose tolerances."""

    name = "dopri5"
    order, dense_order, error_order = 5, 5, 5
    home = staticmethod(_dopri5)
    citation = f"Dormand, Prince (1980), J. Comput. Appl. Math. 6(1), 19-26; {_HAIRER}, II.5-II.6"


@listed
@dataclass(frozen=True, kw_only=True)
class Auto(DOP853):
    """DOP853, and Radau5 where equations are stiff; ``run.record`` tells where it changes."""

    name = "auto"
    citation = f"{_HAIRER}, II.10; {_WANNER}, IV.2 and IV.8: dop853, and radau5 where equations are stiff"


@listed
@dataclass(frozen=True, kw_only=True)
class Radau5(StepControlled):
    """Radau IIA of order 5, implicit, with exact Jacobians: for stiff and index-2 equations."""

    name = "radau5"
    order, dense_order, error_order = 5, 5, 4
    home = staticmethod(_radau5)
    citation = f"{_WANNER}, IV.8"
    implicit, needs, marches = True, "jacobian", ("ode", "index 2")


@listed
@dataclass(frozen=True, kw_only=True)
class Rodas5P(StepControlled):
    """Rosenbrock-Wanner of order 5, with exact Jacobians: for stiff equations at moderate tolerances."""

    name = "rodas5p"
    order, dense_order, error_order = 5, 5, 5
    home = staticmethod(_rodas)
    citation = (
        "Steinebach (2023), Construction of Rosenbrock-Wanner method Rodas5P and numerical benchmarks within the "
        "Julia Differential Equations package, BIT Numerical Mathematics 63, 27"
    )
    implicit, needs = True, "jacobian"


@listed
@dataclass(frozen=True, kw_only=True)
class RK4(FixedStep):
    """The classical Runge-Kutta method of order 4, with a fixed step."""

    name = "rk4"
    order, dense_order = 4, 4
    home = staticmethod(_rk4)
    citation = "Kutta (1901), Zeitschrift fuer Mathematik und Physik 46, 435-453"


@listed
@dataclass(frozen=True, kw_only=True)
class SemiImplicitEuler(FixedStep):
    """Velocities first, then positions with the new velocities: order 1, with a fixed step."""

    name = "semi-implicit-euler"
    order, dense_order = 1, 1
    home = staticmethod(_semi_implicit_euler)
    citation = "Hairer, Lubich, Wanner (2006), Geometric Numerical Integration, 2nd ed., Springer, I.1 and VI.3"
    needs, general = "kinematics", False


@listed
@dataclass(frozen=True, kw_only=True)
class Rosenbrock2(FixedStep):
    """Rosenbrock of order 2 with exact Jacobians and a fixed step: the same cost in every step, also if stiff."""

    name = "rosenbrock2"
    order, dense_order = 2, 2
    home = staticmethod(_rosenbrock2)
    citation = (
        "Verwer, Spee, Blom, Hundsdorfer (1999), A second-order Rosenbrock method applied to photochemical "
        "dispersion problems, SIAM J. Sci. Comput. 20(4), 1456-1480"
    )
    implicit, needs = True, "jacobian"


@listed
@dataclass(frozen=True, kw_only=True)
class ESDIRK4(ElementSolver):
    """Singly diagonally implicit Runge-Kutta of order 4 with an explicit first stage: for finite elements of `ERLS`."""

    name = "esdirk4"
    order, dense_order, error_order = 4, 4, 4
    citation = "Kennedy, Carpenter (2003), Additive Runge-Kutta schemes, Applied Numerical Mathematics 44, 139-181"
    implicit, driver, marches, general = True, "ERLS", ("elements",), False


@listed
@dataclass(frozen=True, kw_only=True)
class GeneralisedAlpha(ElementSolver):
    """Generalised alpha for index-3 equations, with a fixed step; for finite elements of `ERLS` with any."""

    name = "generalised-alpha"
    adaptive = False
    order, dense_order = 2, 2
    home = staticmethod(_generalised_alpha)
    citation = (
        "Chung, Hulbert (1993), A time integration algorithm for structural dynamics with improved numerical "
        "dissipation: the generalized-alpha method, J. Appl. Mech. 60(2), 371-375"
    )
    needs, marches, general = "index3", ("index 3", "elements", "damped elements"), False


@listed
@dataclass(frozen=True, kw_only=True)
class CVODES(Solver):
    """BDF of SUNDIALS, through CasADi: a second opinion."""

    name = "cvodes"
    order, dense_order = 5, 5
    citation = _SUNDIALS
    implicit, driver, general = True, "SUNDIALS", False


@listed
@dataclass(frozen=True, kw_only=True)
class IDAS(CVODES):
    """BDF for differential-algebraic equations of SUNDIALS, through CasADi: a second opinion."""

    name = "idas"
    marches = ("ode", "index 2")


def named(solver: str | Solver) -> Solver:
    """A solver as an object; a name means its defaults.

    Examples
    --------
    >>> named("dop853")
    DOP853(max_steps=10000000, dense_output=False, first_step=None, max_step=inf)
    """
    if isinstance(solver, Solver):
        return solver
    if not isinstance(solver, str) or solver not in SOLVERS:
        near = suggest(solver.lower(), SOLVERS) if isinstance(solver, str) else ""
        near = near if "did you mean" in near else ""
        raise ModelError(f"there is no solver {solver!r}{near}; there are {', '.join(SOLVERS)}")
    kind = SOLVERS[solver]
    if issubclass(kind, FixedStep):
        raise ModelError(without_step(kind))
    return kind()


def without_step(kind: type[Solver]) -> str:
    """The sentence about a solver that needs the length of its steps."""
    return f"{kind.name!r} has a fixed step: say its length, solver=cc.solvers.{kind.__name__}(step=1e-3)"


def marching(kind: str) -> list[str]:
    """Names of the solvers that can march a kind of equations, the usual one first."""
    return [name for name, solver in SOLVERS.items() if kind in solver.marches]
