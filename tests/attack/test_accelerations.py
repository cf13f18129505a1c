"""Accelerations against definitions written in NumPy; Pinocchio and MuJoCo take part in `benchmarks.attack`."""

import numpy as np
import pytest

from benchmarks.attack import accelerations
from benchmarks.attack.accelerations import attack, consistent
from benchmarks.attack.engines import Plan
from benchmarks.attack.kinds import random_numbers
from closedchain.model.joint_types import JOINT_TYPES
from tests.identities.independent import inverse, pose, rotate
from tests.random_mechanisms import draw


@pytest.mark.parametrize("number", range(10))
def test_accelerations(number):
    outcome = attack(random_numbers("accelerations", 100, number), ["numpy"])

    assert not outcome.finding, f"{outcome.finding}\n{outcome.reproduce}"


def test_a_wrong_acceleration_is_a_finding(monkeypatch):
    right = accelerations.by_the_library
    monkeypatch.setattr(accelerations, "by_the_library", lambda *args: right(*args) * (1 + 1e-6))

    outcome = attack(random_numbers("accelerations", 100, 0), ["numpy"])

    assert outcome.label == "differs"


@pytest.mark.parametrize("kind", [name for name in JOINT_TYPES if name != "weld"])
@pytest.mark.parametrize("backwards", [0.0, 1.0])
def test_elementary_motions_carry_the_parent_into_the_child(kind, backwards, rng):
    drawing = draw(5, bodies=1, kinds=[kind], backwards=backwards)
    state = consistent(drawing, rng)
    plan = Plan(state.topology, state.q, state.v)
    (link,) = state.topology.links
    _, P, S = plan.ends(link)

    T = P
    for step in plan.steps[0]:
        axis = np.eye(3)["xyz".index(step.kind[1])] if step.kind != "ball" else None
        if step.kind == "ball":
            T = T @ pose(step.value)
        else:
            T = T @ (pose(rotate(axis, step.value)) if step.kind[0] == "R" else pose(r=axis * step.value))

    assert link.reversed == bool(backwards)
    np.testing.assert_allclose(T @ inverse(S), plan.poses["b1"], atol=1e-14)
