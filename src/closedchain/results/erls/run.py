"""An `ErlsRun`: what a simulation by an equivalent rigid-link system produced, with its checks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from closedchain._version import __version__
from closedchain.erls import choice
from closedchain.erls.beams import end_forces, node_displacements
from closedchain.erls.energy import Samples, evaluate, inputs, look
from closedchain.erls.numbering import paper_order
from closedchain.erls.start import ErlsState
from closedchain.erls.steps.integrate import Counts, Motion, in_balance
from closedchain.erls.system import System
from closedchain.errors import ModelError
from closedchain.integrate.trajectory import Status
from closedchain.model.parts import Body, Frame
from closedchain.model.values import suggest
from closedchain.native import engine
from closedchain.pose.size import drawn_scale
from closedchain.results.beams.fields import BeamFields, warn_of_axial_loads
from closedchain.results.beams.numbers import BeamNumbers
from closedchain.results.erls.dataset import acceleration, dataset, rigid_dataset, with_drives
from closedchain.results.erls.ended import why_it_ended
from closedchain.results.erls.frames import carried_points, frame_motion
from closedchain.results.erls.reactions import ErlsSamples, samples_of_erls
from closedchain.results.erls.solvers import CITATIONS
from closedchain.results.run import MANY
from closedchain.results.tables import Tables

if TYPE_CHECKING:
    import xarray

    from closedchain.cut.topology import Topology
    from closedchain.look.animation import animate
    from closedchain.look.plots.variables import plot
    from closedchain.look.sketch import plot_deformed
    from closedchain.march.marks import Happening
    from closedchain.results.beams.deflection import deflection, stress
    from closedchain.results.erls.tip import tip_deflection
    from closedchain.results.reactions.reactions import reaction, reaction_table

# What may come from nowhere, as a share of the energy exchanged. A step of ESDIRK may be wrong by a tenth of rtol, and
# what is too fast for it dies out: of the library's mechanisms up to 24 rtol together (rtol 1e-4 to 1e-8, the most for
# arms that ring). Generalised-alpha is of second order: up to 3 rtol^(2/3). Ten times that is an alarm. Fixed steps
# promise nothing, but a run without some thousandths of its energy is of little use. A tolerance is a length: where
# beams swing by little, it is a larger share of the swing, and so of their elastic energy.
ENERGY = {"esdirk4": (250.0, 1.0), "generalised-alpha": (30.0, 2 / 3)}  # factor and power of rtol
ENERGY_OF_FIXED_STEPS = 1e-3
SMALL_STRAIN = 0.02  # stretch of a beam over its length up to which it counts as small
SMALL_TURN = 0.2  # rad: rotations of sections up to which displacements count as small


class ErlsRun(Tables):
    """A simulated motion of a mechanism with flexible links.

    ``run["joint1"]`` is the true angle of a joint over time, elasticity included, ``run["joint1'"]`` its velocity;
    ``run.rigid["joint1"]`` is the angle of the equivalent rigid-link system. ``run.u`` has the displacements, in the
    paper's order; ``run.beam("link1")``, ``run.deflection("link1", 1.0)`` what a beam does; ``run.zeroed`` tells which
    displacements are zeroed, and why these.
    """

    if TYPE_CHECKING:  # attached by `closedchain.verbs`
        reaction = reaction
        reactions = reaction_table
        deflection = deflection
        stress = stress
        tip_deflection = tip_deflection
        plot = plot
        plot_deformed = plot_deformed
        animate = animate

    def __init__(self, system: System, motion: Motion, solver: str, rtol: float, atol: float) -> None:
        self.system, self.motion = system, motion
        self.mechanism, self.method = system.mechanism, system.method
        self.solver, self.rtol, self.atol = solver, rtol, atol
        self.t = motion.t  # sample times, s
        self.parameters = dict(system.start.parameters)
        self._reactions: dict[Any, Any] = {}  # of all joints, by the stiffness they were asked for

    def __reduce__(self) -> tuple[Any, ...]:
        # what was asked for is computed again: the states are all that is needed
        return ErlsRun, (self.system, self.motion, self.solver, self.rtol, self.atol)

    # ---- what happened ---------------------------------------------------------------------------------------------

    @property
    def topology(self) -> Topology:
        """The rigid twin with its loops cut."""
        return self.system.e.topology

    @property
    def status(self) -> Status:
        """How the run ended."""
        return self.motion.status

    @property
    def complete(self) -> bool:
        """Whether the run reached its end."""
        return self.status is Status.finished

    @property
    def counts(self) -> Counts:
        """What the run cost."""
        return self.motion.counts

    @property
    def message(self) -> str:
        """How the run ended, in words."""
        return "the end was reached" if self.complete else self.explanation

    @property
    def explanation(self) -> str:
        """Why the run did not reach its end, and what to try."""
        said, advice = why_it_ended(self)
        return (
            f"the run of {self.mechanism.name!r} with {self.solver} ended at t = {self.motion.t_end:.6g} s: {said}; "
            f"{advice}. {len(self.t)} samples are kept in the error's .run"
        )

    def _better_zeroed(self) -> tuple[str, ...]:
        """Displacements with a better conditioned block of J at the start."""
        system = self.system
        J = system.rigid(system.start.t, system.start.q)
        return tuple(system.labels[system.n_chain + k] for k in choice.best(J, system.turning, range(system.n_u)))

    @cached_property
    def samples(self) -> Samples:
        """Poses, displacements and energies at the samples."""
        return look(self.system, self.t, self.motion.x, self.motion.tree)

    @cached_property
    def balanced(self) -> Motion:
        """The same motion with accelerations at the samples, and all forces in balance there."""
        return in_balance(self.system, self.motion)

    @cached_property
    def _plain(self) -> xarray.Dataset:
        return dataset(self)

    @cached_property
    def dataset(self) -> xarray.Dataset:
        """Everything over time, with units and the run's metadata in the attributes."""
        return with_drives(self, self._plain)

    @cached_property
    def rigid(self) -> xarray.Dataset:
        """Coordinates and velocities of all joints of the equivalent rigid-link system over time."""
        return rigid_dataset(self)

    def __getitem__(self, name: str) -> xarray.DataArray:
        if isinstance(name, str) and name.endswith("''") and name[:-1] in self.dataset:
            return acceleration(self, name)
        if name not in self.dataset:
            raise ModelError(f"the run has no variable {name!r}{suggest(str(name), self.dataset.data_vars)}")
        return self.dataset[name]

    # ---- displacements ---------------------------------------------------------------------------------------------

    @cached_property
    def order(self) -> np.ndarray:
        """Places in the state of the displacements, in the order of the paper."""
        return paper_order(self.system)

    @property
    def displacements(self) -> tuple[str, ...]:
        """Names of the displacements u in the paper's order: body, number of the node, direction in the body's axes."""
        return tuple(self.system.labels[k] for k in self.order)

    @property
    def u(self) -> xarray.DataArray:
        """Displacements u over time (time, displacement), m and rad; zeroed ones included."""
        return self._plain["u"]

    @property
    def zeroed(self) -> dict[str, str]:
        """Which displacements are zeroed, so that u and q are unique, and what that means."""
        labels = [self.system.labels[k] for k in self.system.zeroed]
        return dict(zip(labels, self.system.compiled.why, strict=True))

    def beam(self, body: Body | str, x: Any = None, *, forces: str = "equilibrium") -> BeamFields:
        """Displacements, section forces and stresses along a flexible body; components in the axes of its rigid
        link.

        Section forces come from what elements exert on each other (``"equilibrium"``), or from derivatives of the
        displacements (``"shapes"``), rougher.
        """
        if forces not in ("equilibrium", "shapes"):
            raise ModelError(f"forces are found by 'equilibrium' or by 'shapes', not by {forces!r}")
        name = body.name if isinstance(body, Body) else body
        if name not in self.mechanism.flexible:
            raise ModelError(f"body {name!r} is not flexible{suggest(str(name), self.mechanism.flexible)}")
        data = self.mechanism.flexible[name]
        numbers = BeamNumbers.of(data, self.mechanism.values(self.parameters))
        nodes, moved = node_displacements(self.system, self.samples, name)
        if forces == "shapes":
            return BeamFields.from_nodes(numbers, self.t, nodes, moved, x)
        state = self.balanced.x
        at_ends = end_forces(self.system, look(self.system, self.t, state, self.balanced.tree), self.t, state, name)
        fields = BeamFields.from_nodes(numbers, self.t, nodes, moved, x, end_forces=at_ends)
        stiffens = data.stiffening if self.method.stiffening is None else self.method.stiffening
        if not stiffens:
            turns = (("y", "rz"), ("z", "ry"))
            warn_of_axial_loads(fields, [axis for axis, turn in turns if turn in self.system.mesh.names])
        return fields

    def frame(self, frame: Frame | Body | str) -> xarray.Dataset:
        """Position, rotation, velocity and angular velocity of a frame or body over time, in world axes.

        A frame on a beam rides on its section, on a rigid arm if it is off the axis or beyond an end.
        """
        return frame_motion(self, self._frame(frame))

    def _samples(self) -> list[ErlsSamples]:
        return [samples_of_erls(self)]

    def _frame(self, frame: Frame | Body | str) -> Frame:
        if isinstance(frame, Body):
            return frame["origin"]
        return frame if isinstance(frame, Frame) else self.mechanism.find_frame(frame)

    def state(self, index: int = -1) -> ErlsState:
        """The state at one of the samples: that of the equivalent rigid-link system, and the displacements beside it.

        A run with the same `ERLS` goes on from it.
        """
        if not isinstance(index, int | np.integer) or not -len(self.t) <= index < len(self.t):
            raise ModelError(
                f"the run has {len(self.t)} samples: its states are numbered 0 to {len(self.t) - 1}, not {index!r}"
            )
        system, k = self.system, int(index) % len(self.t)
        traced, last = system.compiled.traced, system.n - system.n_q
        given = inputs(system, self.t[k : k + 1], self.motion.tree[k : k + 1], self.motion.x[k : k + 1])
        v = evaluate(system, "tree velocities", {"v": traced.closed([traced.e.limbs.v])[0]}, given)["v"]
        u, u_dot = (dict(zip(system.labels[:last], x[:last].tolist(), strict=True)) for x in self.motion.x[k, :2])
        parameters, t = dict(self.parameters), float(self.t[k])
        return ErlsState(system.twin, self.motion.tree[k].copy(), v[0, :, 0], parameters, t, u=u, u_dot=u_dot)

    def window(self, begin: float | None = None, until: float | None = None, every: int = 1) -> ErlsRun:
        """A part of the run: samples between two times, or every so manieth of them."""
        if not isinstance(every, int) or every < 1:
            raise ModelError(f"every takes a whole number of samples, not {every!r}")
        low, high = -np.inf if begin is None else begin, np.inf if until is None else until
        inside = np.flatnonzero((self.t >= min(low, high)) & (self.t <= max(low, high)))
        chosen = inside[inside % every == 0]
        if not len(chosen):
            raise ModelError(f"the run of {self.mechanism.name!r} has no sample between {low:g} and {high:g} s")
        parts = {name: getattr(self.motion, name)[chosen] for name in ("t", "x", "tree", "work", "lengths")}
        return ErlsRun(self.system, replace(self.motion, **parts), self.solver, self.rtol, self.atol)

    def thinned(self, most: int = MANY) -> ErlsRun:
        """The run itself, or at most so many of its samples, equally spread."""
        return self if len(self.t) <= most else self.window(every=-(-len(self.t) // most))

    @property
    def record(self) -> list[Happening]:
        """What happened on the way: ERLS has no events, nothing."""
        return []

    def sol(self, t: Any) -> np.ndarray:
        """Refused: an ERLS run keeps its samples only."""
        raise ModelError("a run with cc.ERLS(...) keeps its samples only: simulate with t_eval=... or every=...")

    def balance(self, stiffness: Mapping[str, float] | None = None) -> xarray.Dataset:
        """Refused: it is a check of reactions that come from motions of rigid bodies and shapes."""
        raise ModelError(
            "a run with cc.ERLS(...) has no balance: its reactions are what the nodes leave over. Compare them with "
            "those of a floating frame, cc.simulate(m, method=cc.Multipliers())"
        )

    # ---- is it good ------------------------------------------------------------------------------------------------

    @property
    def closure_error(self) -> xarray.DataArray:
        """Largest closure residual of all loops of the rigid-link system at each time, m or rad."""
        return self._plain["closure_error"]

    @property
    def energy_error(self) -> xarray.DataArray:
        """Energy that came from nowhere: ``E(t) - E(0) - W(t)``, J."""
        return self._plain["energy_error"]

    def complaints(self) -> list[str]:
        """What is worse than the tolerance or the assumptions of ERLS promise; empty for a good run."""
        said: list[str] = []
        s, name = self.samples, self.mechanism.name
        if not len(self.t):
            return said
        if self.motion.runaway is not None and self.status is not Status.diverged:
            when, words = self.motion.runaway
            said.append(f"{name!r} runs away at t = {when:.6g} s: {words}")
        # generalised-alpha that damps takes energy away, and only that
        damps = self.method.rho_inf not in (None, 1.0)
        error = self.energy_error.values if damps else np.abs(self.energy_error.values)
        bound = self._energy_bound()
        if error.max() > bound:
            i = int(np.argmax(error))
            relative = self.atol / self.system.longest
            steps = "steps of this length keep" if self.motion.fixed else f"rtol = {relative:g} promises"
            advice = f"use a smaller {'step' if self.motion.fixed else 'rtol'}"
            if self.method.terms == "paper":
                advice = (
                    "the terms that terms='paper' drops, of first order in the displacements, explain it: take "
                    "cc.ERLS(terms='consistent'), which keeps them and conserves energy"
                )
            said.append(
                f"energy of {name!r} is off by {error[i]:.2g} J at t = {self.t[i]:.4g} s, more than the {bound:.2g} J "
                f"that {steps}: {advice}"
            )
        if self.system.health < choice.POOR:
            said.append(
                f"the zeroed displacements of {name!r} ({', '.join(self.zeroed)}) determine its coordinates q poorly "
                f"(health {self.system.health:.1g} of 1): displacements are large then; take other ones, cc.ERLS(zero="
                f"{self._better_zeroed()!r}), or other coordinates, cc.ERLS(coordinates=(...))"
            )
        stretched = self._stretched()
        said += stretched
        turns = [k for k, x in enumerate(self.system.mesh.names) if x.startswith("r")]
        size = np.abs(s.u[:, :, turns]).max(axis=(0, 2))
        worst = int(np.argmax(size))
        body = self.system.mesh.bodies[worst]
        # rigid bodies turn where those that carry them stretch: that has been said already
        if size[worst] > SMALL_TURN and (body in self.mechanism.flexible or not stretched):
            if body in self.mechanism.flexible:
                what = f"sections of {body!r} turn by {size[worst]:.2g} rad against the rigid link"
                advice = "stiffen the link, or divide it into several, welded together"
            else:
                what = f"{body!r}, which is rigid, turns by {size[worst]:.2g} rad against the rigid-link system"
                advice = "stiffen the links that carry it, or zero its own displacement, cc.ERLS(zero=(...))"
            said.append(f"{what}: the displacements of ERLS are small ones; {advice}")
        return said

    def _stretched(self) -> list[str]:
        """What to say about the beam that stretches most, if that is much."""
        value = self.mechanism.values(self.parameters)
        strain = {}
        for name in self.mechanism.flexible:
            places, moved = node_displacements(self.system, self.samples, name)
            strain[name] = float(np.abs(moved[:, -1, 0] - moved[:, 0, 0]).max()) / (places[-1] - places[0])
        worst = max(strain, key=lambda name: strain[name])
        if not strain[worst] > SMALL_STRAIN:
            return []
        numbers = BeamNumbers.of(self.mechanism.flexible[worst], value)
        what = f"{worst!r} stretches by {100 * strain[worst]:.2g} % of its length (E A = {numbers.E * numbers.A:.3g} N)"
        return [
            f"{what}: the displacements of ERLS are small ones, and its elements always stretch, whatever the modes; "
            "give the section a larger A, or use a floating frame without axial modes (cc.Multipliers())"
        ]

    def _energy_bound(self) -> float:
        """Energy that may come from nowhere, J."""
        s, (factor, power) = self.samples, ENERGY[self.solver]
        scale = drawn_scale(self.system.e, self.system.p, float(self.t[-1] - self.t[0]))
        least = 1e-12 * scale.energy
        exchanged = max(float(x) for x in (np.ptp(s.energy - s.kinetic), s.kinetic.max(), s.elastic.max(), least))
        lengths = [k for k, x in enumerate(self.system.mesh.names) if not x.startswith("r")]
        swing = max(float(np.ptp(s.u[:, :, lengths], axis=0).max(initial=0.0)), self.atol)
        value = self.mechanism.values(self.parameters)
        weight = self.system.mesh.masses.sum() * float(np.linalg.norm([value(x) for x in self.mechanism.gravity]))
        of_motion = (self.atol / self.system.longest) ** power * exchanged
        of_swings = (self.atol / swing) ** power * float(s.elastic.max())
        share = ENERGY_OF_FIXED_STEPS * exchanged if self.motion.fixed else factor * max(of_motion, of_swings)
        return max(share, weight * self.atol)  # the weight works on an error of the position

    @property
    def good(self) -> bool:
        """Whether the run is complete and keeps what its tolerance promises."""
        return self.complete and not self.complaints()

    @property
    def metadata(self) -> dict[str, Any]:
        """Method, solver, tolerances, counts, times and versions."""
        return {
            "mechanism": self.mechanism.name,
            "method": repr(self.method),
            "solver": self.solver,
            "rtol": self.rtol,
            "atol": self.atol,
            "status": self.status.name,
            "zeroed": "; ".join(f"{label}: {why}" for label, why in self.zeroed.items()),
            **asdict(self.counts),
            "seconds_march": self.motion.seconds,
            **engine.described(),
            "closedchain": __version__,
        }

    def citation(self) -> str:
        """What to cite for this run."""
        software = f"closedchain {__version__}: dynamics of robots and mechanisms with closed kinematic loops"
        return f"{self.method.citation()}\n{CITATIONS[self.solver]}\n{software}"

    # ---- taking it away --------------------------------------------------------------------------------------------

    def points(self, body: str, drawn: np.ndarray) -> np.ndarray:
        """Where points of a body (k, 3) are in the world at all samples (time, k, 3), with elastic displacement."""
        return carried_points(self, body, drawn)

    def rigid_points(self, body: str, drawn: np.ndarray) -> np.ndarray:
        """The same points on the equivalent rigid-link system."""
        return carried_points(self, body, drawn, rigid=True)

    def __repr__(self) -> str:
        counts, system = self.counts, self.system
        return (
            f"ErlsRun({self.mechanism.name!r} to t = {self.motion.t_end:.6g} s, {len(self.order)} displacements, "
            f"{system.n_q} coordinates, {self.solver}, {counts.steps} steps, {counts.evaluations} evaluations"
            f"{'' if self.complete else ', INCOMPLETE'})"
        )
