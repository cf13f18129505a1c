"""When conditions on time alone change: square waves, pulses, schedules.

The signal of a jump (`model.forces.sampled.Jump`) is a function of time. Where it is a straight line, as in
``cc.math.floor(t / T)``, the instant of the next jump is known in closed form; else it is looked for on a grid, fine
near by and coarser further away, and found by bisection. Jumps that others depend on come first and are constant
meanwhile, so that ``cc.math.where(t % T < T / 2, 1, -1)`` is a straight line within each period.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from closedchain.integrate.hooks import InputsError
from closedchain.model.expressions.expression import Expression, fold
from closedchain.model.expressions.operations import OPERATIONS
from closedchain.model.forces.sampled import LIVE, Jump

GROWING, GRID = 512, 4096  # looks at a curved signal in each window: while windows grow, and when they do not
NEAREST, WINDOWS = 1e-6, 20  # the first window, of the length of a run; so many of the longest ones make a run
BETWEEN = 0.381966  # of an interval: where its value is taken; at the middle it may be an exception
SAME_TIME = 1e-12  # of the length of a run: what happens closer together happens at once
FINEST = 1_000_000  # looks in a window, whatever is asked for
MOST = 1e8  # changes during a run that can be stepped onto


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
    max_step
        Curved signals are looked at as often as this at least, s.
    """

    def __init__(
        self,
        jumps: tuple[Jump, ...],
        parameters: dict[str, float],
        begin: float,
        until: float,
        max_step: float = np.inf,
    ) -> None:
        self.max_step = max_step
        self._number = {id(jump.node): i for i, jump in enumerate(jumps)}
        self._straight = {i: _degree(jump, self._number) <= 1 for i, jump in enumerate(jumps) if jump.timed}
        # straight ones first: others need to be looked at no further than the first of them
        self.timed = [(i, jump) for i, jump in enumerate(jumps) if jump.timed and not self._bends(jumps, i)]
        self.timed += [(i, jump) for i, jump in enumerate(jumps) if jump.timed and self._bends(jumps, i)]
        self.parameters, self.until = parameters, until
        self.forward = 1.0 if until >= begin else -1.0
        self.length = abs(until - begin)
        self.tiny = SAME_TIME * max(self.length, abs(begin), abs(until))

    def _bends(self, jumps: tuple[Jump, ...], i: int) -> bool:
        """Whether a signal, or one that it depends on, is no straight line."""
        return not self._straight[i] or any(self._bends(jumps, k) for k in jumps[i].inside)

    def after(self, t: float) -> tuple[float, dict[int, float]]:
        """The time of the next change after t, and the values that hold until then, by the number of the jump."""
        values: dict[int, float] = {}
        ahead = abs(self.until - t)
        first = np.inf
        for i, jump in self.timed:
            signal = self._signal(jump, t, values)
            far = self._distance(i, jump, signal, ahead)
            value = float(jump.value(signal(np.array([BETWEEN * min(far, ahead)])))[0])
            values[i] = value if np.isfinite(value) else LIVE  # a torque that is no number says so itself
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
                held = values.get(self._number.get(id(node), -1), LIVE)
                if held == LIVE:
                    return None
                return args[0] - args[1] * held if node.op == "mod" else held

            with np.errstate(all="ignore"):
                return np.broadcast_to(np.asarray(fold(jump.node, leaf, OPERATIONS, special), float), ahead.shape)

        return signal

    def _distance(self, i: int, jump: Jump, signal: Callable[[np.ndarray], np.ndarray], ahead: float) -> float:
        """How far away the next jump is; infinity if there is none within ``ahead``."""
        if not ahead > self.tiny:
            return np.inf
        if not self._straight[i]:
            return self._on_curve(jump, signal, ahead)
        u, end = signal(np.array([0.0, ahead]))
        slope = float(end - u) / ahead
        if not np.isfinite(slope):
            return np.inf
        if jump.counts and abs(slope) * self.length > MOST:
            raise InputsError(f"{jump.node} jumps {abs(slope) * self.length:.2g} times during the run")
        far = self._on_line(jump, float(u), slope)
        return far if far <= ahead else np.inf

    def _on_line(self, jump: Jump, u: float, slope: float) -> float:
        if slope == 0.0:
            return np.inf
        if jump.counts:
            # what lies nearer than tiny has happened
            level = np.floor(u + slope * self.tiny) + 1.0 if slope > 0 else np.ceil(u + slope * self.tiny) - 1.0
            return float((level - u) / slope)
        far = -u / slope
        return far if far > self.tiny else np.inf

    def _on_curve(self, jump: Jump, signal: Callable[[np.ndarray], np.ndarray], ahead: float) -> float:
        begin, width, longest = self.tiny, NEAREST * self.length, self.length / WINDOWS
        now = jump.value(signal(np.array([begin])))[0]

        def same(u: np.ndarray) -> np.ndarray:
            values = jump.value(u)
            return np.isnan(values) if np.isnan(now) else values == now

        while begin < ahead:
            end = min(ahead, begin + width)
            points = GROWING if width < longest else GRID
            if self.max_step < np.inf:
                points = int(min(max(points, np.ceil((end - begin) / self.max_step) + 1), FINEST))
            grid = np.linspace(begin, end, points)
            u = signal(grid)
            changes = np.flatnonzero(~same(u))
            peak = self._peak(signal, grid, u[: changes[0] + 1] if len(changes) else u, same)
            if peak is not None:  # a pulse between two points of the grid
                changes, grid = np.array([1]), np.array(peak)
            if len(changes):
                low, high = float(grid[changes[0] - 1]), float(grid[changes[0]])
                while low < (middle := 0.5 * (low + high)) < high:
                    if same(signal(np.array([middle])))[0]:
                        low = middle
                    else:
                        high = middle
                return high
            # the last point again: the signal may turn there
            begin, width = (float(grid[-2]) if end < ahead else end), min(2.0 * width, longest)
        return np.inf

    def _peak(
        self,
        signal: Callable[[np.ndarray], np.ndarray],
        grid: np.ndarray,
        u: np.ndarray,
        same: Callable[[np.ndarray], np.ndarray],
    ) -> tuple[float, float] | None:
        """A point of the grid and one after it with another value, if the signal passes a level and turns back."""
        rise = np.diff(u)
        for i in np.flatnonzero(rise[:-1] * rise[1:] < 0) + 1:
            # as far as the parabola through three points gets beyond them, and as much again
            beyond = 0.25 * (abs(rise[i - 1]) + abs(rise[i]))
            extreme = u[i] + np.sign(rise[i - 1]) * beyond
            if same(np.array([extreme]))[0]:
                continue
            low, high = float(grid[i - 1]), float(grid[i + 1])
            for _ in range(60):  # golden section
                inner = low + 0.381966 * (high - low), high - 0.381966 * (high - low)
                a, b = signal(np.array(inner)) * np.sign(rise[i - 1])
                low, high = (low, inner[1]) if a > b else (inner[0], high)
            top = 0.5 * (low + high)
            if not same(signal(np.array([top])))[0]:
                return float(grid[i - 1]), top
        return None


def _degree(jump: Jump, numbers: dict[int, int]) -> int:
    """Degree of a signal as a polynomial of time while the jumps inside it hold: 0 or 1, or 2 for all else."""

    def special(node: Expression, args: list[Any]) -> int:
        degrees = [a if isinstance(x, Expression) else 0 for a, x in zip(args, node.args, strict=True)]
        if max(degrees) == 0:
            return 0
        if id(node) in numbers and node is not jump.node and node.op != "mod":
            return 0
        if node.op in ("add", "sub", "neg") or (node is jump.node and node.op in ("lt", "le", "sign", "floor", "ceil")):
            return max(degrees)
        if node.op == "where" and degrees[0] == 0:
            return max(degrees)
        if node.op == "mul":
            return min(sum(degrees), 2)
        if node.op in ("div", "mod") and degrees[1] == 0:
            return degrees[0]
        return 2

    return int(fold(jump.node, lambda leaf: 1 if leaf.op == "time" else 0, {}, special))
