"""Putting mechanisms together: what is held is kept, what is free closes the loops, what cannot close says where."""

from functools import cache

import numpy as np
import pytest

import closedchain as cc
from closedchain.derive.equations import derive
from closedchain.model.library import MECHANISMS
from closedchain.pose import assemble as module
from closedchain.pose.assemble import assemble
from closedchain.pose.closing import Closing
from closedchain.pose.state import parameter_vector

# closed means to rounding; a residual is a sum of some ten products of numbers of size one to ten
CLOSED = 1e-13


# traced once; no test changes these drawings
four_bar = cache(cc.library.four_bar)
five_bar = cache(cc.library.five_bar)
platform = cache(cc.library.gough_stewart)


@pytest.fixture
def impatient(monkeypatch):
    """Two restarts are enough to find that something cannot close."""
    monkeypatch.setattr(module, "RESTARTS", 2)


def residual(state):
    """Largest closure residual and its rate."""
    e = derive(state.mechanism)
    if not len(e.closure):
        return 0.0, 0.0
    f = e.function("c", {"c": e.closure.c, "rate": e.closure.A @ e.limbs.v})
    c, rate = f(0, state.q, state.v, parameter_vector(state.mechanism, state.parameters))
    return float(np.abs(np.array(c)).max()), float(np.abs(np.array(rate)).max())


@cache
def spatial(cut_ball=True, cut_hooke=None):
    """A crank and a rocker about skew axes, connected by a rod with a Hooke and a ball joint: one freedom."""
    m = cc.Mechanism("spatial", gravity=(0, 0, -9.81))
    crank, rod, rocker = (
        m.body(n, cc.rod(L, 1.0, radius=0.02)) for n, L in (("crank", 0.3), ("rod", 1.2), ("rocker", 0.8))
    )
    m.revolute("O", m.ground, crank)
    m.universal("A", crank.tip, rod, cut=cut_hooke)
    m.revolute("C", m.ground.at(1, 0, 0.2), rocker, axis=(0, 1, 0))
    m.spherical("B", rod.tip, rocker.tip, cut=cut_ball)
    return m


@cache
def table():
    """A plate on a planar joint, with a rod from the ground to its edge."""
    m = cc.Mechanism("table", gravity=(0, 0, -9.81))
    plate, arm = m.body("plate", cc.plate(1.0, 1.0, 1.0)), m.body("arm", cc.rod(2.0, 1.0))
    m.planar("table", m.ground, plate)
    m.revolute("arm joint", m.ground, arm)
    m.revolute("pin", arm.tip, plate.at(0.5, 0, 0), cut=True)
    return m


# ---- positions -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MECHANISMS)
def test_library_mechanisms_close_to_rounding(name):
    m = MECHANISMS[name].build()
    state = m.assemble()
    gap, rate = residual(state)

    assert gap < CLOSED
    assert rate < CLOSED if m.start_velocity else rate == 0.0
    assert state.parameters == {}


@pytest.mark.parametrize("angle", np.linspace(-3.0, 3.0, 13))
def test_a_held_joint_of_the_tree_is_kept_exactly(angle):
    state = four_bar().assemble(O=angle)

    assert state["O"] == angle
    assert residual(state)[0] < CLOSED


@pytest.mark.parametrize("angle", [0.7, 0.9, 0.9 + 2 * np.pi, 0.9 - 2 * np.pi], ids=lambda x: f"{x:.2f}")
def test_a_held_joint_that_is_cut(angle):
    """Turns of a hinge that is cut are counted from the held value on."""
    state = four_bar().assemble(B=angle)

    assert [j.name for j in state.topology.cuts] == ["B"]
    assert state["B"] == pytest.approx(angle, abs=1e-12)
    assert residual(state)[0] < CLOSED


def test_the_same_pose_from_either_joint():
    m = four_bar()
    one = m.assemble(O=1.0)
    other = m.assemble(B=one["B"], guess=one.coordinates)

    np.testing.assert_allclose(other.q, one.q, atol=1e-10)  # the pose follows from B with a slope of about ten


