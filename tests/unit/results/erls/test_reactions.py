"""Reactions of runs by ERLS: textbook beams, momentum, the rigid limit, and what is missing."""

import numpy as np
import pytest

import closedchain as cc
from closedchain.close.erls import ERLS
from closedchain.errors import ModelError
from closedchain.results.erls import reactions as erls_reactions

SECTION = cc.Section.rectangle(y=0.02, z=0.02)
SHAPES = cc.shapes.polynomials(y=1)


@pytest.fixture(scope="module")
def propped():
    """A beam that a drive holds at one end, and a roller at the other; at rest."""
    m = cc.Mechanism("propped", gravity=(0, -9.81, 0))
    beam, roller = m.body("beam", cc.rod(0.5, 0.8)), m.body("roller", cc.box((0.01, 0.01, 0.01), 1e-3))
    beam.flexible(E=7e10, section=SECTION, shapes=SHAPES)
    m.revolute("clamp", m.ground, beam)
    m.drive("clamp", 0.0)
    m.revolute("pin", beam.tip, roller)
    m.prismatic("slot", m.ground.at(0.5, 0, 0), roller, axis=(1, 0, 0))
    return cc.simulate(m, until=0.01, method=ERLS(elements=2, start="sagged"), rtol=1e-9, t_eval=[0.0, 0.01])


def test_a_propped_beam_at_rest(propped):
    """Three eighths of its weight are on the prop, whatever the rigid links leave open; sags are cubic elements'."""
    weight, length = 0.8 * 9.81, 0.5
    pin, clamp = propped.reaction("pin", on="beam"), propped.reaction("clamp")
    assert pin["force"].values[:, 1] == pytest.approx(3 / 8 * weight, rel=1e-9)
    assert clamp["force"].values[:, 1] == pytest.approx(5 / 8 * weight, rel=1e-9)
    assert clamp["moment"].values[:, 2] == pytest.approx(weight * length / 8, rel=1e-9)
    # the plane's own components are determined; those across it are not, as in any other run
    assert pin["force_unique"].values.tolist() == [True, True, False]
    assert clamp["moment_unique"].values.tolist() == [False, False, True]
    # what the drive gives is the moment of the clamp
    assert propped["clamp.drive"].attrs["units"] == "N m"
    assert propped["clamp.drive"].values == pytest.approx(weight * length / 8, rel=1e-9)


def test_a_table_as_of_any_run(propped):
    table = propped.reactions(axes="joint")
    assert table["force"].dims == ("time", "joint", "axis") and list(table["joint"].values) == ["clamp", "pin", "slot"]
    about = propped.reaction("pin", axes="beam", about="beam", on="beam")["moment"].values[:, 2]
    assert about == pytest.approx(0.5 * 3 / 8 * 0.8 * 9.81, rel=1e-6)  # about the clamp; the sagged tip is a bit nearer
    with pytest.raises(ModelError, match="no joint 'pen'"):
        propped.reaction("pen")
    with pytest.raises(ModelError, match="another mechanism"):
        propped.reaction("pin", axes=cc.library.four_bar().bodies["crank"])


@pytest.fixture(scope="module")
def arm():
    """An arm in space with hinges that are neither parallel nor at the axes of the links, a spring, and a force."""
    m = cc.Mechanism("arm in space", gravity=(0, 0, -9.81))
    turret = m.body("turret", cc.box((0.1, 0.1, 0.2), 2.0))
    upper, fore = m.body("upper", cc.rod(0.6, 1.0)), m.body("fore", cc.rod(0.5, 0.6))
    m.revolute("yaw", m.ground, turret, axis=(0, 0, 1))
    m.revolute("shoulder", turret.at(0, 0.05, 0.2), upper, axis=(0, 1, 0))
    m.revolute("elbow", upper.tip, fore.at(0, 0.03, 0), axis=(0, 1, 0.3))
    modulus = m.parameter("E", 7e10)
    for beam in (upper, fore):
        beam.flexible(E=modulus, section=SECTION, shapes=cc.shapes.polynomials(y=1, z=1, torsion=1))
    m.motor("yaw", torque=1.0)
    m.joint_spring("shoulder", stiffness=50.0)
    m.force("push", fore.tip, (1.0, 2.0, -3.0))
    m.start = {"shoulder": 0.3, "elbow": 0.4}
    return m


STEP = 2e-5  # s, of differences: of modes of some 500 rad/s they are good to (500 STEP)^2 / 6
TIMES = [0.05, 0.1 - STEP, 0.1, 0.1 + STEP]


@pytest.fixture(scope="module")
def runs(arm):
    """By modulus; damped, so that what the start struck is quiet, and deflections are those of the loads."""
    method = ERLS(elements=2, rayleigh=(0.0, 1e-3))
    options = {"until": TIMES[-1], "method": method, "rtol": 1e-8, "t_eval": TIMES}
    return [cc.simulate(arm, parameters={"E": E}, **options) for E in (2e11, 2e12)]


