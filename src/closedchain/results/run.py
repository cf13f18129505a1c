"""A `Run`: what a simulation produced, as a dataset, with its checks."""

from __future__ import annotations

import platform
from functools import cached_property
from importlib import metadata
from typing import TYPE_CHECKING, Any

import numpy as np

from closedchain._version import __version__
from closedchain.arguments import suggest, whole
from closedchain.attached import Attached
from closedchain.errors import ModelError
from closedchain.integrate.trajectory import Counts, Failure, Status
from closedchain.march.marks import Happening
from closedchain.march.segment import Segment
from closedchain.march.task import Task
from closedchain.model.mechanism import Mechanism
from closedchain.model.parts import Body, Frame
from closedchain.native import engine
from closedchain.pose.size import Scale, drawn_scale
from closedchain.pose.state import State
from closedchain.results.files import save_netcdf
from closedchain.results.solution import Solution

if TYPE_CHECKING:
    import pandas
    import xarray

    from closedchain.close.formulation import Formulation
    from closedchain.cut.topology import Topology
    from closedchain.look.animation import animate
    from closedchain.look.plots.flexible import plot_deflection
    from closedchain.look.plots.variables import plot
    from closedchain.look.sketch import plot_deformed
    from closedchain.march.program.compiled import Compiled
    from closedchain.results.beams.deflection import beam, deflection, stress, tip_deflection
    from closedchain.results.points import Points
    from closedchain.results.reactions.balance import balance
    from closedchain.results.reactions.reactions import reaction, reaction_table
    from closedchain.results.reactions.wrenches import Reactions
    from closedchain.results.samples import Samples


MANY = 20_000  # samples: with more, the checks look at some