def test_several_held_at_once():
    m = five_bar()
    state = m.assemble({"left motor": 2.0, "right motor": 1.0})
    again = m.assemble({"left elbow": state["left elbow"], "tip": state["tip"]}, guess=state.coordinates)

    assert (state["left motor"], state["right motor"]) == (2.0, 1.0)
    np.testing.assert_allclose(again.q, state.q, atol=1e-10)


@pytest.mark.parametrize(
    "hold",
    [
        {"table.x": 1.6},
        {"table.y": 0.4},
        {"table.angle": 0.3},
        {"table.x": 1.4, "table.angle": -0.4},
        {"table": (1.5, 0.0, 0.0)},
    ],
    ids=str,
)
def test_parts_of_a_joint_with_several_coordinates(hold):
    state = table().assemble(hold, guess={"table.x": 1.5, "arm joint": 0.1})

    for key, value in hold.items():
        labels = [key] if "." in key else ["table.x", "table.y", "table.angle"]
        assert [state[label] for label in labels] == pytest.approx(np.atleast_1d(value), abs=1e-12)  # held to rounding
    assert residual(state)[0] < CLOSED


@pytest.mark.parametrize("cut_ball", [True, False], ids=["cut", "in the tree"])
def test_a_held_quaternion(cut_ball):
    m = spatial(cut_ball, cut_hooke=None if cut_ball else True)
    found = m.assemble(O=0.4)
    ball = [found[f"B.{x}"] for x in ("qw", "qx", "qy", "qz")]
    again = m.assemble({"B": ball}, guess=found.coordinates)

    assert residual(again)[0] < CLOSED
    assert again["O"] == pytest.approx(0.4, abs=1e-9)


@pytest.mark.parametrize("factor", [-1.0, 2.0], ids=["opposite sign", "not of length one"])
@pytest.mark.parametrize("cut_ball", [True, False], ids=["cut", "in the tree"])
def test_a_quaternion_means_a_rotation(impatient, cut_ball, factor):
    """q, -q and any multiple are the same orientation, and what is read off one state may be held in another."""
    m = spatial(cut_ball, cut_hooke=None if cut_ball else True)
    found = m.assemble(O=0.4)
    ball = [factor * found[f"B.{x}"] for x in ("qw", "qx", "qy", "qz")]
    again = m.assemble({"B": ball}, guess=found.coordinates)

    assert again["O"] == pytest.approx(0.4, abs=1e-9)


def test_a_part_of_a_pose():
    """The platform's height and one leg, the rest as it comes."""
    m = platform()
    state = m.assemble({"pose.z": 1.55, "leg1 slide": m.start["leg1 slide"]})

    assert state["pose.z"] == pytest.approx(1.55, abs=1e-12)
    assert residual(state)[0] < CLOSED


def test_quaternions_have_length_one():
    state = platform().assemble(guess={"pose": (-1.5, 0.1, 1.5, 3.0, 0.0, 0.3, 0.0)})
    quaternion = [state[f"pose.{x}"] for x in ("qw", "qx", "qy", "qz")]

    assert np.linalg.norm(quaternion) == pytest.approx(1.0, abs=1e-15)


def test_a_screw_that_is_cut_counts_its_turns():
    """A nut on a screw: 7 rad are not 0.717 rad, the nut is elsewhere."""
    m = cc.Mechanism("press", gravity=(0, 0, 0))
    spindle, nut = m.body("spindle", cc.ball(0.1, 1.0)), m.body("nut", cc.ball(0.1, 1.0))
    m.revolute("bearing", m.ground, spindle)
    m.prismatic("guide", m.ground, nut)
    m.screw("thread", spindle, nut, pitch=0.1, cut=True)
    state = m.assemble(thread=7.0)

    assert state["thread"] == pytest.approx(7.0, abs=1e-10)
    assert state["guide"] == pytest.approx(7.0 * 0.1 / (2 * np.pi), abs=1e-12)


def test_a_guess_chooses_the_branch():
    m = four_bar()
    up = m.assemble(O=1.0, guess={"A": -0.7, "C": 1.0})
    down = m.assemble(O=1.0, guess={"A": -2.5, "C": -2.0})

    assert up["C"] > 0 > down["C"]
    assert max(residual(up)[0], residual(down)[0]) < CLOSED


