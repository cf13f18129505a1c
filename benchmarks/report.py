"""What all benchmarks share: clocks, the machine they ran on, and tables for the terminal and for the documentation."""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

from rich.console import Console
from rich.table import Table as RichTable

import closedchain


@dataclass(frozen=True)
class Duration:
    """The fastest and the median of several repetitions, in seconds."""

    fastest: float
    median: float

    def text(self, unit: str = "ms") -> str:
        """Fastest, and the median in brackets, without the unit."""
        scale = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}[unit]
        return f"{figure(self.fastest * scale)} ({figure(self.median * scale)})"


def figure(x: float) -> str:
    """A number with three digits, never in powers of ten."""
    if x == 0:
        return "0"
    digits = max(0, 2 - int(f"{x:e}".partition("e")[2]))
    return f"{x:.{digits}f}"


def duration(times: Sequence[float]) -> Duration:
    """Sum up repetitions."""
    return Duration(min(times), statistics.median(times))


def clock(action: Callable[[], object], repeats: int, inner: int = 1) -> Duration:
    """Time an action that consists of ``inner`` equal parts; the result is for one part."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        action()
        times.append((time.perf_counter() - start) / inner)
    return duration(times)


@dataclass(frozen=True)
class Table:
    """A table with a title; the first column is text, all others are numbers."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""

    def show(self, console: Console) -> None:
        """Print it."""
        table = RichTable(title=self.title, caption=self.note or None, title_justify="left", caption_justify="left")
        for i, name in enumerate(self.columns):
            table.add_column(name, justify="right" if i else "left", no_wrap=not i)
        for row in self.rows:
            table.add_row(*row)
        console.print(table)

    def markdown(self) -> str:
        """The same for a page."""
        lines = [f"### {self.title}", ""]
        lines.append("| " + " | ".join(self.columns) + " |")
        lines.append("|" + "|".join(["---"] + ["---:"] * (len(self.columns) - 1)) + "|")
        lines += ["| " + " | ".join(row) + " |" for row in self.rows]
        if self.note:
            lines += ["", self.note]
        return "\n".join(lines)


@dataclass
class Report:
    """The tables of one benchmark, with where and under which load they were taken."""

    name: str
    timed: bool = True
    tables: list[Table] = field(default_factory=list)
    processor_time: Callable[[], float] = time.thread_time  # time.process_time where threads are at work
    _started: float = field(default_factory=time.perf_counter)
    _processor: float = field(init=False)
    _load: float = field(default_factory=lambda: os.getloadavg()[0])
    _share: float | None = None

    def __post_init__(self) -> None:
        self._processor = self.processor_time()

    def conditions(self) -> list[str]:
        """Machine, versions and load, one sentence each."""
        packages = ("casadi", "llvmlite", "numba", "numpy")
        versions = [f"closedchain {closedchain.__version__}", *(f"{p} {version(p)}" for p in packages)]
        lines = [
            f"{processor()}, {os.cpu_count()} processors, {platform.system()}",
            f"Python {platform.python_version()}, {', '.join(versions)}",
        ]
        if self.timed:
            lines.append(
                f"load average {self._load:.2f} at the beginning and {os.getloadavg()[0]:.2f} at the end, "
                f"{100 * self.stop():.0f} % of a processor for the process that was timed"
            )
        return lines

    def stop(self) -> float:
        """Processor time by clock time since the report was begun: less than one if others had the processor."""
        if self._share is None:
            passed = time.perf_counter() - self._started
            self._share = (self.processor_time() - self._processor) / passed
        return self._share

    def show(self) -> None:
        """Print everything."""
        console = Console(highlight=False, markup=False)
        if not console.is_terminal:
            console = Console(highlight=False, markup=False, width=140)
        for line in self.conditions():
            console.print(line)
        for table in self.tables:
            console.print()
            table.show(console)

    def write(self, path: Path) -> None:
        """Put the tables between ``<!-- begin NAME -->`` and ``<!-- end NAME -->`` of a page."""
        begin, end = f"<!-- begin {self.name} -->", f"<!-- end {self.name} -->"
        page = path.read_text(encoding="utf-8")
        if page.count(begin) != 1 or page.count(end) != 1:
            raise ValueError(f"{path} needs one line {begin!r} and one line {end!r}")
        before, _, rest = page.partition(begin)
        after = rest.partition(end)[2]
        today = datetime.date.today().isoformat()
        lines = [f"Written by `python -m benchmarks.{self.name} --markdown {path.as_posix()}` on {today}:", ""]
        lines += [f"- {line}" for line in self.conditions()]
        for table in self.tables:
            lines += ["", table.markdown()]
        path.write_text(before + begin + "\n\n" + "\n".join(lines) + "\n\n" + end + after, encoding="utf-8")


def processor() -> str:
    """Name of the processor as the system tells it."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def arguments(title: str, given: Sequence[str] | None) -> argparse.Namespace:
    """The options of every benchmark."""
    parser = argparse.ArgumentParser(description=title)
    parser.add_argument("--quick", action="store_true", help="a small part, to see that it works")
    parser.add_argument("--markdown", type=Path, metavar="PAGE", help="write the tables into a page, too")
    return parser.parse_args(given)


def finish(report: Report, page: Path | None) -> None:
    """Show a report, and write it to a page if asked for."""
    report.show()
    if page is not None:
        report.write(page)
