"""A native function together with the numbers of its formulation, which follow the mechanism's parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

from closedchain.native import LazyFunction, NativeFunction, OperationCounts, Timings


class WithNumbers:
    """Looks like the native function, but takes the mechanism's parameters alone."""

    def __init__(self, function: NativeFunction | LazyFunction, numbers: np.ndarray) -> None:
        self.function, self.numbers = function, numbers

    @property
    def address(self) -> int:
        """Of the machine code."""
        return self.function.address

    @property
    def counts(self) -> OperationCounts:
        """Operations of an evaluation."""
        return self.function.counts

    @property
    def prepare_counts(self) -> OperationCounts:
        """Operations of `prepare`."""
        return self.function.prepare_counts

    @property
    def timings(self) -> Timings:
        """What compiling took."""
        return self.function.timings

    @property
    def output_shapes(self) -> dict[str, tuple[int, int]]:
        """Shapes of the outputs, by name."""
        return self.function.output_shapes

    def prepare(self, p: np.ndarray) -> np.ndarray:
        """The work vector at parameter values."""
        return self.function.prepare(np.concatenate([p, self.numbers]))

    def __call__(self, t: Any, x: Any, p: np.ndarray) -> Any:
        """Evaluate once."""
        return self.function(t, x, np.concatenate([p, self.numbers]))

    def batch(self, t: Any, x: Any, p: np.ndarray) -> Any:
        """Evaluate for many times and states."""
        return self.function.batch(t, x, np.concatenate([p, self.numbers]))
