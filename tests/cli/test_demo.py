"""``closedchain demo``: the table, and four pictures."""

import numpy as np
import pytest

import closedchain as cc
from closedchain.cli.parts import figures

FILES = ["platform-motion.png", "leg-lengths.png", "leg-forces.png", "errors.png"]


def test_json(cli, tmp_path):
    answer = cli("demo", "--json")
    assert (answer.code, answer.err) == (0, "")
    told = answer.json
    assert told["mechanism"] == "gough-stewart"
    assert told["complete"] and told["complaints"] == []
    # the default run of the library's platform
    wanted = cc.simulate(cc.library.gough_stewart(), until=2.0)
    assert told["coordinates"] == wanted.state().coordinates
    assert told["steps"] == wanted.counts.steps
    assert set(told["seconds"]["cold"]) == {"import", "derive", "load the solver", "compile", "march", "total"}
    assert set(told["seconds"]["warm"]) == {"prepare", "march"}
    assert [path.split("/")[-1].split("\\")[-1] for path in told["wrote"]] == FILES
    for name in FILES:
        assert (tmp_path / "out" / name).read_bytes().startswith(b"\x89PNG")


def test_table(cli, tmp_path):
    answer = cli("demo", "--out", "pictures")
    assert (answer.code, answer.err) == (0, "")
    for row in ("closure error", "energy error", "steps", "evaluations", "operations", "time, cold", "time, warm"):
        assert f"\n{row}  " in answer.out
    assert answer.out.count("\nwrote pictures") == len(FILES)
    assert sorted(p.name for p in (tmp_path / "pictures").iterdir()) == sorted(FILES)


def test_a_folder_that_cannot_be_made(cli, tmp_path):
    (tmp_path / "out").write_text("a file")
    answer = cli("demo")
    assert answer.code == 2
    assert "cannot make the folder 'out'" in answer.err


@pytest.fixture(scope="module")
def run():
    return cc.simulate(cc.library.gough_stewart(), until=2.0)


def curves(axes):
    return {line.get_label(): np.asarray(line.get_ydata(), float) for line in axes.get_lines()}


def test_platform_motion_shows_the_pose(run):
    above, below = figures.platform_motion(run).axes
    moved, turned = curves(above), curves(below)
    position = run.frame("platform")["position"].values
    np.testing.assert_allclose(moved["z"], 1e3 * (position[:, 2] - position[0, 2]), rtol=0, atol=1e-12)  # mm, rounding
    assert all(values[0] == 0 for values in moved.values())
    # the rate of a rotation vector differs from the angular velocity by half the angle turned: 4.3 degrees make 0.04
    spin = np.degrees(run.frame("platform")["angular_velocity"].values)
    for i, axis in enumerate("xyz"):
        rate = np.gradient(turned[f"about {axis}"], run.t)
        np.testing.assert_allclose(rate, spin[:, i], rtol=0, atol=0.05 * np.abs(spin).max())


def test_leg_lengths_show_what_is_wanted(run):
    above, below = figures.leg_lengths(run).axes
    assert set(curves(below)) == {f"leg {k}" for k in range(1, 7)}
    np.testing.assert_allclose(
        curves(above)["leg 4"], 1e3 * (run["leg4 slide"] - run["leg4 slide"][0]), rtol=0, atol=1e-9
    )  # the start closes to 1e-11 m or better
    # the controller keeps each leg within 4 mm of its stroke
    assert max(np.abs(values).max() for values in curves(below).values()) < 4.0


def test_leg_forces_carry_the_weight(run):
    (ax,) = figures.leg_forces(run).axes
    np.testing.assert_array_equal(curves(ax)["leg 1"], run["leg1 slide.motor"])


def test_errors_lie_below_the_bounds(run):
    above, below = figures.errors(run).axes
    gaps, energy = curves(above), curves(below)
    assert np.nanmax(gaps["position [m]"]) < gaps["good below this"][0]
    assert np.nanmax(energy["$|E(t) - E(0) - W(t)|$"]) < energy["good below this"][0]
    assert above.get_yscale() == below.get_yscale() == "log"
