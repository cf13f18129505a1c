"""Facts that the repository states in two places must agree."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
REQUIREMENTS = [
    *PROJECT["dependencies"],
    *(line for extra in PROJECT["optional-dependencies"].values() for line in extra),
]
NAMES = sorted({re.match(r"[\w-]+", line)[0] for line in REQUIREMENTS} - {PROJECT["name"]})


@pytest.mark.parametrize("name", NAMES)
def test_every_dependency_is_explained(name):
    page = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")

    assert f"| `{name}` |" in page


def test_the_citation_names_the_current_version():
    source = (ROOT / "src" / "closedchain" / "_version.py").read_text(encoding="utf-8")
    version = re.search(r'__version__ = "(.+)"', source)[1]
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")

    assert f"\nversion: {version}\n" in citation
