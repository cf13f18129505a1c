"""Section 2.1: the equations (13) to (20) of the four-bar, typed in, and what is said of them."""

from __future__ import annotations

from functools import cache

import casadi as ca
import numpy as np
from scipy.sparse.csgraph import connected_components

import closedchain as cc
from closedchain.derive.equations import derive
from closedchain.march.program.compiled import right_hand_side
from closedchain.results.motion.motion import Motion
from papers.paper import CORRECTED, FAILS, HOLDS, Claim, Finding, Table, judged
from papers.plots import legend, panels
from papers.wang2002 import four_bar
from papers.wang2002.four_bar import DAMPING, L1, L2, L3, STIFFNESS, TORQUE, X0, G

ROUNDING = 1e-10  # of the largest value: two ways in double precision, with sums of large terms between
R1, R2, R3 = L1 / 2, L2 / 2, L3 / 2
I1, I2, I3 = L1**2 / 12, L2**2 / 12, L3**2 / 12  # all masses are 1 kg
STATES = 20
TURN = 2.0  # s of a turn of the crank at constant speed


def inertia(q) -> np.ndarray:
    """M by (17)."""
    M12 = L1 * R2 * np.cos(q[0] - q[1])
    return np.array([[I1 + R1**2 + L1**2, M12, 0], [M12, I2 + R2**2, 0], [0, 0, I3 + R3**2]])


def jacobian(q) -> np.ndarray:
    """How the gap (13) changes with the angles."""
    th, al, ph = q
    return np.array(
        [
            [-L1 * np.sin(th), -L2 * np.sin(al), L3 * np.sin(ph)],
            [L1 * np.cos(th), L2 * np.cos(al), -L3 * np.cos(ph)],
        ]
    )


def accelerations(q, v, k: float) -> np.ndarray:
    """theta'', alpha'', phi'' by (13) and (15) to (19)."""
    th, al, ph = q
    x = k * (L1 * np.cos(th) + L2 * np.cos(al) - L3 * np.cos(ph) - X0)
    y = k * (L1 * np.sin(th) + L2 * np.sin(al) - L3 * np.sin(ph))
    sway = L1 * R2 * np.sin(th - al)
    c = [sway * v[1] ** 2 + G * (R1 + L1) * np.cos(th), -sway * v[0] ** 2 + G * R2 * np.cos(al), G * R3 * np.cos(ph)]
    f = [
        TORQUE + L1 * np.sin(th) * x - L1 * np.cos(th) * y,
        L2 * np.sin(al) * x - L2 * np.cos(al) * y,
        -L3 * np.sin(ph) * x + L3 * np.cos(ph) * y,
    ]
    return np.linalg.solve(inertia(q), np.array(f) - c)


def torque(q, v, a, sign: bool = True, weight: bool = True) -> np.ndarray:
    """The torque by (20), with its two misprints mended or not: a sign of f_By, a term with m_3 g in f_Bx."""
    (th, al, ph), (w1, w2, _), (a1, a2, a3) = q.T, v.T, a.T
    sin, cos = np.sin, np.cos
    second = R2 * L1 * cos(th - al) * a1 + (I2 + R2**2) * a2 + R2 * L1 * sin(al - th) * w1**2 + G * R2 * cos(al)
    third = (I3 + R3**2) * a3
    heavy = G * R3 * cos(ph)
    det = L2 * L3 * sin(al - ph)
    f_x = (L3 * cos(ph) * second + L2 * cos(al) * (third + weight * heavy)) / det
    f_y = (L3 * sin(ph) * second + L2 * sin(al) * (third + heavy)) / det
    first = (I1 + R1**2 + L1**2) * a1 + L1 * R2 * (cos(th - al) * a2 + sin(th - al) * w2**2) + G * (R1 + L1) * cos(th)
    return first - L1 * sin(th) * f_x + (1 if sign else -1) * L1 * cos(th) * f_y


