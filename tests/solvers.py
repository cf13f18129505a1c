"""Solvers by name, with a step where they need one."""

from closedchain.integrate.solvers import SOLVERS, Solver, marching


def stepping(name: str, step: float | None = 1e-3) -> Solver:
    """A solver with its defaults; ``step`` is for those whose step is fixed, and None for others."""
    kind = SOLVERS[name]
    return kind() if kind.adaptive or step is None else kind(step=step)


def usual(method) -> Solver:
    """The usual solver of a method."""
    return stepping(marching(method.kind)[0])
