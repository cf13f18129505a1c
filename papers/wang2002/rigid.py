"""Section 3.1: motion of the rigid four-bar (Figure 7), against other approaches (Figure 8), and what each costs."""

from __future__ import annotations

from functools import cache

import numpy as np

import closedchain as cc
from closedchain.results.run import Run
from papers.paper import CORRECTED, FAILS, HOLDS, Claim, Finding, Table, judged
from papers.plots import legend, panels
from papers.wang2002 import four_bar
from papers.wang2002.four_bar import NAMES, SEEN, STIFFNESS, TIMES, UNTIL, angles

STIFFNESSES = (1e4, 1e5, 1e6, 1e7)
ROUNDING = 1e-8  # rad: what rtol = 1e-11 leaves after 2 s, a hundred times and more


def show_motion():
    """Figure 7."""
    figure, axes = panels("angular displacements", "angular velocities", y=("angle [rad]", "rate [rad/s]"))
    for order, ax in enumerate(axes):
        for name, values in zip(NAMES, angles(four_bar.springs(), order).T, strict=True):
            ax.plot(TIMES, values, label=name + order * "'")
    legend(*axes)
    return [figure]


def show_differences():
    """Figure 8: springs less multipliers, from which independent coordinates do not differ visibly."""
    titles = ("displacements: spring less joint", "velocities: spring less joint")
    figure, axes = panels(*titles, y=("angle [rad]", "rate [rad/s]"))
    for order, ax in enumerate(axes):
        off = angles(four_bar.springs(), order) - angles(four_bar.exact(), order)
        for name, values in zip(NAMES, off.T, strict=True):
            ax.plot(TIMES, values, label=f"Delta {name}" + order * "'", linewidth=0.8, alpha=0.8)
    legend(*axes)
    return [figure]


@cache
def differences() -> dict[str, float]:
    """Largest differences of angles and rates over two seconds and over one, and their sizes."""
    spring, joint, closed = four_bar.springs(), four_bar.exact(), four_bar.exact(cc.IndependentCoordinates)
    out = {}
    for order, unit in enumerate(("rad", "rad/s")):
        off = np.abs(angles(spring, order) - angles(joint, order))
        out |= {
            f"spring [{unit}]": float(off.max()),
            f"spring until 1 s [{unit}]": float(off[TIMES <= 1.0].max()),
            f"spring, relative [{unit}]": float((off.max(axis=0) / np.ptp(angles(joint, order), axis=0)).max()),
            f"closed form [{unit}]": float(np.abs(angles(closed, order) - angles(joint, order)).max()),
        }
    return out


def other_two() -> Finding:
    """Multipliers with projection against independent coordinates with positions solved for."""
    found = differences()
    off = found["closed form [rad]"]
    return judged(
        off < ROUNDING,
        {"angles [rad]": off, "rates [rad/s]": found["closed form [rad/s]"]},
        f"multipliers with projection and one independent coordinate with the others solved for agree to {off:.0e} "
        f"rad over {UNTIL:g} s at rtol = 1e-11",
    )


def very_small() -> Finding:
    """Springs against the joint, in terms of the height of Figure 7."""
    found = differences()
    q, v = found["spring [rad]"], found["spring [rad/s]"]
    part_q, part_v = found["spring, relative [rad]"], found["spring, relative [rad/s]"]
    return judged(
        max(part_q, part_v) < SEEN,
        found,
        f"over {UNTIL:g} s angles are off by at most {q:.1e} rad and rates by {v:.1e} rad/s, {100 * part_q:.1f} % and "
        f"{100 * part_v:.1f} % of what they range over; until the output link turns back, in the first second, it is "
        f"{found['spring until 1 s [rad]']:.0e} rad and {found['spring until 1 s [rad/s]']:.0e} rad/s",
        otherwise=CORRECTED if part_q < SEEN else FAILS,
    )


@cache
def motion_error(k: float) -> float:
    """Largest error of an angle in the first second, rad."""
    early = TIMES <= 1.0
    run = four_bar.springs(k, until=1.0)
    return float(np.abs(angles(run) - angles(four_bar.exact())[early]).max())


