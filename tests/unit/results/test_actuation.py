"""A run that passes a singular pose of its actuation says so once, with the time and the conditioning."""

import warnings

import numpy as np
import pytest

import closedchain as cc
from closedchain.results import actuation
from closedchain.results.actuation import lost_hold


def piston(force=1.0, **drawing):
    """A slider-crank that is driven by its slider, with dead centres at O = 0 and pi."""
    m = cc.library.slider_crank(**drawing)
    m.motors.clear()
    m.motor("slide", force=force)
    return m


def run_of(m, *args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cc.RunWarning)
        return cc.simulate(m, *args, **options)


def test_a_piston_that_passes_its_dead_centre():
    m = piston()
    start = m.assemble(O=1.0, velocity={"O": 5.0})
    with pytest.warns(
        cc.RunWarning, match=r"lose their hold at t = .*\(type 2\).*still moves along \(A .*conditioning"
    ):
        run = cc.simulate(m, start, until=1.0)
    assert run.complete and not run.good
    (said,) = run.complaints()
    # the angle of the crank passes a multiple of pi at that time
    time = float(said.partition("at t = ")[2].partition(" s")[0])
    angle = np.interp(time, run.t, run["O"])
    assert abs(angle / np.pi - round(angle / np.pi)) < 1e-3


def test_it_agrees_with_the_search_between_steps():
    m = piston()
    start = m.assemble(O=1.0, velocity={"O": 5.0})
    told = run_of(m, start, until=1.0, events=[cc.SingularPoses("warn")])
    first = next(h for h in told.record if "of the actuation" in h.what)
    said = lost_hold(run_of(m, start, until=1.0))
    assert f"t = {first.t:.4g} s" in said
    assert lost_hold(told) is None  # this one has said it already


def test_a_crank_drives_through_it():
    m = cc.library.slider_crank()
    assert cc.simulate(m, until=1.0).good


def test_before_the_pose_nothing_is_said():
    m = piston()
    assert run_of(m, m.assemble(O=1.0, velocity={"O": 5.0}), until=0.1).good


def test_a_sample_that_lies_on_the_pose():
    """A machine that starts in its dead centre: no sign changes before it."""
    m = piston(force=0.0)
    run = run_of(m, m.assemble(O=0.0), until=0.01)
    assert "lose their hold at t = 0 s" in lost_hold(run)


@pytest.mark.parametrize("samples", [21, 3001])
def test_few_and_many_samples(samples):
    m = piston()
    run = run_of(m, m.assemble(O=1.0, velocity={"O": 5.0}), until=1.0, t_eval=np.linspace(0, 1, samples))
    time = float(lost_hold(run).partition("at t = ")[2].partition(" s")[0])
    assert time == pytest.approx(0.7857, abs=2e-3)


def test_all_methods_say_the_same():
    m = piston()
    start = m.assemble(O=1.0, velocity={"O": 5.0})
    said = {lost_hold(run_of(m, start, until=1.0, method=method)).partition(" s:")[0] for method in (
        cc.Multipliers(), cc.Projection(), cc.VirtualSpring(1e7, 1e3))}  # fmt: skip
    assert len(said) == 1


def test_more_or_fewer_motors_than_freedoms_are_not_looked_at():
    m = piston()
    m.motor("O", torque=1.0)
    assert run_of(m, m.assemble(O=1.0, velocity={"O": 5.0}), until=1.0).good
    m = cc.library.five_bar()
    m.motors.clear()
    m.motor("left motor", torque=1.0)
    assert lost_hold(run_of(m, until=0.1)) is None


def test_rows_that_are_chosen_by_chance_are_no_singular_pose(monkeypatch):
    """Where the determinant changes its sign at a regular pose, nothing is said."""
    m = cc.library.slider_crank()
    run = cc.simulate(m, until=1.0)
    monkeypatch.setattr(actuation.Conditioning, "determinants", lambda self, t, x: np.cos(40.0 * t))
    assert lost_hold(run) is None
