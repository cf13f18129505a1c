import math

import pytest

import closedchain as cc

SWING = """
import closedchain as cc
mechanism = cc.library.double_pendulum()
start = mechanism.assemble(shoulder=-1.0, elbow=0.2)
"""


def test_json_tells_modes_with_shapes(cli):
    content = cli("modes", "double-pendulum", "--json").json
    m = cc.library.double_pendulum()
    about = m.linearise(m.equilibrium())
    assert (content["in_equilibrium"], content["stable"]) == (True, True)
    assert content["independent"] == ["shoulder", "elbow"]
    assert [mode["frequency"] for mode in content["modes"]] == pytest.approx(about.modes().frequencies.tolist())
    assert content["modes"][0]["shape"]["shoulder"] == pytest.approx([1.0, 0.0])
    assert content["state"]["shoulder"] == pytest.approx(-math.pi / 2)


def test_the_table_shows_frequencies_and_joints(cli):
    answer = cli("modes", "four-bar")
    assert (answer.code, answer.err) == (0, "")
    m = cc.library.four_bar()
    about = m.linearise(m.equilibrium())
    assert f"{about.modes().frequencies[0]:.6g}" in answer.out
    assert "frequency [Hz]" in answer.out and "A 1, O -0.93" in answer.out


def test_parameters_and_held_coordinates(cli):
    usual, long = (
        cli("modes", "pendulum", "--hold", "hinge=-60*deg", *more, "--json").json["modes"][0]["frequency"]
        for more in ([], ["--set", "arm.length=4"])
    )
    assert long == pytest.approx(usual / 2)
    upright = cli("modes", "pendulum", "--hold", "hinge=pi/2", "--json").json
    assert upright["stable"] is False


def test_here_means_here(cli):
    answer = cli("modes", "four-bar", "--here")
    assert answer.code == 0
    assert "a state that is no equilibrium" in answer.out
    assert answer.err.startswith("note: not an equilibrium")
    content = cli("modes", "four-bar", "--here", "--json").json
    assert content["state"]["O"] == pytest.approx(math.pi / 2) and content["in_equilibrium"] is False
    assert max(abs(x) for x in content["residual"].values()) > 0.1


def test_a_file_begins_at_its_start(cli, file):
    content = cli("modes", file(SWING), "--here", "--json").json
    assert content["state"]["shoulder"] == pytest.approx(-1.0)


def test_what_goes_wrong_is_told(cli):
    answer = cli("modes", "slider-crank")
    assert answer.code == 1 and "no equilibrium of 'slider-crank' was found" in answer.err
    answer = cli("modes", "four-bar", "--set", "O.moter=1")
    assert answer.code == 2 and "did you mean 'O.motor'" in answer.err
    answer = cli("modes", "four-bar", "--hold", "Q=1")
    assert answer.code == 2 and "'Q'" in answer.err


# ---- flexible bodies -------------------------------------------------------------------------------------------------

BENT = """
import closedchain as cc
mechanism = cc.library.four_bar(flexible=True)
"""


def test_the_table_tells_what_deforms(cli, file):
    answer = cli("modes", file(BENT))
    assert (answer.code, answer.err) == (0, "")
    assert "deforms (share of the energy)" in answer.out and answer.out.count("coupler 100 %") == 2
    assert "deforms" not in cli("modes", "pendulum", "--hold", "hinge=-1").out


def test_locked_motors(cli, file):
    name = file(BENT)
    content = cli("modes", name, "--lock", "motors", "--json").json
    assert content["locked"] == ["O"] and content["in_equilibrium"] is True
    assert [mode["frequency"] for mode in content["modes"]] == pytest.approx([10.44829, 41.79315], rel=1e-6)
    assert content["modes"][0]["elastic_share"]["coupler"] == pytest.approx(1.0, abs=1e-3)
    assert sum(content["modes"][0]["kinetic_share"].values()) == pytest.approx(1.0)
    answer = cli("modes", name, "--lock", "B")
    assert answer.code == 2 and "draw it with cut=False" in answer.err


