"""What a motion takes: datasets, signals, reactions, duties of motors, figures."""

import math
import re

import numpy as np
import pytest

import closedchain as cc
from closedchain.model.actuators import DCMotor


def flywheel():
    """A rod that turns in a horizontal plane: nothing but inertia, 1/3 kg m^2."""
    m = cc.Mechanism("flywheel", gravity=(0, 0, -9.81))
    m.revolute("axle", m.ground, m.body("rod", cc.rod(length=1.0, mass=1.0)))
    return m


@pytest.fixture(scope="module")
def need():
    """One period of a harmonic motion, 0.5 rad at 2 Hz."""
    return cc.inverse_dynamics(flywheel(), {"axle": 0.5 * cc.math.sin(4 * cc.pi * cc.t)}, until=0.5, actuators=["axle"])


W, A, INERTIA = 4 * math.pi, 0.5, 1 / 3


def test_duties_of_a_harmonic_motion(need):
    duty = need.sizing()["axle"]
    peak = INERTIA * A * W**2
    assert duty.peak == pytest.approx(peak, rel=1e-3)  # the nearest sample to the peak
    assert duty.rms == pytest.approx(peak / math.sqrt(2), rel=1e-12)  # the trapezoidal rule is exact over a period
    assert duty.top_speed == pytest.approx(A * W, rel=1e-12)
    assert duty.peak_power == pytest.approx(INERTIA * A**2 * W**3 / 2, rel=1e-3)
    assert duty.least_power == pytest.approx(-duty.peak_power, rel=1e-9)
    assert abs(duty.mean_power) < 1e-12 * duty.peak_power
    # the kinetic energy is put in and taken out twice in a period; trapezoids of 201 samples
    assert duty.work == pytest.approx(INERTIA * A**2 * W**2, rel=1e-3)


def test_the_dataset_has_units(need):
    data = need.dataset
    assert [data[x].attrs["units"] for x in ("axle", "axle speed", "axle power", "power")] == ["N m", "rad/s", "W", "W"]
    assert need["power"].values == pytest.approx(need["axle"].values * need["axle speed"].values)
    assert need.to_dataframe().shape == (201, 5)
    with pytest.raises(cc.ModelError, match=r"no effort 'axl'; did you mean 'axle'"):
        need["axl"]
    assert "1 actuators" in repr(need) and "flywheel" in repr(need)


def test_a_signal_is_the_effort_between_samples(need):
    x = need.signal("axle")
    for t in np.linspace(0.0, 0.5, 57):
        got = float(x.evaluate(lambda leaf, t=t: t))
        # thinned to 1e-8 of its range, 53 N m
        assert got == pytest.approx(-INERTIA * A * W**2 * math.sin(W * t), abs=5e-7)
    with pytest.raises(cc.ModelError, match="no actuator 'hinge'"):
        need.signal("hinge")
    still = cc.holding_efforts(cc.library.pendulum(), actuators=["hinge"])
    assert still.signal("hinge") == float(still["hinge"][0])  # of a single instant: a constant


