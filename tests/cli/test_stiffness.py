"""``closedchain stiffness``."""

import closedchain as cc


def test_it_chooses_and_draws(cli, tmp_path):
    answer = cli("stiffness", "four-bar", "--error", "1e-4", "--out", "curve.png")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith("k = 7.") and answer.out.splitlines()[-1] == "wrote curve.png"
    assert (tmp_path / "curve.png").read_bytes()[:4] == b"\x89PNG"


def test_json_is_the_same_choice(cli):
    told = cli("stiffness", "four-bar", "--damping", "0", "--json").json
    wanted = cc.choose_stiffness(cc.library.four_bar(), damping=0)
    assert (told["stiffness"], told["damping"], told["reached"]) == (wanted.stiffness, 0.0, wanted.reached)
    assert told["curve"]["closure_error"] == wanted.dataset["closure_error"].values.tolist()
    assert len(told["curve"]["stiffness"]) == 8 and told["wrote"] == []


def test_wrong_usage(cli):
    assert "not resolved by rtol" in cli("stiffness", "four-bar", "--error", "1e-12").err
    assert "no loop" in cli("stiffness", "pendulum").err
    answer = cli("stiffness", "four-bar", "--solver", "dop583")
    assert answer.code == 2 and "did you mean 'dop853'" in answer.err
