"""The likely cause of a motion that runs away, in a sentence; see `march.divergence`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

if TYPE_CHECKING:
    from closedchain.march.compiled import Compiled
    from closedchain.march.holding import Holding
    from closedchain.model.flexible import Flexibility

CALLS = 3  # of a controller, the answers of which are compared


def who_feeds(program: Compiled, holding: Holding, t: float, x: np.ndarray) -> str:
    """Who puts the energy in: a sampled controller that answers too late, or the motor or damper with most power."""
    sampled = _alternating(holding)
    if sampled:
        return sampled
    powers = _powers(program, t, x, holding.p)
    if not powers:
        return "Look at what acts on it"
    name = max(powers, key=lambda name: powers[name])
    m = program.equations.topology.mechanism
    advice = "a damper must not be negative" if name in m.joint_dampers else "a gain or a damper has the wrong sign"
    return f"{name!r} puts in {powers[name]:.2g} W: perhaps {advice}"


def why_from_nowhere(fixed_step: bool) -> str:
    """Where energy comes from nowhere."""
    if fixed_step:
        return "The step is too long for this motion: shorten it, or take a solver that chooses its steps"
    return "Take a smaller rtol, or stop before a singular pose"


def why_bent(flexibility: Flexibility) -> str:
    """Where a beam bends by more than its length."""
    if flexibility.stiffening:
        return "It is too soft for its loads: look at its section, and at what drives it"
    return "A beam that turns fast is stiffened by its own pull: draw it with stiffening=True"


def _alternating(holding: Holding) -> str | None:
    """The controller whose last answers change sign and grow from call to call."""
    column = 0
    for controller in holding.held.controllers:
        mine = slice(column, column + controller.outputs)
        column += controller.outputs
        answers = np.array([u[mine] for u in holding.history_u]).reshape(-1, controller.outputs)
        for one in answers.T:
            told = one[np.flatnonzero(np.diff(one, prepend=np.nan) != 0)][-CALLS:]  # others are called in between
            if len(told) == CALLS and (told[1:] * told[:-1] < 0).all() and (np.diff(np.abs(told)) > 0).all():
                return (
                    f"The sampled controller {controller.name!r} answers with changing signs, each time more (its last "
                    f"ones were {told[-2]:.2g} and {told[-1]:.2g}): its gain is too large "
                    f"for its period of {controller.period:g} s"
                )
    return None


def _powers(program: Compiled, t: float, x: np.ndarray, p: np.ndarray) -> dict[str, float]:
    """Power of each motor and joint damper, W."""
    e = program.equations
    m = e.topology.mechanism
    traced = {}
    for motor in m.motors.values():
        traced[motor.name] = e.applied.efforts[motor.name] * e.measures.velocities(m.joints[motor.joint])[motor.index]
    for damper in m.joint_dampers.values():
        v = e.measures.velocities(m.joints[damper.joint])[damper.index]
        traced[damper.name] = -e.limbs.number(damper.damping) * v * v
    if not traced:
        return {}
    got = program.evaluate("powers", lambda: {"P": ca.vertcat(*traced.values())}, np.array([t]), x[None], p)
    return dict(zip(traced, got["P"][0, :, 0].tolist(), strict=True))