def test_a_motor_that_is_tried(need):
    """Its rotor and its friction are added at the joint; what is drawn needs no addition."""
    motor = DCMotor(resistance=0.5, torque_constant=0.05, gear=20.0, rotor_inertia=1e-4, viscous=1e-4, max_current=5.0)
    tried = need.sizing(motor)
    m = flywheel()
    m.actuator("axle", motor, command=0.0)
    drawn = cc.inverse_dynamics(m, {"axle": 0.5 * cc.math.sin(4 * cc.pi * cc.t)}, until=0.5).sizing()
    assert tried["axle"].peak == pytest.approx(drawn["axle"].peak, rel=1e-12)
    assert tried["axle"].rms > need.sizing()["axle"].rms
    current = next(x for x in drawn.demands if x.quantity == "current")
    assert current.peak == pytest.approx(drawn["axle"].peak / (20 * 0.05), rel=1e-12)
    assert current.rms == pytest.approx(next(x.rms for x in tried.demands if x.quantity == "current"), rel=1e-12)
    assert any(re.search(r"current .* A at t = .* s, the limit is -?5 A", sentence) for sentence in drawn.shortfalls)
    assert "beyond its limits" in str(drawn) and "current" in str(drawn)
    with pytest.raises(cc.ModelError, match="has a motor in the drawing already"):
        cc.inverse_dynamics(m, {"axle": cc.t}, until=1.0).sizing(motor)
    with pytest.raises(cc.ModelError, match=r"no actuator is named 'axl'"):
        need.sizing({"axl": motor})
    with pytest.raises(cc.ModelError, match=r"must be a model such as cc\.DCMotor"):
        need.sizing({"axle": 3.0})
    with pytest.raises(cc.ModelError, match=r"no actuator 'axl'"):
        tried["axl"]


def test_the_table_names_all_actuators():
    m = cc.library.gough_stewart(drive="none")
    legs = [f"leg{k} slide" for k in range(1, 7)]
    text = str(cc.holding_efforts(m, actuators=legs).sizing())
    assert all(leg in text for leg in legs) and "5.934 N" in text
    rows = cc.holding_efforts(m, actuators=legs).sizing().rows()
    assert rows[0]["name"] == "leg1 slide" and rows[0]["unit"] == "N"


def test_reactions_along_a_path_are_those_of_a_run_on_it():
    """A drive takes the crank along the same path: the same motion, the same reactions."""
    m = cc.library.four_bar(torque=0.0)
    need = cc.inverse_dynamics(m, {"O": cc.pi / 2 + cc.t**2}, until=1.0, samples=11)
    driven = cc.library.four_bar(torque=0.0)
    driven.drive("O", lambda t: cc.pi / 2 + t**2)
    run = cc.simulate(driven, cc.follow(driven, until=1.0).start, 1.0, rtol=1e-11, t_eval=need.t)
    for joint in "OABC":
        got, want = need.reaction(joint), run.reaction(joint)
        for what in ("force", "moment"):
            assert np.abs(got[what].values - want[what].values).max() < 1e-7  # the run's tolerance, some 100 N
            assert (got[f"{what}_unique"].values == want[f"{what}_unique"].values).all()
    table = need.reactions()
    assert set(table["joint"].values) == set("OABC") and table["force"].shape == (11, 4, 3)


@pytest.mark.parametrize("figure", ["plot", "envelope"])
def test_figures_are_drawn(need, figure, tmp_path):
    path = tmp_path / "figure.png"
    made = need.plot(path) if figure == "plot" else need.envelope(path=path)
    assert path.stat().st_size > 5000
    assert len(made.axes) == (3 if figure == "plot" else 1)
    if figure == "envelope":
        motor = DCMotor(resistance=0.5, torque_constant=0.05, gear=20.0, max_voltage=24.0)
        assert len(need.envelope(motor).axes[0].lines) == 3  # the motion, and what the motor can give


def test_options_of_paths_are_those_of_follow():
    """The same times and branch as of the motion that `follow` finds; other words are refused as Python does."""
    m, path = cc.library.four_bar(), {"O": cc.pi / 2 + 0.1 * cc.t}
    options = {"begin": 0.1, "t_eval": cc.Every(0.2), "assembly": "C-"}
    need, motion = cc.inverse_dynamics(m, path, 0.5, **options), cc.follow(m, path, 0.5, **options)
    np.testing.assert_allclose(need.t, [0.1, 0.3, 0.5], rtol=1e-15)
    np.testing.assert_array_equal(need.motion.q, motion.q)
    with pytest.raises(
        TypeError, match=r"inverse_dynamics\(\) got an unexpected keyword argument 'sample'; did you mean"
    ):
        cc.inverse_dynamics(m, path, 0.5, sample=11)
