"""Frames over time, against finite differences and rigid-body kinematics; no function serves another frame or run."""

import numpy as np
import pytest

import closedchain as cc
from closedchain.results.evaluate import outputs


@pytest.mark.parametrize("name", ["coupler.tip", "rocker.com", "crank"])
def test_velocity_is_the_rate_of_position_in_the_plane(four_bar_run, name):
    motion = four_bar_run.frame(name)
    rate = np.gradient(motion["position"], four_bar_run.t, axis=0)[2:-2]

    np.testing.assert_allclose(motion["velocity"][2:-2], rate, atol=0.05)  # h = 0.01, jerk of some hundred m/s^3


@pytest.mark.parametrize("name", ["platform.corner3", "leg4 upper.com", "leg5 lower"])
def test_rates_in_space(platform_run, name):
    motion = platform_run.frame(name)
    R, w = motion["rotation"].values, motion["angular_velocity"].values
    R_dot = np.gradient(R, platform_run.t, axis=0)[2:-2]
    spin = np.cross(w[:, None, :], R.transpose(0, 2, 1)).transpose(0, 2, 1)[2:-2]  # w x each column

    # h = 0.002
    np.testing.assert_allclose(
        motion["velocity"][2:-2], np.gradient(motion["position"], platform_run.t, axis=0)[2:-2], atol=1e-4
    )
    np.testing.assert_allclose(R_dot, spin, atol=1e-4)
    np.testing.assert_allclose(np.einsum("tij,tkj->tik", R, R), np.broadcast_to(np.eye(3), R.shape), atol=1e-12)


def test_positions_of_the_plane_loop(four_bar_run):
    run = four_bar_run
    tip = run.frame("coupler.tip")["position"].values
    phi = run["C"].values

    # the loop is closed: the tip of the coupler is the tip of the rocker
    np.testing.assert_allclose(tip[:, 0], 3 + 2.5 * np.cos(phi), atol=1e-9)
    np.testing.assert_allclose(tip[:, 1], 2.5 * np.sin(phi), atol=1e-9)
    np.testing.assert_allclose(run.frame("rocker.tip")["position"], tip, atol=1e-9)


def test_layout_units_and_names(four_bar_run):
    motion = four_bar_run.frame("coupler.tip")

    assert dict(motion.sizes) == {"time": 101, "axis": 3, "frame_axis": 3}
    assert {k: v.attrs["units"] for k, v in motion.data_vars.items()} == {
        "position": "m", "rotation": "1", "velocity": "m/s", "angular_velocity": "rad/s",
    }  # fmt: skip
    assert motion.attrs == {"frame": "coupler.tip", "axes": "world"}
    assert list(motion["axis"].values) == ["x", "y", "z"]


def test_a_body_s_name_is_its_origin(four_bar_run):
    body = four_bar_run.mechanism.bodies["coupler"]

    for same in ("coupler.origin", body["origin"]):
        np.testing.assert_array_equal(four_bar_run.frame(same)["position"], four_bar_run.frame("coupler")["position"])


def test_a_frame_on_the_ground_stands_still(four_bar_run):
    motion = four_bar_run.frame(four_bar_run.mechanism.ground.C)

    np.testing.assert_array_equal(motion["position"], np.broadcast_to([3.0, 0.0, 0.0], (101, 3)))
    assert not motion["velocity"].values.any()


def test_frames_without_a_name_are_told_apart(pendulum_run):
    """A frame may be made on the spot; a later one may then live at the same place in memory."""
    arm = pendulum_run.mechanism.bodies["arm"]
    places = np.linspace(0.1, 5.0, 50)
    found = [float(pendulum_run.frame(arm.at(x, 0, 0))["position"][0, 0]) for x in places]

    np.testing.assert_allclose(found, places, rtol=1e-15)


def test_unknown_frames_suggest(four_bar_run):
    with pytest.raises(
        cc.ModelError, match="mechanism 'four-bar' has no body or frame 'copler'; did you mean 'coupler'"
    ):
        four_bar_run.frame("copler")
    with pytest.raises(cc.ModelError, match="body 'coupler' has no frame 'tup'; did you mean 'tip'"):
        four_bar_run.frame("coupler.tup")


def test_a_frame_of_another_mechanism_is_refused(four_bar_run):
    other = cc.Mechanism("other").body("coupler", cc.rod(9.0, 1.0))

    with pytest.raises(cc.ModelError, match=r"coupler.*another mechanism"):
        four_bar_run.frame(other.tip)


def test_the_ground_is_a_body_by_name_too(four_bar_run):
    np.testing.assert_array_equal(four_bar_run.frame("ground.C")["position"][0], [3.0, 0.0, 0.0])


def test_an_older_run_does_not_spoil_a_newer_one():
    """A motor on the cut joint moves the cut; functions of the old cut must not serve the new one."""
    m = cc.library.four_bar()
    old = cc.simulate(m, until=0.2)
    m.motor("B", torque=lambda t: 0 * t + 0.0)
    new = cc.simulate(m, until=0.2)
    assert old.program.equations.topology.q_labels != new.program.equations.topology.q_labels
    first, second = (run.frame("coupler.tip")["position"].values for run in (old, new))

    np.testing.assert_allclose(first, second, atol=1e-7)  # the same motion, twice at rtol 1e-8


def test_an_older_run_can_still_be_read():
    m = cc.library.four_bar()
    old = cc.simulate(m, until=0.2)
    before = old.frame("rocker.tip")["position"].values
    m.body("ornament", cc.ball(0.1, 1.0))
    m.weld("screw", m.bodies["rocker"].tip, m.bodies["ornament"])
    cc.simulate(m, until=0.01)

    np.testing.assert_array_equal(old.frame("rocker.tip")["position"], before)
    np.testing.assert_allclose(old.frame("rocker.com")["position"] * 2 - [3, 0, 0], before, atol=1e-12)
    assert old.state()["O"] == pytest.approx(float(old["O"][-1]), abs=1e-12)


def test_no_samples():
    run = cc.simulate(cc.library.four_bar(), until=0.1, t_eval=[])

    assert run.dataset.sizes["time"] == 0 and run.complaints() == []
    assert run.frame("crank.tip")["rotation"].shape == (0, 3, 3)


def test_one_sample():
    run = cc.simulate(cc.library.four_bar(), until=0.1, t_eval=[0.1])
    got = outputs(run.segments)

    assert got["q"].shape == (1, 4) and got["lam"].shape == (1, 2) and got["kinetic"].shape == (1, 1)


def test_matrices_keep_their_shape(four_bar_run):
    """Columns come time after time from CasADi: each sample must get its own matrix back."""
    e = four_bar_run.program.equations
    nq = e.topology.nq
    got = four_bar_run.program.evaluate(
        "test", lambda: {"A": e.closure.A}, four_bar_run.t, four_bar_run.x, four_bar_run.p
    )
    single = e.function("A", {"A": e.closure.A})

    assert got["A"].shape == (101, 2, 3)
    for k in (0, 50, 100):
        np.testing.assert_allclose(
            got["A"][k], single(four_bar_run.t[k], four_bar_run.x[k, :nq], np.zeros(3), four_bar_run.p), rtol=1e-14
        )
