"""Numbers that fall to zero at singular poses, and at no other; the three kinds, each where it is known by hand."""

import numpy as np
import pytest

import closedchain as cc
from closedchain.march.compiled import compiled
from closedchain.march.conditioning import Conditioning
from closedchain.march.state import parameter_vector
from tests.invariants.drawings import TILT, four_bar, parallelograms


def judge(*states, method=None):
    """Conditioning of the states of a mechanism by kind, in one call."""
    program = compiled(states[0], method or cc.Multipliers())
    x = np.array([program.pack(s.q, s.v) for s in states])
    return Conditioning(program, parameter_vector(states[0].mechanism))(np.zeros(len(states)), x)


def slider_crank(motor="O"):
    """Crank 0.1 m, rod 0.3 m."""
    m = cc.library.slider_crank()
    m.motors.clear()
    if motor == "slide":
        m.motor("slide", force=1.0)
    elif motor:
        m.motor(motor, torque=1.0)
    return m


# ---- actuation ---------------------------------------------------------------------------------------------


def test_a_crank_drives_through_its_dead_centre_and_a_piston_does_not():
    """Dead centre: the slider rests while the crank turns and the rod turns back, 0.1 O' + 0.3 (O' + A') = 0."""
    dead = 0.0
    crank, piston = (judge(*(m.assemble(O=x) for x in (dead, 1.0))) for m in map(slider_crank, ("O", "slide")))
    assert crank["actuation"][0] == pytest.approx(1 / np.hypot(1, 4 / 3), rel=1e-12)  # share of O' in (O', A', 0)
    assert piston["actuation"][0] < 1e-12 < 0.05 < piston["actuation"][1]


def test_the_motion_that_is_not_held():
    m = slider_crank("slide")
    start = m.assemble(O=0.0)
    program = compiled(start, cc.Multipliers())
    motion = Conditioning(program, parameter_vector(m)).free_motion(0.0, program.pack(start.q, start.v))
    labels = program.equations.topology.v_labels
    assert dict(zip(labels, motion, strict=True)) == pytest.approx({"O": -0.75, "A": 1.0, "slide": 0.0}, abs=1e-12)


def test_actuation_falls_with_the_distance():
    """In proportion: x = 0.1 cos O + ... has the slope -0.1 (1 + 1/3) O near the dead centre."""
    m = slider_crank("slide")
    one, two = judge(*(m.assemble(O=x) for x in (1e-3, 2e-3)))["actuation"]
    assert one == pytest.approx(0.1 * (4 / 3) * 1e-3 / np.hypot(1, 4 / 3), rel=1e-4)  # terms of third order
    assert two / one == pytest.approx(2.0, rel=1e-4)


def test_a_drive_is_an_actuator():
    """A prescribed motion is solved as a closure, but the pose is judged as with a motor in its place."""
    m = slider_crank(None)
    m.drive("O", 1.0 + cc.t)
    m.start = {}
    driven, wanted = judge(m.assemble()), judge(slider_crank("O").assemble(O=1.0))
    assert driven.keys() == wanted.keys() == {"closure", "actuation"}
    for kind, number in wanted.items():
        np.testing.assert_allclose(driven[kind], number, rtol=1e-10)


def test_fewer_actuators_than_freedoms_are_no_singularity():
    m = cc.library.five_bar()
    del m.motors["right motor.motor"]
    assert judge(m.assemble())["actuation"][0] > 0.1


# ---- closure -----------------------------------------------------------------------------------------------


def test_a_flat_parallelogram_gains_a_freedom():
    m = parallelograms(1)
    guess = {"left1": 0.0, "O1": 0.0}
    flat, near, far = (m.assemble(O0=x, guess={"left1": -x, "O1": x} if x else guess) for x in (0.0, 1e-3, 1.0))
    got = judge(near, flat, far)["closure"]
    assert got[1] < 1e-9 < got[0] < 2e-3 and got[2] > 0.1


def test_rows_that_always_repeat_others_are_no_singularity():
    """The planar loop, turned in space, has five rows of rank two."""
    flat, turned = four_bar(), four_bar(R=TILT)
    assert judge(turned.assemble())["closure"][0] > 0.1
    # rows in units of their common size: the number does not depend on the axes of the drawing
    np.testing.assert_allclose(judge(turned.assemble())["closure"], judge(flat.assemble())["closure"], rtol=1e-9)


# ---- output ------------------------------------------------------------------------------------------------


def stretched_right_leg(by=0.0):
    """Proximal and distal rod of the right side in one line, the tip 0.6 m less ``by`` from its motor."""
    m = cc.library.five_bar()
    reach, left = 0.6 - by, np.array([-0.1, 0.0])
    tip = np.array([0.1, 0.0]) + reach * np.array([np.cos(2.0), np.sin(2.0)])
    right = 2.0 - np.arccos((0.25**2 + reach**2 - 0.35**2) / (2 * 0.25 * reach)) if by else 2.0
    d = np.linalg.norm(tip - left)
    toward = np.arctan2(*(tip - left)[::-1])
    motor = toward + np.arccos((0.25**2 + d**2 - 0.35**2) / (2 * 0.25 * d))
    return m.assemble({"left motor": motor, "right motor": right}, guess={"left elbow": -1.1, "right elbow": 0.01})


def test_a_stretched_leg_holds_the_output():
    near, generic = stretched_right_leg(1e-6), cc.library.five_bar().assemble()
    program = compiled(generic, cc.Multipliers())
    x = [program.pack(s.q, s.v) for s in (generic, near)]
    got = Conditioning(program, parameter_vector(generic.mechanism))(np.zeros(2), np.array(x))["output"]
    # 1e-6 m off the full stretch bends the elbow by some 4e-3 rad
    assert got[0] > 0.1 and got[1] < 1e-2


# ---- what does not matter ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "method",
    [cc.VirtualSpring(1e5), cc.Projection(), cc.IndependentCoordinates(), cc.DeNOC()],
    ids=lambda x: type(x).__name__,
)
def test_the_pose_counts_and_not_the_method(method):
    state = cc.library.five_bar().assemble()
    got, wanted = judge(state, method=method), judge(state)
    assert got.keys() == wanted.keys() == {"closure", "actuation", "output"}
    for kind, number in wanted.items():
        np.testing.assert_allclose(got[kind], number, rtol=1e-12)


@pytest.mark.parametrize("name", ["four-bar", "five-bar", "rrr3", "gough-stewart", "delta"])
def test_numbers_lie_between_zero_and_one(name):
    m = cc.library.get(name).build()
    run = cc.simulate(m, until=0.2, rtol=1e-6)
    program = run.program
    for number in Conditioning(program, run.p)(run.t, run.x).values():
        assert number.shape == run.t.shape and (number > 1e-3).all() and (number <= 1).all()


def test_kinds_that_a_mechanism_does_not_have_are_left_out():
    m = cc.library.pendulum()
    assert judge(m.assemble()) == {}
    m.motor("hinge", torque=1.0)
    assert judge(m.assemble())["actuation"].tolist() == [1.0]
