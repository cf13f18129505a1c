"""Figures of efforts: what is drawn, of a single instant and of many actuators, too."""

from itertools import pairwise

import pytest

import closedchain as cc
from closedchain.model.actuators import DCMotor
from closedchain.results.motion.motion import Motion


@pytest.fixture(scope="module")
def crank():
    return cc.inverse_dynamics(cc.library.four_bar(), {"O": cc.pi / 2 + cc.math.sin(cc.t)}, 1.0, samples=11)


def tick_labels(axis):
    """Where the labels are that are seen, in points of the picture."""
    low, high = sorted(axis.get_view_interval())
    found = zip(axis.get_majorticklocs(), axis.get_majorticklabels(), strict=True)
    return [label.get_window_extent() for at, label in found if low <= at <= high]


def test_the_efforts_that_hold_a_pose_are_bars(tmp_path):
    m = cc.library.gough_stewart()
    held = cc.holding_efforts(m)
    figure = held.plot(tmp_path / "held.png")
    (ax,) = figure.axes
    assert [bar.get_width() for bar in ax.patches] == held.tau[0].tolist()
    assert [label.get_text() for label in ax.get_yticklabels()] == list(held.actuators)
    assert ax.get_xlabel() == "effort [N]" and figure.get_suptitle() == "gough-stewart: efforts at t = 0 s"
    assert [x.get_text() for x in ax.texts] == [f"{x:.4g}" for x in held.tau[0]]
    # and the point of an instant can be seen
    assert {ax.lines[0].get_marker() for ax in held.envelope().axes[:6]} == {"o"}


def test_bars_of_torques_and_forces_have_panels_of_their_own():
    m = cc.library.slider_crank()
    figure = cc.holding_efforts(m, actuators=["O", "slide"]).plot()
    assert [ax.get_xlabel() for ax in figure.axes] == ["effort [N m]", "effort [N]"]
    assert [len(ax.patches) for ax in figure.axes] == [1, 1]


def test_only_what_is_drawn_is_explained(crank):
    alone, tried = crank.envelope(), crank.envelope(DCMotor(resistance=0.5, torque_constant=0.05, max_current=10.0))
    assert alone.get_suptitle() == "four-bar: effort against speed\n(band: rms)"
    assert tried.get_suptitle().endswith("(band: rms; dashed: what the motor can give)")


def test_the_title_fits(crank):
    figure = crank.envelope(DCMotor(resistance=0.5, torque_constant=0.05, max_current=10.0))
    figure.draw_without_rendering()
    box = figure._suptitle.get_window_extent()
    assert figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1


def test_tick_labels_of_many_panels_do_not_touch():
    m = cc.library.arms_with_box()
    at = Motion.instant(m.assemble()).frame(m.output)
    place = at["position"].values[0]
    path = cc.paths.line(tuple(place), tuple(place + [0, 0, 0.1]), duration=1.0)
    need = cc.inverse_dynamics(m, {m.output: path.oriented(at["rotation"].values[0])}, samples=21)
    figure = need.envelope()
    figure.draw_without_rendering()
    assert len(figure.axes) == 18
    for ax in figure.axes:
        boxes = tick_labels(ax.xaxis)
        assert len(boxes) >= 2 and len(tick_labels(ax.yaxis)) >= 2
        assert all(left.x1 + 2 < right.x0 for left, right in pairwise(boxes))
