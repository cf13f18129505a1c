"""Makes the numbers beside this file: two mechanisms with one freedom, solved without any multibody code.

With one coordinate theta the energies are ``T = J(theta) theta'^2 / 2`` and ``V(theta)``, and Lagrange's equation is
``J theta'' + J' theta'^2 / 2 + V' = 0``. For the four-bar, J and V follow from the closed-form solution of the loop;
for N parallelograms in a row J is constant.

The equation is integrated in extended precision (64-bit mantissa) by the midpoint rule of Gragg with Bulirsch and
Stoer's extrapolation (Hairer, Norsett, Wanner 1993, Solving Ordinary Differential Equations I, 2nd ed., II.9), once
with a step of 1/40 s and once with 1/60 s. What is written down is what the two agree on.

Run from the root of the repository: ``python -m tests.reference.yardstick.make``
"""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
Real = np.longdouble
STAGES = 12  # columns of the extrapolation table: order 24

FOUR_BAR = {"ground": 2.0, "crank": 1.0, "coupler": 2.5, "rocker": 2.0, "mass_per_length": 1.0, "g": 9.81}


class FourBar:
    """Inertia, potential and loop of the four-bar, as functions of the crank angle alone; the rocker is up."""

    def __init__(self, p: dict[str, float]) -> None:
        self.d, self.l1, self.l2, self.l3, rho, self.g = map(Real, p.values())
        self.m1, self.m2, self.m3 = rho * self.l1, rho * self.l2, rho * self.l3

    def angles(self, theta):
        """Coupler and rocker, from the triangle of crank tip, far pivot and the pin between the two."""
        x, y = self.d - self.l1 * np.cos(theta), -self.l1 * np.sin(theta)  # from the crank tip to the far pivot
        reach = np.hypot(x, y)
        at_tip = np.arccos((self.l2**2 + reach**2 - self.l3**2) / (2 * self.l2 * reach))
        alpha = np.arctan2(y, x) + at_tip
        rise, run = self.l1 * np.sin(theta) + self.l2 * np.sin(alpha), self.l2 * np.cos(alpha) - x
        return alpha, np.arctan2(rise, run)

    def rates(self, theta, alpha, phi):
        """First and second derivatives of the coupler's and the rocker's angle by that of the crank."""
        # l1 e(theta) + l2 e(alpha) = d + l3 e(phi), differentiated and projected on what drops one unknown
        s = np.sin(alpha - phi)
        a1 = -self.l1 * np.sin(theta - phi) / (self.l2 * s)
        p1 = -self.l1 * np.sin(theta - alpha) / (self.l3 * s)
        c_s = np.cos(alpha - phi) * (a1 - p1)
        a2 = (-self.l1 * np.cos(theta - phi) * (1 - p1) / self.l2 - a1 * c_s) / s
        p2 = (-self.l1 * np.cos(theta - alpha) * (1 - a1) / self.l3 - p1 * c_s) / s
        return a1, p1, a2, p2

    def inertia(self, theta):
        """J and dJ/dtheta."""
        alpha, phi = self.angles(theta)
        a1, p1, a2, p2 = self.rates(theta, alpha, phi)
        own, rocker = self.m2 * self.l2**2 / 3, self.m3 * self.l3**2 / 3
        cross = self.m2 * self.l1 * self.l2
        fixed = self.m1 * self.l1**2 / 3 + self.m2 * self.l1**2
        J = fixed + cross * a1 * np.cos(theta - alpha) + own * a1**2 + rocker * p1**2
        dJ = cross * (a2 * np.cos(theta - alpha) - a1 * (1 - a1) * np.sin(theta - alpha))
        return J, dJ + 2 * own * a1 * a2 + 2 * rocker * p1 * p2

    def potential(self, theta):
        """V and dV/dtheta."""
        alpha, phi = self.angles(theta)
        a1, p1, _, _ = self.rates(theta, alpha, phi)
        first, second, third = (self.m1 / 2 + self.m2) * self.l1, self.m2 * self.l2 / 2, self.m3 * self.l3 / 2
        V = first * np.sin(theta) + second * np.sin(alpha) + third * np.sin(phi)
        dV = first * np.cos(theta) + second * a1 * np.cos(alpha) + third * p1 * np.cos(phi)
        return self.g * V, self.g * dV


