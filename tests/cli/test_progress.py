"""The bar appears late, in terminals only, and leaves nothing behind."""

import io
import time

import pytest
from rich.console import Console

from closedchain.cli import output, progress


@pytest.fixture
def screen(monkeypatch):
    console = Console(file=io.StringIO(), force_terminal=True, width=120)
    monkeypatch.setattr(output, "console", lambda stderr=False: console)
    return console.file


def wait_for(condition):
    end = time.monotonic() + 20  # for a busy machine; a quiet one needs some milliseconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_it_shows_what_is_done_and_how_far(screen, monkeypatch):
    monkeypatch.setattr(progress, "DELAY", 0.0)
    with progress.Progress(5.0) as bar:
        wait_for(lambda: "deriving and compiling" in screen.getvalue())
        bar(2.5, 1234)
        wait_for(lambda: "t = 2.5 of 5 s, 1234 steps" in screen.getvalue())
        assert "marching" in screen.getvalue()
    assert screen.getvalue().endswith("\x1b[2K")  # the line is wiped


def test_what_is_quick_shows_nothing(screen):
    with progress.Progress(5.0) as bar:
        bar(5.0, 10)
    assert screen.getvalue() == ""


def test_quiet_means_quiet(screen, monkeypatch):
    monkeypatch.setattr(progress, "DELAY", 0.0)
    with progress.Progress(5.0, quiet=True) as bar:
        bar(2.5, 1234)
        time.sleep(0.05)
    assert screen.getvalue() == ""


def test_pipes_get_nothing(cli, monkeypatch):
    monkeypatch.setattr(progress, "DELAY", 0.0)
    assert cli("run", "pendulum").err == ""


def test_it_goes_away_when_the_work_fails(screen, monkeypatch):
    monkeypatch.setattr(progress, "DELAY", 0.0)

    def work():
        with progress.Progress(5.0):
            wait_for(screen.getvalue)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work()
    size = len(screen.getvalue())
    time.sleep(0.2)  # two refreshes
    assert len(screen.getvalue()) == size
