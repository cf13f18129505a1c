"""A run knows whether it is good: it says so when it is, and what is wrong when it is not."""

import numpy as np
import pytest

import closedchain as cc
from closedchain.model.library import MECHANISMS
from closedchain.results.checks import closure_norm, energy_balance


@pytest.mark.parametrize("name", MECHANISMS)
def test_the_usual_run_of_every_library_mechanism_is_good(name):
    """No false alarm, and nothing to be alarmed about: warnings are errors here."""
    entry = MECHANISMS[name]
    run = cc.simulate(entry.build(), until=entry.until, rtol=1e-8)

    assert run.good and run.complaints() == []


def test_a_loose_and_a_tight_tolerance_are_each_judged_by_their_own_promise():
    for rtol in (1e-3, 1e-5, 1e-12):
        assert cc.simulate(cc.library.four_bar(), until=1.0, rtol=rtol).good, rtol


def test_a_coarse_fixed_step_is_told():
    with pytest.warns(
        cc.RunWarning, match=r"energy of 'four-bar' is off by .* J at t = .* s, more than .* rtol = 1e-08"
    ):
        run = cc.simulate(cc.library.four_bar(), until=2.0, solver=cc.solvers.RK4(step=0.05))

    assert run.complete and not run.good
    assert float(abs(run.energy_error).max()) > 1e-3


def test_a_fine_fixed_step_is_fine():
    assert cc.simulate(cc.library.four_bar(), until=1.0, solver=cc.solvers.RK4(step=1e-3)).good


def test_a_drifting_run_is_told():
    with pytest.warns(cc.RunWarning) as told:
        run = cc.simulate(
            cc.library.four_bar(), until=2.0, solver=cc.solvers.RK4(step=0.02), method=cc.Multipliers("none")
        )
    closure = next(str(w.message) for w in told if "opens by" in str(w.message))

    assert "loop at joint 'B' of 'four-bar'" in closure and "stabilise='projection'" in closure
    assert float(run.closure_error.max()) > 1e-5
    assert f"{float(run.closure_error.max()):.2g}" in closure


def test_projection_cures_the_drift():
    """The same coarse steps: the energy is still off, the loop is closed."""
    with pytest.warns(cc.RunWarning, match="energy"):
        run = cc.simulate(cc.library.four_bar(), until=2.0, solver=cc.solvers.RK4(step=0.02))

    assert float(run.closure_error.max()) < 1e-12
    assert not any("opens" in text for text in run.complaints())


def test_baumgarte_keeps_the_drift_small():
    free, held = (
        cc.simulate(cc.library.four_bar(), until=10.0, rtol=1e-6, method=cc.Multipliers(stabilise))
        for stabilise in ("none", cc.Baumgarte(10.0))
    )

    assert float(held.closure_error[-1]) < 0.1 * float(free.closure_error[-1])


def test_a_torque_with_jumps_is_not_condemned():
    square = cc.library.pendulum()
    square.motor("hinge", torque=cc.math.where(cc.t % 0.2 < 0.1, 1.0, -1.0))

    assert cc.simulate(square, until=1.0, rtol=1e-8).good


# ---- limits ----------------------------------------------------------------------------------------------------------


def limited(**options):
    m = cc.Mechanism("stopped", gravity=(0, -9.81, 0))
    m.revolute("hinge", m.ground, m.body("arm", cc.rod(1.0, 1.0)), **options)
    return m


def test_leaving_the_limits_is_told():
    with pytest.warns(cc.RunWarning, match=r"'hinge' leaves its limits \(-1, 1\) at t = 0\.3.* s, where it is -1\.0"):
        run = cc.simulate(limited(limits=(-1, 1)), until=1.0)

    assert run.complete and not run.good


def test_staying_within_the_limits_is_fine():
    assert cc.simulate(limited(limits=(-4, 1)), until=1.0).good


def test_limits_of_one_coordinate_among_several():
    m = cc.Mechanism("falling", gravity=(0, 0, -9.81))
    m.cylindrical("tube", m.ground, m.body("ball", cc.ball(0.1, 1.0)), limits=(None, (-1, 1)))

    with pytest.warns(cc.RunWarning, match=r"'tube\.slide' leaves its limits"):
        cc.simulate(m, until=1.0)


def test_limits_of_a_cut_joint_are_those_of_what_is_shown():
    """A cut hinge that turns past half a turn is at 3.3 rad, not at -2.98."""
    m = cc.Mechanism("wheel", gravity=(0, 0, 0))
    wheel = m.body("wheel", cc.disc(0.1, 1.0))
    m.revolute("kept", m.ground, wheel)
    m.revolute("cut", m.ground, wheel, cut=True, limits=(-1.0, 4.0))
    run = cc.simulate(m, m.assemble(velocity={"kept": 1.0}), until=3.5)

    assert float(run["cut"][-1]) == pytest.approx(3.5, abs=1e-9)
    assert run.complaints() == []


