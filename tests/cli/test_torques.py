"""``closedchain torques``: paths as typed, what comes out, files, exit codes, sentences."""

import math
import re
import shlex
from pathlib import Path

import numpy as np
import pandas
import pytest
import xarray

import closedchain as cc
from closedchain.cli.parts import path_kinds, paths

GUIDE = (Path(__file__).parents[2] / "docs/how-to/torques.md").read_text()
TABLE = re.findall(r"^\|.*\| `closedchain (torques .*)` \|$", GUIDE, re.MULTILINE)

ARM = """
import closedchain as cc
mechanism = cc.Mechanism("arm", gravity=(0, -9.81, 0))
rod = mechanism.body("rod", cc.rod(length=1.0, mass=1.0))
mechanism.revolute("hinge", mechanism.ground, rod, limits=(-1.0, 0.5))
mechanism.start["hinge"] = 0.0
print("drawn")
"""


def torques(cli, *arguments, code=0):
    answer = cli("torques", *arguments, "--json")
    assert answer.code == code, answer.out
    return answer.json


def rose():
    return cc.paths.rose(0.05, period=2.0).oriented((0, 0, 0))


# ---- what comes out -------------------------------------------------------------------------------------------------


def test_the_numbers_are_those_of_inverse_dynamics(cli):
    # less than a round: its two ends are not the same, so that there is one largest effort
    told = torques(cli, "rrr3", "--path", "rose:0.05", "--period", "2", "--until", "1.5", "--samples", "21")
    need = cc.inverse_dynamics(cc.library.rrr3(), {"platform": rose()}, until=1.5, samples=21)
    for row, wanted in zip(told["sizing"], need.sizing().rows(), strict=True):
        # the start of the library is rounded: its platform is at (0.05, 0, 0) to some 1e-16
        assert (row.pop("name"), row.pop("unit")) == (wanted.pop("name"), wanted.pop("unit"))
        assert row == pytest.approx(wanted, rel=1e-9, abs=1e-9)
    assert told["paths"] == [{"target": "platform.origin", "path": "rose:0.05", "orientation": "kept"}]
    assert (told["begin"], told["end"], told["samples"]) == (0.0, 1.5, 21)
    assert (told["complete"], told["complaints"], told["redundancy"], told["wrote"]) == (True, [], 0, [])
    assert told["path_conditioning"]["least"] == pytest.approx(need.motion.conditioning.min())
    assert told["actuation_conditioning"]["least"] == pytest.approx(need.conditioning.min())


def test_the_tables_tell_the_same(cli):
    arguments = ("rrr3", "--path", "rose:0.05", "--period", "2", "--samples", "21", "--reactions", "wrist1", "--check")
    told, answer = torques(cli, *arguments), cli("torques", *arguments)
    assert (answer.code, answer.err) == (0, "")
    lines = answer.out.splitlines()
    assert lines[0] == "rrr3"
    assert any(re.fullmatch(r"path +platform.origin: rose:0.05; orientation kept", line) for line in lines)
    assert any(re.fullmatch(r"followed +0 to 2 s, 21 samples", line) for line in lines)
    first = next(line for line in lines if line.startswith("base1 ")).split()
    row = told["sizing"][0]
    assert first[1:3] == [f"{row['peak']:.4g}", f"{row['rms']:.4g}"]
    assert first[3:5] == ["N", "m"] and first[6:8] == [f"{row['top_speed']:.3g}", "rad/s"]
    carried = next(line for line in lines if line.startswith("wrist1 ")).split()
    assert carried[1] == f"{told['reactions']['wrist1']['force']:.4g}"
    assert carried[-3:] == ["fz", "mx", "my"] == told["reactions"]["wrist1"]["not_unique"]
    # three methods that share no matrix; rounding
    assert sorted(told["differences"]) == ["denoc", "virtual-spring"] and max(told["differences"].values()) < 1e-12


