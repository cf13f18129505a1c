"""Some hundred designs of a four-bar, compiled once.

How strong must the pin at B be, and how far does the rocker swing, for different couplers and rockers? Every length is
a parameter of the compiled equations, so a design costs an assembly and a run of some milliseconds. Run it with
``python examples/parameter_sweep.py``.
"""

import itertools
import time
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import closedchain as cc

OUT = Path("out")
COUPLERS = np.linspace(3.4, 4.4, 11)
ROCKERS = np.linspace(2.0, 3.0, 11)


def mechanism() -> cc.Mechanism:
    """The four-bar of the library, with a controller that keeps its crank at 4 rad/s."""
    return cc.library.four_bar(torque=lambda t, q, v: 100.0 * (4.0 - v["O"]))


def main() -> None:
    m = mechanism()
    cc.simulate(m, until=0.1)  # compiles
    swing = np.full((len(COUPLERS), len(ROCKERS)), np.nan)
    force = swing.copy()
    left_out = []
    clock = time.perf_counter()
    for (i, coupler), (j, rocker) in itertools.product(enumerate(COUPLERS), enumerate(ROCKERS)):
        design = {"coupler.length": coupler, "rocker.length": rocker}
        try:
            start = m.assemble(O=cc.pi / 2, velocity={"O": 4.0}, parameters=design)
            run = cc.simulate(m, start, until=2.0, rtol=1e-6, events=[cc.SingularPoses("stop")])
        except cc.ClosedChainError:  # no closed pose, or rods that come to lie on one line, where the motion may branch
            left_out.append(f"{coupler:.1f} + {rocker:.1f}")
            continue
        if float(run["O"][-1] - run["O"][0]) > 2 * np.pi:
            swing[i, j] = float(run["C"].max() - run["C"].min())
            force[i, j] = float(np.linalg.norm(run["lam"], axis=1).max())
    seconds = time.perf_counter() - clock

    print(f"{swing.size} designs in {seconds:.1f} s, {1e3 * seconds / swing.size:.0f} ms each")
    print(f"the crank turns in {np.isfinite(swing).sum()} of them; left out (coupler + rocker): {', '.join(left_out)}")
    best = np.unravel_index(np.nanargmin(force), force.shape)
    print(
        f"least force in B, {force[best]:.0f} N: coupler {COUPLERS[best[0]]:.1f} m, rocker {ROCKERS[best[1]]:.1f} m, "
        f"swing {np.degrees(swing[best]):.0f} degrees"
    )
    plot(swing, force)


def plot(swing: np.ndarray, force: np.ndarray) -> None:
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    for ax, values, title in (
        (left, np.degrees(swing), "swing of the rocker [degrees]"),
        (right, force, "largest force in B [N]"),
    ):
        colours = ax.pcolormesh(ROCKERS, COUPLERS, values, shading="nearest")
        ax.set(xlabel="rocker [m]", ylabel="coupler [m]", title=title)
        figure.colorbar(colours, ax=ax)
    OUT.mkdir(exist_ok=True)
    figure.savefig(OUT / "parameter_sweep.png", dpi=150)
    print(f"wrote {OUT / 'parameter_sweep.png'}")


if __name__ == "__main__":
    main()
