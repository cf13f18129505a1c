"""Native functions: what :func:`compile_function` makes of CasADi expressions."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from closedchain.lock import locked
from closedchain.native import engine
from closedchain.native.arrays import batched_argument, single_argument, with_shape
from closedchain.native.emit.ir import BATCH, MAIN, PREPARE, Program, Writing, module_text
from closedchain.native.emit.tables import Tables, tabulated
from closedchain.native.traced.counts import OperationCounts, count_operations
from closedchain.native.traced.graph import Graph
from closedchain.native.traced.hoist import hoist
from closedchain.native.traced.schedule import share_divisors
from closedchain.native.traced.trace import trace

if TYPE_CHECKING:
    import casadi
    from numpy.typing import ArrayLike, NDArray

Shape = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Timings:
    """Where the time went when a function was made, in seconds.

    Attributes
    ----------
    trace : float
        Reading CasADi's instructions, merging common subexpressions, hoisting.
    ir : float
        Writing the IR.
    machine_code : float
        Compiling, or loading from the cache, and linking.
    cached : bool
        Whether the machine code came from the cache.
    """

    trace: float
    ir: float
    machine_code: float
    cached: bool

    @property
    def total(self) -> float:
        """All of it."""
        return self.trace + self.ir + self.machine_code


class NativeFunction:
    """Machine code of an expression. Made by :func:`compile_function`.

    Attributes
    ----------
    name : str
    address : int
        Address of ``void f(const double* in_1, ..., [const double* w,] double* out_1, ...)``: the inputs that are not
        slow, the work vector if there are slow inputs, the outputs. Matrices are dense and column-major. Outputs may
        not overlap inputs or each other. The function keeps no state: threads may call it at the same time. The
        address is valid as long as this object lives.
    prepare_address : int or None
        Address of ``void prepare(const double* slow_1, ..., double* w)``; None if there are no slow inputs.
    n_work : int
        Length of ``w``.
    input_shapes, slow_shapes, output_shapes : dict of str to (int, int)
        Of the inputs that are not slow, of the slow inputs, of the outputs.
    counts, prepare_counts : OperationCounts
        Operations of the main function and of ``prepare``.
    timings : Timings
    """

    def __init__(self, name: str, parts: Parts, machine: engine.Machine, timings: Timings) -> None:
        self.name, self.timings, self.n_work = name, timings, parts.n_work
        self.counts, self.prepare_counts = parts.counts, parts.prepare_counts
        self.input_shapes, self.slow_shapes, self.output_shapes = (
            parts.input_shapes,
            parts.slow_shapes,
            parts.output_shapes,
        )
        self._machine, self._order = machine, tuple(parts.order)
        self.address: int = machine.address[MAIN]
        self.prepare_address: int | None = machine.address.get(PREPARE)
        n_in, n_out, has_work = len(self.input_shapes), len(self.output_shapes), bool(self.slow_shapes)
        self._main = engine.entry_point(self.address, n_in + has_work + n_out)
        pointer, integer = ctypes.c_void_p, ctypes.c_int64
        self._batch = ctypes.CFUNCTYPE(None, integer, *[pointer, integer] * n_in, *[pointer] * (has_work + n_out))(
            machine.address[BATCH]
        )
        if self.prepare_address is not None:
            self._prepare = engine.entry_point(self.prepare_address, len(self.slow_shapes) + 1)

    def __repr__(self) -> str:
        inputs = ", ".join([*self.input_shapes, *self.slow_shapes])
        outputs = ", ".join(self.output_shapes)
        return f"<NativeFunction {self.name}({inputs}) -> {outputs}: {self.counts.total} operations>"

    def __reduce__(self) -> Any:
        raise TypeError(f"{self.name}: machine code cannot be pickled; compile the expression again (it is cached)")

    def prepare(self, *slow: ArrayLike) -> NDArray[np.float64]:
        """The work vector of the slow inputs, given in their declared order."""
        self._check_number(slow, self.slow_shapes, "slow inputs")
        arrays = [
            single_argument(self.name, name, shape, value)
            for (name, shape), value in zip(self.slow_shapes.items(), slow, strict=True)
        ]
        w = np.empty(self.n_work)
        if slow:
            self._prepare(*(array.ctypes.data for array in arrays), w.ctypes.data)
        return w

    def __call__(self, *inputs: ArrayLike) -> Any:
        """Evaluate once.

        Parameters
        ----------
        *inputs : array_like
            All inputs, slow ones too, in the order in which they were declared. A vector may be 1-D.

        Returns
        -------
        ndarray, or tuple of ndarray if there are several outputs
            A column vector is 1-D (also one of length 1).
        """
        fast, slow = self._sort(inputs)
        arrays = [
            single_argument(self.name, name, shape, value)
            for (name, shape), value in zip(self.input_shapes.items(), fast, strict=True)
        ]
        if self.slow_shapes:
            arrays.append(self.prepare(*slow))
        results = [np.empty(rows * columns) for rows, columns in self.output_shapes.values()]
        self._main(*(array.ctypes.data for array in arrays), *(result.ctypes.data for result in results))
        shaped = [with_shape(r, shape) for r, shape in zip(results, self.output_shapes.values(), strict=True)]
        return shaped[0] if len(shaped) == 1 else tuple(shaped)

    def batch(self, *inputs: ArrayLike) -> Any:
        """Evaluate for many inputs, in a native loop.

        Parameters
        ----------
        *inputs : array_like
            As for a call; each input that is not slow may have one more axis in front, of length N. Inputs without it
            are the same for all N. At least one input has to have it.

        Returns
        -------
        ndarray, or tuple of ndarray if there are several outputs
            As for a call, with an axis of length N in front.
        """
        fast, slow = self._sort(inputs)
        arrays: list[tuple[NDArray[np.float64], int]] = []
        lengths: dict[str, int] = {}
        may_be_one = False
        for (name, shape), value in zip(self.input_shapes.items(), fast, strict=True):
            array, length, could_be = batched_argument(self.name, name, shape, value)
            arrays.append((array, 0 if length is None else shape[0] * shape[1]))
            may_be_one |= could_be
            if length is not None:
                lengths[name] = length
        different = set(lengths.values()) or ({1} if may_be_one else set())
        if len(different) != 1:
            found = ", ".join(f"{name}: {length}" for name, length in lengths.items()) or "none"
            raise ValueError(f"{self.name}: batch needs one length of the leading axes, got {found}")
        n = different.pop()
        results = [np.empty((n, rows * columns)) for rows, columns in self.output_shapes.values()]
        arguments: list[int] = [n]
        for array, step in arrays:
            arguments += [array.ctypes.data, step]
        w = self.prepare(*slow)
        arguments += [w.ctypes.data] if self.slow_shapes else []
        self._batch(*arguments, *(result.ctypes.data for result in results))
        shaped = [with_shape(r, shape) for r, shape in zip(results, self.output_shapes.values(), strict=True)]
        return shaped[0] if len(shaped) == 1 else tuple(shaped)

    def _sort(self, inputs: Sequence[ArrayLike]) -> tuple[list[ArrayLike], list[ArrayLike]]:
        self._check_number(inputs, self._order, "inputs")
        given = dict(zip(self._order, inputs, strict=True))
        return [given[name] for name in self.input_shapes], [given[name] for name in self.slow_shapes]

    def _check_number(self, given: Sequence[object], names: Sequence[str] | dict[str, Shape], what: str) -> None:
        if len(given) != len(names):
            raise ValueError(f"{self.name}: expected {len(names)} {what} ({', '.join(names)}), got {len(given)}")


@dataclass(frozen=True, slots=True)
class Parts:
    """What a function is made of, before it is compiled.

    Attributes
    ----------
    main, prepare : Graph
        What is computed in each evaluation, and what is computed once for slow inputs (None without them).
    input_shapes, slow_shapes, output_shapes : dict of str to (int, int)
    n_work : int
        Length of the work vector.
    order : list of str
        Names of all inputs, as they are given in a call.
    tables : Tables
        Lists that the functions read.
    """

    main: Graph
    prepare: Graph | None
    input_shapes: dict[str, Shape]
    slow_shapes: dict[str, Shape]
    output_shapes: dict[str, Shape]
    n_work: int
    order: list[str]
    tables: Tables = field(default_factory=Tables)

    @staticmethod
    def of(
        name: str,
        inputs: dict[str, casadi.SX],
        outputs: dict[str, casadi.SX],
        slow: tuple[str, ...] = (),
        search: bool = True,
    ) -> Parts:
        """Trace expressions, search tables if asked for, and take out what depends on slow inputs alone."""
        unknown = [i for i in slow if i not in inputs]
        if unknown:
            raise ValueError(f"{name}: slow inputs {unknown} are not among the inputs {list(inputs)}")
        if not outputs:
            raise ValueError(f"{name}: there are no outputs")
        shapes = {
            o: (expression.shape if hasattr(expression, "shape") else (1, 1)) for o, expression in outputs.items()
        }
        given = {i: symbol.shape for i, symbol in inputs.items()}
        graph, tables = trace(name, inputs, outputs), Tables()
        if search:
            graph = tabulated(graph, tables)
        return replace(Parts.of_graph(graph, given, shapes, slow), tables=tables)

    @staticmethod
    def of_graph(
        graph: Graph, inputs: dict[str, Shape], outputs: dict[str, Shape], slow: tuple[str, ...] = ()
    ) -> Parts:
        """The same from a graph; inputs and outputs are its own, in their order, with their shapes."""
        prepare, n_work = None, 0
        if slow:
            numbers = frozenset(k for k, i in enumerate(inputs) if i in slow)
            prepare, graph = hoist(graph, numbers, len(inputs))
            n_work = len(prepare.outputs)
            prepare = share_divisors(prepare)
        return Parts(
            share_divisors(graph.without_dead_values()),
            prepare,
            {i: shape for i, shape in inputs.items() if i not in slow},
            {i: shape for i, shape in inputs.items() if i in slow},
            outputs,
            n_work,
            list(inputs),
        )

    def text(self, writing: Writing = Writing()) -> str:  # noqa: B008 - a constant
        """The IR of the module."""
        program = Program(
            self.main,
            [rows * columns for rows, columns in self.input_shapes.values()],
            [rows * columns for rows, columns in self.output_shapes.values()],
            self.prepare,
            len(self.slow_shapes),
            self.n_work,
            self.tables,
        )
        return module_text(program, writing)

    @property
    def counts(self) -> OperationCounts:
        """Operations of an evaluation."""
        return count_operations(self.main)

    @property
    def prepare_counts(self) -> OperationCounts:
        """Operations of what is computed once."""
        return count_operations(self.prepare) if self.prepare is not None else OperationCounts()


@locked
def compile_function(
    name: str,
    inputs: dict[str, casadi.SX],
    outputs: dict[str, casadi.SX],
    *,
    slow: tuple[str, ...] = (),
    seldom: bool = False,
    cache: bool = True,
) -> NativeFunction:
    """Compile CasADi expressions to machine code.

    Parameters
    ----------
    name : str
        A name for messages; the machine code does not depend on it.
    inputs : dict of str to casadi.SX
        Purely symbolic vectors or matrices.
    outputs : dict of str to casadi.SX
        Expressions of the inputs. Sparse ones are written densely, zeros included.
    slow : tuple of str
        Inputs that change rarely. What depends on them alone is computed by ``prepare``, not in each evaluation.
    seldom : bool
        Whether it is evaluated so seldom that the time to compile it counts for more: LLVM then takes a tenth of the
        time, and an evaluation a quarter more.
    cache : bool
        Whether object code is taken from and kept in the user's cache folder.

    Returns
    -------
    NativeFunction

    Examples
    --------
    >>> import casadi
    >>> x, p = casadi.SX.sym("x", 2), casadi.SX.sym("p", 2)
    >>> dx = casadi.vertcat(x[1], -p[0] / p[1] * casadi.sin(x[0]))
    >>> pendulum = compile_function("pendulum", {"x": x, "p": p}, {"dx": dx}, slow=("p",))
    >>> pendulum([1.0, 2.0], [9.8, 2.0]).round(3)
    array([ 2.   , -4.123])
    >>> pendulum.n_work, pendulum.counts
    (1, OperationCounts(add=0, mul=1, div=0, sqrt=0, neg=0, trig=1, call=0, other=0))
    """
    begun = time.perf_counter()
    effort = engine.QUICK if seldom else engine.THOROUGH
    return compile_parts(name, Parts.of(name, inputs, outputs, slow), effort, cache=cache, begun=begun)


@locked
def compile_parts(
    name: str,
    parts: Parts,
    effort: engine.Effort = engine.THOROUGH,
    *,
    cache: bool = True,
    begun: float | None = None,
) -> NativeFunction:
    """Compile what is traced already; ``begun`` is when that was begun, for `NativeFunction.timings`."""
    clock = [time.perf_counter() if begun is None else begun]
    clock.append(time.perf_counter())
    text = parts.text(Writing(engine.vector_width(), effort.chunk_length))
    clock.append(time.perf_counter())
    symbols = [MAIN, BATCH] + ([PREPARE] if parts.slow_shapes else [])
    machine, cached = engine.build(text, symbols, cache, effort)
    clock.append(time.perf_counter())
    timings = Timings(clock[1] - clock[0], clock[2] - clock[1], clock[3] - clock[2], cached)
    return NativeFunction(name, parts, machine, timings)
