"""The solvers by name: what a user may say, and where each method lives.

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
6. Decorate with `native.jit.jit` (in a package of your own: with `numba.njit(ADVANCE, cache=True)`), and add
   one line to `SOLVERS`. The tests of order, sampling, backward runs, chunks and failures are parametrised
   over that table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType


@dataclass(frozen=True)
class Solver:
    """A method of integration: one line of `SOLVERS`.

    Attributes
    ----------
    name : what a user says.
    order : of the step.
    dense_order : observed order of the samples between steps.
    adaptive : whether the step is controlled; otherwise it is given.
    error_order : `q` in `err ~ h^q`, for the starting step; 0 if not adaptive.
    home : finds the module of the method, with the jitted `advance`, WORK_ROWS and DENSE_ROWS; None with a driver.
    citation : where the method comes from.
    implicit : whether it solves linear equations.
    marches : kinds of equations (`Formulation.kind`) it can march.
    driver : who marches, if it is not `integrate`.
    needs : the native function it needs besides the right-hand side, by its name in `march.program.solver_inputs`.
    """

    name: str
    order: int
    dense_order: int
    adaptive: bool
    error_order: int
    home: Callable[[], ModuleType] | None
    citation: str
    implicit: bool = False
    needs: str = ""
    driver: str = ""
    marches: tuple[str, ...] = ("ode",)

    @property
    def general(self):
        """Whether it marches any x' = f(t, x), and not mechanisms alone."""
        return self.needs in ("", "jacobian") and not self.driver

    def load(self):
        """The jitted function and its module; the first call in a process imports Numba."""
        if self.home is None:
            return None, None
        home = self.home()
        return home.advance, home


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

SOLVERS = {
    solver.name: solver
    for solver in (
        Solver(
            "dop853", 8, 8, True, 8, _dop853, f"{_HAIRER}, II.5, II.6, II.10"
        ),
        Solver(
            "dopri5", 5, 5, True, 5, _dopri5,
            f"Dormand, Prince (1980), J. Comput. Appl. Math. 6(1), 19-26; {_HAIRER}, II.5-II.6",
        ),
        Solver(
            "auto", 8, 8, True, 8, _dop853,
            f"{_HAIRER}, II.10; {_WANNER}, IV.2 and IV.8: dop853, and radau5 where equations are stiff",
        ),
        Solver(
            "radau5", 5, 5, True, 4, _radau5, f"{_WANNER}, IV.8",
            implicit=True, needs="jacobian", marches=("ode", "index 2"),
        ),
        Solver(
            "rodas5p", 5, 5, True, 5, _rodas,
            "Steinebach (2023), Construction of Rosenbrock-Wanner method Rodas5P and numerical benchmarks within the "
            "Julia Differential Equations package, BIT Numerical Mathematics 63, 27", implicit=True, needs="jacobian",
        ),
        Solver(
            "rk4", 4, 4, False, 0, _rk4,
            "Kutta (1901), Zeitschrift fuer Mathematik und Physik 46, 435-453",
        ),
        Solver(
            "semi-implicit-euler", 1, 1, False, 0, _semi_implicit_euler,
            "Hairer, Lubich, Wanner (2006), Geometric Numerical Integration, 2nd ed., Springer, I.1 and VI.3",
            needs="kinematics",
        ),
        Solver(
            "rosenbrock2", 2, 2, False, 0, _rosenbrock2,
            "Verwer, Spee, Blom, Hundsdorfer (1999), A second-order Rosenbrock method applied to photochemical "
            "dispersion problems, SIAM J. Sci. Comput. 20(4), 1456-1480", implicit=True, needs="jacobian",
        ),
        Solver(
            "generalised-alpha", 2, 2, False, 0, _generalised_alpha,
            "Chung, Hulbert (1993), A time integration algorithm for structural dynamics with improved numerical "
            "dissipation: the generalized-alpha method, J. Appl. Mech. 60(2), 371-375",
            needs="index3", marches=("index 3",),
        ),
        Solver(
            "cvodes", 5, 5, True, 0, None,
            _SUNDIALS, implicit=True, driver="SUNDIALS",
        ),
        Solver(
            "idas", 5, 5, True, 0, None,
            _SUNDIALS, implicit=True, driver="SUNDIALS", marches=("ode", "index 2"),
        ),
    )
}  # fmt: skip


def marching(kind: str) -> list[str]:
    """Names of the solvers that can march a kind of equations, the usual one first."""
    return [name for name, solver in SOLVERS.items() if kind in solver.marches]