def test_a_free_hinge_has_no_moment_but_for_the_square_of_the_deflection(runs):
    """The equations of ERLS are linear in displacements: what the balance of displaced bodies misses is e^2."""
    elbows = [run.reaction("elbow", axes="joint")["moment"].values for run in runs]
    missing = [np.abs(elbow[:, 2]).max() for elbow in elbows]
    assert min(np.abs(elbow[:, :2]).max() for elbow in elbows) > 0.1  # N m, about the other axes
    assert missing[0] < 1e-4 and missing[1] < 0.03 * missing[0]  # a hundredth, for a tenth of the deflection


def test_what_is_forgotten_is_told(runs, monkeypatch):
    """Bodies that lack a thousandth of a force are out of balance by far more than the square of the deflection."""
    right = erls_reactions.at_joints

    def lacking(samples):
        at = right(samples)
        at.need[:, -1, 3:] += 0.003  # N, on the forearm: a thousandth of the push
        return at

    monkeypatch.setattr(erls_reactions, "at_joints", lacking)
    with pytest.raises(ModelError, match="do not balance the bodies"):
        runs[1].reaction("elbow", stiffness={"elbow": 2.0})  # not what was kept


def momentum(run):
    """(time, 3): of all elements, from the fields of velocity, in the world."""
    s, mesh = run.solution.samples, run.solution.system.mesh
    total = np.zeros((len(run.t), 3))
    for p, piece in enumerate(mesh.pieces):
        body, nodes = mesh.arrays.body[p], [k for k in mesh.arrays.ends[p] if k >= 0]
        u, rate = (x[:, nodes].reshape(len(run.t), -1) for x in (s.u, s.u_dot))
        w, v = s.twists[:, body, :3], s.twists[:, body, 3:]
        V = np.einsum("aik,mk->mai", piece.E, rate) + v[:, :, None] * piece.one
        V += np.cross(w[:, :, None], piece.P0 + np.einsum("aik,mk->mai", piece.E, u), axis=1)
        total += np.einsum("mab,mbi,ij,j->ma", s.R[:, body], V, piece.G, piece.one)
    return total


def test_the_ground_gives_all_momentum(runs):
    p = momentum(runs[0])
    given = runs[0].reaction("yaw")["force"].values[2] + [1.0, 2.0, -3.0] + [0.0, 0.0, -3.6 * 9.81]
    assert np.abs(given).max() > 1.0
    assert (p[3] - p[1]) / (2 * STEP) == pytest.approx(given, abs=1e-4 * np.abs(given).max())


def test_stiff_links_have_the_reactions_of_rigid_ones(arm, runs):
    rigid = cc.simulate(arm.rigid_twin(), until=TIMES[-1], rtol=1e-9, t_eval=TIMES).reactions()
    gaps = []
    for run in runs:
        got = run.reactions()
        gaps.append([float(abs(got[x] - rigid[x]).max() / abs(rigid[x]).max()) for x in ("force", "moment")])
    assert max(gaps[0]) < 1e-2 and max(gaps[1]) < 0.15 * max(gaps[0])


def test_a_floating_frame_has_the_same_reactions_within_small_deflections():
    """The links of a four-bar that begins to move: their difference falls with the deflection."""
    m = cc.library.four_bar()
    shapes = cc.shapes.craig_bampton(y=2, axial=1)
    modulus, beta = m.parameter("E", 1e9), m.parameter("beta", 1e-3)
    for name in ("coupler", "rocker"):
        section = cc.Section.rectangle(y=0.1, z=0.1)
        m.bodies[name].flexible(E=modulus, section=section, shapes=shapes, rayleigh=(0.0, beta))
    times, gaps = [0.05, 0.1], []
    for factor in (1.0, 10.0):  # the stiffer, the less damping of the same modes takes
        options = {"t_eval": times, "parameters": {"E": 1e9 * factor, "beta": 1e-3 / factor**0.5}}
        here = cc.simulate(m, until=0.1, method=ERLS(elements=4), rtol=1e-8, **options).reactions()
        there = cc.simulate(m, until=0.1, rtol=1e-8, solver="radau5", **options).reactions()
        assert (here["force_unique"] == there["force_unique"]).all()
        gaps.append(float(abs(here["force"] - there["force"]).max() / abs(there["force"]).max()))
    assert gaps[0] < 1e-2 and gaps[1] < 0.3 * gaps[0]


def test_comparison_with_other_methods():
    """Beside other formulations ERLS is a row with its own solver; its error is that of other shapes."""
    m = cc.Mechanism("bar", gravity=(0, -9.81, 0))
    beam = m.body("beam", cc.rod(0.5, 0.8))
    beam.flexible(E=7e10, section=SECTION, shapes=cc.shapes.clamped_free(y=1))
    m.revolute("hinge", m.ground, beam)
    got = cc.compare(m, until=0.02, methods=["multipliers", "erls"], solvers=["dop853"], tolerances=[1e-6], repeats=1)
    data = got.dataset.sel(formulation="ERLS", solver="esdirk4", rtol=1e-6)
    assert not data["failure"].item() and data["error"] < 1e-3 and data["energy_error"] < 1e-6
    assert data["seconds"] > 0 and np.isnan(data["reaction_error"])
    assert [row["solver"] for row in got.rows()] == ["dop853", "dop853", "esdirk4"]
    assert "difference of the two" in " ".join(str(got).split()) and any("Kennedy" in x for x in got.citations())
