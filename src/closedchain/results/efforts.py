"""What a motion takes: efforts of actuators over time, their power, what motors must be able to do, and reactions."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from closedchain.errors import ModelError
from closedchain.march.inverse import Balance, Freedom
from closedchain.model.expression import Number
from closedchain.model.parts import Body, suggest
from closedchain.model.paths import splines
from closedchain.results.motion import Motion
from closedchain.results.samples import Samples

if TYPE_CHECKING:
    import pandas
    import xarray

    from closedchain.model.actuators.base import ActuatorModel
    from closedchain.results.reactions import Place
    from closedchain.results.sizing import Sizing


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
        freedoms: tuple[Freedom, ...],
        actuators: tuple[str, ...],
        balance: Balance,
        method: str,
        spring_forces: np.ndarray | None = None,
    ) -> None:
        self.motion, self.mechanism = motion, motion.mechanism
        self.freedoms, self.actuators = freedoms, actuators
        self.t, self.tau = motion.t, balance.u
        self.internal, self.conditioning = balance.internal, balance.conditioning
        self.method = method
        self.spring_forces = spring_forces  # of virtual springs, by closure row, where these were eliminated
        self._reactions: dict[Any, Any] = {}

    @property
    def redundancy(self) -> int:
        """How many actuators there are beyond the freedoms."""
        return self.internal.shape[2]

    @property
    def units(self) -> dict[str, str]:
        """Unit of each actuator's effort."""
        joints = self.mechanism.joints
        turning = [joints[joint].type.velocity_units[index] == "rad/s" for joint, index in self.freedoms]
        return {name: "N m" if turns else "N" for name, turns in zip(self.actuators, turning, strict=True)}

    @property
    def speed(self) -> np.ndarray:
        """(n, actuators) velocities of the actuated coordinates, rad/s or m/s."""
        return self.motion._joints["v"][:, self._columns]

    @property
    def acceleration(self) -> np.ndarray:
        """(n, actuators) accelerations of the actuated coordinates, rad/s^2 or m/s^2."""
        return self.motion._joints["a"][:, self._columns]

    @cached_property
    def _columns(self) -> list[int]:
        labels = [x for j in self.motion.equations.topology.joints for x in j.velocity_labels()]
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
        """The effort of an actuator as an expression of time: a spline of degree five through the samples.

        Between samples it is off by some ``h^6`` of their distance; where the path makes the effort jump, by more.
        """
        from scipy.interpolate import PPoly, make_interp_spline

        if name not in self.actuators:
            raise ModelError(f"there is no actuator {name!r}{suggest(name, self.actuators)}")
        if len(self.t) < 2:
            raise ModelError("the efforts of a single instant are no function of time: take more samples")
        degree = 5 if len(self.t) > 5 else 1
        pieces = PPoly.from_spline(make_interp_spline(self.t, self.tau[:, self.actuators.index(name)], k=degree))
        wide = np.diff(pieces.x) > 0  # knots at the ends are repeated
        breaks = np.append(pieces.x[:-1][wide], pieces.x[-1])
        return splines.of_time(breaks, pieces.c[::-1, wide].T)[0]

    def sizing(self, models: ActuatorModel | Mapping[str, ActuatorModel] | None = None) -> Sizing:
        """What each motor must be able to do: peaks, root mean squares, speeds and powers.

        ``models`` are motors or cylinders to try; see `closedchain.results.sizing.sizing`.
        """
        from closedchain.results.sizing import sizing

        return sizing(self, models)

    def _samples(self) -> list[Samples]:
        """The motion with these efforts, for the balance of its bodies."""
        motion = self.motion
        efforts = {freedom: self.tau[:, k] for k, freedom in enumerate(self.freedoms)}
        return [
            Samples(
                motion.equations,
                motion.t,
                motion.q,
                motion.v,
                motion.a,
                motion.p,
                efforts,
                open_joints=motion.open_joints,
            )
        ]

    def reaction(
        self,
        joint: str,
        axes: Place = "world",
        stiffness: Mapping[str, float] | None = None,
        *,
        about: Place = "second",
        on: Body | str | None = None,
    ) -> xarray.Dataset:
        """Reaction in any joint over time; see `closedchain.results.reactions.reaction`."""
        from closedchain.results.reactions import reaction

        return reaction(self, joint, axes, stiffness, about=about, on=on)

    def reactions(
        self, axes: Place = "world", stiffness: Mapping[str, float] | None = None, *, about: Place = "second"
    ) -> xarray.Dataset:
        """Reactions in all joints over time, side by side; see `closedchain.results.reactions.reaction_table`."""
        from closedchain.results.reactions import reaction_table

        return reaction_table(self, axes, stiffness, about=about)

    def balance(self, stiffness: Mapping[str, float] | None = None) -> xarray.Dataset:
        """Whether the reactions balance every body and do no work; see `closedchain.results.balance.balance`."""
        from closedchain.results.balance import balance

        return balance(self, stiffness)

    def plot(self, path: Any = None) -> Any:
        """Efforts, speeds and powers over time."""
        from closedchain.results.efforts_plot import plot

        return plot(self, path)

    def envelope(self, models: ActuatorModel | Mapping[str, ActuatorModel] | None = None, *, path: Any = None) -> Any:
        """Effort against speed of every actuator, with what its motor can give where a model is drawn or given."""
        from closedchain.results.efforts_plot import envelope

        return envelope(self, models, path)

    def to_dataframe(self) -> pandas.DataFrame:
        """One column for each variable, indexed by time."""
        return self.dataset.to_dataframe()

    def __repr__(self) -> str:
        more = f", {self.redundancy} more than needed" if self.redundancy else ""
        return f"Efforts({self.mechanism.name!r}, {len(self.t)} samples, {len(self.actuators)} actuators{more})"
