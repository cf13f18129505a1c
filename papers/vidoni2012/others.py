"""Section Simulation and validation: serial robots, the 3-RRR and the Delta; and the conclusions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

import closedchain as cc
from closedchain.results.run import Run
from papers.paper import CORRECTED, FAILS, HOLDS, Claim, Exhibit, Finding, Shown, judged
from papers.plots import COLOURS, legend, panels
from papers.vidoni2012.motions import MARKED
from papers.vidoni2012.robot import first_frequencies
from papers.vidoni2012.runs import SOFT, exudyn

ENERGY = 1e-4  # of the kinetic energy: a hundred steps with errors of rtol each
SHORT = 0.05  # s
NEAR = 0.02  # of a frequency: what is predicted


@cache
def arm() -> Run:
    """One beam on the hub of a motor, pushed for 40 ms, as Exudyn's."""
    torque = 2.5 * cc.math.where(cc.t < 0.04, cc.math.sin(cc.pi * cc.t / 0.04) ** 2, 0.0)
    m = cc.library.flexible_arm(torque, hub=0.0196)
    # without the weight, which acts across the plane in which Exudyn's beam moves
    parameters = {"gravity.z": 0.0}
    times = np.linspace(0.0, 0.5, 501)
    method = cc.ERLS(elements=8, stiffening=True)
    return cc.simulate(m, method=method, parameters=parameters, until=0.5, rtol=1e-6, t_eval=times)


@cache
def triple() -> tuple[Run, Run]:
    """The 3-RRR with six flexible links under torques that swing, as Exudyn's, and with rigid links."""
    torques = [a * cc.math.sin(2 * cc.pi * cc.t / 0.1) for a in (60.0, -60.0, 30.0)]
    times = np.linspace(0.0, 0.25, 251)
    soft, rigid = (cc.library.rrr3(torques, flexible=flexible) for flexible in (True, False))
    method = cc.ERLS(elements=4, stiffening=True)
    return (
        cc.simulate(soft, until=0.25, method=method, rtol=1e-6, t_eval=times),
        cc.simulate(rigid, until=0.25, t_eval=times),
    )


@cache
def delta() -> Run:
    """A Delta with flexible arms and rods, in space."""
    return cc.simulate(cc.library.delta(flexible=True), until=SHORT, method=cc.ERLS(elements=2), rtol=1e-6)


def serial_figure() -> Sequence[Shown]:
    """The hub and the tip of a flexible arm."""
    run, there = arm(), exudyn("arm")
    figure, (hub, tip) = panels("angle of the hub", "deflection of the tip", y=("angle [degrees]", "deflection [mm]"))
    angle, (x, y, _) = run["hinge"].values, run.frame("beam.tip").position.values.T
    hub.plot(run.t, np.degrees(angle), color=COLOURS[0], label="ERLS")
    tip.plot(run.t, 1e3 * (np.cos(angle) * y - np.sin(angle) * x), color=COLOURS[0], label="ERLS")
    hub.plot(there["t"], np.degrees(there["hub"]), color=COLOURS[1], label="Exudyn", **MARKED)
    tip.plot(there["t"], 1e3 * there["deflection"], color=COLOURS[1], label="Exudyn", **MARKED)
    legend(hub)
    return (figure,)


def robots_figure() -> Sequence[Shown]:
    """The platform of the 3-RRR, and how far that of the Delta is from where rigid links would take it."""
    (run, stiff), there = triple(), exudyn("3-RRR")
    figure, axes = panels(
        "3-RRR: the platform in x", "3-RRR: less that of rigid links", "Delta: less that of rigid links",
        y=("x [mm]", "difference [mm]", "difference [mm]"),
    )  # fmt: skip
    ours, without = (1e3 * x.frame("platform").position.values[:, 0] for x in (run, stiff))
    marks, rows = 1e3 * there["x"], np.searchsorted(run.t, there["t"] - 5e-4)
    axes[0].plot(run.t, ours, color=COLOURS[0], label="ERLS")
    axes[0].plot(run.t, without, color="black", ls="--", lw=0.9, label="rigid links")
    axes[0].plot(there["t"], marks, color=COLOURS[1], label="Exudyn", **MARKED)
    axes[1].plot(run.t, ours - without, color=COLOURS[0], label="ERLS")
    axes[1].plot(there["t"], marks - without[rows], color=COLOURS[1], label="Exudyn", **MARKED)
    away = delta().tip_deflection(delta().mechanism.output)["displacement"].values
    for k, name in enumerate("xyz"):
        axes[2].plot(delta().t, 1e3 * away[:, k], color=COLOURS[k], label=name)
    legend(*axes)
    return (figure,)


