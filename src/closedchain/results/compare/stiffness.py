"""`choose_stiffness`: how stiff virtual springs must be for a wanted closure error, and what that costs.

Wang, Gosselin and Cheng (2002) choose k from a curve of the closure error against k (their Figure 6, with (44) at
t = 0.1 s). Here the curve is measured on the mechanism itself, against an exact run:

* The load of a closure is what it is, so its springs stretch by ``c = lam / k``: the error falls with 1/k. The exact
  run tells lam, and with it where the range of k must lie; the slope is then fitted, not assumed.
* The highest frequency is ``sqrt(k s_max)``, with s_max the largest eigenvalue of ``A M^-1 A'`` (see
  `results.compare.closure_modes`). The steps of an explicit solver must follow it: evaluations grow as sqrt(k) where
  stability holds the steps short, and a little slower where springs ring and steps are held by accuracy, since swings
  of the velocities shrink with 1/sqrt(k): as ``k^(1/2 - 1/(2 p))`` for order p. The power is fitted, and predicts the
  cost of the chosen k.
* The damping is critical for that frequency, ``b = 2 sqrt(k / s_max)``; ``damping=0`` is the paper's way.

The stiffness is a parameter of the compiled code, so that the whole curve costs one compilation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from closedchain.arguments import not_negative, numeric, positive
from closedchain.attached import Attached
from closedchain.close.multipliers import Multipliers
from closedchain.close.virtual_spring import VirtualSpring
from closedchain.errors import ModelError, RunError
from closedchain.integrate.solvers import Solver, named
from closedchain.march.elsewhere import says_where
from closedchain.march.options import task_of
from closedchain.model.mechanism import Mechanism
from closedchain.pose.state import State
from closedchain.progress import Counted, counted
from closedchain.results.compare.closure_modes import critical_damping, stiffest
from closedchain.results.compare.compare import start_for
from closedchain.results.compare.reference import TIGHTEST, Reference, make_reference
from closedchain.results.compare.trial import Trial, attempt, cost, number
from closedchain.results.run import Run

if TYPE_CHECKING:
    import xarray

    from closedchain.look.plots.stiffness import plot

RESOLVED = 100.0  # times rtol: smaller closure errors are those of the solver, not of the springs
RANGE = (-2.5, 1.0)  # decades around the stiffness that the load asks for
POINTS = 8
CLOSE_ENOUGH = 0.9  # of the wanted error: a stiffness that gives less is larger than it need be
TRIES = 6
MOST_STEPS = 200_000  # of a run, with a solver that is only named
UNLOADED = 1e-9  # of the forces that move a mechanism of this size in its time


@dataclass(frozen=True, eq=False)
class StiffnessChoice(Attached):
    """Springs for a wanted closure error.

    Attributes
    ----------
    stiffness, damping
        k (N/m or N m/rad) and b (N s/m or N m s/rad), for all closures.
    wanted, reached
        Closure error, largest over the run, m or rad: asked for, and measured with this stiffness.
    slope
        Of the logarithm of the closure error over that of k, fitted to the curve; -1 is expected.
    power
        Of k, with which the evaluations grow; 0.5 is expected for stiff springs, less for soft ones.
    predicted, evaluations, exact_evaluations
        Evaluations of the right-hand side: as the curve predicts, as counted with this stiffness, and with
        `Multipliers`.
    dataset
        The curve: errors and costs by stiffness.
    """

    if TYPE_CHECKING:  # attached by `closedchain.verbs`
        plot = plot

    mechanism: str
    stiffness: float
    damping: float
    wanted: float
    reached: float
    slope: float
    power: float
    predicted: float
    evaluations: int
    exact_evaluations: int
    dataset: xarray.Dataset

    @property
    def method(self) -> VirtualSpring:
        """The formulation, for `simulate`."""
        return VirtualSpring(self.stiffness, self.damping)

    def __str__(self) -> str:
        data = self.dataset.attrs
        how = "critical for the stiffest closure" if data["damping_rule"] == "critical" else "as asked for"
        return "\n".join(
            [
                f"k = {number(self.stiffness)}, b = {number(self.damping)} ({how}) for {self.mechanism} until "
                f"{data['until']:g} s",
                f"  closure error {self.reached:.2g} m or rad, wanted {self.wanted:.2g}",
                f"  motion off by {data['motion_error']:.2g} rad or m against {data['reference']}",
                f"  error over k: slope {self.slope:.2f} in logarithms (-1 expected)",
                f"  {self.evaluations} evaluations with {data['solver']} at rtol {data['rtol']:.0e}, "
                f"{self.predicted:.0f} predicted; they grow with k^{self.power:.2f}",
                f"  Multipliers, which keeps loops closed: {self.exact_evaluations} evaluations",
            ]
        )


@says_where
def choose_stiffness(
    mechanism: Mechanism,
    start: State | None = None,
    error: float = 1e-4,
    until: float = 0.1,
    *,
    damping: float | None = None,
    stiffnesses: Sequence[float] | None = None,
    solver: Solver | str = "dop853",
    rtol: float = 1e-9,
) -> StiffnessChoice:
    """Find the smallest stiffness of virtual springs that keeps a closure error, and check it by a run.

    Parameters
    ----------
    mechanism
        What moves.
    start
        From `assemble`; None: ``mechanism.assemble()``.
    error
        Largest closure error wanted over the run, m or rad.
    until
        End of the runs, s; the paper's figure has 0.1.
    damping
        None: critical for the stiffest closure, different for each stiffness. A number: this one for all; 0 is the
        paper's.
    stiffnesses
        For the curve; None: eight over three and a half decades, around what the load asks for.
    solver, rtol
        For the runs with springs: ``"dop853"`` or ``"dopri5"``. A run that takes more than ``max_steps`` of its solver
        (of a name 200,000) is given up.

    Returns
    -------
    StiffnessChoice
        ``print`` it; ``.method`` goes into `simulate`, ``.plot(path=...)`` draws the curve.

    Raises
    ------
    ModelError
        If the mechanism has no loop, or the error cannot be had with these springs and this tolerance.

    Examples
    --------
    >>> import closedchain as cc
    >>> choice = cc.choose_stiffness(cc.library.four_bar(), error=1e-4)
    >>> choice.reached <= 1e-4, -1.05 < choice.slope < -0.95
    (True, True)
    """
    by = replace(named(solver), max_steps=MOST_STEPS) if isinstance(solver, str) else named(solver)
    with counted() as tell:
        springs = _Springs(start_for("choose_stiffness", mechanism, start), error, until, damping, by, rtol)
        springs.check(stiffnesses)
        return springs.chosen(stiffnesses, tell)


@dataclass(frozen=True)
class _Springs:
    """What is wanted of springs, and how runs with them are made; see `choose_stiffness`."""

    start: State
    error: float
    until: float
    damping: float | None
    solver: Solver
    rtol: float

    def check(self, stiffnesses: Sequence[float] | None) -> None:
        """Say what cannot be had, before any run is made."""
        start, error, rtol, until = self.start, self.error, self.rtol, self.until
        task_of(start, until, VirtualSpring(1.0), self.solver, rtol, None, None, ())
        name = start.mechanism.name
        if not start.topology.cuts:
            raise ModelError(f"mechanism {name!r} has no loop: there is nothing that a spring could close")
        positive("error", error, "of m or rad")
        if error < RESOLVED * rtol:
            raise ModelError(
                f"a closure error of {error:g} is not resolved by rtol = {rtol:g}: ask for {RESOLVED * rtol:g} or more"
                + (f", or take rtol = {error / RESOLVED:g}" if error / RESOLVED >= TIGHTEST else "")
                + "; or use cc.Multipliers(), which keeps loops closed to rounding"
            )
        if self.damping is not None:
            not_negative("damping", self.damping)
        if until == start.t:
            raise ModelError(f"springs are chosen by runs of some length, but until = {until:g} s is where they begin")
        if stiffnesses is not None:
            ks = numeric(stiffnesses)
            if ks is None or ks.ndim != 1 or len(ks) < 2 or not (np.isfinite(ks) & (ks > 0)).all():
                raise ModelError(f"stiffnesses must be two or more positive numbers, not {stiffnesses!r}")

    def damped(self, k: float, s_max: float) -> float:
        """Damping beside a stiffness."""
        return critical_damping(k, s_max) if self.damping is None else float(self.damping)

    def run(self, k: float, s_max: float) -> tuple[Run | None, str]:
        """A run with a stiffness, or why there is none."""
        method = VirtualSpring(k, self.damped(k, s_max))
        outcome = attempt(self.start, self.until, Trial(method, self.solver, self.rtol))
        return None if outcome.failure else outcome.run, outcome.failure

    def chosen(self, stiffnesses: Sequence[float] | None, tell: Counted) -> StiffnessChoice:
        """Measure the curve, take the smallest stiffness that does, and show it by a run."""
        tell(0, POINTS + 2, "exact run")
        reference = make_reference(self.start, self.until, max(self.rtol, 1e-10))
        s_max = stiffest(reference.run)
        ks = np.sort(np.array(stiffnesses, float)) if stiffnesses is not None else self._range(reference)
        columns, said = self._curve(ks, s_max, reference, tell)
        gap, evaluations = np.array(columns["closure_error"]), np.array(columns["evaluations"])
        good = np.isfinite(gap) & (gap > 0)
        name = self.start.mechanism.name
        if good.sum() < 2:
            raise RunError(f"springs cannot be chosen for {name!r}: {said or 'there is nothing to carry'}", None)
        slope, intercept = _fit(ks[good], gap[good])
        power, factor = _fit(ks[good], evaluations[good])

        # the smallest stiffness that does, to two digits, and a run that shows it
        k = _round_up(_where(ks[good], gap[good], self.error, slope))
        tell(len(ks) + 1, len(ks) + 2, f"k = {number(k)}")
        k, run = self._fine(k, s_max, lambda k: float(10 ** (factor + power * np.log10(k))))
        return StiffnessChoice(
            name,
            k,
            self.damped(k, s_max),
            float(self.error),
            float(run.closure_error.max()),
            slope,
            power,
            float(10 ** (factor + power * np.log10(k))),
            cost(run).evaluations,
            _exact_evaluations(self.start, self.until, self.solver, self.rtol),
            _dataset(
                ks,
                columns,
                reference,
                run,
                solver=self.solver.name,
                rtol=self.rtol,
                damping_rule="critical" if self.damping is None else "given",
                s_max=s_max,
                intercept=intercept,
                cost_intercept=factor,
            ),
        )

    def _range(self, reference: Reference) -> np.ndarray:
        """Stiffnesses around the one that the load asks for."""
        load = float(np.abs(reference.run._outputs["lam"]).max(initial=0.0))  # N or N m, which the springs must carry
        return load / self.error * np.logspace(*RANGE, POINTS)

    def _curve(
        self, ks: np.ndarray, s_max: float, reference: Reference, tell: Counted
    ) -> tuple[dict[str, list[float]], str]:
        """Errors and costs by stiffness, and the first failure."""
        load = float(np.abs(reference.run._outputs["lam"]).max(initial=0.0))
        if load < UNLOADED * reference.run.scale.energy / reference.run.scale.length:
            raise ModelError(
                f"the loops of {self.start.mechanism.name!r} carry no load until {self.until:g} s (at most {load:.1g} "
                "N): any stiffness satisfies the error; use a motion that loads the loops"
            )
        columns: dict[str, list[float]] = {name: [] for name in COLUMNS}
        said = ""
        for i, k in enumerate(ks):
            tell(i + 1, len(ks) + 2, f"k = {number(k)}")
            run, failure = self.run(float(k), s_max)
            said = said or failure
            for name, value in _measured(run, self.damped(float(k), s_max), reference).items():
                columns[name].append(value)
        return columns, said

    def _fine(self, k: float, s_max: float, predicted: Callable[[float], float]) -> tuple[float, Run]:
        """The smallest stiffness that keeps the error, from a first guess, and its run."""
        error = self.error
        tried: dict[float, Run] = {}
        for _ in range(TRIES):
            if predicted(k) > 12 * self.solver.max_steps:
                raise ModelError(
                    f"a closure error of {error:g} needs springs of k = {number(k)}, and some {predicted(k):.2g} "
                    f"evaluations until {self.until:g} s: allow a larger error or more steps (max_steps of the "
                    "solver), or use cc.Multipliers(), which keeps loops closed"
                )
            run, failure = self.run(k, s_max)
            if run is None:
                raise RunError(
                    f"springs of k = {number(k)} for a closure error of {error:g} do not run: {failure}", None
                )
            tried[k] = run
            reached = float(run.closure_error.max())
            if CLOSE_ENOUGH * error <= reached <= error:
                break
            next_k = _round_up(k * reached / error)
            if next_k in tried or next_k == k:
                break
            k = next_k
        fine = [k for k, run in tried.items() if float(run.closure_error.max()) <= error]
        if not fine:
            raise ModelError(
                f"a closure error of {error:g} is not reached: {reached:.2g} is left with k = {number(k)}; rtol = "
                f"{self.rtol:g} does not resolve less, or the loops are opened by something else than their load"
            )
        return min(fine), tried[min(fine)]


# ---- the curve -------------------------------------------------------------------------------------------------------

COLUMNS = {
    "closure_error": {"units": "m or rad", "about": "largest gap of a loop over the run"},
    "closure_error_at_end": {
        "units": "m or rad",
        "about": "norm of all gaps at the end, (44) of Wang et al.",
    },
    "motion_error": {"units": "rad or m", "about": "largest error of a coordinate against the exact run"},
    "reaction_error": {
        "units": "1",
        "about": "of the closing forces after the start, over their largest value",
    },
    "damping": {"units": "N s/m or N m s/rad", "about": "b"},
    "steps": {"units": "1", "about": "accepted steps"},
    "evaluations": {"units": "1", "about": "of the right-hand side"},
    "seconds": {"units": "s", "about": "to march"},
}


def _measured(run: Run | None, b: float, reference: Reference) -> dict[str, float]:
    if run is None:
        return dict.fromkeys(COLUMNS, float("nan")) | {"damping": b}
    off, spent = reference.errors(run), cost(run)
    return {
        "closure_error": float(run.closure_error.max()),
        "closure_error_at_end": float(np.linalg.norm(run._outputs["c"][-1])),
        "motion_error": off.motion,
        "reaction_error": off.reaction,
        "damping": b,
        "steps": run.counts.steps,
        "evaluations": spent.evaluations,
        "seconds": spent.seconds,
    }


def _fit(k: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Slope and intercept of log10(y) over log10(k), in the stiffer half of the curve: soft springs let all fall."""
    half = slice(len(k) // 2 if len(k) > 3 else 0, None)
    slope, intercept = np.polyfit(np.log10(k[half]), np.log10(y[half]), 1)
    return float(slope), float(intercept)


def _where(k: np.ndarray, gap: np.ndarray, error: float, slope: float) -> float:
    """Stiffness at which the measured curve passes the wanted error; beyond its ends it goes on with the slope."""
    logs, wanted = np.log10(gap), np.log10(error)
    fall = min(slope, -0.2)
    if wanted < logs.min():
        return float(10 ** (np.log10(k[-1]) + (wanted - logs[-1]) / fall))
    below = np.flatnonzero(logs <= wanted)
    i = int(below[0])
    if i == 0:
        return float(10 ** (np.log10(k[0]) + (wanted - logs[0]) / fall))
    share = (logs[i - 1] - wanted) / (logs[i - 1] - logs[i])
    return float(10 ** (np.log10(k[i - 1]) + share * np.log10(k[i] / k[i - 1])))


def _round_up(k: float) -> float:
    """To two digits."""
    size = 10.0 ** (np.floor(np.log10(k)) - 1)
    return float(f"{np.ceil(k / size * (1 - 1e-9)) * size:.1e}")


def _exact_evaluations(start: State, until: float, solver: Solver, rtol: float) -> int:
    many = replace(solver, max_steps=max(solver.max_steps, Trial.solver.max_steps))
    outcome = attempt(start, until, Trial(Multipliers(), many, rtol))
    return cost(outcome.run).evaluations if outcome.run is not None and not outcome.failure else 0


def _dataset(
    ks: np.ndarray, columns: dict[str, list[float]], reference: Reference, run: Run, **more: Any
) -> xarray.Dataset:
    import xarray

    return xarray.Dataset(
        {name: ("stiffness", columns[name], about) for name, about in COLUMNS.items()},
        coords={"stiffness": ("stiffness", ks, {"units": "N/m or N m/rad"})},
        attrs={
            "mechanism": run.mechanism.name,
            "until": run.task.until,
            "reference": str(reference),
            "motion_error": reference.errors(run).motion,
            **more,
        },
    )
