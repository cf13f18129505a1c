"""The recipe of `closedchain.model.forces.force`: forces of one's own, drawn, checked, run, and bent."""

import copy
from dataclasses import dataclass

import numpy as np
import pytest

import closedchain as cc
from closedchain.model.expressions.expression import Number
from closedchain.model.forces.corners import corners
from closedchain.model.forces.force import Action, Along, At, Force, obey
from closedchain.model.forces.sampled import sampled_inputs
from closedchain.model.parts import Frame
from closedchain.testing import check_force


@dataclass(frozen=True, eq=False)
class Belt(Force):
    """A belt between two hinges."""

    driver: str
    driven: str
    stiffness: Number

    rules = obey(positive="stiffness")

    def action(self, m):
        stretch = m.joints[self.driven].q - m.joints[self.driver].q
        torque = self.stiffness * stretch
        return Action(
            Along(self.driven, -torque), Along(self.driver, torque), potential=self.stiffness * stretch**2 / 2
        )


@dataclass(frozen=True, eq=False)
class Rope(Force):
    """A rope between two points: it pulls where it is longer than at rest, and is damped there."""

    a: Frame
    b: Frame
    length: Number
    stiffness: Number
    damping: Number

    rules = obey(positive="length stiffness", not_negative="damping")

    def action(self, m):
        way = [far - near for near, far in zip(self.a.place, self.b.place, strict=True)]
        rate = [far - near for near, far in zip(self.a.speed, self.b.speed, strict=True)]
        distance = cc.math.sqrt(sum(x * x for x in way))
        speed = sum(x * y for x, y in zip(way, rate, strict=True)) / distance
        stretch = cc.math.maximum(distance - self.length, 0.0)
        damped = cc.math.where(distance > self.length, self.damping * speed, 0.0)
        pull = [(self.stiffness * stretch + damped) / distance * x for x in way]
        return Action(
            At(self.a, pull),
            At(self.b, [-x for x in pull]),
            potential=self.stiffness * stretch**2 / 2,
            power=-damped * speed,
        )


@dataclass(frozen=True, eq=False)
class Thruster(Force):
    """A thrust along x of a frame, and no potential."""

    at: Frame
    thrust: Number

    rules = obey(any_number="thrust")

    def action(self, m):
        return Action(At(self.at, (self.thrust, 0.0, 0.0), world=False))


def with_belt(stiffness=50.0):
    m = cc.library.four_bar()
    m.force_element(Belt("belt", "O", "C", stiffness=stiffness))
    return m


def with_rope(length=1.0):
    m = cc.library.four_bar()
    m.force_element(Rope("rope", m.ground.at(0, 3, 0), m.bodies["coupler"].tip, length, stiffness=80.0, damping=3.0))
    return m


def with_thruster(thrust=2.0):
    m = cc.library.four_bar()
    m.force_element(Thruster("thruster", m.bodies["coupler"].at(2, 0, 0, rpy=(0, 0, 0.3)), thrust))
    return m


@pytest.mark.parametrize(
    ("drawn", "name"),
    [(with_belt, "belt"), (with_rope, "rope"), (with_thruster, "thruster")],
    ids=["belt", "rope", "thruster"],
)
def test_the_checks_of_the_library_pass(drawn, name):
    assert check_force(drawn(), name)["power"] < 1e-10


def test_a_belt_is_a_spring_between_two_joints():
    m = with_belt()
    twin = cc.library.four_bar()
    twin.joint_spring("C", 50.0, against="O")
    runs = [cc.simulate(x, until=0.5, rtol=1e-9) for x in (m, twin)]
    assert abs(runs[0]["O"].values[-1] - runs[0]["O"].values[0]) > 0.1  # it moves
    for name in ("O", "potential_energy", "power"):
        # ten times rtol, of some ten J or W
        np.testing.assert_allclose(runs[0][name].values, runs[1][name].values, rtol=0, atol=1e-7)
    assert np.abs(runs[0]["energy_error"].values).max() < 1e-7


def test_a_number_that_depends_on_time_does_work():
    m = with_belt(lambda t: 50 + 100 * t)
    assert check_force(m, "belt")["power"] < 1e-10
    run = cc.simulate(m, until=0.5, rtol=1e-9)
    assert np.abs(run["energy_error"].values).max() < 1e-7  # ten times rtol, of some ten J


def test_finite_elements_know_the_work_of_a_stiffness_that_depends_on_time():
    m = cc.library.four_bar(flexible=True)
    first, last = [name for name, joint in m.joints.items() if joint.a.body is m.ground][:2]
    m.force_element(Belt("belt", first, last, stiffness=lambda t: 200.0 * (1 + 100 * t)))
    run = cc.simulate(m, until=0.01, method=cc.ERLS(), rtol=1e-7)
    assert np.abs(run["energy_error"].values).max() < 1e-3


def test_its_numbers_are_parameters():
    m = with_belt()
    assert m.parameters["belt.stiffness"] == 50.0
    softer = cc.simulate(m, until=0.2, parameters={"belt.stiffness": 5.0})
    np.testing.assert_array_equal(softer["O"].values, cc.simulate(with_belt(5.0), until=0.2)["O"].values)


def test_results_have_its_efforts():
    run = cc.simulate(with_belt(), until=0.1)
    stretch = run["C"].values - run["O"].values
    np.testing.assert_allclose(run["belt C"].values, -50 * stretch, rtol=1e-12)
    np.testing.assert_allclose(run["belt O"].values, 50 * stretch, rtol=1e-12)
    assert run["belt C"].attrs["units"] == "N m"
    thrust = cc.simulate(with_thruster(), until=0.1)["thruster"]
    np.testing.assert_array_equal(thrust.values[0], [2, 0, 0, 0, 0, 0])


