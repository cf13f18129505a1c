"""The graph of a mechanism as a picture: bodies are bars, joints are discs on lines between them.

A layered drawing (Sugiyama, Tagawa, Toda 1981, IEEE Trans. Syst. Man Cybern. 11, 109-125), arranged by grandalf. The
ground is at the bottom and the depth in the tree is the layer. Joints have layers of their own between those of bodies,
so that names do not overlap. A bar is as wide as what it connects, where there is room: most lines are upright, and the
picture of a parallel robot looks like the robot.

All lengths are inches on paper.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from closedchain.cut.topology import Topology, cut
from closedchain.model.mechanism import Mechanism
from closedchain.model.parts import Joint
from closedchain.results.files import saved

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LIMB_COLOURS = ("#0072b2", "#009e73", "#cc79a7", "#56b4e9", "#b8860b", "#6a51a3", "#7f7f7f", "#8c564b")
CUT_COLOUR = "#d62728"
GROUND = -1
Way = list[tuple[float, float]]

CHARACTER = 0.073  # width of an average character of the text
GAP = 0.35  # between neighbours
STOREY = 0.525  # between layers
HALF_BAR = 0.15  # half the height of a bar
SWEEPS = 10  # through all layers, to cross fewer lines
DOT = 0.115  # radius of the disc that carries a joint's symbol


@dataclass(eq=False)
class Bar:
    """A body. Bodies have even layers, from 2 on."""

    name: str
    limb: int
    layer: int
    x: float = 0.0
    left: float = 0.0
    right: float = 0.0


@dataclass(eq=False)
class Line:
    """A joint: a disc in an odd layer, and lines from there to its two bodies."""

    joint: Joint
    limb: int | None  # None for a cut joint
    ends: tuple[int, int]  # numbers of bars, the lower first; ``GROUND`` is the ground
    layer: int
    x: float = 0.0
    ways: tuple[Way, Way] = field(default_factory=lambda: ([], []))  # points from the disc to each end


def draw_graph(mechanism: Mechanism, path: Any = None) -> Figure:
    """Draw the graph of a mechanism: its bodies, joints, limbs, cuts and motors.

    Parameters
    ----------
    mechanism
        What to draw.
    path
        Where to save the figure; the kind of file follows from the ending.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> import closedchain as cc
    >>> figure = cc.library.four_bar().draw_graph()
    """
    from matplotlib.figure import Figure

    topology = cut(mechanism)
    bars, lines = layout(topology)
    passed = [x for line in lines for way in line.ways for x, _ in way]
    left = min(*passed, *(line.x - _room(line)[0] for line in lines), *(b.left for b in bars)) - 0.3
    right = max(*passed, *(line.x + _room(line)[1] for line in lines), *(b.right for b in bars)) + 0.3
    height = STOREY * max(*(bar.layer for bar in bars), *(line.layer for line in lines))
    figure = Figure(figsize=(min(max(right - left, 4.6) + 0.4, 60.0), height + 1.9), layout="constrained")
    ax = figure.add_subplot()
    ax.set(xlim=(left, right), ylim=(-0.45, height + 0.35), aspect="equal")
    ax.axis("off")

    _draw_ground(ax, left + 0.1, right - 0.1)
    for bar in bars:
        _draw_bar(ax, bar)
    driven = {motor.joint for motor in mechanism.motors.values()}
    for line in lines:
        _draw_line(ax, line, line.joint.name in driven)
    closures = sum(6 - j.type.nv for j in topology.cuts)
    figure.suptitle(
        f"{mechanism.name}: {_count(len(mechanism.bodies), 'bodies')}, {_count(len(mechanism.joints), 'joints')}, "
        f"{_count(len(topology.cuts), 'loops')}, {_count(closures, 'closure equations')}",
        fontsize="medium",
        parse_math=False,
    )
    _draw_legend(figure, topology, bool(driven))
    return saved(figure, path)


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number != 1 else f"1 {'body' if what == 'bodies' else what[:-1]}"


# ---- layout ----------------------------------------------------------------------------------------------------------


def layout(topology: Topology) -> tuple[list[Bar], list[Line]]:
    """Bars and lines with their places; bars in the order of links, lines in that of joints."""
    bars = [
        Bar(link.body.name, link.limb, 2 * depth) for link, depth in zip(topology.links, _depths(topology), strict=True)
    ]
    lines = [_line(topology, bars, joint) for joint in topology.joints]
    _arrange(bars, lines)
    _widen(bars, lines)
    for line in lines:
        for end, way in zip(line.ends, line.ways, strict=True):
            if end != GROUND:
                way[-1] = _meet(bars[end], *way[-2])
    return bars, lines


def _depths(topology: Topology) -> list[int]:
    """Depth of each link. What hangs on a free joint alone floats above everything that cuts connect it with."""
    depth: list[int] = []
    for link in topology.links:
        depth.append(1 + (0 if link.parent < 0 else depth[link.parent]))
    for link in topology.links:
        if link.parent >= 0 or link.joint.type.closure:
            continue
        family = [i for i in range(len(topology.links)) if link.index in topology.path(i)]
        outside = [
            depth[other]
            for joint in topology.cuts
            for a, b in ((joint.a, joint.b), (joint.b, joint.a))
            if topology.link_of[a.body.name] in family
            and (other := topology.link_of[b.body.name]) not in family
            and other >= 0
        ]
        for i in family:
            depth[i] += max(outside, default=0)
    return depth


def _line(topology: Topology, bars: list[Bar], joint: Joint) -> Line:
    """A joint just below the higher one of its bodies; above both if they are in one layer."""
    link = topology.tree_joints.get(joint.name)
    layers = {topology.link_of[f.body.name]: 0 for f in (joint.a, joint.b)}
    layers = {i: 0 if i == GROUND else bars[i].layer for i in layers}
    low, high = sorted(layers, key=lambda i: (layers[i], i))
    layer = layers[high] + (1 if layers[low] == layers[high] else -1)
    return Line(joint, None if link is None else link.limb, (low, high), layer)


def _arrange(bars: list[Bar], lines: list[Line]) -> None:
    """Place bars and discs, and the points that lines pass in the layers between."""
    from grandalf.graphs import Edge, Graph, Vertex
    from grandalf.layouts import SugiyamaLayout, VertexViewer

    def vertex(thing: Bar | Line | None = None) -> Any:
        made = Vertex(thing)
        made.view = VertexViewer(sum(_room(thing)), 2 * HALF_BAR)
        return made

    ground, bodies = vertex(), [vertex(bar) for bar in bars]
    vertices, edges = [ground, *bodies], []
    ways: list[tuple[Way, list[Any], range]] = []
    for line in lines:
        disc = vertex(line)
        vertices.append(disc)
        for end, way in zip(line.ends, line.ways, strict=True):
            target, last = (0, ground) if end == GROUND else (bars[end].layer, bodies[end])
            step = 1 if target > line.layer else -1
            between = [vertex() for _ in range(line.layer + step, target + (step if end == GROUND else 0), step)]
            path = [disc, *between, last]
            vertices += between
            edges += [Edge(*(pair if step > 0 else reversed(pair))) for pair in pairwise(path)]
            ways.append((way, path, range(line.layer, target + step, step)))
    picture = SugiyamaLayout(Graph(vertices, edges).C[0])
    picture.xspace = GAP
    picture.init_all(roots=[ground])
    picture.draw(SWEEPS)

    x = {v: v.view.xy[0] for v in vertices}
    scale = 1.0
    for row in picture.layers:
        for a, b in pairwise(sorted(row, key=lambda v: x[v])):
            scale = max(scale, (_room(a.data)[1] + GAP + _room(b.data)[0]) / (x[b] - x[a]))
    for thing in vertices:
        if thing.data is not None:
            thing.data.x = scale * x[thing]
    for way, path, levels in ways:
        way += [(scale * x[v], STOREY * level) for v, level in zip(path, levels, strict=False)]


def _room(thing: Bar | Line | None) -> tuple[float, float]:
    """Least room to the left and right; the name of a joint stands to the right of its disc."""
    if thing is None:
        return 0.0, 0.0
    if isinstance(thing, Bar):
        return (len(thing.name) * CHARACTER / 2 + 0.12,) * 2
    return DOT, DOT + 0.08 + len(thing.joint.name) * CHARACTER


def _widen(bars: list[Bar], lines: list[Line]) -> None:
    """Let bars reach over what they are connected with, where no neighbour is in the way; the most connected first."""
    for bar in bars:
        half = _room(bar)[0]
        bar.left, bar.right = bar.x - half, bar.x + half
    discs = {i: [line.x for line in lines if i in line.ends] for i in range(len(bars))}
    for i in sorted(discs, key=lambda i: -len(discs[i])):
        bar = bars[i]
        beside = [(other.left, other.right) for other in bars if other.layer == bar.layer and other is not bar]
        beside += [(x, x) for line in lines for way in line.ways for x, y in way[1:-1] if y == STOREY * bar.layer]
        room_left = max((b + GAP for _, b in beside if b < bar.x), default=-np.inf)
        room_right = min((a - GAP for a, _ in beside if a > bar.x), default=np.inf)
        bar.left = min(bar.left, max(min(discs[i]) - 2 * DOT, room_left))
        bar.right = max(bar.right, min(max(discs[i]) + 2 * DOT, room_right))


def _meet(bar: Bar, x: float, y: float) -> tuple[float, float]:
    """Where a line from a point meets a bar: upright below or above the point, if the bar is there."""
    edge = HALF_BAR if y > STOREY * bar.layer else -HALF_BAR
    return float(np.clip(x, bar.left + DOT, bar.right - DOT)), STOREY * bar.layer + edge


# ---- drawing ---------------------------------------------------------------------------------------------------------


def _colour(limb: int) -> str:
    return LIMB_COLOURS[limb % len(LIMB_COLOURS)]


def _draw_ground(ax: Axes, left: float, right: float) -> None:
    from matplotlib.patches import Rectangle

    ax.add_patch(Rectangle((left, -0.3), right - left, 0.3, facecolor="white", edgecolor="#999999", hatch="////", lw=0))
    ax.plot([left, right], [0.0, 0.0], color="black", lw=1.8, solid_capstyle="butt")
    box = {"facecolor": "white", "edgecolor": "none", "boxstyle": "round,pad=0.15"}
    ax.text((left + right) / 2, -0.16, "ground", ha="center", va="center", fontsize=8.5, bbox=box)


def _draw_bar(ax: Axes, bar: Bar) -> None:
    from matplotlib.colors import to_rgb
    from matplotlib.patches import FancyBboxPatch

    y, colour = STOREY * bar.layer, _colour(bar.limb)
    pale = tuple(0.82 + 0.18 * c for c in to_rgb(colour))
    ax.add_patch(
        FancyBboxPatch(
            (bar.left + 0.05, y - HALF_BAR + 0.05),
            bar.right - bar.left - 0.1,
            2 * HALF_BAR - 0.1,
            boxstyle="round,pad=0.05",
            facecolor=pale,
            edgecolor=colour,
            lw=1.2,
            zorder=3,
            gid=f"body {bar.name}",
        )
    )
    ax.text(
        (bar.left + bar.right) / 2,
        y - 0.005,
        bar.name,
        ha="center",
        va="center",
        fontsize=8.5,
        zorder=4,
        parse_math=False,
    )


def _draw_line(ax: Axes, line: Line, driven: bool) -> None:
    """A joint: its line, a disc with its symbol (filled if it is driven), and its name."""
    from matplotlib.patches import Circle, PathPatch
    from matplotlib.path import Path

    free = not line.joint.type.closure
    colour = CUT_COLOUR if line.limb is None else _colour(line.limb)
    style = (0, (4, 2)) if line.limb is None else (0, (1, 2)) if free else "solid"
    path = Path.make_compound_path(*(_curve(way) for way in line.ways))
    name = f"joint {line.joint.name}"
    ax.add_patch(PathPatch(path, facecolor="none", edgecolor=colour, lw=1.4, ls=style, zorder=2, gid=name))

    x, y = line.x, STOREY * line.layer
    face, ink = (colour, "white") if driven else ("white", colour)
    ax.add_patch(Circle((x, y), DOT, facecolor=face, edgecolor=colour, lw=1.1, zorder=5))
    symbol = line.joint.type.symbol
    ax.text(x, y - 0.005, symbol, ha="center", va="center", fontsize=7.5, color=ink, zorder=6)
    halo = {"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 0.4}
    where: dict[str, Any] = {"ha": "left", "va": "center", "parse_math": False}
    ax.text(x + DOT + 0.05, y, line.joint.name, fontsize=8, color=colour, zorder=4.5, bbox=halo, **where)


def _curve(points: list[tuple[float, float]]) -> Any:
    """A smooth line through points, upright in each of them."""
    from matplotlib.path import Path

    vertices, codes = [points[0]], [Path.MOVETO]
    for (xa, ya), (xb, yb) in pairwise(points):
        middle = (ya + yb) / 2
        vertices += [(xa, middle), (xb, middle), (xb, yb)]
        codes += [Path.CURVE4] * 3
    return Path(vertices, codes)


def _draw_legend(figure: Figure, topology: Topology, driven: bool) -> None:
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], color=_colour(k), lw=1.6, label=f"limb {k + 1}") for k in range(len(topology.limbs))]
    if topology.cuts:
        handles.append(Line2D([], [], color=CUT_COLOUR, lw=1.6, ls=(0, (4, 2)), label="cut"))
    if driven:
        handles.append(Line2D([], [], marker="o", ls="none", ms=8, color="#444444", label="driven"))
    kinds = dict.fromkeys(joint.type for joint in topology.joints)
    rows = int(np.ceil(len(handles) / max(1, int(figure.get_figwidth() / 0.95))))
    figure.legend(
        handles=handles,
        title=", ".join(f"{kind.symbol} {kind.name}" for kind in kinds),
        title_fontsize="x-small",
        loc="outside lower center",
        ncols=int(np.ceil(len(handles) / rows)),
        fontsize="x-small",
        frameon=False,
    )