# ---- the pieces ------------------------------------------------------------------------------------------------------


def test_energy_balance_counts_from_the_start(four_bar_run):
    """Also when the first sample comes later: what happened before it counts."""
    run = four_bar_run
    out = run._outputs
    error, exchanged = energy_balance(run, out)
    late = {name: values[50:] for name, values in out.items()}
    error_late, _ = energy_balance(run, late)

    np.testing.assert_allclose(error_late, error[50:], atol=1e-12)
    assert exchanged == max(out["kinetic"].max(), np.ptp(out["potential"]), np.ptp(out["work"]))


def test_energy_balance_sees_what_is_missing(four_bar_run):
    out = dict(four_bar_run._outputs)
    out["work"] = out["work"] - np.linspace(0, 1, 101)[:, None]

    assert energy_balance(four_bar_run, out)[0][-1] == pytest.approx(1.0, abs=1e-6)


def test_energy_balance_of_nothing(four_bar_run):
    error, exchanged = energy_balance(four_bar_run, {k: np.zeros((0, 1)) for k in ("kinetic", "potential", "work")})

    assert error.size == 0 and exchanged == 1.0


def test_closure_norm():
    np.testing.assert_array_equal(closure_norm(np.array([[1.0, -3.0], [0.5, 0.0]])), [3.0, 0.5])
    np.testing.assert_array_equal(closure_norm(np.zeros((4, 0))), np.zeros(4))


def test_a_mechanism_at_rest_is_good():
    """Nothing is exchanged, so nothing can be compared with it."""
    m = cc.Mechanism("still", gravity=(0, -9.81, 0))
    m.revolute("hinge", m.ground, m.body("arm", cc.rod(1.0, 1.0)))

    assert cc.simulate(m, m.assemble(hinge=-np.pi / 2), until=1.0).good


def test_a_large_mechanism_is_judged_by_its_own_size():
    """The same motion in kilometres: residuals are a thousand times larger in metres, and no worse."""

    def four_bar(size):
        m = cc.Mechanism("large", gravity=(0, -9.8 * size, 0))
        crank, coupler, rocker = (
            m.body(n, cc.rod(size * L, 1.0)) for n, L in (("crank", 1), ("coupler", 4), ("rocker", 2.5))
        )
        m.revolute("O", m.ground, crank)
        m.revolute("A", crank.tip, coupler, guess=-1.2)
        m.revolute("C", m.ground.at(3 * size, 0, 0), rocker, guess=1.3)
        m.revolute("B", coupler.tip, rocker.tip)
        m.motor("O", torque=6.0 * size**2)
        return m

    m = four_bar(1e4)
    run = cc.simulate(m, m.assemble(O=np.pi / 2), until=1.0, rtol=1e-9)

    assert run.complaints() == []


def test_a_beam_that_turns_too_far_is_told():
    m = cc.library.flexible_arm()
    soft = {"beam.E": 1e6}
    with pytest.warns(cc.RunWarning, match=r"sections of 'beam' turn by .* rad .* Divide the body"):
        run = cc.simulate(m, until=0.2, rtol=1e-6, parameters=soft)
    assert not run.good
    assert cc.simulate(m, until=0.01, rtol=1e-6).good


def test_energy_beyond_all_numbers_is_not_good():
    """Nobody looks on the way, and speeds of 1e205 rad/s have no energy that can be told."""
    m = cc.library.pendulum()
    m.joint_spring("hinge", -30.0)
    with pytest.warns(cc.RunWarning, match=r"energy of 'pendulum' is larger than any number from t = \d") as said:
        run = cc.simulate(m, until=50.0, events=[cc.Divergence("pass")])
    assert not run.good and not any("nan" in str(x.message) for x in said)


def test_samples_of_radau5_are_as_good_as_its_steps():
    """Off by 6.1e3 rtol, within two long steps from rest, if the polynomial misses the derivative at their start."""
    run = cc.simulate(cc.library.four_bar(), until=0.1, solver="radau5", rtol=1e-11)
    assert run.good
    exchanged = float(run["work"].max())
    assert float(abs(run.energy_error).max()) < 100 * 1e-11 * exchanged  # seen: below 100


def test_a_long_fall_has_an_end():
    m = cc.Mechanism("stone", gravity=(0, 0, -9.81))
    m.prismatic("z", m.ground, m.body("stone", cc.ball(radius=0.01, mass=1.0)), axis=(0, 0, 1))
    assert cc.simulate(m, until=100.0).good  # 49 km
