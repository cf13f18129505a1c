"""Runs by ERLS: what they have, what they say, and how they compare with a floating frame."""

import numpy as np
import pytest

import closedchain as cc
from closedchain.close.erls import ERLS
from closedchain.errors import ModelError, RunError, RunWarning
from closedchain.integrate.trajectory import Status

SECTION = cc.Section.rectangle(y=0.02, z=0.03)


@pytest.fixture(scope="module")
def arms():
    """Two links in a plane, with a servo each, and something heavy in the hand."""
    m = cc.Mechanism("arms", gravity=(0, -9.81, 0))
    upper, lower = m.body("upper", cc.rod(0.4, 1.0)), m.body("lower", cc.rod(0.3, 0.6))
    hand = m.body("hand", cc.box((0.04, 0.04, 0.04), 0.5))
    for beam in (upper, lower):
        beam.flexible(E=2e10, section=SECTION, shapes=cc.shapes.craig_bampton(y=2))
    m.revolute("shoulder", m.ground, upper)
    m.revolute("elbow", upper.tip, lower)
    m.weld("grip", lower.tip, hand.at(-0.02, 0, 0))
    stiffness = m.parameter("stiffness", 60.0)
    for name, rest in (("shoulder", 0.4), ("elbow", -0.7)):
        joint = m.joints[name]
        m.motor(name, torque=stiffness * (rest - joint.q) - 2.0 * joint.v)
    m.start = {"shoulder": 0.3, "elbow": -0.5}
    m.output = hand["origin"]
    return m


@pytest.fixture(scope="module")
def run(arms):
    return cc.simulate(arms, until=0.1, method=ERLS(elements=3), rtol=1e-6, t_eval=cc.Every(1e-3))


def test_dataset(run):
    data = run.dataset
    assert {"shoulder", "shoulder'", "elbow", "shoulder.motor", "kinetic_energy", "elastic_energy"} <= set(data)
    assert data.sizes["time"] == 101 and data["u"].dims == ("time", "displacement")
    assert data.attrs["solver"] == "esdirk4" and data.attrs["status"] == "finished"
    assert run.good and run.complete and run.message == "reached t = 0.1"
    assert "Run('arms' to t = 0.1 s, ERLS (20 displacements, 2 coordinates) with esdirk4" in repr(run)
    assert "Vidoni" in run.citation() and "Kennedy" in run.citation()
    assert list(run.to_dataframe().columns)[:2] == ["shoulder", "shoulder'"]


def test_displacements_have_names(run):
    """By body, node and direction, in the order of the paper; of the hand there is none, it is welded."""
    assert run.displacements[:5] == ("upper.0.rz", "upper.1.x", "upper.1.y", "upper.1.rz", "upper.2.x")
    assert run.displacements[-3:] == ("lower.3.x", "lower.3.y", "lower.3.rz")
    assert list(run.zeroed) == ["upper.3.y", "lower.3.y"]
    assert run.zeroed["upper.3.y"] == "the far end of 'upper' is not displaced along y: q is its chord"
    for label in run.zeroed:
        assert not run.u.sel(displacement=label).values.any()
    assert (run.dataset["zeroed_health"].values > 0.1).all()


def test_true_angles_are_those_between_the_beams(run):
    """The rigid-link system has the chords; a joint turns by the end rotations of its beams, too."""
    elastic = run.u.sel(displacement="upper.0.rz").values
    assert np.abs(run["shoulder"].values - run.rigid["shoulder"].values - elastic).max() < 1e-14
    both = run.beam("lower", [0.0]).rotation[:, 0, 2] - run.beam("upper", [0.4]).rotation[:, 0, 2]
    assert np.abs(run["elbow"].values - run.rigid["elbow"].values - both).max() < 1e-13


def test_rates(run):
    """Velocities are the derivatives of coordinates, and accelerations those of velocities."""
    t = run.t
    for name in ("shoulder", "elbow"):
        q, v, a = run[name].values, run[f"{name}'"].values, run[f"{name}''"].values
        middle = slice(40, 60)
        for x, rate, tolerance in ((q, v, 0.01), (v, a, 0.1)):  # differences over 2 ms of what swings with 100 Hz
            slope = (x[2:] - x[:-2]) / (t[2:] - t[:-2])
            assert np.abs(slope - rate[1:-1])[middle].max() < tolerance * max(1.0, np.abs(rate).max())
    tip = run.frame("hand")
    slope = (tip.position.values[2:] - tip.position.values[:-2]) / (t[2:] - t[:-2])[:, None]
    assert np.abs(slope - tip.velocity.values[1:-1])[40:60].max() < 0.01