@cache
def turning() -> Motion:
    """The crank turned once at constant speed."""
    m = four_bar.mechanism()
    return cc.follow(m, {"O": cc.pi / 2 + 2 * cc.pi / TURN * cc.t}, until=TURN, guess=m.assemble())


@cache
def torques() -> dict[str, np.ndarray]:
    """Of a turn: by the library in two ways, and by (20), mended and not."""
    motion = turning()
    q, v, a = (four_bar.angles(motion, order) for order in range(3))
    ways = {x: cc.inverse_dynamics(four_bar.mechanism(), motion, method=x)["O"].values for x in WAYS}
    return ways | {
        "mended": torque(q, v, a),
        "printed": torque(q, v, a, sign=False, weight=False),
        "sign only": torque(q, v, a, weight=False),
        "weight only": torque(q, v, a, sign=False),
    }


WAYS = ("projection", "virtual-spring")


def show_dynamics():
    """Blocks of the inertia matrix."""
    e = derive(four_bar.mechanism())
    pattern = np.array(ca.DM(e.M.sparsity(), 1))
    names = ("theta", "alpha", "phi")
    rows = [[name, *("x" if entry else "0" for entry in row)] for name, row in zip(names, pattern, strict=True)]
    note = "Entries of the inertia matrix (17): the output link has a block of its own once the joint B is cut."
    return [Table(["", *names], rows, note)]


def show_inverse_dynamics():
    """The torque by (20) as it is printed and mended, against the library's."""
    figure, (ax,) = panels(f"torque for a turn of the crank in {TURN:g} s", y="torque [N m]")
    figure.set_size_inches(7.0, 3.6)
    t, found = turning().t, torques()
    ax.plot(t, found["printed"], label="(20) as printed")
    ax.plot(t, found["mended"], label="(20), both misprints mended", linewidth=3)
    ax.plot(t, found["projection"], "k:", label="principle of virtual work (library)")
    legend(ax)
    return [figure]


def show_forces():
    """The spring's force against the joint's, in the first 0.03 s."""
    figure, axes = panels("force at B along x", "force at B along y", y="force [N]")
    t = np.linspace(0, 0.03, 601)
    runs = {
        f"k Delta, k = {STIFFNESS:.0e} N/m": cc.VirtualSpring(STIFFNESS),
        f"k Delta + b Delta', b = {DAMPING:.0e} N s/m": cc.VirtualSpring(STIFFNESS, DAMPING),
        "joint (multipliers)": cc.Multipliers(),
    }
    for (label, method), style in zip(runs.items(), ("-", "-", "k:"), strict=True):
        run = cc.simulate(four_bar.mechanism(), until=t[-1], method=method, rtol=1e-10, t_eval=t)
        for k, ax in enumerate(axes):
            ax.plot(t, four_bar.force(run)[:, k], style, label=label)
    figure.legend(*axes[0].get_legend_handles_labels(), fontsize=8, loc="outside lower center", ncols=3, frameon=False)
    return [figure]


def equations_of_motion() -> Finding:
    """(15) to (19) against the library's equations at random states, the loop open by metres."""
    m, rng, off = four_bar.mechanism(), np.random.default_rng(7), 0.0
    start = m.assemble()
    for _ in range(STATES):
        q, v = rng.uniform(-3, 3, 3), rng.normal(size=3)
        whole = np.array(start.q)
        whole[:3] = q[0], q[1] - q[0], q[2]
        state = cc.State(m, whole, np.array([v[0], v[1] - v[0], v[2]]))
        a = right_hand_side(state, cc.VirtualSpring(STIFFNESS))[len(whole) : len(whole) + 3]
        wanted = accelerations(q, v, STIFFNESS)
        found = np.array([a[0], a[0] + a[1], a[2]])
        off = max(off, float(np.abs(found - wanted).max() / np.abs(wanted).max()))
    return judged(
        off < ROUNDING,
        {"largest difference, relative": off, "states": STATES},
        f"typed in as they stand, they give the library's accelerations at {STATES} random states to {off:.0e}, "
        "although (3), (4) and (8) before them are misprinted",
    )


