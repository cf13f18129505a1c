"""Section 2: springs in the place of joints, their work, their sign, and what has to be derived for them."""

from __future__ import annotations

from functools import cache

import numpy as np

from closedchain.derive.equations import derive
from closedchain.march.program.compiled import compiled
from closedchain.pose.state import parameter_vector
from closedchain.results.run import Run
from papers.paper import CORRECTED, FAILS, HOLDS, Claim, Finding, Shown, Table, judged
from papers.plots import legend, panels
from papers.raoofian2017.robot import BEST, PERIOD, STIFFNESSES, distance, gaps, rigid, robot, springs, start
from papers.raoofian2017.typed import APART, FORMS, lost, open_by, typed

STIFF = STIFFNESSES[3:]  # from 1e4 N/m on the loops stay together for three roses
ONCE = 0.05  # of a power of K: slope -1 within
ROUNDING = 1e-9  # relative, of accelerations: a gap is the difference of places of 1 m, and is multiplied by 1e6 N/m
WRONG = 1e-3  # m: what is further away is another motion


# ---- gaps and energy ------------------------------------------------------------------------------------------------


def slope(values: np.ndarray) -> float:
    """Power of K_s with which something changes, from 1e4 N/m on."""
    return float(np.polyfit(np.log(STIFF), np.log(values), 1)[0])


def loops_close() -> Finding:
    """The largest sum of gaps in three roses against the stiffness."""
    largest = np.array([gaps(springs(k)).max() for k in STIFF])
    power = slope(largest)
    return judged(
        abs(power + 1) < ONCE,
        {"power of K_s": power, "gaps at 1e4 N/m [m]": largest[0], "gaps at 1e8 N/m [m]": largest[-1]},
        f"the largest sum of gaps falls from {largest[0]:.1e} m at 1e4 N/m to {largest[-1]:.1e} m at 1e8 N/m, with the "
        f"power {power:.2f} of the stiffness: the load is given, and a spring stretches by load / stiffness",
    )


def stored(run: Run) -> np.ndarray:
    """Energy in the springs over time, J."""
    return (run["lam"].values ** 2).sum(axis=1) / (2 * run.method.stiffness)


def no_work() -> Finding:
    """Energy that goes into the springs and comes back, against the kinetic energy of the robot."""
    held = np.array([stored(springs(k)).max() for k in STIFF])
    motion = float(springs(BEST)["kinetic_energy"].max())
    power = slope(held)
    share = float(held[STIFF.index(BEST)] / motion)
    return Finding(
        CORRECTED if abs(power + 1) < 2 * ONCE and share > 0 else FAILS,
        {"power of K_s": power, "stored at 1e6 N/m [J]": share * motion, "kinetic energy [J]": motion},
        f"springs work, since they are stretched and let go: at 1e6 N/m up to {share * motion:.1e} J goes in and comes "
        f"back, {share:.0e} of the kinetic energy, and it falls with the power {power:.2f} of the stiffness. Only in "
        "the limit is it zero",
    )


def figure_gaps() -> Shown:
    """Gaps and energy of the springs against their stiffness."""
    figure, axes = panels("largest sum of gaps", "largest energy in the springs", x="K_s [N/m]", y=["[m]", "[J]"])
    for ax, values in zip(axes, (lambda r: gaps(r).max(), lambda r: stored(r).max()), strict=True):
        found = [values(springs(k)) for k in STIFFNESSES]
        ax.loglog(STIFFNESSES, found, "o-", label="undamped springs, 6 s")
        ax.loglog(STIFF, found[-1] * STIFF[-1] / np.array(STIFF), "--", label="proportional to 1 / K_s")
    legend(*axes)
    return figure


def figure_eq13() -> list[Shown]:
    """Gaps with the printed sign and with the mended one."""
    figure, (ax,) = panels("sum of gaps, K_s = 1e4 N/m", x="t [ms]", y="[m]")
    for sign, label in ((-1.0, "as printed: w = + K^T K_s c"), (1.0, "mended: w = - K^T K_s c")):
        run = typed("elongation", 1e4, sign)
        ax.semilogy(1e3 * run.t[1:], open_by(run)[1:], label=label)
    ax.set(xlim=(0, 100))
    legend(ax)
    return [figure]


def sign() -> Finding:
    """The springs of (13) typed in, with both signs; and the mended ones against the library's."""
    printed, mended = typed("elongation", 1e4, -1.0), typed("elongation", 1e4)
    same = float(np.abs(open_by(mended) - gaps(springs(1e4))[: len(mended.t)]).max())
    apart = float(printed.t[-1])
    closed = float(open_by(mended).max())
    flies, holds = lost(printed), not lost(mended)
    return Finding(
        HOLDS if not flies else CORRECTED if holds else FAILS,
        {"apart after [s]": apart, "mended: gaps [m]": closed, "against ModifiedDeNOC [m]": same},
        f"as printed the springs push: a leg is {APART} m away from the platform after {1e3 * apart:.0f} ms. With a "
        f"minus the gaps stay below {closed:.1e} m for {PERIOD:g} s, and are those of ModifiedDeNOC to {same:.0e} m. "
        "That both (11) and (12) are zero cannot tell the sign; that springs pull does",
    )


