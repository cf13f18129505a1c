"""Flexible links against Exudyn, whose beams have absolute coordinates and may deflect as far as they like.

What closedchain leaves out grows with the deflection: axial loads and the shortening of a chord by bending without
``stiffening``, and with it the next order. Every mechanism is run with two or more stiffnesses, which shows that the
difference vanishes with the deflection, and how fast. The rows themselves are good to about 1e-6: see the entries
``change_when_halved``.
"""

import warnings

import numpy as np
import pytest

import closedchain as cc
from tests.reference.compare import load, off

sines, stretch = cc.shapes.pinned_pinned, cc.shapes.polynomials


class Oracle:
    """The runs of one file, by variant."""

    def __init__(self, name):
        self.numbers = load(f"exudyn/{name}")
        self.parameters = self.numbers["parameters"]

    def __call__(self, variant="as given"):
        """The columns of a run by name."""
        columns = np.array(self.numbers["runs"][variant]["rows"]).T
        return dict(zip(self.numbers["columns"], columns, strict=True))

    def stiffness(self, variant="as given"):
        return self.numbers["runs"][variant]["parameters"].get("EI", self.parameters["EI"])


FOUR_BAR, SLIDER_CRANK = Oracle("flexible_four_bar"), Oracle("flexible_slider_crank")
ARM, RRR3, PACDRIVE = Oracle("flexible_arm"), Oracle("flexible_rrr3"), Oracle("flexible_pacdrive")


def beam(body, EI, EA, modes, stiffening):
    """Makes a body flexible, given the products of its stiffness only."""
    body.flexible(1.0, cc.Section(A=EA, Iz=EI), shapes=modes, stiffening=stiffening)


# ---- four-bar with a flexible coupler


STIFFER = ("as given", "EI x 4", "EI x 16", "EI x 64")


def four_bar(modes, stiffening):
    m = cc.library.four_bar()
    beam(m.bodies["coupler"], FOUR_BAR.stiffness(), FOUR_BAR.parameters["EA"], modes, stiffening)
    return m


def of_four_bar(m, variant):
    """Largest errors of the crank's angle and of the deflection, by time: to 1 s and to 2 s."""
    want = FOUR_BAR(variant)
    EI = {"coupler.section.Iz": FOUR_BAR.stiffness(variant)}
    run = cc.simulate(m, parameters=EI, until=2.0, rtol=1e-8, t_eval=want["t"])
    theta = np.abs(run["O"].values - want["theta"])
    deflection = np.abs(run["coupler.y1"].values - run["coupler.y3"].values - want["deflection"])
    early = want["t"] <= 1.0
    return theta[early].max(), theta.max(), deflection[early].max(), deflection.max()


def test_linear_coupler_is_right_for_small_deflections():
    """Wang's model, with one more sine and a stretch: no axial load, no shortening of the chord."""
    m = four_bar(sines(y=3) + stretch(axial=1), stiffening=False)
    early, late, _, bent = np.array([of_four_bar(m, variant) for variant in STIFFER]).T
    # measured: 3.7e-5 rad to 1 s, where the coupler bends by 6 mm of 4 m; then the rocker reverses, the coupler bends
    # by 71 mm under an axial load of 650 N, 0.37 of Euler's, and the linear model is off by 0.22 rad and 34 mm
    assert early[0] < 6e-5
    assert 0.1 < late[0] < 0.3 and bent[0] > 0.01
    # with four times the stiffness the deflection is a quarter or less, what is neglected a sixteenth: 13, 94, 36 times
    assert (late[:-1] / late[1:] > 10).all()


def test_coupler_with_axial_loads():
    m = four_bar(sines(y=3) + stretch(axial=2), stiffening=True)
    early, late, bent_early, bent = np.array([of_four_bar(m, variant) for variant in STIFFER]).T
    # the third order of the deflection, and the fifth sine, which has 1/5^5 of a sag of 3 mm: 0.6e-6 rad, 2.3e-6 m
    assert early[0] < 2e-6 and bent_early[0] < 5e-6
    # where the linear model fails: 7.7e-4 rad and 0.6 mm of 71 mm
    assert late[0] < 1.5e-3 and bent[0] < 1.5e-3
    assert (late[1:] < [3e-5, 4e-6, 2e-6]).all()  # measured: 15e-6, 1.5e-6, 0.3e-6; the rows are good to 1e-6


# ---- slider-crank with a flexible rod


