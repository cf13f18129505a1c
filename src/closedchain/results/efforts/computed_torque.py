"""Computed torque, as a user writes it: the law along a motion, with what it has to know of the mechanism's mobility.

The equations are in `closedchain.close.computed_torque`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from closedchain.arguments import known, mapping
from closedchain.close.computed_torque import Mobility, TorqueLaw, actuated_rows, parts, shafts
from closedchain.derive.equations import derive
from closedchain.errors import ClosedChainError, ModelError
from closedchain.model.expressions.expression import Expression, Number
from closedchain.model.expressions.functions import maximum, rate, sqrt
from closedchain.model.forces.control import Numbers, Target, Tracking
from closedchain.model.mechanism import Mechanism
from closedchain.pose.assemble import folded
from closedchain.pose.mobility import mobility
from closedchain.pose.rank import rank
from closedchain.pose.state import State, parameter_vector

SINGULAR = 1e-5  # relative size of a singular value of the actuated rates that counts as zero


@dataclass(frozen=True, eq=False)
class ComputedTorque(Tracking):
    """Efforts that make errors of the actuated coordinates decay as ``e'' + kd e' + kp e = 0``.

    The law knows the equations of the mechanism with all that acts in it; loops, cut joints, passive freedoms and more
    motors than freedoms are no exception.

    Parameters
    ----------
    motion
        From `follow`; or references by coordinate: ``{"O": 0.5 * cc.math.sin(cc.t)}``, where a number, a function
        of time or a path of `cc.paths` will do as well.
    kp, kd
        Gains, 1/s^2 and 1/s: one number, or one for each coordinate by name. Without kd the errors are critically
        damped, ``kd = 2 sqrt(kp)``.
    limit
        Of the efforts, N m or N: they stay between ``-limit`` and ``limit``. One number, or by coordinate.
    joints
        The coordinates that are actuated. Default: those of the mapping; along a motion those that have motors drawn.
    parameters
        What the law believes of the mechanism, where it is wrong: ``{"platform.mass": 9.0}``.
    weights
        For more actuators than freedoms: the sum of ``weight effort^2`` is as small as possible (a torque divided by
        the size of the mechanism, where both torques and forces occur). By coordinate.
    preload
        For more actuators than freedoms: efforts, by coordinate, that are wanted as far as the motion allows.
    name
        Numbers become parameters under this name: ``"control.kp"``, or ``"O.control.kp"`` if there is one for each.

    Examples
    --------
    >>> import closedchain as cc
    >>> from closedchain.results.efforts.computed_torque import ComputedTorque
    >>> m = cc.library.four_bar()
    >>> motors = m.control(ComputedTorque({"O": 1.5 + 0.2 * cc.math.sin(3 * cc.t)}, kp=400.0))
    >>> run = cc.simulate(m, m.assemble(O=1.5, velocity={"O": 0.6}), until=1.0)
    >>> bool(abs(run["O"][-1] - 1.5 - 0.2 * cc.math.sin(3.0)) < 1e-6)
    True
    """

    kd: Any = None
    parameters: Mapping[str, Any] | None = field(default=None, kw_only=True)
    weights: Mapping[str, Any] | None = field(default=None, kw_only=True)
    preload: Mapping[str, Any] | None = field(default=None, kw_only=True)

    _kind: ClassVar[str] = "ComputedTorque"

    def efforts(self, mechanism: Mechanism) -> dict[str, Number]:
        """Torques and forces by coordinate."""
        targets = self.targets(mechanism)
        labels = [target.label for target in targets]
        believed = self._believed(mechanism)
        found = self._mobility(mechanism, targets)  # before the drawing changes

        numbers = self.declare(mechanism)
        kp = numbers.each(self.kp, "kp", labels, least=0.0)
        if self.kd is None:
            kd = [2 * sqrt(maximum(x, 0.0)) for x in kp]  # a parameter may become anything
        else:
            kd = numbers.each(self.kd, "kd", labels, least=0.0)
        wanted = [
            target.correction(p, d) + rate(rate(target.reference)) for target, p, d in zip(targets, kp, kd, strict=True)
        ]
        law = TorqueLaw(
            coordinates=tuple((target.joint.name, target.index) for target in targets),
            labels=tuple(labels),
            commands=tuple(wanted),
            mobility=found,
            believed={name: numbers.draw(x, f"{numbers.stem}.{name}") for name, x in believed.items()},
            weights=self._by_label(numbers, "weights", labels, 1.0),
            preload=self._by_label(numbers, "preload", labels, 0.0),
        )
        return self.limited(numbers, labels, [law.effort(i) for i in range(len(labels))])

    def _believed(self, mechanism: Mechanism) -> dict[str, Any]:
        values = mapping("ComputedTorque: parameters", self.parameters, "name, {'arm.mass': 2.0}")
        for name in values:
            known(f"ComputedTorque: {mechanism.name!r} has no parameter", name, mechanism.parameters)
        return values

    def _by_label(self, numbers: Numbers, what: str, labels: list[str], default: float) -> tuple[Number, ...] | None:
        if getattr(self, what) is None:
            return None
        chosen = mapping(f"ComputedTorque: {what}", getattr(self, what), f"coordinate, {{{labels[0]!r}: 2.0}}")
        found = numbers.each(chosen, what, labels, default=default)
        value = numbers.mechanism.values()
        if what == "weights" and not all(value(x) > 0 for x in found):
            raise ModelError(f"ComputedTorque: weights must be positive numbers, not {chosen!r}")
        return tuple(found)

    def _mobility(self, mechanism: Mechanism, targets: Sequence[Target]) -> Mobility | None:
        """How the mechanism moves; None if it cannot be assembled as it is drawn now."""
        values = mechanism.parameters.merged(None)

        def begin(x: Number) -> float:
            return float(
                x.evaluate(lambda leaf: 0.0 if leaf.op == "time" else values[leaf.args[0]])
                if isinstance(x, Expression)
                else x
            )

        # where references begin, unless bodies coincide there, which lowers the rank
        first = {target.label: begin(target.reference) for target in targets}
        for hold in (first, None):
            try:
                state, coincide = folded(mechanism, hold)
                freedoms = mobility(mechanism, state).true
            except ClosedChainError:
                continue
            if coincide and hold is not None:
                continue
            moved = _moved(state, targets, freedoms)
            return Mobility(freedoms - len(shafts(mechanism)), moved, parts(mechanism))
        return None


def _moved(state: State, targets: Sequence[Target], freedoms: int) -> int:
    """How many freedoms the coordinates move: the rank of their rates in the motions that the loops allow."""
    e = derive(state.mechanism)
    rows = actuated_rows(e, [(target.joint.name, target.index) for target in targets])[0]
    f = e.function("rates", {"A": e.closure.A, "B": rows})
    A, B = (np.array(x) for x in f(state.t, state.q, state.v, parameter_vector(state.mechanism, state.parameters)))
    motions = np.linalg.svd(A)[2][len(state.v) - freedoms :].T if A.size else np.eye(len(state.v))
    return rank(B @ motions, least=SINGULAR)
