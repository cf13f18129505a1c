"""`Reactions`: pieces put together, joints picked, and what is unique in any axes and about any point."""

import numpy as np
import pytest

import closedchain as cc
from closedchain.results.reactions.wrenches import joined, seen, wrenches
from tests.invariants import drawings
from tests.unit.results.efforts.motions_by_hand import at_state


@pytest.fixture(scope="module")
def found():
    m = drawings.four_bar(R=drawings.TILT)
    return wrenches(at_state(m, m.assemble()))


def test_seen():
    """In turned axes, and about the point from which the place is seen at the arm."""
    w = np.arange(1.0, 7.0).reshape(1, 1, 6, 1)
    R, arm = drawings.TILT, np.array([0.3, -0.2, 0.5])
    got = seen(w, R[None, None], arm[None, None]).ravel()
    np.testing.assert_allclose(got, [*(R.T @ (w.ravel()[:3] + np.cross(arm, w.ravel()[3:]))), *(R.T @ w.ravel()[3:])])


def test_pieces_with_and_without_open_components():
    """One piece is over-constrained, the other is not, since its cut joint is open: columns of zeros are put beside."""
    m = drawings.four_bar(cut="B")
    run = cc.simulate(
        m, until=0.2, t_eval=[0.0, 0.2], events=[cc.Event("let go", cc.t - 0.1, then=cc.Switch(open="B"))]
    )
    parts = [wrenches(samples) for samples in run._samples()]
    assert [part.loose.shape[3] for part in parts] == [3, 0]
    whole = joined(parts)
    assert whole.loose.shape[3] == 3 and not whole.loose[len(parts[0].wrench) :].any()
    np.testing.assert_array_equal(whole.t, run.t)
    np.testing.assert_array_equal(whole.wrench, np.concatenate([part.wrench for part in parts]))
    np.testing.assert_array_equal(whole.unique, parts[0].unique)


def test_part(found):
    one = found.part(["C", "A"])
    assert one.joints == ("C", "A")
    np.testing.assert_array_equal(one.wrench, found.wrench[:, [3, 1]])
    np.testing.assert_array_equal(one.unique, found.unique[[3, 1]])


def test_what_is_open_is_orthonormal_over_all_joints(found):
    columns = found.loose.reshape(-1, found.loose.shape[3])
    np.testing.assert_allclose(columns.T @ columns, np.eye(3), atol=1e-13)


def test_what_is_open_changes_no_balance(found):
    """Nothing but the ground feels it: at each body what its joints exert by it cancels."""
    m = found.pieces[0][0].equations.topology.mechanism
    scale = np.repeat([found.length, 1.0], 3)
    for column in np.moveaxis(found.loose[0], 2, 0):
        on = {name: np.zeros(6) for name in ("ground", *m.bodies)}
        for k, name in enumerate(found.joints):
            moment, force = np.split(column[k] * scale, 2)
            wrench = np.concatenate([moment + np.cross(found.r_second[0, k], force), force])
            on[m.joints[name].b.body.name] += wrench
            on[m.joints[name].a.body.name] -= wrench
        assert all(np.abs(on[name]).max() < 1e-13 for name in m.bodies)


def test_rounded_data_leave_the_same_open():
    """Components are told apart to the digits that the drawing has."""
    exact, rounded = (four_bar(decimals, tolerance) for decimals, tolerance in ((16, 0.0), (6, 1e-6)))
    np.testing.assert_array_equal(rounded.unique, exact.unique)
    assert not exact.unique.all() and exact.unique.any()
    unique = np.broadcast_to(exact.unique, exact.wrench.shape)
    own = [seen(x.wrench[..., None], x.R_first, 0 * x.r_second)[..., 0][unique] for x in (exact, rounded)]
    np.testing.assert_allclose(own[1], own[0], rtol=0, atol=1e-4)  # N, of some 10: half a unit of the digits, amplified


def four_bar(decimals, tolerance):
    """In a tilted plane, with the place of one pivot rounded."""
    m = cc.Mechanism("rounded", gravity=(0, -9.81, 0), tolerance=tolerance)
    crank, coupler, rocker = (m.body(name, drawings.rod(x)) for name, x in drawings.LENGTHS.items())
    m.revolute("O", m.ground.at(0, 0, 0, R=drawings.TILT.tolist()), crank)
    m.revolute("A", crank.at(1.0, 0, 0), coupler)
    pivot = np.round(drawings.TILT @ [2, 0, 0], decimals)
    m.revolute("C", m.ground.at(*pivot.tolist(), R=drawings.TILT.tolist()), rocker)
    m.revolute("B", coupler.at(2.5, 0, 0), rocker.at(2.0, 0, 0), cut=True)
    return wrenches(at_state(m, m.assemble(O=1.0, guess={"A": -1.0, "C": 1.5})))


def test_a_free_joint_is_told_of_if_something_acts_along_it():
    m = cc.Mechanism("flying")
    body = m.body("body", cc.rigid(2.0, inertia=(0.2, 0.3, 0.25)))
    m.free("pose", m.ground, body)
    q, v = np.array([0, 0, 1.0, 1, 0, 0, 0]), np.zeros(6)
    falling = at_state(m, cc.State(m, q, v))
    assert wrenches(falling).joints == ()
    m.motor("pose", force=7.0, coordinate="vz")
    pulled = wrenches(at_state(m, cc.State(m, q, v)))
    assert pulled.joints == ("pose",)
    np.testing.assert_allclose(pulled.wrench[0, 0], [0, 0, 0, 0, 0, 7.0], atol=1e-13)
    given = wrenches(at_state(m, cc.State(m, q, v), a=[0, 0, 0, 0, 0, 0.0], efforts={("pose", 5): np.array([19.62])}))
    np.testing.assert_allclose(given.wrench[0, 0, 3:], [0, 0, 19.62], atol=1e-13)
