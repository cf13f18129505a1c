"""Computed torque as a user writes it: its numbers, what it finds out about the mechanism, and what it refuses."""

import warnings

import numpy as np
import pytest

import closedchain as cc
from closedchain.derive.equations import derive
from closedchain.model.forces.control import traced_laws
from closedchain.results.efforts import computed_torque as controllers
from closedchain.results.efforts.computed_torque import ComputedTorque


def law_of(m):
    (law,) = traced_laws(m)
    return law


def mobility_of(m):
    found = law_of(m).mobility
    return None if found is None else (found.freedoms, found.moved)


def controlled(m, references, **options):
    m.control(ComputedTorque(references, kp=100.0, **options))
    return m


def test_its_numbers_are_parameters():
    m = cc.library.five_bar()
    m.control(
        ComputedTorque(
            {"left motor": 2.2, "right motor": 0.9},
            kp={"left motor": 100.0, "right motor": 150.0},
            kd=20.0,
            limit=8.0,
            parameters={"left distal.mass": 0.5},
            weights={"left motor": 3.0},
            preload={"right motor": 1.5},
            name="servo",
        )
    )
    assert {k: x for k, x in m.parameters.items() if "servo" in k} == {
        "left motor.servo.kp": 100.0,
        "right motor.servo.kp": 150.0,
        "servo.kd": 20.0,
        "servo.left distal.mass": 0.5,
        "left motor.servo.weights": 3.0,
        "right motor.servo.preload": 1.5,
        "servo.limit": 8.0,
    }


def test_without_kd_errors_are_critically_damped():
    m = controlled(cc.library.pendulum(), {"hinge": 0.3})
    poles = m.linearise(m.equilibrium(guess={"hinge": 0.3})).eigenvalues
    assert np.sort(poles.real) == pytest.approx([-10.0, -10.0], abs=1e-5)  # a double pole: the root of rounding
    m.parameters["control.kp"] = 25.0
    poles = m.linearise(m.equilibrium(guess={"hinge": 0.3})).eigenvalues
    assert np.sort(poles.real) == pytest.approx([-5.0, -5.0], abs=1e-5)


def test_gains_that_become_negative_later():
    """They are the user's to choose: errors grow, without damping, but nothing breaks."""
    m = controlled(cc.library.pendulum(), {"hinge": 0.3})
    run = cc.simulate(m, m.assemble(hinge=0.31), until=0.2, rtol=1e-9, parameters={"control.kp": -400.0})
    assert run["hinge"].values - 0.3 == pytest.approx(0.01 * np.cosh(20 * run.t), abs=1e-7)


def test_what_moves_is_found():
    five = {"left motor": 2.2, "right motor": 0.9}
    assert mobility_of(controlled(cc.library.five_bar(), five)) == (2, 2)
    assert mobility_of(controlled(cc.library.double_pendulum(), {"elbow": 0.2})) == (2, 1)
    assert mobility_of(controlled(cc.library.four_bar(), {"O": 1.5, "C": 1.2313})) == (1, 1)


def test_shafts_behind_springs_change_nothing():
    """What was counted before they were drawn still holds, so that nothing need be watched."""
    m, rigid = cc.library.five_bar(), cc.library.five_bar()
    references = {"left motor": 2.2, "right motor": 0.9}
    controlled(rigid, references)
    motor = cc.ForceLimit(-50.0, 50.0)
    m.control(ComputedTorque(references, kp=100.0), actuator=cc.SeriesElastic(motor, stiffness=1e4, inertia=0.1))
    assert mobility_of(m) == mobility_of(rigid) == (2, 2)
    law = law_of(m)
    assert law._independent(derive(m)) and law._exact(derive(m))


def test_references_out_of_reach_are_no_obstacle():
    """The freedoms are then counted where the mechanism starts by itself."""
    assert mobility_of(controlled(cc.library.five_bar(), {"left motor": np.pi, "right motor": 0.0})) == (2, 2)


def test_a_mechanism_that_cannot_be_assembled_yet(monkeypatch):
    """Nothing is known of it, and pivots are watched; the law is right all the same."""

    def fails(*args, **kwargs):
        raise cc.AssemblyError("not yet")

    m = cc.library.four_bar()
    with monkeypatch.context() as patch:
        patch.setattr(controllers, "folded", fails)
        controlled(m, {"O": 1.5 + 0.2 * cc.t**2})
    assert mobility_of(m) is None
    run = cc.simulate(m, m.assemble(O=1.5), until=0.5, rtol=1e-9)
    assert abs(run["O"] - 1.5 - 0.2 * run.t**2).max() < 1e-9  # integration


def test_a_law_is_no_part_of_a_mechanism():
    """The same one may control several."""
    law = ComputedTorque({"O": 1.5}, kp=100.0)
    one, two = cc.library.four_bar(), cc.library.four_bar()
    one.control(law)
    two.control(law)
    assert law_of(one) is not law_of(two)


