"""Tables: what files and arrays say is followed, and what is wrong in them is named with its line."""

import math

import numpy as np
import pytest

import closedchain as cc
from closedchain.model import paths

ROWS = np.array([[0.0, 0.1, 0.2, 0.3], [0.5, 0.2, 0.1, 0.3], [1.0, 0.2, 0.0, 0.4], [2.0, 0.1, 0.1, 0.4]])


@pytest.fixture
def write(tmp_path):
    def file(text):
        path = tmp_path / "path.csv"
        path.write_text(text, encoding="utf-8")
        return path

    return file


def lines(rows, separator=","):
    return "\n".join(separator.join(map(repr, row)) for row in np.asarray(rows).tolist()) + "\n"


@pytest.mark.parametrize(
    ("header", "separator"),
    [
        ("t,x,y,z\n", ","),
        ("time [s]; x [m]; y [m]; z [m]\n", ";"),
        ("t (s)\tx\ty\tz\n", "\t"),
        ("# measured on a Monday\n\nt,x,y,z\n", ","),
        ("\ufefft,x,y,z\n", ","),
        ("", ","),
    ],
    ids=["names", "units", "tabs", "comments", "byte order mark", "no header"],
)
def test_a_position_from_a_file(write, header, separator):
    path = paths.table(write(header + lines(ROWS, separator)))
    at, reference = path.at(np.linspace(0, 2, 21)), paths.spline(ROWS[:, 1:], ROWS[:, 0]).at(np.linspace(0, 2, 21))
    np.testing.assert_array_equal(at.value, reference.value)
    np.testing.assert_array_equal(at.acceleration, reference.acceleration)
    assert (path.duration, path.breaks) == (2.0, (0.0, 2.0))


def test_columns_in_any_order_and_one_left_free(write):
    file = write("y,t,x\n0.2,0,0.1\n0.1,1,0.3\n")
    path = paths.table(str(file))
    np.testing.assert_array_equal(path.at(1.0).value, [0.3, 0.1, np.nan])
    assert path.components[2] is None


def test_an_array_and_its_ends():
    path = paths.table(ROWS, ends="rest")
    np.testing.assert_allclose(path.at(ROWS[:, 0]).value, ROWS[:, 1:], atol=1e-15)
    assert path.breaks == ()


def test_one_coordinate():
    path = paths.table([(0, 0.0), (1, 0.5), (2, 0.1)])
    assert path.at(1.0).value == 0.5
    assert paths.table([(0, 0.0), (1, 0.5)], columns=("time", "O")).at(1.0).value == 0.5


def test_quaternions_and_angles_say_the_same():
    t, angle = np.linspace(0, 1, 5), np.linspace(0, 1.2, 5)
    xyz = np.column_stack([t, t, 0 * t, 0 * t])
    zero = 0 * t
    by_angles = paths.table(np.column_stack([xyz, zero, zero, angle]))
    by_quaternion = paths.table(np.column_stack([xyz, np.cos(angle / 2), zero, zero, np.sin(angle / 2)]))
    rounded = paths.table(np.column_stack([xyz, np.cos(angle / 2).round(4), zero, zero, np.sin(angle / 2).round(4)]))

    np.testing.assert_allclose(by_angles.at(0.3).rotation, by_quaternion.at(0.3).rotation, atol=1e-15)
    np.testing.assert_allclose(by_angles.at(1.0).rotation[0, 0], math.cos(1.2), rtol=1e-14)
    np.testing.assert_allclose(rounded.at(0.3).rotation, by_quaternion.at(0.3).rotation, atol=2e-4)  # four digits


def test_an_orientation_alone(write):
    path = paths.table(write("t,roll,pitch,yaw\n0,0,0,0\n1,0.1,0.2,0.3\n"))
    assert path.components == () and path.rotation is not None


def test_a_table_of_joints(write):
    found = paths.joint_table(write("t,base1,base2 [rad]\n0,1.0,0.2\n1,1.5,0.3\n2,1.0,0.1\n"), ends="rest")
    assert list(found) == ["base1", "base2"]
    assert (found["base1"].at(1.0).value, found["base2"].at(2.0).value) == pytest.approx((1.5, 0.1), rel=1e-15)


def test_units_are_converted(write):
    rows = "0,0,10,0\n500,90,20,5\n1000,45,10,0\n"
    found = paths.joint_table(write("t [ms],hinge [deg],slide (mm),table.x [ cm ]\n" + rows))
    assert list(found) == ["hinge", "slide", "table.x"] and found["hinge"].duration == 1.0
    middle = {name: float(path.at(0.5).value) for name, path in found.items()}
    # one multiplication each
    assert middle == pytest.approx({"hinge": math.pi / 2, "slide": 0.02, "table.x": 0.05}, rel=1e-15)

    pose = paths.table(
        write("time(ms),x[mm],y[cm],z[m],roll (deg),pitch [\u00b0],yaw [rad]\n0,1,1,1,0,0,0\n500,2,2,2,0,9,0\n")
    )
    assert pose.duration == 0.5
    np.testing.assert_allclose(pose.at(0.5).value, [2e-3, 2e-2, 2.0], rtol=1e-15)
    np.testing.assert_allclose(pose.at(0.5).rotation[0, 0], math.cos(math.radians(9)), rtol=1e-14)