def test_frames_ride_on_their_sections(run):
    """A frame at the end of a beam, seen from the next body; rotations are rotations."""
    end, hand = run.frame("lower.tip"), run.frame("hand")
    R = hand.rotation.values
    assert np.abs(hand.position.values - R @ [0.02, 0, 0] - end.position.values).max() < 1e-5  # second order
    assert np.abs(R @ R.transpose(0, 2, 1) - np.eye(3)).max() < 1e-14
    assert np.abs(run.frame("upper.tip").position.values - run.frame("lower").position.values).max() < 1e-14
    assert np.abs(run.frame(run.mechanism.ground).velocity.values).max() == 0.0


def test_energy(run):
    assert np.abs(run.energy_error.values).max() < 1e-5  # J, of some 0.1 that are exchanged; fast modes die out
    assert run.dataset["elastic_energy"].values[1:].min() > 0


def test_a_floating_frame_agrees_within_small_deflections():
    """Their difference falls with the second power of the deflection."""
    m = cc.Mechanism("falling", gravity=(0, -9.81, 0))
    upper, lower = m.body("upper", cc.rod(0.4, 1.0)), m.body("lower", cc.rod(0.3, 0.6))
    for beam in (upper, lower):  # stiff against stretching, which the shapes of the floating frame leave out
        beam.flexible(E=5e8, section=cc.Section(A=1.0, Iz=2e-8), shapes=cc.shapes.craig_bampton(y=6, elements=40))
    m.revolute("shoulder", m.ground, upper)
    m.revolute("elbow", upper.tip, lower)
    gaps, sizes = [], []
    for g in (9.81, 0.981):
        times, parameters = np.linspace(0, 0.1, 26), {"gravity.y": -g}
        here = cc.simulate(m, until=0.1, method=ERLS(elements=12), rtol=1e-8, t_eval=times, parameters=parameters)
        there = cc.simulate(m, until=0.1, rtol=1e-8, t_eval=times, parameters=parameters)
        gaps.append(np.abs(here.frame("lower.tip").position.values - there.frame("lower.tip").position.values).max())
        sizes.append(np.abs(here.beam("upper").from_chord).max())
    assert sizes[0] / sizes[1] == pytest.approx(10.0, rel=0.1)
    assert gaps[0] < 0.02 * sizes[0]
    assert gaps[1] < 0.03 * gaps[0]


def test_tip_deflection(run):
    away = run.tip_deflection("hand")
    assert away["distance"].values[0] < 1e-12
    assert 1e-4 < away["distance"].values.max() < 5e-3


@pytest.mark.filterwarnings("ignore:energy of 'arms'")  # axial vibrations of 10 kHz are not resolved
def test_generalised_alpha(arms, run):
    other = cc.simulate(
        arms,
        until=0.1,
        method=ERLS(elements=3, rho_inf=0.9),
        solver=cc.solvers.GeneralisedAlpha(step=1e-4),
        t_eval=cc.Every(1e-3),
    )
    assert other.solver == "generalised-alpha" and other.counts.steps == 1000 and other.counts.rejections == 0
    assert np.abs(other["elbow"].values - run["elbow"].values).max() < 2e-4
    assert np.abs(other.frame("hand").position.values - run.frame("hand").position.values).max() < 2e-5


def test_parameters_need_no_new_equations(arms, run):
    stiff = cc.simulate(arms, until=0.02, rtol=1e-5, parameters={"upper.E": 2e14, "lower.E": 2e14}, method=cc.ERLS())
    assert (
        stiff.solution.system.compiled
        is cc.simulate(arms, until=0.02, rtol=1e-5, method=cc.ERLS()).solution.system.compiled
    )
    assert np.abs(stiff.beam("upper").displacement).max() < 1e-6
    assert stiff.state(-1)["elbow"] == pytest.approx(float(stiff["elbow"][-1]), abs=1e-5)


