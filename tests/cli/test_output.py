"""In a pipe nothing is coloured, cut or wrapped; in a terminal a table fits."""

import io
import json

import pytest

from closedchain.cli.parts import output

LONG = "x" * 300


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_pipe_gets_whole_lines_without_colours(capsys):
    output.show(output.table(("name", "about"), [("[bold]a[/]", LONG), ("b :smile:", "")]), f"wrote {LONG}")
    text = capsys.readouterr().out
    assert "\x1b" not in text
    lines = text.splitlines()
    assert lines[2] == f"[bold]a[/]  {LONG}"
    assert lines[3] == "b :smile:"
    assert lines[-1] == f"wrote {LONG}"


def test_a_terminal_gets_tables_of_its_width(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "60")
    screen = Terminal()
    monkeypatch.setattr("sys.stdout", screen)
    output.show(output.table(("name", "about"), [("a", LONG)]))
    text = screen.getvalue()
    assert "\x1b[" in text
    assert text.count("x") == 300  # folded, not cut
    assert len(text.splitlines()) > 6


def test_sentences_are_never_wrapped(capsys):
    output.say("warning", f"{LONG} [red] {LONG}")
    assert capsys.readouterr().err == f"warning: {LONG} [red] {LONG}\n"


def test_json_has_no_nan(capsys):
    import numpy as np

    output.print_json({"a": float("nan"), "b": [np.float64(1.5), float("inf")], "c": True, 1: None, "d": {"e": "x"}})
    assert json.loads(capsys.readouterr().out) == {"a": None, "b": [1.5, None], "c": True, "1": None, "d": {"e": "x"}}


@pytest.mark.parametrize("arguments", [["list"], ["info", "gough-stewart"], ["run", "pendulum"]])
def test_verbs_write_plain_text_into_pipes(cli, arguments):
    text = cli(*arguments).out
    assert "\x1b" not in text and "\u2026" not in text
    assert all(line == line.rstrip() for line in text.splitlines())
