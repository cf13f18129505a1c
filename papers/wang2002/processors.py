"""Limbs on several processors: what can be computed apart, how much faster that can be, and what one processor does.

Operations are counted exactly from the equations, as they are shared out by `closedchain.parallel`: no machine and no
neighbour changes them. The largest possible speed-up is that of processors that tell each other everything in no time:
all operations by those of the member that has most to do.
"""

from __future__ import annotations

import warnings
from functools import cache

import casadi as ca
import numpy as np

import closedchain as cc
from closedchain.close.formulation import Formulation
from closedchain.derive.equations import derive
from closedchain.march.program.compiled import compiled
from closedchain.parallel import shares
from closedchain.parallel.cutting import Cutting
from papers.paper import CORRECTED, FAILS, HOLDS, Claim, Finding, Table, judged
from papers.plots import COLOURS, panels
from papers.wang2002 import platform, rigid
from papers.wang2002.platform import DAMPING, STIFFNESS

SPRINGS = cc.VirtualSpring(STIFFNESS, DAMPING)
METHODS: dict[str, Formulation] = {"virtual springs": SPRINGS, "operational space (multipliers)": cc.OperationalSpace()}
MEMBERS = (1, 2, 3, 7)
FIFTEEN = 15.0  # 6 s by 0.4 s
MUCH = 4.0  # half of eight processors
ALIKE = 1.5  # times: as much work, or half as much again
REAL_TIME_STEP = 1e-3  # s
A_PROCESSOR = 1e8  # operations a second: what an ordinary one did in 2000


@cache
def alone(method: Formulation) -> int:
    """Operations of one evaluation on one processor."""
    return busiest(method, 1)


@cache
def shared(method: Formulation, members: int):
    """The equations shared out; see `closedchain.parallel.teams.Parts`."""
    return cc.Threads(members).cut(compiled(platform.mechanism("open").assemble(), method, native=False))


def busiest(method: Formulation, members: int) -> int:
    """Operations of the member that has most to do."""
    return max(member.operations for member in shared(method, members).rhs.members)


@cache
def eight() -> Cutting:
    """Shared out to eight members: six legs, and the platform's translations and rotations apart."""
    program = compiled(platform.mechanism("open").assemble(), SPRINGS, native=False)
    top = program.equations.topology
    traced = shares.trace_limbs(program, False)
    labels = [*top.q_labels, *top.v_labels]
    turning = {f"pose.{x}" for x in ("qw", "qx", "qy", "qz", "wx", "wy", "wz")}
    owner = [7 if k < len(labels) and labels[k] in turning else limb for k, limb in enumerate(traced.limbs)]
    mine = [[i for i, member in enumerate(owner) if member == r] for r in range(8)]
    graph = traced.rhs.reordered(list(range(len(traced.rhs))))[0]  # a copy
    return Cutting(graph, owner, mine)


def told(cutting: Cutting) -> int:
    """Numbers that members tell each other in an evaluation."""
    return sum(p.length for r in cutting.members for x in r.parcels for p in x if p.sender == r.number)


def show_blocks():
    """The inertia matrix (39): where it has entries."""
    e = derive(platform.mechanism("open"))
    pattern = np.array(ca.DM(e.M.sparsity(), 1))
    figure, (ax,) = panels("inertia matrix (39): entries", x="velocity", y="velocity")
    figure.set_size_inches(5.2, 4.8)
    ax.grid(False)
    ax.spy(pattern, markersize=5, color=COLOURS[0])
    for k, (begin, end) in enumerate(blocks()):
        square = np.array([(begin, begin), (end, begin), (end, end), (begin, end), (begin, begin)]) - 0.5
        ax.plot(*square.T, color=COLOURS[1], linewidth=1.2, label="blocks of the paper" if k == 0 else None)
    ax.legend(fontsize=8, loc="upper right")
    return [figure]


def blocks() -> list[tuple[int, int]]:
    """Rows of the eight blocks in our order of velocities: translations and rotations of the platform, six legs."""
    labels = platform.mechanism("open").assemble().topology.v_labels
    groups = [("pose.v",), ("pose.w",), *((f"leg{k} ",) for k in platform.LEGS)]
    found = [[i for i, label in enumerate(labels) if label.startswith(group)] for group in groups]
    return [(min(rows), max(rows) + 1) for rows in found]


def show_members():
    """Operations of each member."""
    cuttings = [(name, method, shared(method, n).rhs) for name, method in METHODS.items() for n in MEMBERS]
    cuttings.insert(len(MEMBERS), (next(iter(METHODS)), SPRINGS, eight()))
    rows = []
    for name, method, cutting in cuttings:
        each = [member.operations for member in cutting.members]
        limit = f"{alone(method) / max(each):.2f}"
        rows.append([name, f"{len(each)}", " ".join(map(str, each)), f"{told(cutting)}", f"{cutting.totals}", limit])
    note = (
        "Operations of one evaluation of all 24 accelerations by each processor, numbers that they tell each other, "
        "numbers that are added up over all of them, and the largest possible speed-up. Eight: the platform's "
        "translations and rotations apart."
    )
    columns = ["method", "processors", "operations of each", "numbers told", "numbers added up", "speed-up at most"]
    return [Table(columns, rows, note)]


