"""Motions along paths: kinematics of every joint, modes, limits, the workspace, and what is refused."""

import math

import numpy as np
import pytest

import closedchain as cc


def arm(limits=None):
    """Two rods of 1.0 and 0.8 m on hinges, in a horizontal plane."""
    m = cc.Mechanism("arm", gravity=(0, 0, -9.81))
    upper, lower = (m.body(name, cc.rod(length=x, mass=1.0)) for name, x in (("upper", 1.0), ("lower", 0.8)))
    m.revolute("shoulder", m.ground, upper, guess=-0.5)
    m.revolute("elbow", upper.tip, lower, guess=1.0, limits=limits)
    return m


def differences(t, values):
    """Derivatives by central differences of fourth order, at the samples that have two neighbours on each side."""
    h = t[1] - t[0]
    return (values[:-4] - 8 * values[1:-3] + 8 * values[3:-1] - values[4:]) / (12 * h)


def test_inverse_kinematics_of_an_arm():
    path = {"lower.tip": (1.2 + 0.1 * cc.math.sin(cc.t), 0.3 * cc.math.cos(cc.t), None)}
    motion = cc.follow(arm(), path, until=2.0)
    x, y = 1.2 + 0.1 * np.sin(motion.t), 0.3 * np.cos(motion.t)
    bend = np.arccos((x**2 + y**2 - 1.0**2 - 0.8**2) / (2 * 0.8))
    assert motion["elbow"].values == pytest.approx(bend, abs=1e-12)
    angle = np.arctan2(y, x) - np.arctan2(0.8 * np.sin(bend), 1.0 + 0.8 * np.cos(bend))
    assert motion["shoulder"].values == pytest.approx(angle, abs=1e-12)


@pytest.mark.parametrize("name", ["four-bar", "five-bar", "rrr3", "delta", "gough-stewart"])
def test_rates_are_those_of_the_coordinates(name):
    """Of every joint, cut ones included: differences of fourth order agree to their own error."""
    m = cc.library.get(name).build()
    if m.output is None:
        path = {"O": 1.0 + cc.t**2}
    else:
        start = m.assemble()
        at = cc.simulate(m, start, 0.0).frame(m.output)
        place, R = at["position"].values[0], at["rotation"].values[0]
        s = 0.02 * cc.math.sin(3 * cc.t)
        rotation = None if name == "five-bar" else tuple(map(tuple, R.tolist()))
        path = {m.output: cc.paths.Path((place[0] + s, place[1] - 0.5 * s, float(place[2])), rotation, 1.0)}
    motion = cc.follow(m, path, until=0.5, samples=251)
    for label in motion.scalars:
        for low, high in ((label, f"{label}'"), (f"{label}'", f"{label}''")):
            got = differences(motion.t, motion[low].values)
            assert np.abs(got - motion[high].values[2:-2]).max() < 1e-6  # h^4 / 30 times a fifth derivative below 1e5


def test_a_full_pose_is_followed_in_position_and_orientation():
    m = cc.library.hexaglide(drive="none")
    angle = 0.1 * cc.math.sin(2 * cc.t)
    R = ((cc.math.cos(angle), 0.0, cc.math.sin(angle)), (0.0, 1.0, 0.0), (-cc.math.sin(angle), 0.0, cc.math.cos(angle)))
    motion = cc.follow(m, {"platform": cc.paths.Path((0.02 * cc.math.sin(3 * cc.t), 0.0, -0.7), R, 1.0)}, samples=41)
    frame = motion.frame("platform")
    t = motion.t
    assert frame["position"].values[:, 0] == pytest.approx(0.02 * np.sin(3 * t), abs=1e-12)
    assert frame["rotation"].values[:, 0, 2] == pytest.approx(np.sin(0.1 * np.sin(2 * t)), abs=1e-12)
    assert frame["velocity"].values[:, 0] == pytest.approx(0.06 * np.cos(3 * t), abs=1e-12)
    assert frame["acceleration"].values[:, 0] == pytest.approx(-0.18 * np.sin(3 * t), abs=1e-11)
    assert frame["angular_velocity"].values[:, 1] == pytest.approx(0.2 * np.cos(2 * t), abs=1e-12)
    assert frame["angular_acceleration"].values[:, 1] == pytest.approx(-0.4 * np.sin(2 * t), abs=1e-11)
    # and the rails are what the drawing's own inverse kinematics says
    corner, foot = motion.frame(m.joints["strut1 ball"].b), motion["rail1"].values
    assert np.ptp(foot) > 0.01 and corner["position"].shape == (41, 3)


