"""A `Run`: what a simulation produced, as a dataset, with its checks."""

from __future__ import annotations

import platform
from dataclasses import asdict, replace
from functools import cached_property
from importlib import metadata
from typing import TYPE_CHECKING, Any

import numpy as np

from closedchain._version import __version__
from closedchain.errors import ModelError
from closedchain.integrate.solvers import SOLVERS
from closedchain.integrate.trajectory import Counts, Status, total
from closedchain.march.judge.gaps import dropped_rows
from closedchain.march.marks import Happening
from closedchain.march.run_loop import Task
from closedchain.march.segment import Segment
from closedchain.model.mechanism import Mechanism
from closedchain.model.parts import Body, Frame
from closedchain.model.values import suggest
from closedchain.native import engine
from closedchain.pose.size import Scale, drawn_scale
from closedchain.pose.state import State
from closedchain.results import checks
from closedchain.results.evaluate import frame_motion, outputs
from closedchain.results.tables import Tables

if TYPE_CHECKING:
    import xarray

    from closedchain.close.formulation import Formulation
    from closedchain.cut.topology import Topology
    from closedchain.look.animation import animate
    from closedchain.look.plots.variables import plot
    from closedchain.look.sketch import plot_deformed
    from closedchain.results.beams.deflection import beam, deflection, stress, tip_deflection
    from closedchain.results.reactions.balance import balance
    from closedchain.results.reactions.reactions import reaction, reaction_table
    from closedchain.results.samples import Samples


def _put_back(segment: Segment, t: np.ndarray, x: np.ndarray) -> np.ndarray:
    """States between steps on closed loops, as samples are."""
    correct = segment.program.correct
    if correct is None or segment.program.guarded:
        return x
    p = segment.holding.at(t[:1])
    for _ in range(2):
        x = correct.batch(t, x, p if p.ndim == 1 else p[0])[0]
    return x


MANY = 20_000  # samples: with more, the checks look at some