def serial_robots() -> Finding:
    """Two links in a line with locked motors: a clamped beam of both lengths; the order of displacements; the arm."""
    m, length, EI, mass = cc.Mechanism("two links", gravity=(0, 0, 0)), 0.5, 100.0, 4.704
    before = m.ground
    for k in (1, 2):
        link = m.body(f"link{k}", cc.rod(length, mass * length))
        link.flexible(1.0, cc.Section(A=3e6, Iz=EI), shapes=cc.shapes.craig_bampton(y=1))
        m.revolute(f"joint{k}", before, link)
        m.motor(f"joint{k}", torque=0.0)
        before = link.tip
    m.start = {"joint1": 0.0, "joint2": 0.0}
    method = cc.ERLS(elements=12)
    found = m.modes(method=method, locked="motors", count=3).frequencies
    roots = np.array([1.875104068711961, 4.694091132974174, 7.854757438237613])
    exact = (roots / (2 * length)) ** 2 * np.sqrt(EI / mass) / (2 * np.pi)
    off = float(np.abs(found / exact - 1).max())
    names = cc.simulate(m, until=1e-3, method=method).displacements
    in_order = [int(name[4]) for name in names] == sorted(int(name[4]) for name in names)
    run, there = arm(), exudyn("arm")
    rows = np.searchsorted(run.t, there["t"] - 5e-4)
    x, y, _ = run.frame("beam.tip").position.values[rows].T
    apart = float(max(np.abs(x - there["tip_x"]).max(), np.abs(y - there["tip_y"]).max()))
    bends = float(np.abs(there["deflection"]).max())
    return judged(
        off < 1e-4 and in_order and apart < 1e-2 * bends,
        {
            "frequencies, relative": off,
            "in order": float(in_order),
            "tip off Exudyn [m]": apart,
            "deflection [m]": bends,
        },
        f"two links in a line with locked motors have the first three frequencies of a clamped beam to {off:.0e}, and "
        f"displacements are numbered from the base to the tip; the tip of an arm that bends by {1e3 * bends:.1f} mm is "
        f"within {1e3 * apart:.4f} mm of Exudyn's",
    )


def other_robots() -> Finding:
    """A 3-RRR with six flexible links, and a Delta with flexible arms and rods, which move as fast as robots do."""
    numbers, told, good = {}, [], True
    for name, run in (("3-RRR", triple()[0]), ("Delta", delta())):
        lost, motion = float(np.abs(run.energy_error.values).max()), float(run.dataset["kinetic_energy"].max())
        tip = float(run.tip_deflection(run.mechanism.output)["distance"].max())
        good = good and run.good and lost < ENERGY * motion and tip > 1e-6
        numbers |= {f"{name}, energy lost [J]": lost, f"{name}, kinetic energy [J]": motion, f"{name}, tip [m]": tip}
        told.append(
            f"a {name} with flexible links keeps its energy to {lost:.0e} J where it moves with {motion:.2g} J, its "
            f"tip displaced by up to {1e3 * tip:.2f} mm"
        )
    there, run = exudyn("3-RRR"), triple()[0]
    rows = np.searchsorted(run.t, there["t"] - 5e-4)
    place = run.frame("platform").position.values[rows]
    apart = max(float(np.abs(place[:, k] - there["xy"[k]]).max()) for k in (0, 1))
    numbers["3-RRR, off Exudyn [m]"] = apart
    good = good and apart < 0.1 * numbers["3-RRR, tip [m]"]
    return judged(good, numbers, "; ".join(told) + f"; the platform of the 3-RRR is within {apart:.0e} m of Exudyn's")


def vibrations() -> Finding:
    """Frequencies with the paper's mesh, against four times as many beams."""
    few, many = np.array(first_frequencies(SOFT)), np.array(first_frequencies(SOFT, (8, 4)))
    off = few / many - 1
    good = int(np.argmax(np.append(np.abs(off) > NEAR, True)))
    return Finding(
        HOLDS if good == len(off) else CORRECTED if good > 0 else FAILS,
        {f"mode {k + 1}, relative": float(x) for k, x in enumerate(off)} | {"first [Hz]": float(many[0])},
        f"with the mesh of Table 2 the first {good} modes with free motors ({many[0]:.1f} to {many[good - 1]:.1f} Hz) "
        f"are within {100 * np.abs(off[:good]).max():.1f} %, mode {good + 1} is {100 * off[good]:.0f} % too fast"
        if good < len(off)
        else f"the first {good} modes with free motors are within {100 * np.abs(off).max():.1f} %",
    )


EXHIBITS = (
    Exhibit(
        "serial",
        "serial robots",
        serial_figure,
        (
            Claim(
                "serial robots",
                "section Simulation and validation",
                "serial robots are a special case, with the rules for frames and numbers that they had",
                serial_robots,
            ),
        ),
    ),
    Exhibit(
        "robots",
        "other parallel robots: 3-RRR and Delta",
        robots_figure,
        (
            Claim(
                "other robots",
                "section Simulation and validation",
                "the same equations serve other parallel robots, such as a 3-RRR and a Delta",
                other_robots,
            ),
        ),
    ),
)
CONCLUSION = (
    Exhibit(
        "conclusion",
        "conclusions",
        None,
        (
            Claim(
                "vibrations",
                "sections Abstract and Conclusions",
                "the simulator predicts the vibrations of parallel robots",
                vibrations,
            ),
        ),
    ),
)
