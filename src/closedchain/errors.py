"""What may go wrong, one class for each kind of trouble.

Every message names the joint or body, the number that was wrong, and what to try.
"""


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


class RunWarning(UserWarning):
    """A run is finished, but not as good as its tolerance promises."""


class AssemblyWarning(UserWarning):
    """A mechanism was put together, but not as its drawing can mean it: bodies lie on each other."""