def test_animations_and_pictures(cli, file, tmp_path):
    name = file(BENT)
    answer = cli("modes", name, "--out", "swing/mode.html", "--mode", "2", "--out", "modes.svg")
    assert answer.code == 0 and "wrote swing/mode.html" in answer.out and "wrote modes.svg" in answer.out
    assert "mode 2: 11.75 Hz" in (tmp_path / "swing" / "mode.html").read_text()
    assert (tmp_path / "modes.svg").stat().st_size > 1000
    answer = cli("modes", name, "--out", "mode.mp4")
    assert answer.code == 2 and "a file ends in .png, .svg, .pdf, .html or .gif" in answer.err
    answer = cli("modes", name, "--out", "mode.html", "--mode", "9")
    assert answer.code == 2 and "modes are numbered 1 to 3" in answer.err


def test_frequencies_over_the_workspace(cli, file):
    name = file(BENT)
    content = cli("modes", name, "--over", "O=0:pi/2:2", "--json").json
    assert content["over"]["O"] == pytest.approx([0.0, math.pi / 2]) and content["locked"] == ["O"]
    assert content["frequencies"][1] == pytest.approx([10.44829, 41.79315], rel=1e-6)
    answer = cli("modes", name, "--over", "O=0:1:2", "--out", "over.svg")
    assert answer.code == 0 and "mode 2 [Hz]" in answer.out and "41.7932" in answer.out
    for wrong, told in (
        ("O=0:1", "COORDINATE=A:B:N"),
        ("O=0:1:x", "not a finite number"),
        ("O=0:1:1e12", "1e+12 are too many"),
        ("Q=0:1:2", "'Q'"),
    ):
        answer = cli("modes", name, "--over", wrong)
        assert answer.code == 2 and told in answer.err
    answer = cli("modes", name, "--over", "O=0:1:2", "--out", "mode.html")
    assert answer.code == 2 and "an animation shows one" in answer.err


def test_modes_by_elements(cli, tmp_path):
    """Frequencies of a clamped beam, in a table, as JSON, and over a pose on which they do not depend."""
    arm = cc.library.flexible_arm()
    want = arm.modes(method=cc.ERLS(elements=2), locked="motors").frequencies
    asked = ("modes", "flexible-arm", "--lock", "motors", "--method", "erls", "--elements", "2")
    content = cli(*asked, "--out", str(tmp_path / "modes.png"), "--json").json
    assert [x["frequency"] for x in content["modes"]] == pytest.approx(want.tolist(), rel=1e-9)
    assert content["rigid"] == 0 and content["locked"] == ["hinge"] and (tmp_path / "modes.png").exists()
    answer = cli(*asked)
    assert answer.code == 0 and f"{want[0]:.6g}" in answer.out and "of the elastic energy" in answer.out
    answer = cli("modes", "flexible-arm", "--elements", "2")
    assert answer.code == 2 and "--elements is for finite elements: add --method erls" in answer.err
    over = cli(*asked, "--over", "hinge=0:1:2", "--json").json["frequencies"]
    assert over == [pytest.approx(want[:8].tolist(), rel=1e-6)] * 2


DRIVEN = (
    BENT
    + """
mechanism.motors.clear()
mechanism.drive("O", 1.0 + 10 * cc.t)
mechanism.start = {"O": 1.0}
"""
)


def test_locks_take_the_place_of_drives(cli, file):
    path = file(DRIVEN)
    here = cli("modes", path, "--lock", "C").err  # which the drive holds already
    assert "C cannot move at this pose: leave it out" in here
    answer = cli("modes", path, "--lock", "O")
    assert answer.code == 0 and "10.4483" in answer.out and "held by drives" not in answer.out
    content = cli("modes", path, "--hold", "O=0.5", "--lock", "O", "--json").json
    assert content["state"]["O"] == 0.5 and content["modes"][0]["frequency"] == pytest.approx(10.44829, rel=1e-6)
    over = cli("modes", path, "--over", "O=0.5:1:2", "--json").json
    assert over["frequencies"][0] == pytest.approx(over["frequencies"][1], rel=1e-6)
    assert "held by drives" in cli("modes", path, "--lock", "motors").out
