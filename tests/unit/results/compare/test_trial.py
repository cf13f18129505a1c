"""One run of many: failures as values, costs without samples, names that read well."""

import numpy as np
import pytest

import closedchain as cc
from closedchain.results.compare.trial import Trial, attempt, cost, label, newton_steps, number, operations


@pytest.fixture(scope="module")
def start():
    return cc.library.four_bar().assemble()


def test_a_run_comes_with_its_complaints(start):
    good = attempt(start, 0.2, Trial(cc.Multipliers(), rtol=1e-9, samples=11))
    assert (good.failure, good.complaints, len(good.run.t)) == ("", (), 11)
    # steps of a tenth of a second are far too long for energy to be kept to 1e-9
    poor = attempt(start, 1.0, Trial(cc.Multipliers(), cc.solvers.RK4(step=0.1), 1e-9))
    assert poor.failure == "" and "energy" in poor.complaints[0]


def test_failures_are_values(start):
    short = attempt(start, 1.0, Trial(cc.VirtualSpring(1e6, 1e3), cc.solvers.DOP853(max_steps=20)))
    assert "limit of steps" in short.failure and short.run is not None and not short.run.complete

    class Broken(cc.Multipliers):
        def close(self, equations, choice):
            raise RuntimeError("a mistake")

    broken = attempt(start, 1.0, Trial(Broken()))
    assert (broken.run, broken.failure) == (None, "RuntimeError: a mistake")


def test_an_interrupt_is_not_a_failure(start, monkeypatch):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("closedchain.results.compare.trial.simulate", interrupted)
    with pytest.raises(KeyboardInterrupt):
        attempt(start, 1.0, Trial(cc.Multipliers()))


def test_the_cost_is_that_of_the_march_without_samples(start):
    few, many = (attempt(start, 1.0, Trial(cc.Multipliers(), samples=n)).run for n in (2, 400))
    assert many.counts.corrections > few.counts.corrections  # samples are put back on the manifold
    a, b = cost(few), cost(many, repeats=2)
    assert (a.evaluations, a.corrections, a.operations) == (b.evaluations, b.corrections, b.operations)
    program = few.program
    wanted = a.evaluations * program.rhs.counts.total + a.corrections * program.correct.counts.total
    assert a.operations == wanted and a.kinds["total"] == program.rhs.counts.total
    assert b.seconds > 0


def test_newton_steps_inside_an_evaluation_are_counted(start):
    run = attempt(start, 1.0, Trial(cc.IndependentCoordinates(), rtol=1e-6)).run
    # warm-started Newton: never none, rarely more than three
    steps = newton_steps(run)
    assert 1.0 <= steps < 4.0
    rhs = run.program.rhs
    wanted = rhs.rates.counts.total + steps * rhs.newton.counts.total
    np.testing.assert_allclose(operations(run)["total"], wanted, rtol=1e-12)  # a sum in another order
    other = attempt(start, 0.1, Trial(cc.Multipliers())).run
    assert newton_steps(other) == 0.0


def test_implicit_solvers_have_times_but_no_operations(start):
    for method in (cc.VirtualSpring(1e6, 900.0), cc.IndependentCoordinates()):
        spent = cost(attempt(start, 0.1, Trial(method, "radau5", 1e-6)).run)
        assert spent.seconds > 0 and spent.evaluations > 0 and np.isnan(spent.operations)


def test_labels_read_well():
    assert label(cc.Multipliers()) == "Multipliers"
    assert label(cc.Multipliers("none")) == "Multipliers, not stabilised"
    assert label(cc.Multipliers(cc.Baumgarte(20.0))) == "Multipliers, Baumgarte alpha 20"
    assert label(cc.Projection()) == "Projection, sigma 10"
    assert label(cc.IndependentCoordinates()) == "IndependentCoordinates"
    assert label(cc.VirtualSpring(1e6, 900.0)) == "VirtualSpring, k 1e6, b 900"
    assert label(cc.VirtualSpring({"B x": 1e5, "B": 2e5})) == "VirtualSpring, k B=2e5 B x=1e5, b 0"
    assert [number(x) for x in (0.0, 5.0, 960.0, 2900.0, 4.2e6, 1e-5)] == ["0", "5", "960", "2900", "4.2e6", "1e-5"]