def test_units_of_columns_that_are_renamed(write):
    file = write("Zeit [ms],Weg [mm]\n0,1\n500,2\n")
    assert paths.table(file, columns=("t", "x")).at(0.5).value[0] == pytest.approx(2e-3, rel=1e-15)
    path = paths.table(file, columns=("t [s]", "x [cm]"))  # who knows better may say so
    assert path.duration == 500.0 and path.at(500.0).value[0] == pytest.approx(2e-2, rel=1e-15)
    assert paths.table([(0, 1), (500, 2)], columns=("t [ms]", "O [deg]")).at(0.5).value == pytest.approx(math.pi / 90)


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("t [min],O", r"path\.csv: the column 't' is in 'min', but the units known for it are s, ms"),
        ("t,O [inch]", r"path\.csv: the column 'O' is in 'inch', but the units known for it are m, mm, cm, rad, deg"),
        ("t,O []", r"path\.csv: the column 'O' is in '', but the units"),
        ("t,x [deg]", r"path\.csv: the column 'x' is in 'deg', but the units known for it are m, mm, cm"),
        ("t [mm],x", r"path\.csv: the column 't' is in 'mm', but the units known for it are s, ms"),
        ("t,O (left)", r"path\.csv: the column 'O' is in 'left', but the units"),
    ],
)
def test_other_units_are_refused(write, header, message):
    file = write(header + "\n0,1\n1,2\n")
    for read in (paths.table, paths.joint_table):
        with pytest.raises(cc.ModelError, match=message):
            read(file)


def test_a_name_that_ends_in_brackets(write):
    assert list(paths.joint_table(write("t,leg (left) [rad]\n0,1\n1,2\n"))) == ["leg (left)"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("t,x,y,z\n0,1,2,3\n1,1,2\n", r"path\.csv, line 3: 3 numbers, but 4 columns"),
        ("t,x,y,z\n0,1,2,3\n1,1,two,3\n", r"path\.csv, line 3: 'y' is 'two': give a number"),
        ("t,x,y,z\n0,1,2,3\n\n# pause\n1,1,nan,3\n", r"path\.csv, line 5: 'y' is nan: give a finite number"),
        ("t,x,y,z\n0,1,2,3\n1,1,2,3\n1,1,2,3\n", r"path\.csv, line 4: times must increase, but 1 s comes after 1 s"),
        ("t,x,y,z\n-1,1,2,3\n1,1,2,3\n", r"path\.csv, line 2: the first time is -1 s"),
        ("t,x,y,z\n0,1,2,3\n", r"path\.csv: a path needs at least two rows, there is one"),
        ("t,x,y,z\n", r"path\.csv: a path needs at least two rows, there are none"),
        ("", r"path\.csv: the file has no rows"),
        ("x,y,z\n1,2,3\n1,2,4\n", r"path\.csv: no column 't' or 'time' among 'x', 'y', 'z'"),
        ("t,x,x\n0,2,3\n1,2,4\n", r"path\.csv: two columns are named 'x'"),
        ("t,x,Y\n0,2,3\n1,2,4\n", r"path\.csv: unknown column 'Y'.*joint_table"),
        ("t\n0\n1\n", r"path\.csv: beside the time there is no column"),
        ("t,x,qw,qx,qy\n0,0,1,0,0\n1,0,1,0,0\n", r"path\.csv: the column 'qz' is missing"),
        ("t,qw,qx,qy,qz\n0,1,0,0,0\n1,0.9,0,0,0\n", r"path\.csv, line 3: the quaternion has the length 0\.9, not 1"),
        ("t,qw,qx,qy,qz,roll\n0,1,0,0,0,0\n1,1,0,0,0,0\n", "by a quaternion or by roll, pitch, yaw, not by both"),
        ("t,qw,qx,qy,qz\n0,1,0,0,0\n1,0,1,0,0\n", r"path\.csv: orientation: turns: orientations 1 and 2 are half"),
        ("1,2,3\n4,5,6\n", r"path\.csv: name the 3 columns, in a first line 't,x,\.\.\.' or by columns="),
    ],
    ids=[
        "short line", "word", "nan", "equal times", "negative", "one row", "no rows", "empty", "no time", "twice",
        "capital", "time alone", "three of four", "length", "both", "half turn", "no names",
    ],
)  # fmt: skip
def test_refused_files(write, text, message):
    with pytest.raises(cc.ModelError, match=message):
        paths.table(write(text))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: paths.table("nowhere.csv"), r"nowhere\.csv: the table cannot be read \(.*No such file"),
        (lambda: paths.table(5), "table: give a file, or rows of numbers of equal length, not 5"),
        (lambda: paths.table([(0, 1), (1,)]), "table: give a file, or rows of numbers of equal length"),
        (lambda: paths.table([(0, 1), (1, np.inf)]), "table, row 2: 'q' is inf: give a finite number"),
        (lambda: paths.table([(0, 1), (1, 2)], columns=("t",)), "table: 1 names for 2 columns"),
        (lambda: paths.table([(0, 1), (1, 2)], columns="tx"), "columns takes a list of names"),
        (
            lambda: paths.table([(0, 1), (1, 2)], ends="periodic"),
            "table: column 'q': spline: a periodic one ends where",
        ),
        (lambda: paths.joint_table([(0,), (1,)], columns=("t",)), "beside the time there is no column: name one after"),
    ],
    ids=["no file", "number", "ragged", "infinite", "names", "text", "open", "time alone"],
)
def test_refused_arrays(make, message):
    with pytest.raises(cc.ModelError, match=message):
        make()