def test_slider_crank():
    p = SLIDER_CRANK.parameters
    m = cc.library.slider_crank()
    beam(m.bodies["rod"], p["EI"], p["EA"], sines(y=3) + stretch(axial=1), stiffening=True)
    # the rod bends by 4.1 mm of 0.3 m, then by 0.7 mm; measured 4.3e-5, 4.4e-6, 1.7e-5 and 5e-6, 1.3e-7, 2e-7, the
    # latter no more than what the rows are good for
    for variant, bounds in {"as given": (1e-4, 1e-5, 4e-5), "EI x 4": (1e-5, 1e-6, 1e-6)}.items():
        want = SLIDER_CRANK(variant)
        stiffness = {"rod.section.Iz": SLIDER_CRANK.stiffness(variant)}
        run = cc.simulate(m, parameters=stiffness, until=1.0, rtol=1e-8, t_eval=want["t"])
        errors = (
            off(run["O"].values, want["theta"]),
            off(run["slide"].values, want["slider"]),
            off(run["rod.y1"].values - run["rod.y3"].values, want["deflection"]),
        )
        assert (np.array(errors) < bounds).all(), variant


# ---- a single arm


def test_arm():
    """The tip, with a torque and with a quarter of it."""
    p, errors = ARM.parameters, []
    for variant, amplitude in (("as given", 10.0), ("amplitude / 4", 2.5)):
        want = ARM(variant)
        torque = amplitude * cc.math.where(cc.t < p["duration"], cc.math.sin(cc.pi * cc.t / p["duration"]) ** 2, 0.0)
        m = cc.library.flexible_arm(torque, hub=p["hub_inertia"])
        beam(m.bodies["beam"], p["EI"], p["EA"], cc.shapes.clamped_free(y=4), stiffening=True)
        run = cc.simulate(m, until=0.5, rtol=1e-8, t_eval=want["t"])
        tip = run.frame("beam.tip").position.values
        errors.append(
            (off(run["hinge"].values, want["hub"]), off(tip[:, 0], want["tip_x"]), off(tip[:, 1], want["tip_y"]))
        )
    strong, weak = np.array(errors)
    # the tip bends by 9 mm, then by 2.3 mm of 0.5 m
    assert (strong < [2e-4, 2e-5, 4e-5]).all()
    assert (weak < [5e-6, 2e-7, 1e-6]).all()
    assert (strong / weak > 16).all()  # more than the second order is right


# ---- 3-RRR with six flexible links


def test_rrr3():
    """The library's, with two sines or the static shapes for a link, and with one shape more in each."""
    p, want = RRR3.parameters, RRR3()
    torques = [a * cc.math.sin(2 * cc.pi * cc.t / p["period"]) for a in p["amplitudes"]]
    few, more = cc.library.rrr3(torques, flexible=True), cc.library.rrr3(torques)
    for k in (1, 2, 3):
        shapes = cc.shapes.craig_bampton(y=1), sines(y=3)
        for name, EI, EA, modes in zip(("proximal", "distal"), p["EI"], p["EA"], shapes, strict=True):
            beam(more.bodies[f"{name}{k}"], EI, EA, modes, stiffening=True)
    places, bends = [], []
    for m in (few, more):
        run = cc.simulate(m, until=0.25, rtol=1e-7, t_eval=want["t"])
        x, y, _ = run.frame("platform").position.values.T
        places.append(max(off(x, want["x"]), off(y, want["y"])))
        third = {k: run[f"distal{k}.y3"].values if m is more else 0.0 for k in (1, 2, 3)}
        bends.append(max(off(run[f"distal{k}.y1"].values - third[k], want[f"bend{k}"]) for k in (1, 2, 3)))
    stiffer = RRR3("EI x 4")
    assert max(off(stiffer[x], want[x]) for x in "xy") > 1e-5  # so much does it matter that the links are flexible
    assert max(np.abs(want[f"bend{k}"]).max() for k in (1, 2, 3)) > 1.5e-4
    # measured: 2.1e-6 and 0.5e-6 for the platform, 2.7e-6 and 0.7e-6 for the bends
    assert places[0] < 4e-6 and places[1] < 1e-6
    assert bends[0] < 5e-6 and bends[1] < 1.5e-6


# ---- the same by finite elements on an equivalent rigid-link system


def test_four_bar_by_erls():
    m = four_bar(sines(y=2), stiffening=True)  # shapes are not used
    for variant, bound in (("as given", 1e-3), ("EI x 16", 1e-5)):
        want = FOUR_BAR(variant)
        EI = {"coupler.section.Iz": FOUR_BAR.stiffness(variant)}
        run = cc.simulate(m, method=cc.ERLS(elements=6), parameters=EI, until=2.0, t_eval=want["t"])
        # measured 2.0e-4 (the order after the one that is kept, 71 mm of 4 m) and 1.3e-6
        assert off(run["O"].values, want["theta"]) < bound, variant


