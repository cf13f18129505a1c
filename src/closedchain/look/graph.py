"""The graph of a mechanism as a picture: bodies are bars, joints are lines between them.

A small layered layout in the manner of Sugiyama, Tagawa and Toda (1981), IEEE Trans. Syst. Man Cybern. 11, 109-125.
The ground is at the bottom and the depth in the tree is the layer; long lines get a place in each layer they pass;
neighbours are ordered so that few lines cross, and then moved above each other. A bar is as wide as what it connects,
where there is room, so that most lines are upright and the picture of a parallel robot looks like the robot.

All lengths are inches on paper.
"""

from __future__ import annotations

from collections.abc import Sequence
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

CHARACTER = 0.073  # width of an average character of the text
GAP = 0.35  # between neighbours
STOREY = 1.05  # between layers
HALF_BAR = 0.15  # half the height of a bar
DOT = 0.115  # radius of the disc that carries a joint's symbol


@dataclass(eq=False)
class Bar:
    """A body, or (without a name) the place where a long line passes a layer."""

    name: str
    layer: int
    limb: int
    half: float = 0.0  # half the least width
    right_margin: float = 0.0  # room for the bar and the names of its joints
    x: float = 0.0
    left: float = 0.0
    right: float = 0.0
    leads_to: int = -1  # of a passing line: the body at its upper end
    near: list[int] = field(default_factory=list)  # bars in the neighbouring layers that lines lead to
    beside: list[int] = field(default_factory=list)  # bars in the same layer


@dataclass(eq=False)
class Line:
    """A joint on its way through the layers: numbers of bars, from the lower end up; ``GROUND`` is the ground."""

    joint: Joint
    limb: int | None  # None for a cut joint
    path: list[int]
    bend: float = 0.0  # place among the joints between the same two bodies, between -1/2 and 1/2


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
    bars, lines, layers = layout(topology)
    left, right = min(b.left for b in bars) - 0.3, max(b.right + b.right_margin for b in bars) + 0.3
    height = STOREY * len(layers)
    figure = Figure(figsize=(min(max(right - left, 4.6) + 0.4, 60.0), height + 1.9), layout="constrained")
    ax = figure.add_subplot()
    ax.set(xlim=(left, right), ylim=(-0.45, height + 0.35), aspect="equal")
    ax.axis("off")

    _draw_ground(ax, left + 0.1, right - 0.1)
    for bar in (b for b in bars if b.name):
        _draw_bar(ax, bar)
    driven = {motor.joint for motor in mechanism.motors.values()}
    labels: list[tuple[float, float, float, float]] = [
        (b.left, b.right, STOREY * b.layer - HALF_BAR, STOREY * b.layer + HALF_BAR) for b in bars if b.name
    ]
    for line in lines:
        _draw_line(ax, line, bars, line.joint.name in driven, labels)
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


def layout(topology: Topology) -> tuple[list[Bar], list[Line], list[list[int]]]:
    """Bars with their places, lines with their paths, and the numbers of the bars in each layer from left to right."""
    depth = _depths(topology)
    bars = [Bar(link.body.name, depth[link.index], link.limb) for link in topology.links]
    lines = []
    for joint in topology.joints:
        link = topology.tree_joints.get(joint.name)
        ends = sorted((topology.link_of[f.body.name] for f in (joint.a, joint.b)), key=lambda i: (_layer(bars, i), i))
        lines.append(_route(bars, joint, None if link is None else link.limb, ends))
    for line in lines:
        for a, b in pairwise(line.path):
            if a != GROUND:
                same = bars[a].layer == bars[b].layer
                (bars[a].beside if same else bars[a].near).append(b)
                (bars[b].beside if same else bars[b].near).append(a)

    _spread_parallels(bars, lines)
    for line in lines:  # the name of a joint stands to the right of its line
        for i in line.path:
            if i != GROUND:
                name = DOT + 0.08 + len(line.joint.name) * CHARACTER - GAP / 2
                bars[i].right_margin = max(bars[i].right_margin, bars[i].half, name)

    layers: list[list[int]] = [[] for _ in range(1 + max(b.layer for b in bars))]
    for i in sorted(range(len(bars)), key=lambda i: i if bars[i].name else bars[i].leads_to):
        layers[bars[i].layer].append(i)
    layers = layers[1:]
    _order(bars, layers)
    _place(bars, layers)
    _widen(bars, layers)
    return bars, lines, layers


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


