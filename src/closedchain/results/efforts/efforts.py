"""What a motion takes: efforts of actuators over time, their power, what motors must be able to do, and reactions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from closedchain.derive.equations import Freedom
from closedchain.errors import ModelError
from closedchain.model.expressions.expression import Number
from closedchain.model.expressions.expression import t as time
from closedchain.model.expressions.functions import where
from closedchain.model.parts import Body, suggest
from closedchain.pose.inverse import Terms
from closedchain.results.motion.motion import Motion
from closedchain.results.motion.thinning import parts, pieced, thinned, through
from closedchain.results.samples import Samples

if TYPE_CHECKING:
    import pandas
    import xarray

    from closedchain.model.actuators.base import ActuatorModel
    from closedchain.results.beams.fields import BeamFields
    from closedchain.results.efforts.sizing import Sizing
    from closedchain.results.reactions.reactions import Place


class Efforts:
    """Torques and forces of actuators along a motion.

    ``need["base1"]`` is the effort on joint base1 over time, ``need["base1 speed"]`` the speed of the joint there and
    ``need["base1 power"]`` the power; ``need.dataset`` holds all of it with units.

    Attributes
    ----------
    motion
        The motion that they produce.
    actuators
        Names of the actuated coordinates.
    tau
        (n, actuators) efforts, N m or N.
    internal
        (n, actuators, k) efforts that balance each other: any multiple of them may be added.
    conditioning
        (n) how well the actuators hold the mechanism; 0 where something moves although all of them are locked.
    method
        How they were found.
    """

    def __init__(
        self,
        motion: Motion,
        actuators: tuple[str, ...],
        freedoms: tuple[Freedom, ...],
        terms: Terms,
        told: np.ndarray,
        u: np.ndarray,
        lam: np.ndarray,
        method: str,
    ) -> None:
        self.motion, self.mechanism = motion, motion.mechanism
        self.actuators, self.freedoms = actuators, freedoms
        self.t, self.tau, self.method = motion.t, u, method
        self._terms, self._lam = terms, lam
        # singular samples have what the nearest other one has
        self._nearest = np.array([told[np.argmin(np.abs(self.t[told] - time))] for time in self.t], int)
        self._reactions: dict[Any, Any] = {}

    @cached_property
    def internal(self) -> np.ndarray:
        """(n, actuators, k) efforts that balance each other: any multiple of them may be added."""
        return self._terms.only(self._nearest).internal[:, : len(self.actuators)]

    @cached_property
    def conditioning(self) -> np.ndarray:
        """(n) how well the actuators hold the mechanism; 0 where something moves although all of them are locked."""
        return self._terms.only(self._nearest).conditioning

    @property
    def redundancy(self) -> int:
        """How many actuators there are beyond the freedoms."""
        return self._terms.redundancy

    @property
    def closing_forces(self) -> xarray.DataArray:
        """(time, closure) forces in the closure rows of cut joints, gears and drives that are no actuators.

        Where rows repeat others it is the distribution of least norm.
        """
        import xarray

        closure = self.motion.samples.equations.closure
        names = [f"{closure.joints[row]} {closure.labels[row]}" for row in self._terms.rows]
        coords = {"time": self.t, "closure": names}
        return xarray.DataArray(self._lam, coords, ("time", "closure"), attrs={"units": "N or N m"})

    @property
    def units(self) -> dict[str, str]:
        """Unit of each actuator's effort."""
        joints = self.mechanism.joints
        turning = [joints[joint].type.velocity_units[index] == "rad/s" for joint, index in self.freedoms]
        return {name: "N m" if turns else "N" for name, turns in zip(self.actuators, turning, strict=True)}

    @property
    def speed(self) -> np.ndarray:
        """(n, actuators) velocities of the actuated coordinates, rad/s or m/s."""
        return self.motion.joints["v"][:, self._columns]

    @property
    def acceleration(self) -> np.ndarray:
        """(n, actuators) accelerations of the actuated coordinates, rad/s^2 or m/s^2."""
        return self.motion.joints["a"][:, self._columns]

    @cached_property
    def _columns(self) -> list[int]:
        labels = [x for j in self.motion.samples.equations.topology.measured for x in j.velocity_labels()]
        return [labels.index(name) for name in self.actuators]

    @cached_property
    def dataset(self) -> xarray.Dataset:
        """Efforts, speeds and powers of all actuators over time, with units."""
        import xarray

        variables: dict[str, Any] = {}
        for k, name in enumerate(self.actuators):
            unit = self.units[name]
            speed_unit = "rad/s" if unit == "N m" else "m/s"
            variables[name] = ("time", self.tau[:, k], {"units": unit, "about": "effort of the actuator"})
            variables[f"{name} speed"] = ("time", self.speed[:, k], {"units": speed_unit})
            variables[f"{name} power"] = ("time", self.tau[:, k] * self.speed[:, k], {"units": "W"})
        closure, drives = self.motion.samples.equations.closure, self.mechanism.drives
        for k, row in enumerate(self._terms.rows):  # drives that are no actuators have their share
            if closure.joints[row] in drives:
                unit = "N m" if closure.units[row] == "rad" else "N"
                variables[closure.joints[row]] = (
                    "time",
                    self._lam[:, k],
                    {"units": unit, "about": "effort of the drive"},
                )
        variables["power"] = ("time", (self.tau * self.speed).sum(axis=1), {"units": "W", "about": "of all actuators"})
        about = {"units": "1", "about": "0 where something moves although all actuators are locked"}
        variables["actuation_conditioning"] = ("time", self.conditioning, about)
        attrs = {"mechanism": self.mechanism.name, "method": self.method}
        return xarray.Dataset(variables, {"time": ("time", self.t, {"units": "s"})}, attrs)

    def __getitem__(self, name: str) -> xarray.DataArray:
        if name not in self.dataset:
            raise ModelError(f"there is no effort {name!r}{suggest(name, self.dataset.data_vars)}")
        return self.dataset[name]

    def signal(self, name: str) -> Number:
        """The effort of an actuator as an expression of time: polynomials of degree five through the samples.

        Between samples it is off by some ``h^6`` of their distance. Where the path makes the effort jump, it jumps at
        that very time, and a run steps onto it; the samples on each side are continued to there. Before and after the
        motion it holds the first and the last pose, as references do.
        """
        if name not in self.actuators:
            raise ModelError(f"there is no actuator {name!r}{suggest(name, self.actuators)}")
        values = self.tau[:, self.actuators.index(name)]
        if len(self.t) < 2:
            return float(values[0])
        inside = [x for x in self.motion.breaks if self.t[0] < x < self.t[-1]]
        along = pieced([_smooth(self.t, values, *part) for part in parts(self.t, inside)], inside)
        first, last = (float(held[self.actuators.index(name)]) for held in self._held_ends)
        return where(time < float(self.t[0]), first, where(time <= float(self.t[-1]), along, last))

    @cached_property
    def _held_ends(self) -> tuple[np.ndarray, np.ndarray]:
        """The efforts that hold the first and the last pose; those of the sample itself where it is at rest."""
        return self._at_rest(0), self._at_rest(-1)

    def _at_rest(self, index: int) -> np.ndarray:
        from closedchain.results.efforts.inverse_dynamics import holding_efforts  # which makes efforts

        if not (self.motion.v[index].any() or self.motion.a[index].any()):
            return self.tau[index]
        try:
            return holding_efforts(self.mechanism, self.motion.state(index), actuators=self.actuators).tau[0]
        except ModelError:  # what moves may be balanced, and cannot be held
            return self.tau[index]

    def sizing(self, models: ActuatorModel | Mapping[str, ActuatorModel] | None = None) -> Sizing:
        """What each motor must be able to do: peaks, root mean squares, speeds and powers.

        ``models`` are motors or cylinders to try; see `closedchain.results.efforts.sizing.sizing`.
        """
        from closedchain.results.efforts.sizing import sizing

        return sizing(self, models)

    def _samples(self) -> list[Samples]:
        """The motion with these efforts, for the balance of its bodies."""
        efforts = {freedom: self.tau[:, k] for k, freedom in enumerate(self.freedoms)}
        return [replace(self.motion.samples, efforts=efforts)]

    def reaction(
        self,
        joint: str,
        axes: Place = "world",
        stiffness: Mapping[str, float] | None = None,
        *,
        about: Place = "second",
        on: Body | str | None = None,
    ) -> xarray.Dataset:
        """Reaction in any joint over time; see `closedchain.results.reactions.reactions.reaction`."""
        from closedchain.results.reactions.reactions import reaction

        return reaction(self, joint, axes, stiffness, about=about, on=on)

    def reactions(
        self, axes: Place = "world", stiffness: Mapping[str, float] | None = None, *, about: Place = "second"
    ) -> xarray.Dataset:
        """Reactions in all joints over time, side by side; see `results.reactions.reactions.reaction_table`."""
        from closedchain.results.reactions.reactions import reaction_table

        return reaction_table(self, axes, stiffness, about=about)

    def balance(self, stiffness: Mapping[str, float] | None = None) -> xarray.Dataset:
        """Whether the reactions balance every body and do no work; see `results.reactions.balance`."""
        from closedchain.results.reactions.balance import balance

        return balance(self, stiffness)

    # ---- what flexible bodies do -----------------------------------------------------------------------------------

    def beam(self, body: Body | str, x: Any = None, *, forces: str = "equilibrium") -> BeamFields:
        """Displacements, section forces and stresses along a flexible body over time.

        See `closedchain.results.beams.deflection.beam`.
        """
        from closedchain.results.beams.deflection import beam

        return beam(self, body, x, forces=forces)

    def deflection(self, body: Body | str, at: float = 0.5, *, against: str = "frame") -> xarray.DataArray:
        """How far a place on a flexible body is displaced; see `closedchain.results.beams.deflection.deflection`."""
        from closedchain.results.beams.deflection import deflection

        return deflection(self, body, at, against=against)

    def stress(self, body: Body | str, x: Any = None) -> xarray.Dataset:
        """Stresses along a flexible body over time; see `closedchain.results.beams.deflection.stress`."""
        from closedchain.results.beams.deflection import stress

        return stress(self, body, x)

    def plot(self, path: Any = None) -> Any:
        """Efforts, speeds and powers over time."""
        from closedchain.look.plots.efforts import plot

        return plot(self, path)

    def envelope(self, models: ActuatorModel | Mapping[str, ActuatorModel] | None = None, *, path: Any = None) -> Any:
        """Effort against speed of every actuator, with what its motor can give where a model is drawn or given."""
        from closedchain.look.plots.efforts import envelope

        return envelope(self, models, path)

    def to_dataframe(self) -> pandas.DataFrame:
        """One column for each variable, indexed by time."""
        return self.dataset.to_dataframe()

    def __repr__(self) -> str:
        more = f", {self.redundancy} more than needed" if self.redundancy else ""
        return f"Efforts({self.mechanism.name!r}, {len(self.t)} samples, {len(self.actuators)} actuators{more})"


def _smooth(t: np.ndarray, values: np.ndarray, first: int, last: int) -> Number:
    """A function of time through samples first to last - 1, continued to the next ones."""
    spline = through(t[first:last], values[first:last])
    if spline is None:  # hardly a sample between two jumps
        return float(values[min(first, len(values) - 1)])
    at = t[max(first - 1, 0) : last + 1]
    return thinned(at, *(spline(at, nu=k) if k <= spline.k else np.zeros(len(at)) for k in range(3)))
