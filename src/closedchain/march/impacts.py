"""Joints that open and close during a run, and the impulse that makes velocities consistent.

The theory is in ``docs/theory/closures.md``.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from closedchain.close.formulation import Formulation
from closedchain.errors import ModelError
from closedchain.march.judge.gaps import impulse
from closedchain.march.marks import Event, Happening
from closedchain.march.program.compiled import Compiled, compiled
from closedchain.pose.closing import Closing
from closedchain.pose.rank import apart
from closedchain.pose.size import drawn_length
from closedchain.pose.state import State, parameter_vector

MEET = 1e-6  # rad, or of the mechanism's length: frames that are further apart do not meet

ROUNDING = 1e-14  # of the energies around an impact: what is lost below it is none


def switch(state: State, events: list[Event], method: Formulation, last: Compiled) -> tuple[State, Happening]:
    """Open and close joints; where some close, one impulse P makes all velocities consistent.

    With the new closures, ``M (v+ - v-) + A' P = 0`` and ``A v+ + c_t = 0``: no work-less impulse changes the
    velocities less. Springs need no impulse; what those of an opened joint had stored is lost. Rows that were held at
    residuals in the piece before, whose program is ``last``, stay so.
    """
    name = ", ".join(event.name for event in events)
    closing = tuple(j for event in events for j in event.switch.close)
    opening = tuple(j for event in events for j in event.switch.open)
    open_joints = tuple(sorted((set(state.open_joints) - set(closing)) | set(opening)))
    after = replace(state, open_joints=open_joints)
    aimed = last.choice.aimed
    program = compiled(after, method, aimed=aimed)
    e = program.equations
    p = parameter_vector(state.mechanism, state.parameters)
    M, c = (np.array(x) for x in e.function("impact", {"M": e.M, "c": e.closure.c})(state.t, state.q, state.v, p))
    Closing(e, p, time=state.t, open_joints=open_joints).check_fixed()
    new = [i for i in program.active if e.closure.joints[i] in closing]
    gaps = np.abs(c.ravel()[new])
    far = gaps / apart([e.closure.units[i] for i in new], MEET, state.mechanism.tolerance, drawn_length(e, p))
    if far.max(initial=0.0) > 1:
        joint, gap = e.closure.joints[new[int(np.argmax(far))]], gaps[np.argmax(far)]
        raise ModelError(
            f"event {name!r} closes joint {joint!r} at t = {state.t:.6g} s, but its frames are "
            f"{gap:.3g} m (or rad) apart there: let the event happen where they meet"
        )
    rows = [] if method.all_rows else list(program.rows)
    v, P = impulse(program, state, rows)
    before, now = (0.5 * float(x @ M @ x) for x in (state.v, v))
    stored = [_stored(compiled(x, method, aimed=aimed).aimed(x, last), x, p) for x in (state, after)]
    lost = before - now + stored[0] - stored[1]
    rounding = ROUNDING * max(before, now, *map(abs, stored))
    labels = [f"{e.closure.joints[i]} {e.closure.labels[i]}" for i in rows]
    numbers = {
        "impulse": dict(zip(labels, P.tolist(), strict=True)),
        "kinetic_before": before,
        "kinetic_after": now,
        "lost": lost if abs(lost) > rounding else 0.0,
    }
    words = [f"{j!r} closes" for j in closing] + [f"{j!r} opens" for j in opening]
    text = f"{name} at t = {state.t:.9g} s: {', '.join(words)}; the impact takes {numbers['lost']:.6g} J"
    return replace(after, v=v), Happening(state.t, name, text, numbers, event=True)


def _stored(program: Compiled, state: State, p: np.ndarray) -> float:
    """Energy in springs that close loops."""
    x = program.pack(state.q, state.v)
    got = program.evaluate("stored", lambda: {"E": program.closed.stored}, np.array([state.t]), x[None], p)
    return float(got["E"][0, 0, 0])
