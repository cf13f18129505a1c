"""Springs in the closures: their numbers for each row, what is refused, what is compiled, what they store."""

import casadi as ca
import numpy as np
import pytest

import closedchain as cc
from closedchain.close.formulation import Choice
from closedchain.close.methods import METHODS
from closedchain.close.parts.springs import SpringFormulation, per_row, quaternions_only
from closedchain.derive.equations import derive
from closedchain.march.program.compiled import compiled
from closedchain.pose.state import parameter_vector
from tests.invariants import drawings
from tests.invariants.drawings import relative_energy_error
from tests.unit.close.spring_terms import evaluate, somewhere

SPRINGS = (cc.VirtualSpring, cc.ModifiedDeNOC)
both = pytest.mark.parametrize("Spring", SPRINGS)


def test_no_spring_is_left_out():
    assert {type(method) for method in METHODS.values() if isinstance(method, SpringFormulation)} == set(SPRINGS)


# ---- one number for each row -------------------------------------------------------------------------------


@both
@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (7.0, [7, 7]),
        (7, [7, 7]),
        ({"B": 5.0}, [5, 5]),
        ({"B x": 5.0, "B y": 6.0}, [5, 6]),
        ({"B": 5.0, "B y": 6.0}, [5, 6]),
        ({"B y": 6.0, "B": 5.0}, [5, 6]),  # a row's own number goes first, wherever it stands
    ],
)
def test_for_all_for_a_joint_or_for_a_row(Spring, given, wanted):
    m = cc.library.four_bar()
    e, state = derive(m), somewhere(m)
    stiff = evaluate(Spring(given), e, (0, 1), state)
    np.testing.assert_allclose(stiff["lam"] / stiff["c"], wanted, rtol=1e-14)
    damped = evaluate(Spring(1.0, given), e, (0, 1), state)
    rate = damped["A"] @ state.v
    np.testing.assert_allclose((damped["lam"] - damped["c"]) / rate, wanted, rtol=1e-13)


def test_rows_that_are_not_solved_get_no_number():
    closure = derive(cc.library.rrr3()).closure
    given = (("wrist2", 1.0), ("wrist3", 2.0), ("wrist3 x", 3.0))
    names = [f"{j} {label}" for j, label in zip(closure.joints, closure.labels, strict=True)]
    assert dict(zip(names, per_row(given, closure, tuple(range(len(closure))), ""), strict=True)) == {
        "wrist2 x": 1.0, "wrist2 y": 1.0, "wrist3 x": 3.0, "wrist3 y": 2.0
    }  # fmt: skip
    assert per_row(given, closure, (names.index("wrist3 x"), names.index("wrist2 y")), "") == [3.0, 1.0]


@both
def test_damping_is_zero_where_not_named_and_stiffness_must_be(Spring):
    e = derive(cc.library.four_bar())
    assert Spring(3.0, {"B y": 2.0}).numbers(e, Choice((0, 1))) == [3.0, 3.0, 0.0, 2.0]
    with pytest.raises(cc.ModelError, match="stiffness: the closure row 'B y' has none; name it, or its joint"):
        Spring({"B x": 1e3}).numbers(e, Choice((0, 1)))


@both
@pytest.mark.parametrize("option", ["stiffness", "damping"])
def test_unknown_names_are_told_with_what_there_is(Spring, option):
    method = Spring(**{"stiffness": 1.0} | {option: {"B": 1e3, "b x": 1e3}})
    with pytest.raises(cc.ModelError) as trouble:
        cc.simulate(cc.library.four_bar(), until=0.1, method=method)
    assert str(trouble.value) == (
        f"{Spring.__name__}: {option}: there is no closure 'b x'; did you mean 'B x'?; there are B, B x, B y"
    )


@both
@pytest.mark.parametrize(
    "value", [0.0, -1.0, float("nan"), float("inf"), "stiff", None, (1e3, 1e3), {"B": -2.0}, {"B": 0}, {"B": {}}]
)
def test_a_stiffness_is_positive(Spring, value):
    with pytest.raises(cc.ModelError, match=f"{Spring.__name__}: stiffness is a number that is positive, or such"):
        Spring(value)


@both
@pytest.mark.parametrize("value", [-1.0, float("nan"), "soft", {"B x": float("inf")}])
def test_a_damping_is_not_negative(Spring, value):
    with pytest.raises(cc.ModelError, match=f"{Spring.__name__}: damping is a number that is zero or positive"):
        Spring(1e3, value)


# ---- values, families, and what is compiled ----------------------------------------------------------------


@both
def test_options_are_values(Spring):
    one, two = Spring({"B x": 1e3, "B y": 2e3}, {"B": 1.0}), Spring({"B y": 2e3, "B x": 1e3}, {"B": 1})
    assert one == two and hash(one) == hash(two)
    assert len({Spring(1e3), Spring(1e4), Spring(1e4, 1.0), Spring(1000)}) == 3


