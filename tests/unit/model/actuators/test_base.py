"""Models of actuators by themselves: what they exert, need and cannot do, with numbers and arrays."""

import math
from dataclasses import fields, replace

import numpy as np
import pytest

import closedchain as cc
from closedchain.model import actuators
from closedchain.model.actuators import (
    ActuatorModel,
    DCMotor,
    ElectricCylinder,
    ForceLimit,
    HydraulicCylinder,
    SeriesElastic,
)
from closedchain.model.actuators.base import RULES, effective

MOTOR = DCMotor(
    resistance=0.5, torque_constant=0.05, gear=50, max_voltage=24, max_current=20, continuous_current=6, max_speed=500
)
SCREW = ElectricCylinder(
    lead=0.005, gear=2, resistance=0.5, torque_constant=0.05, max_voltage=48, max_current=10, max_force=2000,
    max_speed=0.4, drive="force",
)  # fmt: skip
HYDRAULIC = HydraulicCylinder(
    bore=0.08, rod=0.056, supply_pressure=20e6, tank_pressure=0.5e6, rated_flow=1e-3, drive="valve", max_speed=1.0
)
LIMIT = ForceLimit(-50.0, 80.0, max_speed=3.0)
SPRING = SeriesElastic(LIMIT, stiffness=1.0, inertia=1.0)
MODELS = {"motor": MOTOR, "screw": SCREW, "hydraulic": HYDRAULIC, "limit": LIMIT}

# speeds of the joint within the rating, and commands far beyond the limits on both sides
SPEEDS = {"motor": 10.0, "screw": 0.4, "hydraulic": 1.0, "limit": 3.0}
COMMANDS = {"motor": 30.0, "screw": 5e3, "hydraulic": 1.5, "limit": 200.0}


def grid(name, n=41):
    speed, command = np.meshgrid(np.linspace(-1, 1, n) * SPEEDS[name], np.linspace(-1, 1, n) * COMMANDS[name])
    return command, speed


# ---- what all of them keep to ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_nothing_is_exerted_outside_the_envelope(name):
    command, speed = grid(name)
    low, high = MODELS[name].envelope(speed)
    effort = MODELS[name].exerted(command, speed)
    slack = 1e-12 * np.abs(high).max()
    assert (effort <= high + slack).all() and (effort >= low - slack).all()
    # and both ends are reached by commands that ask for too much
    np.testing.assert_allclose([effort[0], effort[-1]], [low[0], high[0]], rtol=1e-12, atol=slack)


@pytest.mark.parametrize("name", MODELS)
def test_what_is_exerted_exceeds_no_limit(name):
    command, speed = grid(name)
    model = MODELS[name]
    if name == "motor":
        model = replace(model, continuous_current=None)
        speed = np.clip(speed, -9.0, 9.0)  # beyond, the back-EMF alone is larger than the voltage
    assert model.limits(model.exerted(command, speed), speed) == []


@pytest.mark.parametrize("name", MODELS)
def test_expressions_and_arrays_give_the_same(name, rng):
    """The formula is written once: as an expression it has the same value, to the last bit but one."""
    m = cc.Mechanism("symbols")
    model = MODELS[name].mapped(lambda x, field: m.parameter(field, x))
    command, speed = m.parameter("command", 0.0), m.parameter("speed", 0.0)
    law = model.exerted(command, speed)
    for _ in range(50):
        x, v = rng.uniform(-1, 1, 2) * [COMMANDS[name], SPEEDS[name]]
        traced = m.values({"command": x, "speed": v})(law)
        assert traced == pytest.approx(float(MODELS[name].exerted(x, v)), rel=1e-14)


@pytest.mark.parametrize("name", MODELS)
def test_demands_have_one_number_for_each_sample(name):
    effort, speed = np.linspace(-10, 10, 7), 0.1
    need = MODELS[name].demand(effort, speed)
    assert all(x.values.shape == (7,) and x.unit for x in need.values())
    np.testing.assert_allclose(need["mechanical power"].values, effort * speed)


