"""Loops that begin open by a stated gap, closed by stretched springs: the springs' energy is in the balance."""

import numpy as np
import pytest

import closedchain as cc

K, GAP = 1e3, 0.01


def carts(first=1.0, second=3.0):
    """Two masses on one rail, latched together: with a spring in the latch, the textbook's oscillator."""
    m = cc.Mechanism("carts", gravity=(0, 0, 0))
    a, b = m.body("a", cc.ball(0.1, first)), m.body("b", cc.ball(0.1, second))
    m.prismatic("left", m.ground, a, axis=(1, 0, 0))
    m.prismatic("right", m.ground, b, axis=(1, 0, 0))
    m.revolute("latch", a, b, cut=True)
    return m


@pytest.mark.parametrize("method", [cc.VirtualSpring, cc.ModifiedDeNOC])
def test_an_open_latch_oscillates(method):
    """c(t) = c0 cos(w t) with w^2 = k / reduced mass, about a centre of mass that rests."""
    m = carts()
    start = m.assemble(left=0.0, gaps={"latch x": GAP})
    assert abs(start["left"] - start["right"]) == pytest.approx(GAP, rel=1e-12) and not start.v.any()
    run = cc.simulate(m, start, until=0.5, method=method(K), rtol=1e-10)
    w = np.sqrt(K / (1.0 * 3.0 / (1.0 + 3.0)))
    stretch = (run["left"] - run["right"]).values

    assert run.good
    assert np.abs(stretch - stretch[0] * np.cos(w * run.t)).max() < 1e-9  # 100 rtol of a motion of 1e-2, three periods
    centre = (run["left"] + 3 * run["right"]).values
    assert np.ptp(centre) < 1e-11  # to rounding of the steps
    # all energy is the spring's at first, k c0^2 / 2, and goes back and forth
    stored, moving = run["potential_energy"].values, run["kinetic_energy"].values
    assert stored[0] == pytest.approx(K * GAP**2 / 2, rel=1e-12) and moving[0] == 0.0
    np.testing.assert_allclose(stored, K * stretch**2 / 2, atol=1e-12)
    assert np.ptp(stored + moving) < 1e-7 * stored[0] and moving.max() > 0.99 * stored[0]


@pytest.mark.parametrize("method", [cc.VirtualSpring, cc.ModifiedDeNOC])
def test_dampers_close_an_open_four_bar(method):
    """After ten time constants b / k the loop is stretched by its load alone, as that of a run that began closed."""
    m = cc.library.four_bar(torque=0.0)
    gaps = {"B x": 1e-3, "B y": -2e-3}
    start = m.assemble(O=1.0, gaps=gaps)
    run = cc.simulate(m, start, until=0.1, method=method(1e5, 300.0), solver="radau5", rtol=1e-9)
    shut = cc.simulate(m, m.assemble(O=1.0), until=0.1, method=method(1e5, 300.0), solver="radau5", rtol=1e-9)

    assert run.good
    assert run["closure_error"].values[0] == pytest.approx(2e-3, rel=1e-9)
    # the springs' energy at the start, and nothing else, tells the two starts apart beside the weights' height
    heights = [x["potential_energy"].values[0] for x in (run, shut)]
    stored = 1e5 * (1e-3**2 + 2e-3**2) / 2
    assert heights[0] - heights[1] == pytest.approx(stored + raised(start) - raised(m.assemble(O=1.0)), abs=1e-9)
    gaps = [x["closure_error"].values[run.t > 0.05] for x in (run, shut)]
    np.testing.assert_allclose(*gaps, rtol=1e-2)  # the loads differ with the angles, which are 4e-4 rad apart
    assert gaps[0].max() < 4e-5


def raised(state):
    """Potential energy of the three rods of 1 kg, from the angles: J."""
    O, A, C = (state[name] for name in ("O", "A", "C"))
    heights = (0.5 * np.sin(O), np.sin(O) + 2.0 * np.sin(O + A), 1.25 * np.sin(C))
    m = state.mechanism
    masses = [m.parameters[f"{name}.mass"] for name in ("crank", "coupler", "rocker")]
    return -m.values()(m.gravity[1]) * float(np.dot(masses, heights))


def test_methods_with_closed_loops_refuse_an_open_start():
    m = cc.library.four_bar()
    start = m.assemble(O=1.0, gaps={"B y": 1e-3})
    for method in (cc.Multipliers(), cc.OperationalSpace(), cc.DeNOC()):
        with pytest.raises(cc.AssemblyError, match=r"joint 'B' is off by 0\.001 .*\(y\).*cc\.VirtualSpring"):
            cc.simulate(m, start, until=0.1, method=method)


@pytest.mark.parametrize(
    ("gaps", "error", "sentence"),
    [
        ({"B z": 1e-3}, cc.ModelError, "gaps: no motion opens the closure row 'B z'"),
        ({"B": 1e-3}, cc.ModelError, "gaps: there is no closure row 'B'; did you mean 'B y' or 'B x'"),
        ({"B x": np.nan}, cc.ModelError, "gaps: 'B x' must be a finite number, not nan"),
        ({"B x": "1"}, cc.ModelError, "gaps: 'B x' must be a finite number, not '1'"),
        ([1e-3], cc.ModelError, "gaps takes a mapping by closure row"),
        ({"B x": 100.0}, cc.AssemblyError, "does not close.*\n.*'B': x .*\nheld: O=1, gap B x=100"),
    ],
)
def test_wrong_gaps_are_told(gaps, error, sentence):
    with pytest.raises(error, match=sentence):
        cc.library.four_bar().assemble(O=1.0, gaps=gaps)
