"""Plots: the right lines in the right panels, without a window and without pyplot."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

import closedchain as cc


def lines(figure):
    """Label of each line, panel by panel."""
    return [[line.get_label() for line in ax.get_lines()] for ax in figure.axes]


def test_one_coordinate(four_bar_run):
    figure = four_bar_run.plot("O")
    (line,) = figure.axes[0].get_lines()

    assert isinstance(figure, Figure) and lines(figure) == [["O"]]
    np.testing.assert_array_equal(line.get_xdata(), four_bar_run.t)
    np.testing.assert_array_equal(line.get_ydata(), four_bar_run["O"])
    assert figure.axes[0].get_ylabel() == "rad" and figure.axes[-1].get_xlabel() == "time [s]"


def test_one_panel_for_each_unit(four_bar_run):
    figure = four_bar_run.plot("O", "kinetic_energy", "C", "O'", "work")

    assert lines(figure) == [["O", "C"], ["kinetic_energy", "work"], ["O'"]]
    assert [ax.get_ylabel() for ax in figure.axes] == ["rad", "J", "rad/s"]


def test_without_names_the_coordinates_of_the_tree(four_bar_run, platform_run):
    assert lines(four_bar_run.plot()) == [["O", "A", "C"]]
    shown = [label for panel in lines(platform_run.plot()) for label in panel]
    assert "leg1 slide" in shown and "pose.x" in shown
    assert not any("q" in label.rpartition(".")[2][:1] for label in shown)  # quaternions say nothing to the eye


def test_what_has_two_dimensions_becomes_several_lines(four_bar_run):
    assert lines(four_bar_run.plot("lam")) == [["lam B x", "lam B y"]]


def test_a_force_becomes_six_lines():
    m = cc.library.pendulum()
    m.force("wind", m.bodies["arm"].tip, (1.0, 0, 0))

    assert len(lines(cc.simulate(m, until=0.1).plot("wind"))[0]) == 6


def test_the_title_says_what_it_is(four_bar_run):
    title = four_bar_run.plot("O")._suptitle.get_text()

    assert all(part in title for part in ("four-bar", "Multipliers", "dop853", "1e-10"))
    assert "incomplete" not in title


def test_an_incomplete_run_is_marked():
    m = cc.library.pendulum()
    m.motor("hinge", torque=lambda t: cc.math.sqrt(0.5 - t))
    with pytest.raises(cc.RunError) as trouble:
        cc.simulate(m, until=1.0)

    assert "(incomplete)" in trouble.value.run.plot("hinge")._suptitle.get_text()


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_the_file_is_written(four_bar_run, tmp_path, ending):
    four_bar_run.plot("O", path=tmp_path / f"motion.{ending}")

    assert (tmp_path / f"motion.{ending}").stat().st_size > 1000


def test_unknown_variables_suggest(four_bar_run):
    with pytest.raises(cc.ModelError, match="the run has no variable 'kinetic'; did you mean 'kinetic_energy'"):
        four_bar_run.plot("O", "kinetic")


def test_pyplot_is_not_imported():
    """It would choose a window system, and keep every figure alive."""
    program = (
        "import sys, closedchain as cc\n"
        "m = cc.library.pendulum(); m.draw_graph()\n"
        "cc.simulate(m, until=0.1).plot('hinge')\n"
        "print('matplotlib.pyplot' in sys.modules)"
    )
    source = Path(cc.__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"PYTHONPATH": str(source)},
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout.strip() == "False"