def test_named_displacements(arms):
    named = cc.simulate(arms, until=0.02, method=ERLS(elements=2, zero=("upper.0.rz", "lower.2.y")), rtol=1e-6)
    usual = cc.simulate(arms, until=0.02, method=ERLS(elements=2, zero="base"), rtol=1e-6)
    assert list(named.zeroed) == ["upper.0.rz", "lower.2.y"]
    assert list(usual.zeroed) == ["upper.0.rz", "lower.0.rz"]
    # displacements are measured from other rigid links: a difference of second order in deflections of 0.3 mm
    assert np.abs(named.frame("hand").position.values - usual.frame("hand").position.values).max() < 3e-6


def test_what_is_zeroed_has_to_determine_the_coordinates(arms):
    with pytest.raises(ModelError, match=r"upper at x/L = 0 zeroed|rz of 'upper' at x/L = 0.*block of J .* singular"):
        cc.simulate(arms, until=0.01, method=ERLS(zero=("upper.0.rz", "upper.2.y")))
    with pytest.raises(ModelError, match="'upper' at x/L = 0 is held by the ground"):
        cc.simulate(arms, until=0.01, method=ERLS(zero=("upper.0.y", "upper.2.y")))
    with pytest.raises(ModelError, match="side of 'lower' at x/L = 1 is not free"):
        cc.simulate(arms, until=0.01, method=ERLS(zero=("lower.2.side", "upper.2.y")))
    with pytest.raises(ModelError, match="'here' is no displacement"):
        cc.simulate(arms, until=0.01, method=ERLS(zero=("here", "upper.2.y")))
    with pytest.raises(ModelError, match="'upper' has 2 elements, with nodes 0 to 2"):
        cc.simulate(arms, until=0.01, method=ERLS(zero=("upper.7.y", "lower.2.y")))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"method": ERLS(elements={"hand": 2})}, "'hand', which is not a flexible body"),
        ({"solver": "radau5"}, "'radau5' does not march: take solver='esdirk4' or 'generalised-alpha'"),
        (
            {"method": ERLS(rho_inf=0.5), "solver": "esdirk4"},
            "damped by rho_inf, which 'esdirk4' does not march: take solver='generalised-alpha', or leave rho_inf out",
        ),
        ({"until": -1.0}, "ERLS has no runs back in time, from 0 to -1 s"),
        ({"until": 0.0}, "ERLS has no runs of no length, from 0 to 0 s"),
        ({"rtol": 0.0}, "rtol must be a positive number"),
        ({"rtol": 1e-14}, "rtol = 1e-14 is below what double precision can keep"),
        ({"events": [cc.Event("stop", cc.t - 1.0)]}, "ERLS has no events: leave that out, or use a floating frame"),
        ({"events": [cc.SingularPoses("warn")]}, r"ERLS has no cc.SingularPoses\(...\)"),
        ({"save": "folder"}, "ERLS has no save"),
        ({"partition": cc.Threads(2)}, "ERLS has no partition"),
        ({"solver": cc.solvers.ESDIRK4(dense_output=True)}, "ERLS has no dense_output"),
    ],
)
def test_errors_say_what_is_wrong(arms, options, said):
    with pytest.raises(ModelError, match=said):
        cc.simulate(arms, **{"until": 0.01, "method": ERLS(), **options})


@pytest.mark.parametrize(
    "options", [{"elements": 0}, {"terms": "some"}, {"zero": "tip"}, {"rho_inf": 2.0}, {"rayleigh": 1}]
)
def test_options_are_checked(options):
    with pytest.raises((ModelError, TypeError)):
        ERLS(**options)


def test_coordinates_can_be_named():
    """Of a five-bar any two will do; where they stop doing, the run says so."""
    m = cc.library.five_bar()
    m.gravity = (0.0, -9.81, 0.0)
    m.bodies["left distal"].flexible(E=1e9, section=SECTION, shapes=cc.shapes.polynomials(y=1))
    usual = cc.simulate(m, until=0.05, rtol=1e-7, method=cc.ERLS())
    other = cc.simulate(m, until=0.05, rtol=1e-7, method=ERLS(coordinates=("left motor", "left elbow")))
    assert other.solution.system.labels[-2:] == ("left motor", "left elbow")
    # second order in the deflection
    gap = usual.frame("left distal.tip").position.values - other.frame("left distal.tip").position.values
    assert np.abs(gap).max() < 1e-6
    with pytest.raises(ModelError, match="cannot be the coordinates of 'five-bar', which has 2 freedoms"):
        cc.simulate(m, until=0.05, method=ERLS(coordinates="left motor"))
    with pytest.raises(ModelError, match="'tip' is no coordinate of a joint that is not cut"):
        cc.simulate(m, until=0.05, method=ERLS(coordinates=("left motor", "tip")))
    with pytest.raises(RunError, match=r"the coordinates q \(left motor, right motor\) no longer determine the others"):
        cc.simulate(m, until=0.5, rtol=1e-4, method=cc.ERLS())