def infinite_stiffness() -> Finding:
    """Errors of the motion against k."""
    off = [motion_error(k) for k in STIFFNESSES]
    slope = float(np.polyfit(np.log10(STIFFNESSES), np.log10(off), 1)[0])
    return judged(
        abs(slope + 1) < 0.1,
        {"slope": slope} | {f"angle off, k = {k:.0e} [rad]": x for k, x in zip(STIFFNESSES, off, strict=True)},
        f"in the first second angles are off by {off[0]:.0e} rad at k = 1e4 N/m and {off[-1]:.0e} rad at 1e7: the "
        f"motion tends to that with a joint, with k to the power {slope:.2f}. The force does not, unless there is a "
        "damper",
    )


def freedoms() -> Finding:
    """Degrees of freedom before and after the cut."""
    m = four_bar.mechanism()
    before, after = m.mobility().true, len(m.assemble().v)
    return judged(
        before == 1 and after == 3,
        {"with the joint": before, "with a spring": after},
        f"with the joint B there is {before} freedom in three angles, with a spring in its place there are {after}, "
        "and no angle depends on another",
    )


def closed_by_itself() -> Finding:
    """The gap in the run of Figure 7, with the paper's kind of solver."""
    method = cc.VirtualSpring(STIFFNESS)
    run = cc.simulate(four_bar.mechanism(), until=UNTIL, method=method, t_eval=TIMES, **four_bar.MAPLE)
    well = four_bar.springs()
    gap, off = float(four_bar.gap(run).max()), float(np.abs(angles(run) - angles(well)).max())
    turns = float((angles(well)[-1, 0] - angles(well)[0, 0]) / (2 * np.pi))
    last = {name: float(x) for name, x in zip(NAMES, angles(well)[-1], strict=True)}
    return judged(
        gap < 1e-3 and off < SEEN,
        {"largest gap [m]": gap, "off by tolerance [rad]": off, "turns of the crank": turns}
        | {f"{name} at 2 s [rad]": x for name, x in last.items()},
        f"nothing but the spring holds the loop, and it opens by at most {gap:.1e} m in {UNTIL:g} s, in which the "
        f"crank turns {turns:.1f} times; MAPLE's tolerances leave angles within {off:.0e} rad of a run with 1e-11",
    )


@cache
def comparison():
    """Springs and exact methods by the same solver, at the same tolerance."""
    methods = {
        "virtual spring": cc.VirtualSpring(STIFFNESS),
        "multipliers": cc.Multipliers(),
        "closed form": cc.IndependentCoordinates(),
    }
    got = cc.compare(
        four_bar.mechanism(),
        until=UNTIL,
        methods=methods,
        solvers=["dopri5"],
        tolerances=[1e-6],
        repeats=1,
        samples=TIMES.size,  # the spring swings fast: its largest gap is seen at as many times as elsewhere
    )
    return got.dataset.isel(solver=0, rtol=0)


@cache
def implicit() -> Run:
    """The spring by an implicit solver, as for stiff equations."""
    method = cc.VirtualSpring(STIFFNESS)
    return cc.simulate(four_bar.mechanism(), until=UNTIL, method=method, solver="radau5", rtol=1e-6, t_eval=TIMES)


@cache
def as_dae() -> Run:
    """Multipliers and angles solved for together, by an implicit method: a differential-algebraic equation as it is."""
    return cc.simulate(four_bar.mechanism(), until=UNTIL, method=cc.GGL(), rtol=1e-6, t_eval=TIMES)


NEEDED = ("steps", "evaluations", "run_operations", "error", "closure_error")


