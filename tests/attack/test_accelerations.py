"""Accelerations against definitions written in NumPy; Pinocchio and MuJoCo take part in `benchmarks.attack`."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.attack import accelerations
from benchmarks.attack.accelerations import attack, consistent
from benchmarks.attack.engines import Plan
from benchmarks.attack.kinds import random_numbers
from closedchain.model.joints.types import JOINT_TYPES
from tests.identities.independent import inverse, pose, rotate
from tests.random_mechanisms import draw

LOOPS = 5  # a case with loops, gears, drives and all else


@pytest.mark.parametrize("number", range(10))
def test_accelerations(number):
    outcome = attack(random_numbers("accelerations", 100, number), ["numpy"])

    assert not outcome.finding, f"{outcome.finding}\n{outcome.reproduce}"


@pytest.mark.parametrize("what", ["by_the_library", "reactions"])
def test_a_wrong_acceleration_or_reaction_is_a_finding(what, monkeypatch):
    right = getattr(accelerations, what)

    def wrong(*args):
        got = right(*args)
        return got * (1 + 1e-6) if what == "by_the_library" else {name: x * (1 + 1e-6) for name, x in got.items()}

    monkeypatch.setattr(accelerations, what, wrong)

    assert attack(random_numbers("accelerations", 100, LOOPS), ["numpy"]).label == "differs"


@pytest.mark.parametrize("kind", ["M", "effort", "b"])
def test_a_wrong_rotor_force_or_drive_is_a_finding(kind, monkeypatch):
    right = accelerations.added

    def wrong(*args):
        got = right(*args)
        assert np.abs(getattr(got, kind)).max() > 0
        return replace(got, **{kind: getattr(got, kind) * (1 + 1e-6)})

    monkeypatch.setattr(accelerations, "added", wrong)

    assert attack(random_numbers("accelerations", 100, LOOPS), ["numpy"]).label == "differs"


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