def test_static_is_holding(cli):
    told = torques(cli, "gough-stewart", "--static", "--reactions", "all", "--out", "held/")
    assert told["wrote"] == [str(Path("held") / f"gough-stewart-torques{ending}") for ending in (".nc", ".csv", ".png")]
    m = cc.library.gough_stewart()
    held = cc.holding_efforts(m)
    efforts = {name: x["value"] for name, x in told["efforts"].items()}
    assert efforts == pytest.approx({name: float(held[name][0]) for name in held.actuators}, rel=1e-12)
    assert {x["unit"] for x in told["efforts"].values()} == {"N"} and "sizing" not in told
    force = float(np.linalg.norm(held.reaction("leg1 ball")["force"][0]))
    assert told["reactions"]["leg1 ball"]["force"] == pytest.approx(force)
    assert list(told["reactions"]) == [name for name in m.joints if name != "pose"]  # which is free
    answer = cli("torques", "gough-stewart", "--static")
    assert (answer.code, answer.err) == (0, "")
    assert re.search(r"^held +at rest, as at the start$", answer.out, re.MULTILINE)
    assert re.search(rf"^leg1 slide +{efforts['leg1 slide']:.6g} +N$", answer.out, re.MULTILINE)


def test_preload_and_weights_choose_among_efforts(cli):
    both = ("four-bar", "--static", "--actuators", "O,C")
    least, tense, dear = (
        {name: x["value"] for name, x in torques(cli, *both, *more)["efforts"].items()}
        for more in ((), ("--preload", "O=10"), ("--weight", "O=100"))
    )
    wanted = cc.holding_efforts(cc.library.four_bar(), actuators=["O", "C"], preload={"O": 10.0})
    assert tense == pytest.approx({name: float(wanted[name][0]) for name in wanted.actuators})
    assert tense["O"] > least["O"] + 1
    assert abs(dear["O"]) < 0.1 * abs(least["O"])
    shown = cli("torques", *both, "--preload", "O=10").out
    assert re.search(r"^actuators +2, 1 more than needed: efforts next to the preload$", shown, re.MULTILINE)
    assert "2, 1 more than needed: the smallest efforts" in cli("torques", *both).out


def test_actuators_methods_parameters_and_start(cli):
    arguments = ("four-bar", "--path", "O=hold", "--hold", "O=60*deg", "--samples", "2", "--set", "crank.mass=3")
    told = torques(cli, *arguments)
    m = cc.library.four_bar()
    need = cc.holding_efforts(m, m.assemble(O=math.pi / 3, parameters={"crank.mass": 3.0}))
    assert told["sizing"][0]["peak"] == pytest.approx(abs(float(need["O"][0])), rel=1e-9)
    rocker = torques(cli, *arguments, "--actuators", "C", "--method", "denoc")
    assert (rocker["actuators"], rocker["method"]) == (["C"], "denoc")
    assert rocker["sizing"][0]["peak"] != pytest.approx(told["sizing"][0]["peak"], rel=0.1)


def test_the_working_mode_can_be_chosen(cli):
    arguments = ("five-bar", "--path", "circle:0.02", "--period", "1", "--samples", "5")
    answer = cli("torques", *arguments, "--assembly", "up")
    assert answer.code == 2
    labels = re.findall(r"'([^']*[+-])'", answer.err)
    assert len(labels) == 4
    usual = torques(cli, *arguments)["sizing"][0]["peak"]
    m = cc.library.five_bar()
    own = " ".join(f"{name}{'+' if m.assemble()[name] > 0 else '-'}" for name in ("left elbow", "right elbow"))
    other = labels[0] if labels[0] != own else labels[1]
    assert torques(cli, *arguments, "--assembly", other)["sizing"][0]["peak"] != pytest.approx(usual, rel=1e-3)


def test_drives_say_it_all(cli, file):
    text = "import closedchain as cc\nmechanism = cc.library.pendulum()\nmechanism.drive('hinge', lambda t: 0.1 * t**2)"
    told = torques(cli, file(text), "--until", "1", "--samples", "11")
    m = cc.library.pendulum()
    need = cc.inverse_dynamics(m, {"hinge": 0.1 * cc.t**2}, until=1.0, samples=11, actuators=["hinge"])
    assert told["sizing"][0]["peak"] == pytest.approx(need.sizing()["hinge"].peak)
    answer = cli("torques", "model.py")
    assert answer.code == 2 and "the drives do not say when to stop: give --until S" in answer.err


