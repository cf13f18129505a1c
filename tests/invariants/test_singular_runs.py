"""Runs that are driven into singular poses: they end with a sentence, and keep what was computed."""

import numpy as np
import pytest

import closedchain as cc


def test_a_four_bar_driven_into_its_dead_point():
    """The rocker cannot go beyond the pose at which crank and coupler are in line."""
    m = cc.library.four_bar(torque=0.0)
    m.start = {}
    m.drive("C", 1.26 + 0.5 * cc.t)
    with pytest.raises(
        cc.RunError, match=r"t = 1\.48\d* s.*singular pose at O=.*, A=-3\.14\d*, C=2\.00.*lost"
    ) as trouble:
        cc.simulate(m, m.assemble(guess={"O": 1.57, "A": -1.2, "C": 1.26}), until=4.0)
    run = trouble.value.run

    # in line: the triangle of ground 3, rocker 2.5 and 4 - 1 = 3 (the crank folded back over the coupler)
    dead = np.pi - np.arccos((3**2 + 2.5**2 - 3**2) / (2 * 3 * 2.5))
    assert not run.complete and float(run["C"][-1]) == pytest.approx(dead, abs=5e-3)
    assert float(run.closure_error.max()) < 1e-9


def test_a_3rrr_driven_into_a_type_2_singularity():
    """All three motors are prescribed; where the distal links meet in a point, the platform is free to turn."""
    m = cc.library.rrr3(position=(0.0, 0.0))
    starts = dict(m.start)
    m.start = {}
    for k in (1, 2, 3):
        # turning all legs alike carries the platform round its centre until the distal links are concurrent
        m.drive(f"base{k}", starts[f"base{k}"] - 0.6 * cc.t)
    with pytest.raises(cc.RunError, match=r"ended at t = .*singular pose at base1=.*lost") as trouble:
        cc.simulate(m, until=6.0)
    run = trouble.value.run

    assert 0 < run.t[-1] < 6.0 and len(run.t) > 5
    # it falls like the root of the time that is left; the last sample lies up to 0.03 s before the end
    conditioning = run["actuation_conditioning"].values
    assert conditioning[-1] < conditioning[0] / 3 and (np.diff(conditioning[-5:]) < 0).all()


def flat(stabilise="projection"):
    """A parallelogram that swings through its flat pose."""
    m = cc.Mechanism("swing", gravity=(0, -9.81, 0))
    a, b, c = (m.body(name, cc.rod(length=L, mass=1.0)) for name, L in (("a", 1.0), ("b", 2.0), ("c", 1.0)))
    m.revolute("O", m.ground, a, guess=1.0)
    m.revolute("A", a.tip, b, guess=-1.0)
    m.revolute("C", m.ground.at(2, 0, 0), c, guess=1.0)
    m.revolute("B", b.tip, c.tip)
    m.start = {"O": 1.0}
    return m


@pytest.mark.parametrize("rtol", [1e-6, 1e-8, 1e-10, 1e-12])
def test_stop_and_warn_see_a_pose_that_steps_leap_over(rtol):
    with pytest.raises(cc.RunError, match="the pose is singular") as trouble:
        cc.simulate(flat(), until=2.0, rtol=rtol, events=[cc.SingularPoses("stop")])
    assert abs(float(trouble.value.run["O"][-1])) < 2e-2
    with pytest.warns(cc.RunWarning, match="singular pose"):
        cc.simulate(flat(), until=2.0, rtol=rtol, events=[cc.SingularPoses("warn")])


def test_stop_works_with_any_method():
    """The monitor looks at the pose, whatever the equations do there."""
    for method in (cc.Multipliers("none"), cc.Multipliers(cc.Baumgarte())):
        with pytest.raises(cc.RunError, match="the pose is singular or close to it"):
            cc.simulate(flat(), until=1.0, method=method, events=[cc.SingularPoses("stop")])
