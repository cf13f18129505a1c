"""Actuators on a drawing: their parts and parameters, laws of control, springs between coordinates; what is refused."""

import math
from dataclasses import replace

import numpy as np
import pytest

import closedchain as cc
from closedchain.model.actuators import DCMotor, ElectricCylinder, ForceLimit, HydraulicCylinder, SeriesElastic
from tests.unit.model.test_wrong_input import NO_COORDINATE, NO_EFFORT, NO_JOINT, NO_LABEL, NO_NAME, everything_drawn

MOTOR = DCMotor(resistance=0.5, torque_constant=0.05, gear=50, rotor_inertia=1e-5, viscous=2e-6, coulomb=3e-3)
SCREW = ElectricCylinder(lead=0.005, resistance=0.5, torque_constant=0.05)
HYDRAULIC = HydraulicCylinder(bore=0.08, rod=0.056, supply_pressure=20e6, coulomb=300.0)


# ---- what is drawn ---------------------------------------------------------------------------------------------------


def test_the_parts_of_a_motor(rig):
    drawn = rig.actuator("hinge", MOTOR, command=12.0)
    value = rig.values()

    assert (drawn.name, drawn.joint, drawn.index, drawn.output) == ("hinge.motor", "hinge", 0, ("hinge", 0))
    assert rig.actuators == {"hinge.motor": drawn} and list(rig.motors) == ["hinge.motor"]
    rotor, friction = rig.rotors["hinge.motor.rotor"], rig.joint_dampers["hinge.motor.friction"]
    assert (value(rotor.inertia), value(rotor.ratio)) == (1e-5, 50.0)
    # at the joint: r^2 b, r c, w / r
    assert [value(x) for x in (friction.damping, friction.coulomb, friction.velocity)] == pytest.approx(
        [50**2 * 2e-6, 50 * 3e-3, 1.0 / 50]
    )


def test_numbers_of_a_model_are_parameters(rig):
    kt = rig.parameter("kt", 0.05)
    rig.actuator("hinge", replace(MOTOR, torque_constant=2 * kt, max_voltage=24), command=12.0, name="servo")

    own = {k: v for k, v in rig.parameters.items() if k.startswith("servo.")}
    assert own["servo.resistance"] == 0.5 and own["servo.max_voltage"] == 24.0 and own["servo.command"] == 12.0
    assert "servo.torque_constant" not in own  # it is an expression of one
    plain = rig.actuators["servo"].numbers(rig.values({"kt": 0.1, "servo.gear": 20.0}))
    assert (plain.torque_constant, plain.gear, plain.max_current) == (0.2, 20.0, None)
    assert plain.envelope(0.0)[1] == pytest.approx(20 * 0.2 * 24 / 0.5)


@pytest.mark.parametrize("command", [6.0, 12 * cc.math.sin(cc.t), lambda t: 3 * t, lambda t, q, v: -5 * q["hinge"]])
def test_a_command_is_what_an_effort_of_a_motor_may_be(rig, command):
    assert rig.actuator("hinge", MOTOR, command=command).name in rig.motors


def test_several_actuators_find_their_names(rig):
    names = [rig.actuator("hinge", ForceLimit(-1, 1), command=0.5).name for _ in range(2)]
    assert names == ["hinge.motor", "hinge.motor2"]


def test_a_model_without_inertia_and_friction_draws_neither(rig):
    rig.actuator("tube", SCREW, command=1.0, coordinate="slide")
    assert rig.motors["tube.motor"].index == 1 and not rig.rotors and not rig.joint_dampers


def test_friction_of_seals(rig):
    rig.actuator("tube", HYDRAULIC, command=1.0, coordinate="slide")
    friction = rig.joint_dampers["tube.motor.friction"]
    assert friction.damping == 0.0 and rig.values()(friction.coulomb) == 300.0


