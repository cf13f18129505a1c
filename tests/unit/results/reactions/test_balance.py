"""Checks of reactions: bodies in balance, constraints without power; and that the checks see what is wrong."""

from dataclasses import replace

import numpy as np
import pytest

import closedchain as cc
from closedchain.results.reactions.balance import balance
from closedchain.results.reactions.reactions import reactions
from closedchain.testing.terms import TIME
from tests.identities.sample import GEARED, PLATFORMS, case
from tests.invariants import drawings
from tests.unit.results.efforts.motions_by_hand import at_state, source


@pytest.fixture(scope="module")
def run():
    m = cc.library.slider_crank()
    return cc.simulate(m, until=0.5, t_eval=np.linspace(0, 0.5, 5))


def test_a_run(run):
    got = run.balance()
    assert got["relative_error"].dims == ("time", "body") and got["constraint_power"].dims == ("time", "joint")
    assert set(got["body"].values) == set(run.mechanism.bodies) and set(got["joint"].values) == set(
        run.mechanism.joints
    )
    # rounding
    assert float(got["relative_error"].max()) < 1e-13 and float(got["relative_power"].max()) < 1e-13
    assert float(abs(got["constraint_power"].sum("joint")).max()) < 1e-12  # W


def test_power_of_efforts_is_what_changes_the_energy(run):
    """Of motors, all in all."""
    np.testing.assert_allclose(run.balance()["effort_power"].sum("joint"), run["power"], atol=1e-11)
    assert float(abs(run["power"]).max()) > 0.1


@pytest.mark.parametrize("key", GEARED[::2] + PLATFORMS[:1], ids=str)
def test_everything_that_may_act(key):
    """Drives, gears, rotors, stops, springs, forces at frames; joints of every kind, in a tree and cut."""
    c = case(*key)
    got = balance(source(at_state(c.mechanism, cc.State(c.mechanism, *c.closed(), t=TIME))))
    # rounding times the condition of the random loops
    assert float(got["relative_error"].max()) < 1e-11 and float(got["relative_power"].max()) < 1e-11


def test_a_drive_gives_power():
    m = drawings.four_bar(cut="B")
    m.drive("O", cc.pi / 3 + 2.0 * cc.t)
    m.start = {}
    run = cc.simulate(m, until=0.2, t_eval=[0.0, 0.2])
    got = run.balance()["effort_power"]
    np.testing.assert_allclose(got.sel(joint="O"), run["O.drive"] * 2.0, rtol=1e-9)
    assert not got.sel(joint=["A", "B", "C"]).values.any()


def test_an_open_joint_is_in_the_balance():
    """A motor goes on acting between pins that have come apart."""
    m = drawings.four_bar("RRRR", cut="B", R=drawings.TILT)
    m.motor("B", torque=2.0)
    let_go = cc.Event("let go", cc.t - 0.2, then=cc.Switch(open="B"))
    run = cc.simulate(m, until=0.4, t_eval=[0, 0.1, 0.3, 0.4], events=[let_go])
    got = run.balance()
    assert float(got["relative_error"].max()) < 1e-12 and float(got["relative_power"].max()) < 1e-12
    after = run.t > 0.2 + 1e-9
    np.testing.assert_allclose(got["effort_power"].sel(joint="B")[after], 2.0 * run["B'"][after], rtol=1e-9)


def test_springs_in_the_place_of_a_joint_take_and_give_power():
    """At the rate at which what they store changes."""
    m = cc.library.four_bar()
    run = cc.simulate(m, until=0.3, method=cc.VirtualSpring(1e4), t_eval=np.linspace(0, 0.3, 4))
    got = run.balance()
    # rounding
    assert float(got["relative_error"].max()) < 1e-12
    assert float(got["relative_power"].sel(joint=["O", "A", "C"]).max()) < 1e-12
    e = run.program.equations
    stretch = run.program.evaluate("stretch", lambda: {"rate": e.closure.A @ e.limbs.v}, run.t, run.x, run.p)["rate"]
    taken = -np.sum(run["lam"].values * stretch[..., 0], axis=1)
    assert np.abs(taken).max() > 0.01  # W
    np.testing.assert_allclose(got["constraint_power"].sel(joint="B"), taken, atol=1e-12)


# ---- the checks are not blind --------------------------------------------------------------------------------------


def test_a_wrong_wrench_is_seen():
    m = cc.library.four_bar()
    sample = at_state(m, cc.State(m, m.assemble(O=1.0).q, np.zeros(3)))
    wrong = source(sample)
    found = reactions(wrong)
    shifted = found.wrench.copy()
    shifted[0, found.joints.index("A"), 3] += 1.0  # N, of the crank on the coupler
    wrong._reactions[()] = replace(found, wrench=shifted)
    got = balance(wrong).isel(time=0)
    np.testing.assert_allclose(got["force_error"].sel(body=["crank", "coupler"]), 1.0, rtol=1e-12)
    assert float(got["force_error"].sel(body="rocker")) < 1e-12


def test_a_moment_about_a_hinge_is_seen():
    m = cc.library.four_bar()
    run = cc.simulate(m, until=0.1, t_eval=[0.1])
    found = reactions(run)
    turned = found.wrench.copy()
    turned[0, found.joints.index("A"), 2] += 1.0  # N m
    run._reactions[()] = replace(found, wrench=turned)
    np.testing.assert_allclose(run.balance()["constraint_power"].sel(joint="A"), run["A'"], rtol=1e-12)


def test_samples_without_an_answer_stay_so():
    m = cc.library.four_bar()
    good = at_state(m, m.assemble(O=1.0))
    wrong = at_state(m, m.assemble(O=1.0), a=[1.0, 2.0, 3.0])  # no forces of joints do that
    got = balance(source(good, wrong))
    for name in ("force_error", "relative_error", "constraint_power", "relative_power"):
        assert np.isfinite(got[name].values[0]).all() and np.isnan(got[name].values[1]).all()
