"""Options in groups: what typer is given, what a command gets, and that an option means one thing everywhere."""

from dataclasses import dataclass, field
from typing import Annotated, Any

import pytest
import typer
from typer.testing import CliRunner

from closedchain.cli import app
from closedchain.cli.parts.grouped import Group, GroupedHelp, grouped

TABLE = {"red": Annotated[int | None, typer.Option(metavar="N")], "green": Annotated[float | None, typer.Option()]}


@dataclass(frozen=True, kw_only=True)
class Paint(Group):
    """Options of a test."""

    panel = "Paint"

    wall: Annotated[str, typer.Argument()]
    coats: Annotated[int, typer.Option(help="How many.", show_default="as needed")] = 1
    mix: Annotated[dict[str, Any], TABLE] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class ThickPaint(Paint):
    """Another default."""

    coats: Annotated[int, typer.Option(help="How many.", show_default="as needed")] = 3


def command(group, got):
    def paint(
        paint: group, dry: Annotated[bool, typer.Option("--dry", rich_help_panel="Options", help="Dry.")] = False
    ) -> int:
        """Paint."""
        got.append((paint, dry))
        return 0

    paint.__annotations__["paint"] = group
    made = typer.Typer(rich_markup_mode=None)
    made.command(cls=GroupedHelp)(grouped(paint))
    return made


def test_a_command_gets_the_objects_of_its_groups():
    got: list[Any] = []
    answer = CliRunner().invoke(command(Paint, got), ["north", "--coats", "2", "--green", "0.5", "--dry"])
    assert answer.exit_code == 0, answer.output
    assert got == [(Paint(wall="north", coats=2, mix={"green": 0.5}), True)]


def test_a_subclass_may_have_another_default():
    got: list[Any] = []
    assert CliRunner().invoke(command(ThickPaint, got), ["north"]).exit_code == 0
    assert got == [(ThickPaint(wall="north"), False)] and got[0][0].coats == 3


def test_help_has_a_heading_for_each_group_and_common_options_last():
    shown = CliRunner().invoke(command(Paint, []), ["--help"]).output
    assert shown.index("\nPaint:\n") < shown.index("--coats") < shown.index("--red N") < shown.index("\nOptions:\n")
    assert shown.index("\nOptions:\n") < shown.index("--dry") < shown.index("--help")
    assert "[default: 1]" in " ".join(shown.split())


def test_two_options_of_one_name_are_a_mistake_of_the_author():
    def twice(a: Paint, b: ThickPaint) -> int:
        return 0

    twice.__annotations__.update(a=Paint, b=ThickPaint)
    with pytest.raises(TypeError, match="two options 'wall'"):
        grouped(twice)


# ---- all commands ----------------------------------------------------------------------------------------------------

# what an option says in one command alone: kinds of files, when paths end, how a step depends on the tolerance
OF_ITS_OWN = {"--out", ("torques", "--until"), ("compare", "--step")}


def options():
    """Name of the command, and the option, for all of them."""
    for name, verb in typer.main.get_command(app).commands.items():
        for option in verb.params:
            yield name, option


def test_an_option_means_one_thing_in_all_commands():
    said: dict[str, set[tuple[Any, ...]]] = {}
    for name, option in options():
        first = option.opts[0]
        if first not in OF_ITS_OWN and (name, first) not in OF_ITS_OWN:
            said.setdefault(first, set()).add(
                (option.metavar, option.help, option.multiple, option.is_flag)
                if first.startswith("-")
                else (option.metavar, option.help)
            )
    assert {name: texts for name, texts in said.items() if len(texts) > 1} == {}


def test_every_option_has_a_text_and_a_heading():
    for name, option in options():
        assert option.help, (name, option.opts)
        if option.opts[0].startswith("-") and name not in ("demo", "list", "reproduce"):
            assert option.rich_help_panel or option.name == "help", (name, option.opts)


def test_help_fits_into_80_columns(monkeypatch, cli):
    monkeypatch.setenv("COLUMNS", "80")
    for name in typer.main.get_command(app).commands:
        lines = cli(name, "--help").out.splitlines()
        start = next(i for i, line in enumerate(lines) if line.endswith(":") and line[0] != " " and i > 0)
        assert max(map(len, lines[start:])) <= 80, name