def test_a_spring_draws_a_shaft(rig):
    rig.start = {"hinge": 0.7}
    model = SeriesElastic(MOTOR, stiffness=100.0, damping=0.5, inertia=0.01)
    drawn = rig.actuator("hinge", model, command=12.0)
    value = rig.values()

    assert (drawn.joint, drawn.index, drawn.output) == ("hinge.motor.angle", 0, ("hinge", 0))
    shaft = rig.joints["hinge.motor.angle"]
    assert shaft.type.name == "revolute" and shaft.a is rig.joints["hinge"].a and shaft.cut is False
    assert rig.motors["hinge.motor"].joint == shaft.name
    assert rig.joint_springs["hinge.motor.spring"].against == (shaft.name, 0)
    assert rig.joint_dampers["hinge.motor.damper"].against == (shaft.name, 0)
    assert rig.joint_dampers["hinge.motor.friction"].joint == shaft.name
    total = sum(value(r.inertia) * value(r.ratio) ** 2 for r in rig.rotors.values() if r.joint == shaft.name)
    assert total == pytest.approx(50**2 * 1e-5 + 0.01)
    assert rig.start == {"hinge": 0.7, "hinge.motor.angle": 0.7}
    rig.validate()  # its shaft has no mass, but an inertia


def test_a_shaft_on_a_slide(rig):
    rig.actuator("tube", SeriesElastic(HYDRAULIC, stiffness=1e6, inertia=5.0), command=1.0, coordinate="slide")
    shaft = rig.joints["tube.motor.slide"]
    assert shaft.type.name == "prismatic" and "tube.motor.damper" not in rig.joint_dampers


def test_a_shaft_without_inertia_is_told_of_when_parameters_change(rig):
    rig.actuator("hinge", SeriesElastic(ForceLimit(-1, 1), stiffness=10.0, inertia=0.1), command=0.0)
    with pytest.raises(cc.ModelError, match=r"hinge\.motor\.shaft.*no mass"):
        rig.validate({"hinge.motor.inertia": 0.0})


def test_numbers_are_checked_again_when_they_change(rig):
    rig.actuator("hinge", MOTOR, command=12.0)
    with pytest.raises(cc.ModelError, match="actuator on 'hinge': DCMotor has resistance = -3, which must be positive"):
        rig.validate({"hinge.motor.resistance": -3.0})


# ---- refused ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda m: m.actuator("hing", MOTOR, command=1), "actuator on the unknown joint 'hing'; did you mean 'hinge'"),
        (lambda m: m.actuator("hinge", MOTOR), r"actuator on 'hinge': give its command, a voltage \(V\), as command="),
        (lambda m: m.actuator("hinge", 5.0, command=1), r"actuator on 'hinge' needs a model, .*not 5\.0"),
        (lambda m: m.actuator("hinge", DCMotor, command=1), "actuator on 'hinge' needs a model, .*not <class"),
        (lambda m: m.actuator("tube", MOTOR, command=1), "actuator on 'tube': joint 'tube' .* has 2 freedoms"),
        (
            lambda m: m.actuator("tube", MOTOR, command=1, coordinate="slide"),
            r"actuator on 'tube': tube\.slide slides, but a DCMotor turns: use ElectricCylinder, HydraulicCylinder or",
        ),
        (
            lambda m: m.actuator("hinge", HYDRAULIC, command=1),
            "actuator on 'hinge': hinge turns, but a HydraulicCylinder slides: use DCMotor or ForceLimit",
        ),
        (
            lambda m: m.actuator("hinge", replace(MOTOR, resistance=-2), command=1),
            "model: DCMotor has resistance = -2, which must be positive",
        ),
        (
            lambda m: m.actuator("hinge", replace(MOTOR, resistance=m.parameter("R", -2)), command=1),
            "actuator on 'hinge': DCMotor has resistance = -2, which must be positive",
        ),
        (
            lambda m: m.actuator("hinge", replace(MOTOR, gear=0.0), command=1),
            "model: DCMotor has gear = 0, which must not be zero",
        ),
        (
            lambda m: m.actuator("hinge", replace(MOTOR, drive="force"), command=1),
            "model: DCMotor has no drive 'force'; did you mean 'torque'",
        ),
        (
            lambda m: m.actuator("hinge", replace(MOTOR, gear=math.nan), command=1),
            r"model: DCMotor\.gear is nan",
        ),
        (
            lambda m: m.actuator("hinge", replace(MOTOR, gear=cc.t), command=1),
            r"\.gear may depend on parameters only",
        ),
        (lambda m: m.actuator("hinge", MOTOR, command="full"), r"hinge\.motor\.command must be a number.*'full'"),
        (lambda m: m.actuator("glue", MOTOR, command=1), "actuator on 'glue': joint 'glue' is a weld"),
        (
            lambda m: m.actuator("hinge", SeriesElastic(5.0, stiffness=1.0), command=1),
            r"SeriesElastic takes a motor or cylinder .*not 5\.0",
        ),
        (
            lambda m: m.actuator("hinge", SeriesElastic(ForceLimit(-1, 1), stiffness=1.0), command=1),
            "model: SeriesElastic: nothing on the motor's side has an inertia: give inertia=",
        ),
        (
            lambda m: m.actuator("hinge", SeriesElastic(MOTOR, stiffness=0.0), command=1),
            "model: SeriesElastic has stiffness = 0, which must be positive",
        ),
        (
            lambda m: m.actuator("hinge", SeriesElastic(replace(MOTOR, gear=0), stiffness=1.0), command=1),
            "model: DCMotor has gear = 0",
        ),
        (
            lambda m: m.actuator("ball", SeriesElastic(MOTOR, stiffness=1.0), command=1, coordinate="wx"),
            "actuator on 'ball': SeriesElastic stands on a revolute, prismatic, cylindrical or screw joint",
        ),
    ],
)
def test_refused_actuators(rig, draw, message):
    before = list(rig.joints), list(rig.bodies)
    with pytest.raises(cc.ModelError, match=message):
        draw(rig)
    assert (list(rig.joints), list(rig.bodies)) == before and not rig.motors and not rig.actuators