def test_methods_of_other_names_are_other_methods():
    assert cc.VirtualSpring(1e3) != cc.ModifiedDeNOC(1e3)
    assert cc.VirtualSpring(1e3).family != cc.ModifiedDeNOC(1e3).family
    assert "Wang" in cc.VirtualSpring(1e3).citation() and "Raoofian" in cc.ModifiedDeNOC(1e3).citation()


@both
def test_another_stiffness_compiles_nothing(Spring):
    """The same machine code, and not only equal code: k and b are parameters of it."""
    m = cc.library.four_bar()
    start = m.assemble()
    first = compiled(start, Spring(1e5, 10.0))
    for method in (Spring(2e6, 30.0), Spring({"B x": 1e3, "B y": 5.0}, {"B y": 2.0})):
        other = compiled(start, method)
        assert other is not first and other.rhs.function is first.rhs.function and other.closed is first.closed
        x, p = other.pack(start.q + 0.1, start.v + 1.0), parameter_vector(m)
        assert np.abs(other.rhs(0.0, x, p) - first.rhs(0.0, x, p)).max() > 1  # but other accelerations
    assert compiled(start, Spring(1e5, 10)) is first


@both
def test_without_damping_no_damper_is_computed(Spring):
    start = cc.library.gough_stewart().assemble()
    stiff, damped, none = (compiled(start, Spring(1e5, b)) for b in (0.0, 1.0, {"leg1 ball": 0.0}))
    assert stiff.rhs.function is none.rhs.function is not damped.rhs.function
    assert stiff.rhs.counts.total < damped.rhs.counts.total
    assert stiff.closed.parameters.numel() == 18 and damped.closed.parameters.numel() == 36


@both
def test_runs_of_two_stiffnesses_do_not_mix(Spring):
    """Each run keeps its numbers: a result that is asked for later is that of its own springs."""
    m = cc.library.four_bar()
    runs = {k: cc.simulate(m, until=0.2, method=Spring(k), rtol=1e-8) for k in (1e4, 1e6)}
    for k, run in runs.items():
        np.testing.assert_allclose(run["lam"], k * closure(run), rtol=1e-12)  # the same product
    assert runs[1e4].closure_error.max() > 50 * runs[1e6].closure_error.max()


def closure(run):
    """Residuals of the loops at the samples."""
    e = run.program.equations
    return run.program.evaluate("c", lambda: {"c": e.closure.c}, run.t, run.x, run.p)["c"][:, :, 0]


# ---- rows that repeat others -------------------------------------------------------------------------------


REDUNDANT = {  # rows that some motion changes, and how many of them are independent
    "bennett": (drawings.bennett, 5, 2),
    "sarrus": (drawings.sarrus, 5, 4),
    "planar loop in space": (lambda: drawings.four_bar(R=drawings.TILT), 3, 2),
    "three rockers": (lambda: drawings.storeys(1, rockers=3), 4, 3),
}


@both
@pytest.mark.parametrize("name", REDUNDANT)
def test_redundant_rows_have_springs_too(Spring, name):
    """All rows that move are sprung; where a multiplier cannot be told, a share of the load can."""
    build, moving, rank = REDUNDANT[name]
    m = build()
    start = m.assemble()
    program = compiled(start, Spring(1e5, 50.0))
    assert program.rank == rank
    assert program.choice.rows == program.moving and program.closed.lam.numel() == moving
    run = cc.simulate(m, start, until=0.3, method=Spring(1e5, 50.0), rtol=1e-9)
    rigid = cc.simulate(m, start, until=0.3, rtol=1e-9)
    assert (np.abs(run["lam"]).max("time") > 1e-3).sum() == moving  # N or N m: each of them carries
    # compliance times load: up to 100 N over 1e5 N/m, times a lever of some metres
    joint = next(iter(m.start))
    assert 0 < np.abs(run[joint] - rigid[joint]).max() < 5e-3
    assert relative_energy_error(run) < 1e-6  # rtol over some hundred steps
    assert run.good


# ---- what they store ---------------------------------------------------------------------------------------


@both
@pytest.mark.parametrize("damping", [0.0, 20.0])
def test_energy_in_the_springs_is_in_the_balance(Spring, damping):
    m = cc.library.rrr3(torques=(1.0, -2.0, 0.5))
    run = cc.simulate(m, until=0.5, method=Spring(1e4, damping), rtol=1e-11)
    stored = 1e4 / 2 * (closure(run) ** 2).sum(axis=1)
    assert stored.max() > 1e-5  # J, at least: it would be missed
    np.testing.assert_allclose(run["potential_energy"], stored, atol=1e-12)  # the robot lies in a plane
    # 1e-11 for each of some hundred steps, of about 1 J
    assert float(np.abs(run.energy_error).max()) < 1e-9