def test_the_guess_of_a_joint_is_used_and_can_be_overruled():
    def build(guess):
        m = cc.Mechanism("pair", gravity=(0, 0, 0))
        a, b = m.body("a", cc.rod(1.0, 1.0)), m.body("b", cc.rod(1.0, 1.0))
        m.revolute("A", m.ground, a, guess=guess)
        m.revolute("B", m.ground.at(1, 0, 0), b)
        m.revolute("pin", a.tip, b.tip)
        m.start = {"B": np.pi * 2 / 3}
        return m

    # the tips meet above the ground or the arm lies along it
    assert build(1.0).assemble()["A"] == pytest.approx(np.pi / 3, abs=1e-10)
    assert build(-0.2).assemble(guess={"A": 1.2})["A"] == pytest.approx(np.pi / 3, abs=1e-10)


def test_what_the_drawing_holds_is_used_when_nothing_is_said():
    m = cc.library.four_bar()
    m.start = {"C": 1.3}
    m.start_velocity = {"O": 2.0}
    state = m.assemble()

    assert state["C"] == 1.3 and state.velocities["O"] == pytest.approx(2.0, abs=1e-12)
    assert not m.assemble(C=1.3).v.any()  # a start of one's own starts at rest


def test_assemble_is_the_same_each_time():
    first, second = (cc.library.rrr3().assemble() for _ in range(2))

    np.testing.assert_array_equal(first.q, second.q)


def test_far_guesses_are_rescued_by_restarts():
    state = four_bar().assemble(O=1.0, guess={"A": 3.1, "C": -3.1})

    assert residual(state)[0] < CLOSED


def test_the_function_is_the_method():
    m = four_bar()

    np.testing.assert_array_equal(assemble(m, O=1.0).q, m.assemble(O=1.0).q)
    np.testing.assert_array_equal(m.assemble({"O": 1.0}).q, m.assemble(O=1.0).q)


def test_parameters_for_one_call():
    m = four_bar()
    state = m.assemble(O=1.0, parameters={"rocker.length": 2.6})

    assert residual(state)[0] < CLOSED
    assert state.parameters == {"rocker.length": 2.6} and m.parameters["rocker.length"] == 2.5
    assert abs(state["C"] - m.assemble(O=1.0)["C"]) > 1e-3


def test_an_open_chain_is_always_assembled():
    state = cc.library.double_pendulum().assemble(shoulder=0.3)

    assert (state["shoulder"], state["elbow"]) == (0.3, 0.0)


def test_a_floating_part_is_put_where_it_closes():
    m = cc.Mechanism("adrift", gravity=(0, 0, 0))
    plate = m.body("plate", cc.ball(0.1, 1.0))
    m.weld("glue", m.ground.at(1, 2, 3), plate.at(0.1, 0, 0), cut=True)
    m.revolute("spin", plate, m.body("wheel", cc.ball(0.1, 1.0)))
    state = m.assemble()

    assert [state[f"plate.free.{x}"] for x in "xyz"] == pytest.approx([0.9, 2.0, 3.0], abs=1e-12)


# ---- velocities ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("joint", ["O", "A", "C", "B"])
def test_one_velocity_of_a_mechanism_with_one_freedom(joint):
    state = four_bar().assemble(O=1.0, velocity={joint: 2.0})

    assert state.velocities[joint] == pytest.approx(2.0, abs=1e-12)
    assert residual(state)[1] < CLOSED * 10  # velocities of size ten


def test_velocities_are_the_rates_of_positions():
    m = four_bar()
    state = m.assemble(O=1.0, velocity={"O": 1.0})
    h = 1e-5  # central differences: error h^2 plus 1e-13 / h
    ahead, behind = (m.assemble(O=1.0 + s * h, guess=state.coordinates) for s in (1, -1))
    for name, v in state.velocities.items():
        assert (ahead[name] - behind[name]) / (2 * h) == pytest.approx(v, abs=1e-7)


def test_velocities_that_are_not_said_are_as_small_as_possible():
    m = five_bar()
    state = m.assemble(velocity={"left motor": 1.0})
    others = [m.assemble(velocity={"left motor": 1.0, "right motor": w}) for w in np.linspace(-3, 3, 13)]

    assert residual(state)[1] < CLOSED * 10
    assert all(np.linalg.norm(state.v) <= np.linalg.norm(other.v) + 1e-12 for other in others)


