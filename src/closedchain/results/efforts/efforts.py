"""What a motion takes: efforts of actuators over time, their power, what motors must be able to do, and reactions."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from closedchain.arguments import known
from closedchain.attached import Attached
from closedchain.derive.equations import Freedom
from closedchain.pose.inverse import Terms
from closedchain.results.motion.motion import Motion
from closedchain.results.samples import Samples

if TYPE_CHECKING:
    import pandas
    import xarray

    from closedchain.look.plots.efforts import envelope, plot
    from closedchain.look.plots.flexible import plot_deflection
    from closedchain.results.beams.deflection import beam, deflection, stress
    from closedchain.results.efforts.signal import signal
    from closedchain.results.efforts.sizing import sizing
    from closedchain.results.reactions.balance import balance
    from closedchain.results.reactions.reactions import reaction, reaction_table


class Efforts(Attached):
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

    if TYPE_CHECKING:  # attached by `closedchain.verbs`
        signal = signal
        sizing = sizing
        reaction = reaction
        reactions = reaction_table
        balance = balance
        beam = beam
        deflection = deflection
        plot_deflection = plot_deflection
        stress = stress
        plot = plot
        envelope = envelope

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
        self.held_ends: tuple[np.ndarray, np.ndarray] | None = None  # found by `signal`

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
        known("there is no effort", name, [*self.dataset.data_vars, *self.dataset.coords])
        return self.dataset[name]

    def _samples(self) -> list[Samples]:
        """The motion with these efforts, for the balance of its bodies."""
        efforts = {freedom: self.tau[:, k] for k, freedom in enumerate(self.freedoms)}
        return [replace(self.motion.samples, efforts=efforts)]

    def to_dataframe(self) -> pandas.DataFrame:
        """One column for each variable, indexed by time."""
        return self.dataset.to_dataframe()

    def __repr__(self) -> str:
        more = f", {self.redundancy} more than needed" if self.redundancy else ""
        return f"Efforts({self.mechanism.name!r}, {len(self.t)} samples, {len(self.actuators)} actuators{more})"
