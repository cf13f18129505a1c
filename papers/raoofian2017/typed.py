"""Virtual springs typed in as forces between the open legs and the platform: (13) and (20), as printed and otherwise.

No closure takes part. The gap of a leg is ``g = tip - corner``, both places in the world; what a constraint says is a
function of it, and the force on the platform is ``sign K_s (dc/dg)^T c``.
"""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np

import closedchain as cc
from closedchain.results.run import Run
from papers.raoofian2017.robot import ATOL, LEGS, LOOSE, RTOL, needed, once, rose, series

APART = 0.1  # m: at such a gap a leg has lost the platform
FORMS = {
    "elongation": "x and y of the gap",
    "polar": "distance and direction of the platform's joint, seen from the elbow",
    "squared": "squares of x and y of the gap",
    "mixed": "the gap along and across the leg, with the Jacobian of x and y",
}


@once
def open_robot(form: str) -> cc.Mechanism:
    """Legs and platform with springs of a form; ``sign`` is -1 for the (13) of the paper, which pushes."""
    m = cc.library.rrr3([series(needed().tau[:, k - 1]) for k in LEGS])
    m.planar("pose", m.ground, m.bodies["platform"], cut=False, guess=(0.05, 0.0, 0.0))
    factor = m.parameter("sign", 1.0) * m.parameter("K_s", 1e6)
    for k in LEGS:
        leg, platform = m.bodies[f"distal{k}"], m.bodies["platform"]
        elbow, tip, corner = (frame.place[:2] for frame in (leg.origin, leg.tip, platform[f"corner{k}"]))
        g = tip[0] - corner[0], tip[1] - corner[1]
        push = [factor * x for x in FORCES[form](g, elbow, tip, corner)]
        m.force(f"on platform {k}", platform[f"corner{k}"], (*push, 0.0))
        # where the two ends are apart, action and reaction on one line need a moment
        moment = g[0] * push[1] - g[1] * push[0] if form == "polar" else 0.0
        m.force(f"on leg {k}", leg.tip, (-push[0], -push[1], 0.0), moment=(0.0, 0.0, moment))
    return m


def _elongation(g, elbow, tip, corner):
    return g


def _polar(g, elbow, tip, corner):
    """``(r - l_2, angle)`` of the corner in the axes of the leg; the same number K_s in N/m and in N m/rad."""
    d, u = (tuple(a - b for a, b in zip(end, elbow, strict=True)) for end in (corner, tip))
    r, length = (cc.math.sqrt(x[0] ** 2 + x[1] ** 2) for x in (d, u))
    angle = cc.math.atan2(u[0] * d[1] - u[1] * d[0], u[0] * d[0] + u[1] * d[1])
    along, across = -(r - length) / r, -angle / r**2
    return along * d[0] - across * d[1], along * d[1] + across * d[0]


def _squared(g, elbow, tip, corner):
    return tuple(2 * x**3 for x in g)


def _mixed(g, elbow, tip, corner):
    u = tuple((a - b) / 0.6 for a, b in zip(tip, elbow, strict=True))
    return u[0] * g[0] + u[1] * g[1], u[0] * g[1] - u[1] * g[0]


FORCES = {"elongation": _elongation, "polar": _polar, "squared": _squared, "mixed": _mixed}


@once
def typed(form: str, stiffness: float, sign: float = 1.0, until: float = 2.0, rtol: float = RTOL) -> Run:
    """A run with springs of a form; it ends where a leg loses the platform."""
    m = open_robot(form)
    on_path = cc.follow(m, {"platform": rose()}, t_eval=[0.0]).start
    start = replace(on_path, open_joints=tuple(f"wrist{k}" for k in LEGS))
    ends = [(m.bodies[f"distal{k}"].tip.place, m.bodies["platform"][f"corner{k}"].place) for k in LEGS]
    lost = [
        cc.Event(f"leg {k} is apart", (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 - APART**2, then="stop")
        for k, (a, b) in zip(LEGS, ends, strict=True)
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cc.RunWarning)  # at the paper's tolerance energy is lost
        return cc.simulate(
            m, start, until=until, method=cc.DeNOC(), solver="dopri5", rtol=rtol, atol=rtol * ATOL / LOOSE,
            events=lost, t_eval=np.linspace(0.0, until, 801), parameters={"sign": sign, "K_s": stiffness},
        )  # fmt: skip


def lost(run: Run, until: float = 2.0) -> bool:
    """Whether a leg has lost the platform before the end."""
    return bool(run.t[-1] < until)


def open_by(run: Run) -> np.ndarray:
    """Sum of the gaps in x and y of all legs over time, m."""
    total = np.zeros(len(run.t))
    for k in LEGS:
        g = run.frame(f"distal{k}.tip").position.values - run.frame(f"platform.corner{k}").position.values
        total += np.abs(g[:, :2]).sum(axis=1)
    return total