def _layer(bars: list[Bar], i: int) -> int:
    return 0 if i == GROUND else bars[i].layer


def _route(bars: list[Bar], joint: Joint, limb: int | None, ends: Sequence[int]) -> Line:
    """A line from end to end, with a place in each layer between."""
    low, high = ends
    path = [low]
    for layer in range(_layer(bars, low) + 1, _layer(bars, high)):
        path.append(len(bars))
        bars.append(Bar("", layer, -1, leads_to=high))
    return Line(joint, limb, [*path, high])


def _order(bars: list[Bar], layers: list[list[int]]) -> None:
    """Order each layer so that few lines cross: barycentres first, then exchanges of neighbours."""
    position = {i: float(k) for layer in layers for k, i in enumerate(layer)}
    best, fewest = [list(layer) for layer in layers], _crossings(bars, layers, position)
    for sweep in range(12):
        for layer in layers if sweep % 2 == 0 else reversed(layers):
            middle = {i: np.mean([position[j] for j in bars[i].near + bars[i].beside] or [position[i]]) for i in layer}
            layer.sort(key=lambda i: (middle[i], position[i]))
            position |= {i: float(k) for k, i in enumerate(layer)}
        for layer in layers:
            for k in range(len(layer) - 1):
                before = _crossings(bars, layers, position)
                _swap(layer, k, position)
                if _crossings(bars, layers, position) >= before:
                    _swap(layer, k, position)
        now = _crossings(bars, layers, position)
        if now < fewest:
            best, fewest = [list(layer) for layer in layers], now
        if fewest == 0:
            break
    for layer, order in zip(layers, best, strict=True):
        layer[:] = order


def _swap(layer: list[int], k: int, position: dict[int, float]) -> None:
    layer[k], layer[k + 1] = layer[k + 1], layer[k]
    position[layer[k]], position[layer[k + 1]] = float(k), float(k + 1)


def _crossings(bars: list[Bar], layers: list[list[int]], position: dict[int, float]) -> int:
    """Crossings between layers, and bars that lie between two that are connected side by side."""
    total = 0
    for layer in layers:
        upward = [(position[i], position[j]) for i in layer for j in bars[i].near if bars[j].layer == bars[i].layer + 1]
        total += sum((a - c) * (b - d) < 0 for n, (a, b) in enumerate(upward) for c, d in upward[:n])
        total += sum(int(abs(position[i] - position[j])) - 1 for i in layer for j in bars[i].beside if i < j)
    return total


def _place(bars: list[Bar], layers: list[list[int]]) -> None:
    """Move each bar to the middle of those it is connected with, as far as its neighbours let it."""
    offsets = {}
    for k, layer in enumerate(layers):
        steps = [bars[a].right_margin + GAP + bars[b].half for a, b in pairwise(layer)]
        offsets[k] = np.concatenate([[0.0], np.cumsum(steps)])
        for i, x in zip(layer, offsets[k] - offsets[k].mean(), strict=True):
            bars[i].x = float(x)
    for sweep in range(40):
        order = range(len(layers)) if sweep % 2 == 0 else reversed(range(len(layers)))
        for k in order:
            wanted = np.array([_middle(bars, i) for i in layers[k]])
            places = _nondecreasing(wanted - offsets[k]) + offsets[k]
            for i, x in zip(layers[k], places, strict=True):
                bars[i].x = float(x)


def _middle(bars: list[Bar], i: int) -> float:
    """The middle of the bars that a bar is connected with; those with many connections can reach it anyway."""
    near = bars[i].near
    fewest = min((len(bars[j].near) for j in near), default=0)
    return float(np.mean([bars[j].x for j in near if len(bars[j].near) == fewest] or [bars[i].x]))