def show_work():
    """What each approach takes."""
    data, rows = comparison(), []
    for name in data["formulation"].values:
        steps, evaluations, operations, error, gap = (float(data[x].sel(formulation=name)) for x in NEEDED)
        rows.append(
            [f"{name}, dopri5", f"{steps:.0f}", f"{evaluations:.0f}", f"{operations:.0f}", f"{error:.0e}", f"{gap:.0e}"]
        )
    for name, run in (("virtual spring, radau5", implicit()), ("DAE (Gear, Gupta, Leimkuhler), radau5", as_dae())):
        off, gap = np.abs(angles(run) - angles(four_bar.exact())).max(), four_bar.gap(run).max()
        counts = [f"{run.counts.steps}", f"{run.counts.evaluations}", "not counted"]
        rows.insert(1 if run is implicit() else len(rows), [name, *counts, f"{off:.0e}", f"{gap:.0e}"])
    note = f"{UNTIL:g} s of motion at rtol = 1e-6, k = {STIFFNESS:.0e} N/m without a damper. Errors are largest ones."
    return [Table(["approach", "steps", "evaluations", "operations", "angle off [rad]", "gap [m]"], rows, note)]


def ideal_speed() -> Finding:
    """Operations of two seconds."""
    data = comparison()
    spring, joint, closed = (float(x) for x in data["run_operations"].values)
    errors = [float(x) for x in data["error"].values]
    ratio = spring / joint
    return judged(
        ratio <= 1.0,
        {"springs": spring, "multipliers": joint, "closed form": closed, "ratio": ratio}
        | {f"angle off, {name} [rad]": x for name, x in zip(data["formulation"].values, errors, strict=True)},
        f"by the same solver at the same tolerance {UNTIL:g} s take {1e-6 * spring:.1f} million operations with the "
        f"spring, {1e-6 * joint:.2f} with multipliers and {1e-6 * closed:.2f} with closed-form kinematics, and angles "
        f"are off by {errors[0]:.0e}, {errors[1]:.0e} and {errors[2]:.0e} rad: the spring takes {ratio:.0f} times the "
        "work for a worse result",
    )


def easier_than_dae() -> Finding:
    """Steps and evaluations of ordinary equations with springs, by two solvers, against differential-algebraic ones."""
    data, dae, stiff = comparison().sel(formulation="virtual spring"), as_dae(), implicit().counts
    steps, evaluations = int(data["steps"]), int(data["evaluations"])
    off = float(np.abs(angles(dae) - angles(four_bar.exact())).max())
    return Finding(
        HOLDS if min(evaluations, stiff.evaluations) < dae.counts.evaluations else CORRECTED,
        {"steps, spring": steps, "evaluations, spring": evaluations, "steps, DAE": dae.counts.steps}
        | {"steps, spring, implicit": stiff.steps, "evaluations, spring, implicit": stiff.evaluations}
        | {"evaluations, DAE": dae.counts.evaluations, "angle off, DAE [rad]": off},
        "they need no special solver and no linear system for the forces, but they are stiff, and a spring without a "
        f"damper swings on: {steps} steps and {evaluations} evaluations by Runge-Kutta, {stiff.steps} and "
        f"{stiff.evaluations} by an implicit solver, where that takes {dae.counts.steps} and {dae.counts.evaluations} "
        f"for the differential-algebraic equations, and has angles right to {off:.0e} rad",
    )


CUT = (
    Claim(
        "more freedoms",
        "section 2.1, Figure 2",
        "cutting the joint adds freedoms, and leaves no dependent coordinate",
        freedoms,
    ),
    Claim(
        "infinite stiffness",
        "section 2.1",
        "as the stiffness goes to infinity the spring becomes the joint",
        infinite_stiffness,
    ),
)
MOTION = (
    Claim(
        "closed by itself",
        "section 3.1.1, Figure 7",
        "the equations of motion hold the loop closed without further equations",
        closed_by_itself,
    ),
)
OTHERS = (
    Claim(
        "DAE and closed form",
        "section 3.1.2",
        "the differential-algebraic and the closed-form approach give almost identical results",
        other_two,
    ),
    Claim(
        "differences are small",
        "section 3.1.2, Figure 8",
        "with virtual springs the motion differs very little from that of the other two",
        very_small,
    ),
)
WORK = (
    Claim(
        "ideal speed",
        "section 3.1.1",
        "with k = 10^6 computing is as fast as one could wish, beside other approaches",
        ideal_speed,
    ),
    Claim(
        "easier than a DAE",
        "section 2.1",
        "differential equations without algebraic ones among them are expected to be solved more easily",
        easier_than_dae,
    ),
)
