"""The dataset of a run: names, units, attributes, and numbers that are what their names say."""

import json

import numpy as np
import pytest

import closedchain as cc
from closedchain.model.joints.types import JOINT_TYPES
from closedchain.model.mechanism import RESERVED


def derivative(values, t):
    """Central differences of samples; error of order h^2."""
    return np.gradient(np.asarray(values), t, axis=0)[2:-2]


# ---- names and units -------------------------------------------------------------------------------------------------


def test_variables_of_the_four_bar(four_bar_run):
    data = four_bar_run.dataset

    assert list(data.data_vars) == [
        "O", "O'", "A", "A'", "C", "C'", "B", "B'", "O''", "A''", "C''", "O.motor", "lam", "closure_error",
        "closure_velocity_error", "kinetic_energy", "potential_energy", "power", "work", "energy_error",
        "closure_conditioning", "actuation_conditioning",
    ]  # fmt: skip
    assert dict(data.sizes) == {"time": 101, "closure": 2}
    assert list(data["closure"].values) == ["B x", "B y"]


def test_units(four_bar_run, platform_run):
    for run in (four_bar_run, platform_run):
        assert all("units" in variable.attrs for variable in run.dataset.data_vars.values())
        assert run.dataset["time"].attrs["units"] == "s"
    plane, space = four_bar_run.dataset, platform_run.dataset
    units = {name: data[name].attrs["units"] for data in (plane, space) for name in data.data_vars}

    assert (units["O"], units["O'"], units["O''"], units["O.motor"]) == ("rad", "rad/s", "rad/s^2", "N m")
    assert (units["leg1 slide"], units["leg1 slide'"], units["leg1 slide''"]) == ("m", "m/s", "m/s^2")
    assert units["leg1 slide.motor"] == "N"
    assert (units["pose.x"], units["pose.qw"], units["pose.vx"], units["pose.wx"]) == ("m", "1", "m/s", "rad/s")
    assert (units["pose.vx'"], units["pose.wx'"]) == ("m/s^2", "rad/s^2")
    assert (units["leg1 base.angle1"], units["leg1 base.angle1'"]) == ("rad", "rad/s")
    assert (units["kinetic_energy"], units["power"], units["work"], units["energy_error"]) == ("J", "W", "J", "J")


def test_cut_joints_are_marked(four_bar_run):
    assert four_bar_run["B"].attrs == {"units": "rad", "joint": "B", "cut": "measured on the cut joint"}
    assert four_bar_run["O"].attrs == {"units": "rad", "joint": "O"}


@pytest.mark.parametrize("kind", [k for k in JOINT_TYPES if k != "weld"])
def test_names_of_every_kind_of_joint(kind):
    m = cc.Mechanism("one joint", gravity=(0, -9.81, 0))
    body = m.body("body", cc.box((0.1, 0.2, 0.3), 1.0))
    joint = m.joint(kind, "j", m.ground, body, **({"pitch": 0.1} if kind == "screw" else {}))
    run = cc.simulate(m, until=0.01, t_eval=[0.0, 0.01])
    names = list(run.dataset.data_vars)
    kinds = joint.type
    rates = [
        f"{x}'" if n in kinds.coordinates else x for n, x in zip(kinds.velocities, joint.velocity_labels(), strict=True)
    ]

    assert names[: kinds.nq + 2 * kinds.nv] == [*joint.labels(), *rates, *(f"{rate}'" for rate in rates)]


@pytest.mark.parametrize("name", sorted(RESERVED))
def test_names_of_results_are_kept_for_them(name):
    """A joint called `work` would be overwritten by the work."""
    m = cc.Mechanism("named")

    with pytest.raises(cc.ModelError, match=f"the name '{name}' is kept for a result of every run"):
        m.revolute(name, m.ground, m.body("arm", cc.rod(1.0, 1.0)))


