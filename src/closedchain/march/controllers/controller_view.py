"""What a sampled controller sees: the state of a mechanism at one instant, by name."""

from __future__ import annotations

import casadi as ca
import numpy as np

from closedchain.arguments import suggest
from closedchain.derive.equations import Equations
from closedchain.errors import ModelError
from closedchain.lock import locked
from closedchain.model.derived import cached
from closedchain.pose.state import joint_values


class Now:
    """Coordinates, velocities and frames at time ``t``; ``now["O"]``, ``now["O'"]``, ``now.place("coupler.tip")``.

    Attributes
    ----------
    t
        Time, s.
    q, v
        Coordinates and velocities of the tree, numbered as in the cut mechanism.
    """

    def __init__(self, equations: Equations, t: float, q: np.ndarray, v: np.ndarray, p: np.ndarray) -> None:
        self.t, self.q, self.v = t, q, v
        q.flags.writeable = v.flags.writeable = False  # a controller sees the state, it does not change it
        self._equations, self._p = equations, p
        self._values: dict[str, float] | None = None

    def __getitem__(self, name: str) -> float:
        if self._values is None:
            m = self._equations.topology.mechanism
            got = joint_values(m)(self.t, self.q, self.v, self._p)
            numbers = np.concatenate([np.array(x).ravel() for x in got])
            self._values = dict(zip(names(self._equations), numbers.tolist(), strict=True))
        if name not in self._values:
            raise ModelError(f"a controller asks for {name!r}{suggest(name, self._values)}")
        return self._values[name]

    def place(self, frame: str) -> np.ndarray:
        """Position of a frame (``"body.frame"``, or a body's name) in world axes, m."""
        return self._frame(frame)[0]

    def speed(self, frame: str) -> np.ndarray:
        """Velocity of a frame's origin in world axes, m/s."""
        return self._frame(frame)[1]

    @locked
    def _frame(self, name: str) -> list[np.ndarray]:
        return [np.array(x).ravel() for x in _frame(self._equations, name)(self.t, self.q, self.v, self._p)]


@cached
def _frame(e: Equations, name: str) -> ca.Function:
    """Position and velocity of a frame as a function of (t, q, v, p)."""
    at = e.motion.frame(e.topology.mechanism.find_frame(name))
    return e.function("frame", {"place": at.X.r, "speed": at.velocity.lin})


def names(equations: Equations) -> list[str]:
    """Names of all coordinates, then of all velocities, as in the dataset of a run."""
    joints = equations.topology.measured
    rates = [
        f"{label}'" if own in joint.type.coordinates else label
        for joint in joints
        for own, label in zip(joint.type.velocities, joint.velocity_labels(), strict=True)
    ]
    return [label for joint in joints for label in joint.labels()] + rates