def test_a_velocity_of_a_quaternion_joint():
    state = spatial().assemble(O=0.4, velocity={"B.wz": 1.0})

    assert state.velocities["B.wz"] == pytest.approx(1.0, abs=1e-12)
    assert residual(state)[1] < CLOSED * 100  # the others are up to a hundred times faster


def test_velocities_that_contradict_each_other_are_named():
    with pytest.raises(
        cc.AssemblyError,
        match=r"velocities of 'four-bar' that are held .*O, A.* contradict .*off by .* m/s\): .*hold fewer",
    ):
        four_bar().assemble(O=1.0, velocity={"O": 1, "A": 5})


def test_consistent_velocities_may_all_be_held():
    m = four_bar()
    state = m.assemble(O=1.0, velocity={"O": 2.0})
    again = m.assemble(O=1.0, velocity=state.velocities)

    np.testing.assert_allclose(again.v, state.v, atol=1e-12)


# ---- modes -----------------------------------------------------------------------------------------------------------


def test_modes_of_a_driven_mechanism_are_starts():
    m = cc.library.four_bar(torque=0.0)
    m.drive("O", 1.0 + 6.28 * cc.t)
    modes = m.assemblies(O=1.0, starts=30)

    assert len(modes) == 2
    for mode in modes:
        assert mode.state.velocities["O"] == pytest.approx(6.28, abs=1e-12)
        np.testing.assert_allclose(mode.state.v, m.assemble(O=1.0, guess=mode.state).v, atol=1e-12)
        run = cc.simulate(m, mode.state, until=0.1)
        assert run["O"].values[-1] == pytest.approx(1.628, abs=1e-8)


def test_modes_take_velocities_as_assemble_does():
    m = four_bar()
    for mode in m.assemblies(O=1.0, velocity={"O": 2.0}, starts=30):
        assert residual(mode.state)[1] < CLOSED * 10 and mode.state.velocities["O"] == pytest.approx(2.0, abs=1e-12)
    assert not any(mode.state.v.any() for mode in m.assemblies(O=1.0, starts=30))
    with pytest.raises(cc.ModelError, match="velocity: no joint velocity is named 'P'"):
        m.assemblies(O=1.0, velocity={"P": 1.0})
    with pytest.raises(cc.AssemblyError, match="contradict the loops or each other"):
        m.assemblies(O=1.0, velocity={"O": 1.0, "C": 5.0}, starts=10)


def test_modes_that_cannot_move_as_wanted_are_left_out_with_a_word():
    """Only one of the two poses turns both cranks at the wanted ratio."""
    m = four_bar()
    moves = m.assemble(O=1.0, velocity={"O": 1.0})
    with pytest.warns(cc.AssemblyWarning, match="1 of 2 assemblies of 'four-bar' are left out: the velocities"):
        (mode,) = m.assemblies(O=1.0, velocity={"O": 1.0, "C": moves.velocities["C"]}, starts=30)
    np.testing.assert_allclose(mode.state.q, moves.q, atol=1e-9)


# ---- refused ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"hold": {"o": 1.0}}, "hold: no joint or coordinate is named 'o'; known: 'O'"),
        ({"hold": {"O.angle": 1.0}}, r"hold: no joint or coordinate is named 'O\.angle'; did you mean 'O'|known"),
        ({"hold": {"O": (1.0, 2.0)}}, r"hold: 'O' takes 1 finite value, not \(1\.0, 2\.0\)"),
        ({"hold": {"O": np.nan}}, "hold: 'O' takes 1 finite value, not nan"),
        ({"guess": {"Q": 1.0}}, "guess: no joint or coordinate is named 'Q'"),
        ({"guess": {"A": np.inf}}, "guess: 'A' takes 1 finite value"),
        ({"velocity": {"P": 1.0}}, "velocity: no joint velocity is named 'P'"),
        ({"velocity": {"O": np.nan}}, "velocity: 'O' .*finite"),
        ({"velocity": {"O": np.inf}}, "velocity: 'O' .*finite"),
        ({"parameters": {"crank.size": 1.0}}, r"no parameter 'crank\.size'; did you mean 'crank\.mass'"),
        ({"parameters": {"crank.length": np.nan}}, r"parameter 'crank\.length' is nan"),
        ({"O": 1.0, "Z": 2.0}, "hold: no joint or coordinate is named 'Z'"),
    ],
    ids=[
        "unknown joint", "coordinate of a hinge", "two values", "nan", "unknown guess", "inf guess", "unknown velocity",
        "nan velocity", "inf velocity", "unknown parameter", "nan parameter", "keyword",
    ],
)  # fmt: skip
def test_refused_values_name_the_culprit(how, message):
    with pytest.raises(cc.ModelError, match=message):
        four_bar().assemble(**how)