def test_all_names_of_results_are_kept(platform_run):
    """Whatever a dataset holds besides joints, motors and forces."""
    m, data = platform_run.mechanism, platform_run.dataset
    mine = {x for j in m.joints.values() for x in (*j.labels(), *j.velocity_labels())} | set(m.motors)
    others = {name for name in data.variables if str(name).rstrip("'") not in mine}

    assert others | set(data.dims) <= RESERVED


def test_forces_have_six_components():
    m = cc.library.pendulum()
    m.force("wind", m.bodies["arm"].tip, (lambda t: 2 * t, 0, 0), moment=(0, 0, 1.5))
    data = cc.simulate(m, until=0.1, t_eval=[0.0, 0.05, 0.1]).dataset

    assert data["wind"].dims == ("time", "wrench") and data["wind"].attrs["components"] == "force, moment"
    np.testing.assert_allclose(data["wind"].values[:, 0], [0.0, 0.1, 0.2], rtol=1e-15)
    np.testing.assert_array_equal(data["wind"].values[:, 5], 1.5)


def test_two_forces_and_no_closure():
    m = cc.library.pendulum()
    for k in range(2):
        m.force(f"wind{k}", m.bodies["arm"].tip, (1.0, 0, 0))
    data = cc.simulate(m, until=0.1).dataset

    assert data["lam"].shape == (201, 0) and data["wind0"].shape == (201, 6)


# ---- metadata --------------------------------------------------------------------------------------------------------


def test_attributes_tell_how_it_was_made(four_bar_run):
    attrs = four_bar_run.dataset.attrs

    assert attrs["mechanism"] == "four-bar" and attrs["solver"] == "dop853" and attrs["status"] == "finished"
    assert attrs["method"] == "Multipliers(stabilise='projection')"
    assert (attrs["rtol"], attrs["atol"]) == (1e-10, "rtol of sizes")
    assert attrs["closedchain"] == cc.__version__
    assert {"numpy", "casadi", "numba", "llvmlite", "python", "machine_code_from_cache"} <= set(attrs)
    assert attrs["steps"] > 0 and attrs["evaluations"] > 12 * attrs["steps"] - 1 and attrs["corrections"] > 0
    assert attrs["operations"] == four_bar_run.program.rhs.counts.total
    assert {"seconds_derive", "seconds_close", "seconds_compile", "seconds_prepare", "seconds_march"} <= set(attrs)
    assert json.loads(attrs["parameters"]) == dict(four_bar_run.mechanism.parameters)


# ---- numbers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["O", "A", "C", "B"])
def test_a_prime_is_the_rate(four_bar_run, name):
    rate = derivative(four_bar_run[name], four_bar_run.t)

    # h = 0.01, third derivatives up to some hundred per s^3
    np.testing.assert_allclose(four_bar_run[f"{name}'"][2:-2], rate, atol=1e-2)


@pytest.mark.parametrize("name", ["O", "A", "C"])
def test_two_primes_are_the_rate_of_one(four_bar_run, name):
    rate = derivative(four_bar_run[f"{name}'"], four_bar_run.t)

    np.testing.assert_allclose(four_bar_run[f"{name}''"][2:-2], rate, atol=0.2)  # the same with one derivative more


@pytest.mark.parametrize("name", ["leg1 slide", "leg3 base.angle1", "leg6 base.angle2"])
def test_rates_in_space(platform_run, name):
    # h = 0.002
    np.testing.assert_allclose(
        platform_run[f"{name}'"][2:-2], derivative(platform_run[name], platform_run.t), atol=1e-4
    )
    rate = derivative(platform_run[f"{name}'"], platform_run.t)
    np.testing.assert_allclose(platform_run[f"{name}''"][2:-2], rate, atol=1e-2)


def test_quaternions_turn_with_the_angular_velocity(platform_run):
    """``q' = q w / 2`` with w in the turning frame: of the platform, and of a ball joint that is cut."""
    for joint in ("pose", "leg2 ball"):
        q = np.column_stack([platform_run[f"{joint}.{c}"] for c in ("qw", "qx", "qy", "qz")])
        w = np.column_stack([platform_run[f"{joint}.{c}"] for c in ("wx", "wy", "wz")])
        scalar = -(q[:, 1:] * w).sum(1) / 2
        vector = (q[:, :1] * w + np.cross(q[:, 1:], w)) / 2

        np.testing.assert_allclose(np.linalg.norm(q, axis=1), 1.0, atol=1e-12)
        np.testing.assert_allclose(derivative(q, platform_run.t), np.column_stack([scalar, vector])[2:-2], atol=1e-4)


