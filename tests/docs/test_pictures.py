"""Every picture that a page shows is made by docs/pictures.py, and every picture made there is shown."""

import re
import runpy
from pathlib import Path

import pytest

from tests.docs.listings import PAGES, ROOT

FOLDER = ROOT / "docs" / "pictures"
DPI = 30  # enough to see that they can be made


def shown() -> dict[Path, list[Path]]:
    """Pages that show each picture."""
    pages: dict[Path, list[Path]] = {}
    for page in PAGES:
        for target in re.findall(r"!\[[^]]+\]\(([^)]+)\)", page.read_text(encoding="utf-8")):
            pages.setdefault((page.parent / target).resolve(), []).append(page)
    return pages


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pictures")
    return runpy.run_path(str(ROOT / "docs" / "pictures.py"))["make"](folder, dpi=DPI)


def test_all_shown_pictures_are_there():
    pictures = [path for path in shown() if path.is_relative_to(FOLDER)]
    assert len(pictures) > 10
    missing = [str(path.relative_to(ROOT)) for path in pictures if not path.is_file()]
    assert not missing, "run: python docs/pictures.py"


def test_all_pictures_can_be_made_and_are_shown(made):
    pictures = {path.name for path in shown() if path.is_relative_to(FOLDER)}
    assert {path.name for path in made} == pictures
    assert {path.name for path in FOLDER.iterdir()} == pictures


def test_kept_pictures_have_the_shape_of_those_made_now(made):
    # the content depends on the version of matplotlib and is looked at by people
    for path in made:
        width, height = size(path)
        kept_width, kept_height = size(FOLDER / path.name)
        # whole pixels: one of some hundred
        assert width / height == pytest.approx(kept_width / kept_height, rel=0.02), path.name


def size(path: Path) -> tuple[int, int]:
    """Width and height, from the header of a PNG file."""
    header = path.read_bytes()[:24]
    return int.from_bytes(header[16:20], "big"), int.from_bytes(header[20:24], "big")
