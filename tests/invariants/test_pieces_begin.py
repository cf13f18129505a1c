"""Wherever a piece of a run begins, its first state may be off the manifold: it is put back, and no step pays for it.

The correction of a step counts as an error of that step. The distance of a start from the manifold, whatever has caused
it, would count in the first step whatever its length, and a regular run would die of steps that become too short.
"""

from dataclasses import replace

import numpy as np
import pytest

import closedchain as cc
from closedchain.march.run_loop import March
from tests.invariants.drawings import bennett
from tests.invariants.test_singular_runs import flat

# what is asked is whether runs go on; states are off by more than the tolerance promises
pytestmark = pytest.mark.filterwarnings("ignore::closedchain.errors.RunWarning")

OFF = [0.1, 1.0, 10.0, 100.0]  # tolerances
RTOL = 1e-11  # so that a hundred of them are still a start that is accepted as closed


def moved(state, size):
    """A state that is off by so much, in a direction that leaves the manifold and one that does not."""
    rng = np.random.default_rng(1)
    q, v = (x + size * (d / np.abs(d).max()) for x, d in ((y, rng.normal(size=y.size)) for y in (state.q, state.v)))
    return replace(state, q=q, v=v)


def same(run, wanted, size):
    """The motion of a start that is off by so much: rejections as usual, and errors that have grown with the motion."""
    assert run.complete and run.counts.rejections <= wanted.counts.rejections + 2
    for name in run.mechanism.joints:
        # measured: 20 to 60 times what the start is off, in a second of motion at some rad/s
        assert np.abs(run.dataset[name].values - wanted.dataset[name].values).max() < 1e3 * (size + RTOL)


@pytest.mark.parametrize("off", OFF)
@pytest.mark.parametrize("solver", ["dop853", "dopri5", "radau5", "rodas5p"])
def test_a_start_that_is_off(off, solver):
    m = cc.library.five_bar()
    start = m.assemble()
    runs = [cc.simulate(m, x, until=0.3, rtol=RTOL, solver=solver) for x in (moved(start, off * RTOL), start)]
    same(*runs, off * RTOL)
    # the first sample is where the run begins, on the manifold
    assert float(runs[0].closure_error[0]) < 1e-3 * RTOL


def test_a_start_on_the_manifold_is_left_as_it_is():
    m = cc.library.gough_stewart()
    start = m.assemble()
    run = cc.simulate(m, start, until=0.01)
    np.testing.assert_array_equal(run.state(0).q, start.q)
    np.testing.assert_array_equal(run.state(0).v, start.v)


@pytest.mark.parametrize("rtol", [1e-8, 1e-9, 1e-10, 1e-11, 1e-12])
@pytest.mark.parametrize("off", OFF)
def test_a_joint_that_closes_with_a_gap(rtol, off):
    """An event happens where the frames meet, as far as events are located."""
    m = cc.Mechanism("docking", gravity=(0, 0, 0))
    a, b = m.body("a", cc.box((1, 1, 1), mass=3.0)), m.body("b", cc.box((1, 1, 1), mass=2.0))
    m.free("a pose", m.ground, a)
    m.free("b pose", m.ground, b, guess=(1.0, 0, 0, 1, 0, 0, 0))
    m.spherical("dock", a.at(0.5, 0, 0), b.at(-0.5, 0, 0), cut=True)
    closed = m.assemble()
    v = dict.fromkeys(closed.topology.v_labels, 0.0) | {"a pose.wz": 0.5, "b pose.vy": 0.3, "b pose.wx": -0.4}
    apart = replace(moved(closed, min(off * rtol, 5e-7)), v=np.array(list(v.values())), open_joints=("dock",))
    quaternions = [label.endswith(("qw", "qx", "qy", "qz")) for label in closed.topology.q_labels]
    apart = replace(apart, q=np.where(quaternions, closed.q, apart.q))
    docks = cc.Event("docks", cc.t - 1e-9, then=cc.Switch(close="dock"))
    run = cc.simulate(m, apart, until=0.5, rtol=rtol, events=[docks])
    assert run.good and len(run.segments) == 2
    assert run.counts.rejections <= 2
    assert float(run.closure_error[-1]) < 1e-12


@pytest.mark.parametrize("off", OFF)
@pytest.mark.parametrize("method", [cc.Multipliers(), cc.Projection(10.0), cc.IndependentCoordinates()], ids=str)
def test_pieces_that_begin_off(off, method, monkeypatch):
    """Rows and velocities are chosen again on the way, each time from a state that is off."""
    m = bennett()
    m.start_velocity = {"J1": 1.0}
    start = m.assemble()
    wanted = cc.simulate(m, start, until=3.0, rtol=RTOL, method=method)
    resume = March._resume
    pieces = []

    def off_the_manifold(self, trajectory):
        resume(self, trajectory)
        self.place.state = moved(self.place.state, off * RTOL)
        pieces.append(self.place.state.t)

    monkeypatch.setattr(March, "_resume", off_the_manifold)
    run = cc.simulate(m, start, until=3.0, rtol=RTOL, method=method)
    assert pieces and run.complete
    # a piece begins with a step of its own; one that could not begin would be rejected hundreds of times
    assert run.counts.rejections <= wanted.counts.rejections + 10 * len(pieces)
    # each piece adds what it was off by, and all of it grows with the motion
    assert np.abs(run["J1"].values - wanted["J1"].values).max() < 1e3 * len(pieces) * (1 + off) * RTOL


@pytest.mark.parametrize("off", OFF)
def test_a_guarded_piece_that_begins_off(off, monkeypatch):
    """Beside a singular pose corrections do not count, and such a piece is as before."""
    m = flat()
    start = m.assemble()
    wanted = cc.simulate(m, start, until=2.0, rtol=1e-12)
    resume = March._resume
    monkeypatch.setattr(
        March, "_resume",
        lambda self, trajectory: (resume(self, trajectory),
                                  setattr(self.place, "state", moved(self.place.state, off * 1e-12))),
    )  # fmt: skip
    run = cc.simulate(m, start, until=2.0, rtol=1e-12)
    assert len(wanted.segments) > 1 and run.complete
    # steps beside the pose are short in any case (34 rejections, and 59 and 63 of starts that are off); a piece that
    # could not begin would be rejected hundreds of times
    assert run.counts.rejections <= wanted.counts.rejections + 100


def test_a_run_that_goes_on_where_a_rougher_one_ended():
    m = cc.library.four_bar()
    rough = cc.simulate(m, until=0.5, rtol=1e-5).state(-1)
    run = cc.simulate(m, rough, until=1.0, rtol=1e-13)
    assert run.good and run.counts.rejections <= 5
