"""Which closure rows are solved: all that say something new, and no others."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import closedchain as cc
from closedchain.derive.equations import derive
from closedchain.march.program.compiled import compiled
from closedchain.model.bodies.rotation import from_axis
from closedchain.pose.redundancy import independent_rows

LENGTHS = (("crank", 1.0), ("coupler", 4.0), ("rocker", 2.5))


def tilted_four_bar(normal, turned="bodies", torque=6.0, quarter=0.0):
    """The library's four-bar in the plane normal to a direction; ``quarter`` turns it within that plane.

    ``turned="ground"`` tilts the two frames on the ground, ``"bodies"`` draws every body, frame and axis obliquely.
    """
    R = np.array(from_axis(normal, "normal")) @ Rotation.from_euler("z", quarter).as_matrix()
    m = cc.Mechanism("tilted four-bar", gravity=R @ (0, -9.8, 0))
    axis = (0, 0, 1)
    if turned == "ground":
        bodies = [m.body(name, cc.rod(length=L, mass=1.0)) for name, L in LENGTHS]
        O, C = m.ground.at(0, 0, 0, R=R), m.ground.at(*R @ (3, 0, 0), R=R)
    else:
        bodies = []
        for name, L in LENGTHS:
            inertia = R @ np.diag([0, L**2 / 12, L**2 / 12]) @ R.T
            entries = (*np.diag(inertia), inertia[0, 1], inertia[0, 2], inertia[1, 2])
            body = m.body(name, cc.rigid(mass=1.0, com=R @ (L / 2, 0, 0), inertia=entries))
            body.frame("tip", at=R @ (L, 0, 0))
            bodies.append(body)
        O, C = m.ground, m.ground.at(*R @ (3, 0, 0))
        axis = R[:, 2]
    crank, coupler, rocker = bodies
    m.revolute("O", O, crank, axis=axis)
    m.revolute("A", crank.tip, coupler, axis=axis, guess=-1.2)
    m.revolute("C", C, rocker, axis=axis, guess=1.3)
    m.revolute("B", coupler.tip, rocker.tip, axis=axis)
    m.motor("O", torque=torque)
    m.start = {"O": np.pi / 2}
    return m


def rows_of(m, **hold):
    rows = independent_rows(derive(m), m.assemble(**hold))
    assert not rows.singular
    return rows.kept


# ---- planar loops in space -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("turned", ["ground", "bodies"])
@pytest.mark.parametrize("normal", [(1, 2, 3), (0, 1, 0), (1, -1, 0.001), (-3, 2, -1)], ids=str)
def test_a_tilted_loop_has_two_equations(normal, turned):
    m = tilted_four_bar(normal, turned)
    e = derive(m)
    rows = rows_of(m)

    assert len(rows) == 2
    assert len(e.closure) + len(e.closure.fixed) == 5  # what a hinge locks
    A = np.array(e.function("A", {"A": e.closure.A})(0, m.assemble().q, np.zeros(3), list(m.parameters.values())))
    assert np.linalg.matrix_rank(A[list(rows)], tol=1e-6) == 2


@pytest.mark.parametrize(
    ("turned", "quarter"),
    [("ground", 0.0), ("bodies", 0.0), ("bodies", 1.1)],
    ids=["ground", "bodies", "turned within"],
)
def test_a_tilted_loop_moves_as_the_plane_one(turned, quarter):
    times = np.linspace(0, 1, 11)
    plane = cc.simulate(cc.library.four_bar(), until=1.0, t_eval=times, rtol=1e-11)
    tilted = cc.simulate(tilted_four_bar((1, 2, 3), turned, quarter=quarter), until=1.0, t_eval=times, rtol=1e-11)
    for name in ("O", "A", "C", "B", "O'", "C'", "O''", "kinetic_energy", "work"):
        # two runs at rtol 1e-11 that round differently
        np.testing.assert_allclose(tilted[name], plane[name], atol=1e-8, err_msg=name)
    assert float(tilted.closure_error.max()) < 1e-10  # of all rows, also those that are not solved


def test_the_structure_of_a_plane_loop_is_seen_without_numbers():
    """With the axes along z the rows out of the plane are empty, and are set aside before anything is computed."""
    closure = derive(cc.library.four_bar()).closure

    assert closure.labels == ("x", "y")
    assert [row.label for row in closure.fixed] == ["z", "tilt x", "tilt y"]


@pytest.mark.parametrize("name", ["four-bar", "slider-crank", "five-bar", "rrr3", "gough-stewart"])
def test_library_mechanisms_keep_all_their_rows(name):
    from closedchain.model.library import MECHANISMS

    m = MECHANISMS[name].build()

    assert rows_of(m) == tuple(range(len(derive(m).closure)))


def test_an_open_chain_has_no_rows():
    assert rows_of(cc.library.pendulum()) == ()


def test_a_parallelogram_with_a_third_crank():
    """Two loops, of which the second one follows from the first: three equations are enough for four unknowns."""
    m = cc.Mechanism("triple crank", gravity=(0, -9.81, 0))
    bar = m.body("bar", cc.rod(length=2.0, mass=1.0))
    for k, x in enumerate((0.0, 1.0, 2.0)):
        crank = m.body(f"crank{k}", cc.rod(length=0.5, mass=0.3))
        m.revolute(f"foot{k}", m.ground.at(x, 0, 0), crank)
        m.revolute(f"pin{k}", crank.tip, bar.at(x, 0, 0))
        m.start[f"foot{k}"] = 0.7
    state = m.assemble({"foot0": 0.7}, guess={"foot1": 0.7, "foot2": 0.7, "pin0": -0.7})
    e = derive(m)
    rows = independent_rows(e, state)

    assert (len(e.closure), len(rows.active), len(rows.kept), e.topology.nv) == (4, 4, 3, 4)
    # one crank without its brothers, with the bar's whole mass at its tip, is the same motion
    run = cc.simulate(m, state, until=0.5, rtol=1e-10)
    assert float(abs(run["foot0"] - run["foot2"]).max()) < 1e-9
    single = cc.Mechanism("single crank", gravity=(0, -9.81, 0))
    com = (0.9 * 0.25 + 1.0 * 0.5) / 1.9
    across = 0.9 * 0.5**2 / 3 + 1.0 * 0.5**2 - 1.9 * com**2
    arm = single.body("arm", cc.rigid(mass=1.9, com=(com, 0, 0), inertia=(0, across, across)))
    single.revolute("foot0", single.ground, arm)
    reference = cc.simulate(single, single.assemble(foot0=0.7), until=0.5, rtol=1e-10)
    # the load does not turn with the crank, so its own inertia does not matter
    np.testing.assert_allclose(run["foot0"], reference["foot0"], atol=1e-8)


# ---- singular poses --------------------------------------------------------------------------------------------------


def flat_parallelogram():
    m = cc.Mechanism("flat", gravity=(0, -9.81, 0))
    a, b, c = (m.body(name, cc.rod(length=L, mass=1.0)) for name, L in (("a", 1.0), ("b", 2.0), ("c", 1.0)))
    m.revolute("O", m.ground, a)
    m.revolute("A", a.tip, b)
    m.revolute("C", m.ground.at(2, 0, 0), c)
    m.revolute("B", b.tip, c.tip)
    return m


def test_a_singular_start_is_recognised():
    m = flat_parallelogram()
    rows = independent_rows(derive(m), m.assemble(O=0.0))

    assert rows.singular and len(rows.kept) == 2  # two rows are needed, and only one of them says something here
    assert compiled(m.assemble(O=0.0), cc.Multipliers()).guarded
    assert not compiled(m.assemble(O=-0.5, guess={"A": 0.5, "C": -0.5}), cc.Multipliers()).guarded


def test_a_singular_start_gives_no_wrong_answer():
    """Under gravity both cranks fall together, as one pendulum that carries the bar without turning it."""
    m = flat_parallelogram()
    run = cc.simulate(m, m.assemble(O=0.0), until=0.3, rtol=1e-10)
    single = cc.Mechanism("single crank", gravity=(0, -9.81, 0))
    arm = single.body("arm", cc.rod(length=1.0, mass=2.0))
    single.revolute("O", single.ground, arm)
    single.prismatic("across", single.ground, single.body("cart", cc.massless()), axis=(1, 0, 0))
    load = single.body("load", cc.point_mass(1.0))
    single.prismatic("down", single.bodies["cart"], load, axis=(0, 1, 0))
    single.spherical("pin", arm.tip, load, cut=True)
    reference = cc.simulate(single, single.assemble(O=0.0, guess={"across": 1.0}), until=0.3, rtol=1e-10)

    assert run.good and reference.good
    np.testing.assert_allclose(run["O"], reference["O"], atol=1e-8)  # two runs at rtol 1e-10
    np.testing.assert_allclose(run["C"], run["O"], atol=1e-8)


def test_a_little_away_it_runs():
    m = flat_parallelogram()
    run = cc.simulate(m, m.assemble(O=-0.5, guess={"A": 0.5, "C": -0.5}), until=0.2)

    assert run.good


def test_a_tilted_singular_pose_is_told_apart_from_tilted_rows():
    """Of five rows three are redundant always, and one more only here."""
    m = tilted_four_bar((1, 2, 3))
    for name, value in (("rocker.tip", 1.0), ("coupler.tip", 3.0)):
        scale = value / np.sqrt(sum(m.parameters.get(f"{name}.{a}", 0.0) ** 2 for a in "xyz"))
        for a in "xyz":
            if f"{name}.{a}" in m.parameters:
                m.parameters[f"{name}.{a}"] *= scale
    rows = independent_rows(derive(m), m.assemble(O=0.0, guess={"A": 0.0, "C": 0.0}))

    assert rows.singular and len(rows.active) == 5 and len(rows.kept) == 2


@pytest.mark.parametrize("size", [1e-4, 1e3], ids=["a tenth of a millimetre", "a kilometre"])
def test_the_size_of_a_mechanism_does_not_matter(size):
    """Rows in metres and rows in radians have different sizes; the rank has not."""
    m = cc.Mechanism("scaled", gravity=(0, 0, 0))
    R = np.array(from_axis((1, 2, 3), "normal"))
    O, C = m.ground.at(0, 0, 0, R=R), m.ground.at(*size * R @ (3, 0, 0), R=R)
    crank, coupler, rocker = (m.body(name, cc.rod(length=size * L, mass=1.0)) for name, L in LENGTHS)
    m.revolute("O", O, crank)
    m.revolute("A", crank.tip, coupler, guess=-1.2)
    m.revolute("C", C, rocker, guess=1.3)
    m.revolute("B", coupler.tip, rocker.tip)

    assert len(rows_of(m, O=np.pi / 2)) == 2
