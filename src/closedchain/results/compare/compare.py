"""`compare`: a mechanism under many formulations, solvers and tolerances, in one table and one figure.

Every number is measured on the mechanism itself. Errors are taken against a reference run (see
`results.compare.reference`), times and operations from runs that keep no samples. A run that fails, or a method that
refuses, is a row with its sentence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
import xarray

from closedchain.arguments import instance, listed, needs, positive, whole
from closedchain.arguments import named as entry
from closedchain.close.erls import ERLS
from closedchain.close.formulation import Formulation
from closedchain.close.methods import METHODS
from closedchain.close.modified_denoc import ModifiedDeNOC
from closedchain.close.multipliers import Multipliers
from closedchain.close.parts.springs import SpringFormulation
from closedchain.close.virtual_spring import VirtualSpring
from closedchain.errors import ClosedChainError, ModelError
from closedchain.integrate.solvers import SOLVERS, Solver, marching, named
from closedchain.march.elsewhere import says_where
from closedchain.march.options import check_listed, does_not_march, task_of
from closedchain.model.mechanism import Mechanism
from closedchain.pose.assemble import assemble
from closedchain.pose.state import State
from closedchain.progress import Counted, counted
from closedchain.results.compare.closure_modes import critical_damping, inverse_masses
from closedchain.results.compare.comparison import ABOUT, Comparison
from closedchain.results.compare.reference import Reference, make_reference
from closedchain.results.compare.trial import KINDS, Cost, Trial, attempt, cost, label
from closedchain.results.run import Run

STIFFNESSES = (1e5, 1e6, 1e7)  # of the springs that are compared by default
SOLVERS_COMPARED = ("dop853", "dopri5")
TOLERANCES = (1e-5, 1e-7, 1e-9)
MOST_STEPS = 100_000  # of a run, with a solver that is only named
FIXED_STEPS = 500  # of a run at the loosest tolerance
Methods = Sequence[Formulation | str] | Mapping[str, Formulation]


@says_where
def compare(
    mechanism: Mechanism,
    start: State | None = None,
    until: float = 1.0,
    methods: Methods | None = None,
    solvers: Sequence[str | Solver] | None = None,
    tolerances: Sequence[float] | None = None,
    *,
    repeats: int = 3,
    samples: int = 201,
) -> Comparison:
    """Run a mechanism under every method, solver and tolerance, and measure what each run is worth and costs.

    Parameters
    ----------
    mechanism
        What moves.
    start
        From `assemble`; None: ``mechanism.assemble()``.
    until
        End of the runs, s.
    methods
        Formulations, or their names in ``closedchain list methods``; a mapping gives them labels of your own. None: all
        of them, and virtual springs with stiffnesses 1e5, 1e6 and 1e7 and critical damping. `ERLS` may be among them,
        with its own solver: the reference has the shapes of the flexible bodies, and the error is against these.
    solvers
        Names, or objects with options; None: ``"dop853"`` and ``"dopri5"``. A method that none of them marches is run
        with its own solver; solvers that are given here and do not march it make a row that says so. A run that takes
        more than ``max_steps`` of its solver (of a name 100,000) is given up, and becomes a row that says so. The
        ``step`` of a solver with a fixed one (of a name a five-hundredth of the run) is that at the loosest tolerance;
        at others it is scaled so that the error follows the tolerance.
    tolerances
        Values of rtol (atol is that of the sizes); None: 1e-5, 1e-7 and 1e-9.
    repeats
        How often a run is made to measure its time; the median counts. What takes more than half a second is run once.
    samples
        How many equal times errors are taken at.

    Returns
    -------
    Comparison
        ``print`` it; ``.dataset``, ``.plot(path=...)``, ``.to_html(path)``.

    Examples
    --------
    >>> import closedchain as cc
    >>> methods = [cc.Multipliers(), cc.VirtualSpring(1e5, 300.0)]
    >>> got = cc.compare(cc.library.four_bar(), until=0.2, methods=methods, solvers=["dop853"], tolerances=[1e-6])
    >>> closure = got.dataset["closure_error"].sel(solver="dop853", rtol=1e-6)
    >>> bool(closure[0] < 1e-12 < 1e-6 < closure[1])
    True
    """
    with counted() as tell:
        start = start_for("compare", mechanism, start)
        rtols = _tolerances(tolerances)
        _check(start, until, rtols, samples)
        by = _solvers(SOLVERS_COMPARED if solvers is None else solvers, start, until)
        chosen = default_methods(start) if methods is None else named_methods(methods)
        asked = () if solvers is None else tuple(by)
        # methods that none of these marches come with the usual one of their own
        own = [own_solver(x) for x in chosen.values() if not any(x.kind in y.solver.marches for y in by.values())]
        by |= _solvers([x for x in own if x], start, until, own=True)
        return _Table(start, until, chosen, by, rtols, samples, asked).filled(repeats, tell)


def start_for(verb: str, mechanism: Mechanism, start: State | None) -> State:
    """The state that all runs of a verb begin with; None for the mechanism's own."""
    needs(verb, mechanism, Mechanism, "a cc.Mechanism")
    start = assemble(mechanism) if start is None else start
    return instance("the start", start, State, "a state from m.assemble(...) of the same mechanism").of(
        mechanism, "the start"
    )


