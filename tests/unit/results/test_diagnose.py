"""Runs that end early: an error that names the culprit, and everything computed until then."""

import numpy as np
import pytest

import closedchain as cc
from tests.solvers import stepping


def arm(torque=None):
    m = cc.Mechanism("arm", gravity=(0, 0, 0))
    m.revolute("hinge", m.ground, m.body("arm", cc.rod(1.0, 1.0)))
    if torque is not None:
        m.motor("hinge", torque=torque)
    return m


def test_a_torque_that_is_not_a_number_names_the_motor_and_keeps_the_run():
    m = arm(lambda t: cc.math.sqrt(1.0 - t))
    with pytest.raises(
        cc.RunError, match=r"run of 'arm' with dop853 ended at t = .*'hinge\.motor' is nan there"
    ) as trouble:
        cc.simulate(m, until=2.0)
    run = trouble.value.run

    assert not run.complete and not run.good
    assert 0.9 < run.t[-1] <= 1.0
    assert f"{len(run.t)} samples" in str(trouble.value)
    assert run.dataset.sizes["time"] == len(run.t) and np.isfinite(run["hinge"]).all()
    assert run.dataset.attrs["status"] == "nan"
    assert any("incomplete" in text for text in run.complaints())
    assert "INCOMPLETE" in repr(run)
    # alpha = sqrt(1 - t) / (m L^2 / 3), twice integrated
    t = run.t
    exact = 3 * (2 / 3 * t - 4 / 15 * (1 - (1 - t) ** 2.5))
    np.testing.assert_allclose(run["hinge"], exact, atol=1e-6)


@pytest.mark.parametrize("solver", ["dop853", "dopri5", "rk4"])
def test_every_solver_tells(solver):
    with pytest.raises(cc.RunError, match=rf"with {solver} ended .*hinge\.motor"):
        cc.simulate(arm(lambda t: cc.math.log(0.5 - t)), until=1.0, solver=stepping(solver, 0.01))


def test_trouble_in_a_function_of_the_coordinates():
    """The torque is fine until the arm has turned by one radian."""
    with pytest.raises(cc.RunError, match=r"'hinge\.motor' is nan there") as trouble:
        cc.simulate(arm(lambda t, q, v: 1.0 + 1e-3 * cc.math.sqrt(1.0 - q["hinge"])), until=5.0)

    assert float(trouble.value.run["hinge"][-1]) <= 1.0


def test_trouble_in_a_force():
    m = arm()
    m.force("wind", m.bodies["arm"].tip, (0, lambda t: 1 / cc.math.where(t < 0.5, 1.0, 0.0), 0))

    with pytest.raises(cc.RunError, match="'wind' is inf there"):
        cc.simulate(m, until=1.0)


def test_trouble_before_the_first_sample():
    """Nothing was to be kept yet: the error must come all the same."""
    with pytest.raises(cc.RunError, match=r"'hinge\.motor' is nan") as trouble:
        cc.simulate(arm(lambda t: cc.math.sqrt(0.1 - t)), until=1.0, t_eval=[0.5, 1.0])

    assert len(trouble.value.run.t) == 0 and "without a sample" in repr(trouble.value.run)


def test_trouble_from_the_start():
    with pytest.raises(cc.RunError, match=r"ended at t = 0 s.*'hinge\.motor' is nan"):
        cc.simulate(arm(lambda t: cc.math.sqrt(-1.0 - t)), until=1.0)


def test_a_step_that_collapses_keeps_the_run():
    """A torque that grows without bound towards t = 1 s."""
    with pytest.raises(cc.RunError, match=r"run of 'arm' .*too small.*singular configuration or a jump") as trouble:
        cc.simulate(arm(lambda t: 1.0 / (1.0 - t) ** 2), until=2.0, events=[cc.Divergence("pass")])
    run = trouble.value.run

    assert run.dataset.attrs["status"] == "step_too_small"
    assert run.t[-1] < 1.0 < run.segments[-1].trajectory.failure.t + 1e-3
    # alpha = 3 / (1 - t)^2, twice integrated
    early = run.t < 0.9
    np.testing.assert_allclose(run["hinge"][early], -3 * (np.log(1 - run.t[early]) + run.t[early]), atol=1e-6)


def folding():
    """A parallelogram that is driven into its flat pose, where it may fold either way."""
    m = cc.Mechanism("folding", gravity=(0, 0, 0))
    a, b, c = (m.body(name, cc.rod(length=L, mass=1.0)) for name, L in (("a", 1.0), ("b", 2.0), ("c", 1.0)))
    m.revolute("O", m.ground, a)
    m.revolute("A", a.tip, b)
    m.revolute("C", m.ground.at(2, 0, 0), c)
    m.revolute("B", b.tip, c.tip)
    m.motor("O", torque=-1.0)
    return m


def test_a_singular_pose_on_the_way_gives_no_wrong_answer():
    """All four hinges turn as one, before and after the flat pose: the bar moves without turning."""
    m = folding()
    start = m.assemble(O=0.3, guess={"A": -0.3, "C": 0.3}, velocity={"O": -1.0})
    run = cc.simulate(m, start, until=1.0, rtol=1e-9)

    assert run.good and float(run["O"][-1]) < 0 < float(run["O"][0])
    np.testing.assert_allclose(run["C"], run["O"], atol=1e-6)
    np.testing.assert_allclose(run["A"], -run["O"], atol=1e-6)


def test_too_many_steps():
    with pytest.raises(cc.RunError, match="limit of steps") as trouble:
        cc.simulate(cc.library.four_bar(), until=2.0, solver=cc.solvers.DOP853(max_steps=10))

    assert trouble.value.run.dataset.attrs["status"] == "too_many_steps"
    assert trouble.value.run.counts.steps <= 10


def test_a_run_error_without_a_run():
    assert cc.RunError("text").run is None


@pytest.mark.parametrize(
    ("draw", "culprit"),
    [
        (
            lambda m: m.spherical("ball", m.ground, m.body("needle", cc.rod(1.0, 1.0))),
            r"'ball\.wx' has no inertia \(body 'needle'",
        ),
        (
            lambda m: m.revolute("spin", m.ground, m.body("needle", cc.rod(1.0, 1.0)), axis=(1, 0, 0)),
            "'spin' has no inertia",
        ),
        (
            lambda m: m.revolute("pivot", m.ground, m.body("bead", cc.point_mass(1.0))),
            "'pivot' has no inertia",
        ),
    ],
    ids=["thin rod on a ball", "thin rod about itself", "point mass about itself"],
)
def test_what_has_no_inertia_is_named_before_anything_runs(draw, culprit):
    m = cc.Mechanism("light")
    draw(m)

    with pytest.raises(cc.ModelError, match=rf"mechanism 'light' cannot be simulated\. Joint velocity {culprit}"):
        cc.simulate(m, until=0.1)


def test_massless_bodies_at_the_end_are_named():
    m = cc.Mechanism("hand")
    arm, palm, finger = m.body("arm", cc.rod(1.0, 1.0)), m.body("palm", cc.massless()), m.body("finger", cc.massless())
    m.revolute("shoulder", m.ground, arm)
    m.revolute("wrist", arm.tip, palm)
    m.weld("knuckle", palm, finger)

    with pytest.raises(cc.ModelError, match=r"'wrist' has no inertia .body 'palm'"):
        cc.simulate(m, until=0.1)
