"""Checks find what is wrong: each is given something that has one fault."""

from dataclasses import dataclass, replace

import casadi as ca
import numpy as np
import pytest

import closedchain as cc
from closedchain.model.forces.force import Action, Along, At, Force, obey
from closedchain.model.joints.types import JOINT_TYPES, Lock, joint_type
from closedchain.model.parts import Frame
from closedchain.testing import Measured, check_force, check_formulation, check_joint, check_solver
from closedchain.testing.measured import close_to
from closedchain.testing.solvers import cases


@pytest.mark.parametrize("kind", JOINT_TYPES.values(), ids=JOINT_TYPES)
def test_joints_of_the_library_pass(kind):
    found = check_joint(kind)
    assert 0 < found["energy"] < 1e-10
    assert ("accelerations of the cut joint" in found) == (kind.name != "free")


SLOT = joint_type("slot", "Tx:0 Rz:1", "slide angle")


def other_measure(R_P, R_S, d, pitch):
    """The slide along the wrong body's axis."""
    return ca.vertcat(R_S[:, 0].T @ d, ca.atan2(R_P[:, 1].T @ R_S[:, 0], R_P[:, 0].T @ R_S[:, 0]))


def twice(R_P, R_S, d, pitch):
    """The same row twice."""
    return ca.vertcat(R_P[:, 1].T @ d, R_P[:, 1].T @ d)


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (replace(SLOT, measure=other_measure), "measured coordinates: .* is allowed"),
        (replace(SLOT, closure=("ty", "tz")), "has 2 closure rows, but locks 4 directions"),
        (replace(SLOT, closure=("tx", "tz", "align")), "gap where the joint is closed: .* is allowed"),
        (
            replace(SLOT, closure=(Lock(("y", "y again"), ("m", "m"), twice), "align")),
            "4 closure rows are not independent",
        ),
    ],
)
def test_a_wrong_joint_is_found(kind, said):
    with pytest.raises(AssertionError, match=said):
        check_joint(kind)


@dataclass(frozen=True, eq=False)
class Pull(Force):
    """A spring between two points, with a fault."""

    a: Frame
    b: Frame
    stiffness: float
    fault: str

    rules = obey(positive="stiffness")

    def action(self, m):
        way = [far - near for near, far in zip(self.a.place, self.b.place, strict=True)]
        square = sum(x * x for x in way)
        k = self.stiffness
        pull, back = [k * x for x in way], [-k * x for x in way]
        potential = k * square / (1 if self.fault == "potential" else 2)
        if self.fault == "one end":
            return Action(At(self.a, pull), potential=potential)
        if self.fault == "other axes":
            return Action(At(self.a, pull), At(self.b, back, world=False), potential=potential)
        if self.fault == "resultant":
            back[1] = back[1] + 1.0
            return Action(At(self.a, pull), At(self.b, back))
        if self.fault == "power":
            return Action(At(self.a, pull), At(self.b, back), potential=potential, power=-self.a.speed[0])
        if self.fault == "friction":
            rub = Along("O", -0.3 * m.joints["O"].v)
            return Action(At(self.a, pull), At(self.b, back), rub, potential=potential)
        return Action(At(self.a, pull), At(self.b, back), potential=potential)


def pulled(fault):
    m = cc.library.four_bar()
    m.force_element(Pull("pull", m.bodies["coupler"].tip, m.bodies["crank"].at(0.3, 0.2, 0), 30.0, fault))
    return m


def test_a_right_force_passes():
    found = check_force(pulled(""), "pull")
    assert set(found) == {"power", "gradient of the potential", "resultant"}


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("potential", "power: .* is allowed"),
        ("one end", "power: .* is allowed"),
        ("other axes", "power: .* is allowed"),
        ("resultant", "resultant: .* is allowed"),
        ("power", "power: .* is allowed"),
        ("friction", "power: .* is allowed"),
    ],
)
def test_a_wrong_force_is_found(fault, said):
    with pytest.raises(AssertionError, match=said):
        check_force(pulled(fault), "pull")


def test_a_force_that_does_nothing_tells_nothing():
    m = cc.library.four_bar()
    m.motor("O", torque=0.0, name="idle")
    with pytest.raises(AssertionError, match="'idle' exerts nothing around the start"):
        check_force(m, "idle")


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: check_force(cc.library.four_bar(), "gone"), "has no force 'gone'; it has"),
        (lambda: check_joint("slot"), "needs a JointType"),
        (lambda: check_formulation(cc.VirtualSpring(1e6, 1e3)), "closes the loops with springs"),
        (lambda: check_solver("no such"), "needs a class of a solver"),
        (lambda: check_solver(cc.solvers.SemiImplicitEuler), "marches mechanisms only"),
        (lambda: check_solver(cc.solvers.CVODES), "marches mechanisms only"),
    ],
)
def test_what_cannot_be_checked_is_refused(call, said):
    with pytest.raises(cc.ModelError, match=said):
        call()


@dataclass(frozen=True, kw_only=True)
class Boaster(cc.solvers.RK4):
    """The classical method, said to be of order 5."""

    name = "boaster"
    order = 5


def test_a_wrong_order_is_found():
    with pytest.raises(AssertionError, match=r"order on 'driven': 4\.\d+, but at least 4.65 is needed"):
        check_solver(Boaster)
    assert set(cases()) == {"driven", "quaternion", "pendulum"}


def test_measures_are_kept_and_bounded():
    found = Measured()
    found.error("error", [1.0, 200.0], [1.0, 200.1], 1e-3)
    found.error("error", [1.0], [1.0], 1e-3)
    assert found["error"] == pytest.approx(0.1 / 200.1)  # the largest
    for wrong in (np.nan, 2.0):
        with pytest.raises(AssertionError, match="at most 1 is allowed"):
            found.at_most("x", wrong, 1.0)
        with pytest.raises(AssertionError, match="at least 3 is needed"):
            found.at_least("y", wrong, 3.0)
    with pytest.raises(AssertionError, match=r"the shape is \(2,\), but \(1,\) is needed"):
        close_to([1.0, 2.0], [1.0], 1.0)
    close_to([1.0], [1.0 + 1e-12], 1e-10)
