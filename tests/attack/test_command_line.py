"""Command lines made from the option tables, and that the judge sees what is wrong."""

import pytest

from benchmarks.attack import command_line
from benchmarks.attack.kinds import run_case

CALLS = 30


def test_every_option_has_values_that_fit():
    known = command_line.FITTING
    left_out = {
        option.metavar
        for verb in command_line.verbs().values()
        for option in verb.params
        if option.metavar and option.metavar not in known and option.opts[0] not in known
    }

    assert left_out == set()


@pytest.mark.parametrize("number", range(CALLS))
def test_a_call(number):
    outcome = run_case("command-line", 100, number)

    assert not outcome.finding, f"{outcome.finding}\n{outcome.reproduce}"


@pytest.mark.parametrize(
    ("words", "code", "out", "err", "label"),
    [
        (["run", "four-bar"], 0, "table", "", "run 0"),
        (["run", "four-bar"], 2, "", "error: no method 'x'", "run 2"),
        (["run", "four-bar"], 4, "", "", "exit code"),
        (["run", "four-bar"], 1, "", "", "failed without a word"),
        (["run", "four-bar"], 0, "", "", "nothing on stdout"),
        (["run", "four-bar"], 1, "", "error: KeyError: 3. This was not foreseen", "not foreseen"),
        (["run", "four-bar"], 1, "", "error: 'NoneType' object is not subscriptable", "in words of others"),
        (["run", "four-bar", "--json"], 0, '{"t": NaN}', "", "stdout is no JSON"),
        (["run", "four-bar", "--json"], 1, '{"error": "no"}', "", "run 1"),
    ],
)
def test_the_judge(words, code, out, err, label):
    assert command_line.judged(words, code, out, err).label == label
