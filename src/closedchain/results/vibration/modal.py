"""`Modes`: natural modes of a mechanism about a state, whatever method found them.

A pair of conjugate eigenvalues is one mode, and so is a real eigenvalue. Modes are numbered from 1 by rising frequency.
`linear_modes` has those of a `Linearisation`, `erls_modes` those of finite elements.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from closedchain.attached import Attached
from closedchain.errors import ModelError
from closedchain.results.points import Points

if TYPE_CHECKING:
    import xarray

    from closedchain.look.animation import animate_mode
    from closedchain.look.sketch import plot_modes
    from closedchain.pose.state import State

GROWING = 1e-7  # of the largest eigenvalue: a double zero splits up by the root of rounding
SHOWN = 3  # bodies in a line of the table
LEAST = 0.005  # share of energy: smaller ones are not told


class Modes(Attached):
    """Natural modes of a mechanism about a state, from ``m.modes(...)``; ``print`` shows a table.

    Attributes
    ----------
    state
        About which.
    locked
        Coordinates that are locked.
    rigid
        How many rigid modes ERLS has left out; other methods list them with the frequency 0.
    """

    if TYPE_CHECKING:  # attached by `closedchain.verbs`
        animate = animate_mode
        plot = plot_modes

    state: State
    locked: tuple[str, ...]
    rigid: int

    # ---- how methods differ ------------------------------------------------------------------------------------------

    @property
    @abstractmethod
    def mode_table(self) -> xarray.Dataset:
        """``shape`` (mode, coordinate), and ``eigenvalue``, ``frequency``, ``damping_ratio`` (mode)."""

    @property
    @abstractmethod
    def elastic_shares(self) -> np.ndarray:
        """Share of each flexible body in the energy of each mode (modes, bodies)."""

    @abstractmethod
    def swing(self, k: int) -> Points:
        """Points of bodies in mode number k (from 1), to first order, at the phases 0 and a quarter of its swing."""

    # ---- what all have -----------------------------------------------------------------------------------------------

    @cached_property
    def dataset(self) -> xarray.Dataset:
        """Modes by rising frequency: ``frequency``, ``damping_ratio``, ``eigenvalue``, ``shape`` and ``elastic_share``.

        A shape is the motion of all coordinates, those of cut joints too, relative to the largest of them, rad or m;
        complex where they do not move in step. By ERLS it is the motion of nodes and of the coordinates q.
        """
        bodies = list(self.state.mechanism.flexible)
        about = {"units": "1", "about": "of the energy of the mode, in this body"}
        shares = (("mode", "body"), self.elastic_shares, about)
        return self.mode_table.assign(elastic_share=shares).assign_coords(body=bodies)

    @property
    def eigenvalues(self) -> np.ndarray:
        """One eigenvalue of each mode, 1/s."""
        return self.mode_table["eigenvalue"].values

    @property
    def frequencies(self) -> np.ndarray:
        """Natural frequencies, Hz: ``|eigenvalue| / 2 pi``; 0 for a mode that does not oscillate."""
        return self.mode_table["frequency"].values

    @property
    def damping_ratios(self) -> np.ndarray:
        """``-Re / |eigenvalue|``: negative where a deviation grows, NaN where it stays. ERLS leaves damping out."""
        return self.mode_table["damping_ratio"].values

    @property
    def shapes(self) -> xarray.DataArray:
        """Mode shapes (mode, coordinate); see `dataset`."""
        return self.mode_table["shape"]

    @property
    def stable(self) -> bool:
        """Whether no small deviation grows exponentially; oscillations that go on for ever are stable in this sense."""
        return no_growth(self.eigenvalues)

    @property
    def note(self) -> str | None:
        """What to know before frequencies are believed, if anything."""
        return None

    def deforms(self) -> list[str]:
        """Bodies that deform in each mode, with their share of its energy: ``"coupler 99 %, crank 1 %"`` or ``"-"``."""
        return told_shares(list(self.state.mechanism.flexible), self.elastic_shares)

    def number(self, k: int) -> int:
        """The place of mode number k (from 1, as in the table) in arrays."""
        count = len(self.frequencies)
        if isinstance(k, bool) or not isinstance(k, int | np.integer) or not 1 <= k <= count:
            raise ModelError(f"modes are numbered 1 to {count}, not {k!r}")
        return int(k) - 1

    def __len__(self) -> int:
        return len(self.frequencies)

    def __repr__(self) -> str:
        low, high = self.frequencies.min(initial=np.inf), self.frequencies.max(initial=0.0)
        return f"Modes({self.state.mechanism.name!r}, {len(self)} modes, {low:.4g} to {high:.4g} Hz)"


def no_growth(eigenvalues: np.ndarray) -> bool:
    """Whether no eigenvalue has a positive real part, but for rounding."""
    size = np.abs(eigenvalues).max(initial=0.0)
    return bool((eigenvalues.real <= GROWING * size).all())


def told_shares(bodies: Sequence[str], shares: np.ndarray) -> list[str]:
    """Shares (modes, bodies) in words: the largest ones of each mode."""
    out = []
    for row in shares:
        order = [k for k in np.argsort(-np.nan_to_num(row), kind="stable")[:SHOWN] if row[k] >= LEAST]
        out.append(", ".join(f"{bodies[k]} {100 * row[k]:.0f} %" for k in order) or "-")
    return out
