"""Checks of the state in which a run starts: inertia everywhere, loops closed in positions and velocities."""

from __future__ import annotations

import casadi as ca
import numpy as np

from closedchain.close.computed_torque import TorqueLaw, actuated_rows
from closedchain.derive.equations import Equations
from closedchain.errors import AssemblyError, ModelError
from closedchain.lock import PATIENCE
from closedchain.march.program.compiled import Compiled
from closedchain.model.derived import cached
from closedchain.model.forces.control import traced_laws
from closedchain.pose.closing import TOLERANCE, Closing, active_rows
from closedchain.pose.inertia import weightless
from closedchain.pose.rank import REPEATED, apart, null_space, relative_tolerance
from closedchain.pose.redundancy import closure_jacobian, spread
from closedchain.pose.size import Scale, row_sizes, velocity_sizes
from closedchain.pose.state import State


@PATIENCE
def check_start(program: Compiled, start: State, p: np.ndarray, scale: Scale, gap: float = 0.0) -> None:
    """A start that leaves a loop open would be a wrong answer from the first step on; ``gap`` is allowed, relative."""
    e = program.equations
    missing = weightless(e, start, program.active)
    if missing:
        raise ModelError(f"mechanism {start.mechanism.name!r} cannot be simulated. {missing}")
    active = active_rows(e, start.open_joints)
    closing = Closing(e, p, time=start.t, rows=active, open_joints=start.open_joints)
    closing.check_fixed()
    if start.mechanism.drives:
        check_controlled(closing, start)
    if not active or program.method.all_rows:  # springs may be stretched
        return
    c, c_dot = (np.abs(np.array(x)).ravel()[active] for x in residuals(e)(start.t, start.q, start.v, p))
    size = row_sizes(e, active, scale.length)
    fast = max(1.0 / scale.time, np.abs(start.v / velocity_sizes(e, scale.length)).max(initial=0.0))
    units, closed = [e.closure.units[i] for i in active], max(1e3 * TOLERANCE, gap)
    # as `assemble` has it, which finds velocities first and a branch for them after that
    loose = 2 * size * closing.loose(closing.relative_jacobian(start.q), start.v)
    for what, r, unit, most in (
        ("position", c, "m or rad", apart(units, closed, start.mechanism.tolerance, scale.length)),
        ("velocity", c_dot, "m/s or rad/s", np.maximum(closed * fast * size, loose)),
    ):
        i = int(np.argmax(r / most))
        if r[i] > most[i]:
            raise AssemblyError(
                f"the start is not consistent in {what}: joint {e.closure.joints[active[i]]!r} is off by {r[i]:.3g} "
                f"{unit} ({e.closure.labels[active[i]]}). Take it from m.assemble(...) with the same parameters; loops "
                "that are open on purpose are closed by springs, cc.VirtualSpring(...) or cc.ModifiedDeNOC(...)"
            )


@cached
def residuals(e: Equations) -> ca.Function:
    """A CasADi function (t, q, v, p) -> all closure residuals and their rates."""
    rate = e.closure.A @ e.limbs.v + e.closure.c_t
    return e.function("residuals", {"c": e.closure.c, "c_dot": rate})


def check_controlled(closing: Closing, start: State) -> None:
    """Refuse laws for coordinates that drives leave no freedom, at the start and at poses around it."""
    e, m = closing.e, start.mechanism
    for law in (x for x in traced_laws(m) if isinstance(x, TorqueLaw)):
        rows = e.function("controlled", {"B": actuated_rows(e, law.coordinates)[0]})
        moved = np.zeros(len(law.coordinates))
        for q in spread(closing, start.q):
            motions = null_space(closure_jacobian(closing, q), relative_tolerance(e, closing.p))
            B = np.array(rows(start.t, q, start.v, closing.p)) * closing.velocity_size
            moved = np.maximum(moved, np.abs(B @ motions).max(axis=1, initial=0.0))
        slides = [m.joints[joint].type.velocity_units[index] == "m/s" for joint, index in law.coordinates]
        moved /= np.where(slides, closing.scale.length, 1.0)
        still = [label for label, x in zip(law.labels, moved, strict=True) if x < REPEATED]
        if still:
            drives = " and ".join(map(repr, m.drives))
            raise ModelError(
                f"{law}: {still[0]!r} cannot move, since {drives} prescribe{'s' * (len(m.drives) == 1)} its motion: "
                "control another coordinate, or draw the mechanism without the drive"
            )
