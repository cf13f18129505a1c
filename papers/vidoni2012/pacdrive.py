"""The PacDrive robot: rigid (Figure 6), flexible (Figures 7 and 8), pick-and-place (Figures 9 to 11), and the method.

The paper does not give the places of the ground pivots and the directions in the tool; what was chosen is said in
``closedchain.library.pacdrive``. Its curves are compared with Adams there, and here with motions by other
methods of this library.
"""

from __future__ import annotations

import warnings
from functools import cache, partial

import numpy as np

import closedchain as cc
from closedchain.march.erls import choice
from closedchain.march.erls.system import system
from papers.paper import CORRECTED, FAILS, HOLDS, Claim, Finding, judged

ELEMENTS = {f"link{k}": 1 if k in (5, 7, 8, 9, 11) else 2 for k in range(1, 12)}  # Table 2
UNTIL, STIFF = 0.3, 5e12
PERIOD, PERIODS = 0.2, 3  # of the torques of picking and placing
TIMES = np.linspace(0.0, UNTIL, 301)
PLACING = 1e-4  # m: a robot that packs things is asked for no more
SEEN = 0.02  # of the height of a figure: two curves that are nearer look like one
ENERGY = 1e-4  # of the kinetic energy: a hundred steps with errors of rtol each


@cache
def robot(drive: str) -> cc.Mechanism:
    return cc.library.pacdrive(drive=drive, flexible=True)


@cache
def flexible(
    drive: str = "step", E: float = 5e9, until: float = UNTIL, rtol: float = 1e-7, refined: int = 1, **options
):
    """The robot by ERLS with the paper's mesh, or one that is refined so many times, sampled every millisecond."""
    method = cc.ERLS(elements={link: refined * beams for link, beams in ELEMENTS.items()}, **options)
    times = np.linspace(0.0, until, round(until / UNTIL * (len(TIMES) - 1)) + 1)
    return cc.simulate(robot(drive), until=until, method=method, rtol=rtol, t_eval=times, parameters={"E": E})


@cache
def picking(stiff: bool = False, until: float = UNTIL, rtol: float = 1e-5, **options):
    """Picking and placing, as given, or with stiff links."""
    with warnings.catch_warnings():
        # jumps of torques excite modes that are too fast for the steps; they die out, and that costs energy: what it
        # does to the tip is told by `change_by_tolerance`
        warnings.filterwarnings("ignore", "energy of", cc.RunWarning)
        return flexible("pick", STIFF if stiff else 5e9, until, rtol, **options)


@cache
def change_by_tolerance() -> float:
    """How far the tip is elsewhere with a third of rtol, m, in the first 0.1 s (in 0.3 s: 1.4e-5)."""
    finer = tips(picking(until=0.1, rtol=3e-6))
    return float(np.abs(finer - tips(picking())[: len(finer)]).max())


def stiff_picking():
    """Three periods, which cost little."""
    return picking(stiff=True, until=PERIODS * PERIOD)


@cache
def rigid(drive: str = "step") -> cc.Run:
    """The same robot with rigid links."""
    return cc.simulate(cc.library.pacdrive(drive=drive), until=UNTIL, rtol=1e-9, t_eval=TIMES)


def tips(run) -> np.ndarray:
    """Positions of the tool's point, (time, 2)."""
    return run.frame(run.mechanism.output).position.values[:, :2]


def rigid_limit() -> Finding:
    """E = 5e12 Pa against rigid links."""
    stiff, there = flexible(E=STIFF, rtol=1e-5), rigid()
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
        off < SEEN * way,
        {"difference [rad]": off, "way [rad]": way},
        f"the free coordinate of link 1 differs by at most {off:.4f} rad on a way of {way:.2f} rad: "
        f"{100 * off / way:.1f} % of the height of the figure",
    )


def tip_deforms() -> Finding:
    """The tip of the flexible robot against that of the rigid one, in x."""
    off = np.abs(tips(flexible()) - tips(rigid()))[:, 0].max()
    return judged(
        off > 1e-3,
        {"difference in x [m]": float(off)},
        f"the x coordinate of the tip differs by up to {1e3 * off:.1f} mm from that with rigid links",
    )


