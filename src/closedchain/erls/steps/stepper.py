"""`ErlsStepper`: the steps of finite elements, made by the kernels of `esdirk` and `alpha`, for the loop of all runs.

The state is ``x = (y, y', y'')``, (3, n). Inputs are the parameters of the native functions (`inputs`). The error of a
step is measured by the displacements alone, see `tolerances`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from closedchain.erls.kernels import compiled as kernels
from closedchain.erls.steps import alpha, esdirk, records
from closedchain.erls.system import System
from closedchain.erls.workspace import Workspace
from closedchain.errors import ModelError
from closedchain.integrate.solvers import ESDIRK4, GeneralisedAlpha, Solver
from closedchain.integrate.stepper import Accepted, Inputs, RecordedStepper
from closedchain.integrate.trajectory import Counts, Status
from closedchain.pose.size import drawn_scale

UNHEALTHY = 1e-2  # determinant of the zeroed block of J, over that at the start, at which a run is stopped
SINGULAR = 1e-4  # smallest relative pivot of the closures: the same
ATTEMPTS = 100  # between two looks at progress, Ctrl-C, and whether the motion runs away

COUNTS = np.dtype([("evaluations", "i8"), ("corrections", "i8")])

METHODS = {ESDIRK4.name: (esdirk.advance, esdirk.ROWS), GeneralisedAlpha.name: (alpha.advance, alpha.ROWS)}
"""What makes steps, by the solver's name, and how many rows of workspace it needs"""