@pytest.mark.parametrize("model", [MOTOR, SeriesElastic(MOTOR, stiffness=1.0)], ids=["motor", "spring"])
def test_wrong_input_leaves_no_trace(rig, model):
    wrong = {
        "joint": NO_JOINT,
        "command": NO_EFFORT,
        "coordinate": NO_COORDINATE,
        "name": [x for x in NO_NAME if x is not None],
    }
    before = everything_drawn(rig)
    for argument, values in wrong.items():
        for value in values:
            usual = {"joint": "hinge", "command": 1.0} | {argument: value}
            with pytest.raises(cc.ModelError):
                rig.actuator(usual.pop("joint"), model, **usual)
            assert everything_drawn(rig) == before, f"{argument} = {value!r}"


# ---- control ---------------------------------------------------------------------------------------------------------


class Law:
    """Efforts that a test has in mind."""

    def __init__(self, efforts):
        self.given = efforts

    def efforts(self, mechanism):
        return self.given(mechanism) if callable(self.given) else self.given


def test_a_law_draws_its_motors(rig):
    law = Law(lambda m: {"hinge": -5.0 * m.joints["hinge"].q, "tube.slide": 3.0, "ball.wx": cc.t})
    drawn = rig.control(law)

    assert {label: (x.name, x.joint, x.index) for label, x in drawn.items()} == {
        "hinge": ("hinge.control", "hinge", 0),
        "tube.slide": ("tube.slide.control", "tube", 1),
        "ball.wx": ("ball.wx.control", "ball", 0),
    }
    assert rig.parameters["tube.slide.control"] == 3.0 and not rig.actuators


def test_a_law_may_make_parameters(rig):
    rig.control(Law(lambda m: {"hinge": -m.parameter("kp", 5.0) * m.joints["hinge"].q}))
    assert rig.parameters["kp"] == 5.0


def test_actuators_carry_a_law_out(rig):
    models = {"hinge": replace(MOTOR, drive="torque", max_current=4.0)}
    drawn = rig.control(Law({"hinge": 3.0, "tube.slide": 1.0}), actuator=models)

    assert list(rig.actuators) == ["hinge.control"] and rig.parameters["hinge.control.command"] == 3.0
    assert rig.parameters["hinge.control.max_current"] == 4.0
    assert drawn["tube.slide"].effort is not None and drawn["hinge"] is rig.motors["hinge.control"]


def test_one_model_for_all(rig):
    rig.control(Law({"hinge": 3.0, "tube.slide": 1.0}), actuator=ForceLimit(-2, 2))
    assert list(rig.actuators) == ["hinge.control", "tube.slide.control"]