@dataclass(frozen=True)
class _Chosen:
    """A solver to compare.

    Attributes
    ----------
    solver
        With its options.
    invented
        Whether its step was chosen here: finite elements choose theirs instead.
    """

    solver: Solver
    invented: bool = False

    def scaled(self, method: Formulation, tighter: float) -> Solver:
        """The solver with a fixed step that suits a tolerance so many times tighter than the loosest."""
        solver, step = self.solver, self.solver.lengths.fixed
        if step is None:
            return solver
        if self.invented and not solver.needs_step(method.kind):
            return replace(solver, step=None)  # type: ignore[call-arg]
        return replace(solver, step=step * tighter ** (1 / solver.order))  # type: ignore[call-arg]


@dataclass(frozen=True, eq=False)
class _Table:
    """What is run: every method with every solver that suits it, at every tolerance.

    Attributes
    ----------
    asked
        Names of the solvers that the user has chosen: what they do not march is a row with a sentence.
    """

    start: State
    until: float
    methods: dict[str, Formulation]
    solvers: dict[str, _Chosen]
    tolerances: list[float]
    samples: int
    asked: tuple[str, ...] = ()

    def rows(self) -> list[tuple[int, int]]:
        """The pairs of a method and a solver that are run, by their numbers."""
        return [
            (i, j)
            for i, x in enumerate(self.methods.values())
            for j, (name, y) in enumerate(self.solvers.items())
            if (x.kind in y.solver.marches if name in self.asked else suits(x, name))
        ]

    def not_run(self) -> dict[tuple[int, int], str]:
        """Why pairs that the user has asked for are not run, by their numbers."""
        out = {}
        asked = [(j, self.solvers[name].solver) for j, name in enumerate(self.solvers) if name in self.asked]
        for (i, method), (j, solver) in product(enumerate(self.methods.values()), asked):
            if method.kind not in solver.marches:
                out[i, j] = does_not_march(method, solver)
        return out

    def filled(self, repeats: int, tell: Counted) -> Comparison:
        """Make all runs, and measure them."""
        rows = self.rows()
        total = len(rows) * len(self.tolerances)
        tell(0, total, "reference")
        reference, trouble = _reference(self.start, self.until, self.tolerances[-1], self.samples)
        shape = (len(self.methods), len(self.solvers), len(self.tolerances))
        numbers = {name: np.full(shape, np.nan) for name in ABOUT}
        words = {name: np.full(shape, "", dtype=object) for name in ("failure", "complaint")}
        kinds = np.full((*shape[:1], len(KINDS)), np.nan)
        for pair, sentence in self.not_run().items():
            words["failure"][pair] = sentence
        labels, methods = [*self.methods], [*self.methods.values()]
        for done, ((i, j), k) in enumerate(product(rows, range(len(self.tolerances)))):
            tell(done, total, labels[i])
            rtol = self.tolerances[k]
            solver = [*self.solvers.values()][j].scaled(methods[i], rtol / self.tolerances[0])
            outcome = attempt(self.start, self.until, Trial(methods[i], solver, rtol, self.samples))
            words["failure"][i, j, k] = outcome.failure
            words["complaint"][i, j, k] = "; ".join(outcome.complaints)
            if outcome.run is not None and not outcome.failure:
                spent = cost(outcome.run, repeats)
                kinds[i] = [spent.kinds[kind] for kind in KINDS]
                for what, value in _measured(outcome.run, spent, reference).items():
                    numbers[what][i, j, k] = value
        tell(total, total, "done")
        return self._comparison(numbers, words, kinds, reference, trouble)

    def _comparison(
        self,
        numbers: dict[str, np.ndarray],
        words: dict[str, np.ndarray],
        kinds: np.ndarray,
        reference: Reference | None,
        trouble: str,
    ) -> Comparison:
        # not "method" and "tolerance": these are arguments of xarray's own sel()
        dims = ("formulation", "solver", "rtol")
        variables: dict[str, Any] = {name: (dims, x, ABOUT[name]) for name, x in numbers.items()}
        variables |= {name: (dims, x.astype(str)) for name, x in words.items()}
        variables["operations"] = (
            ("formulation", "kind"),
            kinds,
            {"units": "1", "about": "of one evaluation of the right-hand side"},
        )
        attrs = {
            "mechanism": self.start.mechanism.name,
            "begin": self.start.t,
            "until": float(self.until),
            "reference": str(reference) if reference else f"none: {trouble}",
            "uncertainty": reference.uncertainty if reference else float("nan"),
        }
        coords = {
            "formulation": list(self.methods),
            "solver": list(self.solvers),
            "rtol": self.tolerances,
            "kind": list(KINDS),
        }
        return Comparison(xarray.Dataset(variables, coords=coords, attrs=attrs), dict(self.methods))


