"""A command line inside the test process, in an empty folder."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner

import closedchain
from closedchain.cli import app


@dataclass
class Answer:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict:
        """stdout as one JSON object; anything else on it fails the test."""
        return json.loads(self.out)


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for variable in ("CLOSEDCHAIN_DEBUG", "COLUMNS", "FORCE_COLOR", "NO_COLOR"):
        monkeypatch.delenv(variable, raising=False)


@pytest.fixture
def cli():
    """``cli("run", "four-bar")`` runs a command; a traceback is never an answer."""

    def call(*arguments: str) -> Answer:
        got = CliRunner().invoke(app, list(arguments), prog_name="closedchain", catch_exceptions=False)
        assert "Traceback" not in got.output or os.environ.get("CLOSEDCHAIN_DEBUG")
        return Answer(got.exit_code, got.stdout, got.stderr)

    return call


def environment(**more: str) -> dict[str, str]:
    """For processes that start in another folder: the package is found as here, even on a relative PYTHONPATH."""
    source = str(Path(closedchain.__file__).resolve().parents[1])
    return {**os.environ, "PYTHONPATH": os.pathsep.join([source, os.environ.get("PYTHONPATH", "")]), **more}


@pytest.fixture
def process():
    """The same in a process of its own; ``code`` is Python to run instead of the command, the rest is environment."""

    def call(*arguments: str, code: str | None = None, **more: str) -> Answer:
        what = ["-m", "closedchain.cli"] if code is None else ["-c", code]
        got = subprocess.run(
            [sys.executable, *what, *arguments], capture_output=True, text=True, timeout=120, env=environment(**more)
        )
        return Answer(got.returncode, got.stdout, got.stderr)

    return call


@pytest.fixture
def file(tmp_path):
    """Write a model file; returns its name."""

    def write(text: str, name: str = "model.py") -> str:
        (tmp_path / name).write_text(text)
        return name

    return write
