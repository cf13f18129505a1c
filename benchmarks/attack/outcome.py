"""How one case of an attack ended."""

from __future__ import annotations

import re
import traceback
from dataclasses import dataclass, field
from typing import Any

FOREIGN = re.compile(
    r"casadi|\bSX\b|\bMX\b|\.cpp|\.hpp|numba|llvm|xarray|ufunc|object at 0x|Traceback|not foreseen|broadcast|"
    r"\barray\(|np\.float|NoneType|'(?:float|int|str|dict|list|tuple)' object|unhashable|subscriptable|__\w+__",
    re.IGNORECASE,
)  # words of other libraries and of Python, which no user should have to read


@dataclass(frozen=True)
class Outcome:
    """How one case ended.

    Attributes
    ----------
    label
        In a word or two, for the counts.
    finding
        What is wrong, in a sentence; empty if all is as it should be.
    signature
        Findings with the same signature are counted as one.
    reproduce
        Python, a command line, or a drawing as data: enough to see it again.
    figures
        Numbers of which the ledger keeps the largest, by name.
    counts
        Numbers that the ledger adds up, by name.
    """

    label: str
    finding: str = ""
    signature: str = ""
    reproduce: Any = ""
    figures: dict[str, float] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)


def found(label: str, what: str, reproduce: Any, signature: str = "", **figures: float) -> Outcome:
    """A finding; without a signature, its sentence without numbers and names is one."""
    return Outcome(label, what, signature or f"{label}: {plain(what)}", reproduce, figures)


def plain(text: str) -> str:
    """A sentence without its numbers and quoted names, to see whether two are the same."""
    text = re.sub(r"'[^']*'", "'...'", text)
    text = re.sub(r"[-+]?(\d+(\.\d*)?|\.\d+)(e[-+]?\d+)?|\bnan\b|\binf\b", "#", text)
    return text[:160]


def unforeseen(error: BaseException, reproduce: Any) -> Outcome:
    """An exception that no user should meet: its type, its words, and the line of ours that raised it."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [f for f in frames if "closedchain" in f.filename] or frames
    where = f"{ours[-1].filename.rpartition('closedchain/')[2]}:{ours[-1].lineno} in {ours[-1].name}" if ours else ""
    name = type(error).__name__
    said = str(error).strip().splitlines()
    what = f"{name}: {said[0][:300] if said else ''} (at {where})"
    return found(f"raised {name}", what, reproduce, f"{name} at {where}")
