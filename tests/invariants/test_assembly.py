"""Assembly: all ways to put a mechanism together, from any set of inputs; a run keeps to the one it started with."""

import itertools

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import closedchain as cc
from closedchain.model.library.gough_stewart import BASE, PLATFORM
from tests.invariants import drawings


def same_angle(a, b):
    return abs(np.angle(np.exp(1j * (np.asarray(a) - b)))).max()


# ---- all modes -----------------------------------------------------------------------------------------------------


def rockers_of(crank):
    """Both rocker angles of the yardstick, from the triangle of crank tip, far pivot and pin."""
    tip = np.exp(1j * crank)
    d = tip - 2.0
    bend = np.arccos((2.0**2 + abs(d) ** 2 - 2.5**2) / (2 * 2.0 * abs(d)))
    return [np.angle(d) + sign * bend for sign in (-1, 1)]


@pytest.mark.parametrize("cut", [None, "O", "A", "C"])
def test_a_four_bar_has_two_modes(cut):
    m = drawings.four_bar(cut=cut or "")
    modes = m.assemblies(O=1.0, starts=60)
    assert len(modes) == 2 and len({mode.label for mode in modes}) == 2
    for rocker in rockers_of(1.0):
        assert min(same_angle(mode.state["C"], rocker) for mode in modes) < 1e-12


def test_a_five_bar_has_two_assembly_and_four_working_modes():
    m = cc.library.five_bar()
    assert len(m.assemblies(starts=60)) == 2
    modes = m.assemblies(frames={"left distal.tip": {"position": (0.05, 0.4, None)}}, starts=60)
    assert [mode.label for mode in modes] == [
        f"left elbow{a} right elbow{b}" for a, b in itertools.product("+-", repeat=2)
    ]


def rrr3_legs(position, angle):
    """Both base angles of each leg of the library's 3-RRR at a pose, by the law of cosines."""
    out = []
    for polar in np.radians([210, 330, 90]):
        base, corner = 1.2 / np.sqrt(3) * np.exp(1j * polar), 0.4 / np.sqrt(3) * np.exp(1j * polar)
        d = complex(*position) + np.exp(1j * angle) * corner - base
        bend = np.arccos((0.4**2 + abs(d) ** 2 - 0.6**2) / (2 * 0.4 * abs(d)))
        out.append((np.angle(d) + bend, np.angle(d) - bend))
    return out


def test_3rrr_has_eight_working_modes():
    m = cc.library.rrr3()
    position, angle = (0.05, 0.02), 0.1
    modes = m.assemblies(frames={"platform": {"position": (*position, 0), "rpy": (0, 0, angle)}})
    assert len(modes) == 8 and len({mode.label for mode in modes}) == 8
    expected = {signs: [leg[s] for leg, s in zip(rrr3_legs(position, angle), signs, strict=True)]
                for signs in itertools.product((0, 1), repeat=3)}  # fmt: skip
    found = set()
    for mode in modes:
        bases = [mode.state[f"base{k}"] for k in (1, 2, 3)]
        (signs,) = [s for s, want in expected.items() if same_angle(bases, want) < 1e-9]
        found.add(signs)
    assert len(found) == 8


def test_3rrr_forward_kinematics():
    """With its base angles held, the platform has several poses; every one keeps the lengths of the distal links."""
    m = cc.library.rrr3()
    held = {f"base{k}": angles[0] for k, angles in enumerate(rrr3_legs((0.05, 0.0), 0.0), start=1)}
    modes = m.assemblies(held, starts=60)
    assert len(modes) >= 2
    poses = []
    for mode in modes:
        run = cc.simulate(m, mode.state, until=0.0)
        where = run.frame("platform")
        for k, angle in enumerate(held.values()):
            polar = np.radians([210, 330, 90][k])
            elbow = 1.2 / np.sqrt(3) * np.array([np.cos(polar), np.sin(polar)])
            elbow = elbow + 0.4 * np.array([np.cos(angle), np.sin(angle)])
            corner = 0.4 / np.sqrt(3) * np.array([np.cos(polar), np.sin(polar), 0])
            place = where.position.values[0] + where.rotation.values[0] @ corner
            assert np.linalg.norm(place[:2] - elbow) == pytest.approx(0.6, abs=1e-12)
        poses.append(where.position.values[0])
    assert min(np.abs(a - b).max() for a, b in itertools.combinations(poses, 2)) > 1e-3