# ---- one run ---------------------------------------------------------------------------------------------------------


def _measured(run: Run, spent: Cost, reference: Reference | None) -> dict[str, float]:
    data, elements = run.dataset, run.solution.has_elements
    out = {
        "closure_error": float(data["closure_error"].max()),
        # loops of a run with ERLS are closed by what is solved for
        "closure_velocity_error": np.nan if elements else float(data["closure_velocity_error"].max()),
        "energy_error": float(np.abs(data["energy_error"]).max()),
        "steps": run.counts.steps,
        "rejections": run.counts.rejections,
        "evaluations": spent.evaluations,
        "corrections": spent.corrections,
        "run_operations": spent.operations,
        "seconds": spent.seconds,
        "seconds_to_prepare": run.solution.seconds_to_prepare,
    }
    if reference is not None:
        off = reference.errors(run)
        out |= {
            "error": off.motion,
            "angle_error": off.angle,
            "length_error": off.length,
            "reaction_error": off.reaction,
        }
    return out


def _reference(start: State, until: float, tightest: float, samples: int) -> tuple[Reference | None, str]:
    try:
        return make_reference(start, until, tightest, samples), ""
    except ClosedChainError as error:
        return None, str(error)


def suits(method: Formulation, solver: str) -> bool:
    """Whether a solver can march a method; differential-algebraic ones and ERLS have solvers of their own."""
    if isinstance(method, ERLS):
        return solver == own_solver(method)
    return method.kind in SOLVERS[solver].marches


def own_solver(method: Formulation) -> str | None:
    """The usual solver of a method that most of them cannot march."""
    return None if method.kind == "ode" else marching(method.kind)[0]


# ---- what to compare -------------------------------------------------------------------------------------------------


def default_methods(start: State) -> dict[str, Formulation]:
    """All formulations, springs with several stiffnesses and the damping that suits the mechanism."""
    out = {label(x): x for x in METHODS.values() if not isinstance(x, SpringFormulation)}
    if not start.topology.cuts:
        return out
    try:
        s_max = float(inverse_masses(start).max(initial=0.0))
    except ModelError:  # the springs will say so themselves
        s_max = 0.0
    springs = [VirtualSpring(k, critical_damping(k, s_max)) for k in STIFFNESSES]
    middle = springs[1]
    return out | {label(x): x for x in (*springs, ModifiedDeNOC(middle.stiffness, middle.damping))}


def named_methods(methods: Methods) -> dict[str, Formulation]:
    """Methods by label, from objects, names, or a mapping."""
    if isinstance(methods, Mapping):
        pairs = [(str(name), _method(x)) for name, x in methods.items()]
    else:
        if isinstance(methods, str):
            raise ModelError(f"methods must be a list of formulations or of names, not {methods!r}")
        pairs = [(label(x), x) for x in dict.fromkeys(_method(x) for x in methods)]
    if not pairs:
        raise ModelError("there is no method to compare: give at least one")
    out: dict[str, Formulation] = {}
    for name, method in pairs:
        out[name if name not in out else repr(method)] = method
    return out


def _method(given: Any) -> Formulation:
    if isinstance(given, str):
        return entry("method", given, {**METHODS, "erls": ERLS()})
    return instance("a method", given, Formulation, "a formulation, for instance cc.Multipliers(), or its name")


def _tolerances(given: Any) -> list[float]:
    """Values of rtol, the loosest first."""
    several = TOLERANCES if given is None else listed(given)
    rtols = sorted({positive("rtol", x) for x in ((given,) if several is None else several)}, reverse=True)
    if not rtols:
        raise ModelError("there is nothing to compare: give at least one tolerance")
    return rtols


def _solvers(given: Any, start: State, until: float, own: bool = False) -> dict[str, _Chosen]:
    """Solvers by name; one that is only named gives up early, and has a step of its own if it needs one."""
    out: dict[str, _Chosen] = {}
    alone = isinstance(given, str | Solver)
    for one in (given,) if alone else dict.fromkeys(given):
        solver, invented = one, False
        if isinstance(one, str) and one in SOLVERS:
            kind, step = SOLVERS[one], abs(until - start.t) / FIXED_STEPS
            fixed: dict[str, Any] = {} if kind.adaptive else {"step": step or 1.0}
            solver, invented = kind(max_steps=MOST_STEPS, **fixed), bool(fixed)
        solver = named(solver)
        check_listed(solver)
        if solver.name in out:
            raise ModelError(f"solvers names {solver.name!r} twice: runs are told apart by the names of their solvers")
        out[solver.name] = _Chosen(solver, invented)
    if not out and not own:
        raise ModelError("there is nothing to compare: give at least one solver")
    return out


def _check(start: State, until: float, tolerances: Sequence[float], samples: int) -> None:
    """Say what is wrong with a call, before any run is made."""
    for rtol in tolerances:
        task_of(start, until, Multipliers(), None, rtol, None, None, ())
    if until == start.t:
        raise ModelError(f"a comparison needs runs of some length, but until = {until:g} s is where they begin")
    whole("samples", samples, least=2)
