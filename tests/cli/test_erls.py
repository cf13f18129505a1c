"""``closedchain erls``: finite elements from the command line."""

import json

import pytest

from closedchain.cli.parts.exits import GOOD, WRONG_USAGE


@pytest.mark.parametrize("more", [[], ["--terms", "paper", "--zero", "base"], ["--rho-inf", "0.8", "--rtol", "1e-4"]])
def test_a_run(cli, more):
    got = cli("erls", "flexible-arm", "--until", "0.02", "--json", *more)
    told = json.loads(got.out)
    assert got.code == GOOD and told["complete"] and told["end"] == 0.02
    assert told["displacements"] > 6 and len(told["zeroed"]) == 1


def test_table_and_files(cli, tmp_path):
    picture, table = tmp_path / "bent.png", tmp_path / "all.csv"
    files = ("--plot", str(picture), "--out", str(table))
    got = cli("erls", "flexible-arm", "--until", "0.02", *files, "--reactions", "all")
    assert got.code == GOOD and "kept at zero" in got.out and "energy error" in got.out
    assert picture.stat().st_size > 1000 and table.read_text().startswith("time")
    assert "moment [N m]" in got.out and "hinge fx,hinge fy" in table.read_text().splitlines()[0]


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (["four-bar"], "flexible"),
        (["flexible-arm", "--elements", "many"], "--elements many"),
        (["flexible-arm", "--elements", "nobody=3"], "nobody"),
        (["flexible-arm", "--terms", "some"], "'consistent' or 'paper'"),
        (["flexible-arm", "--zero", "nothing"], "nothing"),
        (["flexible-arm", "--reactions", "nix"], "no joint 'nix'"),
    ],
)
def test_what_is_refused(cli, typed, said):
    got = cli("erls", *typed)
    assert got.code == WRONG_USAGE and said in got.err
