"""A progress bar for many runs: how many are done, and which comes next."""

from __future__ import annotations

from closedchain.results.progress import Progress


class Counting(Progress):
    """Its `count` takes the number of runs done, their total, and what comes next, as `compare` does."""

    def __init__(self, quiet: bool = False) -> None:
        super().__init__(1.0, quiet)

    def __enter__(self) -> Counting:
        super().__enter__()
        return self

    def count(self, done: int, total: int, what: str) -> None:
        """Move the bar."""
        self.tell("running", done, total, f"{done} of {total}: {what}")
