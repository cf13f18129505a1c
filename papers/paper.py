"""What a paper shows and claims, and what we find: a verdict that is computed, never typed in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure

HOLDS, CORRECTED, FAILS = "holds", "holds with a correction", "does not hold"
VERDICTS = (HOLDS, CORRECTED, FAILS)


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


@dataclass(frozen=True)
class Table:
    """Rows of text under headings.

    Attributes
    ----------
    columns
        Headings.
    rows
        Cells as they are printed.
    note
        What a reader has to know, in a sentence or two.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""


Shown = Figure | Table


@dataclass(frozen=True)
class Exhibit:
    """A figure, a table, an equation or a passage: what we have in its place, and what is claimed with it.

    Attributes
    ----------
    name
        ``"fig6"``, ``"table2"``, ``"eq20"``, or a word for a passage: what is typed to see it.
    title
        What it shows.
    show
        Computes our figures and tables of it; None where there is nothing to see.
    claims
        Statements of the paper that it is about.
    """

    name: str
    title: str
    show: Callable[[], Sequence[Shown]] | None = None
    claims: tuple[Claim, ...] = ()


@dataclass(frozen=True)
class Paper:
    """A paper.

    Attributes
    ----------
    name
        First author and year.
    citation
        Authors, year, title, journal.
    about
        What it proposes, in some sentences.
    mends
        Misprints that we correct, and data that the paper leaves out with what we chose; a sentence each.
    exhibits
        In the order of the paper.
    """

    name: str
    citation: str
    about: str
    mends: tuple[str, ...]
    exhibits: tuple[Exhibit, ...]

    @property
    def claims(self) -> tuple[Claim, ...]:
        """All claims, in the order of the paper."""
        return tuple(claim for exhibit in self.exhibits for claim in exhibit.claims)


def judged(holds: bool, numbers: Mapping[str, float], because: str, otherwise: str = FAILS) -> Finding:
    """A finding from a comparison of numbers."""
    return Finding(HOLDS if holds else otherwise, numbers, because)
