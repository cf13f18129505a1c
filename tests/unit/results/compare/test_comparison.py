"""A comparison as a table in any width, a figure, and a page that needs nothing but itself."""

import io
import re
import shutil
import subprocess
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from rich.console import Console

import closedchain as cc
from closedchain.results.compare.comparison import ORDER, text

VOID = {"meta", "link", "br", "img", "hr"}


@pytest.fixture(scope="module")
def got():
    methods = {
        "exact": cc.Multipliers(),
        "soft <springs>": cc.VirtualSpring(1e5, 290.0),
        "stiff": cc.VirtualSpring(1e12),
    }
    few = [cc.solvers.DOP853(max_steps=300)]
    return cc.compare(cc.library.four_bar(), until=0.3, methods=methods, solvers=few, tolerances=[1e-5, 1e-7])


def printed(table, width):
    target = io.StringIO()
    Console(file=target, width=width, color_system=None).print(table)
    return target.getvalue().splitlines()


@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
def test_the_table_fits_and_no_number_is_cut(got, width):
    lines = printed(got.table(width), width)
    assert max(len(line.rstrip()) for line in lines) <= width
    assert lines[0].split()[:3] == ["method", "rtol", "error"]
    numbers = [row[2] for row in got.cells()[1]]
    assert [number for line in lines for number in line.split() if number in numbers] == numbers


def test_a_wide_table_has_every_column(got):
    head = printed(got.table(), 500)[0]
    assert all(name in head for name in ORDER)


def test_print_says_what_and_against_what(got, monkeypatch):
    monkeypatch.setenv("COLUMNS", "90")
    shown = str(got)
    assert "four-bar from 0 to 0.3 s, solver dop853" in shown
    assert "reference: Multipliers with dop853" in shown.replace("\n", " ")
    assert "failed: stiff (1e-05): the run of 'four-bar'" in shown
    assert max(map(len, shown.splitlines())) <= 90
    assert repr(got) == "Comparison('four-bar': 3 methods x 1 solvers x 2 tolerances)"


def test_cells():
    assert [text(x, "seconds") for x in (3.2e-5, 0.0123, 1.5)] == ["32 us", "12.3 ms", "1.50 s"]
    assert [text(x, "short") for x in (12.0, 4690.0, 3.21e6, 2e9)] == ["12", "4.69 k", "3.21 M", "2 G"]
    assert [text(x, "error") for x in (1.23e-9, float("nan"))] == ["1.2e-09", "-"]


def test_citations_name_methods_and_solvers(got):
    said = "\n".join(got.citations())
    assert "Eich (1993)" in said and "Wang, Gosselin, Cheng (2002)" in said and "Hairer" in said
    assert len(got.citations()) == len(set(got.citations())) == 3


def test_the_figure_has_a_line_for_each_method_in_both_panels(got, tmp_path):
    figure = got.plot(tmp_path / "figure.png")
    assert (tmp_path / "figure.png").read_bytes()[:4] == b"\x89PNG"
    left, right = figure.axes
    data = got.dataset.sel(formulation="exact", solver="dop853")
    for ax, cost in ((left, "seconds"), (right, "run_operations")):
        assert len(ax.lines) == 3
        assert ax.lines[0].get_xdata().tolist() == data[cost].values.tolist()
        assert ax.lines[0].get_ydata().tolist() == data["error"].values.tolist()
    labels = [entry.get_text() for entry in figure.legends[0].get_texts()]
    assert labels == ["exact", "soft <springs>", "stiff (failed)"]


def test_solvers_are_told_apart_in_the_figure():
    got = cc.compare(cc.library.four_bar(), until=0.1, methods=["multipliers"], tolerances=[1e-6], repeats=1)
    labels = [entry.get_text() for entry in got.plot().legends[0].get_texts()]
    assert labels == ["Multipliers", "dop853", "dopri5"]


# ---- the page --------------------------------------------------------------------------------------------------------


class Page(HTMLParser):
    """Elements, text and addresses of a page; complains about tags that do not match."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.words, self.addresses = [], [], [], []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.addresses += [value for name, value in attributes if name in ("src", "href", "xlink:href", "data")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append(tag)
        self.addresses += [value for name, value in attributes if name in ("src", "href", "xlink:href", "data")]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


@pytest.fixture(scope="module")
def page(got, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "page.html"
    got.to_html(path)
    return path


def test_the_page_is_well_formed_and_loads_nothing(page):
    source = page.read_text(encoding="utf-8")
    found = Page()
    found.feed(source)
    found.close()
    assert found.open == [] and source.startswith("<!DOCTYPE html>")
    assert found.tags.count("svg") == 1 and found.tags.count("table") == 2 and "script" not in found.tags
    assert all(address.startswith("#") for address in found.addresses)
    assert not re.search(r"url\((?!#)|@import", source)
    # an SVG is XML, and its names must not be used twice
    svg = ElementTree.fromstring(source[source.index("<svg") : source.index("</svg>") + 6])
    names = [x.get("id") for x in svg.iter() if x.get("id")]
    assert len(names) == len(set(names))


def test_the_page_has_the_figure_the_table_failures_and_citations(page, got):
    found = Page()
    found.feed(page.read_text(encoding="utf-8"))
    words = " ".join(" ".join(found.words).split())
    assert "four-bar: methods compared" in words and "soft <springs>" in words
    for row in got.cells()[1]:
        assert row[3] in words
    for sentence in (*got.failures(), *got.citations()):
        assert " ".join(sentence.split()) in words
    assert f"{got.dataset['operations'].sel(formulation='exact', kind='mul').item():.0f}" in words


def test_the_same_comparison_gives_the_same_page(page, got, tmp_path):
    got.to_html(tmp_path / "again.html")
    assert (tmp_path / "again.html").read_text() == page.read_text()


def test_a_browser_shows_it(page):
    """Where a browser is installed it lays the page out; elsewhere the parser above has seen it."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        assert "</html>" in page.read_text()
        return
    shot = page.with_suffix(".png")
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--window-size=1200,900"]
    options += [f"--user-data-dir={page.parent / 'profile'}", f"--screenshot={shot}"]
    subprocess.run([browser, *options, page.as_uri()], check=True, capture_output=True, timeout=120)
    from matplotlib.image import imread

    picture = imread(shot)
    assert picture.shape[:2] == (900, 1200)
    # ink of the plot, in the part of the window where it must be
    assert (picture[150:550, :, :3].min(axis=2) < 0.5).mean() > 0.005