def test_gough_stewart_has_more_than_one_assembly_mode():
    m = cc.library.gough_stewart("none")
    lengths = [m.start[f"leg{k} slide"] for k in range(1, 7)]
    modes = m.assemblies(starts=40)
    assert len(modes) >= 2
    poses = []
    for mode in modes:
        state = mode.state.coordinates
        position = np.array([state[f"pose.{a}"] for a in "xyz"])
        R = Rotation.from_quat([state[f"pose.q{a}"] for a in "wxyz"], scalar_first=True).as_matrix()
        legs = np.linalg.norm(position + np.array(PLATFORM) @ R.T - np.array(BASE), axis=1)
        assert np.abs(legs - lengths).max() < 1e-9
        poses.append(np.concatenate([position, R.ravel()]))
    assert min(np.abs(a - b).max() for a, b in itertools.combinations(poses, 2)) > 1e-3


def test_modes_are_the_same_each_time():
    m = cc.library.five_bar()
    one, two = (m.assemblies(starts=30) for _ in range(2))
    assert [a.label for a in one] == [b.label for b in two]
    assert all(np.array_equal(a.state.q, b.state.q) for a, b in zip(one, two, strict=True))


# ---- from anything -------------------------------------------------------------------------------------------------


def test_from_a_frame():
    m = drawings.four_bar()
    want = m.assemble(O=0.7)
    run = cc.simulate(m, want, until=0.0)
    x, y, _ = run.frame("coupler.far").position.values[0]
    found = m.assemble(frames={"coupler.far": {"position": (x, None, None)}}, guess={"O": 0.6})
    assert np.abs(found.q - want.q).max() < 1e-9
    found = m.assemble(frames={"coupler.far": {"position": (x, y, 0)}})  # more than needed, but consistent
    assert np.abs(found.q - want.q).max() < 1e-9


def test_from_a_pose_of_the_platform():
    m = cc.library.gough_stewart("none")
    position, rpy = np.array([-1.4, 0.2, 1.6]), (0.1, -0.05, 0.2)
    state = m.assemble(frames={"platform": {"position": tuple(position), "rpy": rpy}})
    R = Rotation.from_euler("xyz", rpy).as_matrix()
    legs = np.linalg.norm(position + np.array(PLATFORM) @ R.T - np.array(BASE), axis=1)
    assert np.abs(legs - [state[f"leg{k} slide"] for k in range(1, 7)]).max() < 1e-11
    again = m.assemble(frames={"platform": {"position": tuple(position), "rotation": R}})
    assert np.abs(again.q - state.q).max() < 1e-9


def test_from_coordinates_and_frames_together():
    """Three lengths, the height, and two angles of the platform."""
    m = cc.library.gough_stewart("none")
    whole = m.assemble(frames={"platform": {"position": (-1.4, 0.2, 1.6), "rpy": (0.1, -0.05, 0.2)}})
    held = {f"leg{k} slide": whole[f"leg{k} slide"] for k in (1, 3, 5)}
    R = Rotation.from_euler("xyz", (0.1, -0.05, 0.2)).as_matrix()
    part = m.assemble(held, frames={"platform": {"rotation": R}}, guess=whole)
    assert np.abs(part.q - whole.q).max() < 1e-9
    part = m.assemble(held, frames={"platform": {"position": (-1.4, 0.2, 1.6)}}, guess=whole)
    assert np.abs(part.q - whole.q).max() < 1e-9


@pytest.mark.parametrize("held", ["O", "A", "B", "C"])
@pytest.mark.parametrize("cut", ["O", "B"])
def test_from_any_coordinate_cut_or_not(held, cut):
    m = drawings.four_bar(cut=cut)
    want = m.assemble(O=1.3)
    found = m.assemble({held: want[held]}, guess=want)
    assert all(same_angle(found[joint], want[joint]) < 1e-10 for joint in "OABC")
    moving = m.assemble({held: want[held]}, guess=want, velocity={held: 1.0})
    assert moving.velocities[held] == pytest.approx(1.0, abs=1e-12)


def test_from_far_away(rng):
    """A guess may be anywhere: the loop closes, or it is said why not; and the same guess gives the same answer."""
    m = drawings.four_bar()
    for _ in range(25):
        guess = dict(zip("ABC", rng.uniform(-np.pi, np.pi, 3), strict=True))
        crank = rng.uniform(-np.pi, np.pi)
        state = m.assemble(O=crank, guess=guess)
        assert min(same_angle(state["C"], rocker) for rocker in rockers_of(crank)) < 1e-12
        assert np.array_equal(m.assemble(O=crank, guess=guess).q, state.q)


# ---- what does not close says so -----------------------------------------------------------------------------------


