"""A progress bar on stderr for what takes long, in a terminal only.

Commands show one after a second; what a script calls shows itself after some: no run, study, comparison, search or path
is silent for minutes. There is one bar at a time; what runs inside of something that shows its own, or in a worker,
shows none.
"""

from __future__ import annotations

import multiprocessing
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from types import TracebackType
from typing import TYPE_CHECKING, Any, ClassVar, ParamSpec, TypeVar, cast

if TYPE_CHECKING:
    from rich.console import Console

DELAY = 1.0  # s: of a command
PATIENCE = 3.0  # s: of what a script calls

Told = Callable[[float, int], object]
Counted = Callable[[int, int, str], object]
Item = TypeVar("Item")
Answer = TypeVar("Answer")
P = ParamSpec("P")

_callback: ContextVar[Counted | None] = ContextVar("progress", default=None)


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

    def __call__(self, t: float, steps: int) -> None:
        """Move the bar."""
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
def followed(progress: Told | None, until: float, quiet: bool = False) -> Iterator[Told]:
    """What a run calls on its way: what the user gave, or a bar that shows itself if the run takes long."""
    if progress is not None:
        yield progress
        return
    with _patient(until, quiet) as bar:
        yield bar


@contextmanager
def reported(callback: Counted) -> Iterator[None]:
    """Report the progress of studies within to a function, called with points done, their total, and a few words."""
    token = _callback.set(callback)
    try:
        yield
    finally:
        _callback.reset(token)


@contextmanager
def counted(progress: Counted | None = None) -> Iterator[Counted]:
    """What many runs tell of: what the user gave, or a bar; called with the runs done, their total, and a few words."""
    progress = _callback.get() if progress is None else progress
    if progress is not None:
        yield progress
        return
    with _patient() as bar:
        yield bar.count


def counting(verb: Callable[P, Answer]) -> Callable[P, Answer]:
    """Decorate a verb that makes many runs and tells a function ``progress`` of them: a bar, unless one was given."""

    @wraps(verb)
    def visible(*args: P.args, **options: P.kwargs) -> Answer:
        with counted(cast("Counted | None", options.get("progress"))) as told:
            options["progress"] = told
            return verb(*args, **options)

    return visible


def visibly(items: Sequence[Item], what: str) -> Iterator[Item]:
    """The items of a loop that may take long, with a bar that says what is going on."""
    with _patient() as bar:
        for i, item in enumerate(items):
            bar.tell(what, i, len(items), f"{i} of {len(items)}")
            yield item


def _patient(until: float = 1.0, quiet: bool = False) -> Progress:
    worker = multiprocessing.parent_process() is not None or threading.current_thread() is not threading.main_thread()
    return Progress(until, quiet=quiet or worker, delay=PATIENCE)