def test_a_file_may_lift_a_foot(cli, file):
    text = "import closedchain as cc\nmechanism = cc.library.walker()\n"
    text += "start = mechanism.assemble(open_joints=('leg1 foot',))"
    arguments = (file(text), "--path", "move:0.01,0,0", "--duration", "1", "--samples", "3")
    answer = cli("torques", *arguments)
    assert answer.code == 2 and "the path leaves 3 motions of 'walker' open" in answer.err
    leg = [x for name in ("yaw", "hip", "knee") for x in ("--path", f"leg1 {name}=hold")]
    told = torques(cli, *arguments, *leg)
    assert (told["redundancy"], told["paths"][0]["orientation"]) == (3, "kept")


# ---- paths as typed -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def robot():
    m = cc.library.rrr3(position=(0.05, 0.02), angle=0.1)
    return m, m.assemble()


PLAN = {"usual": 2.0}
HALF = math.pi / 2


@pytest.mark.parametrize(
    ("typed", "plan", "time", "moved"),
    [
        ("move:0.1,0.2,0", {}, 2.0, (0.1, 0.2, 0)),
        ("move:0.1,0.2,0", {"duration": 1.0, "law": "uniform"}, 0.25, (0.025, 0.05, 0)),
        ("points:0.1,0,0;0.1,0.1,0", {"duration": 1.0}, 0.5, (0.1, 0, 0)),
        ("spline:0.1,0,0;0.1,0.1,0", {"duration": 1.0}, 0.5, (0.1, 0, 0)),
        ("arc:0,0.1,90*deg", {}, 2.0, (0.1, 0.1, 0)),
        ("arc:0,0.1,-90*deg", {"plane": "zx"}, 2.0, (0.1, 0, -0.1)),
        ("circle:0.1", {"period": 1.0}, 0.25, (-0.1, 0.1, 0)),
        ("circle:0.1", {"duration": 1.0, "law": "uniform"}, 0.25, (-0.1, 0.1, 0)),
        ("circle:0.1", {"period": 1.0, "plane": "yz"}, 0.25, (0, -0.1, 0.1)),
        ("circle:0.1", {"period": 1.0, "centre": (0.05, 0.02, 0.3)}, 0.0, (0.1, 0, 0.3)),
        ("rose:0.1", {"period": 2.0}, 0.5, (-0.1, -0.1, 0)),
        ("rose:0.1,3", {"period": 2.0}, 1.0, (0, 0, 0)),
        ("sine:0.1,0,0.2", {"period": 4.0}, 1.0, (0.1, 0, 0.2)),
        ("hold", {}, 1.0, (0, 0, 0)),
        ("platform=move:0.1,0,0", {}, 2.0, (0.1, 0, 0)),
        (" platform = move: 0.1, 0, 0", {}, 2.0, (0.1, 0, 0)),
    ],
)
def test_places(robot, typed, plan, time, moved):
    m, start = robot
    (found,) = paths.build([paths.read(typed)], m, start, path_kinds.Plan(**PLAN | plan), False)
    # the platform is where it was drawn to rounding
    assert found.path.at(time).value == pytest.approx(np.array((0.05, 0.02, 0)) + moved, abs=1e-12)
    angle = 0.1
    assert found.path.at(time).rotation[1, 0] == pytest.approx(math.sin(angle), abs=1e-12)
    assert (found.name, found.orientation) == ("platform.origin", "kept")
    assert found.path.duration == plan.get("period", plan.get("duration", 2.0))


@pytest.mark.parametrize(
    ("typed", "plan", "time", "moved"),
    [
        ("base1=move:90*deg", {}, 2.0, HALF),
        ("base1=points:0.1;-0.3", {"duration": 1.0}, 0.2, 0.1),
        ("base1=spline:0.1;-0.3", {"duration": 1.0}, 1.0, -0.3),
        ("base1=sine:pi/2", {"period": 2.0}, 0.5, HALF),
        ("base1=hold", {"duration": 3.0}, 3.0, 0.0),
    ],
)
def test_coordinates(robot, typed, plan, time, moved):
    m, start = robot
    (found,) = paths.build([paths.read(typed)], m, start, path_kinds.Plan(**PLAN | plan), False)
    assert float(found.path.at(time).value) == pytest.approx(start["base1"] + moved, abs=1e-12)
    assert (found.target, found.orientation) == ("base1", None)


