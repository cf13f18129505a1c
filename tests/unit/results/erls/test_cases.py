"""Runs by ERLS of all kinds of starts, loads and drives; and what they refuse."""

import numpy as np
import pytest

import closedchain as cc
from closedchain.close.erls import ERLS
from closedchain.erls.beams import end_forces
from closedchain.errors import ModelError, RunError, RunWarning

SECTION = cc.Section.rectangle(y=0.02, z=0.03)
SHAPES = cc.shapes.polynomials(y=1)


def cantilever(**options):
    """A beam of 0.5 m on a hinge."""
    m = cc.Mechanism("cantilever", gravity=(0, -9.81, 0))
    beam = m.body("beam", cc.rod(0.5, 0.81))
    beam.flexible(E=7e10, section=SECTION, shapes=SHAPES, **options)
    m.revolute("hinge", m.ground, beam)
    return m


def four_bar(E=1e9, **options):
    m = cc.library.four_bar()
    for name in ("coupler", "rocker"):
        m.bodies[name].flexible(E=E, section=cc.Section.rectangle(y=0.1, z=0.1), shapes=SHAPES, **options)
    return m


# ---- damping ---------------------------------------------------------------------------------------------------------


def test_damping_by_stiffness_leaves_a_turning_wheel_alone():
    """A balanced wheel at the tip of a cantilever, whose frame is that of the joint: its turning strains nothing."""
    m = cc.Mechanism("wheel", gravity=(0, -9.81, 0))
    beam, wheel = m.body("beam", cc.rod(1.0, 1.62)), m.body("wheel", cc.disc(0.1, 2.0))
    beam.flexible(E=7e10, section=SECTION, shapes=SHAPES, rayleigh=(0.0, 1e-3))
    m.revolute("clamp", m.ground, beam)
    m.drive("clamp", 0.0)
    m.revolute("axle", beam.tip, wheel)
    run = cc.simulate(m, m.assemble(velocity={"axle": 50.0}), until=0.2, rtol=1e-8, method=cc.ERLS())
    assert np.abs(run.beam("beam").displacement[:, :, 0]).max() < 1e-8  # of a sag of 17 mm; it was pulled by 0.5 mm
    assert (np.diff(run.dataset["work"].values) <= 0).all()
    assert run.good


def test_section_forces_have_damping_in_them():
    """At a hinge there is no moment but the motor's, and what an element exerts on a node the next one takes."""
    m = cantilever(rayleigh=(2.0, 1e-4), damping=0.05)
    m.motor("hinge", torque=5.0)
    run = cc.simulate(m, until=0.02, rtol=1e-6, method=ERLS(elements=3), t_eval=np.linspace(0, 0.02, 11))
    assert run.beam("beam", [0.0])["Mz"].values == pytest.approx(-5.0, abs=1e-9)
    forces = end_forces(run.solution.system, run.solution.samples, run.t, run.solution.balanced.x, "beam")
    assert np.abs(forces[:, 1:, 0] - forces[:, :-1, 1]).max() < 1e-9  # N and N m
    assert np.abs(forces[:, -1, 1, 5]).max() < 1e-9 < np.abs(forces[:, :, 0, 5]).min()


# ---- samples ---------------------------------------------------------------------------------------------------------


def test_few_samples_are_those_of_many():
    """Between two samples the mechanism may turn by any angle: its loops are closed by the march."""
    m = four_bar()
    many = cc.simulate(m, until=1.5, rtol=1e-6, t_eval=np.linspace(0, 1.5, 301), method=cc.ERLS())
    few = cc.simulate(m, until=1.5, rtol=1e-6, t_eval=[0.0, 1.5], method=cc.ERLS())
    assert np.abs(many["B"].values[[0, -1]] - few["B"].values).max() < 1e-12
    assert np.abs(few.energy_error.values - many.energy_error.values[[0, -1]]).max() < 1e-12
    assert few.closure_error.values.max() < 1e-12


def test_accelerations_at_samples_are_those_of_the_equations():
    """At a free hinge there is no moment, at whatever time one looks; and accelerations are those of a finer run."""
    times = np.linspace(0.0, 0.05, 40)
    run = cc.simulate(cantilever(), until=0.05, rtol=1e-6, t_eval=times, method=cc.ERLS())
    ends = run.solution.motion.x[:, 2] - run.solution.balanced.x[:, 2]
    assert np.abs(ends).max() > 10.0  # rad/s^2: a line between the ends of steps says little of modes of 500 Hz
    assert np.abs(run.beam("beam", [0.0])["Mz"].values).max() < 1e-9
    # with fast modes damped away a run with a coarse tolerance is as good as its steps
    m = cantilever(rayleigh=(0.0, 2e-5))
    run, fine = (
        cc.simulate(m, until=0.06, rtol=rtol, t_eval=np.linspace(0.01, 0.06, 40), method=cc.ERLS())
        for rtol in (1e-7, 1e-9)
    )
    gap = [
        np.abs(x - fine.solution.balanced.x[:, 2]).max()
        for x in (run.solution.balanced.x[:, 2], run.solution.motion.x[:, 2])
    ]
    assert gap[0] < 0.7 * gap[1] and gap[0] < 0.1 * np.abs(fine.solution.balanced.x[:, 2]).max()