def eight_blocks() -> Finding:
    """Entries of the inertia matrix outside the eight blocks; and those of a body with its centre of mass elsewhere."""
    pattern = np.array(ca.DM(derive(platform.mechanism("open")).M.sparsity(), 1))
    entries, inside = int(pattern.sum()), 0
    for begin, end in blocks():
        inside += int(pattern[begin:end, begin:end].sum())
    m = cc.Mechanism("a body")
    m.free("pose", m.ground, m.body("body", cc.rigid(mass=1.5, com=(0.1, 0.2, 0.3), inertia=(0.08, 0.08, 0.08))))
    between = int(np.array(ca.DM(derive(m).M.sparsity(), 1))[:3, 3:].sum())
    return judged(
        entries == inside and len(pattern) == 24,
        {"entries": entries, "outside the blocks": entries - inside, "between, with an offset": between},
        f"the 24 x 24 matrix has {entries} entries, none of them outside eight blocks of 3 x 3. The platform has two "
        f"of them because its centre of mass is at O' in the example: else there are {between} entries between "
        "translations and rotations, and it has one of 6 x 6",
    )


def eight_processors() -> Finding:
    """The largest possible speed-up by seven and by eight processors."""
    most7, one = busiest(SPRINGS, 7), alone(SPRINGS)
    most8 = max(member.operations for member in eight().members)
    by7, by8 = one / most7, one / most8
    return Finding(
        HOLDS if by8 > MUCH else CORRECTED if by8 > 1.2 else FAILS,
        {"speed-up by 7": by7, "speed-up by 8": by8, "operations": one, "busiest of 7": most7, "busiest of 8": most8},
        f"eight can be used, but not to much avail: of {one} operations the platform alone has {most7}, since all six "
        f"springs pull at it, so seven processors are at most {by7:.1f} times as fast as one, and eight {by8:.1f} "
        "times; a leg has little to do",
    )


def coupled() -> Finding:
    """Multipliers by Lilly and Orin, shared out: what is common to all, and what the busiest has to do."""
    method = cc.OperationalSpace()
    numbers = shared(method, 7).rhs.totals
    most, springs = busiest(method, 7), busiest(SPRINGS, 7)
    m, start = platform.mechanism("open"), platform.mechanism("open").assemble()
    runs = [cc.simulate(m, start, 0.2, method=x, rtol=1e-10, t_eval=[0, 0.2]) for x in (method, cc.Multipliers())]
    off = float(np.abs(platform.place(runs[0]) - platform.place(runs[1])).max())
    return Finding(
        FAILS if most < ALIKE * springs and off < 1e-8 else HOLDS,
        {"numbers added up": numbers, "busiest of 7": most, "springs, busiest of 7": springs}
        | {"operations": alone(method), "speed-up by 7": alone(method) / most, "off from multipliers [m]": off},
        "the platform on its legs is what Lilly and Orin solve chain by chain: each leg eliminates its own forces, "
        f"and one sum of {numbers} numbers, a symmetric 6 x 6 matrix and a vector, is all that is common, however "
        f"many legs there are. On seven processors the busiest has {most} operations in an evaluation, where it has "
        f"{springs} with springs; that is up to {alone(method) / most:.1f} times as fast as one processor, and loops "
        "stay closed",
    )


def fifteen_times() -> Finding:
    """The largest possible speed-up by three processors."""
    cutting = shared(SPRINGS, 3).rhs
    limit = alone(SPRINGS) / busiest(SPRINGS, 3)
    return judged(
        limit >= FIFTEEN,
        {"largest possible": limit, "operations": alone(SPRINGS), "busiest of 3": busiest(SPRINGS, 3)}
        | {"numbers told": told(cutting)},
        f"three processors cannot be more than three times as fast as one, and here not more than {limit:.2f} times, "
        f"before they have told each other {told(cutting)} numbers: of {alone(SPRINGS)} operations of an evaluation "
        f"the busiest has {busiest(SPRINGS, 3)}. The rest of the 15 is, as the paper says, less calling of functions "
        f"and less waiting between submodels: a better program, at least {FIFTEEN / limit:.0f} times as fast, which "
        "one processor could have run, too",
    )


def seven_submodels() -> Finding:
    """Limbs of the model."""
    limbs, sent = shared(SPRINGS, 7).limbs, told(shared(SPRINGS, 7).rhs)
    return judged(
        len(limbs) == 7,
        {"limbs": len(limbs), "numbers told": sent},
        f"there are {len(limbs)} limbs, six legs and the platform, and {sent} numbers in all are told between them in "
        "an evaluation: places and velocities of the cut points, and the power of motors",
    )