def up_and_down() -> Finding:
    """The free coordinate of link 1 with stiff links, through three periods of the torques."""
    q = stiff_picking().rigid["joint1"].values
    turns = int((np.diff(np.sign(np.diff(q))) != 0).sum())
    later = round(PERIOD / UNTIL * (len(TIMES) - 1))
    off, way = float(np.abs(q[later:] - q[:-later]).max()), float(np.ptp(q))
    up_and_down = turns == 2 * PERIODS
    return Finding(
        (HOLDS if off < 0.1 * way else CORRECTED) if up_and_down else FAILS,
        {"turns": turns, "change in a period [rad]": off, "way [rad]": way},
        f"link 1 turns back {turns} times in {PERIODS} periods of the torques, once up and once down in each; but the "
        f"motion does not repeat: from a period to the next it is off by up to {off:.2f} rad on a way of {way:.2f} "
        "rad, since the links swing under their weight, too (with our places of the pivots)",
    )


def off_rigid(axis: int) -> Finding:
    """A coordinate of the tip while picking and placing, against links a thousand times as stiff."""
    soft, stiff = tips(picking()), tips(stiff_picking())[: len(TIMES)]
    off, way = float(np.abs(soft - stiff)[:, axis].max()), float(np.ptp(stiff[:, axis]))
    return judged(
        off > PLACING > 3 * change_by_tolerance(),
        {"difference [m]": off, "way [m]": way, "change with a third of rtol [m]": change_by_tolerance()},
        f"in {UNTIL} s the {'xy'[axis]} coordinate of the tip differs by up to {1e3 * off:.2f} mm from that with stiff "
        f"links, on a way of {1e3 * way:.0f} mm",
    )


def stressed() -> Finding:
    """The largest strain in a driven link."""
    run = picking()
    stress = max(float(np.abs(run.stress(f"link{k}")["von_mises"].values).max()) for k in (1, 2))
    strain = stress / run.mechanism.parameters["E"]
    return judged(
        strain > 1e-3,
        {"stress [Pa]": stress, "strain": strain},
        f"stresses in links 1 and 2 reach {1e-6 * stress:.0f} MPa, a strain of {1e2 * strain:.2f} %: mild steel yields "
        "at some 0.1 %",
    )


def beams_of_table_2() -> Finding:
    """Twice as many beams in every link, in the first 0.1 s of picking and placing."""
    few, more, stiff = (tips(run)[:101] for run in (picking(), picking(until=0.1, refined=2), stiff_picking()))
    mesh, all_of_it = (float(np.abs(more - other).max()) for other in (few, stiff))
    return judged(
        mesh < 0.1 * all_of_it,
        {"change by more beams [m]": mesh, "effect of flexibility [m]": all_of_it},
        f"with twice as many beams the tip is elsewhere by up to {1e3 * mesh:.2f} mm within 0.1 s, where flexibility "
        f"moves it by {1e3 * all_of_it:.2f} mm: torques that jump excite modes that two beams do not have",
    )


def serial_robots() -> Finding:
    """Two links in a line with locked motors: a clamped beam of both lengths; and the order of displacements."""
    m, length, EI, mass = cc.Mechanism("two links", gravity=(0, 0, 0)), 0.5, 100.0, 4.704
    before = m.ground
    for k in (1, 2):
        link = m.body(f"link{k}", cc.rod(length, mass * length))
        link.flexible(1.0, cc.Section(A=3e6, Iz=EI), modes=cc.modes.craig_bampton(y=1))
        m.revolute(f"joint{k}", before, link)
        m.motor(f"joint{k}", torque=0.0)
        before = link.tip
    m.start = {"joint1": 0.0, "joint2": 0.0}
    method = cc.ERLS(elements=12)
    found = cc.erls_modes(m, method=method, locked=True, count=3).frequencies
    roots = np.array([1.875104068711961, 4.694091132974174, 7.854757438237613])
    exact = (roots / (2 * length)) ** 2 * np.sqrt(EI / mass) / (2 * np.pi)
    off = float(np.abs(found / exact - 1).max())
    names = cc.simulate(m, until=1e-3, method=method).displacements
    in_order = [int(name[4]) for name in names] == sorted(int(name[4]) for name in names)
    return judged(
        off < 1e-4 and in_order,
        {"frequencies, relative": off, "in order": float(in_order)},
        f"two links in a line with locked motors have the first three frequencies of a clamped beam to {off:.0e}, and "
        "displacements are numbered from the base to the tip",
    )