# ---- drives ----------------------------------------------------------------------------------------------------------


def test_the_work_of_drives_counts():
    m = cantilever(rayleigh=(0.0, 1e-5))
    m.drive("hinge", 0.3 * cc.math.sin(20 * cc.t))
    run = cc.simulate(m, until=0.3, rtol=1e-7, method=cc.ERLS())
    exchanged = float(np.ptp(run.solution.samples.energy))
    assert exchanged > 0.05 and np.abs(run.energy_error.values).max() < 1e-4 * exchanged
    assert run.good


# ---- what is zeroed --------------------------------------------------------------------------------------------------


def test_a_zeroed_displacement_that_stops_moving_ends_the_run():
    """The rocker reverses: its rotation does not tell the angle of the crank there."""
    m = cc.library.four_bar(flexible=True)
    with pytest.raises(RunError, match=r"'rocker\.0\.rz' does not change with them there") as caught:
        cc.simulate(m, until=2.0, rtol=1e-5, method=ERLS(zero=("rocker.0.rz",)))
    run = caught.value.run
    health = run.dataset["zeroed_health"].values
    assert (health > 0).all() and health[-1] < 0.2 * health[0]
    assert "regular there are for instance cc.ERLS(zero=('" in str(caught.value)


def test_a_motor_at_a_cut_joint_or_none():
    """A rigid link on the ground gives the coordinate then, and is not displaced."""
    for motor in (None, "B"):
        m = cc.Mechanism("four-bar", gravity=(0, -9.8, 0))
        crank, coupler, rocker = (
            m.body(k, cc.rod(x, 1.0)) for k, x in (("crank", 1.0), ("coupler", 4.0), ("rocker", 2.5))
        )
        coupler.flexible(E=1e9, section=cc.Section.rectangle(y=0.1, z=0.1), shapes=SHAPES)
        m.revolute("O", m.ground, crank, guess=1.57)
        m.revolute("A", crank.tip, coupler, guess=-1.2)
        m.revolute("C", m.ground.at(3, 0, 0), rocker, guess=1.3)
        m.revolute("B", coupler.tip, rocker.tip, cut=True)
        if motor:
            m.motor(motor, torque=0.1)
        run = cc.simulate(m, until=0.02, rtol=1e-5, method=cc.ERLS())
        assert run.solution.system.labels[-1] == "O" and list(run.zeroed) == ["crank.0.rz"]
        assert run.solution.system.health > 0.1


def test_a_poor_choice_is_told():
    """The rocker's rotation where it hardly moves with the crank."""
    m = cc.library.four_bar(flexible=True)
    poor = m.assemble(O=0.4)
    with pytest.warns(RunWarning, match=r"\(rocker.0.rz\) determine its coordinates q poorly \(health 0.01 of 1\)"):
        cc.simulate(m, poor, until=1e-3, rtol=1e-4, method=ERLS(zero=("rocker.0.rz",)))


def test_names_of_displacements_can_be_given_back():
    """Also where a joint inside a beam has a node of its own, and where a freedom has the name of its joint."""
    m = cc.Mechanism("branch", gravity=(0, -9.81, 0))
    beam, twig = m.body("beam", cc.rod(1.0, 1.0)), m.body("twig", cc.rod(0.3, 0.2))
    beam.flexible(E=7e10, section=SECTION, shapes=SHAPES)
    m.revolute("root", m.ground, beam)
    m.revolute("fork", beam.at(0.3, 0, 0), twig)
    run = cc.simulate(m, until=1e-3, rtol=1e-4, method=ERLS(elements=4))
    assert run.displacements[-4:] == ("beam.4.x", "beam.4.y", "beam.4.rz", "twig.0.rz")
    assert np.allclose(run.solution.system.mesh.places[:5, 0], [0.0, 0.3, 0.3 + 0.7 / 3, 0.3 + 1.4 / 3, 1.0])
    for name in ("beam.1.y", "beam.2.y", "beam.3.rz"):
        other = cc.simulate(m, until=1e-3, rtol=1e-4, method=ERLS(elements=4, zero=(name, "twig.0.rz")))
        assert list(other.zeroed) == [name, "twig.0.rz"]
        assert np.allclose(other.solution.system.mesh.places, run.solution.system.mesh.places, atol=1e-12)