def test_a_free_joint_moves_with_its_own_velocity(platform_run):
    """The velocity of a free joint is in the body's axes; its position in the world's."""
    pose = platform_run.frame("platform")
    v = np.column_stack([platform_run[f"pose.{c}"] for c in ("vx", "vy", "vz")])
    world = np.einsum("tij,tj->ti", pose["rotation"].values, v)
    position = np.column_stack([platform_run[f"pose.{c}"] for c in "xyz"])

    np.testing.assert_allclose(world[2:-2], derivative(position, platform_run.t), atol=1e-4)


def test_multipliers_are_the_force_that_the_rod_feels(four_bar_run):
    """Newton on the rocker alone: moments about its pivot C."""
    run = four_bar_run
    phi, alpha = run["C"].values, run["C''"].values
    force = run["lam"].values  # of the coupler (first body of B) on the rocker, in world axes
    gravity_moment = -9.8 * 1.25 * np.cos(phi)
    pin_moment = 2.5 * (np.cos(phi) * force[:, 1] - np.sin(phi) * force[:, 0])

    np.testing.assert_allclose(2.5**2 / 3 * alpha, gravity_moment + pin_moment, atol=1e-9)  # forces of some hundred N


def test_efforts_are_what_the_motors_do(platform_run):
    m, run = platform_run.mechanism, platform_run
    p, t = m.parameters, run.t
    wanted = p["leg1 start"] + p["leg1 stroke"] * np.sin(np.pi * t / 2) ** 2
    rate = p["leg1 stroke"] * np.pi / 2 * np.sin(np.pi * t)
    force = p["leg1 hold"] + p["kp"] * (wanted - run["leg1 slide"]) + p["kd"] * (rate - run["leg1 slide'"])

    np.testing.assert_allclose(run["leg1 slide.motor"], force, rtol=1e-10)


def test_power_is_the_rate_of_work_and_of_energy(four_bar_run):
    run = four_bar_run

    np.testing.assert_allclose(run["power"], 6.0 * run["O'"], rtol=1e-12)
    np.testing.assert_allclose(run["work"], 6.0 * (run["O"] - run["O"][0]), atol=1e-8)  # integrated at rtol 1e-10
    energy = run["kinetic_energy"] + run["potential_energy"]
    np.testing.assert_allclose(energy - energy[0], run["work"], atol=1e-7)
    np.testing.assert_allclose(run["energy_error"], energy - energy[0] - run["work"], atol=1e-12)


def test_energies_of_a_pendulum(pendulum_run):
    run = pendulum_run

    np.testing.assert_allclose(run["kinetic_energy"], run["hinge'"] ** 2 / 6, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(run["potential_energy"], 9.81 * np.sin(run["hinge"]) / 2, rtol=1e-12, atol=1e-15)


def test_a_cut_hinge_counts_its_turns():
    """However few samples there are."""
    m = cc.Mechanism("wheel", gravity=(0, 0, 0))
    wheel = m.body("wheel", cc.disc(0.1, 1.0))
    m.revolute("kept", m.ground, wheel)
    m.revolute("cut", m.ground, wheel, cut=True)
    run = cc.simulate(m, m.assemble(velocity={"kept": 7.0}), until=3.0)

    np.testing.assert_allclose(run["cut"], run["kept"], atol=1e-9)
    assert float(run["cut"][-1]) == pytest.approx(21.0, abs=1e-9)
    few = cc.simulate(m, m.assemble(velocity={"kept": 7.0}), until=3.0, t_eval=[0.0, 3.0])
    np.testing.assert_allclose(few["cut"], [0.0, 21.0], atol=1e-9)
