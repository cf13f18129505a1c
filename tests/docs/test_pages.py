"""Pages name what exists: source files, public names, and nothing that is loaded from elsewhere."""

import re

import pytest

import closedchain as cc
from tests.docs.listings import PAGES, ROOT

SOURCE = ROOT / "src" / "closedchain"
THEORY = sorted((ROOT / "docs" / "theory").glob("*.md"))


@pytest.mark.parametrize("page", THEORY, ids=lambda page: page.stem)
def test_source_files_named_in_the_theory_exist(page):
    folder = None
    for name in re.findall(r"`((?:[a-z0-9_]+/)*[a-z0-9_]+\.py)`", page.read_text(encoding="utf-8")):
        # "`derive/rnea.py`, `crba.py`": a name without a folder lies in the last folder named before it
        folder = name.rpartition("/")[0] or folder
        end = name.rpartition("/")[2] if folder is None else f"{folder}/{name.rpartition('/')[2]}"
        if end.partition("/")[0] in ("docs", "tests", "benchmarks", "examples", "tools"):
            assert (ROOT / end).is_file(), name
        else:
            assert [p for p in SOURCE.rglob("*.py") if p.as_posix().endswith(f"/{end}")], name


def test_every_page_of_the_theory_is_in_its_index():
    index = (ROOT / "docs" / "theory" / "index.md").read_text(encoding="utf-8")
    assert [page.name for page in THEORY if page.name != "index.md" and f"({page.name})" not in index] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_names_of_the_library_on_a_page_exist(page):
    text = page.read_text(encoding="utf-8")
    code = "\n".join(re.findall(r"^```python.*?^```|`[^`\n]+`", text, re.DOTALL | re.MULTILINE))
    unknown = {name for name in re.findall(r"\bcc\.([A-Za-z_]\w*)", code) if not hasattr(cc, name)}
    assert unknown == set()


def test_every_public_name_is_in_the_reference():
    texts = [(ROOT / "docs" / "reference" / name).read_text(encoding="utf-8") for name in ("api.md", "cheat-sheet.md")]
    reference = "\n".join(texts)
    missing = [name for name in cc.__all__ if not name.startswith("_") and not re.search(rf"\b{name}\b", reference)]
    # the drawing makes expressions by itself
    assert set(missing) <= {"Expression"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_loads_nothing_from_elsewhere(page):
    text = page.read_text(encoding="utf-8")
    assert re.findall(r"!\[[^]]*\]\((?:https?:)?//[^)]*\)|<(?:img|script|link|iframe)[^>]*//[^>]*>", text) == []