def test_reactions_balance_it():
    """The force in the joints is that of a mechanism with the library's own force in its place."""
    m, twin = with_thruster(), cc.library.four_bar()
    place = twin.bodies["coupler"].at(2, 0, 0, rpy=(0, 0, 0.3))
    twin.force("thruster", place, (2.0, 0, 0), axes="frame")
    mine, theirs = (cc.simulate(x, until=0.1).reaction("B").force.values for x in (m, twin))
    np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-9)  # of some ten N


def test_corners_and_jumps_are_found():
    m = with_rope()
    assert len(corners(m).zeros) == 1  # the maximum
    assert len(sampled_inputs(m).jumps) == 1  # the condition
    run = cc.simulate(with_rope(length=3.0), until=1.0, rtol=1e-9)
    slack = run["rope ground.rope"].values[:, :3]
    assert (np.abs(slack).sum(axis=1) == 0).any() and np.abs(slack).max() > 0.1  # it goes slack, and taut
    assert np.abs(run["energy_error"].values).max() < 1e-6  # some ten times rtol, of 55 J that are exchanged


def test_finite_elements_feel_it():
    """On a beam that is all but rigid, as on a rigid one."""
    angles = []
    for flexible in (False, True):
        m = cc.library.four_bar(flexible=flexible)
        first, last = [name for name, joint in m.joints.items() if joint.a.body is m.ground][:2]
        m.force_element(Belt("belt", first, last, stiffness=200.0))
        method = cc.ERLS() if flexible else cc.Multipliers()
        run = cc.simulate(m, until=0.01, t_eval=np.linspace(0, 0.01, 5), method=method, rtol=1e-7)
        energy = run["energy_error"].values
        assert np.abs(energy).max() < 1e-3
        angles.append(run["belt " + last].values)
    assert angles[0].shape == angles[1].shape


def test_it_is_copied():
    again = copy.deepcopy(with_belt())
    assert again.force_elements["belt"].stiffness.args == ("belt.stiffness",)
    assert check_force(again, "belt")["power"] < 1e-10


def test_its_numbers_may_be_functions():
    m = cc.library.four_bar()
    m.force_element(Thruster("thruster", m.bodies["coupler"], lambda t, q, v: cc.math.sin(t) - v["O"]))
    assert check_force(m, "thruster")["power"] < 1e-10


@dataclass(frozen=True, eq=False)
class Odd(Force):
    """What it does is given."""

    does: object

    def action(self, m):
        return self.does(m)


@pytest.mark.parametrize(
    ("does", "said"),
    [
        (lambda m: None, r"Odd 'odd': action must return an Action"),
        (lambda m: Action(3.0), r"consists of Along\(...\) and At\(...\), not 3"),
        (lambda m: Action(Along("Q", 1.0)), "unknown joint 'Q'"),
        (lambda m: Action(Along("O", 1.0, 2)), "joint 'O' is revolute and has 1 freedoms, none with the number 2"),
        (lambda m: Action(At(m.ground.at(1, 0, 0))), "no named frame of 'four-bar'"),
        (lambda m: Action(At(m.ground["origin"], (1.0, 2.0))), "three components each"),
        (lambda m: Action(Along("O", cc.library.pendulum().parameter("k", 1.0))), "uses the parameter 'k'"),
    ],
)
def test_an_action_that_does_not_fit_is_refused(does, said):
    m = cc.library.four_bar()
    revision = m.revision
    with pytest.raises(cc.ModelError, match=said):
        m.force_element(Odd("odd", does))
    assert m.revision == revision and not m.force_elements


@pytest.mark.parametrize(
    ("does", "said"),
    [
        (lambda m: Action(Along("O", m.joints["CC"].q)), r"asks 'four-bar' for 'CC', .*did you mean 'C'"),
        (lambda m: Action(At(m.bodies["coupler"]["tipp"])), "no frame 'tipp'; did you mean 'tip'"),
        (lambda m: Action(Along("O", lambda t: 3.0)), "each effort, power and potential must be a number"),
        (lambda m: Action(Along("O", "three")), "must be a number, a parameter or an expression, not 'three'"),
        (lambda m: Action(Along("O", 1.0), potential=None), "must be a number, a parameter or an expression, not None"),
        (lambda m: Action(At(m.bodies["coupler"].tip, 3.0)), "three components each"),
        (lambda m: Action(Along("O", (lambda t: t) * m.joints["O"].q)), "combines with numbers and expressions"),
    ],
)
def test_mistakes_of_its_author_are_told_with_its_name(does, said):
    m = cc.library.four_bar()
    revision = m.revision
    with pytest.raises(cc.ModelError, match=f"Odd 'odd'.*{said}"):
        m.force_element(Odd("odd", does))
    assert m.revision == revision and not m.force_elements


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"does": "positive_"}, "no rule 'positive_' for 'does'; did you mean 'positive'"),
        ({"dose": "positive"}, "name 'dose', which is no field of it; did you mean 'does'"),
    ],
)
def test_rules_that_do_not_exist_are_refused(wrong, said):
    class Ruled(Odd):
        rules = wrong

    m = cc.library.four_bar()
    with pytest.raises(cc.ModelError, match=f"Ruled 'odd'.*{said}"):
        m.force_element(Ruled("odd", 1.0))
    assert not m.force_elements and "odd" not in m.parameters


def test_rules_are_kept():
    with pytest.raises(cc.ModelError, match="Belt 'belt' has stiffness = -3, which must be positive"):
        with_belt(-3.0)
    with pytest.raises(cc.ModelError, match="Belt 'belt' has stiffness = -1, which must be positive"):
        cc.simulate(with_belt(), until=0.1, parameters={"belt.stiffness": -1.0})