def test_the_gap_is_told_loop_by_loop():
    """Two triangles of rods in one mechanism; the second one cannot reach."""
    m = cc.Mechanism("two loops", gravity=(0, -9.81, 0))
    for name, y, width in (("good", 0.0, 1.5), ("short", 5.0, 2.5)):
        left, right = (m.body(f"{name} {x}", cc.rod(1.0, mass=1.0)) for x in ("left", "right"))
        m.revolute(f"{name} A", m.ground.at(0, y, 0), left, guess=0.5)
        m.revolute(f"{name} C", m.ground.at(width, y, 0), right, guess=2.5)
        m.revolute(f"{name} B", left.tip, right.tip)
    with pytest.raises(cc.AssemblyError) as refused:
        m.assemble()
    lines = str(refused.value).splitlines()
    # both rods lie along the 2.5 m between the pivots; the loop that closes, and heights of 1e-17 m, are not told
    assert lines[1] in ("  loop closed by 'short B': x -0.5 m", "  loop closed by 'short B': x 0.5 m")
    assert lines[2].startswith("held: no coordinate. Check the lengths") and len(lines) == 3


def test_contradicting_velocities():
    m = drawings.four_bar()
    with pytest.raises(cc.AssemblyError, match="contradict the loops or each other"):
        m.assemble(O=1.0, velocity={"O": 1.0, "C": 5.0})


# ---- the right way round -------------------------------------------------------------------------------------------

KINDS = {"revolute": {}, "prismatic": {}, "cylindrical": {}, "planar": {}, "weld": {}, "screw": {"pitch": 0.1}}


@pytest.mark.parametrize("angle", [90, 170, 179.9, 180])
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_put_together_upside_down(kind, angle):
    """A body adrift starts turned by up to half a turn: no search may end with axes that point against each other."""
    P, S = Rotation.from_euler("xyz", (0.3, 0.2, 0.5)), Rotation.from_euler("xyz", (0.5, -0.4, 1.0))
    m = cc.Mechanism("upside down")
    body = m.body("body", cc.rigid(1.0, inertia=(0.1, 0.2, 0.3)))
    m.joint(kind, "joint", m.ground.at(0.3, 0.2, 0.1, R=P.as_matrix()), body.at(0.1, 0, -0.2, R=S.as_matrix()),
            cut=True, **KINDS[kind])  # fmt: skip
    m.revolute("other", m.ground, m.body("arm", cc.rod(1.0, mass=1.0)))  # a mechanism needs something that moves
    for axis in (*np.eye(3), [0.6, 0.64, 0.48]):
        turned = P * Rotation.from_rotvec(np.radians(angle) * np.array(axis)) * S.inv()
        state = m.assemble(guess={"body.free": (0, 0, 0, *turned.as_quat(scalar_first=True))}).coordinates
        quaternion = [state[f"body.free.q{a}"] for a in "wxyz"]
        Q = (P.inv() * Rotation.from_quat(quaternion, scalar_first=True) * S).as_matrix()
        if kind in ("prismatic", "weld"):
            assert np.abs(Q - np.eye(3)).max() < 1e-12
        else:
            assert Q[2, 2] > 1 - 1e-12


# ---- and it stays so -----------------------------------------------------------------------------------------------


def side(run):
    """On which side of the line from crank tip to far pivot the pin is: the sign of a branch."""
    tip, pin = (run.frame(name).position.values[:, :2] for name in ("crank.far", "rocker.far"))
    a, b = np.array([2.0, 0.0]) - tip, pin - tip
    return np.sign(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0])


@pytest.mark.parametrize("rtol", [1e-3, 1e-8])
def test_a_run_stays_on_its_branch(rtol):
    m = drawings.four_bar()
    sides = []
    for mode in m.assemblies(O=1.0, starts=30):
        start = m.assemble(dict(mode.state.coordinates), velocity={"O": 9.0})  # fast enough to turn over and over
        run = cc.simulate(m, start, until=5.0, rtol=rtol)
        assert np.ptp(run["O"].values) > 4 * np.pi
        assert np.ptp(side(run)) == 0
        sides.append(side(run)[0])
    assert sorted(sides) == [-1, 1]


def test_a_run_of_the_3rrr_keeps_its_working_mode():
    """Driven round a small circle and back; each leg bends as it did."""
    m = cc.library.rrr3()
    frames = {"platform": {"position": (0.05, 0.02, 0), "rpy": (0, 0, 0.1)}}
    for mode in m.assemblies(frames=frames, starts=30)[:1]:  # some of the others meet a type-2 singularity
        m = cc.library.rrr3()
        for k in (1, 2, 3):
            m.drive(f"base{k}", mode.state[f"base{k}"] + 0.02 * cc.math.sin(cc.t + k) - 0.02 * np.sin(k))
        m.start = {}
        run = cc.simulate(m, m.assemble(guess=dict(mode.state.coordinates)), until=2 * np.pi, rtol=1e-6)
        for k in (1, 2, 3):
            elbow = run[f"elbow{k}"].values
            assert np.ptp(np.sign(np.sin(elbow))) == 0
            assert same_angle(elbow[-1], elbow[0]) < 1e-5  # back where it was, to some times rtol
