"""What a paper claims, and what we find: a verdict that is computed, never typed in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

HOLDS, CORRECTED, FAILS = "holds", "holds with a correction", "does not hold"


@dataclass(frozen=True)
class Finding:
    """The outcome of a check.

    Attributes
    ----------
    verdict
        `HOLDS`, `CORRECTED` or `FAILS`.
    numbers
        What was measured, by name.
    because
        A sentence with these numbers.
    """

    verdict: str
    numbers: Mapping[str, float]
    because: str


@dataclass(frozen=True)
class Claim:
    """A statement of a paper, in our words, and how it is checked.

    Attributes
    ----------
    name
        Short, unique in its paper.
    where
        Section, equation or figure.
    says
        The statement.
    check
        Computes a `Finding` from runs.
    """

    name: str
    where: str
    says: str
    check: Callable[[], Finding]


def judged(holds: bool, numbers: Mapping[str, float], because: str, otherwise: str = FAILS) -> Finding:
    """A finding from a comparison of numbers."""
    return Finding(HOLDS if holds else otherwise, numbers, because)