class Run(Attached):
    """A simulated motion.

    ``run["O"]`` is the coordinate of joint O over time, ``run["O'"]`` its velocity, ``run["O''"]`` its acceleration;
    ``run.dataset`` holds all of it with units. ``run.complete`` tells whether the end was reached, and
    ``run.complaints()`` what is worse than the tolerance promises.

    With `ERLS` coordinates of joints include elasticity. ``run.rigid["joint1"]`` is the angle of the equivalent
    rigid-link system, ``run.u`` has the displacements in the paper's order, and ``run.zeroed`` tells which of them are
    zeroed, and why.
    """

    if TYPE_CHECKING:  # attached by `closedchain.verbs`
        reaction = reaction
        reactions = reaction_table
        balance = balance
        beam = beam
        deflection = deflection
        plot_deflection = plot_deflection
        stress = stress
        tip_deflection = tip_deflection
        plot = plot
        plot_deformed = plot_deformed
        animate = animate

    def __init__(self, solution: Solution, task: Task, seconds: dict[str, float]) -> None:
        self.solution = solution
        self.task = task
        self.seconds = seconds
        self.partition = None if task.team is None else task.team.account  # of limbs on several processors
        self.solver, self.rtol, self.atol = task.solver.name, task.rtol, task.atol

    def __getstate__(self) -> dict[str, Any]:
        # what was asked for is computed again: the states are all that is needed
        return {name: getattr(self, name) for name in ("solution", "task", "seconds", "partition")}

    def __setstate__(self, own: dict[str, Any]) -> None:
        self.__init__(own["solution"], own["task"], own["seconds"])  # type: ignore[misc]
        self.partition = own["partition"]

    # ---- what happened ---------------------------------------------------------------------------------------------

    @property
    def mechanism(self) -> Mechanism:
        """As drawn."""
        return self.solution.mechanism

    @property
    def parameters(self) -> dict[str, float]:
        """Values that held when the run was made, by name."""
        return self.solution.parameters

    @property
    def start(self) -> State:
        """Where the run begins."""
        return self.solution.start

    @property
    def topology(self) -> Topology:
        """The mechanism with its loops cut; with `ERLS` its rigid twin."""
        return self.solution.equations.topology

    @property
    def method(self) -> Formulation:
        """How loops are closed."""
        return self.solution.method

    @property
    def p(self) -> np.ndarray:
        """Parameter values, in the order of the equations."""
        return self.solution.p

    @cached_property
    def scale(self) -> Scale:
        """Length, mass and time of the mechanism, by which its errors are judged."""
        return drawn_scale(self.solution.equations, self.p, self.task.until - self.start.t)

    @property
    def t(self) -> np.ndarray:
        """Sample times, s."""
        return self.solution.t

    @property
    def x(self) -> np.ndarray:
        """States at the samples: ``q``, ``v``, and the work ``W``; with `ERLS` (time, 3, n): ``y``, ``y'``, ``y''``."""
        return self.solution.x

    @property
    def record(self) -> list[Happening]:
        """Events, singular poses, and other happenings on the way."""
        return self.solution.record

    @property
    def status(self) -> Status:
        """How the run ended."""
        return self.solution.status

    @property
    def message(self) -> str:
        """How the run ended, in words."""
        return self.solution.message

    @property
    def failure(self) -> Failure | None:
        """Where the run stopped before its end; None if it did not."""
        return self.solution.failure

    @property
    def complete(self) -> bool:
        """Whether the run reached its end, or the event that was to stop it."""
        return self.status in (Status.finished, Status.event)

    @property
    def explanation(self) -> str:
        """Why the run ended early, and what to try; empty for a complete run."""
        return "" if self.complete else self.solution.explanation(self)

    @property
    def counts(self) -> Counts:
        """What the run cost, all pieces together."""
        return self.solution.counts

    @property
    def segments(self) -> list[Segment]:
        """Pieces of the run, each under one set of equations; a run with `ERLS` has none."""
        return self.solution.march.segments

    @property
    def program(self) -> Compiled:
        """The compiled program of the first piece; a run with `ERLS` has none."""
        return self.solution.march.program

    @property
    def _outputs(self) -> dict[str, np.ndarray]:
        return self.solution.march.outputs

    def sol(self, t: Any) -> np.ndarray:
        """The state between samples, if the solver of the run has ``dense_output=True``."""
        return self.solution.between(np.asarray(t, float))

    @cached_property
    def _quick(self) -> xarray.Dataset:
        from closedchain.results.dataset import dataset

        return dataset(self)

    @cached_property
    def dataset(self) -> xarray.Dataset:
        """Everything over time, with units and the run's metadata in the attributes."""
        slow = self.solution.slow_variables()
        return self._quick.assign(slow) if slow else self._quick

    def __getitem__(self, name: str) -> xarray.DataArray:
        if name in self.dataset:
            return self.dataset[name]
        found = self.solution.variable(name)
        if found is None:
            raise ModelError(f"the run has no variable {name!r}{suggest(str(name), self.dataset.data_vars)}")
        return found

    def state(self, index: int = -1) -> State:
        """The state at one of the samples, to start from or to look at.

        With `ERLS` it is that of the equivalent rigid-link system, with the displacements beside it: a run with the
        same method goes on from it.
        """
        if not isinstance(index, int | np.integer) or not -len(self.t) <= index < len(self.t):
            raise ModelError(
                f"the run has {len(self.t)} samples: its states are numbered 0 to {len(self.t) - 1}, not {index!r}"
            )
        return self.solution.state(int(index) % len(self.t))

    def window(self, begin: float | None = None, until: float | None = None, every: int = 1) -> Run:
        """A part of the run: samples between two times, optionally every n-th of them.

        Of a run that was saved to disk only this part is read.
        """
        every = whole("every", every, least=1)
        low = -np.inf if begin is None else begin
        high = np.inf if until is None else until
        inside = np.flatnonzero((self.t >= min(low, high)) & (self.t <= max(low, high)))
        chosen = inside[inside % every == 0]
        if not len(chosen):
            goes = f"it goes from {self.t[0]:g} to {self.t[-1]:g}" if len(self.t) else "it has none"
            raise ModelError(f"the run has no sample between {low:g} and {high:g} s: {goes}")
        part = Run(self.solution.part(chosen), self.task, self.seconds)
        part.partition = self.partition
        return part

    def thinned(self, most: int = MANY) -> Run:
        """The run itself, or at most so many of its samples, equally spread."""
        return self if len(self.t) <= most else self.window(every=-(-len(self.t) // most))

    def frame(self, frame: Frame | Body | str) -> xarray.Dataset:
        """Position, rotation, velocity and angular velocity of a frame or body over time, in world axes.

        ``frame`` is a `Frame`, a body's name, or ``"body.frame"``. A frame on a flexible body rides on its section, on
        a rigid arm if it is off the axis or beyond an end.
        """
        from closedchain.results.dataset import frame_dataset

        if isinstance(frame, Body):
            frame = frame["origin"]
        at = frame if isinstance(frame, Frame) else self.mechanism.find_frame(frame)
        return frame_dataset(at, self.t, self.solution.frame(at))

    @cached_property
    def _points(self) -> Points:
        return self.solution.points(range(len(self.t)))

    def points(self, body: str, drawn: np.ndarray) -> np.ndarray:
        """Where points of a body (k, 3) are in the world at all samples (time, k, 3), with elastic displacement."""
        return self._points.points(body, drawn)

    def rigid_points(self, body: str, drawn: np.ndarray) -> np.ndarray:
        """The same points with rigid links, and motors at the same coordinates; with `ERLS` on its rigid links."""
        return self._points.rigid_points(body, drawn)

    def _samples(self) -> list[Samples]:
        return list(self.solution._samples())

    @property
    def _reactions(self) -> dict[Any, Reactions]:
        return self.solution._reactions

    # ---- finite elements on an equivalent rigid-link system --------------------------------------------------------

    @property
    def rigid(self) -> xarray.Dataset:
        """With `ERLS`: coordinates and velocities of all joints of the equivalent rigid-link system over time."""
        return self.solution.erls.rigid

    @property
    def u(self) -> xarray.DataArray:
        """With `ERLS`: displacements u over time (time, displacement), m and rad; zeroed ones included."""
        return self.solution.erls.u

    @property
    def displacements(self) -> tuple[str, ...]:
        """With `ERLS`: names of the displacements u in the paper's order: body, number of the node, direction."""
        return self.solution.erls.displacements

    @property
    def zeroed(self) -> dict[str, str]:
        """With `ERLS`: which displacements are zeroed, so that u and q are unique, and what that means."""
        return self.solution.erls.zeroed

    # ---- is it good ------------------------------------------------------------------------------------------------

    @property
    def closure_error(self) -> xarray.DataArray:
        """Largest gap of all loops at each time, m or rad, in rows that are not solved as well."""
        return self._quick["closure_error"]

    @property
    def energy_error(self) -> xarray.DataArray:
        """Energy that came from nowhere: ``E(t) - E(0) - W(t)``, J."""
        return self._quick["energy_error"]

    def complaints(self) -> list[str]:
        """What is worse than the tolerance promises; empty for a good run. Of very many samples some are looked at."""
        run = self.thinned()
        return run.solution.complaints(run)

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
            "rtol": self.rtol,
            "atol": "rtol of sizes" if self.atol is None else self.atol,
            "status": self.status.name,
            "message": self.message,
            **self.counts.known(),
            **{f"seconds_{k}": v for k, v in self.seconds.items()},
            **self.solution.metadata(self),
            **({} if self.partition is None else {"partition": str(self.partition)}),
            **engine.described(),
            "closedchain": __version__,
            "python": platform.python_version(),
            **{name: metadata.version(name) for name in ("numpy", "casadi", "numba", "llvmlite")},
        }

    def citation(self) -> str:
        """What to cite for this run."""
        software = f"closedchain {__version__}: dynamics of robots and mechanisms with closed kinematic loops"
        return f"{self.method.citation()}\n{self.solution.citation(self.solver)}\n{software}"

    # ---- taking it away --------------------------------------------------------------------------------------------

    def to_netcdf(self, path: Any) -> None:
        """Write the dataset to a NetCDF file (needs the extra ``closedchain[netcdf]``)."""
        save_netcdf(self.dataset, path)

    def to_dataframe(self) -> pandas.DataFrame:
        """The variables that depend on time alone, one column each, indexed by time."""
        return self.dataset.drop_dims([d for d in self.dataset.dims if d != "time"]).to_dataframe()

    def __repr__(self) -> str:
        counts = self.counts
        end = f"to t = {self.t[-1]:.6g} s" if len(self.t) else "without a sample"
        return (
            f"Run({self.mechanism.name!r} {end}, {self.solution.title} with {self.solver}, "
            f"{counts.steps} steps, {counts.evaluations} evaluations{'' if self.complete else ', INCOMPLETE'})"
        )
