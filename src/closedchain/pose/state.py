"""A state of a mechanism: coordinates and velocities of all its joints, at given parameter values.

The theory is in ``docs/theory/assembly.md``.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

import casadi as ca
import numpy as np

from closedchain.arguments import finite, instance, known
from closedchain.attached import Attached
from closedchain.cut.topology import Topology, cut
from closedchain.derive.equations import derive
from closedchain.errors import ModelError
from closedchain.model.derived import cached
from closedchain.model.forces.sampled import sampled_inputs
from closedchain.model.mechanism import Mechanism

if TYPE_CHECKING:
    from closedchain.look.sketch import plot_deformed


@dataclass(frozen=True, eq=False)
class State(Attached):
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

    if TYPE_CHECKING:  # attached by `closedchain.verbs`
        plot_deformed = plot_deformed

    mechanism: Mechanism
    q: np.ndarray
    v: np.ndarray
    parameters: dict[str, float] = field(default_factory=dict)
    t: float = 0.0
    open_joints: tuple[str, ...] = ()
    a: np.ndarray | None = None
    labels: tuple[str, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        instance("the mechanism of a state", self.mechanism, Mechanism, "a cc.Mechanism")
        for name in ("q", "v"):
            try:
                object.__setattr__(self, name, np.asarray(getattr(self, name), float))
            except (TypeError, ValueError):
                raise ModelError(
                    f"{name} of a state of {self.mechanism.name!r} takes numbers, not {getattr(self, name)!r}"
                ) from None
        object.__setattr__(self, "labels", cut(self.mechanism).q_labels)

    def __copy__(self) -> Self:
        """A state with numbers of its own, of the same mechanism."""
        out = object.__new__(type(self))
        own = {name: copy.copy(x) for name, x in vars(self).items() if name != "mechanism"}
        vars(out).update(own, mechanism=self.mechanism)
        return out

    def check(self) -> None:
        """Raise if the numbers do not belong to the drawing of now."""
        topology, name = self.topology, self.mechanism.name
        if topology.q_labels != self.labels:
            raise ModelError(
                f"this state (or start) of {name!r} belongs to an older drawing, whose coordinates were "
                f"({_listed(self.labels)}) and not ({_listed(topology.q_labels)}): take a new one from m.assemble(...)"
            )
        for letter, x, labels in (("q", self.q, topology.q_labels), ("v", self.v, topology.v_labels)):
            if x.shape != (len(labels),):
                size = f"{x.size} number{'s' * (x.size != 1)}" if x.ndim == 1 else f"an array of shape {x.shape}"
                raise ModelError(
                    f"{letter} of this state of {name!r} has {size}, but the drawing needs {len(labels)} "
                    f"({_listed(labels)}): take the state from m.assemble(...)"
                )
            if not np.isfinite(x).all():
                i = int(np.argmin(np.isfinite(x)))
                raise ModelError(f"the state of {name!r} is not finite: {labels[i]!r} is {x[i]} in {letter}")

    def of(self, mechanism: Mechanism, what: str = "the state") -> State:
        """The same state of a mechanism that is this one, or has the same joints at the same places, as a copy has."""
        self.check()
        if self.mechanism is mechanism:
            return self
        mine = self.mechanism.name
        if mine != mechanism.name:
            raise ModelError(f"{what} belongs to mechanism {mine!r}, not to {mechanism.name!r}")
        difference = _difference(self.mechanism, mechanism, self.parameters)
        if difference:
            raise ModelError(
                f"{what} belongs to mechanism {mine!r}, not to {mine!r}, another drawing of that name: {difference}"
            )
        return replace(self, mechanism=mechanism)

    def at(self, time: float) -> Self:
        """The same coordinates and velocities at another time, s: ``cc.simulate(m, start.at(0.5), until=1.0)``.

        Where drives or laws depend on time, take the state from ``m.assemble(..., time=0.5)``, which closes the loops
        at that time.
        """
        return replace(self, t=finite("time", time))

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
        known(f"mechanism {self.mechanism.name!r} has no coordinate", label, values)
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


def _listed(labels: tuple[str, ...]) -> str:
    return ", ".join(labels[:8]) + ", ..." * (len(labels) > 8)


def _difference(one: Mechanism, other: Mechanism, parameters: dict[str, float]) -> str:
    """Why coordinates of one drawing mean something else in the other; empty if they mean the same.

    What acts may differ: a force changes a motion, not the meaning of coordinates.
    """
    a, b = cut(one), cut(other)
    if a.q_labels != b.q_labels:
        return f"its coordinates are ({_listed(a.q_labels)}), not ({_listed(b.q_labels)})"
    values = [m.values({k: x for k, x in parameters.items() if k in m.parameters}) for m in (one, other)]
    for first, second in zip(a.joints, b.joints, strict=True):
        kinds = [(x.type.name, x.a.body.name, x.b.body.name) for x in (first, second)]
        if first.name != second.name or kinds[0] != kinds[1]:
            return f"joint {first.name!r} is {_joint(*kinds[0])} there, {second.name!r} {_joint(*kinds[1])} here"
        for side in ("a", "b"):
            frames = [getattr(x, side) for x in (first, second)]
            places = [tuple(value(c) for c in x.position) for value, x in zip(values, frames, strict=True)]
            if places[0] != places[1]:
                body = frames[0].body.name
                return f"joint {first.name!r} is at {_point(places[0])} on {body!r} there, at {_point(places[1])} here"
            if len({_numbers(v, x.rotation) for v, x in zip(values, frames, strict=True)}) > 1:
                return f"joint {first.name!r} has other axes on {frames[0].body.name!r} there than here"
        if len({_numbers(v, [*x.rotation, [x.pitch]]) for v, x in zip(values, (first, second), strict=True)}) > 1:
            return f"joint {first.name!r} has another axis or pitch there than here"
    return ""


def _joint(kind: str, a: str, b: str) -> str:
    return f"a {kind} joint from {a!r} to {b!r}"


def _point(r: tuple[float, ...]) -> str:
    return f"({', '.join(f'{x:.9g}' for x in r)})"


def _numbers(value: Any, rows: Any) -> tuple[float, ...]:
    return tuple(value(x) for row in rows for x in row)


def parameter_vector(mechanism: Mechanism, overrides: dict[str, float] | None = None) -> np.ndarray:
    """All parameter values in order; those that a run changes on its way (see `model.forces.sampled`) at the end."""
    return np.array([*mechanism.parameters.merged(overrides).values(), *sampled_inputs(mechanism).initial], float)


@cached
def joint_values(mechanism: Mechanism) -> ca.Function:
    """A CasADi function (t, q, v, p) -> coordinates and velocities of all joints and shapes in order."""
    e = derive(mechanism)
    measured = e.topology.measured
    q = ca.vertcat(ca.SX(0, 1), *(e.measures.coordinates(j) for j in measured))
    v = ca.vertcat(ca.SX(0, 1), *(e.measures.velocities(j) for j in measured))
    return e.function("joint_values", {"q_all": q, "v_all": v})
