"""Compute what a paper shows and claims: pictures, tables and findings, ready to be printed."""

from __future__ import annotations

import io
import multiprocessing
import os
import time
import traceback
from collections.abc import Collection, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass

import papers
from papers.paper import Exhibit, Finding, Table

DPI = 110


@dataclass(frozen=True)
class Judged:
    """A claim with what was found.

    Attributes
    ----------
    name, where, says
        Of the claim.
    finding
        None if the check could not be made.
    error
        Why not.
    """

    name: str
    where: str
    says: str
    finding: Finding | None
    error: str = ""


@dataclass(frozen=True)
class Made:
    """An exhibit, computed.

    Attributes
    ----------
    name, title
        Of the exhibit.
    pictures
        PNG files.
    tables, claims
        In order.
    error
        Why there is nothing to see.
    """

    name: str
    title: str
    pictures: tuple[bytes, ...]
    tables: tuple[Table, ...]
    claims: tuple[Judged, ...]
    error: str = ""

    @property
    def failed(self) -> bool:
        """Whether something could not be computed."""
        return bool(self.error) or any(claim.error for claim in self.claims)


@dataclass(frozen=True)
class Reproduced:
    """A paper, or some of its exhibits, computed.

    Attributes
    ----------
    name, citation, about, mends
        Of the paper.
    exhibits
        In the order of the paper.
    seconds
        That it took.
    """

    name: str
    citation: str
    about: str
    mends: tuple[str, ...]
    exhibits: tuple[Made, ...]
    seconds: float

    @property
    def claims(self) -> tuple[Judged, ...]:
        """All claims."""
        return tuple(claim for made in self.exhibits for claim in made.claims)


def reproduce(name: str, wanted: Collection[str] = ()) -> Reproduced:
    """Compute a paper, or only the exhibits with these names."""
    paper = papers.load(name)
    start = time.perf_counter()
    made = tuple(_make(x) for x in paper.exhibits if not wanted or x.name in wanted)
    return Reproduced(name, paper.citation, paper.about, paper.mends, made, time.perf_counter() - start)


def reproduce_all(processes: int | None = None) -> Iterator[Reproduced]:
    """Compute all papers, one in each process at a time; yields them as they come."""
    names = sorted(papers.names(), key=lambda name: -len(papers.load(name).claims))  # what takes long begins early
    how = multiprocessing.get_context("spawn")  # threads of the libraries do not survive a fork
    with ProcessPoolExecutor(processes or os.cpu_count(), mp_context=how) as pool:
        for future in as_completed([pool.submit(reproduce, name) for name in names]):
            yield future.result()


def _make(exhibit: Exhibit) -> Made:
    pictures, tables, error = [], [], ""
    try:
        for thing in exhibit.show() if exhibit.show else ():
            if isinstance(thing, Table):
                tables.append(thing)
            else:
                file = io.BytesIO()
                # no version of matplotlib in the file: the same picture gives the same bytes
                thing.savefig(file, dpi=DPI, metadata={"Software": None}, facecolor="white")
                pictures.append(file.getvalue())
    except Exception as raised:
        error = _sentence(raised)
    claims = tuple(_judge(claim) for claim in exhibit.claims)
    return Made(exhibit.name, exhibit.title, tuple(pictures), tuple(tables), claims, error)


def _judge(claim) -> Judged:
    try:
        return Judged(claim.name, claim.where, claim.says, claim.check())
    except Exception as raised:
        return Judged(claim.name, claim.where, claim.says, None, _sentence(raised))


def _sentence(raised: Exception) -> str:
    place = traceback.extract_tb(raised.__traceback__)[-1]
    return f"{type(raised).__name__} in {place.name}: {raised}"
