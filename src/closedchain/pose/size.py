"""How large a mechanism is at parameter values: one length, mass and time, by which all thresholds are taken.

Angles and lengths, slow and fast, light and heavy are compared with these three numbers and nothing else, so that a
mechanism moves in the same way in any units. The theory is in ``docs/theory/integrators.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from closedchain.derive.equations import Equations
from closedchain.derive.size import traced_length, traced_mass, traced_time
from closedchain.lock import LOCK, patient
from closedchain.model.derived import cached


@dataclass(frozen=True)
class Scale:
    """Length (m), mass (kg) and time (s) of a mechanism; see `closedchain.derive.size`.

    They are numbers, or columns (m, 1) for m points.
    """

    length: Any
    mass: Any
    time: Any

    @property
    def speed(self) -> Any:
        """The length in the time, m/s."""
        return self.length / self.time

    @property
    def energy(self) -> Any:
        """Of the mass at that speed, but for the half, J."""
        return self.mass * self.speed * self.speed


def drawn_scale(e: Equations, p: np.ndarray, span: float | None = None) -> Scale:
    """Length, mass and time of a mechanism at parameter values (n,), or at those of many points (m, n).

    The time is the period of a pendulum of that length, ``2 pi sqrt(length / g)``. Without gravity a drawing has no
    time of its own: then it is the length of the run, ``span``, or 1 s of one in which nothing moves. Where there is no
    run, it is without end: no rate is small, and only what is held and prescribed tells which ones are rounding
    (`Closing.pace`).
    """
    f, usual = _scale(e), np.inf if span is None else abs(span) or 1.0
    if np.ndim(p) == 1:
        length, mass, time = (x.item() for x in patient(f)(p))
        return Scale(length, mass, time or usual)
    with LOCK:
        many = f.map(len(p))
    lengths, masses, times = (x.reshape(-1, 1) for x in patient(many)(np.asarray(p).T))
    return Scale(lengths, masses, np.where(times > 0, times, usual))


def sizes_of(units: Sequence[str], scale: Scale) -> np.ndarray:
    """By which quantities of these units compare (n,), or (m, n) at m points: 1 for an angle and all other units."""
    impulse = scale.mass * scale.speed
    by_unit = {
        "m": scale.length, "rad/s": 1.0 / scale.time, "m/s": scale.speed, "1/s": 1.0 / scale.time,
        "rad/s^2": 1.0 / scale.time**2, "m/s^2": scale.speed / scale.time, "J": scale.energy,
        "N": impulse / scale.time, "N m": scale.energy, "N s": impulse, "N m s": impulse * scale.length,
    }  # fmt: skip
    columns = [by_unit.get(unit, 1.0) for unit in units]
    return np.hstack(np.broadcast_arrays(*columns)) if np.ndim(scale.length) else np.array(columns)


def drawn_length(e: Equations, p: np.ndarray) -> float:
    """The length by which angles and lengths are compared, m; see `closedchain.derive.size.traced_length`."""
    return drawn_scale(e, p).length


def velocity_sizes(e: Equations, length: float) -> np.ndarray:
    """By which velocities compare: the length for a slide, one for a hinge."""
    return np.array([length if unit == "m/s" else 1.0 for unit in e.topology.v_units])


def row_sizes(e: Equations, rows: Sequence[int], length: float) -> np.ndarray:
    """By which closure rows compare: the length for one that is a length, one for an angle."""
    return np.array([length if e.closure.units[row] == "m" else 1.0 for row in rows])


@cached
def _scale(e: Equations) -> ca.Function:
    return ca.Function("scale", [e.limbs.p], [traced_length(e), traced_mass(e), traced_time(e)])
