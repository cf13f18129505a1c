"""Figure 4, Table 1 and the torques: what the robot is asked to do, and what its motors give for it."""

from __future__ import annotations

from functools import cache

import numpy as np

import closedchain as cc
from papers.paper import Claim, Finding, Shown, Table, judged
from papers.plots import panels
from papers.raoofian2017.drawing import path_figure
from papers.raoofian2017.robot import (
    LEGS,
    PERIOD,
    R0,
    TIMES,
    along,
    distance,
    needed,
    one_period,
    rigid,
    robot,
    rose,
    start,
)

JOINING = 1e-12  # m, m/s, m/s^2, of some centimetres: rounding
FOLLOWS = 1e-6  # m: rtol = 1e-10, times what three unstable roses make of it
TIGHT = 1e-10
NUDGE = 1e-6  # rad, rad/s: small enough to be linear, large beside the tolerance


def figure_4() -> list[Shown]:
    """The rose with its derivatives."""
    return [path_figure()]


def table_1() -> list[Shown]:
    """The numbers of the drawing, and what uniform bodies of these sizes would have."""
    m = cc.library.rrr3()
    value = m.parameters
    l1, l2 = value["proximal1.length"], value["distal1.length"]
    m1, m2, mp = value["proximal1.mass"], value["distal1.mass"], value["platform.mass"]
    bases = np.array([along().frame(f"proximal{k}").position.values[0] for k in LEGS])
    corners = np.array([along().frame(f"platform.corner{k}").position.values[0] for k in LEGS])
    sb, sp = (float(np.linalg.norm(x[1] - x[0])) for x in (bases, corners))
    turning = value["platform.inertia.zz"]
    rows = [
        ("l_1, l_2", f"{l1:g} m, {l2:g} m", "0.4 m, 0.6 m", ""),
        ("S_B, S_P", f"{sb:g} m, {sp:g} m", "1.2 m, 0.4 m", ""),
        ("m_1, m_2, m_P", f"{m1:g} kg, {m2:g} kg, {mp:g} kg", "3 kg, 4 kg, 8 kg", ""),
        ("I_1", f"{m1 * l1**2 / 12:.4g} kg m^2", "0.04 kg m^2", "a uniform rod, m l^2 / 12"),
        ("I_2", f"{m2 * l2**2 / 12:.4g} kg m^2", "0.12 kg m^2", "a uniform rod, m l^2 / 12"),
        (
            "I_P",
            f"{turning:g} kg m^2",
            "0.0817 kg m^2",
            f"a uniform triangle, m S^2 / 12, would have {mp * sp**2 / 12:.4f}; 0.0817 is that of a side of "
            f"{np.sqrt(12 * turning / mp):.2f} m",
        ),
        ("r_0", f"{R0:g} m", "left open", "our choice"),
    ]
    note = "On the rose the platform does not turn, so that I_P changes none of its torques."
    return [Table(("quantity", "ours", "paper", "remark"), rows, note)]


def smooth_path() -> Finding:
    """How well the path joins at the end of a rose, up to its second derivative."""
    a, b = rose().at([0.0]), rose().at([PERIOD])
    off = [float(np.abs(getattr(a, x) - getattr(b, x)).max()) for x in ("value", "rate", "acceleration")]
    steps = np.diff(rose().at(np.linspace(0, PERIOD, 20001)).acceleration, axis=0)
    largest = float(np.abs(steps).max() / (PERIOD / 20000))
    return judged(
        max(off) < JOINING and largest < 1e3 * R0 * np.pi**3,
        {"jump of place [m]": off[0], "of velocity [m/s]": off[1], "of acceleration [m/s^2]": off[2]}
        | {"largest jerk [m/s^3]": largest},
        f"at the end of a rose place, velocity and acceleration are those of its beginning to {max(off):.0e}, and in "
        f"between acceleration changes by at most {largest:.0f} m/s^3. The springs feel a shock all the same: they "
        "begin unstretched, while the platform asks for its forces at once",
    )


def figure_torques() -> list[Shown]:
    """Torques of the motors along one rose, for two sizes of it."""
    figure, axes = panels(*(f"r0 = {r0:g} m" for r0 in (0.05, 0.1)), y="torque [N m]")
    for ax, r0 in zip(axes, (0.05, 0.1), strict=True):
        for k in LEGS:
            ax.plot(one_period(), needed(r0).tau[:, k - 1], label=f"motor {k}")
        top = 1.25 * float(np.abs(needed(r0).tau).max())
        ax.set(ylim=(-top, 1.25 * top), xlim=(0, PERIOD))
        ax.legend(fontsize=8, frameon=False, ncols=3, loc="upper center")
    return [figure]


@cache
def growth() -> float:
    """How many times larger a deviation becomes in a rose: the largest multiplier of Floquet, by differences."""
    joints = [f"base{k}" for k in LEGS]
    options = {"until": PERIOD, "method": cc.DeNOC(), "rtol": TIGHT, "t_eval": [0.0, PERIOD]}
    begin = start()

    def end(nudge: np.ndarray) -> np.ndarray:
        angles = {joint: begin[joint] + x for joint, x in zip(joints, nudge[:3], strict=True)}
        rates = {joint: begin.velocities[joint] + x for joint, x in zip(joints, nudge[3:], strict=True)}
        state = robot().assemble(angles, velocity=rates, guess=begin)
        run = cc.simulate(robot(), state, **options)
        return np.array([run[name].values[-1] for name in (*joints, *(f"{joint}'" for joint in joints))])

    columns = [(end(x) - end(-x)) / (2 * NUDGE) for x in NUDGE * np.eye(6)]
    return float(np.abs(np.linalg.eigvals(np.array(columns).T)).max())


def torques_give_the_path() -> Finding:
    """Forward dynamics under the torques of inverse dynamics, three roses."""
    tight, loose = rigid(rtol=TIGHT), rigid()
    off, rough = float(distance(tight).max()), float(distance(loose).max())
    grows = growth()
    peak = float(np.abs(needed().tau).max())
    return judged(
        off < FOLLOWS,
        {"off the path [m]": off, "at rtol 1e-3 [m]": rough, "growth in a rose": grows, "largest torque [N m]": peak},
        f"with the torques of inverse dynamics (up to {peak:.2f} N m) DeNOC stays within {off:.0e} m of the path for "
        f"{TIMES[-1]:g} s at rtol = 1e-10. The motion is unstable: a deviation grows {grows:.1f} times with each "
        f"rose, and at the paper's rtol = 1e-3 DeNOC is off by {rough:.0e} m",
    )


PATH = Claim(
    "smooth path",
    "section 4, equation (30), Figure 4",
    "the rose and its first two derivatives are continuous, so that it gives the robot no shock",
    smooth_path,
)
TORQUES = Claim(
    "torques",
    "section 4",
    "torques of inverse dynamics and a start on the path are inputs with which forward dynamics follows the path",
    torques_give_the_path,
)
