"""`CompiledStepper`: the steps of the solvers of `SOLVERS`, made by their jitted `advance`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from closedchain.arguments import positive, vector, whole
from closedchain.errors import ModelError
from closedchain.integrate import implicit, linear, project, step_control
from closedchain.integrate.hooks import Hooks
from closedchain.integrate.problem import Correction, Jacobian, Problem, Tolerances
from closedchain.integrate.solvers import Solver, StepControlled
from closedchain.integrate.step_control import Equations, KeptSteps, RunArrays, SampleRoom
from closedchain.integrate.stepper import Accepted, Inputs, RecordedStepper
from closedchain.integrate.structure import LEAST, structure
from closedchain.integrate.times import fixed_steps
from closedchain.integrate.trajectory import Counts, Status

# sizes and addresses of this process, whatever they were where a run was saved
OWN = ("attempts", "keep_states", "keep_dense", "team", "corners")


class CompiledStepper(RecordedStepper):
    """Makes steps by a solver's kernel; see the essay in `integrate.solvers`.

    Attributes
    ----------
    kernel : the jitted `advance`.
    equations, samples, run, kept, extra : named tuples of arrays, the arguments of the kernel.
    o, s : the records of options and state in ``run``.
    rows : polynomial of the last step.
    """

    def __init__(
        self,
        solver: Solver,
        problem: Problem,
        x0: Any,
        t_span: tuple[float, float],
        tolerances: Tolerances,
        hooks: Hooks,
        keep_states: bool,
    ) -> None:
        self.solver = solver
        advance, home = solver.load()
        self.kernel = _entry(advance)
        x = vector("x0", x0).copy()
        if x.size == 0:
            raise ModelError("x0 is empty: there is nothing to integrate")
        if not problem.rhs:
            raise ModelError("rhs is the address 0")
        correction = problem.correction or Correction(0)
        w = vector("w", problem.w).copy()
        w_correct = w if correction.w is None else vector("w_correct", correction.w).copy()
        atol = _checked(tolerances, x.size)

        options = _options(problem, correction, tolerances, atol, t_span)
        self.o = o = options[0]
        o["max_steps"], o["attempts"] = solver.max_steps, whole("steps_per_call", hooks.steps_per_call, 1)
        o["keep_states"] = keep_states
        o["keep_dense"] = solver.dense_output or hooks.finds_events
        o["detect_stiffness"] = hooks.detects_stiffness
        if isinstance(solver, StepControlled):
            o["max_step"], o["first_step"] = solver.max_step, solver.first_step or 0.0
        self.max_steps = solver.max_steps

        state = np.zeros(1, step_control.STATE)
        self.s = s = state[0]
        s["t"], s["err_old"], s["h_min"], s["bad_index"] = t_span[0], 1e-4, np.inf, -1
        s["cause"], s["pivot"] = Status.step_too_small, 1.0

        self.extra: tuple[Any, ...] = ()
        if solver.needs == "jacobian":
            made = _implicit(solver, problem, w, x.size, float(o["time"]))
            atol = np.where(made.plan.mass > 0, atol, np.inf)  # algebraic states count in no norm
            self.extra = (made,)
        elif problem.extra is not None:
            self.extra = (problem.extra,)

        n, attempts = x.size, int(o["attempts"])
        self.x = x
        self.equations = Equations(problem.rhs, correction.address, w, w_correct, atol)
        self.run = RunArrays(options, state, x, np.zeros((home.WORK_ROWS, n)))
        self.rows = self.run.work[home.WORK_ROWS - home.DENSE_ROWS :]  # the polynomial of a step comes last
        self.kept = KeptSteps(
            np.empty(attempts),
            np.empty((attempts if o["keep_states"] else 0, n)),
            np.empty((attempts if o["keep_dense"] else 0, home.DENSE_ROWS, n)),
        )
        self.own = {name: int(o[name]) for name in OWN}

    # ---- where it is -------------------------------------------------------------------------------------------------

    @property
    def bad_index(self) -> int | None:
        """See `Stepper`."""
        index = int(self.s["bad_index"])
        return index if index >= 0 else None

    @property
    def pivot(self) -> float:
        """See `Stepper`."""
        return float(self.s["pivot"])

    def counts(self, dropped: int = 0) -> Counts:
        """See `Stepper`."""
        s, memory = self.s, self._memory()
        return Counts(
            int(s["steps"]) - dropped,
            *(int(s[name]) for name in ("rejections", "evaluations", "corrections")),
            *(float(s[name]) if s["steps"] else np.nan for name in ("h_min", "h_max")),
            *(() if memory is None else (int(memory["jacobians"]), int(memory["factorisations"]))),
        )

    def _memory(self) -> Any:
        """The record of what an implicit solver remembers; None for others."""
        return self.extra[0].memory[0] if self.extra and hasattr(self.extra[0], "memory") else None

    # ---- steps -------------------------------------------------------------------------------------------------------

    def settle(self) -> None:
        """See `Stepper`."""
        e = self.equations
        project.settle(e.correct, e.w, e.w_correct, e.atol, self.run.options, self.run.state, self.x)
        if len(self.samples.t_eval) and self.samples.t_eval[0] == self.s["t"]:
            self.samples.x[0] = self.x
            self.s["next_sample"] = 1

    def begin(self, end: float, inputs: Inputs | None) -> None:
        """See `Stepper`."""
        self._take(inputs)
        self._aim(end)
        e, run = self.equations, self.run
        order = float(self.solver.error_order)
        step_control.begin(e.rhs, e.w, e.atol, run.options, run.state, run.x, run.work, order)

    def advance(self) -> None:
        """See `Stepper`."""
        self.kernel(self.equations, self.samples, self.run, self.kept, *self.extra)

    def go_on(self, end: float, inputs: Inputs | None) -> None:
        """See `Stepper`."""
        s, e, run = self.s, self.equations, self.run
        self._take(inputs)
        self._aim(end)
        s["h"] = max(s["h"], s["wanted"])  # the last step was shortened to end here
        if not inputs:
            return
        s["restarted"], s["err_old"] = 1, 1e-4
        memory = self._memory()
        if memory is not None:
            memory["age"], memory["h"], memory["h_shape"] = implicit.STALE, 0.0, 0.0
        step_control.renew(e.rhs, e.w, run.options, run.state, run.x, run.work)

    def _take(self, inputs: Inputs | None) -> None:
        arrays = {"w": self.equations.w, "w_correct": self.equations.w_correct}
        if self.extra:
            arrays["w_extra"] = self.extra[0].w
        for name, values in (inputs or {}).items():
            np.copyto(arrays[name], values)

    def _aim(self, end: float) -> None:
        """Steps from here on end at a time; fixed ones are fitted to it."""
        o, s = self.o, self.s
        o["t0"], o["t1"] = s["t"], end
        step = self.solver.lengths.fixed
        if step is not None:
            o["fixed_steps"], o["step"] = fixed_steps(step, abs(end - float(s["t"])))
            o["steps_before"] = s["steps"]

    def pause_after(self, steps: int) -> None:
        """See `Stepper`."""
        self.o["look_at"] = steps

    def accepted(self, booked: int) -> Accepted:
        """See `Stepper`."""
        done = self.steps - booked
        return Accepted(*(array[:done].copy() for array in self.kept))

    # ---- samples -----------------------------------------------------------------------------------------------------

    def open_window(self, times: np.ndarray, more: bool) -> None:
        """See `Stepper`."""
        self.samples = SampleRoom(times, np.empty((len(times), self.x.size)))
        self.o["more_samples"] = more
        self.s["next_sample"], self.s["full"] = 0, 0

    def taken(self) -> tuple[np.ndarray, np.ndarray]:
        """See `Stepper`."""
        reached = int(self.s["next_sample"])
        return self.samples.t_eval[:reached], self.samples.x[:reached]

    @property
    def full(self) -> bool:
        """See `Stepper`."""
        return bool(self.s["full"])

    def fill_window(self) -> None:
        """See `Stepper`."""
        project.more_samples(self.equations, self.samples, self.run, self.rows)

    # ---- checkpoints -------------------------------------------------------------------------------------------------

    def arrays(self) -> dict[str, np.ndarray]:
        """See `Stepper`."""
        run = self.run
        found = {"options": run.options, "state": run.state, "x": run.x, "work": run.work}
        for extra in self.extra:
            found |= _arrays("extra", extra)
        return found

    def restored(self) -> None:
        """See `Stepper`."""
        for name, value in self.own.items():
            self.o[name] = value


def _entry(advance: Any) -> Any:
    """A jitted function without Numba's look at the types of its arguments, which takes long for named tuples."""
    (compiled,) = advance.overloads.values()
    return compiled.entry_point