HOSTILE = ["1", "\0", "O\0", b"\0", np.nan, np.inf, -np.inf, 1e308, 10**400, 1j, None, [], [np.nan], {}, object(), cc.t]


@pytest.mark.parametrize("value", HOSTILE, ids=lambda x: repr(x)[:12])
def test_hostile_values_are_told_in_a_sentence(value):
    """Null bytes, numbers that are none, numbers too large to square: always a ModelError in our own words."""
    m, key = four_bar(), "x" if isinstance(value, list | dict) else value
    calls = [
        lambda: m.assemble(O=value),
        lambda: m.assemble({key: 1.0}),
        lambda: m.assemble(O=1.0, guess={"A": value}),
        lambda: m.assemble(O=1.0, guess={key: 1.0}),
        lambda: m.assemble(O=1.0, velocity={"O": value}),
        lambda: m.assemble(O=1.0, velocity={key: 1.0}),
        lambda: m.assemble(O=1.0, acceleration={"O": value}),
        lambda: m.assemble(O=1.0, time=value),
        lambda: m.assemble(O=1.0, gaps={"B x": value}),
        lambda: m.assemble(O=1.0, open_joints=(value,)),
        lambda: m.assemble(O=1.0, parameters={key: 1.0}),
        lambda: m.assemble(frames={key: {"position": (0, 0, 1)}}),
        lambda: m.assemble(frames={"coupler": {"position": (0, value, 0) if value is not None else (0, 1)}}),
        lambda: m.assemble(frames={"coupler": {"position": value}}),
        lambda: m.assemble(frames={"coupler": {"rotation": value}}),
        lambda: m.assemble(frames={"coupler": {"velocity": value}}),
    ]
    if not isinstance(value, int):  # a whole number, however large, may be meant
        calls += [lambda: m.assemblies(O=1.0, starts=value), lambda: m.assemblies(O=1.0, seed=value)]
    if not isinstance(value, list | dict):
        calls += [lambda: m.assemble(value) if value is not None else m.assemble(O=None)]
        calls += [lambda: m.assemble(O=1.0, guess=value) if value is not None else m.assemble(O=1.0, guess={"A": None})]
    for call in calls:
        with pytest.raises(cc.ModelError) as told:
            call()
        assert "ufunc" not in str(told.value)


@pytest.mark.parametrize("size", [1.0, 1e-6, 1e6])
def test_the_gaps_that_matter_are_named_in_any_unit(size):
    """A metre and a radian compare by the length of the drawing."""
    m = cc.Mechanism("off the plane", tolerance=1e-5 * size)
    crank, coupler, rocker = (m.body(f"body{x}", cc.rod(x * size, 1.0)) for x in (1, 3, 2))
    m.revolute("O", m.ground, crank)
    m.revolute("A", crank.tip, coupler)
    m.revolute("C", m.ground.at(3 * size, 0, 4e-6 * size), rocker, axis=(5e-6, 0, 1))
    m.revolute("B", coupler.tip, rocker.tip)
    with pytest.raises(cc.AssemblyError) as told:
        m.assemble(O=1.57, guess={"A": -1.2, "C": 1.3})
    assert str(told.value).splitlines()[1] == f"  loop closed by 'B': z {-1.48e-5 * size:.3g} m"