@pytest.mark.parametrize("name", MODELS)
def test_beyond_its_largest_speed_a_model_has_no_envelope(name):
    inside, outside = SPEEDS[name] * 0.999, SPEEDS[name] * 1.001
    for sign in (-1, 1):
        low, high = MODELS[name].envelope([sign * inside, sign * outside])
        assert np.isfinite([low[0], high[0]]).all() and np.isnan([low[1], high[1]]).all()
    (found,) = [x for x in MODELS[name].limits([0.0, 0.0, 0.0], [0.0, -outside, inside]) if x.what == "speed"]
    assert found.sample == 1 and found.worst / found.limit == pytest.approx(1.001)


@pytest.mark.parametrize("kind", [DCMotor, ElectricCylinder, HydraulicCylinder, ForceLimit, SeriesElastic])
def test_every_number_has_a_rule(kind):
    names = {f.name for f in fields(kind)} - {"drive", "actuator"}
    assert names == set(kind.rules) and set(kind.rules.values()) <= set(RULES)


def test_all_models_are_public():
    public = {x for x in vars(actuators).values() if isinstance(x, type) and issubclass(x, ActuatorModel)}
    assert public == {ActuatorModel, DCMotor, ElectricCylinder, HydraulicCylinder, ForceLimit, SeriesElastic}


# ---- electric --------------------------------------------------------------------------------------------------------


def test_stall_torque_and_speed_without_load():
    low, high = MOTOR.envelope([0.0, 24 / (0.05 * 50)])
    assert high[0] == pytest.approx(50 * 0.05 * 20) and low[0] == -high[0]
    assert high[1] == pytest.approx(0.0, abs=1e-12)
    free = replace(MOTOR, max_current=None)
    assert free.envelope(0.0)[1] == pytest.approx(50 * 0.05 * 24 / 0.5)


def test_without_limits_the_envelope_is_infinite():
    low, high = DCMotor(resistance=1.0, torque_constant=0.1).envelope([0.0, 1e3])
    assert (low == -np.inf).all() and (high == np.inf).all()


def test_demand_of_a_motor_is_the_inverse_of_what_it_exerts():
    volts, speed = np.meshgrid(np.linspace(-8, 8, 9), np.linspace(-0.5, 0.5, 9))
    effort = MOTOR.exerted(volts, speed)
    need = MOTOR.demand(effort, speed)
    np.testing.assert_allclose(need["voltage"].values, volts, atol=1e-12)
    np.testing.assert_allclose(need["current"].values, MOTOR.current(volts, speed), atol=1e-12)
    # volts times amperes is what turns the joint and what heats the copper
    parts = need["mechanical power"].values + need["copper loss"].values
    np.testing.assert_allclose(need["electrical power"].values, parts, atol=1e-10)
    np.testing.assert_allclose(need["motor torque"].values * need["motor speed"].values, effort * speed, atol=1e-10)


def test_limits_of_a_motor_name_the_worst_sample():
    effort, speed = np.array([10.0, 60.0, -30.0]), np.array([0.0, 1.0, -9.0])
    found = {x.what: x for x in MOTOR.limits(effort, speed)}
    assert set(found) == {"voltage", "current", "effective current"}
    assert found["voltage"].sample == 2 and found["voltage"].worst == pytest.approx(-0.5 * 12 - 0.05 * 50 * 9)
    assert found["current"] == ("current", 20.0, pytest.approx(24.0), 1, "A")
    assert found["effective current"].sample is None
    assert found["effective current"].worst == pytest.approx(np.sqrt((4**2 + 24**2 + 12**2) / 3))
    assert str(found["current"]) == "current: 24 A at sample 1 is beyond 20 A"
    assert str(found["effective current"]) == "effective current: 15.66 A is beyond 6 A"


def test_effective_values_are_means_over_time():
    t = np.array([0.0, 1.0, 1.5, 4.0])
    assert effective(np.full(4, 3.0), t) == pytest.approx(3.0)
    x = np.sin(np.linspace(0, 2 * np.pi, 100_001))
    assert effective(x, np.linspace(0, 1, 100_001)) == pytest.approx(1 / np.sqrt(2), rel=1e-9)
    assert effective(np.array([2.0]), [0.0]) == 2.0


