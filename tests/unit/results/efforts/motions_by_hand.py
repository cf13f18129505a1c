"""Motions that no run has made: states and accelerations put together by hand."""

from types import SimpleNamespace

import casadi as ca
import numpy as np

from closedchain.close.formulation import Choice
from closedchain.close.multipliers import Multipliers
from closedchain.derive.equations import derive
from closedchain.pose.redundancy import independent_rows
from closedchain.pose.state import parameter_vector
from closedchain.results.samples import Samples


def source(*samples):
    """Samples in the place of a run."""
    return SimpleNamespace(_reactions={}, _samples=lambda: list(samples))


def at_state(m, state, a=None, **given):
    """One sample: a state, with accelerations or those that the mechanism has there."""
    e, p = derive(m), parameter_vector(m, state.parameters)
    if a is None:
        a, _ = accelerations(m, state, Multipliers("none"), independent_rows(e, state).kept)
    return Samples(e, np.array([state.t]), state.q[None], state.v[None], np.asarray(a)[None], p, **given)


def accelerations(m, state, method, rows):
    """a and lam of a formulation with all velocities in its state."""
    e, choice = derive(m), Choice(tuple(rows))
    closed = method.close(e, choice)
    numbers = [*parameter_vector(m, state.parameters), *method.numbers(e, choice)]
    f = ca.Function("f", [e.limbs.t, closed.x, ca.vertcat(e.limbs.p, closed.parameters)], [closed.a, closed.lam])
    return [np.array(x)[:, 0] for x in f(state.t, [*state.q, *state.v, 0.0], numbers)]
