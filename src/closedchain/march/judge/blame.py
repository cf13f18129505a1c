"""The likely cause of a motion that runs away, in a sentence; see `march.judge.divergence`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

if TYPE_CHECKING:
    from closedchain.march.controllers.held_inputs import HeldInputs
    from closedchain.march.program.compiled import Compiled
    from closedchain.model.bodies.flexible import Flexibility
    from closedchain.model.forces.sampled import Controller
    from closedchain.model.mechanism import Mechanism

CALLS = 3  # of a controller, the answers of which are compared
# Answers grow where their largest one has doubled at least three times and has become 1e3 times as large, as velocities
# have where the energy has grown by 1e6, with no jump of more than this share of the powers of ten: that is a command.
DOUBLED, RISES, GROWN, LARGEST_JUMP = 2.0, 3, 1e3, 0.6
LIMIT = 1e-3  # a largest answer that is given twice, but for this share of it, is a limit


def who_feeds(program: Compiled, held_inputs: HeldInputs, t: float, x: np.ndarray) -> str:
    """Who puts the energy in: a sampled controller that answers too late, or the force with most power."""
    sampled = _alternating(held_inputs) or whose_answers_grow(held_inputs)
    if sampled:
        return sampled
    powers = _powers(program, t, x, held_inputs.p)
    name = max(powers, key=lambda name: powers[name], default=None)
    if name is None or not powers[name] > 0:
        return "Look at what acts on it: a gain or a damper may have the wrong sign"
    m = program.equations.topology.mechanism
    advice = "a damper must not be negative" if name in m.joint_dampers else "a gain or a damper has the wrong sign"
    return f"{name!r} puts in {powers[name]:.2g} W: perhaps {advice}"


def why_endless(m: Mechanism, value: Callable[[Any], float]) -> str:
    """Where a potential falls without end: the spring whose stiffness is negative."""
    stiffness = {x.name: value(x.stiffness) for x in m.joint_springs.values()}
    stiffness |= {x.name: value(x.stiffness) for x in m.springs.values()}
    name = min(stiffness, key=lambda name: stiffness[name], default=None)
    if name is not None and stiffness[name] < 0:
        return f"The stiffness of {name!r} is negative, {stiffness[name]:.3g}: perhaps it has the wrong sign"
    return "A potential falls without end: look at its springs, and at gravity"


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


def whose_answers_grow(held_inputs: HeldInputs, calls: int | None = None, changing: int = 0) -> str | None:
    """The controller whose answers have grown from call to call; those that jump once, or have a limit, have not.

    ``calls``: within the latest ones; else since the start. ``changing``: at least a quarter of so many latest answers
    have another sign than the one before, as those of legs that tumble do.
    """
    for controller, told in _answers(held_inputs):
        grown = _grown(np.abs(told), calls)
        latest = told[-changing - 1 :]
        if grown and 4 * (latest[1:] * latest[:-1] < 0).sum() >= changing:
            return (
                f"The answers of the sampled controller {controller.name!r} have grown with it, from {grown[0]:.2g} to "
                f"{grown[1]:.2g}: its gain is too large for its period of {controller.period:g} s, or has the wrong "
                "sign"
            )
    return None


def _grown(size: np.ndarray, calls: int | None) -> tuple[float, float] | None:
    """From where to where answers of these sizes have grown; None if they have not."""
    largest = np.maximum.accumulate(size)
    if not largest[-1] > 0 or (size >= (1.0 - LIMIT) * largest[-1]).sum() > 1:
        return None
    rises = [int(np.argmax(size > 0))]
    while (later := int(np.searchsorted(largest, DOUBLED * largest[rises[-1]]))) < len(size):
        rises.append(later)
    level = np.log10(largest[rises])
    for i in range(len(rises) - 1 - RISES, -1, -1):
        powers = level[-1] - level[i]
        if calls is not None and len(size) - rises[i] > calls + 1:
            return None
        if powers >= np.log10(GROWN) and np.diff(level[i:]).max() <= LARGEST_JUMP * powers:
            return float(largest[rises[i]]), float(largest[-1])
    return None


def _alternating(held_inputs: HeldInputs) -> str | None:
    """The controller whose last answers change sign and grow from call to call."""
    for controller, answers in _answers(held_inputs):
        told = answers[-CALLS:]
        if len(told) == CALLS and (told[1:] * told[:-1] < 0).all() and (np.diff(np.abs(told)) > 0).all():
            return (
                f"The sampled controller {controller.name!r} answers with changing signs, each time more (its last "
                f"ones were {told[-2]:.2g} and {told[-1]:.2g}): its gain is too large "
                f"for its period of {controller.period:g} s"
            )
    return None


def _answers(held_inputs: HeldInputs) -> Iterator[tuple[Controller, np.ndarray]]:
    """Each output of each controller: its answers, but for those that repeat the one before.

    Others are called in between.
    """
    whole = np.array(held_inputs.history_u)
    column = 0
    for controller in held_inputs.held.controllers if len(whole) else ():
        for one in whole[:, column : column + controller.outputs].T:
            yield controller, one[np.flatnonzero(np.diff(one, prepend=np.nan) != 0)]
        column += controller.outputs


def _powers(program: Compiled, t: float, x: np.ndarray, p: np.ndarray) -> dict[str, float]:
    """Power of each force, of what no potential describes, W."""
    traced = program.equations.applied.powers
    if not traced:
        return {}
    got = program.evaluate("powers", lambda: {"P": ca.vertcat(*traced.values())}, np.array([t]), x[None], p)
    return dict(zip(traced, got["P"][0, :, 0].tolist(), strict=True))
