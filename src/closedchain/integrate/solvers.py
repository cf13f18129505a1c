"""The solvers: one class for each, with its own options; `SOLVERS` finds them by name.

A user writes ``solver="dop853"``, or the object where an option matters: ``solver=cc.solvers.DOP853(first_step=1e-3)``.

How to add your own explicit solver
-----------------------------------
An explicit Runge-Kutta method is a tableau and a class. `DOPRI5` is the example with step control, `RK4` the one with
a fixed step.

1. Write its numbers as a `Tableau`, with their source; methods of this package stand in `methods/tableaus.py`. The
   kernel of `methods/explicit_runge_kutta.py` takes it from there: with step control the first row of E estimates the
   error, with a fixed step E is empty. Rows of D follow the cubic polynomial between steps; there may be none.
2. Write a class derived from `StepControlled` or `FixedStep`, with the decorator `listed`::

       @listed
       @dataclass(frozen=True, kw_only=True)
       class Heun(FixedStep):
           '''Heun's method of order 2, with a fixed step.'''

           name = "heun"
           order, dense_order = 2, 2
           home = explicit(HEUN)
           citation = "Heun (1900), Zeitschrift fuer Mathematik und Physik 45, 23-38"

   ``explicit(tableau)`` makes the kernel when it is first needed, and checks the tableau. With step control the class
   says the order of the error estimate, too: ``error_order = 5``.

3. `closedchain.testing.check_solver` checks the order of the steps and of the samples, backward runs, runs in many
   calls, and failures. The tests of the library are parametrised over `SOLVERS`, too.

Both may stand in a package of your own. ``tests/recipes/test_explicit_solver.py`` follows these steps.

How to add your own implicit solver
-----------------------------------
Any other method is one jitted function `advance` in a module of its own, with WORK_ROWS and DENSE_ROWS beside it. It
makes some attempts at steps and returns how many were accepted; Python then looks around (progress, Ctrl-C) and calls
it again. Its arguments are named tuples of `step_control`: ``Equations, SampleRoom, RunArrays, KeptSteps`` (together
`ADVANCE`), and as the last one what else the method needs. An implicit one gets a `implicit.Linearisation` (the
signature is then `implicit.ADVANCE_IMPLICIT`). Read `methods/rosenbrock2.py` as the shortest example, and
`methods/rodas.py` as one with step control.

1. Put the numbers of the method into your module, with their source; methods of the library keep theirs in
   `methods/tableaus.py`.
2. Write one step as a function of the equations and a `Step`: it gets the start, the length and the workspace, and
   fills the end ``step.y``. ``work[0]`` is the derivative at the start; the last DENSE_ROWS rows are the polynomial,
   the others are yours. Allocate nothing in the loop. `implicit.renew` evaluates the Jacobian at the start of the step,
   `linear.factor` factorises ``g E - J``, `linear.solve` solves with it.
3. Write `advance`. It begins with ``e, samples, run, kept = unowned_views(e, samples, run, kept)``, without which a
   step of a small mechanism takes half as long again. With step control: while ``state[0].status`` is 0 and attempts
   are left, ask `step_control.next_step` for a length, make the `Step`, then `reject` it, or: `project.arrive` puts its
   end back on the manifold and evaluates the derivative there, `corner_steps.passes` looks for corners of forces (if
   ``options[0].corners``), fill ``step.rows`` if `wants_rows` says so, `take_samples`, `accept`, and `propose` the next
   length. With a fixed step the functions of the same names in `fixed_step` are shorter: `next_step`, `arrive`,
   `leave`. Whatever must survive until the next call lives in the arrays, never in a local variable: results may not
   depend on how many attempts one call makes.
4. The polynomial of a step is a nested one (see `tableaus.py`); `hermite_rows` fills the first four rows, which are a
   valid polynomial of third degree on their own.
5. Decorate with ``native.jit.jit(ADVANCE_IMPLICIT)`` (in a package of your own: ``numba.njit(ADVANCE_IMPLICIT,
   error_model="numpy", nogil=True)``; Numba's own cache would not see that the library has changed), and write a class
   as above, with ``implicit = True``, ``needs = "jacobian"`` and `home`, a function that imports and returns the
   module.
6. `closedchain.testing.check_solver` checks it, too.

``tests/recipes/test_implicit_solver.py`` follows these steps.

How to add equations of your own
--------------------------------
Equations that no right-hand side describes bring a `Stepper` (`integrate/stepper.py`), which makes their steps;
`integrate.loop.Loop` does the rest.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from types import ModuleType
from typing import Any, ClassVar, NamedTuple, TypeVar

from closedchain.arguments import boolean, positive, suggest, whole
from closedchain.errors import ModelError
from closedchain.integrate.methods import tableaus
from closedchain.integrate.methods.tableaus import Tableau


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
    home : finds the kernel of the method: the jitted `advance`, WORK_ROWS and DENSE_ROWS; None with a driver.
    citation : where the method comes from.
    implicit : whether it solves linear equations.
    needs : the native function it needs besides the right-hand side, by its name in `march.program.solver_inputs`.
    driver : who makes the steps, if it is not `integrate`.
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
    home: ClassVar[Callable[[], Any] | None] = None
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
        whole(f"{type(self).__name__}: max_steps", self.max_steps, 1)
        boolean(f"{type(self).__name__}: dense_output", self.dense_output)

    def __str__(self) -> str:
        """Its name, and the options that differ from their defaults."""
        options = {x.name: getattr(self, x.name) for x in fields(self) if getattr(self, x.name) != x.default}
        return self.name + (" with " if options else "") + ", ".join(f"{k}={x}" for k, x in options.items())

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
        cls._check_error_order()
        home = cls.home()
        return home.advance, home

    @classmethod
    def _check_error_order(cls) -> None:
        """Steps are controlled by an error estimate, whose order is known."""
        q, name = cls.error_order, f"solver {cls.name or cls.__name__!r}"
        if cls.adaptive and not (isinstance(q, int) and q >= 1):
            raise ModelError(
                f"{name} controls its steps: say the order of its error estimate, for instance "
                f"error_order = 4, not {q!r}"
            )
        if not cls.adaptive and q != 0:
            raise ModelError(f"{name} has a fixed step and no error estimate: leave error_order at 0, not {q!r}")


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
        name = type(self).__name__
        if self.first_step is not None:
            positive(f"{name}: first_step", self.first_step, "of seconds", infinite=True)
        positive(f"{name}: max_step", self.max_step, "of seconds", infinite=True)

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
        positive(f"{type(self).__name__}: step", self.step, "of seconds")

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
        if self.step is None:
            return
        positive(f"{type(self).__name__}: step", self.step, "of seconds")
        for option, value, usual in (("first_step", self.first_step, None), ("max_step", self.max_step, math.inf)):
            if value != usual:
                raise ModelError(f"{self.name!r} has a fixed step of {self.step:g} s: leave {option} out")

    @property
    def lengths(self) -> StepLengths:
        """Of all steps, of the first one and of the longest, as far as they are chosen."""
        return StepLengths(self.step, self.first_step, self.max_step)

    def needs_step(self, kind: str) -> bool:
        """Not for finite elements."""
        return not self.adaptive and "elements" not in kind


SOLVERS: dict[str, type[Solver]] = {}
"""Classes of the solvers, by name."""

S = TypeVar("S", bound=type[Solver])


def listed(solver: S) -> S:
    """Put a class into `SOLVERS`."""
    if not solver.driver:
        solver._check_error_order()
    SOLVERS[solver.name] = solver
    return solver


# kernels of the methods: each loads Numba, and is imported when it is needed


def explicit(tableau: Tableau) -> Any:
    """The home of an explicit Runge-Kutta method, whose steps are controlled if the class has an `error_order`."""

    @functools.cache
    def made(error_order: int) -> Any:
        from closedchain.integrate.methods.explicit_runge_kutta import kernel

        return kernel(tableau, error_order)

    return classmethod(lambda cls: made(cls.error_order))


def _dop853() -> ModuleType:
    from closedchain.integrate.methods import dop853

    return dop853


def _radau5() -> ModuleType:
    from closedchain.integrate.methods import radau5

    return radau5


def _rodas() -> ModuleType:
    from closedchain.integrate.methods import rodas

    return rodas


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
    home = explicit(tableaus.DOPRI5)
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
    home = explicit(tableaus.RK4)
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
    if isinstance(solver, type) and issubclass(solver, Solver):
        step = "step=1e-3" if issubclass(solver, FixedStep) else ""
        home = "cc.solvers." if SOLVERS.get(solver.name) is solver and solver.__module__ == __name__ else ""
        raise ModelError(f"{solver.__name__} is a class: write {home}{solver.__name__}({step})")
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