def test_a_gear_that_turns_back():
    """Everything at the joint is as with a gear of the other sign; the rotor turns the other way."""
    back = replace(MOTOR, gear=-50, drive="torque")
    effort, speed = np.array([10.0, -70.0]), np.array([3.0, -2.0])
    np.testing.assert_allclose(back.exerted(effort, speed), replace(MOTOR, drive="torque").exerted(effort, speed))
    np.testing.assert_allclose(back.envelope(speed), MOTOR.envelope(speed))
    np.testing.assert_allclose(back.demand(effort, speed)["motor speed"].values, -50 * speed)


def test_a_screw_turns_torque_into_force():
    turns = 2 * np.pi * 2 / 0.005  # rad/m
    assert SCREW.ratio == pytest.approx(turns)
    assert SCREW.envelope(0.0)[1] == pytest.approx(min(turns * 0.05 * 10, 2000.0))
    need = SCREW.demand(500.0, 0.1)
    assert need["motor torque"].values == pytest.approx(500 / turns)
    assert need["motor speed"].values == pytest.approx(0.1 * turns)
    (found,) = SCREW.limits([100.0, -2500.0], [0.0, 0.0])[:1]
    assert (found.what, found.limit, found.worst, found.sample) == ("force", -2000.0, -2500.0, 1)


# ---- hydraulic -------------------------------------------------------------------------------------------------------

AREA, ROD_SIDE = np.pi / 4 * 0.08**2, np.pi / 4 * (0.08**2 - 0.056**2)


def test_forces_at_rest_are_pressure_times_area_on_each_side():
    low, high = HYDRAULIC.envelope(0.0)
    assert high == pytest.approx(20e6 * AREA - 0.5e6 * ROD_SIDE)
    assert low == pytest.approx(0.5e6 * AREA - 20e6 * ROD_SIDE)
    assert high > 1.9 * -low  # the rod takes about half of the area


@pytest.mark.parametrize("opening", [1.0, 0.3, -0.4, -1.0])
def test_the_pressure_falls_with_the_square_of_the_speed(opening):
    """Each edge that is open follows Q = a Q_r sqrt(dp / dp_r); the other two are closed."""
    speed = np.sign(opening) * np.array([0.0, 0.02, 0.05])
    p1, p2 = HYDRAULIC.pressures(opening, speed)
    a = min(abs(opening) + 0.01, 1.0)
    drop1, drop2 = (3.5e6 * (area * speed / (a * 1e-3)) ** 2 for area in (AREA, ROD_SIDE))
    if opening > 0:
        np.testing.assert_allclose([p1, p2], [20e6 - drop1, 0.5e6 + drop2], rtol=1e-12)
    else:
        np.testing.assert_allclose([p1, p2], [0.5e6 + drop1, 20e6 - drop2], rtol=1e-12)


def test_flows_through_all_edges_add_up(rng):
    """In the valve's middle both edges of a chamber are open: inflow less outflow is what the piston makes room for."""
    opening, speed = rng.uniform(-0.009, 0.009, 200), rng.uniform(-1e-4, 1e-4, 200)
    for p, area, u in zip(HYDRAULIC.pressures(opening, speed), (AREA, -ROD_SIDE), (opening, -opening), strict=True):
        inside = (p > 0.5e6 * (1 + 1e-9)) & (p < 20e6 * (1 - 1e-9))
        assert inside.mean() > 0.5  # else a check valve is open
        supply = (0.01 + u) * 1e-3 * np.sqrt((20e6 - p) / 3.5e6)
        tank = (0.01 - u) * 1e-3 * np.sqrt((p - 0.5e6) / 3.5e6)
        np.testing.assert_allclose((supply - tank)[inside], (area * speed)[inside], atol=1e-16)


def test_pressures_stay_between_tank_and_supply():
    opening, speed = np.meshgrid(np.linspace(-1, 1, 81), np.linspace(-3, 3, 81))
    for p in HYDRAULIC.pressures(opening, speed):
        assert p.min() >= 0.5e6 * (1 - 1e-12) and p.max() <= 20e6 * (1 + 1e-12)


