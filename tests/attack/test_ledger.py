"""The ledger counts, adds up over calls and seeds, and keeps one entry for each finding."""

import json

import pytest

from benchmarks.attack.ledger import Ledger
from benchmarks.attack.outcome import Outcome, found, plain


def test_counts_add_up_over_calls_and_seeds(tmp_path):
    path = tmp_path / "ledger.json"
    for seed in (1, 2):
        ledger = Ledger(path)
        assert ledger.next("drawings", seed) == 0
        for number in range(3):
            ledger.add("drawings", seed, number, Outcome("good", figures={"gap": number * seed}), 0.5)

    kind = Ledger(path).kind("drawings")
    assert (kind["cases"], kind["findings"], kind["labels"], kind["seconds"]) == (6, 0, {"good": 6}, 3.0)
    assert Ledger(path).next("drawings", 2) == 3
    assert kind["largest"] == {"gap": {"value": 4, "case": [2, 2]}}
    assert [p.name for p in tmp_path.iterdir()] == ["ledger.json"]


def test_the_same_finding_is_written_once_with_all_its_cases(tmp_path):
    ledger = Ledger(tmp_path / "ledger.json")
    first = found("raised KeyError", "KeyError: 'O' at 3.5", {"faults": ["x"]})
    second = found("raised KeyError", "KeyError: 'A' at 1e-7", {"faults": ["y"]})

    assert ledger.add("drawings", 1, 7, first, 0.1)
    assert not ledger.add("drawings", 1, 9, second, 0.1)

    (known,) = json.loads((tmp_path / "ledger.json").read_text())["findings"]
    assert (known["count"], known["cases"], known["reproduce"]) == (2, [[1, 7], [1, 9]], {"faults": ["x"]})
    assert known["again"] == "python -m benchmarks.attack --again drawings 1 7"


def test_several_workers_take_different_cases_and_count_in_any_order(tmp_path):
    ledger = Ledger(tmp_path / "ledger.json")
    taken = [ledger.take("kills", 1) for _ in range(3)]
    for number in (2, 0):
        ledger.add("kills", 1, number, Outcome("resumed", counts={"kills": 2}), 0.1)

    assert taken == [0, 1, 2]
    again = Ledger(tmp_path / "ledger.json")  # the second case was lost with its worker
    assert [again.take("kills", 1) for _ in range(2)] == [1, 3]
    assert again.kind("kills")["counts"] == {"kills": 4}


def test_a_finding_is_mended_when_all_its_cases_end_well(tmp_path):
    path = tmp_path / "ledger.json"
    ledger = Ledger(path)
    bad, good = found("raised KeyError", "KeyError: 'O'", "see", "KeyError"), Outcome("good")
    for number in (3, 5):
        ledger.add("drawings", 1, number, bad, 0.1)
    (finding,) = ledger.data["findings"]

    assert "open, 1 of 2 cases" in ledger.settle(finding, [good, bad], "abc")
    assert "another version" in ledger.settle(finding | {"version": 0}, [good, good], "abc")
    assert ledger.data["findings"] == [finding]
    assert "mended, 2 cases" in ledger.settle(finding, [good, good], "abc")
    (mended,) = Ledger(path).data["mended"]
    assert Ledger(path).data["findings"] == [] and mended["mended"] == {"cases": 2, "at": "abc"}


def test_a_ledger_of_another_format_is_refused(tmp_path):
    path = tmp_path / "ledger.json"
    path.write_text('{"format": 0}')

    with pytest.raises(SystemExit, match="format 0"):
        Ledger(path)


def test_a_sentence_without_its_numbers_and_names():
    assert plain("joint 'O' opens by 1.5e-7 at nan") == "joint '...' opens by # at #"
