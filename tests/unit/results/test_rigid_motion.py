"""The rigid twin beside a mechanism with flexible links."""

import pytest

import closedchain as cc
from closedchain.results.rigid_motion import RigidTwin, rigid_run
from tests.unit.results.flexible_motions import four_bar_run


def test_the_twin_follows_parameters_of_the_run():
    m = cc.library.four_bar(flexible=True)
    RigidTwin.of(m)
    m.parameters["crank.length"] = 0.9
    start = m.assemble(O=1.0)
    twin = RigidTwin.of(m).state(start)
    assert twin["O"] == start["O"] and twin["C"] == pytest.approx(start["C"], abs=1e-12)
    assert RigidTwin.of(m) is RigidTwin.of(m)


def test_a_bent_start_has_a_straight_twin():
    m = cc.library.flexible_arm()
    bent = m.assemble({"hinge": 0.3, "beam.y1": 0.01}, velocity={"hinge": 2.0})
    twin = RigidTwin.of(m).state(bent, moving=True)
    assert twin.coordinates == pytest.approx({"hinge": 0.3}) and twin.velocities == pytest.approx({"hinge": 2.0})


def test_the_rigid_run_begins_where_the_run_does():
    run = four_bar_run().window(until=0.05)
    rigid = rigid_run(run)
    assert rigid.start.coordinates["O"] == run.start.coordinates["O"]
    assert rigid.t[-1] == run.t[-1] and rigid.complete
    with pytest.raises(cc.ModelError, match="has no flexible body"):
        rigid_run(rigid)