class Run(Tables):
    """A simulated motion.

    ``run["O"]`` is the coordinate of joint O over time, ``run["O'"]`` its velocity, ``run["O''"]`` its acceleration;
    ``run.dataset`` holds all of it with units. ``run.complete`` tells whether the end was reached, and
    ``run.complaints()`` what is worse than the tolerance promises.
    """

    if TYPE_CHECKING:  # attached by `closedchain.verbs`
        reaction = reaction
        reactions = reaction_table
        balance = balance
        beam = beam
        deflection = deflection
        stress = stress
        tip_deflection = tip_deflection
        plot = plot
        plot_deformed = plot_deformed
        animate = animate

    def __init__(
        self,
        mechanism: Mechanism,
        segments: list[Segment],
        record: list[Happening],
        p: np.ndarray,
        task: Task,
        seconds: dict[str, float],
    ) -> None:
        self.mechanism = mechanism
        self.segments = segments
        self.record = record
        self.p = p
        self.task = task
        self.seconds = seconds
        self.partition = None if task.team is None else task.team.account  # of limbs on several processors
        self._reactions: dict[Any, Any] = {}  # of all joints, by the stiffness they were asked for
        self.start = segments[0].start
        self.program = segments[0].program
        self.solver, self.rtol, self.atol = task.solver, task.rtol, task.atol
        self.from_cache = bool(self.program.rhs.timings.cached)  # whether its machine code was there already
        # the names that were in force when the run was made: the drawing may change later
        self.parameters = dict(zip(mechanism.parameters, p.tolist(), strict=False))

    def __getstate__(self) -> dict[str, Any]:
        # what was asked for is computed again: the states are all that is needed
        own = ("mechanism", "segments", "record", "p", "task", "seconds", "partition", "parameters", "from_cache")
        return {name: getattr(self, name) for name in own}

    def __setstate__(self, own: dict[str, Any]) -> None:
        self.__init__(own["mechanism"], own["segments"], own["record"], own["p"], own["task"], own["seconds"])  # type: ignore[misc]
        vars(self).update(own)

    # ---- what happened ---------------------------------------------------------------------------------------------

    @property
    def topology(self) -> Topology:
        """The mechanism with its loops cut."""
        return self.program.equations.topology

    @property
    def method(self) -> Formulation:
        """How loops are closed."""
        return self.program.method

    @cached_property
    def scale(self) -> Scale:
        """Length, mass and time of the mechanism, by which its errors are judged."""
        return drawn_scale(self.program.equations, self.p, self.task.until - self.start.t)

    @cached_property
    def t(self) -> np.ndarray:
        """Sample times, s."""
        return np.concatenate([s.trajectory.t for s in self.segments])

    @cached_property
    def x(self) -> np.ndarray:
        """States at the samples: ``q``, ``v``, and the work ``W``."""
        return np.concatenate([s.program.whole(s.trajectory.t, s.trajectory.x, s.p) for s in self.segments])

    @property
    def status(self) -> Status:
        """How the run ended."""
        return self.segments[-1].trajectory.status

    @property
    def message(self) -> str:
        """How the run ended, in words."""
        return self.segments[-1].trajectory.message

    @property
    def complete(self) -> bool:
        """Whether the run reached its end, or the event that was to stop it."""
        return self.status in (Status.finished, Status.event)

    @cached_property
    def counts(self) -> Counts:
        """What the run cost, all pieces together."""
        return total([s.trajectory.counts for s in self.segments])

    def sol(self, t: Any) -> np.ndarray:
        """The state between samples, if the run was made with ``dense_output=True``."""
        if self.segments[0].trajectory.sol is None:
            raise ModelError("the run keeps its samples only: simulate with dense_output=True to ask between them")
        t = np.asarray(t, float)
        out = np.full((*t.shape, self.x.shape[1]), np.nan)
        for s in self.segments:
            sol = s.trajectory.sol
            if sol is not None:
                inside = (t >= min(sol.t[0], sol.t[-1])) & (t <= max(sol.t[0], sol.t[-1]))
                if inside.any():
                    out[inside] = s.program.whole(
                        t[inside], _put_back(s, t[inside], sol(t[inside])), s.holding.at(t[inside])
                    )
        if np.isnan(out).any():
            end = self.segments[-1].trajectory.sol
            low, high = sorted((self.start.t, self.start.t if end is None else float(end.t[-1])))
            raise ModelError(f"the run goes from {low:g} to {high:g} s: there is no solution at some of {t}")
        return out

    @cached_property
    def _outputs(self) -> dict[str, np.ndarray]:
        return outputs(self.segments)

    @cached_property
    def dataset(self) -> xarray.Dataset:
        """Everything over time, with units and the run's metadata in the attributes."""
        from closedchain.results.dataset import dataset

        return dataset(self, self._outputs)

    def __getitem__(self, name: str) -> xarray.DataArray:
        if name not in self.dataset:
            raise ModelError(f"the run has no variable {name!r}{suggest(name, self.dataset.data_vars)}")
        return self.dataset[name]

    def state(self, index: int = -1) -> State:
        """The state at one of the samples, to start from or to look at."""
        if not isinstance(index, int | np.integer) or not -len(self.t) <= index < len(self.t):
            raise ModelError(
                f"the run has {len(self.t)} samples: its states are numbered 0 to {len(self.t) - 1}, not {index!r}"
            )
        ends = np.cumsum([len(s.trajectory.t) for s in self.segments])
        number = int(np.searchsorted(ends, index % len(self.t), side="right"))
        piece = self.segments[number]
        at = index % len(self.t) - (ends[number - 1] if number else 0)
        t = float(piece.trajectory.t[at])
        q, v, _ = piece.program.unpack(t, np.array(piece.trajectory.x[at]), self.p)
        return State(self.mechanism, q, v, dict(self.start.parameters), t, piece.start.open_joints)

    def window(self, begin: float | None = None, until: float | None = None, every: int = 1) -> Run:
        """A part of the run: samples between two times, or every so manieth of them.

        Of a run that was saved to disk only this part is read.
        """
        if not isinstance(every, int) or every < 1:
            raise ModelError(f"every takes a whole number of samples, not {every!r}")
        low = -np.inf if begin is None else begin
        high = np.inf if until is None else until
        pieces, passed = [], 0
        for s in self.segments:
            t = np.asarray(s.trajectory.t)
            inside = np.flatnonzero((t >= min(low, high)) & (t <= max(low, high)))
            chosen = inside[(inside + passed) % every == 0]
            passed += len(t)
            part = replace(s.trajectory, t=t[chosen], x=np.asarray(s.trajectory.x[chosen]), sol=None)
            pieces.append(replace(s, trajectory=part))
        if not any(len(s.trajectory.t) for s in pieces):
            raise ModelError(
                f"the run has no sample between {low:g} and {high:g} s: it goes from {self.t[0]:g} to {self.t[-1]:g}"
            )
        return Run(self.mechanism, pieces, self.record, self.p, self.task, self.seconds)

    def thinned(self, most: int = MANY) -> Run:
        """The run itself, or at most so many of its samples, equally spread."""
        return self if len(self.t) <= most else self.window(every=-(-len(self.t) // most))

    def frame(self, frame: Frame | Body | str) -> xarray.Dataset:
        """Position, rotation, velocity and angular velocity of a frame or body over time, in world axes.

        ``frame`` is a `Frame`, a body's name, or ``"body.frame"``.
        """
        if isinstance(frame, Body):
            frame = frame["origin"]
        return frame_motion(self, frame if isinstance(frame, Frame) else self.mechanism.find_frame(frame))

    def _samples(self) -> list[Samples]:
        from closedchain.results.reactions.reactions import samples_of_run

        return samples_of_run(self)

    # ---- is it good ------------------------------------------------------------------------------------------------

    @property
    def closure_error(self) -> xarray.DataArray:
        """Largest gap of all loops at each time, m or rad, in rows that are not solved as well."""
        return self.dataset["closure_error"]

    @property
    def energy_error(self) -> xarray.DataArray:
        """Energy that came from nowhere: ``E(t) - E(0) - W(t)``, J."""
        return self.dataset["energy_error"]

    def complaints(self) -> list[str]:
        """What is worse than the tolerance promises; empty for a good run. Of very many samples some are looked at."""
        run = self.thinned()
        return checks.complaints(run, run._outputs)

    @property
    def good(self) -> bool:
        """Whether the run is complete and keeps what its tolerance promises."""
        return self.complete and not self.complaints()

    @property
    def metadata(self) -> dict[str, Any]:
        """Method, solver, tolerances, counts, times and versions."""
        return {
            "mechanism": self.mechanism.name,
            "method": repr(self.task.method),
            "solver": self.solver,
            "solvers": ", ".join(dict.fromkeys(s.solver for s in self.segments)),
            "rtol": self.rtol,
            "atol": "rtol of sizes" if self.atol is None else self.atol,
            "tolerance": self.mechanism.tolerance,
            "closures_not_solved": dropped_rows(self.program),
            "status": self.status.name,
            "message": self.message,
            **asdict(self.counts),
            **({"operations": self.program.rhs.counts.total} if self.partition is None else {}),
            **{f"seconds_{k}": v for k, v in self.seconds.items()},
            "machine_code_from_cache": self.from_cache,
            **({} if self.partition is None else {"partition": str(self.partition)}),
            **engine.described(),
            "closedchain": __version__,
            "python": platform.python_version(),
            **{name: metadata.version(name) for name in ("numpy", "casadi", "numba", "llvmlite")},
        }

    def citation(self) -> str:
        """What to cite for this run."""
        software = f"closedchain {__version__}: dynamics of robots and mechanisms with closed kinematic loops"
        return f"{self.program.method.citation()}\n{SOLVERS[self.solver].citation}\n{software}"

    # ---- taking it away --------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        counts = self.counts
        end = f"to t = {self.t[-1]:.6g} s" if len(self.t) else "without a sample"
        return (
            f"Run({self.mechanism.name!r} {end}, {type(self.program.method).__name__} with {self.solver}, "
            f"{counts.steps} steps, {counts.evaluations} evaluations{'' if self.complete else ', INCOMPLETE'})"
        )
