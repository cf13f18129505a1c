"""Bodies that lie on each other by chance: seen, told, and avoided where the loops close in another way."""

import numpy as np
import pytest

import closedchain as cc
from closedchain.derive.equations import derive
from closedchain.pose.closing import Closing
from closedchain.pose.collapse import collapse
from closedchain.pose.state import parameter_vector
from tests.invariants import drawings


def coincident(state):
    """Pairs of bodies that coincide at a state, whatever their order."""
    m = state.mechanism
    return {frozenset(x) for x in collapse(Closing(derive(m), parameter_vector(m, state.parameters)), state.q).bodies}


def place(state, frame):
    """World position of a frame."""
    e = derive(state.mechanism)
    f = e.function("place", {"r": e.motion.frame(state.mechanism.find_frame(frame)).X.r})
    return np.array(f(state.t, state.q, state.v, parameter_vector(state.mechanism))).ravel()


def rhombus(guess=(0.0, 0.0), z=0.0, R=None):
    """Four sides of 1 m, one of them the ground; z m of play along the axes, turned as a whole by R."""
    R = np.eye(3) if R is None else R
    m = cc.Mechanism("rhombus", gravity=(0, 0, 0))
    left, bar, right = (m.body(n, cc.rod(1.0, mass=1.0)) for n in ("left", "bar", "right"))
    m.revolute("O", m.ground.at(R=R), left)
    m.revolute("A", left.tip, bar.at(0, 0, z), guess=guess[0])
    m.revolute("C", m.ground.at(*R[:, 0], R=R), right.at(0, 0, z), guess=guess[1])
    m.revolute("B", bar.at(1, 0, z), right.at(1, 0, z))
    return m


def equal_crank(guess=3.0):
    """A slider-crank whose rod is as long as its crank: folded, the slider stays at the crank's pivot."""
    m = cc.Mechanism("equal crank", gravity=(0, 0, 0))
    crank, rod, slider = (
        m.body("crank", cc.rod(1.0, 1.0)),
        m.body("rod", cc.rod(1.0, 1.0)),
        m.body("slider", cc.ball(0.1, 1)),
    )
    m.revolute("O", m.ground, crank)
    m.revolute("A", crank.tip, rod, guess=guess)
    m.prismatic("slide", m.ground, slider, axis=(1, 0, 0))
    m.revolute("P", rod.tip, slider)
    return m


def spherical_rhombus(guess):
    """Four hinges through one point, sixty degrees apart."""
    side = np.array([[1, 0, 0], [0, 0.5, -np.sqrt(0.75)], [0, np.sqrt(0.75), 0.5]])  # about x by 60 degrees
    m = cc.Mechanism("spherical rhombus", gravity=(0, 0, 0))
    left, bar, right = (m.body(n, cc.rigid(mass=1.0, inertia=(1, 1, 1))) for n in ("left", "bar", "right"))
    m.revolute("O", m.ground, left)
    m.revolute("A", left.at(*side @ [0, 0, 1], R=side), bar.at(0, 0, 1), guess=guess[0])  # frames anywhere on the axes
    m.revolute("C", m.ground.at(R=side), right, guess=guess[1])
    m.revolute("B", bar.at(*side @ [0, 0, -2], R=side), right.at(*side @ [0, 0, -2], R=side))
    return m


# ---- seen ------------------------------------------------------------------------------------------------------------


TILTED = drawings.TILT


@pytest.mark.parametrize(("z", "R"), [(0.0, None), (0.2, None), (0.0, TILTED)], ids=["flat", "in layers", "tilted"])
def test_a_folded_rhombus_is_seen(z, R):
    """With left at 0.5 rad, the far pin is at (1, 0) from its tip, or on the first pivot."""
    m = rhombus(z=z, R=R)
    modes = m.assemblies(O=0.5, starts=30)
    (open_,), (folded,) = ([x for x in modes if bool(x.coincident) is fold] for fold in (False, True))
    assert np.cos(open_.state["C"] - 0.5) == pytest.approx(1.0, abs=1e-12)  # the rockers are parallel
    assert np.cos(folded.state["C"]) == pytest.approx(-1.0, abs=1e-12)  # along the ground
    assert {frozenset(x) for x in folded.coincident} == {frozenset(("bar", "left")), frozenset(("right", "ground"))}
    assert "'bar' on 'left'" in repr(folded) and " on " not in repr(open_)


def test_a_folded_crank_is_seen():
    modes = equal_crank().assemblies(O=0.7, starts=30)
    assert sorted(round(x.state["slide"], 9) for x in modes) == [0.0, round(2 * np.cos(0.7), 9)]
    assert {x.state["slide"] > 0.1: len(x.coincident) for x in modes} == {True: 0, False: 1}


def test_a_folded_loop_in_space_is_seen():
    """The axes meet in one point, and what coincides is an axis, wherever on it the frames are drawn."""
    modes = spherical_rhombus((0, 0)).assemblies(O=0.8, starts=30)
    assert len(modes) == 2
    assert sorted(len(x.coincident) for x in modes) == [0, 2]


