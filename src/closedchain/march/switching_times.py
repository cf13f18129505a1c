"""When conditions on time alone change: square waves, pulses, schedules.

The signal of a jump (`model.held.Jump`) is a function of time. Where it is a straight line, as in ``cc.floor(t / T)``,
the instant of the next jump is known in closed form; else it is looked for on a fine grid and found by bisection. Jumps
that others depend on come first and are constant meanwhile, so that ``cc.where(t % T < T / 2, 1, -1)`` is a straight
line within each period.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from closedchain.model.expression import fold
from closedchain.model.held import Jump
from closedchain.model.operations import OPERATIONS

PROBES = np.array([0.0, 0.11, 0.37, 0.5, 0.83, 1.0])  # where a signal is compared with a straight line
STRAIGHT = 1e-12
WINDOWS, GRID = 20, 4096  # a curved signal is looked at so often over a run
SAME_TIME = 1e-12  # of the length of a run: what happens closer together happens at once


class SwitchingTimes:
    """The jumps of a drawing that depend on time alone.

    Parameters
    ----------
    jumps
        All jumps of the drawing, in order.
    parameters
        Values by name.
    begin, until
        The run; it may go back in time.
    """

    def __init__(self, jumps: tuple[Jump, ...], parameters: dict[str, float], begin: float, until: float) -> None:
        self.timed = [(i, jump) for i, jump in enumerate(jumps) if jump.timed]
        self._number = {id(jump.node): i for i, jump in enumerate(jumps)}
        self.parameters, self.until = parameters, until
        self.forward = 1.0 if until >= begin else -1.0
        self.length = abs(until - begin)
        self.tiny = SAME_TIME * max(self.length, abs(begin), abs(until))

    def after(self, t: float) -> tuple[float, dict[int, float]]:
        """The time of the next change after t, and the values that hold until then, by the number of the jump."""
        values: dict[int, float] = {}
        ahead = abs(self.until - t)
        first = np.inf
        for i, jump in self.timed:
            signal = self._signal(jump, t, values)
            far = self._distance(jump, signal, ahead)
            values[i] = float(jump.value(signal(np.array([0.5 * min(far, ahead)])))[0])
            first, ahead = min(first, far), min(ahead, far)
        return t + self.forward * first, values

    def _signal(self, jump: Jump, t: float, values: dict[int, float]) -> Callable[[np.ndarray], np.ndarray]:
        """The signal as a function of how far ahead of t, with the jumps inside it constant."""

        def signal(ahead: np.ndarray) -> np.ndarray:
            times = t + self.forward * ahead

            def leaf(node: Any) -> Any:
                return times if node.op == "time" else self.parameters[node.args[0]]

            def special(node: Any, args: list[Any]) -> Any:
                if node is jump.node:
                    return jump.signal(*args)
                held = values.get(self._number.get(id(node), -1))
                if held is None:
                    return None
                return args[0] - args[1] * held if node.op == "mod" else held

            with np.errstate(all="ignore"):
                return np.broadcast_to(np.asarray(fold(jump.node, leaf, OPERATIONS, special), float), ahead.shape)

        return signal

    def _distance(self, jump: Jump, signal: Callable[[np.ndarray], np.ndarray], ahead: float) -> float:
        """How far away the next jump is; infinity if there is none within ``ahead``."""
        if not ahead > self.tiny:
            return np.inf
        u = signal(ahead * PROBES)
        if np.abs(u - (u[0] + (u[-1] - u[0]) * PROBES)).max() <= STRAIGHT * np.abs(u).max():
            far = self._straight(jump, float(u[0]), float(u[-1] - u[0]) / ahead)
            return far if far <= ahead else np.inf
        return self._curved(jump, signal, ahead)

    def _straight(self, jump: Jump, u: float, slope: float) -> float:
        if slope == 0.0:
            return np.inf
        if not jump.counts:
            far = -u / slope
            return far if far > self.tiny else np.inf
        level = np.floor(u) + 1.0 if slope > 0 else np.ceil(u) - 1.0
        far = (level - u) / slope
        while far <= self.tiny:
            level += np.sign(slope)
            far = (level - u) / slope
        return float(far)

    def _curved(self, jump: Jump, signal: Callable[[np.ndarray], np.ndarray], ahead: float) -> float:
        begin = self.tiny
        while begin < ahead:
            end = min(ahead, begin + self.length / WINDOWS)
            grid = np.linspace(begin, end, GRID)
            values = jump.value(signal(grid))
            changes = np.flatnonzero(values != values[0])
            if len(changes):
                low, high = float(grid[changes[0] - 1]), float(grid[changes[0]])
                while low < (middle := 0.5 * (low + high)) < high:
                    if jump.value(signal(np.array([middle])))[0] == values[0]:
                        low = middle
                    else:
                        high = middle
                return high
            begin = end
        return np.inf
