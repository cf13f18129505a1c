"""A Gough-Stewart platform that goes from one pose to another.

Draws six legs in a loop, asks `assemble` for the leg lengths of two poses, and moves between them with a controller in
each leg. The lengths are parameters, so another pair of poses needs no compiling. Run it with
``python examples/gough_stewart.py``.
"""

from math import cos, sin
from pathlib import Path

import numpy as np

import closedchain as cc

OUT = Path("out")
LEGS = range(1, 7)
BASE = np.radians([-15, 15, 105, 135, 225, 255])  # the joints on the ground, on a circle of 1 m
TOP = np.radians([-45, 45, 75, 165, 195, 285])  # those on the platform, on a circle of 0.5 m


def mechanism() -> cc.Mechanism:
    m = cc.Mechanism("hexapod")
    platform = m.body("platform", cc.disc(radius=0.5, mass=10.0, thickness=0.04))
    m.free("pose", m.ground, platform, guess=(0, 0, 1, 1, 0, 0, 0))

    # from 0 to 1 with a soft start and a soft end
    travel = cc.math.minimum(cc.t / m.parameter("duration", 1.0), 1.0)
    travel = travel**2 * (3 - 2 * travel)
    for k, b, p in zip(LEGS, BASE, TOP, strict=True):
        lower = m.body(f"lower{k}", cc.cylinder(radius=0.03, length=0.7, mass=1.2))
        upper = m.body(f"upper{k}", cc.cylinder(radius=0.02, length=0.7, mass=0.5))
        corner = platform.frame(f"corner{k}", at=(0.5 * cos(p), 0.5 * sin(p), 0))

        foot, head = lower.at(0, 0, -0.35), upper.at(0, 0, 0.35)
        m.universal(f"hip{k}", m.ground.at(cos(b), sin(b), 0), foot)
        slide = m.prismatic(f"slide{k}", foot, head, guess=1.2)
        m.spherical(f"ball{k}", head, corner)

        begin, end = m.parameter(f"begin{k}", 1.2), m.parameter(f"end{k}", 1.2)
        wanted = begin + (end - begin) * travel
        m.motor(slide, force=2e4 * (wanted - slide.q) - 800.0 * slide.v)
        m.start[f"slide{k}"] = 1.2
    return m


def main() -> None:
    m = mechanism()
    level = m.assemble({"pose": (0, 0, 1.0, 1, 0, 0, 0)})
    tilted = m.assemble({"pose": (0.1, 0, 1.1, cos(0.1), sin(0.1), 0, 0)})
    print("leg lengths, level: ", *(f"{level[f'slide{k}']:.4f}" for k in LEGS))
    print("leg lengths, tilted:", *(f"{tilted[f'slide{k}']:.4f}" for k in LEGS))

    lengths = {f"begin{k}": level[f"slide{k}"] for k in LEGS} | {f"end{k}": tilted[f"slide{k}"] for k in LEGS}
    for duration in (0.3, 0.6, 1.0):
        run = cc.simulate(m, level, until=1.5, parameters=lengths | {"duration": duration})
        force = run.dataset[[f"slide{k}.motor" for k in LEGS]].to_array()
        print(f"in {duration} s: up to {float(abs(force).max()):.0f} N in a leg, good: {run.good}")

    OUT.mkdir(exist_ok=True)
    run.plot("pose.x", "pose.z", *(f"slide{k}.motor" for k in LEGS), path=OUT / "gough_stewart.png")
    print(f"wrote {OUT / 'gough_stewart.png'}")


if __name__ == "__main__":
    main()