class ErlsStepper(RecordedStepper):
    """Makes the steps of a run of a `System`.

    Attributes
    ----------
    ws : the kernels' memory; its tree is the rigid-link system at the time reached.
    run : the arrays that the kernels take.
    free : whether the first step is chosen here, and not by the user.
    o, s, m : the records of options, state and memory in it.
    """

    def __init__(self, system: System, until: float, atol: float, solver: Solver) -> None:
        self.system, self.ws = system, Workspace(system)
        self.kernel, rows = METHODS[solver.name]
        self.max_steps, lengths = solver.max_steps, solver.lengths
        self.free = lengths.first is None
        n, t0 = system.n, system.start.t
        y, v = system.begin()
        a = accelerations(self.ws, t0, y, v)
        functions = (kernels.residual, kernels.linearise, kernels.factor, kernels.solve, kernels.close)
        self.run = run = records.RunArrays(
            functions=np.array([f.address for f in functions], np.int64),
            table=self.ws.table,
            scale=tolerances(system, atol),
            x=np.array([y, v, np.zeros(n) if a is None else a]),
            end=np.zeros((3, n)),
            work=np.zeros((rows, n)),
            r=np.zeros(n),
            samples=self._room(np.empty(0)),
            ends=np.zeros(ATTEMPTS),
            options=np.zeros(1, records.OPTIONS),
            state=np.zeros(1, records.STATE),
            memory=np.zeros(1, records.MEMORY),
        )
        self.x = run.x
        run.work[alpha.EARLIER] = run.x[2]
        o, s, m = self.o, self.s, self.m = run.options[0], run.state[0], run.memory[0]
        o["max_step"], o["attempts"], o["max_steps"] = lengths.longest, ATTEMPTS, solver.max_steps
        o["healthy"], o["closed"], o["fixed"] = UNHEALTHY, SINGULAR, lengths.fixed is not None
        o["rho"] = 1.0 if system.method.rho_inf is None else system.method.rho_inf
        s["t"], s["h_min"], s["power"] = t0, np.inf, self.ws.room.work.sum()
        s["status"] = Status.running if a is not None else Status.nan
        m["health"], m["closed"] = 1.0, 1.0
        # an error of the velocities counts as what it does to positions in the mechanism's time, or in the run
        m["time"] = min(until - t0, drawn_scale(system.e, system.p).time)
        s["h"] = lengths.fixed or lengths.first or min(0.1 * (until - t0), careful(run.x[2], run.scale))

    # ---- where it is -------------------------------------------------------------------------------------------------

    @property
    def tree(self) -> np.ndarray:
        """Coordinates of the rigid-link system at the time reached."""
        return self.ws.room.tree.q

    @property
    def work(self) -> float:
        """Done on the mechanism until now, J."""
        return float(self.s["W"])

    def counts(self, dropped: int = 0) -> Counts:
        """See `Stepper`."""
        s, m, counts = self.s, self.m, self.ws.room.counts
        return Counts(
            steps=int(s["steps"]) - dropped,
            rejections=int(s["rejections"]),
            evaluations=int(counts[0]),
            corrections=int(counts[1]),
            smallest_step=float(s["h_min"]) if s["steps"] else np.nan,
            largest_step=float(s["h_max"]) if s["steps"] else np.nan,
            jacobians=int(m["linearisations"]),
            factorisations=int(m["factorisations"]),
            iterations=int(m["iterations"]),
        )

    # ---- steps -------------------------------------------------------------------------------------------------------

    def settle(self) -> None:
        """See `Stepper`; the loops are closed."""
        s, samples = self.s, self.run.samples
        if len(samples.t) and samples.t[0] == s["t"]:
            samples.x[0], samples.trees[0] = self.x, self.tree
            s["next"] = 1

    def begin(self, end: float, inputs: Inputs | None) -> None:
        """See `Stepper`; a first step of the user's stays."""
        a = self._renewed(end, inputs)
        if a is not None and self.free:
            self._shorten(a)

    def advance(self) -> None:
        """See `Stepper`."""
        self.kernel(self.run)

    def go_on(self, end: float, inputs: Inputs | None) -> None:
        """See `Stepper`; steps that suited the old inputs may be much too long for what a jump of them excites."""
        a = self._renewed(end, inputs)
        if a is not None:
            self._shorten(a)

    def _renewed(self, end: float, inputs: Inputs | None) -> np.ndarray | None:
        """Accelerations, which jump with the inputs; None if there are no new ones, or nothing is determined."""
        self.o["end"] = end
        if inputs is None:
            return None
        room, s, x = self.ws.room, self.s, self.x
        for name, w in inputs.items():
            np.copyto(getattr(room, name).w, w)
        a = accelerations(self.ws, float(s["t"]), x[0], x[1])
        if a is None:
            self.status = Status.nan
            return None
        x[2] = a
        self.run.work[alpha.EARLIER], s["power"], s["h_old"], self.m["usable"] = a, room.work.sum(), 0.0, 0
        return a

    def _shorten(self, a: np.ndarray) -> None:
        """Limit the next step by what accelerations move, unless all steps have one length."""
        if not self.o["fixed"]:
            self.s["h"] = min(self.s["h"], careful(a, self.run.scale))

    def pause_after(self, steps: int) -> None:
        """See `Stepper`; it pauses after so many attempts as one call of its kernel makes."""

    def at_pause(self, steps: int) -> bool:
        """See `Stepper`."""
        return True

    def accepted(self, booked: int) -> Accepted:
        """See `Stepper`; neither states nor polynomials are kept."""
        n = self.steps - booked
        return Accepted(self.run.ends[:n].copy(), np.empty((n, 0)), np.empty((n, 0)))

    # ---- samples -----------------------------------------------------------------------------------------------------

    def _room(self, times: np.ndarray) -> records.SampleRoom:
        m, system = len(times), self.system
        tree = system.e.topology.nq
        return records.SampleRoom(times, np.zeros((m, 3, system.n)), np.zeros((m, tree)), np.zeros((m, 2)))

    def open_window(self, times: np.ndarray, more: bool) -> None:
        """See `Stepper`; all samples are kept in one window."""
        if more:
            raise ModelError("a run with cc.ERLS(...) keeps its samples in memory: it cannot be saved on the way")
        self.run = self.run._replace(samples=self._room(times))
        self.s["next"] = 0

    def taken(self) -> tuple[np.ndarray, np.ndarray]:
        """See `Stepper`."""
        reached = int(self.s["next"])
        return self.run.samples.t[:reached], self.run.samples.x[:reached]

    def beside(self) -> tuple[np.ndarray, np.ndarray]:
        """Of the samples taken the rigid-link system (m, tree), and work and length of the step around (m, 2)."""
        reached = int(self.s["next"])
        return self.run.samples.trees[:reached], self.run.samples.works[:reached]

    # ---- checkpoints -------------------------------------------------------------------------------------------------

    def arrays(self) -> dict[str, np.ndarray]:
        """See `Stepper`; with the derivatives and factors that later steps use again."""
        run, ws = self.run, self.ws
        found = {"x": run.x, "work": run.work, "options": run.options, "state": run.state, "memory": run.memory}
        for name, part in (("room", ws.room), ("linear", ws.linear), ("factors", ws.factors), ("kept", ws.kept)):
            found |= _arrays(name, part)
        found["room.counts"] = ws.room.counts.view(COUNTS)  # numbers, no indices
        return found

    def restored(self) -> None:
        """See `Stepper`."""


def _arrays(name: str, part: Any) -> dict[str, np.ndarray]:
    """The arrays of nested tuples by their names; not the inputs."""
    if isinstance(part, np.ndarray):
        return {} if name.endswith(".w") else {name: part}
    return {key: x for field, value in part._asdict().items() for key, x in _arrays(f"{name}.{field}", value).items()}


def tolerances(system: System, atol: float) -> np.ndarray:
    """Tolerance of each entry of y: metres for displacements, and for angles those that move the longest beam so
    far.
    """
    return atol * system.sizes / system.longest


def accelerations(ws: Workspace, t: float, y: np.ndarray, v: np.ndarray) -> np.ndarray | None:
    """Accelerations at a state: the residual is linear in them. None if they are not determined."""
    a = np.zeros_like(y)
    if not (ws.linearise(t, y, v, a) and ws.factor(1.0, 0.0, 0.0)):
        return None
    for _ in range(2):
        a = a - ws.solve(ws.residual(t, y, v, a))
    return a if np.isfinite(a).all() else None


def careful(a: np.ndarray, scale: np.ndarray) -> float:
    """A step in which accelerations move nothing by more than about its tolerance."""
    return float(1.0 / np.sqrt(max(np.max(np.abs(a) / scale, initial=0.0), 1e-300)))
