"""The boom of an excavator, lifted and lowered by a hydraulic cylinder with a valve.

The cylinder is a slide between two hinges, which closes a loop with the boom. Its force depends on the direction and
falls with the speed; the figure shows the motion within these limits. Run it with ``python examples/excavator.py``.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import closedchain as cc

OUT = Path("out")
CYLINDER = cc.HydraulicCylinder(
    bore=0.10, rod=0.07, supply_pressure=20e6, tank_pressure=0.5e6, rated_flow=1.5e-3, viscous=3000.0, drive="valve"
)


def mechanism() -> cc.Mechanism:
    m = cc.Mechanism("excavator", gravity=(0, -9.81, 0))
    boom = m.body("boom", cc.rod(length=4.0, mass=900.0, radius=0.12))
    bucket = m.body("bucket", cc.box(size=(0.8, 0.6, 0.8), mass=600.0))
    barrel = m.body("barrel", cc.rod(length=1.2, mass=50.0, radius=0.07))
    rod = m.body("rod", cc.rod(length=1.2, mass=35.0, radius=0.035))
    m.revolute("foot", m.ground, boom, limits=(0.0, 1.2))
    m.weld("load", boom.tip, bucket.at(0, 0.5, 0))
    m.revolute("base", m.ground.at(0.5, -1.0, 0), barrel, guess=1.1)
    m.prismatic("stroke", barrel, rod, axis=(1, 0, 0), guess=0.6)
    m.revolute("eye", rod.tip, boom.at(1.5, 0.1, 0))
    m.output = boom.tip
    m.start = {"foot": 0.3}
    # open within 0.2 s, lift until 1.5 s, close, and lower from 2 s on
    opening = cc.math.interp(cc.t, [0.0, 0.2, 1.3, 1.5, 2.0, 2.2], [0.0, 1.0, 1.0, 0.0, 0.0, -0.5])
    m.actuator("stroke", CYLINDER, command=opening)
    return m


def main() -> None:
    run = cc.simulate(mechanism(), until=3.0)
    force, speed = run["stroke.motor"].values, run["stroke'"].values
    need = CYLINDER.demand(force, speed)
    height = run.frame("boom.tip")["position"].values[:, 1]
    print(run)
    print(f"the tip rises from {height[0]:.2f} m to {height.max():.2f} m and comes back to {height[-1]:.2f} m")
    print(f"forces from {force.min() / 1e3:.0f} kN to {force.max() / 1e3:.0f} kN, speeds up to {speed.max():.2f} m/s")
    flow, power = need["flow"].values.max(), need["hydraulic power"].values.max()
    print(f"the pump gives up to {6e4 * flow:.0f} l/min and {power / 1e3:.0f} kW")

    OUT.mkdir(exist_ok=True)
    figure, (over_time, over_speed) = plt.subplots(1, 2, figsize=(9, 3.5), layout="constrained")
    over_time.plot(run.t, height)
    over_time.set(xlabel="time [s]", ylabel="height of the tip [m]")
    reach = np.linspace(-0.5, 0.5, 201)
    for bound in CYLINDER.envelope(reach):
        over_speed.plot(reach, bound / 1e3, color="0.6")
    over_speed.plot(speed, force / 1e3)
    over_speed.set(xlabel="speed of the rod [m/s]", ylabel="force [kN]")
    figure.savefig(OUT / "excavator.png", dpi=120)
    plt.close(figure)
    print(f"wrote {OUT / 'excavator.png'}")


if __name__ == "__main__":
    main()