class Parallelograms:
    """N square loops in a row: N + 1 rods turn, N rods are carried along; all 1 m and 1 kg."""

    def __init__(self, n: int, g: float = 9.81) -> None:
        self.n, self.g = n, Real(g)

    def inertia(self, theta):
        """J and dJ/dtheta."""
        return Real(self.n + 1) / 3 + self.n, 0 * theta

    def potential(self, theta):
        """V and dV/dtheta."""
        lever = self.g * (Real(self.n + 1) / 2 + self.n)
        return lever * np.sin(theta), lever * np.cos(theta)


def rhs(body, x):
    """(theta', theta'')."""
    J, dJ = body.inertia(x[0])
    _, dV = body.potential(x[0])
    return np.array([x[1], -(dJ * x[1] ** 2 / 2 + dV) / J])


def energy(body, x):
    """T + V."""
    return body.inertia(x[0])[0] * x[1] ** 2 / 2 + body.potential(x[0])[0]


def step(body, x, h):
    """One step by extrapolation of the midpoint rule in h^2."""
    table: list[list[np.ndarray]] = []
    for k in range(STAGES):
        n = 2 * (k + 1)
        small = h / n
        before, now = x, x + small * rhs(body, x)
        for _ in range(n - 1):
            before, now = now, before + 2 * small * rhs(body, now)
        row = [(before + now + small * rhs(body, now)) / 2]
        for j in range(k):
            ratio = Real(n) / Real(2 * (k - j))
            row.append(row[j] + (row[j] - table[k - 1][j]) / (ratio**2 - 1))
        table.append(row)
    return table[-1][-1]


def solve(body, start, times, steps_per_interval):
    """States at the given times, the first of which is that of the start."""
    x = np.array(start, Real)
    out = [x]
    for a, b in pairwise(times):
        for _ in range(steps_per_interval):
            x = step(body, x, (Real(b) - Real(a)) / steps_per_interval)
        out.append(x)
    return np.array(out)


def agreed(body, start, times, steps):
    """States by two step lengths, and how far they and the energy are off."""
    coarse, fine = (solve(body, start, times, k) for k in steps)
    levels = np.array([energy(body, x) for x in fine])
    drift = np.abs(levels - levels[0]).max() / np.ptp([body.potential(x[0])[0] for x in fine])
    return fine, float(np.abs(coarse - fine).max()), float(drift)


def write(name, provenance, parameters, rows, columns):
    """Numbers with 17 digits and where they come from."""
    lines = ",\n  ".join("[" + ", ".join(f"{float(x):.17g}" for x in row) + "]" for row in rows)
    head = json.dumps({"provenance": provenance, "parameters": parameters, "columns": columns}, indent=1)
    (HERE / f"{name}.json").write_text(head[:-2] + f',\n "rows": [\n  {lines}\n ]\n}}\n')


def main():
    """Write both files."""
    how = "one-coordinate Lagrange equation, extrapolated midpoint rule of order 24 in 64-bit mantissa; see make.py"
    times = np.arange(101) / Real(10)
    body = FourBar(FOUR_BAR)
    x, off, drift = agreed(body, [np.arccos(Real(1) / 2), 0], times, (4, 6))
    print("four-bar: two step lengths differ by", off, "energy by", drift)
    loops = [body.angles(theta) for theta in x[:, 0]]
    rows = [(t, *state, alpha, phi) for t, state, (alpha, phi) in zip(times, x, loops, strict=True)]
    provenance = {"case": "four-bar released at rest at 60 degrees, rocker up", "how": how, "uncertainty": off}
    columns = ["t [s]", "crank [rad]", "crank' [rad/s]", "coupler [rad]", "rocker [rad]"]
    write("four_bar", provenance, FOUR_BAR, rows, columns)

    rows, worst = [], 0.0
    for n in (1, 2, 8, 40):
        body = Parallelograms(n)
        times = np.arange(11) / Real(1)
        x, off, drift = agreed(body, [np.arccos(Real(0)), -1], times, (40, 60))
        print(n, "loops: two step lengths differ by", off, "energy by", drift)
        worst = max(worst, off)
        rows += [(n, t, *state) for t, state in zip(times, x, strict=True)]
    provenance = {
        "case": "N square loops in a row swing through the flat pose: IFToMM benchmark A02",
        "how": how,
        "uncertainty": worst,
        "checked": "elliptic-function values published with the benchmark's collection, N = 1, 2, 40 at 1 and 10 s",
    }
    write("parallelograms", provenance, {"length": 1.0, "mass": 1.0, "g": 9.81}, rows, ["N", "t [s]", "phi", "phi'"])


if __name__ == "__main__":
    main()
