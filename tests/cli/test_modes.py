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
    about = cc.linearise(m, cc.equilibrium(m))
    assert (content["in_equilibrium"], content["stable"]) == (True, True)
    assert content["independent"] == ["shoulder", "elbow"]
    assert [mode["frequency"] for mode in content["modes"]] == pytest.approx(about.frequencies.tolist())
    assert content["modes"][0]["shape"]["shoulder"] == pytest.approx([1.0, 0.0])
    assert content["state"]["shoulder"] == pytest.approx(-math.pi / 2)


def test_the_table_shows_frequencies_and_joints(cli):
    answer = cli("modes", "four-bar")
    assert (answer.code, answer.err) == (0, "")
    m = cc.library.four_bar()
    about = cc.linearise(m, cc.equilibrium(m))
    assert f"{about.frequencies[0]:.6g}" in answer.out
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