def test_a_rigid_mechanism_is_refused():
    for verb in (lambda m: cc.simulate(m, method=cc.ERLS()), lambda m: m.modes(method=cc.ERLS())):
        with pytest.raises(ModelError, match="has no flexible body"):
            verb(cc.library.four_bar())


def test_a_run_that_ends_early_keeps_what_it_has(arms):
    with pytest.raises(RunError, match="samples are kept") as caught:
        cc.simulate(arms, until=1.0, method=cc.ERLS(), solver=cc.solvers.ESDIRK4(max_steps=30), rtol=1e-6)
    assert caught.value.run.status is Status.too_many_steps
    assert len(caught.value.run.t) < 201 and "INCOMPLETE" in repr(caught.value.run)
    with pytest.raises(RunError) as caught:
        cc.simulate(arms, until=1.0, method=cc.ERLS(), solver=cc.solvers.ESDIRK4(max_steps=2), rtol=1e-6, t_eval=[1.0])
    assert caught.value.run.dataset.sizes["time"] == caught.value.run.reactions().sizes["time"] == 0


def test_large_deflections_are_told():
    m = cc.Mechanism("soft", gravity=(0, -9.81, 0))
    m.body("beam", cc.rod(0.5, 1.0)).flexible(E=1e7, section=SECTION, shapes=cc.shapes.polynomials(y=1))
    m.revolute("clamp", m.ground, m.bodies["beam"])
    m.drive("clamp", 0.0)
    with pytest.warns(RunWarning, match="sections of 'beam' turn by .* rad"):
        cc.simulate(m, until=0.3, rtol=1e-4, method=cc.ERLS(), events=[cc.Divergence("pass")])


def test_a_cycle_of_rigid_links():
    """A beam on the coupler of a rigid four-bar: the loop stays closed, and energy too."""
    m = cc.library.four_bar()
    beam = m.body("beam", cc.rod(1.0, 0.5)).flexible(E=1e9, section=SECTION, shapes=cc.shapes.polynomials(y=1))
    m.weld("clamp", m.bodies["coupler"].at(2.0, 0, 0, rpy=(0, 0, 1.2)), beam)
    run = cc.simulate(m, until=0.5, rtol=1e-7, method=cc.ERLS())
    assert list(run.zeroed) == ["crank.0.rz"] and len(run.displacements) == 7
    # only the beam is displaced: what the rigid links have are displacements that keep their loop closed, all zeroed
    coupler = run.frame("coupler.tip").position.values - run.frame("rocker.tip").position.values
    assert np.abs(coupler).max() < 1e-12
    assert np.abs(run.energy_error.values).max() < 1e-5 * float(run.dataset["kinetic_energy"].max())
    assert np.abs(run.beam("beam").displacement).max() > 1e-4


def test_delta_with_flexible_rods():
    """Three loops of universal and ball joints in space, a rigid platform and rigid arms; against a floating frame."""
    m = cc.library.delta("none", flexible="rods")
    times = np.linspace(0, 0.1, 11)
    run, fine = (cc.simulate(m, until=0.1, method=ERLS(elements=n), rtol=1e-6, t_eval=times) for n in (2, 4))
    other = cc.simulate(m, until=0.1, rtol=1e-6, t_eval=times)
    assert not run.solution.system.d.planar and run.solution.system.n_q == 3
    exchanged = float(run.dataset["kinetic_energy"].max())
    assert np.abs(run.energy_error.values).max() < 1e-4 * exchanged
    away = run.tip_deflection("platform")["distance"].values.max()  # 7 um: rods bend by 0.18 mm under their own weight
    there = other.frame("platform").position.values
    gaps = [np.abs(x.frame("platform").position.values - there).max() for x in (run, fine)]
    assert gaps[0] < 0.08 * away  # of two elements in a rod
    assert gaps[1] < 0.5 * gaps[0]  # then a rod swings in more than its one shape