def test_turns_are_counted():
    """Two turns of the crank: its own angle and the cut joint's grow on, and the rocker comes back."""
    m = cc.library.four_bar()
    motion = cc.follow(m, {"O": cc.paths.Path((4 * cc.pi * cc.t,), None, 1.0)}, samples=81)
    assert motion["O"].values[-1] == pytest.approx(4 * math.pi, abs=1e-12)
    assert motion["C"].values[-1] == pytest.approx(motion["C"].values[0], abs=1e-11)
    for cut in ("A", "B", "C"):
        assert np.abs(np.diff(motion[cut].values)).max() < 1.0


def test_drives_are_paths_too():
    m = cc.library.four_bar(torque=0.0)
    m.drive("O", lambda t: 1.0 + t)
    motion = cc.follow(m, until=1.0, samples=11)
    free = cc.follow(cc.library.four_bar(), {"O": lambda t: 1.0 + t}, until=1.0, samples=11)
    assert motion["C''"].values == pytest.approx(free["C''"].values, abs=1e-10)
    with pytest.raises(cc.ModelError, match="say what 'four-bar' is to follow"):
        cc.follow(cc.library.four_bar(), until=1.0)


def test_a_foot_in_the_air_follows_its_own_path():
    m = cc.library.walker(drive="none")
    foot = next(j for j in m.joints.values() if j.name.startswith("leg1") and j.type.closure and j.cut)
    start = m.assemble()
    motion = cc.follow(
        m,
        {"leg1 yaw": start["leg1 yaw"] + 0.1 * cc.math.sin(cc.t),
         "leg1 hip": start["leg1 hip"] + 0.2 * cc.math.sin(cc.t),
         "leg1 knee": start["leg1 knee"], "body": _rest(m, start)},
        until=1.0,
        samples=11,
        open_joints=(foot.name,),
    )  # fmt: skip
    assert motion.start.open_joints == (foot.name,)
    need = cc.inverse_dynamics(
        m, motion, actuators=[j for j in m.joints if j.startswith("leg") and m.joints[j].type.nv == 1]
    )
    assert need.redundancy == 3  # nine freedoms of the feet that stand hold six of the body; three legs share it


def _rest(m, start):
    at = cc.simulate(m, start, 0.0).frame("body")
    place, R = at["position"].values[0], at["rotation"].values[0]
    return cc.paths.Path(tuple(place.tolist()), tuple(map(tuple, R.tolist())), 1.0)


# ---- modes -----------------------------------------------------------------------------------------------------------


def test_all_working_modes_of_the_3_rrr():
    m = cc.library.rrr3()
    s = 0.03 * cc.math.sin(2 * cc.t)
    path = cc.paths.Path((s, 0.02 - s, 0.0), ((1, 0, 0), (0, 1, 0), (0, 0, 1)), 1.0)
    at_start = m.assemblies(frames={"platform": {"position": (0, 0.02, 0), "rotation": np.eye(3)}})
    assert len(at_start) == 8
    found = [cc.follow(m, {"platform": path}, samples=11, guess=mode.state) for mode in at_start]
    ends = {tuple(np.round([float(motion[f"elbow{k}"][-1]) for k in (1, 2, 3)], 6)) for motion in found}
    assert len(ends) == 8  # each stays in its own
    for mode, motion in zip(at_start, found, strict=True):
        for k in (1, 2, 3):
            assert (np.sin(motion[f"elbow{k}"].values) > 0).all() == (math.sin(mode.state[f"elbow{k}"]) > 0)


