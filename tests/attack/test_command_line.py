"""Command lines made from the option tables, and that the judge sees what is wrong."""

from typing import Annotated

import pytest
import typer

from benchmarks.attack import command_line
from benchmarks.attack.kinds import random_numbers, run_case

CALLS = [n for n in range(22) if n not in (4, 7, 9)]  # those compile a dozen methods


def test_every_option_of_every_command_is_attacked():
    pairs = {(name, o.opts[0]) for name, verb in command_line.verbs().items() for o in verb.params}
    pairs = {(name, option) for name, option in pairs if option.startswith("-") and name not in command_line.DEAR}
    calls = [command_line.call(random_numbers("command-line", 100, n)) for n in range(3000)]

    # an option has a chance of 1/300 in each call at least
    called = {(words[0], word) for words in calls for word in words[1:]}
    assert pairs - called <= {(name, option) for name, option in pairs if option == "--all"}


def test_values_of_a_new_option_come_from_its_type_its_default_and_its_help():
    app = typer.Typer()

    @app.command()
    def new(
        depth: Annotated[int, typer.Option(metavar="DEPTH")] = 7,
        colour: Annotated[str, typer.Option(help="Such as 'red' or 'pale-green'.")] = "blue",
    ):
        """A command."""

    depth, colour, *_ = typer.main.get_command(app).params
    assert command_line.fitting(depth) == [*command_line.BY_TYPE[int], "7"]
    assert command_line.fitting(colour)[-3:] == ["blue", "red", "pale-green"]


@pytest.mark.parametrize("number", CALLS)
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