@pytest.mark.parametrize("typed", [["turn:0,0,90*deg"], ["circle:0.1", "turn:0,0,90*deg"], ["turn:0,0,90*deg", "hold"]])
def test_turns(robot, typed):
    m, start = robot
    (found,) = paths.build([paths.read(text) for text in typed], m, start, path_kinds.Plan(2.0), False)
    end = found.path.at(2.0)
    assert end.rotation[0, 0] == pytest.approx(-math.sin(0.1), abs=1e-12)
    assert end.value == pytest.approx((0.05, 0.02, 0), abs=1e-12)
    assert end.angular_velocity == pytest.approx(0.0, abs=1e-12) and found.orientation == "given"


@pytest.mark.parametrize(
    ("name", "orientation"),
    [("rrr3", "kept"), ("five-bar", "follows"), ("delta", "follows"), ("gough-stewart", "kept")],
)
def test_an_orientation_is_kept_where_the_position_leaves_it_open(name, orientation):
    m = cc.library.MECHANISMS[name].build()
    (found,) = paths.build([paths.read("circle:0.01")], m, m.assemble(), path_kinds.Plan(1.0), False)
    assert found.orientation == orientation
    (found,) = paths.build([paths.read("circle:0.01")], m, m.assemble(), path_kinds.Plan(1.0), True)
    assert found.orientation == "free" and found.path.rotation is None


def test_tables(cli, file):
    file("t [s],x,y,z\n0,0.05,0,0\n0.5,0.0,0.05,0\n1,0.05,0,0\n", "frame.csv")
    file("t,left motor,right motor\n0,2.2,0.94\n0.5,2.3,0.9\n1,2.2,0.94\n", "joints=2.csv")
    told = torques(cli, "rrr3", "--path", "table:frame.csv", "--samples", "5")
    assert (told["paths"][0]["target"], told["end"]) == ("platform.origin", 1.0)
    both = torques(cli, "five-bar", "--path", "table:joints=2.csv", "--samples", "5")
    assert [x["target"] for x in both["paths"]] == ["left motor", "right motor"]
    one = ("--path", "left motor=table:joints=2.csv", "--path", "right motor=hold", "--duration", "1")
    assert torques(cli, "five-bar", *one, "--samples", "5")["sizing"][1]["top_speed"] < 1e-12


def test_units_in_tables(cli, file):
    file("t [ms],left motor [deg],right motor [rad]\n0,126,0.94\n500,130,0.9\n1000,126,0.94\n", "joints.csv")
    told = torques(cli, "five-bar", "--path", "table:joints.csv", "--samples", "5")
    assert told["end"] == 1.0 and 0 < told["sizing"][0]["top_speed"] < 1.0
    file("t,O [inch]\n0,1\n1,2\n", "wrong.csv")
    answer = cli("torques", "four-bar", "--path", "table:wrong.csv")
    assert answer.code == 2
    assert "wrong.csv: the column 'O' is in 'inch', but the units known for it are m, mm, cm, rad, deg" in answer.err


# ---- files ----------------------------------------------------------------------------------------------------------


def test_files(cli):
    arguments = ("rrr3", "--path", "rose:0.05", "--period", "2", "--samples", "21", "--reactions", "wrist1")
    told = torques(cli, *arguments, "--out", "all/", "--out", "one.csv")
    names = [f"rrr3-torques{ending}" for ending in (".nc", ".csv", ".png", "-envelope.png")]
    assert told["wrote"] == [*(str(Path("all") / name) for name in names), "one.csv"]
    table = pandas.read_csv("one.csv", index_col="time")
    need = cc.inverse_dynamics(cc.library.rrr3(), {"platform": rose()}, samples=21)
    assert table["base1"].values == pytest.approx(need["base1"].values, abs=1e-9)
    assert table["base1 power"].values == pytest.approx(table["base1"] * table["base1 speed"])
    assert table["wrist1 fx"].values == pytest.approx(need.reaction("wrist1")["force"][:, 0].values, abs=1e-9)
    assert {f"wrist1 {x}" for x in ("fx", "fy", "fz", "mx", "my", "mz")} <= set(table)
    with xarray.open_dataset("all/rrr3-torques.nc") as data:
        assert data["wrist1 mz"].attrs["units"] == "N m" and data["base1"].attrs["units"] == "N m"
        assert float(data["time"][-1]) == 2.0
    for picture in ("all/rrr3-torques.png", "all/rrr3-torques-envelope.png"):
        assert Path(picture).read_bytes()[:4] == b"\x89PNG"


