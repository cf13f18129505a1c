"""LLVM IR, as text, of a graph.

A module has these functions (``prepare`` only if there are slow inputs)::

    void closedchain_main(const double* in_1, ..., [const double* w,] double* out_1, ...)
    void closedchain_prepare(const double* slow_1, ..., double* w)
    void closedchain_batch(int64 n, const double* in_1, int64 step_1, ..., [const double* w,] double* out_1, ...)

With several lanes (`native.emit.lanes`) ``main`` and ``prepare`` evaluate several points at once, and there is no
``batch``.

The text holds no name that the user gave, so the object cache serves one expression under any name. Text is built by
plain string formatting, which is several times faster than an IR builder object for each instruction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from closedchain.native.emit.block import Block
from closedchain.native.emit.chunks import split
from closedchain.native.emit.lanes import LaneBlock, intrinsic, vector
from closedchain.native.emit.operations import OPERATIONS
from closedchain.native.emit.sincos import sincos_calls, sincos_definition
from closedchain.native.emit.tables import Tables
from closedchain.native.traced.graph import Graph
from closedchain.native.traced.schedule import angles_first

MAIN, PREPARE, BATCH = "closedchain_main", "closedchain_prepare", "closedchain_batch"

# a longer work array than this (in doubles) is taken from the heap: threads may have small stacks
STACK_LIMIT = 64 * 1024 // 8


@dataclass(frozen=True)
class Program:
    """The functions of a module.

    Attributes
    ----------
    main : Graph
        The main function; its input after the fast ones is the work vector if there is a ``prepare``.
    input_sizes, output_sizes : sequence of int
        Number of doubles of each fast input and of each output.
    prepare : Graph, optional
        The function that computes the work vector.
    n_slow, n_work : int
        Number of slow inputs, length of the work vector.
    tables : Tables, optional
        Lists that the functions read.
    """

    main: Graph
    input_sizes: Sequence[int]
    output_sizes: Sequence[int]
    prepare: Graph | None = None
    n_slow: int = 0
    n_work: int = 0
    tables: Tables | None = None


@dataclass(frozen=True)
class Writing:
    """How functions are written.

    Attributes
    ----------
    vector_width : int
        How many sines and cosines are computed at once; 1 leaves each to the C library.
    chunk_length : int, optional
        Greatest number of operations in a function; by default what suits the length of the program.
    lanes : int
        Points that are evaluated at once.
    shared : frozenset of int
        Fast inputs that have one value for all lanes.
    """

    vector_width: int = 1
    chunk_length: int | None = None
    lanes: int = 1
    shared: frozenset[int] = frozenset()

    @property
    def width(self) -> int:
        """How many sines and cosines are computed at once, lanes included."""
        return self.lanes if self.lanes > 1 else self.vector_width


def module_text(program: Program, writing: Writing) -> str:
    """The IR of a module."""
    main, prepare = program.main, program.prepare
    pointers = [f"in{i}" for i in range(len(program.input_sizes))] + (["w"] if prepare is not None else [])
    results = [f"out{i}" for i in range(len(program.output_sizes))]
    parts = [_function(MAIN, main, pointers, dict(zip(results, program.output_sizes, strict=True)), writing)]
    used = set(main.name)
    if prepare is not None:
        slow = [f"in{i}" for i in range(program.n_slow)]
        unshared = replace(writing, shared=frozenset())
        parts.append(_function(PREPARE, prepare, slow, {"out0": program.n_work}, unshared))
        used |= set(prepare.name)
    lanes, width = writing.lanes, writing.width
    if lanes == 1:
        parts.append(_batch(pointers, results, program.output_sizes))
    if width > 1 and used & {"sin", "cos"}:
        parts += [sincos_definition(width), *sincos_calls(width)]
        used = (used | {"sin", "cos"}) - ({"fabs"} if lanes > 1 else set())  # which is declared with them
    tables = [] if program.tables is None else program.tables.definitions()
    return "\n".join([*tables, *parts, *_declarations(used, lanes)]) + "\n"


def _declarations(used: set[str], lanes: int) -> list[str]:
    """Declare what is called; define what is ours."""
    arity = {OPERATIONS[n].calls: OPERATIONS[n].arity for n in used if n in OPERATIONS and OPERATIONS[n].calls}
    lines = []
    for function in sorted(arity) if lanes > 1 else ():
        name = intrinsic(function, lanes)
        # sines and cosines beyond the limit are left to the library one by one
        if name is not None and function not in ("llvm.sin.f64", "llvm.cos.f64"):
            operands = ", ".join([vector(lanes)] * arity.pop(function))
            lines.append(f"declare {vector(lanes)} @{name}({operands}) nounwind willreturn memory(none)")
    for function in sorted(arity):
        operands = ", ".join(["double"] * arity[function])
        # memory(none): the library's errno is nobody's business here, so calls may be moved and merged
        lines.append(f"declare double @{function}({operands}) nounwind willreturn memory(none)")
    lines.append("declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)")
    lines.append("declare noalias ptr @malloc(i64) nounwind\ndeclare void @free(ptr) nounwind")
    return lines


def _parameters(pointers: Sequence[str], results: Sequence[str], work: bool) -> str:
    texts = [f"ptr noalias nocapture readonly %{p}" for p in pointers]
    texts += [f"ptr noalias nocapture %{p}" for p in results]
    if work:
        texts.append("ptr noalias nocapture %work")
    return ", ".join(texts)


def _function(symbol: str, graph: Graph, pointers: Sequence[str], sizes: dict[str, int], writing: Writing) -> str:
    """One entry, and its chunks if it is long; ``sizes`` are those of the results."""
    lanes, results, angles = writing.lanes, list(sizes), frozenset[int]()
    if writing.width > 1:
        graph, angles = angles_first(graph)
    chunks = split(graph, writing.chunk_length)
    block: Callable[..., Block] = partial(Block, graph, pointers, angles, writing.width)
    if lanes > 1:
        block = partial(LaneBlock, graph, pointers, lanes, writing.shared)
    zeros = _zero_fill(graph, results, [lanes * size for size in sizes.values()], lanes)
    stores = _stores(graph, results)
    leaves = [n for n in stores if graph.is_leaf(n)]
    head = f"define void @{symbol}({_parameters(pointers, results, work=False)}) noinline nounwind {{"
    if len(chunks.values) == 1:
        body = block(stores, {}).lines(leaves + chunks.values[0])
        return "\n".join([head, *zeros, *body, "  ret void\n}"])

    parts, calls = [], []
    arguments = ", ".join(f"ptr %{p}" for p in [*pointers, *results, "work"])
    parameters = _parameters(pointers, results, work=True)
    for c, values in enumerate(chunks.values):
        body = block(stores, chunks.slot).lines((leaves if c == 0 else []) + values)
        parts.append(f"define internal void @{symbol}.{c}({parameters}) noinline nounwind {{")
        parts += [*body, "  ret void\n}"]
        calls.append(f"  call void @{symbol}.{c}({arguments})")
    n_work = lanes * chunks.n_slots
    if n_work <= STACK_LIMIT:
        before, after = f"  %work = alloca [{max(n_work, 1)} x double], align 64", []
    else:
        before = f"  %work = call noalias ptr @malloc(i64 {8 * n_work})"
        after = ["  call void @free(ptr %work)"]
    return "\n".join([*parts, head, before, *zeros, *calls, *after, "  ret void\n}"])


def _zero_fill(graph: Graph, results: Sequence[str], sizes: Sequence[int], lanes: int) -> list[str]:
    """Structural zeros: clear each output that is not written completely."""
    written = [0] * len(sizes)
    for output, _, _ in graph.outputs:
        written[output] += lanes
    return [
        f"  call void @llvm.memset.p0.i64(ptr align 8 %{result}, i8 0, i64 {8 * size}, i1 false)"
        for result, size, number in zip(results, sizes, written, strict=True)
        if number < size
    ]


def _stores(graph: Graph, results: Sequence[str]) -> dict[int, list[tuple[str, int]]]:
    """Where each value has to be written: output and position."""
    places: dict[int, list[tuple[str, int]]] = {}
    for output, position, number in graph.outputs:
        places.setdefault(number, []).append((results[output], position))
    return places


def _batch(pointers: Sequence[str], results: Sequence[str], output_sizes: Sequence[int]) -> str:
    """A loop over ``main``: an input advances by its step (0 if it is the same for all), an output by its size."""
    inputs = [p for p in pointers if p != "w"]
    parameters = ["i64 %n"]
    for p in inputs:
        parameters += [f"ptr noalias nocapture readonly %{p}", f"i64 %step.{p}"]
    parameters += ["ptr noalias nocapture readonly %w"] if "w" in pointers else []
    parameters += [f"ptr noalias nocapture %{p}" for p in results]
    lines = [
        f"define void @{BATCH}({', '.join(parameters)}) nounwind {{\nentry:",
        "  %some = icmp sgt i64 %n, 0\n  br i1 %some, label %loop, label %done\nloop:",
        "  %k = phi i64 [ 0, %entry ], [ %next, %loop ]",
    ]
    for p in inputs:
        lines.append(f"  %at.{p} = mul i64 %k, %step.{p}")
        lines.append(f"  %now.{p} = getelementptr double, ptr %{p}, i64 %at.{p}")
    for p, size in zip(results, output_sizes, strict=True):
        lines.append(f"  %at.{p} = mul i64 %k, {size}")
        lines.append(f"  %now.{p} = getelementptr double, ptr %{p}, i64 %at.{p}")
    arguments = ", ".join(f"ptr %{p}" if p == "w" else f"ptr %now.{p}" for p in [*pointers, *results])
    lines += [
        f"  call void @{MAIN}({arguments})",
        "  %next = add i64 %k, 1\n  %more = icmp slt i64 %next, %n",
        "  br i1 %more, label %loop, label %done\ndone:\n  ret void\n}",
    ]
    return "\n".join(lines)
