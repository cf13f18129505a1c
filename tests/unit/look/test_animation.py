"""Animations of runs and modes."""

import json
import re

import numpy as np
import pytest
from PIL import Image

import closedchain as cc
from closedchain.look.animation import animate, animate_mode
from closedchain.look.outline import points_of
from tests.unit.results.beams.flexible_motions import four_bar_run


def content(path):
    """The data of a page, and the page."""
    text = path.read_text(encoding="utf-8")
    return json.loads(re.search(r'id="data">(.*?)</script>', text, re.S)[1].replace("<\\/", "</")), text


def test_a_page_of_a_run_needs_nothing_else(tmp_path):
    run = four_bar_run()
    data, text = content(animate(run, tmp_path / "run.html", frames=5))
    assert data["frames"] == 5 and data["dims"] == 2 and data["labels"][0] == "t = 0.000 s"
    assert not re.search(r"https?://|src=|@import", text)
    # the points of the page are those of the run
    coupler = data["lines"][1]
    tip = np.array(coupler["rigid"])[:, -1] + np.array(coupler["away"])[:, -1]
    expected = run.frame("coupler.tip")["position"].values[[0, 50, 100, 150, 200], :2]
    np.testing.assert_allclose(tip, expected, atol=1e-5)  # as many digits as a screen has
    assert coupler["colour"] != "#222222" == data["lines"][0]["colour"]


def test_a_page_of_a_mode_in_space(tmp_path):
    m = cc.library.delta(flexible=True)
    path = animate_mode(m.modes(locked="motors"), 2, tmp_path / "mode.html", frames=8)
    data, text = content(path)
    assert data["dims"] == 3 and data["frames"] == 8 and "Drag to turn it" in text and "mode 2" in text
    away = np.array(data["lines"][0]["away"])
    np.testing.assert_allclose(away[0], -away[4], atol=2e-6)  # half a swing later, rounded
    assert len(data["lines"][0]["rigid"]) == 1  # at rest: once is enough


def test_moving_pictures(tmp_path):
    path = animate(four_bar_run(), tmp_path / "run.GIF", frames=3, magnify=30)
    with Image.open(path) as picture:
        assert (picture.format, picture.n_frames) == ("GIF", 3)
    path = animate_mode(cc.library.flexible_arm().modes(locked="motors"), 1, tmp_path / "mode.gif", frames=4)
    with Image.open(path) as picture:
        assert picture.n_frames == 4


def test_what_cannot_be_animated(tmp_path):
    run = four_bar_run()
    with pytest.raises(cc.ModelError, match=r"a .gif or .html file"):
        animate(run, tmp_path / "run.mp4")
    with pytest.raises(cc.ModelError, match="two samples at least"):
        animate(run.window(until=0.0), tmp_path / "run.html")
    for options, told in (
        ({"magnify": "a"}, "magnify must be a positive number, not 'a'"),
        ({"magnify": -5}, "magnify must be a positive number, not -5"),
        ({"frames": 0}, "frames must be a whole number of at least 2, not 0"),
        ({"fps": 0}, "fps must be a positive number, not 0"),
    ):
        with pytest.raises(cc.ModelError, match=told):
            animate(run, tmp_path / "run.html", **options)
    with pytest.raises(cc.ModelError, match=r"there is no folder '.*nowhere'"):
        animate(run, tmp_path / "nowhere" / "run.html")
    with pytest.raises(cc.ModelError, match="a run or a motion, not 'run'"):
        animate("run", tmp_path / "run.html")
    with pytest.raises(cc.ModelError, match="modes are numbered 1 to 2, not 3"):
        animate_mode(run.mechanism.modes(locked="motors"), 3, tmp_path / "mode.html")


def test_another_kind_of_run_is_drawn_by_its_points(tmp_path):
    run = four_bar_run()
    points = points_of(run, [0, 20, 40])
    data, _ = content(animate(points, tmp_path / "other.html"))
    assert data["frames"] == 3