# ---- exit codes and sentences ---------------------------------------------------------------------------------------


def test_a_path_out_of_the_workspace_keeps_what_it_has(cli):
    arguments = ("five-bar", "--path", "move:0,5,0", "--duration", "1", "--samples", "51")
    answer = cli("torques", *arguments, "--out", "a.csv")
    assert answer.code == 1
    assert "samples  INCOMPLETE" in answer.out and "wrote a.csv" in answer.out
    found = re.match(
        r"error: the path of 'left distal.tip' leaves the workspace of 'five-bar' at t = ([\d.]+) s", answer.err
    )
    table = pandas.read_csv("a.csv")
    assert 0 < table["time"].iloc[-1] <= float(found[1]) < table["time"].iloc[-1] + 0.02
    told = torques(cli, *arguments, code=1)
    assert "leaves the workspace" in told["error"] and told["complete"] is False and told["samples"] == len(table)


@pytest.mark.parametrize(
    "typed",
    [("five-bar", "circle:0.02", "--plane", "zx"), ("rrr3", "move:0,0,0.1"), ("five-bar", "move:0,0,0.05")],
    ids=" ".join,
)
def test_what_cannot_be_followed_is_told_with_what_can_be_typed(cli, typed):
    name, path, *more = typed
    answer = cli("torques", name, "--path", path, *more)
    assert (answer.code, answer.out) == (1, "")
    assert "freedoms. Type 0 for what lies across its plane, choose another --plane" in answer.err
    assert "None" not in answer.err


def test_a_path_through_singular_actuators(cli):
    arguments = ("rrr3", "--path", "rose:0.5", "--period", "2")
    told = torques(cli, *arguments, code=1)
    assert "begin in another assembly (m.assemblies shows them in Python, --assembly takes one)" in told["error"]
    assert told["path_conditioning"]["least"] < 0.1 and told["path_conditioning"]["time"] == told["end"] > 0
    assert any("actuators of 'rrr3'" in sentence for sentence in told["complaints"])
    answer = cli("torques", *arguments)
    assert answer.err.startswith("warning: ") and "RunWarning" not in answer.err


def test_few_samples_are_told(cli):
    answer = cli("torques", "rrr3", "--path", "rose:0.05", "--period", "2", "--samples", "5")
    assert answer.code == 0
    assert re.fullmatch(r"note: 5 samples hardly show this motion: .* Take more \(--samples\), or .*\n", answer.err)


def test_limits_of_joints_are_warnings(cli, file):
    arguments = (file(ARM), "--path", "hinge=move:0.8", "--law", "uniform", "--actuators", "hinge", "--samples", "81")
    answer = cli("torques", *arguments)
    assert answer.code == 3
    *notes, warning = answer.err.splitlines()
    assert warning == "warning: 'hinge' is beyond its limit 0.5 rad from t = 0.625 to 1 s; at most it is 0.8 rad"
    told = torques(cli, *arguments, code=3)
    assert notes == [f"note: {x}" for x in told["notes"]]
    assert notes[0].startswith("note: the path begins at t = 0 s with a velocity")  # with the uniform law
    assert told["violations"][0]["begin"] == pytest.approx(0.625) and "error" not in told


def test_motors_that_are_too_weak_are_warnings(cli, file):
    motor = "resistance=1.0, torque_constant=0.05, gear=30, max_current=4"
    text = f"import closedchain as cc\nmechanism = cc.library.pendulum()\nmotor = cc.DCMotor({motor})\n"
    text += "mechanism.actuator('hinge', motor, command=0.0)"
    arguments = (file(text), "--path", "hinge=move:90*deg", "--samples", "21")
    answer = cli("torques", *arguments)
    assert answer.code == 3 and answer.err.startswith("warning: beyond its limits: 'hinge': current ")
    assert re.search(r"^hinge +current +[\d.]+ +[\d.]+ +A$", answer.out, re.MULTILINE)
    told = torques(cli, *arguments, code=3)
    current = next(x for x in told["demands"] if x["quantity"] == "current")
    # no rotor and no friction: torque over gear and torque constant
    assert current["peak"] == pytest.approx(told["sizing"][0]["peak"] / (30 * 0.05))