def test_zero_dimensional_arrays_are_told_in_a_sentence():
    for name in ("position", "velocity", "angular_velocity"):
        with pytest.raises(cc.ModelError, match=f"the {name} of 'coupler' has three finite components"):
            four_bar().assemble(frames={"coupler": {name: np.array(1.0)}})


def test_a_guess_may_be_a_state_of_another_drawing():
    """Known names are taken; a state that knows none, or has numbers missing, is told."""
    grown = cc.library.four_bar()
    grown.revolute("extra", grown.bodies["rocker"].tip, grown.body("flap", cc.rod(0.2, 0.1)))
    down = four_bar().assemble(O=1.0, guess={"A": -2.5, "C": -2.0})
    assert grown.assemble(O=1.0, guess=down)["C"] == pytest.approx(down["C"], abs=1e-10)

    with pytest.raises(cc.ModelError, match="guess: the state of 'pendulum' has no coordinate of 'four-bar': O, A, C"):
        four_bar().assemble(O=1.0, guess=cc.library.pendulum().assemble())
    with pytest.raises(cc.ModelError, match=r"guess: q of the state has the shape \(2,\), but .* has 4 coordinates"):
        four_bar().assemble(O=1.0, guess=cc.State(four_bar(), [0.1, 0.2], [0, 0, 0]))


def test_a_ball_takes_four_values():
    with pytest.raises(cc.ModelError, match=r"hold: 'B' takes 4 finite values, not 1\.0"):
        spatial().assemble(B=1.0)


def test_a_text_is_no_value():
    with pytest.raises(cc.ModelError, match="hold: 'O'"):
        four_bar().assemble(O="up")


def test_a_loop_that_cannot_close_tells_its_gap(impatient):
    with pytest.raises(cc.AssemblyError) as trouble:
        four_bar().assemble(O=np.pi / 2, parameters={"coupler.length": 10.0})
    lines = str(trouble.value).splitlines()

    assert lines[0].startswith("mechanism 'four-bar' does not close")
    assert lines[1].startswith("  loop closed by 'B': x ") and lines[1].endswith(" m")
    assert lines[2].startswith("held: O=1.571.") and "guess=" in lines[2]
    # the gap along the shortest way: 10 m of coupler where crank tip and rocker allow sqrt(10) + 2.5 m at most
    gap = [float(part.split()[1]) for part in lines[1].split(": ")[1].split(", ")]
    assert np.hypot(*gap) == pytest.approx(10 - np.sqrt(10) - 2.5, rel=1e-2)  # printed with three digits


def test_every_loop_tells_its_own_gap(impatient):
    """Of the two loops of a 3-RRR one is fine and one is not: a reader must see which."""
    m = cc.library.rrr3()
    with pytest.raises(cc.AssemblyError) as trouble:
        m.assemble(parameters={"distal3.length": 0.05})
    text = str(trouble.value)

    assert "loop closed by 'wrist2'" in text and "loop closed by 'wrist3'" in text
    assert all(f"{name}=" in text for name in m.start)


def test_a_held_value_that_cannot_be_reached_is_told(impatient):
    with pytest.raises(cc.AssemblyError, match="held value 'B': off by"):
        four_bar().assemble(B=2.5)  # a crank-rocker's coupler and rocker never stand like this


def test_too_many_held(impatient):
    with pytest.raises(cc.AssemblyError, match=r"does not close.*\n.*loop closed by 'B'.*\nheld: O=1, A=0\.3, C=0\.2"):
        four_bar().assemble(O=1.0, A=0.3, C=0.2)


@pytest.mark.parametrize(
    ("spoil", "row"),
    [
        ({"at": (3, 0, 0.25)}, r"'z' is 0\.25"),
        ({"at": (3, 0, 0), "rpy": (np.pi, 0, 0)}, "'(tilt|turn)"),
    ],
    ids=["out of the plane", "axis upside down"],
)
def test_what_can_never_close_is_told_apart(spoil, row):
    """A planar loop with a step in it: no search will help."""
    m = cc.Mechanism("step", gravity=(0, 0, 0))
    a, b, c = (m.body(n, cc.rod(L, 1.0)) for n, L in (("a", 1.0), ("b", 4.0), ("c", 2.5)))
    at = spoil.pop("at")
    m.revolute("O", m.ground, a)
    m.revolute("A", a.tip, b, guess=-1.2)
    m.revolute("C", m.ground.at(*at, **spoil), c, guess=1.3)
    m.revolute("B", b.tip, c.tip)

    with pytest.raises(cc.AssemblyError, match=rf"joint 'B' can never close: its residual {row}"):
        m.assemble(O=1.5)


