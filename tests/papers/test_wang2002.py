"""J. Wang, C. M. Gosselin and L. Cheng (2002)."""

import numpy as np
import pytest

from papers.paper import CORRECTED, FAILS, HOLDS
from papers.wang2002 import flexible_coupler
from tests.papers.computed import computed
from tests.reference.compare import load

FOUR_BAR = {
    "more freedoms": HOLDS,
    "infinite stiffness": HOLDS,
    "equations of motion": HOLDS,
    "block diagonal": HOLDS,
    "forces of the joint": CORRECTED,
    "equation 20": CORRECTED,
    "start of the four-bar": CORRECTED,
    "error falls with k": HOLDS,
    "10^-5.5": CORRECTED,
    "way to choose k": CORRECTED,
    "slower with k": HOLDS,
    "ill-conditioning": CORRECTED,
    "closed by itself": HOLDS,
    "DAE and closed form": HOLDS,
    "differences are small": HOLDS,
    "small systems": HOLDS,
    "ideal speed": FAILS,
    "easier than a DAE": CORRECTED,
}
COUPLER = {
    "any functions": CORRECTED,
    "dominant frequency": HOLDS,
    "five equations": HOLDS,
    "flexible coupler agrees": HOLDS,
    "two percent": HOLDS,
}
PLATFORM = {
    "24 coordinates": HOLDS,
    "five springs": HOLDS,
    "eight blocks": HOLDS,
    "eight processors": CORRECTED,
    "damping": CORRECTED,
    "inverse dynamics of the platform": HOLDS,
    "start of the platform": FAILS,
    "closure errors": CORRECTED,
    "identical results": HOLDS,
    "platform agrees": CORRECTED,
    "completely decoupled": CORRECTED,
    "seven submodels": HOLDS,
    "fifteen times": FAILS,
    "multipliers are coupled": FAILS,
    "real time": HOLDS,
}
VERDICTS = FOUR_BAR | COUPLER | PLATFORM

FIGURES = {
    "four-bar": (
        "fig1", "fig2", "eq15", "section2.1", "eq20", "section3", "section3.1", "fig6", "section3.1.1", "fig7", "fig8"
    ),
    "coupler": ("fig9", "fig10", "fig11", "fig12", "fig13"),
    "platform": (
        "fig3", "fig4", "fig5", "eq39", "eq40", "section2.2", "section3.2.3", "fig14", "gaps", "processors",
        "multipliers", "conclusion",
    ),
}  # fmt: skip


def test_four_bar():
    found = computed("wang2002", FOUR_BAR, FIGURES["four-bar"])
    exact, springs = load("wang2002/four_bar"), load("wang2002/four_bar_springs")
    stiff = springs["undamped"]["1e6"]

    # N: the force follows the state with a gain of some 10, and rtol is 1e-11
    carried = np.linalg.norm(exact["constrained"][0]["lam"])
    assert found["start of the four-bar"]["load of B [N]"] == pytest.approx(carried, abs=1e-8)
    # the gap is lam / k; relative, for rtol = 1e-10 and a spring that multiplies what is off by 1e6
    errors = found["10^-5.5"]
    gap = np.log10(np.linalg.norm(stiff[0]["lam"]) / 1e6)
    assert errors["log10 e, closed start"] == pytest.approx(gap, abs=1e-4)
    # lam of the damped one has b c' in it, too, which is of the next order in 1/k
    gap = np.log10(np.linalg.norm(springs["damped"]["rows"][0]["lam"]) / 1e6)
    assert errors["log10 e, with a damper"] == pytest.approx(gap, abs=1e-3)
    # rad: rtol = 1e-11 in each of some ten thousand steps
    last = [found["closed by itself"][f"{name} at 2 s [rad]"] for name in ("theta", "alpha", "phi")]
    assert last == pytest.approx(stiff[-1]["q"], abs=1e-7)


def test_flexible_coupler():
    found = computed("wang2002", COUPLER, FIGURES["coupler"])
    rows = load("wang2002/four_bar_flexible")

    pinned = rows["pinned_pinned_rad_s"][0] / (2 * np.pi)
    assert found["dominant frequency"]["pinned-pinned [Hz]"] == pytest.approx(pinned, rel=1e-12)
    # rad: rtol = 1e-10 in each of a thousand steps
    last = [found["flexible coupler agrees"][f"{name} at 2 s [rad]"] for name in ("theta", "alpha", "phi")]
    assert last == pytest.approx(rows["constrained"][-1]["q"][:3], abs=1e-7)
    # rad and m: rtol = 1e-9 in each of some thousand steps, with a spring that has not yet been jerked
    run, row = flexible_coupler.springs(), rows["springs"]["1e6"][-1]
    k = int(np.argmin(np.abs(flexible_coupler.TIMES - row["t"])))
    shapes = [run[f"coupler.y{i}"].values[k] for i in (1, 2)]
    assert [*flexible_coupler.angles(run)[k], *shapes] == pytest.approx(row["q"], abs=1e-8)


def test_platform():
    found = computed("wang2002", PLATFORM, FIGURES["platform"])
    springs, printed = load("wang2002/gough_stewart_springs")["open"], load("wang2002/gough_stewart_printed")

    start = found["start of the platform"]
    for name, said in (("rho off [m]", "max_abs_rho"), ("alpha off [rad]", "max_abs_alpha")):
        assert start[name] == pytest.approx(printed[f"{said}_minus_printed"], abs=1e-14)
    assert start["largest gap [m]"] == pytest.approx(max(printed["initial_gap_with_printed_angles"]), abs=1e-14)
    # relative: rtol = 1e-10, a growth of 12 times until 1 s, and gaps that are 1e-4 of what is computed
    for t, row in springs.items():
        at = f"{float(t):g} s"
        assert found["closure errors"][f"gap at {at} [m]"] == pytest.approx(row["pos_violation_max"], rel=1e-4)
        assert found["closure errors"][f"rate at {at} [m/s]"] == pytest.approx(row["vel_violation_max"], rel=1e-4)
    # m: rtol = 1e-10, grown 12 times
    place = [found["platform agrees"][f"{name} at 1 s [m]"] for name in "xyz"]
    assert place == pytest.approx(springs["1.00"]["p"], abs=1e-8)
    # N: both to rounding
    forces = [found["inverse dynamics of the platform"][f"leg {k} at 0 s [N]"] for k in range(1, 7)]
    assert forces == pytest.approx(load("wang2002/gough_stewart")["inverse_dynamics"]["0"]["tau"], abs=1e-12)


def test_all_exhibits_are_computed():
    import papers

    assert sorted(x for group in FIGURES.values() for x in group) == sorted(
        x.name for x in papers.load("wang2002").exhibits
    )
