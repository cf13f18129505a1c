"""Machines with actuators, controllers, events and flexible links, and that their Python says what it means."""

import numpy as np
import pytest

import closedchain as cc
from benchmarks.attack import machines
from benchmarks.attack.data import as_data, resolved
from benchmarks.attack.kinds import run_case


@pytest.mark.parametrize("number", range(10))
def test_a_machine(number):
    outcome = run_case("machines", 100, number)

    assert not outcome.finding, f"{outcome.finding}\n{outcome.reproduce}"


@pytest.mark.parametrize("part", [part for part in dict.fromkeys(machines.PARTS) if part is not machines.flexible])
def test_most_parts_can_be_drawn(part):
    drawn = 0
    for seed in range(8):
        m = cc.library.slider_crank()
        data = as_data(m)
        text = part(np.random.default_rng(seed), data)
        try:
            resolved({"eval": text}, m)
            drawn += 1
        except cc.ModelError:
            pass

    assert drawn >= 4  # flexible parts want bodies that are beams


def test_python_in_data_is_evaluated_where_it_stands():
    m = cc.library.four_bar()

    got = resolved(
        {"method": {"eval": "cc.Projection(sigma=3.0)"}, "events": [{"eval": "J['O'].q - 1"}], "until": 1.0}, m
    )

    assert got["method"] == cc.Projection(sigma=3.0) and got["until"] == 1.0
    assert isinstance(got["events"][0], cc.Expression)
