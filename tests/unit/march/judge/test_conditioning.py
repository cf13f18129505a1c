"""Numbers that fall to zero at singular poses, and at no other; the three kinds, each where it is known by hand."""

import casadi as ca
import numpy as np
import pytest
from scipy.linalg import null_space

import closedchain as cc
from closedchain.march.judge.conditioning import Conditioning
from closedchain.march.program.compiled import compiled
from closedchain.pose.size import drawn_length
from closedchain.pose.state import parameter_vector
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
    # slides are compared with angles by the length of the rod, 0.3 m; what is left are terms of third order
    assert one == pytest.approx(0.1 / 0.3 * (4 / 3) * 1e-3 / np.hypot(1, 4 / 3), rel=1e-4)
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


@pytest.mark.filterwarnings("ignore:degenerate assembly")  # the pose is held on purpose
def test_a_flat_parallelogram_gains_a_freedom():
    m = parallelograms(1)
    guess = {"left1": 0.0, "O1": 0.0}
    flat, near, far = (m.assemble(O0=x, guess={"left1": -x, "O1": x} if x else guess) for x in (0.0, 1e-3, 1.0))
    got = judge(near, flat, far)["closure"]
    assert got[1] < 1e-9 < got[0] < 2e-3 and got[2] > 0.1


@pytest.mark.parametrize("driven", [False, True])
@pytest.mark.filterwarnings("ignore:degenerate assembly")  # the pose is held on purpose
def test_a_flat_pose_is_singular_though_no_other_is_seen(driven):
    """With a drive, too: how many rows of the loops are independent elsewhere is known from poses around it."""
    m = parallelograms(1)
    m.start, m.start_velocity = {}, {}
    if driven:
        m.drive("O0", 1.0 - cc.t)
    flat = m.assemble(time=1.0, guess={"O0": 0.0, "left1": 0.0, "O1": 0.0}, **({} if driven else {"O0": 0.0}))
    assert judge(flat)["closure"][0] < 1e-9


def test_the_springs_of_a_gap_make_no_rank():
    """Off the closed poses rows that repeat others seem to say something of their own: not here."""
    m = four_bar(R=TILT)
    method = cc.VirtualSpring(1e4)
    run = cc.simulate(m, until=0.3, method=method, t_eval=[0.1, 0.2, 0.3])
    assert run.closure_error.max() > 1e-6  # or there is nothing to see
    assert run["closure_conditioning"].min() > 0.1


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
    """The tip is the output: that its rod can still turn about it is no way out."""
    stretched, near, generic = stretched_right_leg(), stretched_right_leg(1e-6), cc.library.five_bar().assemble()
    # rounding
    assert judge(stretched)["output"][0] < 1e-12
    # 1e-6 m off the full stretch bends the elbow by some 4e-3 rad
    assert 1e-12 < judge(near)["output"][0] < 1e-2
    assert judge(generic)["output"][0] > 0.1


def test_a_dead_centre_holds_the_slider():
    """One freedom: the smallest singular value is the largest, and is compared with what the joints could do."""
    m = slider_crank("O")
    m.output = m.bodies["slider"]["origin"]
    dead, near, far = (judge(m.assemble(O=x))["output"][0] for x in (0.0, 1e-3, 1.0))
    assert dead < 1e-12
    # slide' = -0.1 (1 + 1/3) O O', over the size of (O', A', slide') = (1, -4/3, 0) O'
    # and slides compared with angles by the length of the rod
    assert near == pytest.approx(0.1 / 0.3 * (4 / 3) * 1e-3 / np.hypot(1, 4 / 3), rel=1e-4)  # terms of third order
    assert far > 0.05


@pytest.mark.parametrize(
    ("name", "rows"),
    [("five-bar", slice(3, 6)), ("delta", slice(3, 6)), ("rrr3", slice(0, 6)), ("gough-stewart", slice(0, 6))],
)
def test_the_output_is_a_point_if_the_point_has_all_freedoms(name, rows):
    """The singular values of the velocity of the point, or of the whole twist, over all motions of unit size."""
    m = cc.library.get(name).build()
    state = m.assemble()
    program = compiled(state, cc.Multipliers())
    e = program.equations
    J = e.motion.frame(m.output).J
    f = e.function("output", {"J": ca.vertcat(J.ang, J.lin), "A": e.closure.A})
    J, A = (np.array(x) for x in f(0.0, state.q, state.v, parameter_vector(m)))
    # lengths in units of the drawing's own
    length = drawn_length(e, parameter_vector(m))
    units = [unit for link in e.topology.links for unit in link.joint.type.velocity_units]
    slides = np.where(np.array(units) == "m/s", length, 1.0)
    J, A = J * slides / np.repeat([1.0, length], 3)[:, None], A * slides
    s = np.linalg.svd(J[rows] @ null_space(A, rcond=1e-9), compute_uv=False)
    freedoms = m.mobility().true
    assert (s > 1e-9).sum() == freedoms
    wanted = s[freedoms - 1] / np.linalg.norm(J[rows], 2)
    assert judge(state)["output"][0] == pytest.approx(wanted, rel=1e-9)


def test_a_point_on_a_fixed_axis_is_no_output():
    """The far pivot of a four-bar rests but for rounding; what moves there is the rocker's angle."""
    m = four_bar(R=TILT, cut="C")
    m.output = m.bodies["rocker"]["near"]
    assert judge(m.assemble())["output"][0] > 0.05


@pytest.mark.parametrize("scale", [1e-4, 1e-2, 1e2])
def test_the_unit_of_length_does_not_matter(scale):
    def numbers(scale):
        m = cc.Mechanism("slider-crank", gravity=(0, 0, 0))
        crank, rod = m.body("crank", cc.rod(0.1 * scale, mass=1.0)), m.body("rod", cc.rod(0.3 * scale, mass=1.0))
        slider = m.body("slider", cc.ball(0.05 * scale, mass=1.0))
        m.revolute("O", m.ground, crank)
        m.revolute("A", crank.tip, rod, guess=-1.2)
        m.prismatic("slide", m.ground, slider, axis=(1, 0, 0), guess=0.3 * scale)
        m.revolute("B", rod.tip, slider)
        m.motor("slide", force=1.0)
        m.output = slider["origin"]
        return judge(m.assemble(O=1.0))

    wanted = numbers(1.0)
    for kind, number in numbers(scale).items():
        np.testing.assert_allclose(number, wanted[kind], rtol=1e-9)


# ---- a function of the pose --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["five-bar", "rrr3", "gough-stewart"])
def test_numbers_belong_to_a_pose_and_not_to_the_run(name):
    run = cc.simulate(cc.library.get(name).build(), until=0.3, rtol=1e-6, t_eval=[0.0, 0.1, 0.2, 0.3])
    conditioning = Conditioning(run.program, run.p)
    for i in (3, 0, 2):
        alone = Conditioning(run.program, run.p)(run.t[i : i + 1], run.x[i : i + 1])
        assert alone.keys() == {"closure", "actuation", "output"}
        for kind, number in alone.items():
            np.testing.assert_allclose(conditioning(run.t, run.x)[kind][i], number[0], rtol=1e-12)


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
