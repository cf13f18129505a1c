"""Runs of the PacDrive robot that the figures share, and rows of another code in the place of Adams.

The paper does not give the places of the ground pivots and the directions in the tool; what was chosen is said in
``closedchain.library.pacdrive``. ``exudyn.json`` has rows of Exudyn, whose beams may deflect as far as they like.
"""

from __future__ import annotations

import json
import math
import warnings
from functools import cache
from pathlib import Path

import numpy as np

import closedchain as cc
from closedchain.results.run import Run

TABLE_2 = (2, 1)  # beams of long and of short links
UNTIL, SOFT, STIFF = 0.3, 5e9, 5e12  # s; Pa: of the flexible and of the rigid simulation
PERIOD, PERIODS = 0.2, 3  # s: of the torques of picking and placing, and how many are shown
EVERY = 1e-3  # s
TIMES = np.linspace(0.0, UNTIL, 301)
LONG = np.linspace(0.0, PERIODS * PERIOD, 601)
SEEN = 0.02  # of the height of a figure: two curves that are nearer look like one


# torques of picking that are those of the drop to 0.3 s: none in the first half of each period, 20 N m up in the second
DROP = {"torque": 0.0, "lowering": -20.0}
SPREAD = {"joint1": math.radians(-170), "joint2": math.radians(-10)}


@cache
def robot() -> cc.Mechanism:
    """The robot with flexible links: one drawing for the drop and for picking."""
    return cc.library.pacdrive(drive="pick", flexible=True)


@cache
def robot_with_ramps() -> cc.Mechanism:
    """The same, with torques of the drop that rise and fall in 20 ms."""
    return cc.library.pacdrive(drive="smooth", flexible=True)


def mesh(beams: tuple[int, int] = TABLE_2) -> dict[str, int]:
    """Beams of each link."""
    return {f"link{k}": beams[1 if k in (5, 7, 8, 9, 11) else 0] for k in range(1, 12)}


@cache
def spread() -> cc.State:
    """The start of the drop, at rest."""
    return robot().assemble(SPREAD, velocity=dict.fromkeys(SPREAD, 0.0), parameters=DROP)


@cache
def flexible(
    drive: str = "step",
    E: float = SOFT,
    until: float = UNTIL,
    rtol: float = 3e-6,
    beams: tuple[int, int] = TABLE_2,
    **options,
) -> Run:
    """The robot by ERLS with the paper's mesh, or so many beams in long and in short links, sampled every millisecond.

    ``drive`` is "step" for the drop, "smooth" for the drop with ramps of 20 ms, "pick" for picking and placing.
    """
    method = cc.ERLS(elements=mesh(beams), **options)
    times = np.linspace(0.0, until, round(until / EVERY) + 1)
    m, start = robot_with_ramps() if drive == "smooth" else robot(), spread() if drive == "step" else None
    parameters = {"E": E} | (DROP if drive == "step" else {})
    with warnings.catch_warnings():
        # jumps of torques excite modes that are too fast for the steps; they die out, and that costs energy: what it
        # does to the tip is told by `change_by_tolerance`
        warnings.filterwarnings("ignore", "energy of", cc.RunWarning)
        return cc.simulate(m, start, until=until, method=method, rtol=rtol, t_eval=times, parameters=parameters)


def picking(until: float = 2 * PERIOD, rtol: float = 1e-5, **options) -> Run:
    """Picking and placing with flexible links."""
    return flexible("pick", until=until, rtol=rtol, **options)


def stiff_picking() -> Run:
    """The same with links a thousand times as stiff."""
    return flexible("pick", STIFF, PERIODS * PERIOD, 1e-5)


def change_by_tolerance(until: float) -> float:
    """How far the tip is elsewhere while picking with a third of rtol, m, up to a time of at most 0.3 s."""
    finer = tips(picking(until=UNTIL, rtol=3e-6))[: round(until / EVERY) + 1]
    return float(np.abs(finer - tips(picking())[: len(finer)]).max())


@cache
def rigid() -> Run:
    """The robot of the rigid and the flexible simulation with links that are rigid."""
    return cc.simulate(cc.library.pacdrive(drive="step"), until=UNTIL, rtol=1e-9, t_eval=TIMES)


def tips(run) -> np.ndarray:
    """Positions of the tool's point, (time, 2)."""
    return run.frame(run.mechanism.output).position.values[:, :2]


def free_coordinates(run) -> np.ndarray:
    """q1 and q2 of the equivalent rigid-link system, or of the rigid robot, (time, 2)."""
    angles = run.rigid if run.solution.has_elements else run
    return np.stack([angles[f"joint{k}"].values for k in (1, 2)], axis=1)


def ends(run: Run, sample: int = 0, deformed: bool = False) -> dict[int, np.ndarray]:
    """Where the links 1 to 11 start and end at a sample, (2, 2) each, with rigid links or deformed."""
    places = {}
    for k in range(1, 12):
        name = f"link{k}"
        length = run.mechanism.values(run.parameters)(run.mechanism.flexible[name].length)
        drawn = np.array([[0.0, 0.0, 0.0], [length, 0.0, 0.0]])
        places[k] = (run.points if deformed else run.rigid_points)(name, drawn)[sample, :, :2]
    return places


@cache
def exudyn(case: str) -> dict[str, np.ndarray]:
    """Columns of a run by Exudyn, by name."""
    kept = json.loads((Path(__file__).parent / "exudyn.json").read_text(encoding="utf-8"))[case]
    return dict(zip(kept["columns"], np.array(kept["rows"]).T, strict=True))


def at_rows(case: str, run) -> np.ndarray:
    """The samples of a run at the times of Exudyn's rows."""
    rows = np.searchsorted(run.t, exudyn(case)["t"] - EVERY / 2)
    return rows[rows < len(run.t)]


def off_exudyn(case: str, run) -> np.ndarray:
    """Largest distances from Exudyn: of q1 and q2 (chords of links 1 and 2), rad, and of the tip in x and y, m."""
    rows, there = at_rows(case, run), exudyn(case)
    ours = np.hstack([free_coordinates(run), tips(run)])[rows]
    theirs = np.stack([there[name][: len(rows)] for name in ("chord1", "chord2", "tip_x", "tip_y")], axis=1)
    return np.abs(ours - theirs).max(axis=0)