def block_diagonal() -> Finding:
    """Entries between the limb of crank and coupler and that of the output link."""
    e = derive(four_bar.mechanism())
    M = np.array(ca.DM(e.M.sparsity(), 1))
    between = int(M[:2, 2].sum() + M[2, :2].sum())
    blocks = int(connected_components(M)[0])
    return judged(
        between == 0 and blocks == 2,
        {"entries between limbs": between, "blocks": blocks},
        "crank and coupler have a block of 2 x 2, the output link one of 1 x 1, and there is nothing between: given "
        "the forces at B, the two sides can be computed apart",
    )


def forces_of_the_joint() -> Finding:
    """The spring's force against the multipliers in the first second, with and without a damper."""
    early = four_bar.TIMES <= 1.0
    settled = four_bar.TIMES[early] > 0.05
    wanted = four_bar.force(four_bar.exact())[early]
    size = float(np.linalg.norm(wanted, axis=1).max())
    bare, damped = (four_bar.force(four_bar.springs(damping=b))[early] for b in (0.0, DAMPING))
    stiffer = four_bar.force(four_bar.springs(10 * STIFFNESS, until=1.0))
    off, off_damped, off_stiffer = (
        float(np.linalg.norm(x - wanted, axis=1)[settled].max()) for x in (bare, damped, stiffer)
    )
    mean = float(np.linalg.norm((bare - wanted)[settled].mean(axis=0)))
    close = 0.01 * size
    return Finding(
        HOLDS if off < close else CORRECTED if max(off_damped, mean) < close else FAILS,
        {"off [N]": off, "off with a damper [N]": off_damped, "off in the mean [N]": mean, "largest force [N]": size}
        | {"off with ten times the stiffness [N]": off_stiffer},
        f"in the mean it has, to {mean:.2f} N; at any instant k Delta is off by up to {off:.1f} N where the joint "
        f"carries {size:.1f} N, for the spring swings about its load and nothing stops it, and with ten times the "
        f"stiffness it is off by {off_stiffer:.1f} N; with a damper of {DAMPING:.0e} N s/m it tells the force to "
        f"{off_damped:.0e} N",
    )


def equation_20() -> Finding:
    """The torque of a turn."""
    found = torques()
    wanted = found["projection"]
    size = float(np.abs(wanted).max())
    off = {name: float(np.abs(found[name] - wanted).max()) for name in found if name != "projection"}
    right = max(off["mended"], off["virtual-spring"])
    return Finding(
        HOLDS if off["printed"] < ROUNDING * size else CORRECTED if right < ROUNDING * size else FAILS,
        {f"{name}, off [N m]": x for name, x in off.items()} | {"largest torque [N m]": size},
        f"as printed it is off by up to {off['printed']:.0f} N m where at most {size:.0f} N m are needed; with + l1 "
        "cos(theta) f_By and the weight of the output link in f_Bx it agrees with the principle of virtual work to "
        f"{right:.0e} N m, and so does the same elimination done by the library",
    )


DYNAMICS = (
    Claim(
        "equations of motion",
        "equations (13) to (19)",
        "Lagrange's equations with the energy of the spring give a set of ordinary differential equations",
        equations_of_motion,
    ),
    Claim(
        "block diagonal",
        "section 2.1, equation (17)",
        "the inertia matrix is block diagonal, which leads to computing in parallel",
        block_diagonal,
    ),
)
FORCES = (
    Claim(
        "forces of the joint",
        "section 2.1, after equation (19)",
        "k Delta has the components of the force in the joint that was cut",
        forces_of_the_joint,
    ),
)
INVERSE = (
    Claim(
        "equation 20",
        "section 2.1, equation (20)",
        "eliminating k Delta gives the torque, the same as by the principle of virtual work",
        equation_20,
    ),
)