def test_assemblies_of_forward_kinematics():
    m = cc.library.four_bar()
    low, high = (cc.follow(m, {"O": 1.0 + cc.t}, until=1.0, assembly=x) for x in ("C-", "C+"))
    assert (low["C"].values < 0).all() and (high["C"].values > 0).all()
    with pytest.raises(cc.ModelError, match=r"no assembly 'C' at the beginning of the path; known: 'C\+', 'C-'"):
        cc.follow(m, {"O": 1.0}, until=1.0, assembly="C")
    with pytest.raises(cc.ModelError, match="an assembly, or a guess"):
        cc.follow(m, {"O": 1.0}, until=1.0, assembly="C+", guess={"C": 1.0})


# ---- limits and the workspace ----------------------------------------------------------------------------------------


def test_limits_are_reported_with_the_time():
    m = arm(limits=(-0.5, 1.3))
    with pytest.warns(cc.RunWarning, match=r"'elbow' is beyond its limit 1\.3 rad from t = 0\.2013") as caught:
        motion = cc.follow(m, {"shoulder": 0.0, "elbow": 1.1 + cc.math.sin(cc.t)}, until=4.0)
    assert len(caught) == 1
    (high,) = motion.violations
    # cubic interpolation between samples 0.02 s apart
    assert (high.begin, high.end) == pytest.approx((math.asin(0.2), math.pi - math.asin(0.2)), abs=1e-8)
    assert high.worst == pytest.approx(2.1, abs=1e-4)
    with pytest.warns(cc.RunWarning, match=r"limit -0\.5 rad from t = 0 to 1 s"):
        motion = cc.follow(m, {"shoulder": 0.0, "elbow": -0.6 - 0.1 * cc.t}, until=1.0)
    assert motion.violations[0].worst == pytest.approx(-0.7)


def test_a_limit_is_passed_between_samples():
    """Seven samples of a sine, none of them beyond its limit."""
    m = arm(limits=(-0.9, 0.9))
    path = cc.paths.Path((cc.math.sin(2 * cc.pi * cc.t),), None, 1.0)
    with pytest.warns(cc.RunWarning, match="0.9 rad from"), pytest.warns(cc.RunWarning, match="-0.9 rad from"):
        motion = cc.follow(m, {"shoulder": 0.0, "elbow": path}, samples=7, guess={"elbow": 0.0})
    assert np.abs(motion["elbow"].values).max() < 0.9
    high, low = motion.violations
    assert (high.begin, high.end) == pytest.approx(
        (math.asin(0.9) / 2 / math.pi, 0.5 - math.asin(0.9) / 2 / math.pi), abs=0.02
    )
    assert low.worst == pytest.approx(-1.0, abs=0.05)


def test_a_path_that_leaves_the_workspace_tells_when():
    with pytest.raises(
        cc.AssemblyError, match=r"leaves the workspace of 'arm' at t = 1\.(6|59999\d*) s.*'elbow'"
    ) as error:
        cc.follow(arm(), {"lower.tip": (1.0 + 0.5 * cc.t, 0.0, None)}, until=3.0)
    motion = error.value.motion  # what was reached is kept
    assert motion.t[-1] == pytest.approx(1.59, abs=0.011) and motion["elbow"].values[-1] < 0.2
    with pytest.raises(cc.AssemblyError, match="does not close"):
        cc.follow(arm(), {"lower.tip": (5.0, 0.0, None)}, until=1.0)


def test_conditioning_falls_towards_a_singular_pose():
    motion = cc.follow(arm(), {"lower.tip": (1.0 + 0.5 * cc.t, 0.0, None)}, until=1.5)
    values = motion["path_conditioning"].values
    assert values[-1] < 0.3 * values[0] and (np.diff(values) < 0).all()