def test_a_loop_agrees_with_a_floating_frame_as_it_grows_stiff():
    """A four-bar whose coupler bends, with the shapes of one element. The deflection falls with 1/E; what differs is of
    second order, deflections times their rates, and these fall with the root only: the power is 1.5.
    """
    m = cc.library.four_bar()
    section = cc.Section(A=2e6, Iz=1.333417)  # stiff against stretching, for which there is no shape
    m.bodies["coupler"].flexible(E=1.0, section=section, shapes=cc.shapes.polynomials(y=2))
    times, gaps, sizes = np.linspace(0, 0.5, 21), [], []
    for E in (8.5e3, 3.4e4, 1.36e5):
        options = {"until": 0.5, "t_eval": times, "parameters": {"coupler.E": E}, "rtol": 1e-9}
        here, there = cc.simulate(m, method=ERLS(elements=1), **options), cc.simulate(m, **options)
        gaps.append(np.abs(here["O"].values - there["O"].values).max())
        sizes.append(np.abs(here.beam("coupler").from_chord).max())
    assert sizes[0] == pytest.approx(16 * sizes[2], rel=0.1)
    assert gaps[0] < 0.01 * sizes[0]  # rad and m, of a crank of 1 m
    rates = -np.diff(np.log(gaps)) / np.log(4)
    assert rates == pytest.approx(1.5, abs=0.2)  # of largest values at samples of what swings


def test_momentum_of_a_free_body():
    """Two beams on a hub in the plane, kicked at a tip: then nothing acts, and momentum stays, as well as it is
    integrated; angular momentum about the origin, too.
    """
    m = cc.Mechanism("free", gravity=(0, 0, 0))
    hub = m.body("hub", cc.box((0.1, 0.1, 0.1), 0.5))
    for k, side in enumerate((0.0, np.pi)):
        beam = m.body(f"beam{k}", cc.rod(0.5, 0.4))
        beam.flexible(E=5e7, section=SECTION, shapes=cc.shapes.craig_bampton(y=2))
        m.weld(f"clamp{k}", hub.at(0.05 * np.cos(side), 0, 0, rpy=(0, 0, side)), beam)
    m.force("kick", m.bodies["beam0"].tip, (0.0, cc.math.where(cc.t < 0.05, 1.0, 0.0), 0.0))
    m.planar("free", m.ground, hub)
    start = m.assemble({"free.angle": 0.3}, velocity={"free.angle": 3.0, "free.x": 0.5})
    times = np.linspace(0.05, 0.3, 11)
    run = cc.simulate(m, start, until=0.3, rtol=1e-7, method=ERLS(elements=3), t_eval=times)
    assert np.abs(run.beam("beam0").rotation).max() > 0.02
    linear, angular = momenta(run)
    assert linear[:, 1].max() == pytest.approx(0.05, rel=1e-5)  # a force of 1 N for 0.05 s
    assert np.ptp(linear, axis=0).max() < 1e-6 * np.abs(linear).max()
    assert np.ptp(angular) < 1e-6 * np.abs(angular).max()


def momenta(run):
    """Linear (n, 2) and angular momentum (n,) about the origin of the world, of all points in the plane."""
    s, mesh = run.solution.samples, run.solution.system.mesh
    linear, angular = np.zeros((len(run.t), 2)), np.zeros(len(run.t))
    for p, piece in enumerate(mesh.pieces):
        body, nodes = mesh.arrays.body[p], [k for k in mesh.arrays.ends[p] if k >= 0]
        u, rate = (x[:, nodes].reshape(len(run.t), -1) for x in (s.u, s.u_dot))
        w, v, R = s.twists[:, body, :3], s.twists[:, body, 3:], s.R[:, body]
        moved, moving = (np.einsum("aik,mk->mai", piece.E, x) for x in (u, rate))
        P = piece.P0 + moved
        V = moving + np.cross(w[:, :, None], P, axis=1) + v[:, :, None] * piece.one
        P, V = R @ P + s.r[:, body][:, :, None] * piece.one, R @ V
        linear += (V @ piece.G @ piece.one)[:, :2]
        angular += np.einsum("mi,ij,mj->m", P[:, 0], piece.G, V[:, 1])
        angular -= np.einsum("mi,ij,mj->m", P[:, 1], piece.G, V[:, 0])
    return linear, angular
