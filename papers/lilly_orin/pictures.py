"""Figures 1 and 2: the two types of simple closed-chain mechanisms, and what is said of their structure."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from matplotlib.figure import Figure

import closedchain as cc
from closedchain.close.formulation import Choice
from closedchain.derive.equations import derive
from closedchain.look.outline import outline
from closedchain.pose.redundancy import independent_rows
from closedchain.pose.state import State, parameter_vector
from closedchain.results.points import StatePoints
from papers.lilly_orin import machines
from papers.lilly_orin.five_steps import five_steps
from papers.paper import Claim, Finding, judged
from papers.plots import COLOURS

ROUNDING = 1e-9  # of the largest entry: two ways of elimination, with conditions of up to 1e5, differ by 1e-11
INSIDE = 2  # loops inside the chains of `machines.table`
INK = "#222222"
ABOVE = 0.75  # m: a label from the reference member


def drawn(state: State, member: str, title: str, azimuth: float, beside: float) -> Figure:
    """A machine in space: a colour for each chain, the reference member in black; labels are so far from the feet."""
    shape = outline(StatePoints([state]), state.mechanism.values(state.parameters))
    figure = Figure(figsize=(7.0, 4.2))
    ax = figure.add_axes((0.0, 0.04, 1.0, 0.92), projection="3d", computed_zorder=False)
    pins, feet = shape.pins[0][0], shape.pins[0][0][shape.grounded]
    low, high = feet.min(axis=0) - 0.2, feet.max(axis=0) + 0.2
    x, y = np.meshgrid([low[0], high[0]], [low[1], high[1]])
    ax.plot_surface(x, y, 0 * x + feet[:, 2].min(), color="#f0f0f0", shade=False, zorder=0)
    names = list(dict.fromkeys(line.body.split()[0] for line in shape.lines if line.body not in (member, "ground")))
    of = {line.body: -1 if line.body == member else names.index(line.body.split()[0]) for line in shape.lines}
    for line, points in zip(shape.lines, shape.rigid, strict=True):
        x = np.vstack([points[0], points[0][:1]]) if line.ring else points[0]
        ax.plot(*x.T, color=(*COLOURS[: len(names)], INK)[of[line.body]], lw=3, solid_capstyle="round", zorder=2)
    for on_ground, marker, face in ((False, "o", "white"), (True, "^", "#b8b8b8")):
        ax.plot(*pins[shape.grounded == on_ground].T, marker, mfc=face, mec=INK, ms=5, zorder=3)
    for k in range(len(names)):
        own = np.concatenate([x[0] for line, x in zip(shape.lines, shape.rigid, strict=True) if of[line.body] == k])
        foot = feet[np.argmin(np.linalg.norm(feet[:, None] - own, axis=2).min(axis=1))]
        out = foot - feet.mean(axis=0)  # labels stand outside, where no chain is
        place = foot + beside * out / np.linalg.norm(out)
        ax.text(*place, f"chain {k + 1}", color=COLOURS[k], fontsize=9, ha="center", va="center", zorder=4)
    middle = np.concatenate([x[0] for line, x in zip(shape.lines, shape.rigid, strict=True) if line.body == member])
    ax.text(*(middle.mean(axis=0) + [0, 0, ABOVE]), "reference member 0", fontsize=9, ha="center", zorder=4)
    ax.plot(*np.array([middle.mean(axis=0), middle.mean(axis=0) + [0, 0, ABOVE - 0.02]]).T, color=INK, lw=0.6, zorder=4)
    ax.text(
        *feet.mean(axis=0) + [0.22, -0.37, 0] * (high - low),
        "support surface",
        fontsize=9,
        color="#555555",
        ha="center",
        zorder=1,
    )
    ax.set(xlabel="x [m]", ylabel="y [m]", zlabel="z [m]", zlim=(0, 0.8))
    ax.locator_params(nbins=4)
    ax.view_init(elev=30, azim=azimuth)
    ax.set_box_aspect((*(high - low)[:2], 0.8), zoom=1.1)
    figure.suptitle(title, fontsize=10)
    return figure


def figure_1() -> list[Figure]:
    """Three arms that carry a box."""
    m = cc.library.arms_with_box("point", drive="none")
    return [drawn(m.assemble(), "box", "Type 0: three arms with a box on point contacts", -105, 0.28), m.draw_graph()]


def figure_2() -> list[Figure]:
    """A body on six legs."""
    m = machines.vehicle()  # opened at the hips, as the paper does it
    return [drawn(m.assemble(), "body", "Type 1: a hexapod on point feet", -70, 0.45), m.draw_graph()]


# ---- structure -------------------------------------------------------------------------------------------------------


def loops(m: cc.Mechanism, without: str = "") -> int:
    """Independent loops of the graph of bodies and joints, the ground included; a free pose is no joint."""
    joints = [x for x in m.joints.values() if x.type.name != "free" and without not in (x.a.body.name, x.b.body.name)]
    of = {name: name for name in (*m.bodies, "ground") if name != without}

    def root(name: str) -> str:
        return name if of[name] == name else root(of[name])

    for x in joints:
        of[root(x.a.body.name)] = root(x.b.body.name)
    return len(joints) - len(of) + len({root(name) for name in of})


def loops_are_broken() -> Finding:
    """Loops before and after the reference member is taken away."""
    cases: dict[str, tuple[cc.Mechanism, str]] = {
        "arms": (cc.library.arms_with_box("point"), "box"),
        "hexapod": (cc.library.hexapod(), "body"),
        "Gough-Stewart": (cc.library.gough_stewart(), "platform"),
        "table": (machines.table(), "table"),
    }
    whole = {name: loops(m) for name, (m, _) in cases.items()}
    left = {name: loops(m, member) for name, (m, member) in cases.items()}
    told = ", ".join(f"{name} {whole[name]} and {left[name]}" for name in cases)
    return judged(
        all(left[name] == (INSIDE if name == "table" else 0) < whole[name] for name in cases),
        {f"{name}, loops": float(n) for name, n in whole.items()}
        | {f"{name}, left": float(n) for name, n in left.items()},
        f"independent loops before and after: {told}; the two that are left are four-bars inside the legs of the "
        "table, and belong to one chain each. (The drawings have one loop more, since they count the free pose of "
        "the reference member as a joint to the ground)",
    )


def difference(m: cc.Mechanism, seed: int) -> float:
    """Largest relative difference between ``OperationalSpace`` and ``Multipliers``, at random velocities."""
    e, q = derive(m), m.assemble().q
    v = machines.free_velocities(e, q, parameter_vector(m), seed)
    rows = Choice(independent_rows(e, State(m, q, v)).kept)
    one, other = (
        np.array(e.function("a", {"a": method.close(e, rows).a})(0, q, v, parameter_vector(m)))
        for method in (cc.OperationalSpace(), cc.Multipliers())
    )
    return float(np.abs(one - other).max() / np.abs(other).max())


def loops_inside() -> Finding:
    """A table on two legs, each of which has a four-bar."""
    off = difference(machines.table(), 3)
    return judged(
        off < ROUNDING,
        {"difference": off},
        "a table whose two legs have a four-bar each gets, chain by chain, the accelerations that all its equations "
        f"at once give, to {off:.0e}: rows of a loop inside a chain have no part of the reference member, and are "
        "eliminated first",
    )


def any_number_of_freedoms() -> Finding:
    """Chains of 3, 6 and 9 joints on hard points."""
    numbers = {}
    for joints in (3, 6, 9):
        x = machines.general(3, joints)
        found = five_steps(x.member, x.chains)
        numbers[f"N = {joints}"] = float(np.abs(found.a_0 - x.library.a_0).max() / np.abs(x.library.a_0).max())
    told = ", ".join(f"{x:.0e} with {name}" for name, x in numbers.items())
    return judged(
        max(numbers.values()) < ROUNDING,
        numbers,
        f"a_0 by the paper's steps is that of the library to {told}, three chains on hard points; what is to be done "
        "where a chain has fewer freedoms than the joint at its tip locks is another matter, see eq38",
    )


@cache
def both_ends() -> dict[str, float]:
    """The hexapod with chains from the ground (N = 5, n_c = 5) and from the body (N = 3, n_c = 3)."""
    ours = machines.hexapod()
    found = five_steps(ours.member, ours.chains)
    from_body = machines.hexapod_from_the_body()
    size = np.abs(from_body).max()
    return {
        "N": float(ours.chains[0].H.shape[0]),
        "n_c": float(ours.chains[0].Phi_c.shape[1]),
        "from the ground": float(np.abs(found.a_0 - from_body).max() / size),
    }


def one_algorithm() -> Finding:
    """The same steps for arms and for a vehicle, whose legs then begin at the ground."""
    vehicle = both_ends()
    x = machines.arms("point")
    off = float(np.abs(five_steps(x.member, x.chains).a_0 - x.library.a_0).max() / np.abs(x.library.a_0).max())
    return judged(
        max(off, vehicle["from the ground"]) < ROUNDING,
        vehicle | {"arms": off},
        f"the same lines of code give a_0 of three arms with a box to {off:.0e} and, with the feet as the first "
        f"joints of the legs (N = {vehicle['N']:.0f}) and the torques of the hips as known forces at the tips (n_c = "
        f"{vehicle['n_c']:.0f}), a_0 of a moving hexapod to {vehicle['from the ground']:.0e} of what the library "
        "finds with legs that hang on the body (N = 3, n_c = 3)",
    )


def claims(*wanted: tuple[str, str, str, Callable[[], Finding]]) -> tuple[Claim, ...]:
    """Several at once."""
    return tuple(Claim(*x) for x in wanted)


FIG_1 = claims(
    (
        "loops are broken",
        "section I",
        "taking away the reference member breaks the loops that the chains form",
        loops_are_broken,
    ),
    ("loops inside chains", "section I", "a chain may have closed loops of its own", loops_inside),
    (
        "any number of freedoms",
        "section I, Figure 1",
        "a chain may have fewer than six freedoms, six, or more",
        any_number_of_freedoms,
    ),
)
FIG_2 = claims(
    (
        "both types",
        "sections I and VI, Figure 2",
        "with the support surface as the base of every chain one algorithm serves both types",
        one_algorithm,
    ),
)