@pytest.mark.parametrize("stages", [2, 3])
def test_every_fold_of_a_lift_is_seen(stages):
    """Each stage goes on or folds back: of 2^n ways to put n stages together, all up or all down is regular."""
    m = drawings.scissor_lift(stages)
    modes = m.assemblies(foot=0.6, starts=30 * stages)
    assert len(modes) == 2**stages
    regular = [x.state["left1"] for x in modes if not x.coincident]
    assert sorted(regular) == pytest.approx([-np.arccos(0.6), np.arccos(0.6)], abs=1e-10)


def test_what_is_at_one_place_by_design_does_not_count():
    """Two equal rods side by side, three rods on one pin, motors on one axis."""
    m = cc.Mechanism("doubled", gravity=(0, 0, 0))
    crank, one, two, rocker = (
        m.body(n, cc.rod(L, 1.0)) for n, L in (("crank", 1.0), ("one", 4.0), ("two", 4.0), ("rocker", 2.5))
    )
    m.revolute("O", m.ground, crank)
    m.revolute("A1", crank.tip, one, guess=-1.2)
    m.revolute("A2", crank.tip, two, guess=-1.2)
    m.revolute("C", m.ground.at(3, 0, 0), rocker, guess=1.3)
    m.revolute("B1", one.tip, rocker.tip)
    m.revolute("B2", two.tip, one.tip)  # on the same pin, but not on the same body as A2
    assert coincident(m.assemble(O=1.0)) == set()  # and no warning, which would be an error here

    coaxial = cc.Mechanism("coaxial five-bar", gravity=(0, 0, 0))
    bodies = {n: coaxial.body(n, cc.rod(1.0, 1.0)) for n in ("left", "right", "fore", "aft")}
    coaxial.revolute("first", coaxial.ground, bodies["left"], guess=0.3)
    coaxial.revolute("second", coaxial.ground, bodies["right"], guess=1.8)
    coaxial.revolute("E", bodies["left"].tip, bodies["fore"], guess=1.0)
    coaxial.revolute("F", bodies["right"].tip, bodies["aft"], guess=-1.0)
    coaxial.revolute("tip", bodies["fore"].tip, bodies["aft"].tip)
    assert coincident(coaxial.assemble(first=0.3, second=1.8)) == set()
    # the same arms with their tip back on the motors' axis: each forearm lies on its arm
    folded = [x for x in coaxial.assemblies(first=0.3, second=1.8, starts=20) if x.coincident]
    assert [len(x.coincident) for x in folded] == [2]


def test_welded_bodies_are_one():
    """The two halves of a side lie on one line with all their joints, and on nothing else."""
    m = cc.Mechanism("halves", gravity=(0, 0, 0))
    left, near, far, right = (
        m.body(n, cc.rod(L, 1.0)) for n, L in (("left", 1.0), ("near", 0.5), ("far", 0.5), ("right", 1.0))
    )
    m.revolute("O", m.ground, left)
    m.revolute("A", left.tip, near, guess=-0.5)
    m.weld("seam", near.tip, far)
    m.revolute("C", m.ground.at(1, 0, 0), right, guess=0.5)
    m.revolute("B", far.tip, right.tip)
    state = m.assemble(O=0.5)
    assert coincident(state) == set() and state["C"] == pytest.approx(0.5, abs=1e-10)
    folded = [x for x in m.assemblies(O=0.5, starts=20) if x.coincident]
    assert {frozenset(x) for x in folded[0].coincident} == {frozenset(("near", "left")), frozenset(("right", "ground"))}


def test_an_open_chain_may_fold():
    state = cc.library.double_pendulum().assemble(shoulder=0.4, elbow=np.pi)
    assert coincident(state) == set()


def test_an_antiparallelogram_is_no_collapse():
    """Its bars cross, but have one pin each in common: both ways to put it together are regular."""
    m = cc.Mechanism("parallelogram", gravity=(0, 0, 0))
    left, bar, right = (m.body(n, cc.rod(L, 1.0)) for n, L in (("left", 1.0), ("bar", 2.0), ("right", 1.0)))
    m.revolute("O", m.ground, left)
    m.revolute("C", m.ground.at(2, 0, 0), right)
    m.revolute("A", left.tip, bar)
    m.revolute("B", bar.tip, right.tip)
    modes = m.assemblies(O=0.8, starts=30)
    assert [x.coincident for x in modes] == [(), ()]
    assert coincident(m.assemble(O=0.0)) == set()  # flat, singular, and silent


# ---- avoided ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("build", [rhombus, spherical_rhombus])
def test_a_rhombus_opens(build):
    """Also from guesses next to the folded pose; flat, its rockers are parallel."""
    m = build((0.0, 0.0))
    for A, C in ((3.0, 3.1), (-2.8, 2.9), (3.3, -3.0), (0.0, 0.0)):
        state = m.assemble(O=0.5, guess={"A": A, "C": C})
        assert coincident(state) == set()
        assert build is spherical_rhombus or np.cos(state["C"] - 0.5) == pytest.approx(1.0, abs=1e-10)