def other_robots() -> Finding:
    """A 3-RRR with six flexible links, and a Delta with six flexible rods, which move as fast as robots do."""
    numbers, told, good = {}, [], True
    triple, delta = cc.library.rrr3(flexible=True), cc.library.delta(flexible=True)
    turning = triple.assemble(triple.start, velocity=dict.fromkeys(("base1", "base2", "base3"), 2.0))
    for name, m, start in (("3-RRR", triple, turning), ("Delta", delta, delta.assemble())):
        run = cc.simulate(m, start, until=0.05, method=cc.ERLS(elements=2), rtol=1e-6)
        lost, motion = float(np.abs(run.energy_error.values).max()), float(run.dataset["kinetic_energy"].max())
        tip = float(run.tip_deflection(m.output)["distance"].max())
        good = good and run.good and lost < ENERGY * motion and tip > 1e-6
        numbers |= {f"{name}, energy lost [J]": lost, f"{name}, kinetic energy [J]": motion, f"{name}, tip [m]": tip}
        told.append(
            f"a {name} with flexible links keeps its energy to {lost:.0e} J where it moves with {motion:.2g} J, its "
            f"tip displaced by up to {1e3 * tip:.2f} mm"
        )
    return judged(good, numbers, "; ".join(told))


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
    """Determinants of the block of J = dr/dq at zeroed displacements: across driven links, at motors, in the tool."""
    m = robot("step")
    made = system(m, m.assemble(), cc.ERLS(elements=ELEMENTS))
    J = made.rigid(made.start.t, made.start.q)
    labels = made.labels[made.n_chain : made.n_chain + made.n_u]

    def health(*names: str) -> float:
        which = [labels.index(name) for name in names]
        return abs(float(choice.health(J[which], choice.units(J, made.turning, tuple(which)))))

    across, motors = made.health, health("link1.0.rz", "link2.0.rz")
    tool = health("link5.1.rz", "link11.0.rz")
    good, bad = min(across, motors) > choice.POOR, tool < choice.REGULAR
    return Finding(
        FAILS if not good else CORRECTED if bad else HOLDS,
        {"across driven links": across, "at motors": motors, "in the tool": tool},
        "as many displacements as there are free coordinates are enough where J = dr/dq is regular at them (1 well, 0 "
        f"not at all): it is {across:.2f} across the driven links and {motors:.2f} at the motors, but {tool:.0e} for "
        "rotations of the tool, which never turns: not every choice will do",
    )


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
        "pick and place",
        "section A general pick-and-place trajectory, Figure 9",
        "under a periodic square torque the robot goes up and down, and the free coordinates are periodic",
        up_and_down,
    ),
    Claim(
        "tip in x",
        "section A general pick-and-place trajectory, Figure 10",
        "deformations are not negligible in the x coordinate of the tip",
        partial(off_rigid, 0),
    ),
    Claim(
        "tip in y",
        "section A general pick-and-place trajectory, Figure 11",
        "deformations are not negligible in the y coordinate of the tip",
        partial(off_rigid, 1),
    ),
    Claim(
        "stressed links",
        "section A general pick-and-place trajectory",
        "picking and placing, the links are quite stressed",
        stressed,
    ),
    Claim(
        "beams of table 2",
        "Table 2",
        "two beams for a long link and one for a short one are taken to predict deformations",
        beams_of_table_2,
    ),
    Claim(
        "serial robots",
        "section Simulation and validation",
        "serial robots are a special case, with the rules for frames and numbers that they had",
        serial_robots,
    ),
    Claim(
        "other robots",
        "section Simulation and validation",
        "the same equations serve other parallel robots, such as a 3-RRR",
        other_robots,
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