def test_arm_by_erls():
    p, want = ARM.parameters, ARM("amplitude / 4")
    torque = 2.5 * cc.math.where(cc.t < p["duration"], cc.math.sin(cc.pi * cc.t / p["duration"]) ** 2, 0.0)
    m = cc.library.flexible_arm(torque, hub=p["hub_inertia"])
    # without the weight, which bends the beam across the plane and so shortens it by 12e-6 m
    run = cc.simulate(
        m,
        method=cc.ERLS(elements=8, stiffening=True),
        parameters={"gravity.z": 0.0},
        until=0.5,
        t_eval=want["t"],
    )
    x, y, _ = run.frame("beam.tip").position.values.T
    # measured 2.1e-6, 4e-8, 4e-7: as the floating frame, and as good as the rows
    assert off(run["hinge"].values, want["hub"]) < 5e-6
    assert off(x, want["tip_x"]) < 2e-7 and off(y, want["tip_y"]) < 1e-6


def pacdrive_errors(run, want):
    """Largest errors of the directions of links 1 and 2, and of the tip."""
    tip, *ends = (run.frame(f"link{k}.tip").position.values for k in (5, 1, 2))
    chords = [np.arctan2(at[:, 1], at[:, 0] - x) for at, x in zip(ends, (-0.05, 0.05), strict=True)]
    got = [*chords, tip[:, 0], tip[:, 1]]
    return np.array([off(x, want[name]) for x, name in zip(got, ("chord1", "chord2", "tip_x", "tip_y"), strict=True)])


def test_pacdrive_by_erls():
    """Eleven beams in loops: with four times the stiffness, and with axial loads."""

    def errors(variant, stiffening):
        want = PACDRIVE(variant)
        stiffness = PACDRIVE.numbers["runs"][variant]["parameters"]
        method = cc.ERLS(elements=4, stiffening=stiffening)
        run = cc.simulate(m, method=method, parameters=stiffness, until=0.3, rtol=1e-7, t_eval=want["t"])
        return pacdrive_errors(run, want)

    m = cc.library.pacdrive(flexible=True)
    linear, axial, stiffer = errors("as given", False), errors("as given", True), errors("E x 4", False)
    # measured: 8.3e-5, 3.7e-5 rad, 2.7e-5, 1.1e-5 m
    assert (linear < [1.5e-4, 7e-5, 5e-5, 2e-5]).all()
    assert (linear / stiffer > 8).all()  # second order: a sixteenth; measured 14, 20, 11, 16
    # measured: 2.3e-6, 1.7e-6 rad, 0.8e-6, 0.3e-6 m, where the rows are good to some 0.1e-6
    assert (axial < [5e-6, 4e-6, 2e-6, 1e-6]).all()


# ---- torques that jump: the drop of the same robot, and picking and placing
#
# A jump excites all modes of the driven links, and what a mesh does not have it cannot say. In 0.3 s the tip is off by
# 0.8 mm (drop) and 0.95 mm (pick) with two beams in a long link, 0.17 mm and 0.13 mm with four, 0.07 mm (drop) with
# eight, all with axial loads; without them 0.7 to 0.8 mm in the drop, whatever the mesh. The rows themselves change by
# up to 0.02 mm and 1.1e-4 rad when their mesh or step is halved. Before the first jump of the drop the tip agrees to
# 2e-7 m. Small errors of fast modes add up, so that here are 20 and 30 ms after the first jump.

JUMPS = {"step": (Oracle("flexible_pacdrive_drop"), 0.12), "pick": (Oracle("flexible_pacdrive_pick"), 0.03)}


@pytest.mark.parametrize("drive", JUMPS)
def test_pacdrive_after_a_jump_of_torques(drive):
    oracle, until = JUMPS[drive]
    want = {name: x[: round(until / 0.01) + 1] for name, x in oracle().items()}
    m = cc.library.pacdrive(drive, flexible=True)

    def errors(beams, stiffening=True):
        long = {f"link{k}": beams for k in (1, 2, 3, 4, 6, 10)}
        short = {f"link{k}": max(1, beams // 4) for k in (5, 7, 8, 9, 11)}
        method = cc.ERLS(elements=long | short, stiffening=stiffening)
        with warnings.catch_warnings():
            # what is too fast for the steps dies out, and that costs energy; with a third of rtol the errors of the tip
            # by eight beams change by 2e-6 m
            warnings.filterwarnings("ignore", "energy of", cc.RunWarning)
            run = cc.simulate(m, method=method, until=until, rtol=1e-4, t_eval=want["t"])
        return pacdrive_errors(run, want)

    two, eight, linear = errors(2), errors(8), errors(8, stiffening=False)
    # as good as the rows: measured 2.8e-5, 2.5e-5 rad, 0.8e-5, 2.4e-5 m (drop), 2.7e-5, 3.1e-5, 0.6e-5, 0.6e-5 (pick)
    assert (eight < [5e-5, 5e-5, 1.5e-5, 4e-5]).all()
    # four times as many beams: 1/8 and 1/4, 1/6 and 1/7 of the errors of the chords, 1/8 and 1/27 in x
    assert (eight[:3] < 0.4 * two[:3]).all()
    # without axial loads the same mesh is worse: 12e-5 and 4.8e-5 m in x
    assert linear[2] > 5 * eight[2]
