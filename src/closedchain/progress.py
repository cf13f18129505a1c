"""A progress bar on stderr for what takes long, in a terminal only.

Commands show one after a second; what a script calls shows itself after some: no run, study, comparison, search or path
is silent for minutes. There is one bar at a time; what runs inside of something that shows its own, or in a worker,
shows none. `reported` puts a function of the user's in its place.
"""

from __future__ import annotations

import multiprocessing
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from types import TracebackType
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from closedchain.arguments import function

if TYPE_CHECKING:
    from rich.console import Console

DELAY = 1.0  # s: of a command
PATIENCE = 3.0  # s: of what a script calls

Told = Callable[[float, int], object]
Counted = Callable[[int, int, str], object]
Item = TypeVar("Item")

_callback: ContextVar[Callable[..., object] | None] = ContextVar("progress", default=None)


def in_terminal() -> bool:
    """Whether somebody watches."""
    return sys.stderr.isatty()


def console() -> Console:
    """A console on the present stderr."""
    from rich.console import Console

    return Console(file=sys.stderr, markup=False, highlight=False, emoji=False)


class Progress:
    """A context for one piece of work; call it with the time reached and the number of steps, as `simulate` does.

    Until the first call the bar only says what is going on (the equations are derived and compiled).
    """

    active: ClassVar[Progress | None] = None  # the one that may show itself

    def __init__(self, until: float = 1.0, quiet: bool = False, delay: float | None = None) -> None:
        self._until = until
        self._latest: dict[str, Any] = {"description": "deriving and compiling", "total": None, "state": ""}
        self._bar: Any = None
        self._lock = threading.Lock()
        self._over = quiet
        self._timer = threading.Timer(DELAY if delay is None else delay, self._show)
        self._timer.daemon = True

    def _show(self) -> None:
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

        with self._lock:
            if self._over:
                return
            bar = Progress(
                SpinnerColumn(),
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.fields[state]}"),
                TimeRemainingColumn(),
                console=console(),
                transient=True,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            self._task = bar.add_task(**self._latest)
            bar.start()
            self._bar = bar
            bar.update(self._task, **self._latest)  # what was told meanwhile

    def __enter__(self) -> Progress:
        if self._over or Progress.active is not None or not in_terminal():
            self._over = True
        else:
            Progress.active = self
            self._timer.start()
        return self

    def __call__(self, t: float, steps: int, words: str | None = None) -> None:
        """Move the bar by the time and the steps of a run; with words by what is done of a total, as `count` does."""
        if words is not None:
            self.count(int(t), steps, words)
            return
        self.tell("marching", abs(t), abs(self._until), f"t = {t:.4g} of {self._until:g} s, {steps} steps")

    def count(self, done: int, total: int, what: str) -> None:
        """Move the bar by runs that are done; in words what comes next."""
        self.tell("running", done, total, f"{done} of {total}: {what}")

    def tell(self, what: str, done: float, total: float, state: str) -> None:
        """What is going on, how much of it is done, and a few words."""
        self._latest = {"description": what, "total": total, "completed": done, "state": state}
        if self._bar is not None:
            self._bar.update(self._task, **self._latest)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        with self._lock:
            self._over = True
            if Progress.active is self:
                Progress.active = None
            if self._bar is not None:
                self._bar.stop()


@contextmanager
def reported(callback: Callable[..., object]) -> Iterator[None]:
    """Report the progress of all verbs within to a function, and not to a bar: a context manager.

    A run calls it with the time reached and the number of steps. Verbs that make many runs, follow a path or search for
    a pose call it with the number of items done, their total, and some words. Only the outermost verb reports: the runs
    of a comparison are silent. It holds in the thread that enters the context.

    Examples
    --------
    >>> import closedchain as cc
    >>> from closedchain.progress import reported
    >>> reached = []
    >>> with reported(lambda t, steps: reached.append(t)):
    ...     run = cc.simulate(cc.library.pendulum(), until=0.5)
    >>> reached[-1]
    0.5
    """
    token = _callback.set(function("progress", callback, "what is done"))
    try:
        yield
    finally:
        _callback.reset(token)


@contextmanager
def followed(until: float, quiet: bool = False) -> Iterator[Told]:
    """What a run calls on its way: the function of `reported`, or a bar that shows itself if the run takes long."""
    with _taken() as callback:
        if callback is not None:
            yield callback
            return
        with _patient(until, quiet) as bar:
            yield bar


@contextmanager
def counted() -> Iterator[Counted]:
    """What many runs tell the runs done, their total and some words: the function of `reported`, or a bar."""
    with _taken() as callback:
        if callback is not None:
            yield callback
            return
        with _patient() as bar:
            yield bar.count


def visibly(items: Sequence[Item], what: str) -> Iterator[Item]:
    """The items of a loop that may take long, with a bar that says what is going on."""
    with _taken() as callback:
        if callback is not None:
            for i, item in enumerate(items):
                callback(i, len(items), what)
                yield item
            return
        with _patient() as bar:
            for i, item in enumerate(items):
                bar.tell(what, i, len(items), f"{i} of {len(items)}")
                yield item


@contextmanager
def _taken() -> Iterator[Callable[..., object] | None]:
    """The function that the outermost verb reports to, None for a bar; verbs within report to nobody."""
    callback = _callback.get()
    if callback is None:
        yield None
        return
    token = _callback.set(_nobody)
    try:
        yield callback
    finally:
        _callback.reset(token)


def _nobody(*told: object) -> None:
    """Hears what is done inside of a verb that reports itself."""


def _patient(until: float = 1.0, quiet: bool = False) -> Progress:
    worker = multiprocessing.parent_process() is not None or threading.current_thread() is not threading.main_thread()
    return Progress(until, quiet=quiet or worker, delay=PATIENCE)
