"""The rigid twin beside a mechanism with flexible links."""

import pytest

import closedchain as cc
from closedchain.results.beams.rigid_motion import rigid_run
from closedchain.results.beams.rigid_twin import RigidTwin
from tests.unit.results.beams.flexible_motions import driven_slider_crank, four_bar_run


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


def test_the_twin_goes_where_drives_lead():
    m = driven_slider_crank()
    for t in (0.0, 0.03):
        bent = m.assemble({"rod.y1": 1e-3}, time=t)
        twin = RigidTwin.of(m).state(bent)
        # the shapes are zero at the pins: the slide is where it is with a straight rod
        assert (twin["O"], twin["slide"]) == pytest.approx((0.5 + 10 * t, bent["slide"]), abs=1e-12)
        moving = RigidTwin.of(m).state(bent, moving=True)
        assert moving.velocities["O"] == pytest.approx(10.0)
    assert bent.plot_deformed().axes


def test_without_motors_the_twin_begins_where_the_state_is():
    m = cc.Mechanism("swing", gravity=(0, -9.81, 0))
    m.body("arm", cc.rod(0.5, 1.0)).flexible(
        70e9, cc.Section.rectangle(y=0.01, z=0.03), shapes=cc.shapes.clamped_free(y=1)
    )
    m.revolute("hinge", m.ground, m.bodies["arm"])
    m.start, m.start_velocity = {"hinge": 0.1}, {"hinge": 0.2}
    twin = RigidTwin.of(m).state(m.assemble(hinge=1.0, velocity={"hinge": 3.0}), moving=True)
    assert twin["hinge"] == 1.0 and twin.velocities["hinge"] == pytest.approx(3.0)


def test_the_rigid_run_begins_where_the_run_does():
    run = four_bar_run().window(until=0.05)
    rigid = rigid_run(run)
    assert rigid.start.coordinates["O"] == run.start.coordinates["O"]
    assert rigid.t[-1] == run.t[-1] and rigid.complete
    with pytest.raises(cc.ModelError, match="has no flexible body"):
        rigid_run(rigid)
