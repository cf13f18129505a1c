"""The solution of a compiled program: segments of a march, each under one set of equations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from closedchain.errors import ModelError
from closedchain.integrate.solvers import SOLVERS
from closedchain.integrate.times import ListedTimes
from closedchain.integrate.trajectory import Counts, Failure, Status, total
from closedchain.march.judge.gaps import dropped_rows
from closedchain.march.marks import Divergence, Happening, SingularPoses
from closedchain.march.run_loop import March
from closedchain.march.segment import Segment
from closedchain.march.task import Task
from closedchain.model.mechanism import Mechanism
from closedchain.model.parts import Frame
from closedchain.pose.state import State
from closedchain.results import checks
from closedchain.results.beams.fields import BeamFields
from closedchain.results.beams.rigid_twin import RigidTwin, with_parameters
from closedchain.results.beams.shapes import beam_of_shapes
from closedchain.results.dataset import variables
from closedchain.results.diagnose import explain
from closedchain.results.evaluate import closing_forces, frame_motion, outputs
from closedchain.results.points import StatePoints
from closedchain.results.reactions.reactions import samples_of_segments
from closedchain.results.samples import Samples
from closedchain.results.solution import Pose, Solution, Variables

if TYPE_CHECKING:
    from closedchain.results.run import Run


class MarchSolution(Solution):
    """Segments of a march.

    Attributes
    ----------
    segments
        In order of time, one at least.
    program
        The compiled program of the first segment.
    from_cache
        Whether its machine code was there already.
    """

    def __init__(self, mechanism: Mechanism, segments: list[Segment], record: list[Happening], p: np.ndarray) -> None:
        self.mechanism, self.segments, self.record, self.p = mechanism, segments, record, p
        self.start, self.program = segments[0].start, segments[0].program
        self.method, self.equations = self.program.method, self.program.equations
        # the names that are in force now: the drawing may change later
        self.parameters = dict(zip(mechanism.parameters, p.tolist(), strict=False))
        self.from_cache = bool(self.program.rhs.timings.cached)

    def __getstate__(self) -> dict[str, Any]:
        # all else is computed again from the states
        own = ("mechanism", "segments", "record", "p", "parameters", "from_cache")
        return {name: getattr(self, name) for name in own}

    def __setstate__(self, own: dict[str, Any]) -> None:
        self.__init__(own["mechanism"], own["segments"], own["record"], own["p"])  # type: ignore[misc]
        vars(self).update(own)

    @property
    def march(self) -> MarchSolution:
        """Itself."""
        return self

    @cached_property
    def outputs(self) -> dict[str, np.ndarray]:
        """All standard results at the samples, see `results.evaluate`."""
        return outputs(self.segments)

    # ---- how it went -----------------------------------------------------------------------------------------------

    @property
    def shared_start(self) -> State:
        """The start, whose compiled equations other runs of a study share."""
        return self.start

    @cached_property
    def t(self) -> np.ndarray:
        """Sample times, s."""
        return np.concatenate([s.trajectory.t for s in self.segments])

    @cached_property
    def x(self) -> np.ndarray:
        """States at the samples: ``q``, ``v``, and the work ``W``."""
        return np.concatenate([s.program.whole(s.trajectory.t, s.trajectory.x, s.p) for s in self.segments])

    @cached_property
    def counts(self) -> Counts:
        """What all segments cost together."""
        return total([s.trajectory.counts for s in self.segments])

    @property
    def status(self) -> Status:
        """How the last segment ended."""
        return self.segments[-1].trajectory.status

    @property
    def message(self) -> str:
        """How the last segment ended, in words."""
        return self.segments[-1].trajectory.message

    @property
    def failure(self) -> Failure | None:
        """Where the last segment stopped before the end."""
        return self.segments[-1].trajectory.failure

    @property
    def seconds(self) -> float:
        """Spent in the solver."""
        return sum(s.trajectory.seconds for s in self.segments)

    @property
    def seconds_to_prepare(self) -> float:
        """What closing the loops and compiling took."""
        return self.program.seconds["close"] + self.program.seconds["compile"]

    @property
    def title(self) -> str:
        """The name of the method."""
        return type(self.method).__name__

    def metadata(self, run: Run) -> dict[str, Any]:
        """Solvers of all segments, closures, operations, and whether anything was compiled."""
        return {
            "solvers": ", ".join(dict.fromkeys(s.solver for s in self.segments)),
            "tolerance": self.mechanism.tolerance,
            "closures_not_solved": dropped_rows(self.program),
            **({"operations": self.program.rhs.counts.total} if run.partition is None else {}),
            "machine_code_from_cache": self.from_cache,
        }

    def citation(self, solver: str) -> str:
        """Where a solver comes from."""
        return SOLVERS[solver].citation

    # ---- at samples ------------------------------------------------------------------------------------------------

    def part(self, chosen: np.ndarray) -> MarchSolution:
        """The same at some samples; of samples on disk only these are read."""
        pieces, first = [], 0
        for s in self.segments:
            t = np.asarray(s.trajectory.t)
            here = chosen[(chosen >= first) & (chosen < first + len(t))] - first
            first += len(t)
            samples = replace(s.trajectory, t=t[here], x=np.asarray(s.trajectory.x[here]), sol=None)
            pieces.append(replace(s, trajectory=samples))
        part = MarchSolution(self.mechanism, pieces, self.record, self.p)
        part.parameters, part.from_cache = self.parameters, self.from_cache
        return part

    def state(self, index: int) -> State:
        """The state at a sample."""
        ends = np.cumsum([len(s.trajectory.t) for s in self.segments])
        number = int(np.searchsorted(ends, index, side="right"))
        piece = self.segments[number]
        at = index - (ends[number - 1] if number else 0)
        t = float(piece.trajectory.t[at])
        q, v, _ = piece.program.unpack(t, np.array(piece.trajectory.x[at]), self.p)
        return State(self.mechanism, q, v, dict(self.start.parameters), t, piece.start.open_joints)

    def between(self, t: np.ndarray) -> np.ndarray:
        """States between samples, if they were asked for."""
        if self.segments[0].trajectory.sol is None:
            raise ModelError(
                "the run keeps its samples only: simulate with "
                "solver=cc.solvers.DOP853(dense_output=True) to ask between them"
            )
        out = np.full((*t.shape, self.x.shape[1]), np.nan)
        for s in self.segments:
            sol = s.trajectory.sol
            if sol is not None:
                inside = (t >= min(sol.t[0], sol.t[-1])) & (t <= max(sol.t[0], sol.t[-1]))
                if inside.any():
                    out[inside] = s.program.whole(
                        t[inside], _put_back(s, t[inside], sol(t[inside])), s.held_inputs.at(t[inside])
                    )
        if np.isnan(out).any():
            end = self.segments[-1].trajectory.sol
            low, high = sorted((self.start.t, self.start.t if end is None else float(end.t[-1])))
            raise ModelError(f"the run goes from {low:g} to {high:g} s: there is no solution at some of {t}")
        return out

    def coordinates(self) -> dict[str, np.ndarray]:
        """Coordinates of all joints over time, by name."""
        labels = [label for joint in self.equations.topology.measured for label in joint.labels()]
        return dict(zip(labels, self.outputs["q"].T, strict=False))

    def variables(self, run: Run) -> tuple[Variables, dict[str, Any]]:
        """Coordinates, rates, efforts, multipliers, energies and errors over time."""
        return variables(run, self.outputs)

    def frame(self, frame: Frame) -> Pose:
        """Motion of a frame."""
        return frame_motion(self.mechanism, self.segments, frame)

    def points(self, which: Sequence[int]) -> StatePoints:
        """Where points of bodies are at some samples; flexible ones ride on floating frames."""
        states = [with_parameters(self.state(int(k)), self.parameters) for k in which]
        return StatePoints(states, self.equations, self.p)

    def _samples(self) -> list[Samples]:
        return samples_of_segments(self.segments, self.outputs)

    def beam(self, body: str, x: Any, forces: str) -> BeamFields:
        """Displacements and section forces along a flexible body, from its shapes."""
        return beam_of_shapes(self, self.mechanism, body, x, forces)

    def closing_forces(self) -> np.ndarray:
        """``A' lam`` at the samples, (time, velocities)."""
        return closing_forces(self.segments)

    # ---- with rigid links, and once more ---------------------------------------------------------------------------

    def rigid_start(self, task: Task) -> tuple[State, dict[str, Any]]:
        """The start with rigid links; method, solver and limits of the run."""
        start = RigidTwin.of(self.mechanism).state(with_parameters(self.start, self.parameters), moving=True)
        return start, {
            "method": task.method,
            "solver": replace(task.solver, dense_output=False),
            "rtol": task.rtol,
            "atol": task.atol,
            "events": (*task.events, SingularPoses(task.singularity), Divergence(task.divergence)),
        }

    def rigid_pose(self, frame: Frame) -> tuple[np.ndarray, np.ndarray]:
        """A frame of the rigid twin with motors at the same coordinates."""
        twin = RigidTwin.of(self.mechanism)
        beside = [with_parameters(self.state(k), self.parameters) for k in range(len(self.t))]
        return twin.samples(beside).pose(twin.frame(frame))

    def again(self, task: Task) -> MarchSolution:
        """March once more, with nothing but the solver: no samples, no events."""
        bare = replace(task, times=ListedTimes(np.empty(0)), events=(), singularity="pass", saving=None)
        bare = replace(bare, solver=replace(task.solver, dense_output=False))
        march = March(self.start, bare, self.program)
        march.run()
        return MarchSolution(self.mechanism, march.segments, march.record, self.p)

    def operations(self, each: float) -> float:
        """Of evaluations and corrections; nan for implicit solvers, which spend most on linear equations."""
        if any(SOLVERS[s.solver].implicit for s in self.segments):
            return float("nan")
        corrections = [(s.trajectory.counts.corrections, s.program.correct) for s in self.segments]
        return self.counts.evaluations * each + sum(n * f.counts.total for n, f in corrections if f)

    # ---- is it good ------------------------------------------------------------------------------------------------

    def complaints(self, run: Run) -> list[str]:
        """What is worse than the tolerance promises."""
        return checks.complaints(run, self.outputs)

    def explanation(self, run: Run) -> str:
        """Why the run ended early."""
        return explain(run)


def _put_back(segment: Segment, t: np.ndarray, x: np.ndarray) -> np.ndarray:
    """States between steps on closed loops, as samples are."""
    correct = segment.program.correct
    if correct is None or segment.program.guarded:
        return x
    p = segment.held_inputs.at(t[:1])
    for _ in range(2):
        x = correct.batch(t, x, p if p.ndim == 1 else p[0])[0]
    return x