def test_efforts_that_cannot_be(cli):
    answer = cli("torques", "rrr3", "--path", "rose:0.05", "--actuators", "base1,base2", "--samples", "5")
    assert answer.code == 1 and "2 actuators cannot choose 3 freedoms" in answer.err


R = ["rrr3", "--path", "rose:0.05"]
F = ["four-bar", "--path", "O=move:1"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["four-baar"], "did you mean 'four-bar'"),
        (["four-bar"], "say what 'four-bar' is to follow, for instance --path 'O=move:10*deg', or --static"),
        (["rrr3"], "for instance --path circle:0.01, or --static"),
        (["four-bar", "--path", "circle:1"], "'four-bar' has no output frame, so say what is to move"),
        (["four-bar", "--path", "O=circle:1"], "circle is a path in space, but 'O' is a coordinate; write 'O=move:D'"),
        (
            ["four-bar", "--path", "O=mvoe:1"],
            "'mvoe' is no kind of path; did you mean 'move' or 'rose'? (write move:D, points:D;",
        ),
        (["four-bar", "--path", "O=line:1"], "'line' is no kind of path; did you mean 'move'?"),
        (
            ["four-bar", "--path", "Q=move:1"],
            "no frame, joint or coordinate 'Q'; there are the bodies 'crank', 'coupler'",
        ),
        (["rrr3", "--path", "platfrm=move:1,0,0"], "coordinate 'platfrm'; did you mean 'platform'?"),
        (["four-bar", "--path", "O=move"], "for a coordinate it takes 1 number, not 0: write 'move:D'"),
        (["four-bar", "--path", "O=move:1,2"], "for a coordinate it takes 1 number, not 2: write 'move:D'"),
        (["rrr3", "--path", "move:1"], "for a frame it takes 3 numbers, not 1: write 'move:Dx,Dy,Dz'"),
        (["rrr3", "--path", "points:1,0,0;1"], "3 numbers each, not 1: write 'points:Dx,Dy,Dz;Dx,Dy,Dz;...'"),
        (["rrr3", "--path", "rose:1,2,3"], "it takes 1 or 2 numbers, not 3: write 'rose:R[,K]'"),
        (["rrr3", "--path", "hold:3"], "it takes no numbers, not 1: write 'hold'"),
        (
            ["rrr3", "--path", "circle:much"],
            "--path circle:much: 'much' is not a finite number (write for instance 0.5",
        ),
        (["rrr3", "--path", "circle:-1"], "--path circle:-1: circle: the radius must be a positive number, not -1"),
        (["rrr3", "--path", "turn:0,0,0"], "a turn needs an angle"),
        (["rrr3", "--path", "table:none.csv"], "there is no file 'none.csv'"),
        (["rrr3", "--path", "table"], "write 'table:FILE.csv'"),
        (
            ["rrr3", "--path", "points:0,0,0;0.05,0,0"],
            "--path points:0,0,0;0.05,0,0: place 1 is the start itself: leave it out, as --duration is shared out",
        ),
        (["four-bar", "--path", "O=spline:1;2;2"], "place 3 is the same as place 2: leave it out, as --duration"),
        (["rrr3", "--path", "ground=move:1,0,0"], "the ground does not move"),
        ([*R, "--path", "move:0,0,0"], "'platform.origin' has two paths, rose:0.05 and move:0,0,0; only a turn can be"),
        (["gough-stewart", "--path", "pose.x=move:1"], "give one to the frame that it moves: --path 'platform=...'"),
        (["gough-stewart", "--path", "leg1 base=move:1"], "has the coordinates leg1 base.angle1, leg1 base.angle2"),
        ([*R, "--period", "-1"], "--period must be a positive number of seconds, not -1"),
        ([*F, "--period", "1"], "--period changes nothing here: it is for circle, rose and sine"),
        (["four-bar", "--path", "O=sine:1", "--duration", "1"], "--duration changes nothing here"),
        ([*R, "--period", "1", "--law", "uniform"], "--law changes nothing here: no path moves from rest to rest"),
        ([*R, "--law", "unifrm"], "--law must be 'minimum-jerk', 'trapezoidal' or 'uniform', not 'unifrm'"),
        ([*R, "--plane", "xz"], "--plane must be 'xy', 'yz' or 'zx', not 'xz'"),
        ([*F, "--plane", "xy"], "--plane changes nothing here"),
        ([*R, "--centre", "0,0"], "--centre takes three numbers, X,Y,Z, not '0,0'"),
        ([*F, "--centre", "0,0,0"], "--centre changes nothing here: it is the centre of a circle or a rose"),
        ([*R, "--until", "0"], "until (0 s) must come after begin"),
        ([*R, "--free-orientation"], "the path leaves 1 motion of 'rrr3' open"),
        ([*R, "--static"], "--static holds the mechanism at its start (see --hold): leave out --path rose:0.05"),
        (["rrr3", "--static", "--until", "1"], "leave out --until"),
        (["rrr3", "--static", "--period", "1"], "--period changes nothing here"),
        (
            ["pendulum", "--static"],
            "no motor and no drive: say which coordinates are actuated, for instance --actuators 'hi",
        ),
        ([*R, "--actuators", "base1,bsae2"], "no joint or coordinate is named 'bsae2'; did you mean 'base2'"),
        ([*R, "--method", "deno"], "there is no method 'deno'; did you mean 'denoc'?"),
        ([*R, "--preload", "bse1=1"], "--preload: no actuator is named 'bse1'; did you mean 'base1'"),
        ([*R, "--preload", "base1=1", "--samples", "21"], "--preload: 3 actuators and 3 freedoms leave no room"),
        ([*R, "--weight", "base1=2", "--samples", "21"], "--weight changes nothing here"),
        ([*R, "--weight", "base1=0"], "--weight base1 must be a positive number, not 0.0"),
        (["four-bar", "--static", "--actuators", "O,C", "--check"], "--check: 1 of 2 actuators are more than needed"),
        ([*R, "--reactions", "wrst1"], "--reactions: 'rrr3' has no joint 'wrst1'; did you mean 'wrist1'"),
        (["gough-stewart", "--static", "--reactions", "pose"], "joint 'pose' is free: it carries nothing"),
        ([*R, "--out", "a.txt"], "a file ends in .nc, .csv, .png, .svg or .pdf"),
        ([*R, "--set", "platform.mas=1"], "did you mean 'platform.mass'"),
        ([*R, "--hold", "Q=1"], "no joint or coordinate is named 'Q'"),
        ([*R, "--samples", "1"], "Invalid value for '--samples'"),
    ],
)
def test_wrong_usage(cli, arguments, sentence):
    answer = cli("torques", *arguments)
    assert (answer.code, answer.out) == (2, "")
    assert sentence in answer.err
    assert len(answer.err.splitlines()) == 1


def test_only_json_on_stdout(cli, file):
    answer = cli("torques", file(ARM), "--static", "--actuators", "hinge", "--json")
    assert answer.err == "drawn\n" and answer.json["efforts"]["hinge"]["value"] == pytest.approx(9.81 / 2)


def test_help_has_all_kinds_and_options(cli):
    text = " ".join(cli("torques", "--help").out.split())
    for kind in path_kinds.KINDS.values():
        assert kind.form in text
    assert "Exit codes: 0 good" in text
    options = "path period duration until law plane centre static actuators preload weight reactions method check json"
    for option in options.split():
        assert f" --{option} " in text


# ---- the guide ------------------------------------------------------------------------------------------------------


def test_the_guide_has_a_command_for_each_mechanism():
    assert [shlex.split(command)[1] for command in TABLE] == list(cc.library.MECHANISMS)


@pytest.mark.parametrize("command", TABLE)
def test_command_of_the_guide(cli, command):
    answer = cli(*shlex.split(command), "--samples", "41")
    assert (answer.code, answer.err) == (0, "")
    assert "nan" not in answer.out


def test_the_guide_tells_all_kinds():
    for kind in path_kinds.KINDS:
        assert re.search(rf"`(\w+=)?{kind}\b", GUIDE)
