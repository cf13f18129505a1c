"""Poses at which the motors of a run could not have held it: singular poses of the actuation (type 2).

Forward dynamics is regular there, so a run goes on, but it says so. Between two samples such a pose shows by the sign
of

    det [ A ]
        [ J ]

with independent closure rows A and the actuated velocities J, where there are as many motors as freedoms: with more or
fewer of them no generic motion meets such a pose. A singular value decomposition is made where the sign changes, and at
the sample with the smallest determinant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from closedchain.march.events import TOUCHING
from closedchain.march.judge.conditioning import Conditioning
from closedchain.march.marks import SINGULAR
from closedchain.march.segment import Segment
from closedchain.pose.closing import Closing
from closedchain.pose.redundancy import spread

if TYPE_CHECKING:
    from closedchain.results.run import Run

LOOKS = 201  # samples at most
BETWEEN = 33  # poses between two samples, twice: a thousandth of the time between them
# Conditioning where the sign changes, over that at the samples around: rows that only happened to be chosen may lose
# their independence at a regular pose, where it does not fall at all.
FALLS = 0.05


def lost_hold(run: Run) -> str | None:
    """A sentence about the first pose at which the actuators lose their hold; None if there is none."""
    if not run.mechanism.motors or any(h.tells_of(SINGULAR["actuation"]) for h in run.record):
        return None
    for piece in run.thinned(LOOKS).segments:
        if len(piece.trajectory.t):
            found = _first(piece, Conditioning(piece.program, run.p))
            if found:
                return found
    return None


def _first(piece: Segment, conditioning: Conditioning) -> str | None:
    t, x = np.asarray(piece.trajectory.t), np.asarray(piece.trajectory.x)
    values = conditioning.determinants(t, x)
    if values is None or not np.isfinite(values).all():
        return None
    for i in np.flatnonzero(values[1:] * values[:-1] < 0):
        between = slice(i, i + 2)
        time, pose = _crossing(piece, conditioning, t[between], x[between])
        here = float(conditioning.actuation(np.array([time]), pose[None])[0])
        if here < FALLS * conditioning.actuation(t[between], x[between]).max():
            return _told(conditioning, time, pose, here)
    worst = int(np.argmin(np.abs(values)))
    time, pose = float(t[worst]), x[worst]
    here = float(conditioning.actuation(t[[worst]], pose[None])[0])
    if here >= TOUCHING:
        return None
    # motors that hold nothing at any pose are where they are drawn, and no pose is to blame
    e, p = piece.program.equations, conditioning.p
    closing = Closing(e, p, time=time, rows=piece.program.active)
    around = np.array([piece.program.pack(q, 0 * piece.start.v) for q in spread(closing, pose[: e.topology.nq])])
    lost = here < FALLS * conditioning.actuation(np.full(len(around), time), around).max()
    return _told(conditioning, time, pose, here) if lost else None


def _crossing(piece: Segment, conditioning: Conditioning, t: np.ndarray, x: np.ndarray) -> tuple[float, np.ndarray]:
    """Time and state between two samples at which the determinant changes its sign."""
    program, h = piece.program, t[1] - t[0]
    n = program.equations.topology.nq
    p = piece.p
    rate = program.evaluate("rates of q", lambda: {"rate": program.equations.qdot}, t, x, p if p.ndim == 1 else p[:1])
    first, last = rate["rate"][:, :, 0]

    def states(s: np.ndarray) -> np.ndarray:
        """Hermite's polynomial for coordinates, a line for all else, at shares s of the time."""
        s = s[:, None]
        out = x[0] + s * (x[1] - x[0])
        chord = x[1, :n] - x[0, :n]
        out[:, :n] += s * (1 - s) * ((1 - s) * (h * first - chord) - s * (h * last - chord))
        return out

    low, high = 0.0, 1.0
    for _ in range(2):
        s = np.linspace(low, high, BETWEEN)
        values = conditioning.determinants(t[0] + s * h, states(s))
        assert values is not None
        k = int(np.argmax(values[1:] * values[:-1] <= 0))
        low, high = s[k], s[k + 1]
    share = np.array([0.5 * (low + high)])
    return float(t[0] + share[0] * h), states(share)[0]


def _told(conditioning: Conditioning, t: float, x: np.ndarray, here: float) -> str:
    name = conditioning.program.equations.topology.mechanism.name
    return (
        f"the motors of {name!r} lose their hold at t = {t:.4g} s: a singular pose of the actuation"
        f"{conditioning.unheld(t, x)} (conditioning {here:.1g}). The run goes on, as bodies would, but no motor can "
        "hold or steer that motion there; cc.SingularPoses('stop') among its events ends a run before it"
    )
