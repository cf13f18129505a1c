"""The PacDrive robot: rigid (Figure 6), flexible (Figures 7 and 8), pick-and-place (Figures 9 to 11), and the method.

The paper does not give the places of the ground pivots and the directions in the tool; what was chosen is said in
``closedchain.library.pacdrive``. Its curves are compared with Adams there, and here with motions by other
methods of this library.
"""

from __future__ import annotations

from functools import cache

import numpy as np

import closedchain as cc
from papers.claims import FAILS, HOLDS, Claim, Finding, judged

ELEMENTS = {f"link{k}": 1 if k in (5, 7, 8, 9, 11) else 2 for k in range(1, 12)}  # Table 2
UNTIL, STIFF = 0.3, 5e12
TIMES = np.linspace(0.0, UNTIL, 301)


@cache
def flexible(drive: str = "step", E: float = 5e9, **options):
    """The robot by ERLS with the paper's mesh."""
    m = cc.library.pacdrive(drive=drive, flexible=True)
    method = cc.ERLS(elements=ELEMENTS, **options)
    return cc.simulate(m, until=UNTIL, method=method, rtol=1e-7, t_eval=TIMES, parameters={"E": E})


@cache
def rigid(drive: str = "step") -> cc.Run:
    """The same robot with rigid links."""
    return cc.simulate(cc.library.pacdrive(drive=drive), until=UNTIL, rtol=1e-9, t_eval=TIMES)


def tips(run) -> np.ndarray:
    """Positions of the tool's point, (time, 2)."""
    return run.frame(run.mechanism.output).position.values[:, :2]


def rigid_limit() -> Finding:
    """E = 5e12 Pa against rigid links."""
    stiff, there = flexible(E=STIFF), rigid()
    angle = float(np.abs(stiff.rigid["joint1"].values - there["joint1"].values).max())
    tip = float(np.abs(tips(stiff) - tips(there)).max())
    return judged(
        tip < 1e-4,
        {"angle [rad]": angle, "tip [m]": tip, "steps": stiff.counts.steps},
        f"with E = {STIFF:.0e} Pa link 1 is within {angle:.1e} rad of the rigid robot's, the tip within {tip:.1e} m",
    )


def same_gross_motion() -> Finding:
    """Free coordinates of the flexible robot against those of the rigid one."""
    soft, there = flexible(), rigid()
    off = float(np.abs(soft.rigid["joint1"].values - there["joint1"].values).max())
    way = float(np.ptp(there["joint1"].values))
    return judged(
        off < 0.1 * way,
        {"difference [rad]": off, "way [rad]": way},
        f"the free coordinate of link 1 differs by at most {off:.3f} rad on a way of {way:.2f} rad",
    )


def tip_deforms() -> Finding:
    """The tip of the flexible robot against that of the rigid one, in x."""
    off = np.abs(tips(flexible()) - tips(rigid()))[:, 0].max()
    return judged(
        off > 1e-3,
        {"difference in x [m]": float(off)},
        f"the x coordinate of the tip differs by up to {1e3 * off:.1f} mm from that with rigid links",
    )


def dropped_terms() -> Finding:
    """Energy after the torque is gone, with and without the terms of first order in u."""
    after = TIMES >= 0.2
    literal, whole = (
        float(np.ptp(run.energy_error.values[after])) for run in (flexible(zero="base", terms="paper"), flexible())
    )
    motion = float(np.abs(flexible().dataset["kinetic_energy"].values[after]).max())
    return judged(
        literal < 1e-3 * motion,
        {"gained, the paper's rows [J]": literal, "gained, all terms [J]": whole, "kinetic energy [J]": motion},
        f"in the 0.1 s after the torque is gone the robot gains {literal:.2f} J out of nothing with the paper's rows "
        f"and motor angles as coordinates, {whole:.4f} J with all terms; its kinetic energy is up to {motion:.1f} J. "
        "What is dropped is of first order in u, as the effect of flexibility itself",
    )


def any_zeroed() -> Finding:
    """Zeroing displacements of a link that does not turn with q."""
    m = cc.library.pacdrive(flexible=True)
    try:
        cc.simulate(m, until=0.01, method=cc.ERLS(elements=ELEMENTS, zero=("link5.1.rz", "link11.0.rz")))
    except cc.ModelError as error:
        return Finding(
            FAILS,
            {"refused": 1.0},
            f"not every choice of zeroed displacements will do: rotations of the tool do not depend on q ({error})",
        )
    return Finding(HOLDS, {"refused": 0.0}, "any choice will do")


CLAIMS = (
    Claim(
        "rigid links",
        "section Rigid link simulation, Figure 6",
        "with a very stiff material the free coordinates are those of rigid links",
        rigid_limit,
    ),
    Claim(
        "gross motion",
        "section Flexible link simulation, Figure 7",
        "with flexible links the gross motion is very similar to that with rigid ones",
        same_gross_motion,
    ),
    Claim(
        "tip deforms",
        "section Flexible link simulation, Figure 8",
        "the x displacement of the tip shows a significant deformation",
        tip_deforms,
    ),
    Claim(
        "dropped terms",
        "equations (28) and (31)",
        "terms with u in the virtual displacement of q can be neglected",
        dropped_terms,
    ),
    Claim(
        "zeroed displacements",
        "after equation (36)",
        "the redundancy is removed by zeroing as many displacements as there are free coordinates",
        any_zeroed,
    ),
)