def test_the_force_grows_with_the_opening_and_falls_with_the_speed():
    opening, speed = np.linspace(-1, 1, 401), np.linspace(-1, 1, 401)
    force = HYDRAULIC.force(opening[:, None], speed[None, :])
    slack = 1e-9 * np.abs(force).max()
    assert np.diff(force, axis=0).min() > -slack and np.diff(force, axis=1).max() < slack


def test_a_valve_in_its_middle_shares_the_pressure():
    p1, p2 = HYDRAULIC.pressures(0.0, 0.0)
    assert p1 == p2 == pytest.approx((20e6 + 0.5e6) / 2)


def test_without_a_flow_the_force_does_not_depend_on_the_speed():
    still = replace(HYDRAULIC, rated_flow=None)
    np.testing.assert_allclose(still.envelope(np.array([-0.5, 0.0, 0.9]))[1], HYDRAULIC.envelope(0.0)[1])


def test_demand_of_a_cylinder_finds_the_opening():
    opening, speed = np.array([0.7, 0.4, -0.6, 0.005, -1.0]), np.array([0.3, -0.02, -0.4, 0.0, 0.1])
    force = HYDRAULIC.force(opening, speed)
    need = HYDRAULIC.demand(force, speed)
    # where a check valve is open, several openings give the same force
    np.testing.assert_allclose(HYDRAULIC.force(need["valve opening"].values, speed), force, rtol=1e-9)
    np.testing.assert_allclose(need["valve opening"].values[[0, 2, 3]], opening[[0, 2, 3]], rtol=1e-9)
    np.testing.assert_allclose(need["flow"].values, np.where(speed > 0, AREA * speed, -ROD_SIDE * speed))
    np.testing.assert_allclose(need["hydraulic power"].values, 20e6 * need["flow"].values)
    assert HYDRAULIC.demand([1e6, -1e6], 0.0)["valve opening"].values == pytest.approx([1.0, -1.0])


def test_limits_of_a_cylinder_depend_on_the_speed():
    top = float(HYDRAULIC.envelope(0.3)[1])
    assert HYDRAULIC.limits([top * 1.01, 0.0], [0.0, 0.0]) == []
    (found,) = HYDRAULIC.limits([0.0, top * 1.01], [0.3, 0.3])
    assert found == ("force", pytest.approx(top), pytest.approx(1.01 * top), 1, "N")


# ---- series elastic --------------------------------------------------------------------------------------------------


def test_a_spring_leaves_the_questions_to_its_motor():
    model = SeriesElastic(replace(MOTOR, rotor_inertia=1e-5), stiffness=100.0)
    np.testing.assert_allclose(model.envelope([0.0, 1.0]), MOTOR.envelope([0.0, 1.0]))
    assert set(model.demand(1.0, 1.0)) == set(MOTOR.demand(1.0, 1.0))
    assert model.limits([60.0], [0.0]) == MOTOR.limits([60.0], [0.0]) != []
    assert model.turns is True and model.meaning == "voltage" and model.drives == MOTOR.drives


def test_only_motors_and_cylinders_have_a_spring():
    for wrong in (5.0, None, SPRING):
        with pytest.raises(cc.ModelError, match="SeriesElastic takes a motor or cylinder such as DCMotor, not"):
            SeriesElastic(wrong, stiffness=1.0)


# ---- refusals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "changes", "message"),
    [
        (MOTOR, {"resistance": -1.0}, "model: DCMotor has resistance = -1, which must be positive"),
        (MOTOR, {"gear": 0}, "DCMotor has gear = 0, which must not be zero"),
        (MOTOR, {"torque_constant": "strong"}, r"DCMotor\.torque_constant must be a number.*'strong'"),
        (MOTOR, {"resistance": None}, r"DCMotor\.resistance must be a number.*None"),
        (MOTOR, {"drive": "volts"}, "DCMotor has no drive 'volts'; did you mean 'voltage'"),
        (MOTOR, {"gear": cc.t, "max_speed": -1.0}, "DCMotor has max_speed = -1, which must be positive"),
        (SCREW, {"lead": 0.0}, "ElectricCylinder has lead = 0"),
        (HYDRAULIC, {"rod": 0.08}, "HydraulicCylinder: rod = 0.08 m is not thinner than bore = 0.08 m"),
        (HYDRAULIC, {"tank_pressure": 3e7}, r"tank_pressure = 3e\+07 Pa is not below supply_pressure = 2e\+07"),
        (HYDRAULIC, {"underlap": 0.0}, "HydraulicCylinder has underlap = 0, which must be positive"),
        (LIMIT, {"low": 5.0, "high": 5.0}, "ForceLimit: low = 5 is not below high = 5"),
        (SPRING, {"stiffness": 0.0}, "SeriesElastic has stiffness = 0, which must be positive"),
        (SPRING, {"actuator": LIMIT, "inertia": 0.0}, "nothing on the motor's side has an inertia"),
    ],
)
def test_a_model_that_cannot_be(model, changes, message):
    with pytest.raises(cc.ModelError, match=message):
        replace(model, **changes)


