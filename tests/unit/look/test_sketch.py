"""Pictures of whole mechanisms."""

import numpy as np
import pytest
from matplotlib.figure import Figure

import closedchain as cc
from closedchain.look.outline import points_of
from closedchain.look.sketch import plot_deformed, plot_modes
from tests.unit.results.beams.flexible_motions import four_bar_run, tripod


def test_the_deformed_mechanism():
    run = four_bar_run()
    figure = plot_deformed(run, 0.5, magnify=20)
    assert "20 times" in figure._suptitle.get_text() and "t = 0.5 s" in figure._suptitle.get_text()
    styles = [line.get_color() for line in figure.axes[0].get_lines()]
    assert styles.count("#b8b8b8") == 3  # each body once more in grey
    assert isinstance(plot_deformed(run), Figure)
    with pytest.raises(cc.ModelError, match="there is nothing at 7 s"):
        plot_deformed(run, 7.0)


def test_what_cannot_be_drawn(tmp_path):
    bent = cc.library.flexible_arm().assemble({"hinge": 0.3, "beam.y1": 0.01})
    for wrong in ("a", np.nan, -5, 0):
        with pytest.raises(cc.ModelError, match=f"magnify must be a positive number, not {wrong!r}"):
            plot_deformed(bent, magnify=wrong)
    with pytest.raises(cc.FileError, match=r"cannot write '.*arm\.png': there is no folder"):
        plot_deformed(bent, path=tmp_path / "nowhere" / "arm.png")
    with pytest.raises(cc.ModelError, match=r"arm\.foo': a picture cannot be written as \.foo; known are .*png"):
        plot_deformed(bent, path=tmp_path / "arm.foo")
    with pytest.raises(cc.ModelError, match="a run, a state or a motion, not 'r'"):
        plot_deformed("r")
    with pytest.raises(cc.ModelError, match="time must be a finite number, not 'a'"):
        plot_deformed(four_bar_run(), "a")


def test_a_state_is_drawn_too():
    bent = cc.library.flexible_arm().assemble({"hinge": 0.3, "beam.y1": 0.01})
    figure = plot_deformed(bent, magnify=1)
    assert "displacements as they are" in figure._suptitle.get_text()
    tip = figure.axes[0].get_lines()[1].get_xydata()[-1]
    np.testing.assert_allclose(tip, [0.5 * np.cos(0.3) - 0.01 * np.sin(0.3), 0.5 * np.sin(0.3) + 0.01 * np.cos(0.3)])


def test_shapes_of_modes():
    m = tripod()
    about = m.modes(m.assemble({"foot.angle1": 0.1, "foot.angle2": -0.5}), locked=[])
    figure = plot_modes(about, 1, 3)
    assert len(figure.axes) == 2 and figure.axes[0].get_title().startswith("mode 1: ")
    assert "boom" in figure.axes[1].get_title()


def test_another_kind_of_run_is_drawn_by_its_points():
    run = four_bar_run()
    assert isinstance(plot_deformed(points_of(run, [0, 20, 40]), run.t[20]), Figure)
