"""A state of a mechanism: coordinates and velocities of all its joints, at given parameter values.

The theory is in ``docs/theory/assembly.md``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from closedchain.cut.topology import Topology, cut
from closedchain.derive.equations import derive
from closedchain.errors import ModelError
from closedchain.lock import locked
from closedchain.model.held import held
from closedchain.model.mechanism import Mechanism
from closedchain.model.parts import suggest


@dataclass(frozen=True, eq=False)
class State:
    """Coordinates ``q`` and velocities ``v`` of the tree joints; ``state["B"]`` works for every joint, cut or not.

    Attributes
    ----------
    q, v
        Numbered as in the cut mechanism (see ``topology.q_labels``).
    parameters
        Values that differed from the mechanism's own when the state was found.
    t
        Time of the state, s.
    open_joints
        Cut joints that are open in this state.
    a
        Accelerations, where `assemble` was asked for them.
    """

    mechanism: Mechanism
    q: np.ndarray
    v: np.ndarray
    parameters: dict[str, float] = field(default_factory=dict)
    t: float = 0.0
    open_joints: tuple[str, ...] = ()
    a: np.ndarray | None = None
    labels: tuple[str, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", cut(self.mechanism).q_labels)

    def check(self) -> None:
        """Raise if the numbers do not belong to the drawing of now."""
        topology = self.topology
        if topology.q_labels != self.labels or len(self.q) != topology.nq or len(self.v) != topology.nv:
            raise ModelError(
                f"this state (or start) of {self.mechanism.name!r} belongs to an older drawing, whose coordinates were "
                f"({', '.join(self.labels[:8])}): take a new one from m.assemble(...)"
            )
        if not (np.isfinite(self.q).all() and np.isfinite(self.v).all()):
            raise ModelError(f"the state of {self.mechanism.name!r} has a coordinate or velocity that is not finite")

    @property
    def topology(self) -> Topology:
        """The cut mechanism the numbers belong to."""
        return cut(self.mechanism)

    @property
    def coordinates(self) -> dict[str, float]:
        """All coordinates by name, those of cut joints included."""
        return self._named(0)

    @property
    def velocities(self) -> dict[str, float]:
        """All velocities by name, those of cut joints included."""
        return self._named(1)

    def __getitem__(self, label: str) -> float:
        values = self.coordinates
        if label not in values:
            raise ModelError(f"mechanism {self.mechanism.name!r} has no coordinate {label!r}{suggest(label, values)}")
        return values[label]

    def _named(self, which: int) -> dict[str, float]:
        self.check()
        values = joint_values(self.mechanism)(self.t, self.q, self.v, parameter_vector(self.mechanism, self.parameters))
        measured = self.topology.measured
        labels = [x for j in measured for x in (j.labels() if which == 0 else j.velocity_labels())]
        return dict(zip(labels, np.array(values[which]).ravel().tolist(), strict=True))

    def __repr__(self) -> str:
        parts = ", ".join(f"{k}={x:.6g}" for k, x in self.coordinates.items())
        return f"State({self.mechanism.name!r}: {parts})"


def parameter_vector(mechanism: Mechanism, overrides: dict[str, float] | None = None) -> np.ndarray:
    """All parameter values in order; those that a run changes on its way (see `model.held`) at the end."""
    return np.array([*mechanism.parameters.merged(overrides).values(), *held(mechanism).initial], float)


@locked
def joint_values(mechanism: Mechanism) -> Any:
    """A CasADi function (t, q, v, p) -> coordinates and velocities of all joints and shapes in order."""
    import casadi as ca

    e = derive(mechanism)
    if "joint values" not in mechanism._derived:
        measured = e.topology.measured
        q = ca.vertcat(ca.SX(0, 1), *(e.measures.coordinates(j) for j in measured))
        v = ca.vertcat(ca.SX(0, 1), *(e.measures.velocities(j) for j in measured))
        mechanism._derived["joint values"] = e.function("joint_values", {"q_all": q, "v_all": v})
    return mechanism._derived["joint values"]