# ---- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("along", "sentence"),
    [
        ({"lower.tip": (1.0, None, None)}, r"leaves 1 motion of 'arm' open.*'(elbow|shoulder)'"),
        ({"lower.tip": (1.0, 0.2, 0.3)}, r"does not close"),
        ({"lower.tip": (1.0, 0.2, None), "elbow": cc.t}, r"(asks for|leaves the workspace|does not close)"),
        ({"wrist": 1.0}, r"no frame, joint or coordinate 'wrist'"),
        ({"ground": (0, 0, 0)}, r"the ground does not move"),
        ({"elbow": (1.0, 2.0)}, r"it has 1 coordinate \(elbow\), but the path has 2 components"),
        ({"lower": 1.0}, r"path of 'lower': give a path of cc.paths, or three functions of time"),
        ({"elbow": lambda t, q: t}, r"path of 'elbow': write it as a function of time alone"),
        ({"elbow": "fast"}, r"path of 'elbow' must be a number, a parameter or an expression, not 'fast'"),
        ({3: 1.0}, r"not for 3"),
        ("elbow", r"a mapping from frames and joints to paths"),
    ],
)
def test_wrong_wishes_are_refused(along, sentence):
    with pytest.raises((cc.ModelError, cc.AssemblyError), match=sentence):
        cc.follow(arm(), along, until=1.0)


def test_a_path_may_not_depend_on_the_state():
    m = arm()
    with pytest.raises(cc.ModelError, match="may depend on time and parameters only, not on"):
        cc.follow(m, {"elbow": m.joints["shoulder"].q, "shoulder": 0.0}, until=1.0)


def test_times_at_which_a_motion_is_wanted():
    """Equal ones from the beginning on, as far as they go; so many; or those in an array."""
    m, path = arm(), {"elbow": 0.5 + 0.1 * cc.t, "shoulder": 0.0}
    times = [cc.follow(m, path, 0.5, begin=0.1, **x).t for x in ({"t_eval": cc.Every(0.15)}, {"samples": 3})]
    np.testing.assert_allclose(times[0], [0.1, 0.25, 0.4], rtol=1e-15)
    np.testing.assert_allclose(times[1], [0.1, 0.3, 0.5], rtol=1e-15)
    np.testing.assert_array_equal(cc.follow(m, path, t_eval=[0.2, 0.3]).t, [0.2, 0.3])


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"until": -1.0}, r"until \(-1 s\) must come after begin \(0 s\)"),
        ({"until": math.nan}, r"until must be a finite number"),
        ({"samples": 1, "until": 1.0}, r"samples must be a whole number of at least 2"),
        (
            {"samples": 10**12, "until": 1.0},
            r"samples: 1e\+12 samples are more than a motion can hold: take 1e\+08 at most",
        ),
        ({"t_eval": [1.0, 0.5]}, r"increasing times"),
        ({"t_eval": cc.Every(1e-9), "until": 1.0}, r"1e\+09 samples are more than a motion can hold"),
        ({"begin": "0", "until": 1.0}, r"begin must be a finite number, not '0'"),
        ({}, r"say until when"),
    ],
)
def test_wrong_times_are_refused(options, sentence):
    with pytest.raises(cc.ModelError, match=sentence):
        cc.follow(arm(), {"elbow": cc.t, "shoulder": 0.0}, **options)


def test_numbers_of_the_drawing_may_stand_in_a_path():
    m = arm()
    reach = m.parameter("reach", 0.3)
    motion = cc.follow(m, {"elbow": 1.0 + reach * cc.t, "shoulder": 0.0}, until=1.0, parameters={"reach": 0.5})
    assert motion["elbow'"].values == pytest.approx(0.5, abs=1e-12)


def test_a_reference_is_the_motion():
    motion = cc.follow(cc.library.four_bar(), {"O": 1.0 + cc.t**2}, until=1.0, samples=51)
    x = motion.reference("C")
    times = np.linspace(0.0, 1.0, 1001)
    fine = cc.follow(cc.library.four_bar(), {"O": 1.0 + cc.t**2}, t_eval=times)
    values = np.array([float(x.evaluate(lambda leaf, t=t: t)) for t in times])
    assert np.abs(values - fine["C"].values).max() < 1e-8  # what thinning allows, of a range of 0.5 rad
    with pytest.raises(cc.ModelError, match="no coordinate 'Q'"):
        motion.reference("Q")