def _nondecreasing(y: np.ndarray) -> np.ndarray:
    """The nearest non-decreasing sequence (pool adjacent violators)."""
    pools: list[tuple[float, int]] = []
    for value in y:
        total, count = float(value), 1
        while pools and pools[-1][0] / pools[-1][1] > total / count:
            more, n = pools.pop()
            total, count = total + more, count + n
        pools.append((total, count))
    return np.concatenate([np.full(n, total / n) for total, n in pools])


def _widen(bars: list[Bar], layers: list[list[int]]) -> None:
    """Let bars reach over what they are connected with, where no neighbour is in the way; the most connected first."""
    for bar in bars:
        bar.left, bar.right = bar.x - bar.half, bar.x + bar.half
    places = [(layer, k) for layer in layers for k in range(len(layer)) if bars[layer[k]].name]
    for layer, k in sorted(places, key=lambda place: -len(bars[place[0][place[1]]].near)):
        bar = bars[layer[k]]
        apart = [bars[j].x for j in bar.near if bars[j].right < bar.left + DOT or bars[j].left > bar.right - DOT]
        if not apart:
            continue
        room_left = bars[layer[k - 1]].right + GAP if k > 0 else -np.inf
        room_right = bars[layer[k + 1]].left - GAP if k + 1 < len(layer) else np.inf
        bar.left = min(bar.left, max(min(apart) - 2 * DOT, room_left))
        bar.right = max(bar.right, min(max(apart) + 2 * DOT, room_right))


def _spread_parallels(bars: list[Bar], lines: list[Line]) -> None:
    """Keep joints between the same two bodies apart, on bars that are wide enough for them."""
    for bar in bars:
        bar.half = len(bar.name) * CHARACTER / 2 + 0.12 if bar.name else 0.0
    groups: dict[tuple[int, int], list[Line]] = {}
    for line in lines:
        groups.setdefault((line.path[0], line.path[-1]), []).append(line)
    for (low, high), group in groups.items():
        n = len(group)
        width = sum(2 * DOT + 0.2 + len(line.joint.name) * CHARACTER for line in group)
        for k, line in enumerate(group):
            line.bend = (k - (n - 1) / 2) / n
            for i in (low, high):
                if n > 1 and i != GROUND:
                    bars[i].half = max(bars[i].half, width / 2)


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


