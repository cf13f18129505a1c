"""Compute a paper for its test, and compare the verdicts."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import pytest

from papers.reproduce import Reproduced, reproduce


def computed(name: str, verdicts: Mapping[str, str], exhibits: Collection[str] = ()) -> dict[str, Mapping[str, float]]:
    """All of a paper, or some exhibits, with these verdicts of their claims; returns the numbers of each claim."""
    found = reproduce(name, exhibits)
    _all_there(found)
    told = {claim.name: claim.finding.verdict for claim in found.claims if claim.finding}
    wrong = [
        f"{claim.name}: {claim.finding.verdict}, not {verdicts.get(claim.name)}: {claim.finding.because}"
        for claim in found.claims
        if claim.finding and claim.finding.verdict != verdicts.get(claim.name)
    ]
    assert told.keys() == verdicts.keys() and not wrong, "\n".join(wrong)
    return {claim.name: claim.finding.numbers for claim in found.claims if claim.finding}


def _all_there(found: Reproduced) -> None:
    for made in found.exhibits:
        if made.failed:
            pytest.fail(f"{made.name}: {made.error or [claim.error for claim in made.claims if claim.error]}")
        assert made.pictures or made.tables or made.claims, made.name
        assert all(picture.startswith(b"\x89PNG") and len(picture) > 5000 for picture in made.pictures), made.name
        for table in made.tables:
            assert table.rows and {len(row) for row in table.rows} == {len(table.columns)}, made.name
        for claim in made.claims:
            assert claim.finding and claim.finding.numbers and claim.finding.because, claim.name
            assert not claim.finding.because.endswith("."), claim.name
