"""Forces: their power, the gradient of their potential, and that what acts between bodies has no resultant."""

from __future__ import annotations

import casadi as ca
import numpy as np

from closedchain.derive.applied import trace_applied
from closedchain.derive.equations import Equations
from closedchain.errors import ModelError
from closedchain.model.forces.force import Action, At, actions
from closedchain.model.mechanism import Mechanism
from closedchain.pose.state import State
from closedchain.testing.formulations import states
from closedchain.testing.measured import Measured
from closedchain.testing.terms import Terms

ROUNDING = 1e-10  # of sums of some hundred terms, relative to the largest


def check_force(mechanism: Mechanism, name: str) -> Measured:
    """Check a force as it is drawn on a mechanism, at random closed states around the start.

    The power of its generalised forces is the power that it tells, less the rate of its potential. At rest they are the
    gradient of the potential (and of the power, with respect to the velocities, if it tells one). If it acts at several
    frames, forces and moments have no resultant: it acts between bodies.

    Parameters
    ----------
    mechanism
        A drawing with the force, in a start where the force acts.
    name
        Of the force.

    Returns
    -------
    Measured
        The largest differences, and how many corners and jumps were found in its expressions.

    Examples
    --------
    >>> import closedchain as cc
    >>> from closedchain.testing import check_force
    >>> m = cc.library.four_bar()
    >>> spring = m.spring("spring", m.ground.at(0, 1, 0), m.bodies["coupler"].tip, 50.0, length=0.3, damping=2.0)
    >>> found = check_force(m, "spring")
    >>> found["power"] < 1e-10, found["resultant"] < 1e-10
    (True, True)
    """
    acting = {force.name: action for force, action in actions(mechanism)}
    if name not in acting:
        raise ModelError(f"check_force: {mechanism.name!r} has no force {name!r}; it has {', '.join(acting) or 'none'}")
    action, terms, found = acting[name], Terms(mechanism), Measured()
    e = terms.equations
    alone = trace_applied(e.limbs, e.motion, e.measures, [other for other in acting if other != name])
    Q = ca.densify(alone.tau)
    for i, wrench in alone.wrenches.items():
        twist = e.motion.twist[i]
        J = ca.jacobian(ca.densify(twist.stacked()), e.limbs.v)
        Q += J.T @ (wrench.stacked() if twist.shape is not None else wrench.rigid.stacked())
    power, potential = ca.densify(alone.power), ca.densify(alone.potential)
    stored = ca.jtimes(potential, e.limbs.q, e.qdot) + ca.jtimes(potential, e.limbs.t, ca.SX(1))
    slope = ca.jacobian(power - ca.jtimes(potential, e.limbs.q, e.qdot), e.limbs.v).T
    sum_ = _resultant(e, action)
    acted = 0.0
    for state in states(mechanism):
        Q_, power_, stored_, resultant = terms.evaluate([Q, power, stored, sum_], state.q, state.v)
        size = float(np.abs(Q_).max(initial=0.0) * np.abs(state.v).sum())
        acted = max(acted, size)
        found.error("power", state.v @ Q_, (power_ - stored_)[0], ROUNDING, max(size, 1e-9))
        Q_, slope_ = terms.evaluate([Q, slope], state.q, 0 * state.v)
        found.error("gradient of the potential", Q_, slope_, ROUNDING)
        if sum(isinstance(part, At) for part in action.parts) > 1:
            reach = float(np.abs(resultant[:, 1:]).max(initial=1e-9))
            found.error("resultant", resultant[:, 0] / reach, np.zeros(6), ROUNDING)
        _finite(name, state, Q_, power_, stored_)
    if not acted:
        raise AssertionError(f"{name!r} exerts nothing around the start: choose a start where it acts")
    return found


def _finite(name: str, state: State, *values: np.ndarray) -> None:
    for value in values:
        if not np.isfinite(value).all():
            raise AssertionError(f"{name!r} is {value.ravel()[~np.isfinite(value.ravel())][0]} at {state}")


def _resultant(e: Equations, action: Action) -> ca.SX:
    """Sum of all wrenches about the origin of the world (6 x 1 + n): the sum first, then each of them."""
    each = [ca.SX(6, 1)]
    for part in action.parts:
        if isinstance(part, At):
            f, n = (ca.vertcat(*(e.expression(x, held=e.limbs.held) for x in y)) for y in (part.force, part.moment))
            X = e.motion.frame(part.frame).X
            if not part.world:
                f, n = X.R @ f, X.R @ n
            each.append(ca.densify(ca.vertcat(f, n + ca.cross(ca.densify(X.r), ca.densify(f)))))
    columns = ca.horzcat(*each)
    return ca.densify(ca.horzcat(ca.sum2(columns), columns))
