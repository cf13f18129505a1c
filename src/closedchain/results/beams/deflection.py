"""What flexible bodies do along a motion: displacements, section forces and stresses, deflection against rigid links.

These are the verbs of a run of any method. They work for efforts along a path and for single states as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from closedchain.arguments import between, one_of, suggest
from closedchain.errors import ModelError
from closedchain.model.mechanism import Mechanism
from closedchain.model.parts import Body, Frame
from closedchain.pose.state import State
from closedchain.results.beams.fields import BeamFields
from closedchain.results.beams.rigid_motion import rigid_run
from closedchain.results.beams.rigid_twin import RigidTwin
from closedchain.results.beams.shapes import beam_of_shapes
from closedchain.results.efforts.efforts import Efforts
from closedchain.results.motion.motion import Motion
from closedchain.results.reactions.reactions import Moved
from closedchain.results.run import Run
from closedchain.results.samples import Samples

if TYPE_CHECKING:
    import xarray

    from closedchain.results.reactions.wrenches import Reactions

WAYS = ("equilibrium", "shapes")
AGAINST = ("frame", "chord")


class _Instant:
    """A state as a motion of one sample, or a motion without efforts."""

    def __init__(self, source: State | Motion) -> None:
        self._reactions: dict[Any, Reactions] = {}
        self._one = (Motion.instant(source) if isinstance(source, State) else source.in_drawing()).samples

    def _samples(self) -> list[Samples]:
        return [self._one]


def beam(
    source: Run | Efforts | Motion | State, body: Body | str, x: Any = None, *, forces: str = "equilibrium"
) -> BeamFields:
    """What a flexible body does along a motion: displacements, section forces, stresses.

    Parameters
    ----------
    source
        A run, efforts along a path, or a state (an equilibrium, say); a motion, with forces by shapes.
    body
        A flexible body.
    x
        Places along it, m. Default: 41 from end to end.
    forces
        How section forces are found: ``"equilibrium"``, from all that acts on the beam (default), or ``"shapes"``,
        from derivatives of the displacements. See `closedchain.results.beams.fields`.

    Warns
    -----
    RunWarning
        If a tenth of the buckling load or more is carried by a beam that was made without ``stiffening=True``.

    Examples
    --------
    A beam of 0.5 m that is clamped at one end, and bends under its weight:

    >>> import closedchain as cc
    >>> m = cc.Mechanism("cantilever", gravity=(0, -9.81, 0))
    >>> arm = m.body("arm", cc.rod(0.5, 2.352))
    >>> arm = arm.flexible(5e9, cc.Section.rectangle(y=0.02, z=0.03), shapes=cc.shapes.polynomials(y=3))
    >>> clamp, held = m.revolute("clamp", m.ground, arm), m.drive("clamp", 0.0)
    >>> hanging = beam(m.equilibrium(), "arm")
    >>> peak = hanging.maximum("Mz")
    >>> print(f"{peak.value:.4f} N m at x = {peak.x:g} m, tip {1e3 * hanging['v'].values[0, -1]:.4f} mm")
    -5.7683 N m at x = 0 m, tip -3.6052 mm
    """
    one_of("forces", forces, WAYS)
    if isinstance(source, Motion) and forces == "equilibrium":
        raise ModelError(
            "a motion has no efforts, and so no forces that are in balance: take forces='shapes', or the efforts along "
            "it, cc.inverse_dynamics(m, motion).beam(...)"
        )
    name = _name(source.mechanism, body)
    if isinstance(source, Run):
        return source.solution.beam(name, x, forces)
    moved: Moved = _Instant(source) if isinstance(source, State | Motion) else source
    return beam_of_shapes(moved, source.mechanism, name, x, forces)


def beam_of_motion(motion: Motion, body: Body | str, x: Any = None, *, forces: str = "shapes") -> BeamFields:
    """Displacements along a flexible body; see `beam`.

    A motion has no efforts, so section forces are those of the curvature; ``cc.inverse_dynamics(...).beam(...)`` has
    those that are in balance, and stresses.
    """
    return beam(motion, body, x, forces=forces)


def deflection(
    source: Run | Efforts | Motion | State, body: Body | str, at: float = 0.5, *, against: str = "frame"
) -> xarray.DataArray:
    """Displacement of a point on the axis of a flexible body over time, m, along the body's axes.

    Parameters
    ----------
    source, body
        As for `beam`.
    at
        Where: 0 is the body's origin, 1 the other end.
    against
        ``"frame"``: against the frame that the shapes are drawn in (default); ``"chord"``: against the straight line
        between the two ends, which no choice of shapes and no formulation changes.

    Examples
    --------
    >>> import closedchain as cc
    >>> run = cc.simulate(cc.library.four_bar(flexible=True), until=0.1, t_eval=[0.0, 0.05, 0.1])
    >>> deflection(run, "coupler", 0.5).sel(axis="y").values.round(4)
    array([ 0.    , -0.0057, -0.0007])
    """
    one_of("against", against, AGAINST)
    between("at", at, 0, 1, unit="(the origin and the end of the beam)")
    name = _name(source.mechanism, body)
    values = source.mechanism.values(_parameters(source))
    length = values(source.mechanism.flexible[name].length)
    fields = beam(source, name, [at * length], forces="shapes")
    out = fields["displacement" if against == "frame" else "from_chord"].isel(x=0, drop=True)
    return out.rename(f"{name} deflection").assign_attrs(body=name, at=float(at))


def stress(source: Run | Efforts | Motion | State, body: Body | str, x: Any = None) -> xarray.Dataset:
    """Stresses in a flexible body over time and along it, Pa; what they leave out is in the attributes.

    The attributes ``largest``, ``largest_x`` and ``largest_time`` tell the largest equivalent stress (von Mises), where
    and when.
    """
    fields = beam(source, body, x)
    peak = fields.maximum("von_mises")
    names = list(fields.stresses)
    return fields.dataset[names].assign_attrs(largest=peak.value, largest_x=peak.x, largest_time=peak.t)


def tip_deflection(
    run: Run, frame: Frame | Body | str, rigid: Run | None = None, *, same: str = "efforts", axes: str = "world"
) -> xarray.Dataset:
    """How far a frame is from where it would be with rigid links, over time.

    Parameters
    ----------
    run
        With flexible bodies.
    frame
        A `Frame`, a body, or ``"body.frame"``.
    rigid
        A run of the rigid twin at the same times, if there is one already (see `rigid_run`).
    same
        What the rigid motion has in common with the run. ``"efforts"``: the start and the motors' laws; the rigid twin
        is simulated. Where nothing holds the motion its angles drift away from those of the run in time.
        ``"joints"``: the coordinates of the motors, at each time; of a run with `ERLS` the equivalent rigid-link
        system.
    axes
        ``"world"``, or ``"frame"``: those of the frame in the rigid motion.

    Returns
    -------
    Dataset with ``displacement`` (time, axis) and ``distance``, m.
    """
    import xarray

    at = _frame(run.mechanism, frame)
    where = run.frame(at)
    one_of("same", same, ("efforts", "joints"))
    one_of("axes", axes, ("world", "frame"))
    if same == "joints" or not RigidTwin.of(run.mechanism).labels:  # a structure that cannot move stands where it is
        R, r = run.solution.rigid_pose(at)
    else:
        rigid = rigid_run(run) if rigid is None else rigid
        bodies = {"ground": rigid.mechanism.ground, **rigid.mechanism.bodies}
        pose = rigid.frame(type(at)(bodies[at.body.name], at.position, at.rotation, at.name))
        k = np.searchsorted(rigid.t, run.t)
        if k.max(initial=0) >= len(rigid.t) or not np.allclose(rigid.t[np.minimum(k, len(rigid.t) - 1)], run.t):
            raise ModelError("the rigid run has other times: simulate it with t_eval=run.t, or leave it out")
        R, r = pose["rotation"].values[k], pose["position"].values[k]
    away = where["position"].values - r
    if axes == "frame":
        away = (away[:, None] @ R)[:, 0]
    return xarray.Dataset(
        {
            "displacement": (("time", "axis"), away, {"units": "m"}),
            "distance": ("time", np.linalg.norm(away, axis=1), {"units": "m"}),
        },
        coords={"time": ("time", run.t, {"units": "s"}), "axis": list("xyz")},
        attrs={"frame": f"{at.body.name}.{at.name}", "axes": axes, "same": same},
    )


def _name(mechanism: Mechanism, body: Body | str) -> str:
    name = body.name if isinstance(body, Body) else body
    if name not in mechanism.flexible:
        if not mechanism.flexible:
            raise ModelError(f"mechanism {mechanism.name!r} has no flexible body: make one so with body.flexible(...)")
        what = "is rigid" if name in mechanism.bodies else "is not there"
        raise ModelError(f"body {name!r} {what}{suggest(str(name), mechanism.flexible)}")
    return name


def _frame(mechanism: Mechanism, frame: Frame | Body | str) -> Frame:
    if isinstance(frame, Body):
        return frame["origin"]
    return frame if isinstance(frame, Frame) else mechanism.find_frame(frame)


def _parameters(source: Any) -> dict[str, float] | None:
    """Values of parameters that a motion has of its own."""
    if isinstance(source, Efforts):
        return dict(source.motion.parameters)
    found = getattr(source, "parameters", None)
    return None if found is None else dict(found)
