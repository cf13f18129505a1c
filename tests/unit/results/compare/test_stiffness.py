"""The error-against-stiffness curve, the choice on it, and its predicted cost."""

import numpy as np
import pytest

import closedchain as cc
from closedchain.native import lazy as home
from closedchain.results.compare.stiffness import _round_up, _where


@pytest.fixture(scope="module")
def choice():
    return cc.choose_stiffness(cc.library.four_bar(), error=1e-4, until=0.1)


def test_the_wanted_error_holds_and_no_softer_spring_would_do(choice):
    m = cc.library.four_bar()
    run = cc.simulate(m, until=0.1, method=choice.method, rtol=1e-9)
    assert float(run.closure_error.max()) == choice.reached <= 1e-4
    softer = cc.simulate(m, until=0.1, method=cc.VirtualSpring(0.9 * choice.stiffness, choice.damping), rtol=1e-9)
    assert float(softer.closure_error.max()) > 1e-4
    assert choice.method == cc.VirtualSpring(choice.stiffness, choice.damping)


def test_the_error_falls_with_one_over_k(choice):
    # first order in 1/k: the next term is some percent at the softest spring of the fit
    assert choice.slope == pytest.approx(-1.0, abs=0.03)
    curve = choice.dataset
    assert (np.diff(curve["closure_error"]) < 0).all() and (np.diff(curve["motion_error"]) < 0).all()
    k, load = curve["stiffness"].values[-1], 6.87  # N, the multiplier at the start: 9.8/2 N times a geometry
    assert float(curve["closure_error"][-1]) == pytest.approx(load / k, rel=0.1)


def test_the_cost_is_predicted(choice):
    # a power law over two decades, read inside of them
    assert choice.predicted == pytest.approx(choice.evaluations, rel=0.25)
    assert 0.2 < choice.power < 0.6
    assert 0 < choice.exact_evaluations < choice.evaluations


def test_stiff_springs_cost_the_square_root_of_k():
    options = {"error": 1e-5, "until": 0.1, "solver": cc.solvers.DOPRI5(max_steps=1_000_000)}
    ks = [1e9, 1e10, 1e11]
    got = cc.choose_stiffness(cc.library.four_bar(), **options, stiffnesses=ks, rtol=1e-7)
    assert got.dataset["stiffness"].values.tolist() == ks
    # where stability holds the steps short, they follow the frequency, sqrt(k s_max)
    assert got.power == pytest.approx(0.5, abs=0.02)
    # springs that ring are followed for accuracy: swings of the velocities shrink with 1/sqrt(k), and the steps of
    # order 5 grow with the fifth root of that
    got = cc.choose_stiffness(cc.library.four_bar(), **options, stiffnesses=[1e7, 1e8, 1e9], rtol=1e-8, damping=0.0)
    assert got.power == pytest.approx(0.5 - 0.5 / 5, abs=0.02)


def test_no_damping_is_the_way_of_the_paper():
    ks = [1e3, 1e5, 1e6, 1e7]
    got = cc.choose_stiffness(cc.library.four_bar(), error=1e-4, until=0.1, damping=0, stiffnesses=ks, rtol=1e-10)
    assert got.damping == 0.0 and (got.dataset["damping"] == 0).all()
    # Figure 6 takes one instant, t = 0.1 s. From an integration in quadruple precision: |Delta| = |lam|/k there
    wanted = [0.011382223245, 5.07814389e-05, 1.58203879e-05, 2.62502750e-07]
    # 1e-4: the phase of a spring of 1e7 after some hundred swings, at rtol 1e-10
    np.testing.assert_allclose(got.dataset["closure_error_at_end"], wanted, rtol=1e-4)


def test_nothing_is_compiled_between_stiffnesses(monkeypatch):
    m = cc.library.four_bar()
    made = []
    original = home.compile_parts

    def noted(name, *rest, **more):
        made.append(name)
        return original(name, *rest, **more)

    monkeypatch.setattr(home, "compile_parts", noted)
    cc.choose_stiffness(m, error=1e-4, until=0.1)
    # the exact run (right-hand side and correction), and the springs, once
    assert sorted(made) == ["four-bar correction", "four-bar right-hand side", "four-bar right-hand side"]


def test_it_says_what_it_chose(choice):
    lines = str(choice).splitlines()
    assert lines[0].startswith("k = 7.") and "critical for the stiffest closure" in lines[0]
    assert any("slope -1.0" in line for line in lines)
    assert any(f"{choice.evaluations} evaluations" in line and "predicted" in line for line in lines)


def test_the_figure(choice, tmp_path):
    figure = choice.plot(tmp_path / "curve.png")
    assert (tmp_path / "curve.png").read_bytes()[:4] == b"\x89PNG"
    left, right = figure.axes
    assert left.lines[0].get_ydata().tolist() == choice.dataset["closure_error"].values.tolist()
    assert right.lines[0].get_ydata().tolist() == choice.dataset["evaluations"].values.tolist()


def test_other_mechanisms():
    got = cc.choose_stiffness(cc.library.gough_stewart(), error=1e-5, until=0.05)
    assert got.reached <= 1e-5 and got.slope == pytest.approx(-1.0, abs=0.1)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"error": 1e-12}, "not resolved by rtol = 1e-09: ask for 1e-07 or more; or use"),
        ({"error": 1e-8}, "or take rtol = 1e-10"),
        ({"error": -1.0}, "error must be a positive number"),
        ({"damping": -1.0}, "damping must be zero or a positive number"),
        ({"until": 0.0}, "runs of some length"),
        ({"solver": "rk4"}, "has a fixed step: say its length"),
        ({"stiffnesses": [1e5]}, "two or more"),
        ({"error": 2e-7, "until": 5.0, "solver": cc.solvers.DOP853(max_steps=2000)}, "springs"),
    ],
)
def test_wishes_that_cannot_be_met_are_told(options, words):
    with pytest.raises((cc.ModelError, cc.RunError), match=words):
        cc.choose_stiffness(cc.library.four_bar(), **options)


def test_what_has_no_loop_or_no_load():
    with pytest.raises(cc.ModelError, match="no loop"):
        cc.choose_stiffness(cc.library.pendulum())
    with pytest.raises(cc.ModelError, match="carry no load"):
        cc.choose_stiffness(cc.library.rrr3())
    with pytest.raises(cc.ModelError, match="belongs to mechanism 'five-bar', not to"):
        cc.choose_stiffness(cc.library.four_bar(), cc.library.five_bar().assemble())


def test_reading_the_curve():
    k, gap = np.array([1e3, 1e4, 1e5]), np.array([1e-2, 1e-3, 1e-4])
    assert _where(k, gap, 3e-4, -1.0) == pytest.approx(10**4.5229, rel=1e-3)
    assert _where(k, gap, 1e-6, -1.0) == pytest.approx(1e7)
    assert _where(k, gap, 1.0, -1.0) == pytest.approx(10.0)
    assert [_round_up(x) for x in (73123.0, 74000.0, 9.99e6)] == [74000.0, 74000.0, 1e7]