def test_a_parameter_may_open_what_was_structurally_closed():
    m = cc.Mechanism("step", gravity=(0, 0, 0))
    z = m.parameter("step", 0.0)
    a, b, c = (m.body(n, cc.rod(L, 1.0)) for n, L in (("a", 1.0), ("b", 4.0), ("c", 2.5)))
    m.revolute("O", m.ground, a)
    m.revolute("A", a.tip, b, guess=-1.2)
    m.revolute("C", m.ground.at(3, 0, z), c, guess=1.3)
    m.revolute("B", b.tip, c.tip)

    assert residual(m.assemble(O=1.5))[0] < CLOSED
    with pytest.raises(cc.AssemblyError, match=r"joint 'B' can never close: its residual 'z' is 0.1"):
        m.assemble(O=1.5, parameters={"step": 0.1})


def test_only_gaps_that_matter_are_told(impatient):
    """Of two loops one closes to rounding; of the held frame only one component is missed."""
    with pytest.raises(cc.AssemblyError) as trouble:
        five_bar().assemble(frames={"left distal.tip": {"position": (0.0, 4.0, None)}}, guess=five_bar().assemble())
    lines = str(trouble.value).splitlines()
    sizes = [[abs(float(part.split()[-2])) for part in line.split(": ")[1].split(", ")] for line in lines[1:-1]]

    assert [x[0] for x in sizes] == sorted((x[0] for x in sizes), reverse=True)
    assert all(x == sorted(x, reverse=True) for x in sizes)
    assert min(x for y in sizes for x in y) > 1e-3 * sizes[0][0]
    assert lines[1].startswith("  held frame 'left distal.tip': y ")


def test_the_reachable_value_is_told(impatient):
    """Coupler and rocker enclose the most, and the least, where the crank lies along the ground: law of cosines."""
    most, least = (np.arccos((4.0**2 + 2.5**2 - d**2) / (2 * 4.0 * 2.5)) for d in (4.0, 2.0))
    for held, reach in ((2.5, most), (0.1, least)):
        with pytest.raises(cc.AssemblyError, match=r"It closes with B = [\d.]+ instead") as trouble:
            four_bar().assemble(B=held, guess={"O": 1.0, "A": -0.7, "C": 1.0})
        told = float(str(trouble.value).split("B = ")[1].split(" instead")[0])
        assert told == pytest.approx(reach, abs=1e-4)  # five digits are told


def test_of_two_held_values_each_is_offered(impatient):
    m = four_bar()
    crank, rocker = m.assemble(C=1.0)["O"], m.assemble(O=1.0)["C"]
    with pytest.raises(cc.AssemblyError) as trouble:
        m.assemble(O=1.0, C=1.0)

    assert f"It closes with C = {rocker:.5g} or O = {crank:.5g} instead" in str(trouble.value)


def test_how_near_a_held_frame_comes_is_told(impatient):
    """Both arms of the five-bar are stretched, 0.6 m from pivots 0.2 m apart."""
    m = five_bar()
    with pytest.raises(cc.AssemblyError, match=r"held frames come within ([\d.]+) m") as trouble:
        m.assemble(frames={"left distal.tip": {"position": (None, 4.0, None)}})
    told = float(str(trouble.value).split("come within ")[1].split(" m")[0])

    assert told == pytest.approx(4.0 - np.sqrt(0.6**2 - 0.1**2), abs=0.005)  # three digits are told


# ---- nearby ----------------------------------------------------------------------------------------------------------


def test_a_pose_nearby_moves_along_what_is_free():
    m = four_bar()
    state = m.assemble(O=1.0)
    closing = Closing(derive(m), parameter_vector(m))
    near = closing.near(state.q, np.array([0.05, 0.0, 0.0]))

    assert closing.error(near) < CLOSED
    assert 0 < np.abs(near - state.q).max() < 0.1
