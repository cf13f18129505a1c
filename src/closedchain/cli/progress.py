"""A progress bar on stderr for what takes more than a second, in a terminal only."""

from __future__ import annotations

import threading
from types import TracebackType

from closedchain.cli import output

DELAY = 1.0  # s


class Progress:
    """A context for one piece of work; call it with the time reached and the number of steps, as `simulate` does.

    Until the first call the bar only says what is going on (the equations are derived and compiled).
    """

    def __init__(self, until: float, quiet: bool = False) -> None:
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

        self._until = until
        self._bar = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[state]}"),
            TimeRemainingColumn(),
            console=output.console(stderr=True),
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._task = self._bar.add_task("deriving and compiling", total=None, state="")
        self._lock = threading.Lock()
        self._over = quiet or not self._bar.console.is_terminal
        self._timer = threading.Timer(DELAY, self._show)
        self._timer.daemon = True

    def _show(self) -> None:
        with self._lock:
            if not self._over:
                self._bar.start()

    def __enter__(self) -> Progress:
        if not self._over:
            self._timer.start()
        return self

    def __call__(self, t: float, steps: int) -> None:
        """Move the bar."""
        self._bar.update(
            self._task,
            description="marching",
            total=abs(self._until),
            completed=abs(t),
            state=f"t = {t:.4g} of {self._until:g} s, {steps} steps",
        )

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        with self._lock:
            self._over = True
            if self._bar.live.is_started:
                self._bar.stop()
