"""No figure, table or claim of a paper is left out."""

import importlib
import re
from pathlib import Path

import pytest

import papers
from papers.paper import VERDICTS

HERE = Path(__file__).resolve().parent
PAGES = HERE.parents[1] / "docs" / "papers"
# how many figures and tables each paper has, counted in its text
WHOLE = {
    "khan_krovi": (7, 1),
    "lilly_orin": (2, 3),
    "raoofian2017": (6, 2),
    "vidoni2012": (11, 2),
    "wang2002": (14, 0),
}


def test_all_papers_are_there():
    assert papers.names() == sorted(WHOLE)


@pytest.mark.parametrize("name", WHOLE)
def test_no_figure_or_table_is_left_out(name):
    figures, tables = WHOLE[name]
    expected = [f"fig{k + 1}" for k in range(figures)] + [f"table{k + 1}" for k in range(tables)]

    exhibits = {x.name: x for x in papers.load(name).exhibits}

    assert [x for x in expected if x not in exhibits] == []
    assert [x for x in expected if exhibits[x].show is None] == []
    assert [x for x in exhibits if re.fullmatch(r"(fig|table)\d+", x) and x not in expected] == []


@pytest.mark.parametrize("name", WHOLE)
def test_names_are_unique_and_can_be_typed(name):
    paper = papers.load(name)
    exhibits, claims = [x.name for x in paper.exhibits], [x.name for x in paper.claims]

    assert paper.name == name
    assert len(set(exhibits)) == len(exhibits) and len(set(claims)) == len(claims)
    assert [x for x in exhibits if not re.fullmatch(r"[a-z0-9.]+", x)] == []
    assert paper.about and paper.mends


@pytest.mark.parametrize("name", WHOLE)
def test_every_claim_has_an_expected_verdict(name):
    module = importlib.import_module(f"tests.papers.test_{name}")
    claims = {x.name for x in papers.load(name).claims}

    assert set(module.VERDICTS) == claims
    assert set(module.VERDICTS.values()) <= set(VERDICTS)


@pytest.mark.parametrize("name", WHOLE)
def test_the_page_has_all_exhibits_and_verdicts(name):
    module = importlib.import_module(f"tests.papers.test_{name}")
    paper = papers.load(name)
    page = (PAGES / f"{name}.md").read_text(encoding="utf-8")

    assert re.findall(r"^## ([a-z0-9.]+): ", page, re.MULTILINE) == [x.name for x in paper.exhibits]
    for claim in paper.claims:
        said = f"*{claim.where}.* The paper: {claim.says}.<br>\n**{module.VERDICTS[claim.name].capitalize()}:**"
        assert said in page, f"run: python -m papers {name}"
    shown = set(re.findall(rf"\]\({name}/([^)]+)\)", page))
    assert shown == {path.name for path in (PAGES / name).iterdir()}


def test_the_gallery_counts_the_verdicts_and_shows_all_pictures():
    page = (PAGES / "index.md").read_text(encoding="utf-8")
    for name in WHOLE:
        expected = list(importlib.import_module(f"tests.papers.test_{name}").VERDICTS.values())
        counts = " | ".join(str(expected.count(verdict)) for verdict in VERDICTS)
        assert f"| [{name}]({name}.md) | {counts} |" in page, "run: python -m papers"
        assert set(re.findall(rf"\]\({name}/([^)]+)\)", page)) == {path.name for path in (PAGES / name).iterdir()}