def test_an_equal_crank_opens():
    m = equal_crank()
    for guess in (3.0, -3.0, 3.2, 2.0):
        assert m.assemble(O=0.7, guess={"A": guess})["slide"] == pytest.approx(2 * np.cos(0.7), abs=1e-10)


def scissors(**guess):
    """Two rods of 2 m, crossed at their middles, one on a pin and one on a slider."""
    m = cc.Mechanism("scissors", gravity=(0, 0, 0))
    a, b = (m.body(n, cc.rod(2.0, 1.0)) for n in "ab")
    slider = m.body("slider", cc.ball(0.1, 1))
    m.revolute("foot", m.ground, a)
    m.revolute("mid", a.at(1, 0, 0), b.at(1, 0, 0), **guess)
    m.prismatic("rail", m.ground, slider, axis=(1, 0, 0))
    m.revolute("sl", slider, b)
    return m


def test_zeros_that_nobody_guessed_ask_for_no_fold():
    """All zero, one rod lies on the other: nobody asked for it, unless these zeros were given or drawn."""
    m = scissors()
    assert abs(m.assemble(foot=0.6)["rail"]) == pytest.approx(2 * np.cos(0.6), abs=1e-10)
    for drawn, given in ((m, {"mid": 0.0}), (m, {"rail": 0.0}), (scissors(guess=0.0), {})):
        with pytest.warns(cc.AssemblyWarning, match="'b' lies on 'a'"):
            assert drawn.assemble(foot=0.6, guess=given)["rail"] == 0.0


GUESSES = {
    "drawn": lambda k, n: None,
    "zero": lambda k, n: 0.0,
    "folded": lambda k, n: 3.0 * (-1) ** k,
    "wild": lambda k, n: 2 * np.sin(5.0 * k + n),
}


@pytest.mark.parametrize(("stages", "layer"), [(2, 0.0), (3, 0.05), (4, 0.0), (8, 0.0)])
def test_a_lift_stands(stages, layer):
    """Whatever the guess, no stage lies on another: each is sqrt(1 - foot^2) high, up or down."""
    m = drawings.scissor_lift(stages, layer=layer)
    for name, guess in GUESSES.items():
        values = {x: guess(k, stages) for k, x in enumerate(m.joints) if x != "foot"}
        state = m.assemble(foot=0.6, guess={x: y for x, y in values.items() if y is not None})
        assert coincident(state) == set()
        r = place(state, f"rise{stages}.tip")
        assert [r[0], abs(r[1])] == pytest.approx([0.6, 0.8 * stages], abs=1e-9)
        assert name != "drawn" or r[1] > 0


def test_a_lift_is_held_by_what_virtual_work_says():
    """Two arms a stage of 1 kg at height (k - 1/2) h, h^2 + x^2 = 1: U = n^2 g h, and the foot carries dU/dx."""
    m = drawings.scissor_lift(4)
    folded_guess = {x: 3.0 * (-1) ** k for k, x in enumerate(m.joints) if x != "foot"}
    state = m.assemble(foot=0.6, guess=folded_guess)
    force = cc.holding_efforts(m, state)["foot"]
    up = np.sign(np.sin(state["left1"]))
    assert force.item() == pytest.approx(-up * 16 * 9.81 * 0.6 / 0.8, rel=1e-9)


def test_angles_stay_in_the_turns_of_the_guess():
    m = rhombus((3.0, 3.1))
    state = m.assemble(O=0.5)
    assert abs(state["A"] - 3.0) < np.pi and abs(state["C"] - 3.1) < np.pi
    assert m.assemble(O=0.5).q.tobytes() == state.q.tobytes()  # the same each time


# ---- told ------------------------------------------------------------------------------------------------------------


def test_a_folded_pose_that_is_asked_for_is_given_with_a_warning():
    m = rhombus()
    (folded,) = [x for x in m.assemblies(O=0.5, starts=30) if x.coincident]
    with pytest.warns(
        cc.AssemblyWarning,
        match=r"degenerate assembly of 'rhombus': .*'bar' lies on 'left'.*joints 'O' and 'B' coincide.*assemblies",
    ) as said:
        state = m.assemble(O=0.5, guess=folded.state)
    assert np.abs(state.q - folded.state.q).max() < 1e-9
    assert said[0].filename == __file__
    # held altogether it is no result of a search: no word
    m.assemble({name: state[name] for name in ("O", "A", "C")})


def test_where_there_is_no_other_pose_the_lost_rank_is_told():
    """A lift with its foot as far out as the arms are long is flat, however it is put together."""
    m = drawings.scissor_lift(2)
    with pytest.warns(cc.AssemblyWarning, match=r"'rise1' lies on 'fall1'.*rank of the closures is \d less") as said:
        state = m.assemble(foot=1.0)
    assert len(said) == 1 and "more pairs of bodies" in str(said[0].message)
    lost = m.mobility(state)
    assert f"closures is {lost.here - lost.true} less" in str(said[0].message) and lost.here > lost.true