# ---- numbers ---------------------------------------------------------------------------------------------------------


def test_nodes_follow_the_parameters():
    """A force that is moved along a beam by a parameter has its node there."""
    m = cc.Mechanism("pushed", gravity=(0, 0, 0))
    beam = m.body("beam", cc.rod(1.0, 1.0)).flexible(E=7e10, section=SECTION, shapes=SHAPES)
    m.weld("clamp", m.ground, beam)
    m.force("push", beam.at(m.parameter("place", 0.5), 0, 0), (0, 10.0, 0))
    stiffness = 7e10 * 0.03 * 0.02**3 / 12
    for place in (0.5, 0.8):
        run = cc.simulate(m, until=1e-3, rtol=1e-4, method=ERLS(start="sagged"), parameters={"place": place})
        sag = run.deflection("beam", 1.0).sel(axis="y").values
        # closed form of a cantilever with a force inside; it stays at rest there
        assert np.abs(sag / (10.0 * place**2 * (3 - place) / (6 * stiffness)) - 1).max() < 1e-6
    m.parameters["place"] = 0.25
    run = cc.simulate(m, until=1e-3, rtol=1e-4, method=cc.ERLS())
    assert 0.25 in run.solution.system.mesh.places[:, 0]


def test_parameters_are_checked():
    m = cantilever()
    with pytest.raises(ModelError, match="'beam': its E is -1 Pa"):
        cc.simulate(m, until=0.01, parameters={"beam.E": -1.0}, method=cc.ERLS())


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"rho_inf": "a"}, "rho_inf is between"),
        ({"rho_inf": True}, "rho_inf is between"),
        ({"zero": None}, "zero is 'chord', 'base' or names"),
        ({"zero": 3}, "zero is 'chord', 'base' or names"),
        ({"zero": ("a", "a")}, "each of them once"),
        ({"rayleigh": 1.0}, "rayleigh is alpha and beta"),
        ({"rayleigh": (1.0, -1.0)}, "rayleigh is alpha and beta"),
        ({"stiffening": "yes"}, r"stiffening \(None: as each body says\) is True or False, not 'yes'"),
        ({"elements": True}, r"elements \(of each .*\) must be a whole number of at least 1, not True"),
        ({"elements": {"beam": 0.5}}, "elements of 'beam' must be a whole number of at least 1, not 0.5"),
        ({"terms": None}, "terms must be 'consistent' or 'paper', not None"),
        ({"start": "bent"}, "start must be 'undeformed' or 'sagged', not 'bent'"),
        ({"coordinates": 3}, "coordinates are names"),
    ],
)
def test_options_say_what_they_take(options, said):
    with pytest.raises(ModelError, match=said):
        ERLS(**options)


def test_options_of_numpy():
    method = ERLS(np.int64(3), rho_inf=np.float64(0.5), rayleigh=np.array([0.1, 1e-4]), stiffening=np.True_)
    assert method == ERLS(3, rho_inf=0.5, rayleigh=(0.1, 1e-4), stiffening=True)
    assert hash(method) == hash(ERLS(3, rho_inf=0.5, rayleigh=(0.1, 1e-4), stiffening=True))


def test_a_load_out_of_the_plane_is_carried():
    m = cc.Mechanism("sideways", gravity=(0, 0, 0))
    beam = m.body("beam", cc.rod(1.0, 1.0)).flexible(E=7e10, section=SECTION, shapes=SHAPES)
    m.weld("clamp", m.ground, beam)
    m.force("push", beam.tip, (0, 0, 10.0))
    run = cc.simulate(m, until=1e-3, rtol=1e-4, method=ERLS(start="sagged"))
    sag = run.deflection("beam", 1.0).sel(axis="z").values
    assert sag == pytest.approx(10.0 / (3 * 7e10 * 0.02 * 0.03**3 / 12), rel=1e-6)


# ---- starts ----------------------------------------------------------------------------------------------------------


def test_a_run_goes_on_from_its_state():
    m = cantilever()
    times = np.linspace(0, 0.04, 5)
    whole = cc.simulate(m, until=0.04, rtol=1e-9, t_eval=times, method=cc.ERLS())
    half = cc.simulate(m, until=0.02, rtol=1e-9, t_eval=times[:3], method=cc.ERLS())
    rest = cc.simulate(m, half.state(), until=0.04, rtol=1e-9, t_eval=times[2:], method=cc.ERLS())
    assert np.abs(rest.u.values[0] - half.u.values[-1]).max() == 0.0
    assert np.abs(rest.frame("beam.tip").position.values[-1] - whole.frame("beam.tip").position.values[-1]).max() < 1e-8
    with pytest.raises(ModelError, match=r"is deformed .* go on with the elements"):
        cc.simulate(m, half.state(), until=0.04, method=ERLS(elements=5))
    with pytest.raises(ModelError, match="numbered 0 to 2"):
        half.state(3)


