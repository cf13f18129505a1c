"""Every claim of every paper is checked, and its verdict is what we last found it to be."""

import importlib

import pytest

from papers.__main__ import names
from papers.claims import CORRECTED, FAILS, HOLDS

VERDICTS = {
    ("wang2002", "dominant frequency"): HOLDS,
    ("wang2002", "two percent"): HOLDS,
    ("wang2002", "any functions"): CORRECTED,
    ("vidoni2012", "rigid links"): HOLDS,
    ("vidoni2012", "gross motion"): HOLDS,
    ("vidoni2012", "tip deforms"): HOLDS,
    ("vidoni2012", "pick and place"): CORRECTED,
    ("vidoni2012", "tip in x"): HOLDS,
    ("vidoni2012", "tip in y"): HOLDS,
    ("vidoni2012", "stressed links"): HOLDS,
    ("vidoni2012", "beams of table 2"): FAILS,
    ("vidoni2012", "serial robots"): HOLDS,
    ("vidoni2012", "other robots"): HOLDS,
    ("vidoni2012", "dropped terms"): FAILS,
    ("vidoni2012", "zeroed displacements"): CORRECTED,
}
CLAIMS = [(name, claim) for name in names() for claim in importlib.import_module(f"papers.{name}").CLAIMS]


def test_none_is_left_out():
    assert {(name, claim.name) for name, claim in CLAIMS} == set(VERDICTS)


@pytest.mark.parametrize(("name", "claim"), CLAIMS, ids=[f"{name}: {claim.name}" for name, claim in CLAIMS])
def test_verdict(name, claim):
    finding = claim.check()

    assert finding.verdict == VERDICTS[name, claim.name], finding.because
    assert finding.numbers and finding.because
