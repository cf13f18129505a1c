import pytest

from closedchain.close.methods import METHODS
from closedchain.integrate.solvers import SOLVERS
from closedchain.model.library import FLEXIBLE, MECHANISMS

TABLES = {"mechanisms": MECHANISMS | FLEXIBLE, "methods": [*METHODS, "erls"], "solvers": SOLVERS}


@pytest.mark.parametrize("what", TABLES)
def test_table_and_json_have_every_name(cli, what):
    shown = cli("list", what)
    assert shown.code == 0
    first_words = [line.split()[0] for line in shown.out.splitlines() if line.strip()]
    assert [word for word in first_words if word in TABLES[what]] == list(TABLES[what])
    assert [row["name"] for row in cli("list", what, "--json").json[what]] == list(TABLES[what])


def test_mechanisms_are_the_default_and_say_what_they_are(cli):
    assert cli("list").out == cli("list", "mechanisms").out
    row = next(row for row in cli("list", "--json").json["mechanisms"] if row["name"] == "four-bar")
    assert row == {"name": "four-bar", "until": MECHANISMS["four-bar"].until, "about": MECHANISMS["four-bar"].about}


def test_unknown_kind(cli):
    answer = cli("list", "robots")
    assert answer.code == 2
    assert "mechanisms" in answer.err and "closedchain list --help" in answer.err
