"""Figures 1 and 2: positions on the equivalent rigid-link system, and the rules for frames and numbers at joints.

The rules are written out here as the paper has them, from its Table 2 alone, and compared with what the library does.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from closedchain.results.run import Run
from papers.paper import CORRECTED, FAILS, HOLDS, Claim, Exhibit, Finding, Shown, Table, judged
from papers.plots import COLOURS, panels
from papers.vidoni2012.robot import BEAMS, ENDS, STARTS
from papers.vidoni2012.runs import ends, flexible, free_coordinates, rigid, robot

GROUND = (1, 2, 6)  # joints that do not move
WELDED = {4: (7, 8), 5: (5, 11), 7: (7, 9), 9: (8, 9)}  # links of one body at a joint: they share its rotation
ROUNDING = 1e-13  # m: sums of ten or so lengths of half a metre
LAST = 0.25  # s: the sample that is drawn
BY, NEARER = 60, 250  # magnification of displacements in the drawings
GREY = COLOURS[7]

Place = tuple[str, int, int, str]  # "joint", its number, 0, direction; or "link", its number, node, direction


# ---- Figure 1 --------------------------------------------------------------------------------------------------------


def definitions() -> Sequence[Shown]:
    """The robot with its displacements magnified, and the vectors (1) and (2) on link 3."""
    run, figure = flexible(), Figure(figsize=(9.4, 4.4), layout="constrained")
    whole, near = figure.subplots(1, 2, width_ratios=(1, 1.3))
    sample = int(np.searchsorted(run.t, LAST))
    for k in range(1, 12):
        straight, bent = bent_link(run, sample, k, 25, BY)
        whole.plot(*straight.T, color=GREY, lw=1.2)
        whole.plot(*bent.T, color=COLOURS[0], lw=1.8)
    straight, bent = bent_link(run, sample, 3, 41, NEARER)
    near.plot(*straight.T, color=GREY, lw=1.6, label="equivalent rigid link")
    near.plot(*bent.T, color=COLOURS[0], lw=2.2, label="flexible link")
    near.plot(*straight[[0, 20, 40]].T, "s", color=GREY, ms=6)
    near.plot(*bent[[0, 20, 40]].T, "o", color=COLOURS[0], ms=6)
    origin = np.zeros(2)
    vectors = (
        (origin, straight[20], "$r_i$", COLOURS[6]),
        (origin, bent[20], "$b_i$", COLOURS[1]),
        (straight[20], bent[20], "$u_i$", COLOURS[1]),
        (origin, straight[32], "$w_i$", COLOURS[6]),
        (origin, bent[32], "$p_i$", COLOURS[2]),
        (straight[32], bent[32], "$v_i$", COLOURS[2]),
    )
    shifts = {
        "$r_i$": (9, 0),
        "$b_i$": (-9, 3),
        "$u_i$": (0, -11),
        "$w_i$": (10, 0),
        "$p_i$": (-8, -4),
        "$v_i$": (13, -9),
    }
    for tail, tip, name, colour in vectors:
        arrow(near, tail, tip, colour)
        style = {"textcoords": "offset points", "color": colour, "ha": "center", "va": "center", "fontsize": 12}
        near.annotate(name, tail + (0.5 if name in ("$u_i$", "$v_i$") else 0.55) * (tip - tail), shifts[name], **style)
    near.plot(0, 0, "+", color="black", ms=12)
    near.annotate("origin", (0, 0), (8, -4), textcoords="offset points", fontsize=9)
    near.set_xlim(-0.36, 0.09)
    near.legend(fontsize=8, frameon=False, loc="lower left")
    whole.set_title(f"the robot at {LAST:g} s, displacements {BY} times as large", fontsize=10)
    near.set_title(f"link 3, {NEARER} times: $b = r + u$ at nodes, $p = w + v$ between", fontsize=10)
    for ax in (whole, near):
        plain(ax)
    return (figure,)


def bent_link(run: Run, sample: int, k: int, count: int, by: float) -> tuple[np.ndarray, np.ndarray]:
    """Points along a link: on the equivalent rigid link, and with magnified displacements, (count, 2) each."""
    name = f"link{k}"
    length = run.mechanism.values(run.parameters)(run.mechanism.flexible[name].length)
    drawn = np.zeros((count, 3))
    drawn[:, 0] = np.linspace(0.0, length, count)
    one = run.window(run.t[sample] - 1e-9, run.t[sample] + 1e-9)
    straight, bent = (f(name, drawn)[0, :, :2] for f in (one.rigid_points, one.points))
    return straight, straight + by * (bent - straight)


def arrow(ax: Axes, tail: np.ndarray, tip: np.ndarray, colour: str) -> None:
    """A thin arrow."""
    ax.annotate("", tip, tail, arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 1.1, "shrinkA": 0, "shrinkB": 0})


def plain(ax: Axes) -> None:
    """Equal scales, labels, a light grid."""
    ax.set_aspect("equal")
    ax.set_xlabel("x [m]")
    ax.set_ylabel("y [m]")
    ax.grid(color="#dddddd", linewidth=0.6)


def joints_stay_closed() -> Finding:
    """Gaps between deformed ends of links at joints along a run, and loops of the rigid-link system."""
    run = flexible()
    meet = {k: [(link, 0) for link in STARTS if STARTS[link] == k] for k in range(12)}
    for link, end in ENDS.items():
        meet[end].append((link, 1))
    gap = 0.0
    for sample in range(0, len(run.t), 20):
        at = ends(run, sample, deformed=True)
        for here in meet.values():
            places = np.array([at[link][end] for link, end in here])
            gap = max(gap, float(np.ptp(places, axis=0).max())) if len(places) else gap
    rigid, counts = float(run.closure_error.max()), run.counts
    per_call = counts.corrections / counts.evaluations
    about = robot().mobility()
    rows = about.equations - len(about.redundant)
    none_left = gap < ROUNDING and len(run.u.displacement) == len(set(run.displacements))
    return Finding(
        FAILS if not none_left else CORRECTED if per_call > 0 else HOLDS,
        {"gap [m]": gap, "rigid loops [m]": rigid, "Newton steps per evaluation": per_call, "equations": rows},
        f"links stay joined to {gap:.0e} m along the run, because they share displacements: where a floating frame "
        f"needs {rows} closure equations with shapes in them, none is left here. But the rigid links have loops, too: "
        f"their nonlinear equations are solved within each evaluation, with {per_call:.2f} Newton steps on average",
    )


def mutual_influence() -> Finding:
    """Free coordinates of the rigid-link system against those of the robot with rigid links, and its loops."""
    run, there = flexible(), rigid()
    apart = float(np.abs(free_coordinates(run) - free_coordinates(there)).max())
    loops = float(run.closure_error.max())
    bent = float(run.dataset["elastic_energy"].max())
    return judged(
        loops < ROUNDING and apart > 100 * run.rtol,
        {"loops [m]": loops, "free coordinates off rigid links [rad]": apart, "elastic energy [J]": bent},
        f"the rigid-link system moves as a mechanism with rigid links can, whatever u is: its loops are closed to "
        f"{loops:.0e} m or rad. But it does not move as the robot with rigid links does: links that bend, with up to "
        f"{bent:.2f} J, change its free coordinates by up to {apart:.4f} rad in the drop",
    )


# ---- Figure 2 --------------------------------------------------------------------------------------------------------


def frame_of(joint: int) -> int:
    """The link whose frame a joint takes: the lowest that starts there, else the lowest that ends there."""
    starting = [link for link, start in STARTS.items() if start == joint]
    return min(starting or [link for link, end in ENDS.items() if end == joint])


def shared(link: int, node: int, direction: str) -> Place:
    """A displacement of a node, by the name of what it is shared with."""
    joint = STARTS[link] if node == 0 else ENDS[link] if node == BEAMS[link] else -1
    alone = joint < 0 or (direction == "rz" and link not in WELDED.get(joint, ()))
    return ("link", link, node, direction) if alone else ("joint", joint, 0, direction)


def numbered() -> list[Place]:
    """The paper's rule: link after link, node after node; what is met again keeps its first place."""
    order: dict[Place, None] = {}
    for link, beams in BEAMS.items():
        for node in range(beams + 1):
            for direction in ("x", "y", "rz"):
                place = shared(link, node, direction)
                if not (place[0] == "joint" and place[1] in GROUND and direction != "rz"):
                    order[place] = None
    return list(order)


