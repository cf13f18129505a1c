"""Figures of flexible links."""

import numpy as np
import pytest
import xarray

import closedchain as cc
from closedchain.look.plots.flexible import plot_beam, plot_deflection, plot_frequencies, plot_spectrum
from closedchain.results.beams.deflection import beam, deflection
from closedchain.results.beams.fields import BeamFields
from closedchain.results.beams.numbers import BeamNumbers
from closedchain.results.vibration.workspace import frequencies_over
from tests.unit.results.beams.flexible_motions import flexible_four_bar, four_bar_run


def texts(figure):
    return [t.get_text() for ax in figure.axes for t in (ax.title, ax.xaxis.label, ax.yaxis.label)]


def test_figures_of_a_run(tmp_path):
    run = four_bar_run()
    figure = plot_deflection(run, path=tmp_path / "deflection.svg")
    (line,) = figure.axes[0].get_lines()
    np.testing.assert_allclose(line.get_ydata(), 1e3 * run["coupler.y1"].values, atol=1e-12)
    assert "coupler [mm]" in texts(figure) and (tmp_path / "deflection.svg").stat().st_size > 1000
    figure = plot_spectrum(deflection(run, "coupler").sel(axis="y"), labels=["middle"], most=60, above=5)
    assert figure.axes[0].get_legend().get_texts()[0].get_text() == "middle"
    (told,) = figure.axes[0].texts
    assert told.get_text().endswith(" Hz") and 10.4 < float(told.get_text().split()[0]) < 11.1
    figure = plot_beam(beam(run, "coupler", forces="shapes"), "Mz")
    assert "Mz [N m]" in texts(figure) and len(figure.axes) == 3
    with pytest.raises(cc.ModelError, match="several components"):
        plot_beam(beam(run, "coupler", forces="shapes"), "displacement")
    with pytest.raises(cc.ModelError, match="needs a run, or another motion with flexible bodies, not 'r'"):
        plot_deflection("r")
    with pytest.raises(cc.ModelError, match="numbers between 0 and 4 m, not 'a'"):
        beam(run, "coupler", "a", forces="shapes")
    with pytest.raises(cc.ModelError, match="what frequencies_over gives, not str"):
        plot_frequencies("r")


def stretched(monkeypatch):
    """A run whose beam bends, and stretches by little."""
    run = four_bar_run().window()

    def fields(body, x, forces):
        moved = np.zeros((len(run.t), 2, 6))
        moved[:, :, 0], moved[:, :, 1] = 1e-5, np.sin(9 * run.t)[:, None]
        numbers = BeamNumbers.of(run.mechanism.flexible[body], run.mechanism.values())
        return BeamFields.from_nodes(numbers, run.t, [0.0, numbers.length], moved, x)

    monkeypatch.setattr(run.solution, "beam", fields)
    return run


def test_lines_that_would_be_flat_are_left_out_and_legends_tell_runs_apart(monkeypatch):
    run = stretched(monkeypatch)
    figure = plot_deflection(run)
    assert [x.get_text() for x in figure.axes[0].get_legend().get_texts()] == ["along y"]
    bent = deflection(run, "coupler").sel(axis="y")
    figure = plot_spectrum(bent, 2 * bent, bent.rename(None), bent.rename("other"))
    told = [x.get_text() for x in figure.axes[0].get_legend().get_texts()]
    assert told == ["coupler deflection, 1", "coupler deflection, 2", "signal 3", "other"]


def test_curves_of_frequencies():
    figure = plot_frequencies(frequencies_over(flexible_four_bar(), {"O": [0.0, 0.5, 1.0]}))
    assert [line.get_label() for line in figure.axes[0].get_lines()] == ["1", "2"]
    assert figure.axes[0].get_xlabel() == "O [rad]"
    assert "with O locked" in figure._suptitle.get_text()


def test_a_map_of_frequencies():
    x, y = np.linspace(0, 1, 3), np.linspace(0, 2, 4)
    z = 10 + np.add.outer(x, y)[..., None] * [1.0, 2.0]
    found = xarray.Dataset(
        {"frequency": (("a", "b", "mode"), z)},
        {"a": ("a", x, {"units": "rad"}), "b": ("b", y, {"units": "m"}), "mode": [1, 2]},
        {"mechanism": "m", "locked": "a, b"},
    )
    figure = plot_frequencies(found, mode=2)
    assert texts(figure)[1:3] == ["a [rad]", "b [m]"] and "mode 2" in figure.axes[1].get_ylabel()
    with pytest.raises(cc.ModelError, match="modes 1 to 2, not of 3"):
        plot_frequencies(found, mode=3)
