"""A native function that is compiled when its machine code is first asked for; until then it is interpreted."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from closedchain.lock import once, patient
from closedchain.native.function import NativeFunction, Parts, Timings, compile_parts
from closedchain.native.traced.counts import OperationCounts

if TYPE_CHECKING:
    import casadi


class LazyFunction:
    """Looks like the `NativeFunction` that it may become.

    Parameters
    ----------
    name, inputs, outputs, slow
        As for `compile_function`.
    """

    def __init__(
        self, name: str, inputs: dict[str, casadi.SX], outputs: dict[str, casadi.SX], slow: tuple[str, ...]
    ) -> None:
        self.name, self._inputs, self._outputs, self._slow = name, inputs, outputs, slow

    @once
    def _traced(self) -> tuple[Parts, float]:
        """What it is made of, and what it took to find out, s."""
        begun = time.perf_counter()
        return Parts.of(self.name, self._inputs, self._outputs, self._slow), time.perf_counter() - begun

    @once
    def native(self) -> NativeFunction:
        """The machine code."""
        parts, spent = self._traced
        return compile_parts(self.name, parts, begun=time.perf_counter() - spent)

    @property
    def counts(self) -> OperationCounts:
        """Operations of an evaluation; known without machine code."""
        return self._traced[0].counts

    @property
    def prepare_counts(self) -> OperationCounts:
        """Operations of what is computed once for slow inputs."""
        return self._traced[0].prepare_counts

    @property
    def timings(self) -> Timings:
        """What compiling took; nothing as long as there is no machine code."""
        return self.native.timings if "native" in vars(self) else Timings(0.0, 0.0, 0.0, False)

    @once
    def _interpreted(self) -> casadi.Function:
        import casadi

        return casadi.Function("late", list(self._inputs.values()), [casadi.densify(x) for x in self._outputs.values()])

    def __call__(self, *inputs: Any) -> Any:
        """Evaluate once, with what there is."""
        if "native" in vars(self):
            return self.native(*inputs)
        values = patient(self._interpreted.call)([np.asarray(x, float) for x in inputs])
        out = [value.reshape(value.shape if value.shape[1] > 1 else -1) for value in values]
        return out[0] if len(out) == 1 else tuple(out)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.native, name)