def of_label(label: str) -> tuple[int, Place]:
    """The link in whose axes the library has a displacement, and what it is."""
    body, node, direction = label.split(".")
    link = int(body.removeprefix("link"))
    return link, shared(link, int(node), direction)


def named() -> Run:
    """The drop with motor angles as coordinates: with chords the ends of links 1 and 2 have the axes of these."""
    return flexible(zero="base")


def rule_of_frames() -> Finding:
    """Frames in the library's names of displacements at joints, against the rule."""
    chosen = {}
    for label in named().displacements:
        link, (kind, joint, _, direction) = of_label(label)
        if kind == "joint" and direction != "rz":
            chosen.setdefault(joint, set()).add(link)
    same = sum(links == {frame_of(joint)} for joint, links in chosen.items())
    told = ", ".join(f"joint {joint}: link {frame_of(joint)}" for joint in sorted(chosen))
    return judged(
        same == len(chosen) == 7,
        {"joints": len(chosen), "as the rule says": same},
        f"it settles the frames of all {len(chosen)} joints that move ({told}); at joint 0 no link starts, so that it "
        "takes the axes of link 5, which ends there",
    )


def rule_of_numbers() -> Finding:
    """The library's order of displacements, against the rule."""
    ours, rule = [of_label(label)[1] for label in named().displacements], numbered()
    nodes = sum(beams + 1 for beams in BEAMS.values())
    return Finding(
        HOLDS if ours == rule else FAILS,
        {"displacements": len(rule), "in the same order": sum(a == b for a, b in zip(ours, rule, strict=False))},
        f"the {nodes} nodes of Table 2 have {3 * nodes} displacements; {len(rule)} are left when those that are shared "
        "or on the ground are taken together, and the rule gives each of them one place. What is shared is not said: "
        "at a pin the displacements x and y, at a weld the rotation, too",
    )


