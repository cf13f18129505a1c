"""A four-bar linkage from the first line to the plot.

Draws the linkage, lets a motor with a constant torque turn it, says how good the result is, plots angles and writes the
path of a point on the coupler. Run it with ``python examples/four_bar.py``, or with
``closedchain run examples/four_bar.py --until 2``.
"""

from pathlib import Path

import closedchain as cc

OUT = Path("out")


def mechanism() -> cc.Mechanism:
    m = cc.Mechanism("four-bar", gravity=(0, -9.8, 0))
    crank = m.body("crank", cc.rod(length=1.0, mass=1.0))
    coupler = m.body("coupler", cc.rod(length=4.0, mass=1.0))
    rocker = m.body("rocker", cc.rod(length=2.5, mass=1.0))
    coupler.frame("pen", at=(1.6, 0.9, 0))

    m.revolute("O", m.ground, crank)
    m.revolute("A", crank.tip, coupler, guess=-1.2)
    m.revolute("C", m.ground.at(3, 0, 0), rocker, guess=1.3)
    m.revolute("B", coupler.tip, rocker.tip)  # closes the loop: found and cut without being told
    m.motor("O", torque=6.0)
    m.start = {"O": cc.pi / 2}
    return m


def main() -> None:
    m = mechanism()
    print(m, end="\n\n")

    run = cc.simulate(m, until=2.0, rtol=1e-9)
    print(run)
    print(f"the loop stays closed to {float(run.closure_error.max()):.1e} m")
    print(f"energy is kept to {float(abs(run.energy_error).max()):.1e} J of {float(run['kinetic_energy'].max()):.0f} J")

    OUT.mkdir(exist_ok=True)
    run.plot("O", "C", "C'", "lam", path=OUT / "four_bar.png")
    run.frame("coupler.pen")["position"].to_dataframe().to_csv(OUT / "four_bar_pen.csv")
    print(f"wrote {OUT / 'four_bar.png'} and {OUT / 'four_bar_pen.csv'}")


if __name__ == "__main__":
    main()