def decoupled() -> Finding:
    """Entries of the inertia matrix between limbs, and numbers that a limb must know of others in an evaluation."""
    e, cutting = derive(platform.mechanism("open")), shared(SPRINGS, 7).rhs
    pattern = np.array(ca.DM(e.M.sparsity(), 1))
    between = int(pattern.sum()) - sum(int(pattern[i:j, i:j].sum()) for i, j in blocks())
    sent = told(cutting)
    return Finding(
        FAILS if between else HOLDS if sent == 0 else CORRECTED,
        {"entries between limbs": between, "numbers told": sent},
        "accelerations are: with the forces of the springs given, each limb has a system of its own. The forces are "
        f"not: they need both sides of each cut, so that {sent} numbers have to be told in every single evaluation "
        "before any limb can go on",
    )


@cache
def work(method: Formulation) -> int:
    """Operations of a second of the platform's motion by dopri5 at rtol = 1e-6, corrections included."""
    m = platform.mechanism("open")
    run = cc.simulate(m, until=1.0, method=method, solver="dopri5", rtol=1e-6, t_eval=[0.0, 1.0])
    correct = run.program.correct.counts.total if run.program.correct else 0
    return run.counts.evaluations * run.program.rhs.counts.total + run.counts.corrections * correct


def small_systems() -> Finding:
    """Operations of springs and of exact methods: for the four-bar, and for the platform."""
    data = rigid.comparison()
    small = {str(x): float(data["run_operations"].sel(formulation=x)) for x in data["formulation"].values}
    springs, joints = work(SPRINGS), work(cc.Multipliers())
    by_small = small["virtual spring"] / min(small["multipliers"], small["closed form"])
    by_large = springs / joints
    shared_out = by_large * busiest(SPRINGS, 7) / alone(SPRINGS)
    return judged(
        by_small > 1.0,
        {"four-bar, ratio": by_small, "platform, ratio": by_large, "platform, springs on 7": shared_out}
        | {"platform, springs": springs, "platform, multipliers": joints},
        f"for the four-bar a spring takes {by_small:.0f} times as many operations as the cheapest of them. But for "
        f"the platform springs take {by_large:.1f} times as many as multipliers, too, at the same tolerance; "
        f"seven processors without any cost of messages would bring that to {shared_out:.1f}",
    )


@cache
def in_real_time() -> tuple[int, float]:
    """Operations for a second of motion by fixed steps, and how far the platform is off at its end, m."""
    m, h = platform.mechanism("open"), REAL_TIME_STEP
    with warnings.catch_warnings():
        # a step of fixed length promises no accuracy; what it has is told by the platform's place
        warnings.filterwarnings("ignore", "energy of", cc.RunWarning)
        run = cc.simulate(m, until=1.0, method=SPRINGS, solver=cc.solvers.RK4(step=h), t_eval=[0.0, 1.0])
    off = float(np.abs(platform.place(run)[-1] - platform.place(platform.springs())[500]).max())
    return run.counts.evaluations * alone(SPRINGS), off


def real_time() -> Finding:
    """What a second of motion takes on one processor."""
    needed, off = in_real_time()
    return judged(
        needed < A_PROCESSOR and off < 1e-3,
        {"operations for a second": needed, "off at 1 s [m]": off},
        f"with Runge-Kutta steps of {1e3 * REAL_TIME_STEP:g} ms a second of motion takes {1e-6 * needed:.1f} million "
        f"operations and has the platform right to {off:.0e} m at its end: one processor of the year 2000, at some "
        f"{A_PROCESSOR:.0e} operations a second, would have been {A_PROCESSOR / needed:.0f} times faster than real "
        "time; several are not needed for it",
    )


BLOCKS = (
    Claim(
        "eight blocks",
        "section 2.2, equation (39)",
        "the 24 x 24 inertia matrix has eight blocks on its diagonal and nothing else",
        eight_blocks,
    ),
    Claim(
        "eight processors",
        "section 2.2, after equation (43)",
        "eight processors can be used, and make the solution much faster",
        eight_processors,
    ),
)
COUPLED = (
    Claim(
        "multipliers are coupled",
        "sections 1 and 2.1",
        "with multipliers there is no such decoupling, since a global linear system has to be solved for them",
        coupled,
    ),
)
SMALL = (
    Claim(
        "small systems",
        "section 3",
        "for simple and small systems the other approaches might be more efficient than springs",
        small_systems,
    ),
)
THREE = (
    Claim(
        "completely decoupled",
        "abstract, sections 1, 3 and 4",
        "with virtual springs the dynamic model is completely decoupled",
        decoupled,
    ),
    Claim(
        "seven submodels",
        "section 3.2.3",
        "the model has seven submodels, so seven processors can be used",
        seven_submodels,
    ),
    Claim(
        "fifteen times",
        "section 3.2.3",
        "three processors are almost 15 times as fast as one: 0.4 s against 6 s",
        fifteen_times,
    ),
)
REAL_TIME = (
    Claim(
        "real time",
        "section 4",
        "the platform has been simulated in real time, with several processors",
        real_time,
    ),
)
