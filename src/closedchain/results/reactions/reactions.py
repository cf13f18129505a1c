"""Reactions in every joint, tree joints and cut joints alike, in any axes and about any point.

How they are found is told in `results.reactions.newton_euler`: from the balance of each body, whatever the formulation.
What is needed is a motion at samples (`Samples`), which a run has, and efforts along a path as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from closedchain.errors import ModelError
from closedchain.model.parts import Body, Frame, Joint
from closedchain.results.reactions.at_joints import holders
from closedchain.results.reactions.wrenches import Reactions, joined, seen, wrenches
from closedchain.results.samples import Samples

if TYPE_CHECKING:
    import xarray

    from closedchain.march.segment import Segment

Place = Frame | Body | str

# With more samples than are kept, reactions are found in batches, and again for whoever asks: of a four-bar they take
# some 4 kB a sample.
KEPT, BATCH = 20_000, 2_000

NOT_BALANCED = "the reactions do not balance the bodies {}: the motion is not consistent there"
UNIQUE = "whether the equations determine the component, at all samples"


class Moved(Protocol):
    """What has a motion at samples: a run, or what a motion takes."""

    @property
    def _reactions(self) -> dict[Any, Reactions]:
        """Those of all joints that were asked for, by stiffness."""

    def _samples(self) -> Sequence[Samples]:
        """The motion, piece by piece."""


def reaction(
    source: Moved,
    joint: str,
    axes: Place = "world",
    stiffness: Mapping[str, float] | None = None,
    *,
    about: Place = "second",
    on: Body | str | None = None,
) -> xarray.Dataset:
    """Reaction in a joint over time: moment and force of its first body on its second.

    ``force_unique`` and ``moment_unique`` tell, for each of the axes asked for, whether the component is determined at
    all samples. Of over-constrained mechanisms some are not; given is then the distribution with the least
    ``sum (|force|^2 + |moment|^2 / length^2) / stiffness`` over all joints, where the length is the largest distance
    between two joint frames, or a joint frame and the centre of mass, of one moving body (1 m if there is none). It
    depends on the drawing alone, and so the reactions on the state alone.

    An open joint has no reaction but what motors, springs, drives and gears still give along it, which is unique. At a
    singular pose there may be no forces that keep up the motion that is prescribed: such a sample is NaN, and does not
    count for what is unique.

    Parameters
    ----------
    source
        The motion.
    joint
        Name of any joint.
    axes
        ``"world"``; ``"joint"`` or ``"second"``: those of the joint's first or second frame; or those of any frame: a
        `Frame`, a body or its name, ``"body.frame"``.
    stiffness
        Relative stiffness of joints by name, for mechanisms that are over-constrained; one where not given.
    about
        The point of the moment: ``"second"`` or ``"first"``: the origin of that frame of the joint; or of any frame.
    on
        The body that the wrench acts on: the joint's second one if not given, or its first one.

    Raises
    ------
    ModelError
        If there is no such joint, frame or body, or if the bodies are out of balance at every sample.

    Examples
    --------
    Four hinges in space leave open how they share what acts across their plane.

    >>> import closedchain as cc
    >>> run = cc.simulate(cc.library.four_bar(), until=0.5, t_eval=[0.0, 0.5])
    >>> run.reaction("B", axes="coupler", on="coupler")["force_unique"].values
    array([ True,  True, False])
    """
    import xarray

    looks = [(found.of(joint), _look(found.part([joint]), axes, about)) for found in _in_batches(source, stiffness)]
    look = _together([look for _, look in looks])
    sign, acting = _acting(looks[0][0], on)
    return xarray.Dataset(
        {
            "force": (("time", "axis"), sign * look.force[:, 0], {"units": "N"}),
            "moment": (("time", "axis"), sign * look.moment[:, 0], {"units": "N m"}),
            "force_unique": ("axis", look.force_unique[0], look.told | {"about": UNIQUE}),
            "moment_unique": ("axis", look.moment_unique[0], look.told | {"about": UNIQUE}),
        },
        coords={"time": ("time", look.t, {"units": "s"}), "axis": list("xyz")},
        attrs={"joint": joint, **look.told, **acting},
    )


def reaction_table(
    source: Moved, axes: Place = "world", stiffness: Mapping[str, float] | None = None, *, about: Place = "second"
) -> xarray.Dataset:
    """The reactions of all joints that carry something, as `reaction` gives each, side by side along ``joint``.

    ``.to_dataframe()`` makes a table of it, with a row for each time, joint and axis.
    """
    import xarray

    look = _together([_look(found, axes, about) for found in _in_batches(source, stiffness)])
    return xarray.Dataset(
        {
            "force": (("time", "joint", "axis"), look.force, {"units": "N"}),
            "moment": (("time", "joint", "axis"), look.moment, {"units": "N m"}),
            "force_unique": (("joint", "axis"), look.force_unique, look.told | {"about": UNIQUE}),
            "moment_unique": (("joint", "axis"), look.moment_unique, look.told | {"about": UNIQUE}),
        },
        coords={"time": ("time", look.t, {"units": "s"}), "joint": list(look.joints), "axis": list("xyz")},
        attrs={**look.told, "of": "each joint's first body", "on": "its second"},
    )


def reactions(source: Moved, stiffness: Mapping[str, float] | None = None) -> Reactions:
    """Reactions in all joints at all samples of a motion, kept for the next one who asks."""
    key = tuple(sorted((stiffness or {}).items()))
    if key not in source._reactions:
        pieces = source._samples()
        pieces = [samples for samples in pieces if len(samples)] or pieces[:1]
        source._reactions[key] = joined([wrenches(samples, stiffness) for samples in pieces])
    found = source._reactions[key]
    if found.wrench.size and np.isnan(found.wrench).all():
        where = f"at t = {found.t[0]:.6g} s" if len(found.t) == 1 else "at any of the samples"
        raise ModelError(NOT_BALANCED.format(where))
    return found


def _in_batches(source: Moved, stiffness: Mapping[str, float] | None) -> Iterator[Reactions]:
    """Reactions of all samples, those of very many samples some at a time: of these nothing is kept."""
    pieces = source._samples()
    if sum(map(len, pieces)) <= KEPT:
        yield reactions(source, stiffness)
        return
    for samples in pieces:
        for part in samples.batches(BATCH) if len(samples) else ():
            yield wrenches(part, stiffness)


def samples_of_segments(segments: Sequence[Segment], out: dict[str, np.ndarray]) -> list[Samples]:
    """The motion of a march, piece by piece; ``out`` are its results at all samples."""
    ends = np.cumsum([len(s.trajectory.t) for s in segments])
    return [
        _piece(s, out["a"][end - len(s.trajectory.t) : end], out["lam"][end - len(s.trajectory.t) : end])
        for s, end in zip(segments, ends, strict=True)
    ]


def _piece(segment: Segment, a: np.ndarray, lam: np.ndarray) -> Samples:
    """One piece of a run: the forces of springs in closures are known, and those of what holds open joints."""
    program, open_ = segment.program, segment.start.open_joints
    e, t = program.equations, np.asarray(segment.trajectory.t)
    whole = program.whole(t, np.asarray(segment.trajectory.x), segment.p)
    q, v = whole[:, : e.topology.nq], whole[:, e.topology.nq : -1]
    loosened = [
        e.closure.joints.index(name)
        for name, acting in holders(e, frozenset()).items()
        if name not in open_ and any(joint in open_ for (joint, _), _ in acting)
    ]
    rows = program.rows if program.method.all_rows else loosened
    return Samples(e, t, q, v, a, segment.p, closing={row: lam[:, row] for row in rows}, open_joints=open_)


# ---- how it is looked at -------------------------------------------------------------------------------------------


class _Look(NamedTuple):
    """Force and moment (time, joint, 3), whether they are unique (joint, 3), names of axes and point, joints, times."""

    force: np.ndarray
    moment: np.ndarray
    force_unique: np.ndarray
    moment_unique: np.ndarray
    told: dict[str, str]
    joints: tuple[str, ...]
    t: np.ndarray


def _together(looks: Sequence[_Look]) -> _Look:
    """The reactions of a motion from those of its batches."""
    if len(looks) == 1:
        return looks[0]
    force, moment, t = (np.concatenate([getattr(x, name) for x in looks]) for name in ("force", "moment", "t"))
    if force.size and np.isnan(force).all():
        raise ModelError(NOT_BALANCED.format("at any of the samples"))
    force_unique, moment_unique = (
        np.all([getattr(x, name) for x in looks], axis=0) for name in ("force_unique", "moment_unique")
    )
    return looks[0]._replace(force=force, moment=moment, t=t, force_unique=force_unique, moment_unique=moment_unique)


def _look(found: Reactions, axes: Place, about: Place) -> _Look:
    """Reactions in axes and about a point."""
    shape = found.r_second.shape
    world = np.broadcast_to(np.eye(3), (*shape, 3))
    named_axes = {"world": world, "joint": found.R_first, "second": found.R_second}
    named_points = {"second": found.r_second, "first": found.r_first}
    told = {"axes": axes, "moment_about": about}
    if isinstance(axes, str) and axes in named_axes:
        R = named_axes[axes]
    else:
        frame = _frame(found, axes, "axes", named_axes)
        told["axes"] = _name(frame)
        R = np.broadcast_to(found.pose(frame)[0][:, None], world.shape)
    if isinstance(about, str) and about in named_points:
        r = named_points[about]
    else:
        frame = _frame(found, about, "about", named_points)
        told["moment_about"] = _name(frame)
        r = np.broadcast_to(found.pose(frame)[1][:, None], shape)
    wrench = seen(found.wrench[..., None], R, found.r_second - r)[..., 0]
    unique = found.determined(R, r)
    return _Look(wrench[..., 3:], wrench[..., :3], unique[:, 3:], unique[:, :3], told, found.joints, found.t)  # type: ignore[arg-type]


def _frame(found: Reactions, place: Place, what: str, words: Iterable[str]) -> Frame:
    """A frame by itself, its body or its name."""
    if isinstance(place, Body):
        return place["origin"]
    if isinstance(place, Frame):
        return place
    mechanism = found.pieces[0][0].equations.topology.mechanism
    try:
        return mechanism.find_frame(place)
    except ModelError as no:
        known = ", ".join(map(repr, words))
        raise ModelError(f"{what} must be one of {known}, or a frame, not {place!r}: {no}") from None


def _name(frame: Frame) -> str:
    return f"{frame.body.name}.{frame.name or '?'}"


def _acting(joint: Joint, on: Body | str | None) -> tuple[float, dict[str, str]]:
    """Sign of what acts on a body of a joint, and the two bodies by name."""
    first, second = joint.a.body.name, joint.b.body.name
    name = on.name if isinstance(on, Body) else on
    if name in (None, second):
        return 1.0, {"of": first, "on": second}
    if name == first:
        return -1.0, {"of": second, "on": first}
    raise ModelError(f"joint {joint.name!r} acts on {first!r} and {second!r}, not on {name!r}")
