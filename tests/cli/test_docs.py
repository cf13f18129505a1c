"""Every command printed in the guide works as printed."""

import re
import shlex
from pathlib import Path

import pytest

GUIDE = (Path(__file__).parents[2] / "docs/how-to/command-line.md").read_text()
COMMANDS = re.findall(r"^\$ closedchain (.*)$", GUIDE, re.MULTILINE)
FILES = dict(re.findall(r'^```python title="(.*?)"\n(.*?)^```', GUIDE, re.MULTILINE | re.DOTALL))


def test_the_guide_is_read():
    assert len(COMMANDS) > 10
    assert list(FILES) == ["swing.py"]


@pytest.mark.parametrize("command", [c for c in COMMANDS if c != "demo"])  # which has tests of its own
def test_command(cli, file, command):
    for name, text in FILES.items():
        file(text, name)
    answer = cli(*shlex.split(command.split(" | ")[0]))
    assert (answer.code, answer.err) == (0, "")
    assert answer.out
