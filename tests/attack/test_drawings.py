"""Random drawings with random faults, and that the judge sees what is wrong."""

import numpy as np
import pytest

import closedchain as cc
from benchmarks.attack import drawings, honest
from benchmarks.attack.data import as_data, drawn, simulated
from benchmarks.attack.kinds import run_case
from closedchain.model.joints.types import JOINT_TYPES
from closedchain.model.library import MECHANISMS
from closedchain.results.run import Run
from tests.identities.independent import joint_pose, pose, rotate
from tests.random_mechanisms import coordinates, draw

SEED = 100


@pytest.mark.parametrize("number", range(40))
def test_a_drawing_with_faults(number):
    outcome = run_case("drawings", SEED, number)

    assert not outcome.finding, f"{outcome.finding}\n{outcome.reproduce}"


@pytest.mark.parametrize("name", ["four-bar", "delta"])
def test_data_draw_the_same_mechanism(name):
    m = MECHANISMS[name].build()

    once = as_data(drawn(as_data(m)))
    assert as_data(drawn(once)) == once


def test_data_of_a_random_mechanism_move_like_it():
    drawing = draw(3, bodies=4, loops=1, cut=None)
    data = as_data(drawing.mechanism)
    data["simulate"] = {"until": 0.1}
    hold = {name: q for name, q in drawing.at.items() if len(q)}
    run = cc.simulate(drawing.mechanism, drawing.mechanism.assemble(hold), until=0.1)

    data["assemble"]["hold"] = hold
    np.testing.assert_allclose(simulated(data).x, run.x, rtol=0, atol=1e-7)


@pytest.mark.parametrize("kind", [k for k in JOINT_TYPES if k != "free"])
def test_a_gap_is_zero_at_any_pose_of_the_joint_and_not_elsewhere(kind, rng):
    closed = joint_pose(kind, coordinates(rng, kind), 0.3)
    moved = closed @ pose(rotate(np.array([1.0, 0, 0]), 1e-3), rng.normal(0, 1e-3, 3))

    assert honest.gap(kind, closed, 0.3) < 1e-14
    assert honest.gap(kind, moved, 0.3) > 1e-5


def test_the_judge_sees_an_open_loop_a_wrong_energy_and_a_nan(monkeypatch):
    run = cc.simulate(cc.library.four_bar(torque=0.0), until=0.5, rtol=1e-8)
    assert honest.complaints(run, passive=True) == []

    right = Run.state
    wrong = {"q": 1e-4, "v": 1e-2}
    for what, by in wrong.items():

        def state(self, i, what=what, by=by):
            s = right(self, i)
            getattr(s, what)[0] += by * (i > 0)
            return s

        monkeypatch.setattr(Run, "state", state)
        (first, *_) = honest.complaints(run, passive=True)
        assert ("loop at" if what == "q" else "energy") in first
    run.x[-1, 0] = np.nan
    assert honest.complaints(run, passive=True) == ["a state that is not finite"]


def test_words_of_other_libraries_and_refusals_without_a_name_are_findings():
    data = as_data(cc.library.four_bar())
    for message, label in (
        ("joint 'O': unsupported operand type NoneType", "ModelError in words of others"),
        ("it does not work", "ModelError names nobody"),
        ("joint 'O' has no pitch", "ModelError"),
    ):
        assert drawings.refused(cc.ModelError(message), data, "").label == label
