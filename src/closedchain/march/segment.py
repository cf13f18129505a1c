"""A piece of a run under one set of equations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from closedchain.integrate.trajectory import Trajectory
from closedchain.march.controllers.held_inputs import HeldInputs
from closedchain.march.program.compiled import Compiled
from closedchain.pose.state import State

# Equations are made anew from where they were made: the state, whether closures are watched one by one, how many pieces
# there were before, and the step that gains were derived from.
Choice = tuple[State, bool, int, float | None]


@dataclass(frozen=True, eq=False)
class Segment:
    """A piece of a run under one set of equations.

    Attributes
    ----------
    start, program, trajectory
        Where it begins, its equations, and what came of them.
    solver
        By name.
    held_inputs
        What was held on the way.
    chosen
        Where its equations were chosen: a state, whether closures are watched one by one, how many pieces there were
        before, and the step that gains were derived from (`march.stabilisation`).
    """

    start: State
    program: Compiled
    trajectory: Trajectory
    solver: str
    held_inputs: HeldInputs
    chosen: Choice

    @property
    def p(self) -> np.ndarray:
        """Parameter values: one vector, or a row for each sample where controllers act."""
        return self.held_inputs.at(self.trajectory.t)