def _draw_line(
    ax: Axes, line: Line, bars: list[Bar], driven: bool, taken: list[tuple[float, float, float, float]]
) -> None:
    """A joint: its line, a disc with its symbol (filled if it is driven), and its name where there is room."""
    from matplotlib.patches import Circle, PathPatch
    from matplotlib.path import Path

    free = not line.joint.type.closure
    colour = CUT_COLOUR if line.limb is None else _colour(line.limb)
    style = (0, (4, 2)) if line.limb is None else (0, (1, 2)) if free else "solid"
    vertices, codes, curve = _curve(line, bars)
    ax.add_patch(
        PathPatch(
            Path(vertices, codes),
            facecolor="none",
            edgecolor=colour,
            lw=1.4,
            ls=style,
            zorder=2,
            gid=f"joint {line.joint.name}",
        )
    )

    width = len(line.joint.name) * CHARACTER
    level = abs(curve[0, 1] - curve[-1, 1]) < 1e-9 and line.bend == 0

    def room(x: float, y: float) -> tuple[float, float, float, float]:
        if level:
            return min(x - width / 2, x - DOT), max(x + width / 2, x + DOT), y - DOT, y + DOT + 0.2
        return x - DOT, x + DOT + 0.06 + width, y - DOT, y + DOT

    def trouble(k: int) -> tuple[float, float]:
        a = room(*curve[k])
        overlap = sum(
            max(0.0, min(a[1], b[1]) - max(a[0], b[0])) * max(0.0, min(a[3], b[3]) - max(a[2], b[2])) for b in taken
        )
        return (round(overlap, 3), abs(k / (len(curve) - 1) - 0.5))

    k = min(range(len(curve)), key=trouble)
    x, y = curve[k]
    taken.append(room(x, y))
    face, ink = (colour, "white") if driven else ("white", colour)
    ax.add_patch(Circle((x, y), DOT, facecolor=face, edgecolor=colour, lw=1.1, zorder=5))
    symbol = line.joint.type.symbol
    ax.text(x, y - 0.005, symbol, ha="center", va="center", fontsize=7.5, color=ink, zorder=6)
    halo = {"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 0.4}
    where: dict[str, Any] = {"ha": "center", "va": "bottom"} if level else {"ha": "left", "va": "center"}
    dx, dy = (0.0, DOT + 0.05) if level else (DOT + 0.05, 0.0)
    ax.text(x + dx, y + dy, line.joint.name, fontsize=8, color=colour, zorder=4.5, bbox=halo, parse_math=False, **where)


def _curve(line: Line, bars: list[Bar]) -> tuple[list[tuple[float, float]], list[int], np.ndarray]:
    """Vertices and codes of the line, and points along it where its disc may sit."""
    from matplotlib.path import Path

    vertices: list[tuple[float, float]] = []
    codes: list[int] = []
    points: list[np.ndarray] = []
    s = np.linspace(0.0, 1.0, 21)[:, None]
    for a, b in pairwise(line.path):
        start, end = _ends(a, b, bars, line.bend)
        side = a != GROUND and bars[a].layer == bars[b].layer
        adjacent = side and not any(
            other.layer == bars[a].layer and min(start[0], end[0]) < other.x < max(start[0], end[0]) for other in bars
        )
        if side and (not adjacent or line.bend):
            rise = np.array([0.0, 0.55 + 0.4 * line.bend])  # over the bars between
            control = [start, start + rise, end + rise, end]
        else:
            half = np.array([0.0, (end - start)[1] / 2])
            control = [start, start + half, end - half, end]
        if not vertices:
            vertices.append(tuple(start))
            codes.append(int(Path.MOVETO))
        elif vertices[-1] != tuple(start):
            vertices.append(tuple(start))
            codes.append(int(Path.LINETO))
        vertices += [tuple(c) for c in control[1:]]
        codes += [int(Path.CURVE4)] * 3
        p0, p1, p2, p3 = control
        points.append((1 - s) ** 3 * p0 + 3 * s * (1 - s) ** 2 * p1 + 3 * s**2 * (1 - s) * p2 + s**3 * p3)
    everywhere = np.vstack(points)
    return vertices, codes, everywhere[3:-3]


def _ends(a: int, b: int, bars: list[Bar], bend: float) -> tuple[np.ndarray, np.ndarray]:
    """Where a piece of line leaves its lower bar and meets its upper one: upright if the bars lie above each other."""
    high = bars[b]
    y_high = STOREY * high.layer
    if a == GROUND:
        x = high.x + 2 * high.half * bend
        return np.array([x, 0.0]), np.array([x, y_high - HALF_BAR * bool(high.name)])
    low = bars[a]
    y_low = STOREY * low.layer
    if low.layer == high.layer:
        ordered = (low, high) if low.x < high.x else (high, low)
        xs = {id(ordered[0]): ordered[0].right, id(ordered[1]): ordered[1].left}
        return np.array([xs[id(low)], y_low]), np.array([xs[id(high)], y_high])
    left, right = max(low.left, high.left), min(low.right, high.right)
    if left <= right:
        narrow = min(low, high, key=lambda bar: bar.right - bar.left)
        inset = min(DOT, (right - left) / 2)  # not on the corners
        x = (
            float(np.clip(narrow.x, left + inset, right - inset))
            if bend == 0
            else (left + right) / 2 + (right - left) * bend
        )
        x_low = x_high = x
    elif low.right < high.left:
        x_low, x_high = low.right - DOT * bool(low.name), high.left + DOT * bool(high.name)
    else:
        x_low, x_high = low.left + DOT * bool(low.name), high.right - DOT * bool(high.name)
    return (
        np.array([x_low, y_low + HALF_BAR * bool(low.name)]),
        np.array([x_high, y_high - HALF_BAR * bool(high.name)]),
    )


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
