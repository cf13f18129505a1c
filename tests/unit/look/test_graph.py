"""The picture of the graph: everything is in it, where it belongs, and nothing lies on anything else."""

from itertools import combinations

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Circle

import closedchain as cc
from closedchain.cut.topology import cut
from closedchain.look.graph import CUT_COLOUR, GROUND, HALF_BAR, LIMB_COLOURS, STOREY, layout
from closedchain.model.library import MECHANISMS


def ladder(rungs):
    """A chain of loops, each on top of the one before."""
    m = cc.Mechanism("ladder")
    left = right = None
    for k in range(rungs):
        a, b, rung = (m.body(f"{name}{k}", cc.rod(1.0, 1.0)) for name in ("left", "right", "rung"))
        m.revolute(f"L{k}", m.ground if left is None else left.tip, a)
        m.revolute(f"R{k}", m.ground.at(1, 0, 0) if right is None else right.tip, b)
        m.revolute(f"C{k}", a.tip, rung)
        m.revolute(f"D{k}", rung.tip, b.tip)
        left, right = a, b
    return m


def tangle():
    """Every kind of joint, long lines, joints beside each other, joints within a layer, and two of one pair."""
    m = cc.Mechanism("tangle")
    b = [m.body(f"b{i}", cc.ball(radius=0.1, mass=1)) for i in range(9)]
    m.revolute("j0", m.ground, b[0])
    m.prismatic("j1", b[0], b[1])
    m.cylindrical("j2", b[1], b[2])
    m.universal("j3", b[2], b[3])
    m.spherical("j4", b[3], m.ground)
    m.planar("plane", b[1], b[3])
    m.screw("lead", b[4], b[0], pitch=0.1)
    m.weld("glue", b[4], b[5])
    m.revolute("hinge a", b[5], b[6])
    m.revolute("hinge b", b[5].at(0, 0, 1), b[6].at(0, 0, 1))
    m.revolute("long way round", b[6], m.ground)
    for k in range(3):
        m.revolute(f"k{k}", m.ground, b[7].at(0, 0, k))
    m.revolute("x", b[7], b[8])
    m.spherical("y", b[8], b[2])
    m.spherical("z", b[8], b[6])
    m.motor("j1", force=1.0)
    return m


def floating():
    """A plate that the user's cuts set adrift, on three legs, with a rider."""
    m = cc.Mechanism("floating")
    plate, rider = m.body("plate", cc.box((1, 1, 0.1), 1.0)), m.body("rider", cc.ball(0.1, 1.0))
    for k in range(3):
        leg = m.body(f"leg {k}", cc.rod(1.0, 1.0, radius=0.1))
        m.universal(f"foot {k}", m.ground.at(k, 0, 0), leg)
        m.spherical(f"ankle {k}", leg.tip, plate.at(k, 0, 0), cut=True)
    m.prismatic("ride", plate, rider)
    return m


DRAWINGS = {name: entry.build for name, entry in MECHANISMS.items()} | {
    "ladder": lambda: ladder(5),
    "tangle": tangle,
    "floating": floating,
}


@pytest.fixture(scope="module", params=DRAWINGS)
def drawing(request):
    m = DRAWINGS[request.param]()
    return m, m.draw_graph()


def patches(figure, kind):
    """Patches by the name of their body or joint."""
    start = f"{kind} "
    return {p.get_gid().removeprefix(start): p for p in figure.axes[0].patches if str(p.get_gid()).startswith(start)}


def texts(figure):
    return [text.get_text() for text in figure.axes[0].texts]


# ---- what is in it ---------------------------------------------------------------------------------------------------


def test_every_body_and_joint_is_drawn_and_named(drawing):
    m, figure = drawing
    joints = [j.name for j in cut(m).joints]

    assert isinstance(figure, Figure)
    assert sorted(patches(figure, "body")) == sorted(m.bodies)
    assert sorted(patches(figure, "joint")) == sorted(joints)
    symbols = [j.type.symbol for j in cut(m).joints]
    assert sorted(texts(figure)) == sorted([*m.bodies, *joints, *symbols, "ground"])
    assert sum(isinstance(p, Circle) for p in figure.axes[0].patches) == len(joints)


def test_cut_joints_are_dashed_and_red_and_others_are_not(drawing):
    m, figure = drawing
    topology = cut(m)
    opened = {j.name for j in topology.cuts}
    for name, line in patches(figure, "joint").items():
        red = to_rgb(line.get_edgecolor()) == to_rgb(CUT_COLOUR)
        dashed = line.get_linestyle() not in ("solid", "-")
        free = next(j for j in topology.joints if j.name == name).type.name == "free"

        assert red == (name in opened) and dashed == (name in opened or free)


def test_limbs_have_their_colours(drawing):
    m, figure = drawing
    topology = cut(m)
    bodies, joints = patches(figure, "body"), patches(figure, "joint")
    for link in topology.links:
        colour = to_rgb(LIMB_COLOURS[link.limb % len(LIMB_COLOURS)])
        assert to_rgb(bodies[link.body.name].get_edgecolor()) == colour
        assert to_rgb(joints[link.joint.name].get_edgecolor()) == colour


def test_driven_joints_are_filled():
    m = cc.library.five_bar()
    figure = m.draw_graph()
    filled = [p for p in figure.axes[0].patches if isinstance(p, Circle) and to_rgb(p.get_facecolor()) != (1, 1, 1)]

    assert len(filled) == 2
    assert "driven" in [text.get_text() for text in figure.legends[0].get_texts()]