def _arrays(name: str, values: NamedTuple) -> dict[str, np.ndarray]:
    """The arrays of named tuples by their names; not the inputs."""
    found: dict[str, np.ndarray] = {}
    for key, value in values._asdict().items():
        if isinstance(value, tuple):
            found |= _arrays(f"{name}.{key}", value)  # type: ignore[arg-type]
        elif isinstance(value, np.ndarray) and key != "w":
            found[f"{name}.{key}"] = value
    return found


def _checked(tolerances: Tolerances, n: int) -> np.ndarray:
    """Absolute tolerances (n,)."""
    atol, rtol = vector("atol", tolerances.atol, n), tolerances.rtol
    if not rtol >= 0 or np.any(atol < 0) or np.any((atol == 0) & (rtol == 0)):
        raise ModelError("rtol and atol must not be negative, nor both zero")
    return atol


def _options(
    problem: Problem, correction: Correction, tolerances: Tolerances, atol: np.ndarray, t_span: tuple[float, float]
) -> np.ndarray:
    """One record of options, with everything that does not belong to the solver."""
    t0, t1 = t_span
    options = np.zeros(1, step_control.OPTIONS)
    o = options[0]
    o["t0"], o["t1"], o["direction"] = t0, t1, 1.0 if t1 >= t0 else -1.0
    o["rtol"] = tolerances.rtol
    o["asked"] = max(tolerances.rtol, np.min(atol)) if tolerances.relative is None else tolerances.relative
    o["newton_tol"] = 0.0 if tolerances.newton is None else positive("Tolerances.newton", tolerances.newton)
    o["time"] = positive("Problem.time", abs(t1 - t0) or 1.0 if problem.time is None else problem.time, infinite=True)
    o["correct_tol"] = positive("Correction.tolerance", correction.tolerance)
    o["correct_samples"] = correction.samples
    o["min_pivot"], o["least_pivot"], o["team"] = problem.pivot_after, problem.pivot_before, problem.team
    for name, value in (problem.corners or {}).items():
        o[name] = value
    return options


def _implicit(solver: Solver, problem: Problem, w: np.ndarray, n: int, time: float) -> implicit.Linearisation:
    """The last argument of the kernels of implicit solvers: Jacobian, structure, room and memory."""
    jacobian = problem.extra
    if not isinstance(jacobian, Jacobian) or not jacobian.address:
        raise ModelError(f"{solver.name} is implicit and needs the Jacobian: say Problem(extra=Jacobian(...))")
    plan = structure(np.ones((n, n), bool)) if jacobian.structure is None else jacobian.structure
    plan = plan._replace(slowest=np.array([LEAST / time]))
    memory = np.zeros(1, implicit.MEMORY)
    memory[0]["age"], memory[0]["safety"], memory[0]["limit"] = implicit.STALE, 1.0, np.inf
    w = w if jacobian.w is None else vector("w_extra", jacobian.w).copy()
    return implicit.Linearisation(jacobian.address, w, plan, linear.room(plan, n), memory)
