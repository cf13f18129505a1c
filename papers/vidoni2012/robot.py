"""Figure 5 and Tables 1 and 2: the PacDrive robot, its links and its mesh."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

import numpy as np

import closedchain as cc
from papers.paper import CORRECTED, FAILS, HOLDS, Claim, Exhibit, Finding, Shown, Table, judged
from papers.plots import COLOURS, panels
from papers.vidoni2012.runs import (
    SOFT,
    SPREAD,
    STIFF,
    TABLE_2,
    change_by_tolerance,
    ends,
    flexible,
    mesh,
    picking,
    rigid,
    robot,
    stiff_picking,
    tips,
)

# as printed: Table 1 has length, b_y, c_z (m); the same density, modulus and Poisson's ratio for all links
PRINTED = {
    1: (0.20, 0.02, 0.03), 2: (0.20, 0.02, 0.03), 3: (0.50, 0.02, 0.03), 4: (0.50, 0.02, 0.03), 5: (0.05, 0.01, 0.03),
    6: (0.20, 0.01, 0.02), 7: (0.07, 0.01, 0.02), 8: (0.07, 0.01, 0.02), 9: (0.07, 0.01, 0.02), 10: (0.50, 0.01, 0.02),
    11: (0.07, 0.01, 0.02),
}  # fmt: skip
DENSITY, POISSON = 7840.0, 0.33
# as printed: Table 2
STARTS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 5, 6: 6, 7: 7, 8: 4, 9: 9, 10: 9, 11: 11}
ENDS = {1: 3, 2: 4, 3: 5, 4: 5, 5: 0, 6: 7, 7: 4, 8: 9, 9: 7, 10: 11, 11: 5}
BEAMS = {1: 2, 2: 2, 3: 2, 4: 2, 5: 1, 6: 2, 7: 1, 8: 1, 9: 1, 10: 2, 11: 1}

# of joint numbers in the sketch, points
LABELS = {
    0: (7, -4), 1: (-14, 4), 2: (-4, -14), 3: (-14, 2), 4: (8, -6), 6: (-12, 3), 7: (5, 5), 9: (-12, 3), 11: (-17, -3),
}  # fmt: skip

STEEL = 2.1e11  # Pa: of what weighs 7840 kg/m^3 in machines
ROUNDING = 1e-12  # relative, of products of the numbers of a table
UPRIGHT = 1e-8  # rad: closures are kept to some 1e-10 in the rigid run
MESH = 0.1  # of what flexibility does to the tip: a mesh that changes more of it does not predict it


# ---- Figure 5 --------------------------------------------------------------------------------------------------------


def sketch() -> Sequence[Shown]:
    """The robot at the start of both simulations, with lengths and joint numbers."""
    starts = (
        (flexible(), "start of the drop, q = (-170, -10) degrees"),
        (picking(), "start of picking, q = (-140, -40) degrees"),
    )
    figure, axes = panels(*(title for _, title in starts), x="x [m]", y="y [m]")
    figure.set_size_inches(9.4, 5.2)
    for ax, (run, _) in zip(axes, starts, strict=True):
        at = ends(run)
        for k, (one, two) in at.items():
            passive = k in (6, 7, 8, 9, 10, 11)
            ax.plot(*np.array([one, two]).T, color=COLOURS[0 if not passive else 1], lw=2.6 if not passive else 1.6)
            short = k in (7, 8, 9, 11)
            normal = np.array([two[1] - one[1], one[0] - two[0]]) / np.linalg.norm(two - one)
            side, far = {2: -1, 4: -1, 6: -1}.get(k, 1), 19 if k in (3, 4, 10) else 11
            if not short:
                style = {"textcoords": "offset points", "fontsize": 8, "ha": "center", "va": "center"}
                shift = (24, 0) if k == 5 else far * side * normal
                text = f"{PRINTED[k][0]:g} m"
                ax.annotate(
                    text,
                    one + (0.22 if k == 2 else 0.5) * (two - one),
                    shift,
                    color=COLOURS[0 if not passive else 1],
                    **style,
                )
        for joint in sorted({*STARTS.values(), *ENDS.values()}):
            k = next((k for k in STARTS if STARTS[k] == joint), 5)
            here = at[k][0 if STARTS[k] == joint else 1]
            ground = joint in (1, 2, 6)
            ax.plot(*here, "^" if ground else "o", mfc="#b8b8b8" if ground else "white", mec="black", ms=6, zorder=5)
            ax.annotate(f"{joint}", here, LABELS.get(joint, (6, 6)), textcoords="offset points", fontsize=10)
        ax.set_aspect("equal")
        ax.set_xlim(-0.34, 0.34)
        ax.set_ylim(-0.68, 0.13)
    axes[0].plot([], [], color=COLOURS[0], lw=2.6, label="pentagon 1-3-5-4-2 and tool")
    axes[0].plot([], [], color=COLOURS[1], lw=1.6, label="passive frame (short sides 0.07 m)")
    figure.legend(fontsize=9, frameon=False, loc="outside lower center", ncols=2)
    return (figure,)


def two_freedoms() -> Finding:
    """Mobility of the robot as drawn, and the planar count with links 5 and 11 pinned."""
    m = cc.library.pacdrive(drive="none")
    found = m.mobility()
    bodies, pins = len(m.bodies), len(m.joints)
    drawn, pinned = 3 * bodies - 2 * pins, 3 * (bodies + 1) - 2 * (pins + 1)
    right = found.true == 2 and {"joint1", "joint2"} <= set(found.possible)
    return Finding(
        FAILS if not right else CORRECTED if pinned != 2 else HOLDS,
        {"mobility": found.true, "planar count": drawn, "if links 5 and 11 were pinned": pinned},
        f"the robot with the passive frame has {found.true} freedoms, and the angles of links 1 and 2 are independent "
        f"({bodies} bodies and {pins} pins in the plane: {drawn}); but links 5 and 11, which the table has as two, "
        f"must be one body: with a pin between them there would be {pinned}",
    )


def upright() -> Finding:
    """How far tool and triangle turn, with rigid and with flexible links."""
    stiff = max(_turn(rigid(), body) for body in ("tool", "triangle"))
    soft = _turn(flexible(), "link5")
    at = ends(flexible())
    slope, tool = (math.degrees(math.atan2(*(b - a)[::-1])) % 360 for a, b in (at[11][::-1], at[5]))
    return judged(
        stiff < UPRIGHT and abs(slope - 150) < UPRIGHT and abs(tool - 270) < UPRIGHT,
        {"rigid links [rad]": stiff, "flexible links [rad]": soft, "5-11 [deg]": slope, "tool [deg]": tool},
        f"from joint 5 to 11 it is {slope:.0f} degrees, 120 less than the {tool:.0f} of the tool; with rigid links "
        f"neither tool nor triangle turns by more than {stiff:.0e} rad in the whole drop. (With flexible links the "
        f"tool turns by up to {1e3 * soft:.1f} mrad)",
    )


def _turn(run, body: str) -> float:
    R = run.frame(body).rotation.values
    angle = np.unwrap(np.arctan2(R[:, 1, 0], R[:, 0, 0]))
    return float(np.abs(angle - angle[0]).max())


# ---- Table 1 ---------------------------------------------------------------------------------------------------------


def links() -> Sequence[Shown]:
    """The numbers of our model."""
    m, rows = robot(), []
    value = m.values()
    for k in PRINTED:
        beam = m.flexible[f"link{k}"]
        E, length, area, depth = (value(x) for x in (beam.E, beam.length, beam.section.A, beam.section.y))
        mass = value(beam.body.properties.mass)
        cells = [f"{length:.2f}", f"{mass / (length * area):.0f}", f"{E:.0e}", f"{2 * depth:.2f}"]
        cells += [f"{area / (2 * depth):.2f}", f"{E / (2 * value(beam.G)) - 1:.2f}", f"{mass:.4f}"]
        rows.append([str(k), *cells, f"{E * value(beam.section.Iz):.3g}"])
    names = ("link", "length [m]", "rho [kg/m^3]", "E [Pa]", "b_y [m]", "c_z [m]", "nu", "mass [kg]", "E I_z [N m^2]")
    note = "The last two columns follow from the others: b_y is the depth in the plane in which the links bend."
    return (Table(names, rows, note),)


def as_existing_robots() -> Finding:
    """The numbers of the model against the table, and its first frequency against that of steel."""
    m = robot()
    value, off = m.values(), 0.0
    for k, (length, depth, width) in PRINTED.items():
        beam = m.flexible[f"link{k}"]
        pairs = ((value(beam.length), length), (value(beam.section.Iz), width * depth**3 / 12), (value(beam.E), SOFT))
        pairs += ((value(beam.body.properties.mass), length * depth * width * DENSITY),)
        pairs += ((value(beam.E) / (2 * value(beam.G)) - 1, POISSON),)
        off = max(off, *(abs(ours / theirs - 1) for ours, theirs in pairs))
    soft, steel = first_frequencies(SOFT)[0], first_frequencies(STEEL)[0]
    return Finding(
        FAILS if off > ROUNDING else CORRECTED if STEEL / SOFT > 2 else HOLDS,
        {"model against table, relative": off, "first mode [Hz]": soft, "of steel [Hz]": steel},
        f"lengths and sections are those of a small packaging robot, but links that weigh {DENSITY:.0f} kg/m^3 are "
        f"steel, which is {STEEL / SOFT:.0f} times as stiff as the table says: the first mode with free motors is at "
        f"{soft:.1f} Hz, of steel links it would be at {steel:.0f} Hz. So the flexibility is exaggerated, as the "
        "section on flexible links says, too",
    )


@cache
def first_frequencies(E: float, beams: tuple[int, int] = TABLE_2) -> tuple[float, ...]:
    """The first six frequencies with free motors at the start of the drop, Hz."""
    m = robot()
    found = m.modes(m.assemble(SPREAD, parameters={"E": E}), method=cc.ERLS(elements=mesh(beams)), count=6)
    return tuple(found.frequencies.tolist())


# ---- Table 2 ---------------------------------------------------------------------------------------------------------


def joints_and_beams() -> Sequence[Shown]:
    """Where links start and end in our drawing, and the size of the mesh; frequencies of meshes."""
    at, rows = ends(flexible()), []
    for k in STARTS:
        rows.append([str(k), str(_joint(at, k, 0)), str(_joint(at, k, 1)), str(_beams(k))])
    note = "Starting and ending joints are read from the places of the ends of links in our drawing."
    meshes = (TABLE_2, (4, 2), (8, 4))
    frequencies = [first_frequencies(SOFT, beams) for beams in meshes]
    modes = Table(
        ("mode", *(f"{long} beams in long links, {short} in short ones" for long, short in meshes)),
        [[str(k + 1), *(f"{f[k]:.2f} Hz" for f in frequencies)] for k in range(6)],
        "Frequencies at the start of the drop with free motors.",
    )
    return Table(("link", "starting joint", "ending joint", "beams"), rows, note), modes


def _joint(at: dict[int, np.ndarray], link: int, end: int) -> int:
    """The number of the joint at which an end of a link lies: that of the lowest link that starts there, 0 if none
    does.
    """
    here = [k for k in at if np.abs(at[k][0] - at[link][end]).max() < 1e-9]
    return min(here) if here else 0


def _beams(link: int) -> int:
    return len(flexible().solution.system.mesh.nodes_of(f"link{link}")) - 1


def beams_of_table_2() -> Finding:
    """Twice as many beams in every link, in the first 0.1 s of picking and placing, and in the smooth drop."""
    few, more, stiff = (tips(run)[:101] for run in (picking(), picking(until=0.1, beams=(4, 2)), stiff_picking()))
    change, all_of_it = (float(np.abs(more - other).max()) for other in (few, stiff))
    smooth = float(np.abs(tips(flexible("smooth")) - tips(flexible("smooth", beams=(4, 2)))).max())
    bends = float(np.abs(tips(flexible("smooth")) - tips(flexible("smooth", STIFF))).max())
    return judged(
        change < MESH * all_of_it,
        {
            "change by more beams [m]": change,
            "effect of flexibility [m]": all_of_it,
            "change, torques with ramps [m]": smooth,
            "effect, torques with ramps [m]": bends,
            "change with a third of rtol [m]": change_by_tolerance(0.1),
        },
        f"with twice as many beams the tip is elsewhere by up to {1e3 * change:.2f} mm within 0.1 s, where flexibility "
        f"moves it by {1e3 * all_of_it:.2f} mm: torques that jump excite modes that two beams do not have. Where they "
        f"rise and fall in 20 ms (the drop of Figure 7) the mesh of the table is enough: "
        f"{1e3 * smooth:.3f} mm of {1e3 * bends:.2f} mm",
        otherwise=CORRECTED if smooth < MESH * bends else FAILS,
    )


EXHIBITS = (
    Exhibit(
        "fig5",
        "the PacDrive robot with lengths and joint numbers",
        sketch,
        (
            Claim(
                "two freedoms",
                "section Simulation and validation, Figure 5",
                "with rigid links the pentagon has two freedoms, and the passive frame adds none",
                two_freedoms,
            ),
            Claim(
                "upright tool",
                "section Simulation and validation, Figure 5",
                "two parallelograms and the triangle keep the link from joint 5 to 11 at 150 degrees, so that with an "
                "angle of 120 degrees the tool is always perpendicular to the ground",
                upright,
            ),
        ),
    ),
    Exhibit(
        "table1",
        "mechanical parameters",
        links,
        (
            Claim(
                "parameters of existing robots",
                "section Simulation and validation, Table 1",
                "the mechanical parameters are similar to those of existing robots",
                as_existing_robots,
            ),
        ),
    ),
    Exhibit(
        "table2",
        "starting and ending joints, and beams of each link",
        joints_and_beams,
        (
            Claim(
                "beams of table 2",
                "Table 2",
                "two beams for a long link and one for a short one are taken to predict deformations",
                beams_of_table_2,
            ),
        ),
    ),
)