def test_a_sagged_beam_stays_where_it_is():
    m = cantilever()
    m.drive("hinge", 0.0)
    run = cc.simulate(m, until=0.05, method=ERLS(elements=3, start="sagged"), rtol=1e-7)
    sag = run.deflection("beam", 1.0).sel(axis="y").values
    assert np.ptp(sag) < 1e-9
    assert sag[0] == pytest.approx(-0.81 / 0.5 * 9.81 * 0.5**4 / (8 * 7e10 * 0.03 * 0.02**3 / 12), rel=1e-9)
    # on two hinges that efforts hold, the chord is where it was asked to be
    arm = cc.simulate(cantilever(), until=1e-4, method=ERLS(start="sagged"), rtol=1e-6)
    assert abs(float(arm.rigid["hinge"][0])) < 1e-15 < float(arm["hinge"][0])


# ---- structures ------------------------------------------------------------------------------------------------------


def test_a_structure_of_welds():
    """No coordinate q is left: a clamped beam rings with its own frequencies."""
    m = cc.Mechanism("structure", gravity=(0, -9.81, 0))
    m.body("beam", cc.rod(0.5, 0.81)).flexible(E=7e10, section=SECTION, shapes=SHAPES)
    m.weld("clamp", m.ground, m.bodies["beam"])
    run = cc.simulate(m, until=0.02, rtol=1e-7, method=cc.ERLS())
    clamped = cantilever()
    clamped.drive("hinge", 0.0)
    other = cc.simulate(clamped, until=0.02, rtol=1e-7, method=cc.ERLS())
    assert run.solution.system.n_q == 0 and not run.zeroed and run.good
    gap = run.frame("beam.tip").position.values - other.frame("beam.tip").position.values
    assert np.abs(gap).max() < 1e-9
    away = run.tip_deflection("beam.tip")["distance"].values
    assert away.max() == pytest.approx(np.abs(run.beam("beam", [0.5]).displacement[:, 0, 1]).max(), rel=1e-6)


# ---- modal damping ---------------------------------------------------------------------------------------------------


def test_modal_damping_is_that_of_the_shapes():
    """Of a beam on two pins with sines for shapes: the ratio of its first two modes, none of others."""
    from closedchain.erls.matrices import tangents
    from closedchain.erls.system import system
    from closedchain.erls.workspace import Workspace

    m = cc.Mechanism("pins", gravity=(0, 0, 0))
    beam = m.body("beam", cc.rod(1.0, 1.0))
    beam.flexible(E=7e10, section=SECTION, shapes=cc.shapes.pinned_pinned(y=2), damping=0.03)
    m.revolute("left", m.ground, beam)
    m.revolute("right", m.ground.at(1.0, 0, 0), beam.tip)
    made = system(m, m.assemble(), ERLS(elements=12))
    ws = Workspace(made)
    y, v = made.at_rest()
    M, C, K = tangents(ws, 0.0, y, v, np.zeros(made.n))
    n = made.n
    A = np.block([[np.zeros((n, n)), np.eye(n)], [-np.linalg.solve(M, K), -np.linalg.solve(M, C)]])
    values = np.linalg.eigvals(A)
    values = values[values.imag > 1.0]
    values = values[np.argsort(np.abs(values))][:3]
    ratios = -values.real / np.abs(values)
    assert ratios == pytest.approx([0.03, 0.03, 0.0], abs=1e-4)  # the mesh and the sines differ by 1e-5


# ---- pictures --------------------------------------------------------------------------------------------------------


def test_pictures(tmp_path):
    m = four_bar()
    run = cc.simulate(m, until=0.3, rtol=1e-5, t_eval=np.linspace(0, 0.3, 5), method=cc.ERLS())
    drawn = np.array([[0.0, 0, 0], [1.3, 0, 0], [4.0, 0, 0]])
    there = run.points("coupler", drawn)
    assert np.abs(there[:, 2] - run.frame("coupler.tip").position.values).max() < 1e-14
    assert np.abs(there[:, 0] - run.points("crank", np.array([[1.0, 0, 0]]))[:, 0]).max() < 1e-12
    assert np.abs(run.rigid_points("coupler", drawn)[:, 0] - there[:, 0]).max() < 1e-2
    assert (run.points("ground", drawn) == drawn).all()
    assert run.plot("O", "O'").axes and run.plot().axes and run.plot_deformed(0.3).axes
    assert run.animate(tmp_path / "run.html", frames=3).exists()
