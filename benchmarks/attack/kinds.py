"""The kinds of attack by name."""

from __future__ import annotations

import importlib
import zlib
from dataclasses import dataclass
from types import ModuleType

import numpy as np

from benchmarks.attack.outcome import Outcome, unforeseen


@dataclass(frozen=True)
class Kind:
    """A kind of attack.

    Attributes
    ----------
    module
        Where it lives.
    share
        Of the time.
    version
        Of how cases are made: raised when a number makes another case than before, so that findings of before are not
        taken for mended.
    """

    module: str
    share: float
    version: int = 1

    def load(self) -> ModuleType:
        """The module, imported when it is needed."""
        return importlib.import_module(f"benchmarks.attack.{self.module}")


KINDS = {
    "drawings": Kind("drawings", 4.0),
    "machines": Kind("machines", 2.0),
    "accelerations": Kind("accelerations", 2.0, version=2),
    "command-line": Kind("command_line", 2.0, version=2),
    "scale": Kind("scale", 2.0),
    "accuracy": Kind("accuracy", 1.5, version=2),
    "threads": Kind("threads", 0.5, version=2),
    "folders": Kind("folders", 0.5, version=2),
    "kills": Kind("kills", 1.0, version=2),
}


def random_numbers(kind: str, seed: int, number: int) -> np.random.Generator:
    """The random numbers of a case: its own, whatever ran before it."""
    return np.random.default_rng([seed, zlib.crc32(kind.encode()), number])


def run_case(kind: str, seed: int, number: int) -> Outcome:
    """One case in this process."""
    try:
        return KINDS[kind].load().attack(random_numbers(kind, seed, number))
    except Exception as error:
        return unforeseen(
            error, f"from benchmarks.attack.kinds import run_case\nrun_case({kind!r}, {seed}, {number})\n"
        )
