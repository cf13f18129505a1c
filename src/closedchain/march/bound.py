"""A native function together with the numbers of its formulation, which follow the mechanism's parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

from closedchain.native import NativeFunction


class Bound:
    """Looks like the native function, but takes the mechanism's parameters alone."""

    def __init__(self, function: NativeFunction, numbers: np.ndarray) -> None:
        self.function, self.numbers = function, numbers
        self.address, self.counts, self.timings = function.address, function.counts, function.timings
        self.output_shapes, self.prepare_counts = function.output_shapes, function.prepare_counts

    def prepare(self, p: np.ndarray) -> np.ndarray:
        """The work vector at parameter values."""
        return self.function.prepare(np.concatenate([p, self.numbers]))

    def __call__(self, t: Any, x: Any, p: np.ndarray) -> Any:
        """Evaluate once."""
        return self.function(t, x, np.concatenate([p, self.numbers]))

    def batch(self, t: Any, x: Any, p: np.ndarray) -> Any:
        """Evaluate for many times and states."""
        return self.function.batch(t, x, np.concatenate([p, self.numbers]))
