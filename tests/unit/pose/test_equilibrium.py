"""Poses at which mechanisms rest: known ones, and proof by simulation that nothing moves there."""

import numpy as np
import pytest

import closedchain as cc
from tests.invariants import drawings

# where nothing moves no error shortens the steps: one over the whole run would add errors of its own
SHORT_STEPS = cc.solvers.DOP853(max_step=0.02)


def sprung_four_bar(cut=None, coupler=2.5):
    m = cc.Mechanism("sprung four-bar", gravity=(0, -9.81, 0))
    crank, bar, rocker = (m.body(x, cc.rod(n, mass=y)) for x, n, y in (("a", 1, 1), ("b", 2.5, coupler), ("c", 2, 2)))
    for name, a, b, guess in (
        ("O", m.ground, crank, 1.0),
        ("A", crank.tip, bar, -0.6),
        ("B", bar.tip, rocker.tip, 0.8),
        ("C", m.ground.at(2, 0, 0), rocker, 1.2),
    ):
        m.revolute(name, a, b, guess=guess, cut=True if cut == name else None)
        m.joint_spring(name, 20.0, rest=guess)
    m.start = {"O": 1.0}
    return m


def follower():
    """Beck's problem with two rods: springs, and a force along the last rod that turns with it; it has no potential."""
    m = cc.Mechanism("follower", gravity=(0, -9.81, 0))
    one, two = (m.body(x, cc.rod(1.0, mass=1.0)) for x in ("one", "two"))
    for name, a, b in (("lower", m.ground, one), ("upper", one.tip, two)):
        m.revolute(name, a, b)
        m.joint_spring(name, 60.0, rest=0.3)
    m.force("thrust", two.tip, (-10.0, 5.0, 0), axes="frame")
    return m


def test_a_pendulum_hangs_from_wherever_it_is_let_go():
    m = cc.library.pendulum()
    for angle in np.linspace(-4.5, 1.5, 13):
        rest = m.equilibrium({"hinge": angle})
        assert rest["hinge"] == pytest.approx(-np.pi / 2, abs=1e-14)
        assert not rest.v.any()


def test_an_unstable_one_is_found_from_itself():
    m = cc.library.pendulum()
    assert m.equilibrium({"hinge": cc.pi / 2})["hinge"] == pytest.approx(np.pi / 2, abs=1e-14)


def test_a_spring_against_a_weight():
    m = cc.Mechanism("scale")
    m.prismatic("slide", m.ground, m.body("pan", cc.box((0.1, 0.1, 0.1), mass=3.0)))
    m.joint_spring("slide", 200.0, rest=0.5)
    assert m.equilibrium()["slide"] == pytest.approx(0.5 - 3.0 * 9.81 / 200.0, abs=1e-15)


@pytest.mark.parametrize("draw", [sprung_four_bar, lambda: sprung_four_bar(coupler=0.0), follower, drawings.bennett])
def test_nothing_moves_there(draw):
    m = draw()
    rest = m.equilibrium()
    run = cc.simulate(m, rest, until=1.0, rtol=1e-11, method=cc.Multipliers(), solver=SHORT_STEPS)
    for name in rest.coordinates:
        # accelerations of rounding, 1e-13, over one second
        assert np.abs(run[name].values - rest[name]).max() < 1e-11


@pytest.mark.parametrize(
    "name", ["gough-stewart", "delta", "hexaglide", "pacdrive", "arms-with-box", "hexapod", "walker"]
)
def test_robots_of_the_library_rest(name):
    m = cc.library.get(name).build()
    about = m.linearise(m.equilibrium(), outputs=[])
    assert about.in_equilibrium and about.stable


def test_every_cut_gives_the_same_pose():
    poses = [sprung_four_bar(cut).equilibrium().coordinates for cut in (None, "O", "A", "B", "C")]
    for pose in poses[1:]:
        assert [pose[x] for x in "OABC"] == pytest.approx([poses[0][x] for x in "OABC"], abs=1e-13)


def test_a_spring_on_a_cut_hinge_keeps_its_turns():
    m = sprung_four_bar("B")
    wound = m.equilibrium(m.assemble(O=1.0, guess={"B": 0.8 + 2 * np.pi}))
    assert wound["B"] > 5.0
    assert abs(wound["O"] - m.equilibrium()["O"]) > 0.1
    run = cc.simulate(m, wound, until=1.0, rtol=1e-12, solver=SHORT_STEPS)
    assert np.abs(run["B"].values - wound["B"]).max() < 1e-11  # as above


def test_the_energy_is_least_there():
    m = sprung_four_bar()
    rest = m.equilibrium()

    def energy(h):
        s = m.assemble(O=rest["O"] + h, guess=rest.coordinates)
        return float(cc.simulate(m, s, until=0.0)["potential_energy"][0])

    # of second order on both sides
    assert energy(1e-3) - energy(0) > 0 and energy(-1e-3) - energy(0) > 0
    assert energy(1e-3) + energy(-1e-3) - 2 * energy(0) > 1e2 * abs(energy(1e-3) - energy(-1e-3))