def joints() -> Sequence[Shown]:
    """The frame of each joint on the robot, joint 9 from near, and a table."""
    run = flexible()
    at = ends(run)
    figure, (whole, near) = panels("frames of the joints (x axis; y is across)", "joint 9", x="x [m]", y="y [m]")
    figure.set_size_inches(9.4, 4.4)
    for k, (one, two) in at.items():
        whole.plot(*np.array([one, two]).T, color=GREY, lw=2)
        if k in (8, 9, 10):
            near.plot(*np.array([one, two]).T, color=COLOURS[k - 8], lw=2.5)
    moving = sorted({*STARTS.values(), *ENDS.values()} - set(GROUND))
    for joint in moving:
        k = frame_of(joint)
        here = at[k][0 if STARTS[k] == joint else 1]
        along = (at[k][1] - at[k][0]) / np.linalg.norm(at[k][1] - at[k][0])
        arrow(whole, here, here + 0.06 * along, COLOURS[1])
        whole.plot(*here, "o", mfc="white", mec="black", ms=6)
        shift = {3: (-12, 2), 4: (8, -5), 9: (-12, 3), 11: (-16, -3)}.get(joint, (7, 4))
        whole.annotate(f"{joint}", here, shift, textcoords="offset points", fontsize=9)
    for joint in GROUND:
        whole.plot(*at[joint][0], "^", mfc=GREY, mec="black", ms=7)
        whole.annotate(f"{joint}", at[joint][0], (-5, 8), textcoords="offset points", fontsize=9, ha="right")
    nine = at[9][0]
    along = (at[9][1] - at[9][0]) / np.linalg.norm(at[9][1] - at[9][0])
    across = np.array([-along[1], along[0]])
    for direction, name, shift in ((along, "$x_9$", (4, -11)), (across, "$y_9$", (-12, 4))):
        arrow(near, nine, nine + 0.03 * direction, "black")
        near.annotate(name, nine + 0.03 * direction, shift, textcoords="offset points", fontsize=12)
    near.plot(*nine, "o", mfc="white", mec="black", ms=9, zorder=5)
    told = {8: "link 8 ends here", 9: "link 9 starts here:\nthe lowest, its frame", 10: "link 10 starts here"}
    middles = {8: (0.5, (8, 6)), 9: (0.75, (-6, 10)), 10: (0.1, (12, -4))}
    for k, (share, shift) in middles.items():
        there = at[k][0] + share * (at[k][1] - at[k][0])
        style = {"textcoords": "offset points", "fontsize": 9, "color": COLOURS[k - 8]}
        near.annotate(told[k], there, shift, ha="right" if k == 9 else "left", **style)
    near.set_xlim(nine[0] - 0.07, nine[0] + 0.09)
    near.set_ylim(nine[1] - 0.07, nine[1] + 0.06)
    whole.set_xlim(-0.3, 0.3)
    whole.set_ylim(-0.56, 0.12)
    for ax in (whole, near):
        ax.set_aspect("equal")
    return figure, table_of_joints(moving)


def table_of_joints(moving: Sequence[int]) -> Table:
    """Links that start and end at each joint, and what belongs to its node."""
    places, rows = numbered(), []
    for joint in moving:
        starting = [str(link) for link, start in STARTS.items() if start == joint]
        ending = [str(link) for link, end in ENDS.items() if end == joint]
        numbers = [
            f"{places.index(place) + 1} ({place[3]})" for place in places if place[0] == "joint" and place[1] == joint
        ]
        cells = [str(joint), ", ".join(starting) or "none", ", ".join(ending) or "none", f"link {frame_of(joint)}"]
        rows.append([*cells, ", ".join(numbers)])
    note = "The last column has the numbers of the displacements that links share there, among all 50."
    return Table(("joint", "links that start", "links that end", "frame", "displacements"), rows, note)


EXHIBITS = (
    Exhibit(
        "fig1",
        "definitions: the equivalent rigid-link system and displacements from it",
        definitions,
        (
            Claim(
                "no constraint equations",
                "sections Introduction and Constraints for general parallel robots",
                "since displacements are shared when matrices are assembled, compatibility at joints needs no set of "
                "nonlinear algebraic equations",
                joints_stay_closed,
            ),
            Claim(
                "mutual influence",
                "section Introduction",
                "kinematics of the rigid-link system are decoupled from compatibility of the displacements, and the "
                "mutual influence of rigid motion and vibration is not neglected",
                mutual_influence,
            ),
        ),
    ),
    Exhibit(
        "fig2",
        "where links start and end, and whose frame a joint takes",
        joints,
        (
            Claim(
                "frames of joints",
                "section Constraints for general parallel robots, Figure 2",
                "a joint has the frame of the lowest-numbered link that starts there or, if none does, of the lowest "
                "that ends there",
                rule_of_frames,
            ),
            Claim(
                "numbers of displacements",
                "section Constraints for general parallel robots",
                "displacements are numbered link after link, and one that is shared with an earlier link keeps its "
                "place",
                rule_of_numbers,
            ),
        ),
    ),
)
