"""The command that computes papers again; what it computes is tested in tests/papers."""

import pytest

import papers
from closedchain.cli import reproduce as command
from papers import html, pages
from papers.paper import CORRECTED, FAILS, HOLDS, Claim, Exhibit, Finding, Paper, Table, judged
from papers.plots import panels
from papers.reproduce import reproduce


def curve():
    figure, (ax,) = panels("a <curve>")
    ax.plot([0, 1], [0, 1])
    return figure, Table(["a", "b"], [["1", "<2>"]], "a note")


def broken():
    raise ValueError("no number")


SMALL = Paper(
    "small2000",
    "A. Small (2000), On small things",
    "It is about small things",
    ("a misprint",),
    (
        Exhibit(
            "fig1", "a curve", curve, (Claim("one", "Figure 1", "x < y", lambda: judged(True, {"x": 1.0}, "x < y")),)
        ),
        Exhibit(
            "conclusion",
            "what follows",
            None,
            (
                Claim("two", "the end", "it is so", lambda: judged(False, {"x": 2.0}, "it is not")),
                Claim("three", "the end", "nearly", lambda: Finding(CORRECTED, {"x": 3.0}, "mended")),
            ),
        ),
    ),
)
BROKEN = Paper("broken1999", "B", "b", ("m",), (Exhibit("fig1", "none", broken, (Claim("c", "w", "s", broken),)),))


@pytest.fixture
def some(monkeypatch):
    """Two small papers in the place of all."""
    there = {x.name: x for x in (BROKEN, SMALL)}
    monkeypatch.setattr(papers, "names", lambda: sorted(there))
    monkeypatch.setattr(papers, "load", there.__getitem__)


def test_the_list_has_all_papers_and_what_they_have(cli):
    listed = cli("reproduce", "--json").json["papers"]
    assert list(listed) == papers.names()
    assert "fig6" in listed["wang2002"]
    assert "wang2002" in cli("reproduce").out


def test_a_figure_with_its_claims(cli, some, tmp_path):
    answer = cli("reproduce", "Small2000", "Figure1")
    assert answer.code == 0
    assert (tmp_path / "out/reproduce/small2000-fig1.png").read_bytes().startswith(b"\x89PNG")
    assert "holds: x < y" in answer.out and "a note" in answer.out and "what follows" not in answer.out


@pytest.mark.parametrize("typed", ["section2.1", "Section 2.1", "section21", "sec. 2.1"])
def test_a_passage_by_its_number(cli, monkeypatch, typed):
    numbered = Paper("small2000", "A", "a", ("m",), (Exhibit("section2.1", "a curve", curve),))
    monkeypatch.setattr(papers, "names", lambda: ["small2000"])
    monkeypatch.setattr(papers, "load", lambda name: numbered)
    answer = cli("reproduce", "small2000", typed)
    assert answer.code == 0
    assert "section2.1: a curve" in answer.out


def test_json(cli, some):
    found = cli("reproduce", "small2000", "--json").json
    assert [claim["verdict"] for claim in found["claims"]] == [HOLDS, FAILS, CORRECTED]
    assert found["claims"][1]["numbers"] == {"x": 2.0}
    assert found["exhibits"][0]["tables"] == [{"columns": ["a", "b"], "rows": [["1", "<2>"]], "note": "a note"}]
    assert "no number" in cli("reproduce", "broken1999", "--json").json["exhibits"][0]["error"]


def test_a_place_that_cannot_be_written_is_told_before_computing(cli, some, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr("papers.reproduce.reproduce", lambda *_: pytest.fail("computed first"))
    monkeypatch.setattr("papers.reproduce.reproduce_all", lambda: pytest.fail("computed first"))
    for what in ("small2000", "--all"):  # no note that it takes minutes, either
        answer = cli("reproduce", what, "--out", "file/there")
        assert answer.code != 0 and "file" in answer.err and "minutes" not in answer.err


def test_what_cannot_be_computed_is_said(cli, some):
    answer = cli("reproduce", "broken1999")
    assert answer.code == 1
    assert "could not be computed: ValueError in broken: no number" in answer.out
    assert "not checked: ValueError" in answer.out


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (["wang2003"], "known: broken1999, small2000"),
        (["small2000", "fig2"], "small2000 has no 'fig2'; it has fig1, conclusion"),
        (["small2000", "--all"], "leave out 'small2000'"),
    ],
)
def test_wrong_words(cli, some, typed, said):
    answer = cli("reproduce", *typed)
    assert answer.code == 2
    assert said in answer.err


def test_without_the_repository(cli, monkeypatch, tmp_path):
    monkeypatch.setattr(command, "FOLDER", tmp_path)
    answer = cli("reproduce")
    assert answer.code == 2
    assert "clone it" in answer.err


def test_the_page_has_everything(some):
    text = html.page([reproduce("small2000"), reproduce("broken1999")])
    assert text.count("data:image/png;base64,") == 1
    assert text.count("<span class='verdict") == 3
    assert "x &lt; y" in text and "&lt;2&gt;" in text and "x < y" not in text
    assert text.count("no number") == 2
    assert "<img alt='a curve' " in text and "<a href='#small2000-fig1'>fig1</a>" in text


def test_pages_of_the_documentation(some, tmp_path):
    found = reproduce("small2000")
    pages.write([found], tmp_path)
    text = (tmp_path / "small2000.md").read_text()
    assert "![a curve](small2000/fig1.png)" in text and "**Does not hold:** it is not." in text
    assert (tmp_path / "small2000" / "fig1.png").is_file()
    assert "| [small2000](small2000.md) | 1 | 1 | 1 |" in pages.gallery([found])
    with pytest.raises(RuntimeError, match="could not be checked"):
        pages.page(reproduce("broken1999"))
