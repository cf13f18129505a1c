"""From IR text to machine code in memory."""

from __future__ import annotations

import ctypes
import ctypes.util
import sys
import weakref
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

from closedchain import processor
from closedchain.lock import locked
from closedchain.native import object_cache

# functions of the C library that native code may call
_LIBRARY = (
    "sin cos sincos tan asin acos atan atan2 exp log pow sinh cosh tanh asinh acosh atanh erf log1p expm1 "
    "hypot fmod remainder floor ceil malloc free memset"
).split()

LIBRARIES = 64  # that a linker links: what LLVM keeps of them is then less than a megabyte
_LINKERS: list[Linker] = []  # the one in use


@dataclass(frozen=True, slots=True)
class Effort:
    """What LLVM does for a function.

    Attributes
    ----------
    optimiser, generator : int
        Levels of the optimiser and of the code generator.
    chunk_length : int, optional
        Greatest number of operations in a chunk; by default what suits the length of the program.
    """

    optimiser: int
    generator: int
    chunk_length: int | None = None


# docs/theory/native.md has the measurements behind the numbers
THOROUGH = Effort(optimiser=1, generator=2)
QUICK = Effort(optimiser=0, generator=0, chunk_length=200)


class Machine:
    """Code in memory: it lives as long as this object, and is freed with it."""

    def __init__(self, linker: Linker, tracker: Any, symbols: Iterable[str]) -> None:
        self.address: dict[str, int] = {symbol: tracker[symbol] for symbol in symbols}
        # which keeps the linker alive: its code must be freed before it
        weakref.finalize(self, linker.unlink, tracker).atexit = False


class Linker:
    """What links code, each function as a library of its own.

    LLVM keeps some kilobytes of a library after its code is freed. They go with the linker, so that none of them links
    more than `LIBRARIES`, and is freed after the last of these.
    """

    def __init__(self) -> None:
        self.linked = 0
        self._jit = _llvm().create_lljit_compiler(_target_machine(THOROUGH), use_jit_link=True)

    def link(self, library: Any, symbols: Iterable[str]) -> Machine:
        """Make the code of a library ready to run."""
        self.linked += 1
        return Machine(self, library.link(self._jit, f"closedchain{self.linked}"), symbols)

    def unlink(self, tracker: Any) -> None:
        """Free the code of a library. Called by the garbage collector, in any thread: it waits for no lock of ours."""
        tracker.close()


@cache
def _llvm() -> Any:
    """LLVM, ready to compile for this machine."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm


def _linker() -> Linker:
    """The linker of the next library."""
    if not _LINKERS or _LINKERS[-1].linked >= LIBRARIES:
        _LINKERS[:] = [Linker()]  # those before live as long as their code
    return _LINKERS[-1]


@cache
def _library_addresses() -> dict[str, int]:
    """Addresses of the functions of the C library."""
    if sys.platform == "win32":
        libraries = [ctypes.CDLL("ucrtbase")]
    else:
        name = ctypes.util.find_library("m")
        libraries = [ctypes.CDLL(None)] + ([ctypes.CDLL(name)] if name else [])
    addresses = {}
    for symbol in _LIBRARY:
        for library in libraries:
            if hasattr(library, symbol):
                addresses[symbol] = ctypes.cast(getattr(library, symbol), ctypes.c_void_p).value or 0
                break
    return addresses


@cache
def target() -> tuple[str, str, str, str]:
    """What code is compiled for: triple, name and features of the processor, and the version of LLVM.

    The machine at hand, or what the setting of `closedchain.processor` says.
    """
    llvm = _llvm()
    version = ".".join(map(str, llvm.llvm_version_info))
    features = llvm.get_host_cpu_features()
    wanted = processor.target(features)
    if wanted is not None:
        return llvm.get_process_triple(), wanted.name, "", version
    return llvm.get_process_triple(), llvm.get_host_cpu_name(), features.flatten(), version


def described() -> dict[str, str]:
    """The setting, the processor that code is compiled for, and the kernels of linear algebra, for metadata."""
    return {"cpu": processor.setting(), "processor": target()[1], "linear_algebra": processor.linear_algebra()}


@cache
def vector_width() -> int:
    """Doubles in a vector register, as far as worth using; 1 without fused multiply-add."""
    features = _llvm().get_host_cpu_features()
    wanted = processor.target(features)
    if wanted is not None:
        return wanted.lanes
    if features.get("neon"):
        return 2
    if not features.get("fma"):
        return 1
    return 8 if features.get("avx512dq") else 4


def _target_machine(effort: Effort) -> Any:
    triple, cpu, features, _ = target()
    # the small code model lets instructions address their constants directly; the linker puts the sections of one
    # object side by side, and reports an error if something were out of reach
    return (
        _llvm()
        .Target.from_triple(triple)
        .create_target_machine(
            cpu=cpu, features=features, opt=effort.generator, reloc="pic", codemodel="small", jit=True
        )
    )


def _compile(text: str, effort: Effort) -> bytes:
    llvm = _llvm()
    machine = _target_machine(effort)
    module = llvm.parse_assembly(text, llvm.create_context())  # constants and types are freed with it
    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    module.verify()
    options = llvm.create_pipeline_tuning_options(speed_level=effort.optimiser)
    builder = llvm.create_pass_builder(machine, options)
    passes = builder.getModulePassManager()
    passes.run(module, builder)
    _free(passes)
    return machine.emit_object(module)


def _free(passes: Any) -> None:
    """Free what llvmlite 0.44 and later would keep for ever: there a base class that frees nothing comes first."""
    for base in type(passes).__mro__:
        if "_dispose" in vars(base) and base is not _llvm().ffi.ObjectRef:
            vars(base)["_dispose"](passes)
            passes.detach()
            return


@locked
def build(text: str, symbols: Iterable[str], use_cache: bool = True, effort: Effort = THOROUGH) -> tuple[Machine, bool]:
    """Make machine code of IR text, or take it from the cache.

    Returns
    -------
    machine : Machine
        The addresses of the symbols.
    cached : bool
        Whether the object code came from the cache.
    """
    entry = object_cache.key(text, *target(), str(effort.optimiser), str(effort.generator))
    code = object_cache.load(entry) if use_cache else None
    cached = code is not None
    if code is None:
        code = _compile(text, effort)
        if use_cache:
            object_cache.store(entry, code)
    return _load(code, symbols), cached


def _load(code: bytes, symbols: Iterable[str]) -> Machine:
    library = _llvm().JITLibraryBuilder()
    library.add_object_img(code)
    # what the code generator calls on its own account (a bzero, a __sincos_stret) is looked up in the process
    library.add_current_process()
    for symbol, address in _library_addresses().items():
        library.import_symbol(symbol, address)
    for symbol in symbols:
        library.export_symbol(symbol)
    return _linker().link(library, symbols)


Entry = Callable[..., None]


def entry_point(address: int, n_pointers: int) -> Entry:
    """A ctypes function for ``void f(double*, ...)`` at an address."""
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * n_pointers)(address)