def test_expressions_are_looked_at_when_they_have_values():
    model = replace(MOTOR, max_current=cc.t)
    with pytest.raises(cc.ModelError, match=r"DCMotor depends on t, which has no value by itself: .*numbers"):
        model.envelope(0.0)

    m = cc.library.pendulum()
    thick = m.parameter("thick", 0.1)
    spring = replace(SPRING, actuator=replace(MOTOR, resistance=-thick))
    with pytest.raises(cc.ModelError, match=r"actuator on 'hinge': DCMotor has resistance = -0\.1, which must be"):
        m.actuator("hinge", spring, command=0.0)
    replace(HYDRAULIC, rod=thick)  # thicker than the bore, but that is known only in a drawing


@pytest.mark.parametrize("name", MODELS)
def test_lists_are_arrays(name):
    model, v = MODELS[name], [0.0, 0.5 * SPEEDS[name]]
    command = [0.2 * COMMANDS[name], -0.1 * COMMANDS[name]]
    np.testing.assert_array_equal(model.exerted(command, v), model.exerted(np.array(command), np.array(v)))
    np.testing.assert_array_equal(
        model.exerted(command, v), [model.exerted(x, y) for x, y in zip(command, v, strict=True)]
    )


def test_lists_of_openings():
    openings, speeds = [0.3, -0.5], (0.0, 0.1)
    np.testing.assert_array_equal(
        HYDRAULIC.force(openings, speeds), [HYDRAULIC.force(*x) for x in zip(openings, speeds, strict=True)]
    )
    np.testing.assert_array_equal(
        np.transpose(HYDRAULIC.pressures(openings, 0.1)), [HYDRAULIC.pressures(x, 0.1) for x in openings]
    )
    for wrong in ([0.1, 0.2, 0.3], ["fast", "slow"], [[0.1], [0.2, 0.3]]):
        with pytest.raises(cc.ModelError, match="HydraulicCylinder: efforts and speeds must be numbers or arrays"):
            HYDRAULIC.force(openings, wrong)
    with pytest.raises(cc.ModelError, match="DCMotor: efforts and speeds must be numbers or arrays"):
        MOTOR.current([1.0, 2.0], [1.0, 2.0, 3.0])


@pytest.mark.parametrize("name", [*MODELS, "free"])
def test_what_is_not_a_number_is_within_no_limit(name):
    free = DCMotor(resistance=1.0, torque_constant=0.1)  # without any limit
    model = {**MODELS, "free": free}[name]
    (found,) = model.limits([0.0, math.nan, 0.0], [0.0, 0.0, 0.0])
    assert str(found) in ("effort: not a number at sample 1", "force: not a number at sample 1")
    (found,) = model.limits([0.0, 0.0], [0.0, math.nan])
    assert str(found) == "speed: not a number at sample 1"
    # and it does not hide what is too much elsewhere
    alone, beside = (model.limits(efforts, 0.0) for efforts in ([1e9], [1e9, math.nan]))
    told = {x.what for x in beside if not math.isnan(x.worst)}
    assert told == {x.what for x in alone} - {"effective current"}


def test_arrays_that_do_not_fit():
    with pytest.raises(cc.ModelError, match="DCMotor: efforts and speeds must be numbers or arrays"):
        MOTOR.demand(np.zeros(3), np.zeros(4))
    with pytest.raises(cc.ModelError, match="ForceLimit: efforts and speeds must be numbers or arrays"):
        LIMIT.envelope("fast")
