"""The solution by an equivalent rigid-link system: samples of finite elements."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from closedchain.erls.beams import end_forces, node_displacements
from closedchain.erls.energy import Samples, evaluate, inputs, look
from closedchain.erls.numbering import paper_order
from closedchain.erls.start import ErlsState
from closedchain.erls.steps.integrate import integrate
from closedchain.erls.steps.motion import Motion, in_balance
from closedchain.erls.system import System
from closedchain.errors import ModelError
from closedchain.integrate.solvers import SOLVERS
from closedchain.integrate.trajectory import Counts, Failure, Status
from closedchain.model.parts import Frame
from closedchain.pose.state import State
from closedchain.results.beams.fields import BeamFields, warn_of_axial_loads
from closedchain.results.beams.numbers import BeamNumbers
from closedchain.results.erls.checks import complaints
from closedchain.results.erls.dataset import acceleration, drive_variables, erls_variables, rigid_dataset
from closedchain.results.erls.ended import why_it_ended
from closedchain.results.erls.frames import ErlsPoints, frame_motion, rigid_pose
from closedchain.results.erls.reactions import ErlsSamples, samples_of_erls
from closedchain.results.solution import Pose, Solution, Variables

if TYPE_CHECKING:
    import xarray

    from closedchain.close.erls import ERLS
    from closedchain.march.task import Task
    from closedchain.results.run import Run

SHARE = 0.1  # of the tolerance: what the error of one step may be, since those of many add up


class ErlsSolution(Solution):
    """Finite elements on an equivalent rigid-link system.

    Attributes
    ----------
    system
        What was marched.
    motion
        Its samples.
    """

    method: ERLS

    def __init__(self, system: System, motion: Motion) -> None:
        self.system, self.motion = system, motion
        self.mechanism, self.method, self.start = system.mechanism, system.method, system.start
        self.equations, self.p = system.e, system.p
        self.parameters = dict(system.start.parameters)
        self.record = list(motion.record)

    def __reduce__(self) -> tuple[Any, ...]:
        # all else is computed again from the states
        return ErlsSolution, (self.system, self.motion)

    @property
    def erls(self) -> ErlsSolution:
        """Itself."""
        return self

    @property
    def has_elements(self) -> bool:
        """Yes."""
        return True

    # ---- how it went -----------------------------------------------------------------------------------------------

    @property
    def t(self) -> np.ndarray:
        """Sample times, s."""
        return self.motion.t

    @property
    def x(self) -> np.ndarray:
        """(m, 3, n) displacements and coordinates ``y`` at the samples, their rates and accelerations."""
        return self.motion.x

    @property
    def counts(self) -> Counts:
        """What the march cost."""
        return self.motion.counts

    @property
    def status(self) -> Status:
        """How the march ended."""
        return self.motion.status

    @property
    def message(self) -> str:
        """How the march ended, in words."""
        if self.failure is None or self.status is Status.controller:
            return self.motion.message
        said, advice = why_it_ended(self)
        return f"at t = {self.motion.t_end:.6g} s {said}: {advice}"

    @property
    def failure(self) -> Failure | None:
        """Where the march stopped before its end; its state is that of the rigid-link system."""
        return self.motion.failure

    @property
    def seconds(self) -> float:
        """Spent in the solver."""
        return self.motion.seconds

    @property
    def seconds_to_prepare(self) -> float:
        """Spent on tracing and compiling."""
        return self.system.compiled.seconds

    @property
    def title(self) -> str:
        """The method, and how many displacements and coordinates it has."""
        return f"ERLS ({len(self.order)} displacements, {self.system.n_q} coordinates)"

    def metadata(self, run: Run) -> dict[str, Any]:
        """The displacements that are zeroed."""
        return {"zeroed": "; ".join(f"{label}: {why}" for label, why in self.zeroed.items())}

    def citation(self, solver: str) -> str:
        """Where a solver comes from."""
        return SOLVERS[solver].citation

    # ---- finite elements -------------------------------------------------------------------------------------------

    @cached_property
    def samples(self) -> Samples:
        """Poses, displacements and energies at the samples."""
        return look(self.system, self.t, self.motion.x, self.motion.tree)

    @cached_property
    def balanced(self) -> Motion:
        """The same motion with accelerations at the samples, and all forces in balance there."""
        return in_balance(self.system, self.motion)

    @cached_property
    def rigid(self) -> xarray.Dataset:
        """Coordinates and velocities of all joints of the equivalent rigid-link system over time."""
        return rigid_dataset(self)

    @cached_property
    def order(self) -> np.ndarray:
        """Places in the state of the displacements, in the order of the paper."""
        return paper_order(self.system)

    @cached_property
    def u(self) -> xarray.DataArray:
        """Displacements u over time (time, displacement), m and rad; zeroed ones included."""
        import xarray

        coords = {"time": ("time", self.t, {"units": "s"}), "displacement": list(self.displacements)}
        values = self.motion.x[:, 0, self.order]
        return xarray.DataArray(values, coords, ("time", "displacement"), "u", {"units": "m or rad"})

    @property
    def displacements(self) -> tuple[str, ...]:
        """Names of the displacements u in the paper's order: body, number of the node, direction in the body's axes."""
        return tuple(self.system.labels[k] for k in self.order)

    @property
    def zeroed(self) -> dict[str, str]:
        """Which displacements are zeroed, so that u and q are unique, and what that means."""
        labels = [self.system.labels[k] for k in self.system.zeroed]
        return dict(zip(labels, self.system.compiled.why, strict=True))

    # ---- at samples ------------------------------------------------------------------------------------------------

    def part(self, chosen: np.ndarray) -> ErlsSolution:
        """The same at some samples."""
        return ErlsSolution(self.system, self.motion.part(chosen))

    def state(self, index: int) -> ErlsState:
        """The state of the equivalent rigid-link system at a sample, and the displacements beside it."""
        system, k = self.system, index
        traced, last = system.compiled.traced, system.n - system.n_q
        given = inputs(system, self.t[k : k + 1], self.motion.tree[k : k + 1], self.motion.x[k : k + 1])
        v = evaluate(system, "tree velocities", {"v": traced.closed([traced.e.limbs.v])[0]}, given)["v"]
        u, u_dot = (dict(zip(system.labels[:last], x[:last].tolist(), strict=True)) for x in self.motion.x[k, :2])
        parameters, t = dict(self.parameters), float(self.t[k])
        return ErlsState(system.twin, self.motion.tree[k].copy(), v[0, :, 0], parameters, t, u=u, u_dot=u_dot)

    def between(self, t: np.ndarray) -> np.ndarray:
        """Refused: only samples are kept."""
        raise ModelError(
            "a run with cc.ERLS(...) keeps its samples only: simulate with t_eval=[...] or t_eval=cc.Every(...)"
        )

    def coordinates(self) -> dict[str, np.ndarray]:
        """Coordinates of all joints over time, by name, elasticity included."""
        found, _ = self._variables
        return {x: found[x][1] for joint in self.equations.topology.joints for x in joint.labels()}

    @cached_property
    def _variables(self) -> tuple[Variables, dict[str, Any]]:
        return erls_variables(self)

    def variables(self, run: Run) -> tuple[Variables, dict[str, Any]]:
        """True joint coordinates, displacements, efforts and energies over time."""
        return self._variables

    def slow_variables(self) -> Variables:
        """Efforts of drives, which take the reactions."""
        return drive_variables(self)

    def variable(self, name: str) -> xarray.DataArray | None:
        """A true joint acceleration, by its name with two primes."""
        return acceleration(self, name)

    def frame(self, frame: Frame) -> Pose:
        """Motion of a frame; one on a beam rides on its section."""
        return frame_motion(self, frame)

    def points(self, which: Sequence[int]) -> ErlsPoints:
        """Where points of bodies are at some samples, displaced, and on the rigid-link system."""
        everything = list(which) == list(range(len(self.t)))
        return ErlsPoints(self if everything else self.part(np.asarray(which, int)))

    def _samples(self) -> list[ErlsSamples]:
        return [samples_of_erls(self)]

    def beam(self, body: str, x: Any, forces: str) -> BeamFields:
        """Displacements, section forces and stresses along a flexible body; components in the axes of its rigid
        link.

        Section forces come from what elements exert on each other (``"equilibrium"``), or from derivatives of the
        displacements (``"shapes"``), rougher.
        """
        data = self.mechanism.flexible[body]
        numbers = BeamNumbers.of(data, self.mechanism.values(self.parameters))
        nodes, moved = node_displacements(self.system, self.samples, body)
        if forces == "shapes":
            return BeamFields.from_nodes(numbers, self.t, nodes, moved, x)
        state = self.balanced.x
        at_ends = end_forces(self.system, look(self.system, self.t, state, self.balanced.tree), self.t, state, body)
        fields = BeamFields.from_nodes(numbers, self.t, nodes, moved, x, end_forces=at_ends)
        stiffens = data.stiffening if self.method.stiffening is None else self.method.stiffening
        if not stiffens:
            turns = (("y", "rz"), ("z", "ry"))
            warn_of_axial_loads(fields, [axis for axis, turn in turns if turn in self.system.mesh.names])
        return fields

    def closing_forces(self) -> None:
        """None: loops have no multipliers."""
        return

    # ---- with rigid links, and once more ---------------------------------------------------------------------------

    def rigid_start(self, task: Task) -> tuple[State, dict[str, Any]]:
        """The start of the equivalent rigid-link system; the default method, with a tight tolerance."""
        return self.start, {"rtol": 1e-9}

    def rigid_pose(self, frame: Frame) -> tuple[np.ndarray, np.ndarray]:
        """A frame on the equivalent rigid-link system."""
        return rigid_pose(self, frame)

    def again(self, task: Task) -> ErlsSolution:
        """March once more, with the last sample only."""
        return march_erls(self.system, self.motion.t_end, self.t[-1:], task)

    def operations(self, each: float) -> float:
        """Not counted."""
        return float("nan")

    # ---- is it good ------------------------------------------------------------------------------------------------

    def complaints(self, run: Run) -> list[str]:
        """What is worse than the tolerance or the assumptions of ERLS promise."""
        return complaints(run)

    def explanation(self, run: Run) -> str:
        """Why the run ended early, and what to try."""
        if self.status is Status.controller:  # its own words are known to the loop alone
            return f"the run of {self.mechanism.name!r} with {run.solver} ended {self.motion.message}"
        said, advice = why_it_ended(self)
        return (
            f"the run of {self.mechanism.name!r} with {run.solver} ended at t = {self.motion.t_end:.6g} s: {said}; "
            f"{advice}. {len(self.t)} samples are kept in the error's .run"
        )


def march_erls(system: System, until: float, t_eval: np.ndarray, task: Task) -> ErlsSolution:
    """March a system from its start to a time.

    ``t_eval`` are the sample times. Of the task its solver, tolerance ``atol`` in m, ``divergence`` and ``progress``
    count.
    """
    assert task.atol is not None
    motion = integrate(
        system,
        until,
        t_eval,
        atol=SHARE * task.atol,
        solver=task.solver,
        divergence=task.divergence,
        progress=task.progress,
    )
    return ErlsSolution(system, motion)
