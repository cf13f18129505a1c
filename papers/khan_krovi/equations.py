"""Sections 4 and 5: the paper's equations typed in, as printed and mended, against the library.

The letters are the paper's: angles theta, alpha, phi from the horizontal; C (19), A = dC/dq, S, eta, gamma (13), (14).
The crank's velocity is the independent one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.integrate import solve_ivp

import closedchain as cc
from closedchain.results.run import Run
from papers.khan_krovi.runs import ATOL, UNTIL, exact, four_bar, projection, quietly, springs
from papers.paper import CORRECTED, FAILS, HOLDS, Claim, Exhibit, Finding, Table

G = 9.8  # m/s^2
# double precision on both sides, and no matrix with a condition above 100; springs multiply rounding of a gap by K
ROUNDING = 1e-11
STIFFNESS, SIGMA = 1e4, 10.0
STATES = np.linspace(0.0, 2.0, 21)  # s: times at which accelerations are compared
WRONG = 1e-3  # of the largest acceleration: far above rounding, and no rounding of printed digits


@dataclass(frozen=True)
class Linkage:
    """Links 1, 2, 3 and the ground: lengths l, ground l0, masses m; mass centres halfway, rods."""

    l: tuple[float, float, float] = (1.0, 4.0, 2.5)
    l0: float = 3.0
    m: tuple[float, float, float] = (1.0, 1.0, 1.0)

    def closure(self, q: np.ndarray) -> np.ndarray:
        """C (19)."""
        (x, y), (l1, l2, l3) = (np.cos(q), np.sin(q)), self.l
        return np.array([-l1 * x[0] - l2 * x[1] + self.l0 + l3 * x[2], -l1 * y[0] - l2 * y[1] + l3 * y[2]])

    def jacobian(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """A, and A' v."""
        signed = np.array([1.0, 1.0, -1.0]) * self.l
        A = np.array([signed * np.sin(q), -signed * np.cos(q)])
        return A, np.array([signed * np.cos(q), signed * np.sin(q)]) @ v**2

    def inertia(self, q: np.ndarray, as_printed: bool = False) -> np.ndarray:
        """M (18), whose M22 is printed with m1."""
        (l1, l2, l3), (m1, m2, m3) = self.l, self.m
        I1, I2, I3 = (m * x**2 / 12 for m, x in zip(self.m, self.l, strict=True))
        M = np.diag(
            [m1 * l1**2 / 4 + I1 + m2 * l1**2, I2 + (m1 if as_printed else m2) * l2**2 / 4, m3 * l3**2 / 4 + I3]
        )
        M[0, 1] = M[1, 0] = m2 * l1 * l2 / 2 * np.cos(q[1] - q[0])
        return M

    def force(self, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> np.ndarray:
        """E u - V - G (18), the f of (2); u by absolute angle."""
        (l1, l2, l3), (m1, m2, m3) = self.l, self.m
        twist = m2 * l1 * l2 / 2 * np.sin(q[1] - q[0])
        V = np.array([-twist * v[1] ** 2, twist * v[0] ** 2, 0.0])
        weight = G * np.cos(q) * [m1 * l1 / 2 + m2 * l1, m2 * l2 / 2, m3 * l3 / 2]
        return u - V - weight

    def compliance(self, q: np.ndarray, v: np.ndarray, u: np.ndarray, K: float, as_printed: bool = False) -> np.ndarray:
        """Accelerations of method A, (10) and (20)."""
        A, _ = self.jacobian(q, v)
        return np.linalg.solve(self.inertia(q, as_printed), self.force(q, v, u) - K * A.T @ self.closure(q))

    def projection(self, q: np.ndarray, v: np.ndarray, u: np.ndarray, sigma: float) -> dict[str, np.ndarray]:
        """Accelerations of method B by (14) and (17), by (14) and (16) as printed, and by each half of (25) alone."""
        A, A_dot_v = self.jacobian(q, v)
        M, f, c = self.inertia(q), self.force(q, v, u), self.closure(q)
        S = np.append(1.0, -np.linalg.solve(A[:, 1:], A[:, 0]))
        gamma = np.append(0.0, np.linalg.solve(A[:, 1:], sigma**2 * c - A_dot_v))
        reduced, left, right = S @ M @ S, M @ gamma, f
        nu_A = -S[:2] @ (left - right)[:2] / reduced
        nu_B = -S[2:] @ (left - right)[2:] / reduced
        found = {
            "(17)": -(S @ left - S @ right) / reduced,
            "(16)": -(S @ left + S @ right) / reduced,
            "both halves of (25)": nu_A + nu_B,
            "(25) of chain A alone": nu_A,
        }
        return {name: S * nu + gamma for name, nu in found.items()}

    def rates(self, x: np.ndarray, u: np.ndarray, sigma: float | None = None, K: float = 0.0) -> np.ndarray:
        """Rates of the state [q; nu] of method B (17), or, without sigma, of [q; q'] of method A (20)."""
        q = x[:3]
        if sigma is None:
            return np.concatenate([x[3:], self.compliance(q, x[3:], u, K)])
        A, _ = self.jacobian(q, np.zeros(3))
        v = np.append(x[3], -np.linalg.solve(A[:, 1:], A[:, 0] * x[3] + sigma * self.closure(q)))
        return np.append(v, self.projection(q, v, u, sigma)["(17)"][0])


OURS = Linkage()
AS_PRINTED = Linkage(l=(1.0, 2.5, 3.0))
PRINTED_ANGLES = np.array([np.pi / 2, 0.35328, 1.26486])
TORQUE = np.array([6.0, 0.0, 0.0])


def angles(run: Run, marks: str = "") -> np.ndarray:
    """Absolute angles theta, alpha, phi, or their rates: (time, 3)."""
    theta, elbow, phi = (run[f"{name}{marks}"].values for name in ("O", "A", "C"))
    return np.stack([theta, theta + elbow, phi], axis=1)


@cache
def states(method, heavy: float = 1.0, elbow: float = 0.0) -> Run:
    """A run whose samples are states at which accelerations are compared; a heavier crank, a torque in the elbow."""
    if heavy == 1.0 and elbow == 0.0:
        return quietly(method, until=STATES[-1], rtol=1e-9, t_eval=STATES)
    m = cc.library.four_bar()
    m.motor("A", torque=elbow)
    return cc.simulate(m, until=0.5, method=method, rtol=1e-9, parameters={"crank.mass": heavy})


def worst(run: Run, typed) -> float:
    """Largest difference of accelerations by a function of (q, v) from those of a run, relative to the largest."""
    q, v, a = (angles(run, marks) for marks in ("", "'", "''"))
    return float(max(np.abs(typed(x, y) - z).max() for x, y, z in zip(q, v, a, strict=True)) / np.abs(a).max())


@cache
def second_opinion(rtol: float, sigma: float | None = None, K: float = 0.0) -> tuple[int, float]:
    """Steps for ten seconds, and the largest closure error at their ends, by the typed equations and SciPy's RK45."""
    start = four_bar().assemble()
    q = [start["O"], start["O"] + start["A"], start["C"]]
    x = np.array([*q, 0.0] if sigma is not None else [*q, 0.0, 0.0, 0.0])
    run = solve_ivp(lambda _, x: OURS.rates(x, TORQUE, sigma, K), (0.0, UNTIL), x, "RK45", rtol=rtol, atol=ATOL)
    return len(run.t) - 1, float(max(np.abs(OURS.closure(x)).max() for x in run.y[:3].T))


# ---- claims ----------------------------------------------------------------------------------------------------------


def reduction() -> Finding:
    """(16), (17), (25) at states of a run by `cc.Projection`."""
    run = states(projection(SIGMA))
    names = OURS.projection(PRINTED_ANGLES, np.zeros(3), TORQUE, SIGMA)
    off = {name: worst(run, lambda q, v, name=name: OURS.projection(q, v, TORQUE, SIGMA)[name]) for name in names}
    right = max(off["(17)"], off["both halves of (25)"]) < ROUNDING
    return Finding(
        FAILS if not right else CORRECTED if off["(16)"] > WRONG else HOLDS,
        {f"{name}, relative": x for name, x in off.items()},
        f"typed in, (17) gives the accelerations of the library's method to {off['(17)']:.0e} at {len(STATES)} states "
        f"of a run, and so does the sum of both halves of (25), to {off['both halves of (25)']:.0e}; (16) has the "
        f"wrong sign at S'f and is off by {100 * off['(16)']:.0f} % of the largest acceleration, and one half of "
        f"(25), which is printed as the rate of a chain's own state, by {100 * off['(25) of chain A alone']:.0f} %",
    )


def dynamics() -> Finding:
    """(18) to (20) at states of a run with springs; with a heavier crank; with a torque in the joint A."""
    plain = worst(states(springs(STIFFNESS)), lambda q, v: OURS.compliance(q, v, TORQUE, STIFFNESS))
    same = worst(states(springs(STIFFNESS)), lambda q, v: OURS.compliance(q, v, TORQUE, STIFFNESS, True))
    heavy = Linkage(m=(2.0, 1.0, 1.0))
    run = states(springs(STIFFNESS), heavy=2.0)
    mended = worst(run, lambda q, v: heavy.compliance(q, v, TORQUE, STIFFNESS))
    printed = worst(run, lambda q, v: heavy.compliance(q, v, TORQUE, STIFFNESS, True))
    run = states(springs(STIFFNESS), elbow=3.0)
    at_joint = worst(run, lambda q, v: OURS.compliance(q, v, TORQUE + [-3.0, 3.0, 0.0], STIFFNESS))
    identity = worst(run, lambda q, v: OURS.compliance(q, v, TORQUE + [0.0, 3.0, 0.0], STIFFNESS))
    right = max(plain, mended, at_joint) < ROUNDING
    return Finding(
        FAILS if not right else CORRECTED if min(printed, identity) > WRONG else HOLDS,
        {
            "mended, relative": plain,
            "as printed, equal masses": same,
            "mended, crank of 2 kg": mended,
            "as printed, crank of 2 kg": printed,
            "torque in joint A, column (-1, 1, 0)": at_joint,
            "torque in joint A, E = 1": identity,
        },
        f"with M22 mended the accelerations are those of the library to {max(plain, mended):.0e}; as printed, with m1 "
        f"in M22, they are too with the paper's equal masses ({same:.0e}), but with a crank of 2 kg off by "
        f"{100 * printed:.0f} % of the largest. E = 1 is right for torques from the ground: one of a motor in the "
        f"joint between crank and coupler acts on both, and E = 1 is then off by {100 * identity:.0f} %",
    )


def closes() -> Finding:
    """Printed lengths and angles in (19), with the ground that fits best; those of Wang et al."""
    c = AS_PRINTED.closure(PRINTED_ANGLES)
    printed = float(abs(c[1]))  # l0, which the table does not have, can make the first component zero
    wang = float(np.linalg.norm(OURS.closure(PRINTED_ANGLES)))
    start = four_bar().assemble()
    theta, alpha, phi = start["O"], start["O"] + start["A"], start["C"]
    left = float(np.abs(OURS.closure(np.array([theta, alpha, phi]))).max())
    return Finding(
        HOLDS if printed < 1e-5 else CORRECTED if wang < 1e-5 else FAILS,
        {
            "gap as printed [m]": printed,
            "gap with 1, 4, 2.5, 3 m [m]": wang,
            "gap of our start [m]": left,
            "alpha": alpha,
            "phi": phi,
        },
        f"with l2 = 2.5 m and l3 = 3 m the loop is open by {printed:.2f} m at least, whatever the ground is; with the "
        "lengths of Wang et al., l2 = 4, l3 = 2.5 and a ground of 3 m, the printed ones with 4 m put in, "
        f"it is open by {wang:.1e} m, the rounding of the printed angles. We start at alpha = {alpha:.7f}, phi = "
        f"{phi:.7f}, closed to {left:.0e} m",
    )


# ---- what is shown ---------------------------------------------------------------------------------------------------


def table1() -> list[Table]:
    """Our data beside the printed ones."""
    p, start = four_bar().parameters, four_bar().assemble()
    theta, alpha, phi = start["O"], start["O"] + start["A"], start["C"]
    links = ("crank", "coupler", "rocker")
    lengths, masses = ([p[f"{name}.{what}"] for name in links] for what in ("length", "mass"))
    inertias = [m * x**2 / 12 for m, x in zip(masses, lengths, strict=True)]

    def three(values, digits=4):
        return ", ".join(f"{x:.{digits}g}" for x in values)

    turns = exact()["O"].values[-1] - exact()["O"].values[0]
    rows = [
        ["lengths l1, l2, l3 [m]", "1.0, 2.5, 3.0", three(lengths)],
        ["ground l0 [m]", "not given", "3"],
        ["mass centres [m]", "l/2", three([x / 2 for x in lengths])],
        ["masses [kg]", "1.0, 1.0, 1.0", three(masses)],
        ["moments of inertia [kg m^2]", "m l^2/12", three(inertias)],
        ["theta, alpha, phi at the start", "pi/2, 0.35328, 1.26486", three([theta, alpha, phi], 8)],
        ["velocities at the start", "not given", "0"],
        ["torques [N m]", "6.0, 0.0, 0.0", three([p["O.motor"], 0, 0])],
        ["gravity [m/s^2]", "not given", f"{-p['gravity.y']:g} along -y"],
        [f"turns of the crank in {UNTIL:g} s", "not given", f"{turns / (2 * np.pi):.2f}"],
    ]
    return [Table(["quantity", "printed", "ours"], rows)]


REDUCTION = Claim(
    "reduction",
    "equations (14) to (17), (25)",
    "projected on the feasible motions the equations have no multipliers, and the rates of the independent velocities "
    "are sums of a part of each chain",
    reduction,
)
DYNAMICS = Claim(
    "equations of motion",
    "equations (18) to (20)",
    "inertia, velocity and gravity terms of the two chains, each by itself, with the torques as they are (E = 1)",
    dynamics,
)
CLOSES = Claim(
    "closed linkage",
    "Table 1",
    "lengths and angles at the start are those of a closed four-bar",
    closes,
)
EXHIBITS = (Exhibit("table1", "data of the linkage", table1, (CLOSES,)),)