WRONG = {
    "no parameter": ({"parameters": {"coupler.mas": 2.0}}, "no parameter 'coupler.mas'; did you mean 'coupler.mass'"),
    "no names": ({"parameters": 5.0}, "parameters takes a mapping by name"),
    "no number": ({"parameters": {"coupler.mass": "much"}}, "must be a number"),
    "one weight": ({"weights": 5.0}, "weights takes a mapping by coordinate"),
    "another coordinate": ({"preload": {"A": 1.0}}, "preload of 'A', which it does not drive"),
    "negative damping": ({"kd": -1.0}, "kd is -1, but must be at least 0"),
    "a gain for nothing": ({"kd": {}}, "kd of 'O' is missing"),
    "no weight at all": ({"weights": {"O": 0.0}}, "weights must be positive numbers"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_is_refused_and_leaves_no_trace(name):
    options, sentence = WRONG[name]
    m = cc.library.four_bar()
    before = dict(m.parameters), dict(m.motors)
    with pytest.raises(cc.ModelError, match=sentence):
        controlled(m, {"O": 1.5}, **options)
    assert (dict(m.parameters), dict(m.motors)) == before


# ---- open joints -----------------------------------------------------------------------------------------------------


def cut_four_bar():
    m = cc.Mechanism("four-bar", gravity=(0, -9.8, 0))
    crank, coupler, rocker = (m.body(name, cc.rod(x, mass=1.0)) for name, x in (("a", 1.0), ("b", 4.0), ("c", 2.5)))
    m.revolute("O", m.ground, crank)
    m.revolute("A", crank.tip, coupler, guess=-1.2)
    m.revolute("C", m.ground.at(3, 0, 0), rocker, guess=1.3)
    m.revolute("B", coupler.tip, rocker.tip, cut=True)
    m.start = {"O": 1.5}
    return m


REFUSED = "computed torque of O, C counts on all joints of 'four-bar' being closed, but 'B' is open"


def test_a_joint_that_is_open_is_refused():
    m = controlled(cut_four_bar(), {"O": 1.5, "C": 1.2})
    with pytest.raises(cc.ModelError, match=f"{REFUSED} at the start: keep it closed, or .* cc.PD"):
        cc.simulate(m, m.assemble({"O": 1.5, "C": 1.2}, open_joints=("B",)), until=0.1)


def test_a_joint_that_would_open_is_refused():
    m = controlled(cut_four_bar(), {"O": 1.5, "C": 1.2})
    event = cc.Event("lets go", cc.t - 0.05, then=cc.Switch(open="B"))
    for events in ([event], event):
        with pytest.raises(cc.ModelError, match=f"{REFUSED}ed by the event 'lets go': keep it closed"):
            cc.simulate(m, until=0.1, events=events)


def test_other_laws_may_open_joints():
    m = cut_four_bar()
    m.control(cc.PD({"O": 1.5}, kp=10.0, kd=1.0))
    run = cc.simulate(m, until=0.1, events=[cc.Event("lets go", cc.t - 0.05, then=cc.Switch(open="B"))])
    assert run.t[-1] == 0.1 and abs(run.energy_error).max() < 1e-6


def test_a_reference_that_begins_where_bodies_lie_on_each_other():
    """The pose is only tried, so nobody is told of it; how the mechanism moves is found elsewhere."""

    def found(reference):
        m = cc.library.five_bar()
        law = ComputedTorque({"tip": reference}, kp=2.0)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return law._mobility(m, law.targets(m))

    assert found(cc.math.where(cc.t < 0.05, 0.0, 0.1)) == found(cc.math.where(cc.t < 0.05, 1.0, 0.1))


@pytest.mark.parametrize("driven", ["O", "C", "A"])
def test_a_coordinate_that_a_drive_moves_cannot_be_controlled(driven):
    """Also where the drive is drawn after the law, or moves the coordinate through the loop."""
    m = controlled(cc.library.four_bar(torque=0.0), {"O": 1.5})
    m.start = {}
    start = m.assemble(guess={"O": 1.5})
    m.drive(driven, float(start.coordinates[driven]) + 0.1 * cc.t)
    sentence = rf"computed torque of O: 'O' cannot move, since '{driven}\.drive' prescribes its motion: control another"
    with pytest.raises(cc.ModelError, match=sentence):
        cc.simulate(m, m.assemble(guess={"O": 1.5}), until=0.1)


def test_a_coordinate_beside_a_driven_one_can_be_controlled():
    m = controlled(cc.library.double_pendulum(), {"shoulder": 0.3})
    m.drive("elbow", 0.3 * cc.t)
    assert cc.simulate(m, m.assemble(shoulder=0.3), until=0.1).good
