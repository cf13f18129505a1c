"""Which processor machine code is made for: the setting ``CLOSEDCHAIN_CPU``.

Code for the processor at hand is the fastest, and differs from processor to processor: where one multiplies and adds in
one rounding, another rounds twice, so results differ in their last digits. ``CLOSEDCHAIN_CPU`` names a target instead:
two machines with the same target run the same instructions. The compiled equations, Numba's kernels and the linear
algebra of NumPy and SciPy (OpenBLAS) follow it. OpenBLAS and Numba read their settings when they are loaded: import
`closedchain` before them. The theory is in ``docs/theory/native.md``.

The levels are those of the x86-64 psABI (microarchitecture levels). To add a target, add a line to `TARGETS`.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from closedchain.errors import ClosedChainError

VARIABLE = "CLOSEDCHAIN_CPU"
NATIVE = "native"


@dataclass(frozen=True, slots=True)
class Target:
    """A processor to compile for.

    Attributes
    ----------
    name
        As in the setting, and LLVM's name of it.
    needs
        Features that the machine at hand must have, in LLVM's names.
    lanes
        Doubles in a vector register, as far as worth using; 1 without fused multiply-add.
    blas
        OpenBLAS's name of kernels that need no more.
    """

    name: str
    needs: tuple[str, ...]
    lanes: int
    blas: str


_V2 = ("sse3", "ssse3", "sse4.1", "sse4.2", "popcnt", "cx16")
_V3 = (*_V2, "avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe")
_V4 = (*_V3, "avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl")

TARGETS = {
    target.name: target
    for target in (
        Target("x86-64", (), 1, "Katmai"),
        Target("x86-64-v2", _V2, 1, "Nehalem"),
        Target("x86-64-v3", _V3, 4, "Haswell"),
        Target("x86-64-v4", _V4, 8, "SkylakeX"),
    )
}


def setting() -> str:
    """The name in force: that of a target, or ``native``.

    Raises
    ------
    ClosedChainError
        If there is no such target.
    """
    name = os.environ.get(VARIABLE, "").strip().lower() or NATIVE
    if name != NATIVE and name not in TARGETS:
        raise ClosedChainError(f"{VARIABLE}={name!r} is no processor: take {', '.join([NATIVE, *TARGETS])}")
    return name


def target(features: Mapping[str, bool]) -> Target | None:
    """The target of the setting, None for the machine at hand.

    Parameters
    ----------
    features
        What the machine at hand has, in LLVM's names.

    Raises
    ------
    ClosedChainError
        If the machine at hand cannot run code for it.

    Examples
    --------
    >>> target(dict.fromkeys(("sse2", *TARGETS["x86-64-v4"].needs), True)) in (None, *TARGETS.values())
    True
    """
    name = setting()
    if name == NATIVE:
        return None
    wanted = TARGETS[name]
    missing = [feature for feature in wanted.needs if not features.get(feature)]
    # a processor of another family has no feature that all of x86-64 have
    if missing or not features.get("sse2"):
        able = [x.name for x in TARGETS.values() if features.get("sse2") and all(map(features.get, x.needs))]
        lacks = ", ".join(missing) or "sse2"
        raise ClosedChainError(f"{VARIABLE}={name}: this processor has no {lacks}; take {', '.join([NATIVE, *able])}")
    return wanted


def tell_others() -> None:
    """Let OpenBLAS and Numba follow the setting: they read theirs when they are loaded."""
    name = os.environ.get(VARIABLE, "").strip().lower()
    if name not in TARGETS:
        return
    if "numpy" not in sys.modules:
        os.environ.setdefault("OPENBLAS_CORETYPE", TARGETS[name].blas)
    if "numba" not in sys.modules:
        os.environ["NUMBA_CPU_NAME"], os.environ["NUMBA_CPU_FEATURES"] = name, ""


@cache
def linear_algebra() -> str:
    """Kernels that OpenBLAS runs, by its names; warns where they are not those of the setting."""
    import scipy.linalg  # noqa: F401  # so that SciPy's own OpenBLAS is seen
    from threadpoolctl import threadpool_info

    found = sorted({str(x["architecture"]) for x in threadpool_info() if x.get("internal_api") == "openblas"})
    name = setting()
    if name != NATIVE and found and found != [TARGETS[name].blas]:
        warnings.warn(
            f"{VARIABLE}={name}, but NumPy's linear algebra runs kernels for {', '.join(found)}: import closedchain "
            f"before NumPy, or set OPENBLAS_CORETYPE={TARGETS[name].blas}",
            RuntimeWarning,
            stacklevel=2,
        )
    return ", ".join(found) or "unknown"