@both
def test_what_dampers_take_is_work(Spring):
    """Two carts of 1 and 3 kg, welded together; 8 N push the first, so that 6 N go through the weld.

    The springs swing to their new stretch, and lose as much on the way as they then hold.
    """
    m = carts()
    m.motor("S1", force=8.0)
    run = cc.simulate(m, until=3.0, method=Spring(200.0, 20.0), rtol=1e-11)
    held = 6.0**2 / (2 * 200.0)
    assert run["lam"].values[-1] == pytest.approx(6.0, rel=1e-9)  # what is left of the swing is e^-40
    assert run["potential_energy"].values[-1] == pytest.approx(held, rel=1e-9)
    assert run["work"].values[-1] == pytest.approx(8.0 * run["S1"].values[-1] - held, rel=1e-9)
    assert float(np.abs(run.energy_error).max()) < 1e-9


def carts():
    """Two carts on one line, welded together."""
    m = cc.Mechanism("carts")
    one, two = (m.body(name, cc.point_mass(mass)) for name, mass in (("one", 1.0), ("two", 3.0)))
    m.prismatic("S1", m.ground, one, axis=(1, 0, 0))
    m.prismatic("S2", m.ground, two, axis=(1, 0, 0))
    m.weld("W", one, two, cut=True)
    return m


@both
def test_a_drive_through_a_spring_does_work(Spring):
    """A prescribed motion pulls a mass through a spring: it does the work that the mass and the spring then have."""
    m = cc.Mechanism("towed")
    m.prismatic("S", m.ground, m.body("cart", cc.point_mass(2.0)), axis=(1, 0, 0))
    m.drive("S", 0.5 * cc.t**2)
    run = cc.simulate(m, until=1.0, method=Spring(50.0), rtol=1e-11)
    t, w = run.t, np.sqrt(50.0 / 2.0)
    stretch = -(1 - np.cos(w * t)) / w**2  # x - t^2/2, for an acceleration of 1 m/s^2
    np.testing.assert_allclose(run["S"], t**2 / 2 + stretch, atol=1e-10)
    speed = t - np.sin(w * t) / w
    np.testing.assert_allclose(run["work"], speed**2 + 25 * stretch**2, atol=1e-9)


# ---- quaternions -------------------------------------------------------------------------------------------


@both
def test_only_quaternions_are_corrected(Spring):
    e = derive(cc.library.four_bar())
    assert Spring(1e5).close(e, Choice((0, 1))).correction is None
    assert quaternions_only(e, ca.SX.sym("x", 8), e.limbs.v) is None
    m = cc.Mechanism("top")
    m.spherical("A", m.ground, m.body("b", cc.box((1, 2, 3), mass=1.0)))
    closed = Spring(1e5).close(derive(m), Choice(()))
    f = ca.Function("f", [closed.x, derive(m).limbs.p], list(closed.correction))
    x, residual = f([0, 2, 0, 0, 1, 2, 3, 7], parameter_vector(m))
    np.testing.assert_array_equal(np.array(x)[:, 0], [0, 1, 0, 0, 1, 2, 3, 7])
    np.testing.assert_array_equal(np.array(residual)[:, 0], [0, 0, 1])


@both
def test_quaternions_keep_their_length_in_a_run(Spring):
    run = cc.simulate(cc.library.gough_stewart(), until=0.1, method=Spring(5e4, 50.0), rtol=1e-5)
    links = [link for link in run.program.equations.topology.links if link.joint.type.has_quaternion]
    assert links
    for link in links:
        four = run.x[:, link.q.stop - 4 : link.q.stop]
        np.testing.assert_allclose(np.linalg.norm(four, axis=1), 1.0, atol=1e-15)  # one division
    assert 1e-6 < float(run.closure_error.max()) < 1e-3  # loops stay as they are


# ---- singular poses ----------------------------------------------------------------------------------------


@both
@pytest.mark.filterwarnings("ignore:degenerate assembly")  # the pose is held on purpose
def test_springs_pass_a_singular_pose(Spring):
    """A parallelogram starts flat, where its loop has lost a row: nothing is solved for, so nothing fails."""
    m = drawings.parallelograms(1)
    start = m.assemble(O0=0.0, guess={"left1": 0.0, "O1": 0.0}, velocity={"O0": -1.0})
    assert not compiled(start, Spring(1e5)).guarded
    run = cc.simulate(m, start, until=0.2, method=Spring(1e6, 1e3), rtol=1e-8)
    assert np.abs(run["O0"] - run["O1"]).max() < 0.05
    assert relative_energy_error(run) < 1e-5
