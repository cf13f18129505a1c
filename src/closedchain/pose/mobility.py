"""How many freedoms a mechanism has: the count of Gruebler and Kutzbach, and the truth.

The count adds the freedoms of the joints and subtracts six for each loop. It is right when all closure equations are
independent, and too small when some of them repeat others (every planar loop drawn in space). The true mobility is the
number of velocities minus the rank of the closure Jacobian at a generic closed pose.

The theory is in ``docs/theory/closures.md``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from closedchain.arguments import needs
from closedchain.derive.equations import derive
from closedchain.model.mechanism import Mechanism
from closedchain.pose.assemble import assemble
from closedchain.pose.closing import Closing, active_rows
from closedchain.pose.rank import REPEATED, null_space, rank, relative_tolerance
from closedchain.pose.redundancy import choose_rows, closure_jacobian, spread
from closedchain.pose.state import State, parameter_vector

SHAPES_FIRST = 1e3  # shapes are free by nature: they are chosen where they are this much weaker, even


@dataclass(frozen=True)
class Mobility:
    """Freedoms of a mechanism.

    Attributes
    ----------
    counted
        After Gruebler and Kutzbach.
    true
        Velocities minus the rank of the closures at generic closed poses near the given one.
    here
        The same at the given pose itself; larger than ``true`` where the pose is singular.
    equations, redundant
        Number of closure equations drawn, and those that repeat others, as (joint, row).
    possible
        Coordinates that can serve as independent ones.
    independent
        A good choice of ``true`` of them: the best conditioned one at the given pose.
    shapes
        How many of the freedoms are shapes of flexible bodies.
    """

    name: str
    counted: int
    true: int
    here: int
    equations: int
    redundant: tuple[tuple[str, str], ...]
    possible: tuple[str, ...]
    independent: tuple[str, ...]
    shapes: int = 0

    def __str__(self) -> str:
        lines = [f"mobility of {self.name}: {self.true} (count of Gruebler and Kutzbach: {self.counted})"]
        if self.shapes:
            rest = self.true - self.shapes
            lines.append(f"  {rest} of the mechanism, and {self.shapes} of the shapes of its flexible bodies")
        if self.true != self.counted:
            by_joint: dict[str, list[str]] = {}
            for joint, row in self.redundant:
                by_joint.setdefault(joint, []).append(row)
            rows = "; ".join(f"{joint}: {', '.join(labels)}" for joint, labels in by_joint.items())
            lines.append(
                f"  {len(self.redundant)} of {self.equations} closure equations repeat others, so the count is "
                f"{self.true - self.counted} too small ({rows})"
            )
        if self.here != self.true:
            lines.append(f"  the given pose is singular: it has {self.here} freedoms, {self.here - self.true} more")
        lines.append(f"  independent coordinates: {', '.join(self.independent) or 'none'}")
        if len(self.possible) > len(self.independent):
            lines.append(f"  possible: {', '.join(self.possible)}")
        return "\n".join(lines)


def mobility(mechanism: Mechanism, state: State | None = None) -> Mobility:
    """Count and compute the mobility of a mechanism, at a state (default: ``mechanism.assemble()``).

    Examples
    --------
    >>> import closedchain as cc
    >>> print(cc.library.four_bar().mobility())  # doctest: +ELLIPSIS
    mobility of four-bar: 1 (count of Gruebler and Kutzbach: -2)
      3 of 5 closure equations repeat others, so the count is 3 too small (B: z, tilt x, tilt y)
      independent coordinates: O
      possible: O, A, C
    """
    from scipy.linalg import qr

    state = assemble(mechanism) if state is None else state
    needs("mobility", state, State, "a state of this mechanism, from m.assemble(...)")
    state = state.of(mechanism, "mobility needs a state of this mechanism; the given one")
    e = derive(mechanism)
    n = e.topology.nv
    p = parameter_vector(mechanism, state.parameters)
    active = active_rows(e, state.open_joints)
    closing = Closing(e, p, time=state.t, rows=active)
    poses = spread(closing, state.q)
    stacked = [closure_jacobian(closing, q) for q in poses]
    tolerance = relative_tolerance(e, p)
    ranks = [rank(A, tolerance) for A in stacked]
    generic = [null_space(A, tolerance) for A, r in zip(stacked, ranks, strict=True) if r == max(ranks)]
    true = generic[0].shape[1]
    here = null_space(closure_jacobian(closing, state.q), tolerance)
    kept = set(choose_rows(stacked, tolerance))
    closure = e.closure
    redundant = [(row.joint, row.label) for row in closure.fixed if row.joint not in state.open_joints]
    equations = len(active) + len(redundant)
    redundant += [(closure.joints[row], closure.labels[row]) for k, row in enumerate(active) if k not in kept]
    labels = e.topology.v_labels
    # a coordinate that rests at one pose, at a dead centre, may lead at all others
    size = np.max([np.abs(motions).max(axis=1) for motions in generic], axis=0) if true else np.zeros(n)
    chosen: list[int] = []
    shapes = [k for link in e.topology.links for k in range(link.shape_v.start, link.shape_v.stop)]
    if here.size:
        first = np.where(np.isin(np.arange(n), shapes), SHAPES_FIRST, 1.0)
        order = qr((first[:, None] * here).T, mode="r", pivoting=True)[1]
        chosen = sorted(int(i) for i in order[:true])
    return Mobility(
        name=mechanism.name,
        counted=n - equations,
        true=true,
        here=here.shape[1],
        equations=equations,
        redundant=tuple(redundant),
        possible=tuple(labels[i] for i in range(n) if size[i] > REPEATED),
        independent=tuple(labels[i] for i in chosen),
        shapes=len(set(shapes) & set(chosen)),
    )