def test_the_legend_explains_what_is_there_and_nothing_else():
    legend = cc.library.pendulum().draw_graph().legends[0]
    assert [text.get_text() for text in legend.get_texts()] == ["limb 1"]
    assert legend.get_title().get_text() == "R revolute"

    legend = cc.library.slider_crank().draw_graph().legends[0]
    assert [text.get_text() for text in legend.get_texts()] == ["limb 1", "limb 2", "cut", "driven"]
    assert legend.get_title().get_text() == "R revolute, P prismatic"


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("pendulum", "pendulum: 1 body, 1 joint, 0 loops, 0 closure equations"),
        ("four-bar", "four-bar: 3 bodies, 4 joints, 1 loop, 5 closure equations"),
        ("gough-stewart", "gough-stewart: 13 bodies, 19 joints, 6 loops, 18 closure equations"),
    ],
)
def test_the_title_counts(name, title):
    assert MECHANISMS[name].build().draw_graph()._suptitle.get_text() == title


def test_dollar_signs_are_not_mathematics():
    m = cc.Mechanism("price")
    m.revolute("$5", m.ground, m.body("arm for $", cc.rod(1.0, 1.0)))

    assert {"$5", "arm for $"} <= set(texts(m.draw_graph()))


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_the_file_is_written(tmp_path, ending):
    cc.library.four_bar().draw_graph(tmp_path / f"graph.{ending}")

    assert (tmp_path / f"graph.{ending}").stat().st_size > 1000


def test_an_incomplete_drawing_is_refused():
    m = cc.library.pendulum()
    m.body("lonely", cc.ball(1.0, 1.0))

    with pytest.raises(cc.ModelError, match="'lonely'"):
        m.draw_graph()


# ---- where it is -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=DRAWINGS)
def placed(request):
    topology = cut(DRAWINGS[request.param]())
    return (topology, *layout(topology))


def test_depth_is_the_layer(placed):
    """A child is one layer of bodies above its parent; only what floats starts higher."""
    topology, bars, _ = placed
    for link in topology.links:
        if link.parent >= 0:
            assert bars[link.index].layer == bars[link.parent].layer + 2
        elif link.joint.type.name != "free":
            assert bars[link.index].layer == 2


def test_what_floats_is_above_what_carries_it():
    bars, _ = layout(cut(floating()))

    assert {bar.name: bar.layer // 2 for bar in bars} == {"leg 0": 1, "leg 1": 1, "leg 2": 1, "plate": 2, "rider": 3}


def test_lines_lead_from_body_to_body_and_through_no_other(placed):
    """In every layer that a line crosses it passes beside the bars."""
    topology, bars, lines = placed
    for line in lines:
        assert set(line.ends) == {topology.link_of[line.joint.a.body.name], topology.link_of[line.joint.b.body.name]}
        for end, way in zip(line.ends, line.ways, strict=True):
            assert way[0] == (line.x, STOREY * line.layer)
            for x, y in way[1:-1]:
                assert not any(b.left <= x <= b.right for b in bars if STOREY * b.layer == y)
            x, y = way[-1]
            if end == GROUND:
                assert y == 0.0
            else:
                assert bars[end].left <= x <= bars[end].right
                assert abs(y - STOREY * bars[end].layer) == pytest.approx(HALF_BAR)


def test_bars_do_not_overlap(placed):
    _, bars, _ = placed
    for a, b in combinations(bars, 2):
        if a.layer == b.layer:
            left, right = sorted((a, b), key=lambda bar: bar.x)
            assert left.right < right.left + 1e-9


def test_bars_are_wide_enough_for_their_names(placed):
    _, bars, _ = placed

    assert all(bar.left <= bar.x <= bar.right and bar.right - bar.left >= 0.07 * len(bar.name) for bar in bars)


# feet on the ground pass beside the body that carries the legs
LEANING = {"hexapod", "walker"}


@pytest.mark.parametrize("name", [name for name in MECHANISMS if name not in LEANING])
def test_library_mechanisms_are_drawn_without_a_crossing_and_upright(name):
    """So they look like what they are: limbs side by side, a platform across them."""
    bars, lines = layout(cut(MECHANISMS[name].build()))
    for line in lines:
        beside = GROUND not in line.ends and len({bars[i].layer for i in line.ends}) == 1  # an arch
        for way in () if beside else line.ways:
            assert np.ptp([x for x, _ in way]) < 1e-9


def test_names_lie_on_nothing_else(drawing):
    """Measured on the paper: names of joints, their discs, and bodies."""
    m, figure = drawing
    figure.draw_without_rendering()
    axes = figure.axes[0]
    names = {joint.name for joint in cut(m).joints}
    boxes = [text.get_window_extent() for text in axes.texts if text.get_text() in names]
    boxes += [patch.get_window_extent() for patch in axes.patches if isinstance(patch, Circle)]
    boxes += [patch.get_window_extent() for patch in patches(figure, "body").values()]

    assert len(boxes) >= 2 * len(names) + len(m.bodies)
    assert [(a, b) for a, b in combinations(boxes, 2) if a.overlaps(b)] == []


def test_the_same_drawing_gives_the_same_picture():
    first, second = (layout(cut(tangle())) for _ in range(2))

    assert [(bar.x, bar.layer) for bar in first[0]] == [(bar.x, bar.layer) for bar in second[0]]
    assert [line.ways for line in first[1]] == [line.ways for line in second[1]]


def test_a_large_drawing_is_finished():
    figure = ladder(25).draw_graph()

    assert len(patches(figure, "body")) == 75
