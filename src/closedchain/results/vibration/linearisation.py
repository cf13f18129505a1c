"""A `Linearisation`: state-space matrices about a state, and their eigenvalues.

Without damping, and with a symmetric stiffness (forces that have a potential), the eigenvalues are those of the
symmetric problem ``K s = w^2 M s``, so that frequencies are real to the last digit; otherwise they are those of A.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from closedchain.attached import Attached
from closedchain.derive.equations import derive
from closedchain.derive.measure import Measured
from closedchain.errors import ModelError
from closedchain.pose.size import Scale, drawn_scale
from closedchain.pose.state import State, parameter_vector
from closedchain.results.vibration.modal import no_growth

if TYPE_CHECKING:
    import xarray

    from closedchain.results.vibration.modes import modes_of

NEUTRAL = 1e-13  # of the largest squared eigenvalue: smaller ones are rounding
BALANCED = 1e-8  # rad, or of the length: so far from balance, by the largest stiffness, is still an equilibrium
AT_REST = 1e-12  # of the length in the mechanism's time, and of what loads would do alone: rounding of accelerations
DAMPED = 1e-13  # of the root of the largest stiffness: less resistance is rounding


@dataclass(frozen=True, eq=False)
class Linearisation(Attached):
    """``x' = rates + A x + B u``, ``z = values + C x + D u`` for small deviations x = (y, y'), u and z from a state.

    Attributes
    ----------
    state
        About which.
    A, B, C, D
        Labelled matrices (`xarray.DataArray`); ``.values`` is the plain array.
    rates
        x' at the state itself: zero at an equilibrium.
    values
        z at the state itself.
    inertia
        ``S' M S`` in the independent coordinates, kg m^2, kg m or kg.
    loads
        Sum of the sizes of all motors and forces along the independent coordinates, N m or N.
    motions
        Displacements of all joints, cut ones too, by those of the independent coordinates.
    remark
        What else to know about it, if anything.
    """

    if TYPE_CHECKING:  # attached by `closedchain.verbs`
        modes = modes_of

    state: State
    A: xarray.DataArray
    B: xarray.DataArray
    C: xarray.DataArray
    D: xarray.DataArray
    rates: xarray.DataArray
    values: xarray.DataArray
    inertia: np.ndarray
    loads: np.ndarray
    motions: xarray.DataArray
    at_rest: bool
    remark: str | None = None

    @classmethod
    def of(
        cls,
        state: State,
        *,
        states: Sequence[str],
        inputs: Sequence[str],
        outputs: Sequence[str],
        joints: Sequence[str],
        inertia: np.ndarray,
        loads: np.ndarray,
        at_rest: bool,
        remark: str | None = None,
        **arrays: np.ndarray,
    ) -> Linearisation:
        """Put names on plain arrays."""
        import xarray

        names = {"state": list(states), "input": list(inputs), "output": list(outputs), "joint": list(joints)}
        names |= {"rate": list(states), "independent": list(states)[: len(inertia)]}
        dims: dict[str, tuple[str, ...]] = {
            "A": ("rate", "state"),
            "B": ("rate", "input"),
            "C": ("output", "state"),
            "D": ("output", "input"),
        }
        dims |= {"rates": ("rate",), "values": ("output",), "motions": ("joint", "independent")}
        labelled = {
            k: xarray.DataArray(x, dims=dims[k], coords={d: names[d] for d in dims[k]}, name=k)
            for k, x in arrays.items()
        }
        return cls(state=state, inertia=inertia, loads=loads, at_rest=at_rest, remark=remark, **labelled)

    # ---- the state -------------------------------------------------------------------------------------------------

    @property
    def independent(self) -> tuple[str, ...]:
        """Names of the independent coordinates y; drives that are inputs are not among them."""
        return tuple(map(str, self.motions["independent"].values))

    @property
    def residual(self) -> dict[str, float]:
        """Accelerations of the independent coordinates at the state itself: what it lacks to be an equilibrium."""
        return dict(zip(self.independent, self.rates.values[self._free[len(self.independent) :]].tolist(), strict=True))

    @property
    def in_equilibrium(self) -> bool:
        """Whether the state is at rest and stays there."""
        (size, every), scale = self._sizes, self._scale
        stiffness = np.abs(self._blocks[2] * size / size[:, None]).max(initial=0.0)
        pushed = (np.abs(np.linalg.inv(self.inertia)) @ self.loads / size).max(initial=0.0)
        rates = np.abs(self.rates.values / every).max(initial=0.0)
        return self.at_rest and bool(rates <= BALANCED * stiffness + AT_REST * (pushed + 1.0 / scale.time**2))

    @cached_property
    def _scale(self) -> Scale:
        state = self.state
        return drawn_scale(derive(state.mechanism), parameter_vector(state.mechanism, state.parameters))

    @cached_property
    def _sizes(self) -> tuple[np.ndarray, np.ndarray]:
        """By which the independent coordinates compare, and all states: 1 for an angle, the length for a length."""
        m = self.state.mechanism
        units = {
            label: unit
            for joint in self.state.topology.measured
            for label, unit in zip(displacements(joint), joint.type.velocity_units, strict=True)
        }
        units |= {x.name: f"{m.joints[x.joint].type.coordinate_units[x.index]}/s" for x in m.drives.values()}
        y = self.rates["rate"].values.tolist()[: len(self.rates) // 2]
        sizes = np.array([self._scale.length if units.get(label) == "m/s" else 1.0 for label in y])
        return sizes[: len(self.independent)], np.tile(sizes, 2)

    @property
    def stiffness(self) -> np.ndarray:
        """K in ``inertia y'' + damping y' + K y = ...``."""
        return -self.inertia @ self._blocks[2]

    @property
    def damping(self) -> np.ndarray:
        """The matrix of y' in the same equation; gyroscopic terms are in it too."""
        return -self.inertia @ self._blocks[3]

    # ---- eigenvalues -----------------------------------------------------------------------------------------------

    @property
    def eigenvalues(self) -> np.ndarray:
        """Eigenvalues of A, 1/s, two for each freedom; drives that are inputs are held still."""
        return self._spectrum[0]

    @property
    def stable(self) -> bool:
        """Whether no small deviation grows exponentially; oscillations that go on for ever are stable in this sense."""
        return no_growth(self.eigenvalues)

    @cached_property
    def mode_table(self) -> xarray.Dataset:
        """Modes by rising frequency: ``shape`` (mode, coordinate), ``eigenvalue``, ``frequency``, ``damping_ratio``."""
        import xarray

        values, vectors, picked = self._spectrum
        frequency = np.where(values.imag != 0, np.abs(values) / (2 * np.pi), 0.0)
        order = sorted(picked, key=lambda i: (frequency[i], -values[i].real))
        shapes = (self.motions.values @ vectors[:, order]).T.astype(complex)
        for i, s in enumerate(shapes):
            s /= s[np.argmax(np.abs(s) > (1 - 1e-9) * np.abs(s).max())]  # the first of equal ones
            shapes[i] = s
        if np.abs(shapes.imag).max(initial=0.0) < 1e-12:
            shapes = shapes.real
        with np.errstate(invalid="ignore"):
            ratio = np.where(values == 0, np.nan, -values.real / np.abs(values))
        by_mode = {"eigenvalue": values, "frequency": frequency, "damping_ratio": ratio + 0.0}
        units = {"eigenvalue": "1/s", "frequency": "Hz", "damping_ratio": "1"}
        return xarray.Dataset(
            {
                "shape": (("mode", "coordinate"), shapes, {"units": "rad or m, relative"}),
                **{k: ("mode", x[order], {"units": units[k]}) for k, x in by_mode.items()},
            },
            coords={"mode": np.arange(1, len(order) + 1), "coordinate": self.motions["joint"].values},
        )

    @cached_property
    def _free(self) -> np.ndarray:
        """Places of the independent coordinates and their velocities in x, without drives that are inputs."""
        f, n = len(self.independent), self.A.shape[0] // 2
        return np.concatenate([np.arange(f), n + np.arange(f)])

    @property
    def _blocks(self) -> tuple[np.ndarray, ...]:
        f = len(self.independent)
        A = self.A.values[np.ix_(self._free, self._free)]
        return A[:f, :f], A[:f, f:], A[f:, :f], A[f:, f:]

    @cached_property
    def _spectrum(self) -> tuple[np.ndarray, np.ndarray, list[int]]:
        """Eigenvalues, the y of their eigenvectors, and which of them stand for a mode."""
        drift, _, pull, resist = self._blocks
        size = self._sizes[0]
        stiffness, resistance = (np.abs(x * size / size[:, None]).max(initial=0.0) for x in (pull, resist))
        if drift.any() or resistance > DAMPED * stiffness**0.5:
            A = self.A.values[np.ix_(self._free, self._free)]
            values, vectors = np.linalg.eig(A)
            values = values.astype(complex)
            return values, vectors[: len(drift)], [i for i, x in enumerate(values) if x.imag >= 0]
        squares, vectors = self._undamped(pull)
        squares = np.where(np.abs(squares) <= NEUTRAL * np.abs(squares).max(initial=0.0), 0.0, squares)
        roots = np.sqrt(squares.astype(complex))
        values = np.concatenate([roots, -roots])
        # one of a conjugate pair, both of two opposite real ones, and a neutral motion once
        picked = [i for i, x in enumerate(values) if x.imag > 0 or (x.imag == 0 and (x.real or i < len(roots)))]
        return values, np.hstack([vectors, vectors]), picked

    def _undamped(self, pull: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        from scipy.linalg import eigh

        K = self.stiffness
        if not K.size or np.abs(K - K.T).max() > 1e-9 * np.abs(K).max():
            return np.linalg.eig(pull)
        w, vectors = eigh((K + K.T) / 2, (self.inertia + self.inertia.T) / 2)
        return -w, vectors

    # ---- words and ways out ----------------------------------------------------------------------------------------

    def to_scipy(self) -> Any:
        """The matrices as a `scipy.signal.StateSpace`, for step responses, Bode plots and the like."""
        from scipy.signal import StateSpace

        if not self.B.size or not self.C.size:
            raise ModelError("a state-space system needs inputs and outputs: name motors or drives with inputs=[...]")
        return StateSpace(*(x.values for x in (self.A, self.B, self.C, self.D)))

    @property
    def note(self) -> str | None:
        """What to know before eigenvalues are believed: whether the state is no equilibrium, or the remark."""
        if self.in_equilibrium:
            return self.remark
        name, value = max(self.residual.items(), key=lambda x: abs(x[1]), default=("nothing", 0.0))
        if self.at_rest:
            return (
                f"not an equilibrium: it would accelerate ({name}'' = {value:.4g}), so that eigenvalues depend on the "
                "choice of coordinates; m.equilibrium(state) finds a pose at rest"
            )
        return f"the mechanism moves: eigenvalues hold for this instant and these coordinates ({name}'' = {value:.4g})"

    def __repr__(self) -> str:
        sizes = f"{self.A.shape[0]} states, {self.B.shape[1]} inputs, {self.C.shape[0]} outputs"
        return f"Linearisation({self.state.mechanism.name!r}, {sizes})"


def displacements(part: Measured) -> tuple[str, ...]:
    """Names of small displacements along the velocities of a joint or shape, as a `Linearisation` has them."""
    if not part.type.has_quaternion:
        return part.velocity_labels()
    return tuple(f"{part.name}.{'turn' if x[0] == 'w' else 'shift'} {x[1]}" for x in part.type.velocities)