@pytest.mark.parametrize(
    ("law", "actuator", "message"),
    [
        (5.0, None, r"control needs a law with a method efforts\(mechanism\), not 5\.0"),
        (Law({}), None, r"control: Law\.efforts must return efforts by coordinate, for instance .*, not \{\}"),
        (Law([1.0]), None, r"control: Law\.efforts must return efforts by coordinate.*\[1\.0\]"),
        (Law({"hing": 1.0}), None, "control: Law: no coordinate is named 'hing'; did you mean 'hinge'"),
        (Law({"tube": 1.0}), None, r"control: Law: no coordinate is named 'tube'; did you mean .*'tube\."),
        (Law({5: 1.0}), None, "control: Law: no coordinate is named 5"),
        (Law({"hinge": "much"}), None, r"hinge\.control must be a number.*'much'"),
        (Law({"hinge": 1.0}), MOTOR, "control of 'hinge': Law gives a torque, but the DCMotor takes a voltage: say dr"),
        (Law({"hinge": 1.0}), {"hing": ForceLimit(-1, 1)}, "control: Law does not drive 'hing'; did you mean 'hinge'"),
        (Law({"hinge": 1.0}), HYDRAULIC, "actuator on 'hinge': hinge turns, but a HydraulicCylinder slides"),
        (Law({"hinge": 1.0}), 7.0, "actuator on 'hinge' needs a model"),
        (
            Law({"tube.slide": 1.0}),
            SCREW,
            r"control of 'tube\.slide': Law gives a force, .* takes a voltage: say drive=",
        ),
    ],
)
def test_refused_laws(rig, law, actuator, message):
    before = everything_drawn(rig)
    with pytest.raises(cc.ModelError, match=message):
        rig.control(law, actuator=actuator)
    assert everything_drawn(rig) == before


def test_a_law_twice_is_refused(rig):
    rig.control(Law({"hinge": 1.0}))
    with pytest.raises(cc.ModelError, match=r"already has something named 'hinge\.control'"):
        rig.control(Law({"hinge": 2.0}))


# ---- springs and dampers between coordinates -------------------------------------------------------------------------


def test_against_another_coordinate(rig):
    assert rig.joint_spring("hinge", 5.0, against="tube.angle").against == ("tube", 0)
    assert rig.joint_damper("hinge", 5.0, against="tube.angle").against == ("tube", 0)
    assert rig.joint_damper("hinge", 5.0).against is None


@pytest.mark.parametrize("method", ["joint_spring", "joint_damper"])
@pytest.mark.parametrize(
    ("against", "message"),
    [
        ("hing", r" on 'hinge': no coordinate is named 'hing'; did you mean 'hinge'"),
        ("hinge", r" on 'hinge' acts against itself"),
        ("tube.slide", r" on 'hinge' acts against 'tube\.slide', but one of them turns and the other slides"),
        ("ball.wx", r" on 'hinge': 'ball\.wx' belongs to a spherical joint"),
    ],
)
def test_refused_against(rig, method, against, message):
    with pytest.raises(cc.ModelError, match=message):
        getattr(rig, method)("hinge", 1.0, against=against)


@pytest.mark.parametrize("method", ["joint_spring", "joint_damper"])
def test_wrong_labels_leave_no_trace(rig, method):
    before = everything_drawn(rig)
    for label in [x for x in NO_LABEL if x is not None]:
        with pytest.raises(cc.ModelError):
            getattr(rig, method)("hinge", 1.0, against=label)
        assert everything_drawn(rig) == before


def test_massless_ends_need_a_rotor_on_every_freedom():
    m = cc.Mechanism("ends")
    m.revolute("O", m.ground, m.body("arm", cc.rod(1.0, 1.0)))
    m.cylindrical("tube", m.bodies["arm"], m.body("end", cc.massless()))
    m.rotor("tube", 0.1, coordinate="angle")
    with pytest.raises(cc.ModelError, match="body 'end' has no mass and hangs on joint 'tube' alone"):
        m.validate()
    m.rotor("tube", 0.1, coordinate="slide")
    m.validate()
    assert np.isfinite(m.assemble().q).all()
