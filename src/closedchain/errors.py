"""What may go wrong, one class for each kind of trouble.

Every message names the joint or body, the number that was wrong, and what to try.
"""

import sys
import warnings


class ClosedChainError(Exception):
    """Base of all errors that closedchain raises on purpose."""


class ModelError(ClosedChainError, ValueError):
    """The description of the mechanism cannot be right: a name, a frame, a mass, an inertia."""


class AssemblyError(ClosedChainError):
    """No closed configuration, or no consistent velocity, was found for the given values."""


class RunError(ClosedChainError):
    """A run ended early. What was computed until then is kept in ``run``."""

    def __init__(self, message: str, run: object = None) -> None:
        super().__init__(message)
        self.run = run


class FileError(ClosedChainError, OSError):
    """A file could not be written: a full disk, a folder that is closed. The message names the file."""

    def __init__(self, message: str, errno: int | None = None, filename: str | None = None) -> None:
        super().__init__(message)
        self.errno, self.filename = errno, filename

    def __str__(self) -> str:
        return str(self.args[0])


class Interrupted(KeyboardInterrupt):
    """Ctrl-C ended a run or a study. What was computed until then is kept.

    It is a ``KeyboardInterrupt``: a script that does not ask for it ends, as with any Ctrl-C.

    Attributes
    ----------
    run
        The run as far as it got; None for a study, or if there is no sample yet.
    dataset
        The dataset of a study, with an empty ``status`` where a point is not done; None for a run.
    """

    def __init__(self, message: str = "", run: object = None, dataset: object = None) -> None:
        super().__init__(message)
        self.run, self.dataset = run, dataset


class RunWarning(UserWarning):
    """A run is finished, but not as good as its tolerance promises."""


class AssemblyWarning(UserWarning):
    """A mechanism was put together, but not as its drawing can mean it: bodies lie on each other."""


def warn(message: str, category: type[Warning]) -> None:
    """Warn at the line of the user's that called the package, however deep inside of it this happens."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == __package__:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
