"""``closedchain recommend``."""


def test_it_recommends_with_reasons(cli):
    answer = cli("recommend", "slider-crank", "--until", "0.2")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith("slider-crank: method=cc.") and answer.out.count("\n  - ") >= 4


def test_json(cli):
    told = cli("recommend", "pendulum", "--until", "0.2", "--rtol", "1e-6", "--json").json
    assert (told["mechanism"], told["method"], told["rtol"]) == (
        "pendulum",
        "Multipliers(stabilise='projection')",
        1e-6,
    )
    assert told["solver"] in ("dop853", "dopri5") and "no loop" in told["reasons"][0]
    assert len(told["runs"]) == 6


def test_wrong_usage(cli):
    assert cli("recommend", "four-baar").code == 2
    answer = cli("recommend", "pendulum", "--rtol", "1")
    assert answer.code == 2 and "between 1e-12 and 1e-3" in answer.err
