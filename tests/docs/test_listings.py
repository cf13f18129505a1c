"""Every listing printed in README.md and docs/ runs, and prints what the page shows."""

import re

import pytest

from tests.docs import listings
from tests.docs.listings import NUMBER, PAGES, ROOT, differences, run_page

NAMES = [str(page.relative_to(ROOT)) for page in PAGES]
# commands of this page are run by tests/cli/test_docs.py
OWN_TEST = "docs/how-to/command-line.md"


@pytest.mark.parametrize("name", NAMES)
def test_page(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if name == OWN_TEST:
        monkeypatch.setattr(listings, "run_console", lambda listing, namespace: "")
    wrong = []
    for listing, printed in run_page(ROOT / name):
        if listing.shown is None:
            # what is neither shown nor an error may be printed, but a warning must be on the page
            if "Warning: " in printed:
                wrong.append(f"{listing}: not shown: {printed}")
        elif difference := differences(listing.shown, printed):
            wrong.append(f"{listing}: {difference}; it prints\n{printed}")
    assert not wrong, "\n".join(wrong)


def test_pages_with_listings_are_found():
    counts = {name: len(listings.listings(ROOT / name)) for name in NAMES}
    assert counts["README.md"] >= 2
    assert counts["docs/tutorials/first-mechanism.md"] > 15
    assert sum(counts.values()) > 80


MOST_DIGITS = 10  # the last ones of a double differ from processor to processor


@pytest.mark.parametrize("name", NAMES)
def test_no_listing_shows_more_digits_than_are_true(name):
    for listing in listings.listings(ROOT / name):
        for number in NUMBER.findall(listing.shown or ""):
            digits = re.sub(r"e.*|\D", "", number).lstrip("0")
            assert len(digits) <= MOST_DIGITS, f"{listing}: {number}"


# ---- the comparison itself -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        ("angle 1.234 rad", "angle 1.2343 rad"),  # to the digits shown
        ("6.1e-05", "6.13e-5"),
        ("a long line\n  folded", "a long line folded"),
        ("64 steps", "64 steps"),
        ("ended after ... steps at t = 2 s", "ended after 6417 steps at t = 2 s"),
        ("leg1 slide 1.5", "leg1 slide 1.5"),
        ("[1. 2.5]", "[1.  2.5]"),
    ],
)
def test_agreement(shown, printed):
    assert differences(shown, printed) is None


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        ("angle 1.234 rad", "angle 1.236 rad"),
        ("6.1e-05", "6.1e-06"),
        ("64 steps", "65 steps"),  # whole numbers are counts
        ("leg1 slide", "leg2 slide"),
        ("did you mean 'tip'?", "did you mean 'top'?"),
        ("one line", "one line\nand another"),
        ("", "something"),
        ("True", "False"),
    ],
)
def test_disagreement(shown, printed):
    assert differences(shown, printed) is not None


def test_errors_and_warnings_are_part_of_the_output(tmp_path, monkeypatch):
    page = tmp_path / "page.md"
    page.write_text(
        "```python\nimport closedchain as cc\ncc.library.get('four')\n```\n\n```text\nModelError: x\n```\n"
        "```python\nimport warnings\nwarnings.warn('loose', cc.RunWarning)\nprint(1)\n```\n"
    )
    monkeypatch.setattr(listings, "ROOT", tmp_path)
    (first, error), (second, warning) = run_page(page)
    assert first.shown == "ModelError: x\n"
    assert error.startswith("ModelError: the library has no mechanism 'four'")
    assert second.shown is None
    assert warning == "1\nRunWarning: loose\n"


def test_an_error_that_is_not_shown_is_raised(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```python\n1 / 0\n```\n")
    with pytest.raises(ZeroDivisionError):
        list(run_page(page))