# ---- (20) and (21) --------------------------------------------------------------------------------------------------


@cache
def terms():
    """M, h, tau, c, A of the open limbs as functions of t, q, v, p."""
    e = derive(robot())
    return e.function("terms", {"M": e.M, "h": e.h, "tau": e.tau, "c": e.closure.c, "A": e.closure.A})


def at_sample(run: Run, sample: int) -> list[np.ndarray]:
    """Their values at a sample of a run."""
    state = run.state(sample)
    return [np.array(x) for x in terms()(run.t[sample], state.q, state.v, parameter_vector(robot()))]


def by_equation_20(run: Run, sample: int) -> np.ndarray:
    """Accelerations from (20) with its sign mended: M a = tau - h - A^T K_s c."""
    M, h, tau, c, A = at_sample(run, sample)
    return np.linalg.solve(M, tau - h - A.T @ (run.method.stiffness * c)).ravel()


def lambda_becomes_springs() -> Finding:
    """Accelerations of (20) with full matrices against the recursion, along a run; and its mean force against (21)."""
    run, n = springs(BEST), robot().assemble().q.size
    program = compiled(start(), run.method)
    worst = 0.0
    for sample in range(0, len(run.t), 240):
        state = run.state(sample)
        a = program.rhs(float(run.t[sample]), program.pack(state.q, state.v), parameter_vector(robot()))[n : n + 9]
        worst = max(worst, float(np.abs(by_equation_20(run, sample) - a).max() / np.abs(a).max()))
    first = run.t <= PERIOD
    lam, exact = run["lam"].values[first], rigid()["lam"].values[first]
    mean = float(np.abs((lam - exact).mean(axis=0)).max())
    size = float(np.abs(exact).max())
    return judged(
        worst < ROUNDING,
        {"accelerations, relative": worst, "mean of K_s c - lam [N]": mean, "largest lam [N]": size},
        f"accelerations from (20), with the minus, and from the recursion agree to {worst:.0e}; over the first rose "
        f"the mean of K_s c is within {mean:.1g} N of that of the multipliers of (21), which reach {size:.1f} N",
    )


def table_forms() -> list[Shown]:
    """Distance from the path in the first rose for constraints of other forms."""
    rows = []
    for form, about in FORMS.items():
        cells = []
        for k in (1e5, 1e6, 1e7):
            run = typed(form, k)
            cells.append(f"{worst_distance(form, k):.1e} m" if not lost(run) else f"apart after {run.t[-1]:.2g} s")
        rows.append((about, *cells))
    note = "Largest distance of the platform from the path in the first rose. Each force is typed in, as (20) has it."
    return [Table(("what c measures", "K_s = 1e5", "K_s = 1e6", "K_s = 1e7"), rows, note)]


def worst_distance(form: str, stiffness: float) -> float:
    """From the path, in the first rose, m; infinite if the platform is lost."""
    run = typed(form, stiffness)
    return float(distance(run).max()) if not lost(run) else float("inf")


def elongations() -> Finding:
    """Springs in c that are no lengths: polar coordinates, squares, and a c that does not belong to A."""
    straight, polar, squared = (worst_distance(x, BEST) for x in ("elongation", "polar", "squared"))
    finer = worst_distance("polar", 10 * BEST)
    mixed = typed("mixed", BEST)
    other_form_works = polar < WRONG and finer < 0.2 * polar
    others_fail = squared > WRONG and lost(mixed)
    return Finding(
        CORRECTED if other_form_works and others_fail else HOLDS if others_fail else FAILS,
        {"elongations [m]": straight, "polar [m]": polar, "polar, 1e7 N/m [m]": finer, "squares [m]": squared}
        | {"mixed: apart after [s]": float(mixed.t[-1])},
        "what is needed is that A is the derivative of c, and regular: distance and angle seen from the elbow, no "
        f"elongations in x and y, keep the platform within {polar:.1e} m of the path at 1e6 N/m and {finer:.1e} m at "
        f"1e7 N/m (elongations: {straight:.1e} m). Squares of gaps, whose derivative is zero where a loop is closed, "
        f"leave {1e3 * squared:.0f} mm, and a c in other axes than A loses the platform after {mixed.t[-1]:.2g} s. "
        "Only of elongations is K_s c a force in newtons",
    )


LOOPS = Claim(
    "loops close again",
    "section 2, Figure 1",
    "as springs between opened loops become stiffer, the closures hold again",
    loops_close,
)
WORK = Claim(
    "no work",
    "section 2, equations (11) and (12)",
    "if the springs are very stiff their wrenches do no work in any motion, as those of joints do none",
    no_work,
)
SIGN = Claim("sign", "equations (13) and (20)", "the wrenches of the springs are + K^T K_s c", sign)
REPLACED = Claim(
    "multipliers replaced",
    "section 2, equations (20) and (21)",
    "with K_s c in the place of the multipliers the equations of DeNOC become those of the modified method",
    lambda_becomes_springs,
)
ELONGATIONS = Claim(
    "elongations",
    "abstract, section 2 and conclusion",
    "c has to be the elongations of the springs; with closures written in another way results are wrong",
    elongations,
)
