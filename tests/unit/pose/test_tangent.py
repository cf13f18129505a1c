"""Identities of the first-order terms; that they are right is shown by differences in test_linearise."""

import numpy as np
import pytest

import closedchain as cc
from closedchain.derive.equations import derive
from closedchain.pose.independent import choose_pivots
from closedchain.pose.redundancy import independent_rows
from closedchain.pose.state import parameter_vector
from closedchain.pose.tangent import Tangent
from tests.invariants import drawings


def tangent(state):
    e = derive(state.mechanism)
    rows = independent_rows(e, state)
    pivots = choose_pivots(e, state, rows.kept, "coordinates")
    return e, rows, Tangent(e, state, rows.kept, [column for _, column in pivots])


STATES = {
    "bennett": lambda: drawings.bennett().assemble(velocity={"J1": 1.3}),
    "four-bar": lambda: drawings.four_bar().assemble(velocity={"O": 2.0}),
    "gough-stewart": lambda: cc.simulate(cc.library.gough_stewart(), until=0.1).state(),
}


@pytest.mark.parametrize("name", STATES)
def test_motions_keep_all_loops_closed(name):
    state = STATES[name]()
    e, rows, at = tangent(state)
    p = parameter_vector(state.mechanism, state.parameters)
    active = list(rows.active)
    # also the rows that were left out: A S = 0, to rounding
    assert np.abs(at.A[active] @ at.S).max() < 1e-12
    gamma = np.array(e.function("gamma", {"gamma": e.closure.gamma})(state.t, state.q, state.v, p))[:, 0]
    assert np.abs(at.A[active] @ at.a + gamma[active]).max() < 1e-11
    # accelerations and multipliers are those of the equations of motion
    force = np.array(e.function("force", {"force": e.tau - e.h})(state.t, state.q, state.v, p))[:, 0]
    assert at.M @ at.a + at.A.T @ at.lam == pytest.approx(force, abs=1e-11)
    assert np.linalg.eigvalsh(at.inertia).min() > 0


def test_only_quaternions_that_turn_make_displacements_drift():
    *_, at = tangent(drawings.four_bar().assemble(velocity={"O": 2.0}))
    assert not at.drift.any()
    m = cc.Mechanism("top")
    m.spherical("ball", m.ground, m.body("top", cc.rigid(1.0, com=(0, 0, 0.3), inertia=(0.2, 0.2, 0.1))))
    *_, at = tangent(m.assemble())
    assert not at.drift.any()
    *_, at = tangent(m.assemble(velocity={"ball.wx": 1.0, "ball.wy": 2.0, "ball.wz": 3.0}))
    # y' = nu - w x y
    assert at.drift == pytest.approx(-np.array([[0, -3, 2], [3, 0, -1], [-2, 1, 0]]))


def test_forces_without_a_derivative_are_refused():
    m = cc.library.pendulum()
    m.motor("hinge", torque=cc.math.sqrt(m.joints["hinge"].q))
    with pytest.raises(cc.ModelError, match="no derivative at this state"):
        tangent(m.assemble(hinge=0.0))