def test_a_crank_holds_its_torque_until_it_is_too_large():
    m = cc.library.four_bar()
    rest = m.equilibrium()
    assert m.linearise(rest).stable

    with pytest.raises(cc.AssemblyError, match=r"no equilibrium of 'four-bar' was found .* N m still act on"):
        m.equilibrium(parameters={"O.motor": 100.0})


def test_where_nothing_pushes_it_stays():
    m = cc.library.rrr3()
    start = m.assemble()
    rest = m.equilibrium(start)
    assert rest.q == pytest.approx(start.q, abs=1e-12)


def test_drives_hold_their_position_at_the_given_time():
    m = cc.library.four_bar(0.0)
    m.start = {}
    m.drive("O", 1.0 + cc.math.where(cc.t < 1.0, cc.t, 1.0))
    m.revolute("swing", m.bodies["coupler"].tip, m.body("bob", cc.rod(0.5, mass=1.0)), guess=-1.0)
    with pytest.raises(cc.ModelError, match="drives move"):
        m.equilibrium()
    rest = m.equilibrium(time=2.0)
    assert (rest["O"], rest.t) == (pytest.approx(2.0), 2.0)
    # the bob hangs straight down, whatever the coupler does
    down = rest["O"] + rest["A"] + rest["swing"]
    assert np.cos(down) == pytest.approx(0.0, abs=1e-12) and np.sin(down) == pytest.approx(-1.0)


def test_stops_carry_what_leans_on_them():
    m = cc.Mechanism("lid", gravity=(0, -9.81, 0))
    lid = m.body("lid", cc.rod(1.0, mass=2.0))
    m.revolute("hinge", m.ground, lid, limits=cc.Stops(-0.2, 3.0, stiffness=500.0, damping=1.0))
    angle = m.equilibrium({"hinge": 1.0})["hinge"]
    assert 500.0 * (-0.2 - angle) == pytest.approx(9.81 * np.cos(angle), rel=1e-12)


def test_parameters_and_states_as_a_guess():
    m = sprung_four_bar()
    rest = m.equilibrium()
    heavy = m.equilibrium(rest, parameters={"c.mass": 4.0})
    assert heavy.parameters == {"c.mass": 4.0}
    assert abs(heavy["O"] - rest["O"]) > 1e-3
    assert m.equilibrium(heavy, parameters={"c.mass": 2.0})["O"] == pytest.approx(rest["O"], abs=1e-13)


def test_wrong_calls_are_told_in_a_sentence():
    m = cc.library.pendulum()
    with pytest.raises(cc.ModelError, match=r"needs a cc\.Mechanism"):
        cc.Mechanism.equilibrium("m")
    with pytest.raises(cc.ModelError, match="guess must be a mapping by coordinate"):
        m.equilibrium(3.0)
    with pytest.raises(cc.ModelError, match="takes a mapping"):
        m.equilibrium(parameters=[1])
    with pytest.raises(cc.ModelError, match="belongs to mechanism"):
        m.equilibrium(cc.library.four_bar().assemble())
    loose = cc.Mechanism("loose", gravity=(0, -9.81, 0))
    arm = loose.body("arm", cc.rod(1.0, mass=1.0))
    loose.revolute("hinge", loose.ground, arm)
    loose.spherical("elbow", arm.tip, loose.body("needle", cc.rod(1.0, mass=1.0)))
    with pytest.raises(cc.ModelError, match=r"'elbow\.wx' has no inertia"):
        loose.equilibrium()


def test_a_beam_with_many_shapes_sags():
    """Frequencies from some to some hundred thousand radians a second: the low ones are no flat valleys."""
    m = cc.Mechanism("cantilever", gravity=(0, 0, 0))
    beam = m.body("beam", cc.rod(length=0.8, mass=0.5))
    beam.flexible(
        E=70e9, section=cc.Section.rectangle(y=0.02, z=0.012), shapes=cc.shapes.polynomials(y=8, axial=3)
    )  # fmt: skip
    m.weld("root", m.ground, beam)
    m.force("load", beam.tip, (0, -100, 0))
    rest = m.equilibrium()
    # P L^3 / (3 E I) by two powers, the others not at all
    EI = 70e9 * 0.012 * 0.02**3 / 12
    assert rest["beam.y1"] + rest["beam.y2"] == pytest.approx(-100 * 0.8**3 / (3 * EI), rel=1e-6)


def test_a_modulus_that_cannot_be_is_refused():
    m = cc.library.flexible_arm()
    with pytest.raises(cc.ModelError, match="'beam': its E is -1 Pa"):
        m.equilibrium(parameters={"beam.E": -1.0})
