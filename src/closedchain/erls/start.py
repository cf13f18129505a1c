"""States to go on from: a pose of the rigid-link system with the elastic displacements beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from closedchain.pose.state import State


@dataclass(frozen=True, eq=False)
class ErlsState(State):
    """A state of the rigid twin, with elastic displacements ``u`` and their rates ``u_dot``, by name.

    ``run.state()`` gives it; a run that starts from it goes on with the deformation, if it has the same elements and
    the same zeroed displacements.
    """

    u: Mapping[str, float] = field(default_factory=dict, repr=False)
    u_dot: Mapping[str, float] = field(default_factory=dict, repr=False)
