"""Numbers at the samples of a run: multipliers, accelerations, closure, energies, frames."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from closedchain.errors import ModelError
from closedchain.march.compiled import Compiled
from closedchain.march.segments import Segment
from closedchain.model.parts import Frame

if TYPE_CHECKING:
    import xarray

    from closedchain.results.run import Run


def evaluate(
    program: Compiled,
    key: object,
    expressions: Callable[[], dict[str, ca.SX]],
    t: np.ndarray,
    x: np.ndarray,
    p: np.ndarray,
) -> dict[str, np.ndarray]:
    """Evaluate traced expressions of (t, x, p) at many samples; leading axis is time.

    ``expressions`` gives them by name; it is called once for each key. CasADi's own interpreter is fast enough
    here, and saves the user a compilation.
    """
    derived = program.functions
    if key not in derived:
        inputs = [program.equations.limbs.t, program.closed.x, program.equations.limbs.p]
        traced = expressions()
        dense = ca.cse([ca.densify(v) for v in traced.values()])
        derived[key] = ca.Function("evaluate", inputs, dense, ["t", "x", "p"], list(traced))
    f = derived[key]
    n = len(t)
    out = {}
    values = f.map(n)(np.asarray(t).reshape(1, n), np.asarray(x).T, np.tile(p[:, None], (1, n))) if n else []
    values = values if isinstance(values, tuple | list) else [values]
    for i, name in enumerate(f.name_out()):
        shape = f.size_out(i)
        flat = np.array(values[i]) if n else np.zeros((shape[0], 0))
        # columns come time after time: (rows, n * columns)
        out[name] = flat.reshape(shape[0], n, shape[1]).transpose(1, 0, 2)
    return out


def outputs(segments: Sequence[Segment], p: np.ndarray) -> dict[str, np.ndarray]:
    """All standard results at the samples of a run, each (time, size).

    ``lam`` has a column for every closure row; rows that are redundant or open have no force.
    """
    pieces = [_outputs(s.program, s.trajectory.t, s.trajectory.x, p) for s in segments]
    out = {name: np.concatenate([piece[name] for piece in pieces]) for name in pieces[0]}
    _count_turns(segments[0].program, out["q"])
    return out


def _count_turns(program: Compiled, q: np.ndarray) -> None:
    """Angles of cut joints are measured between -pi and pi; over time they are continued, in place."""
    topology = program.equations.topology
    column = 0
    for joint in topology.joints:
        cut = joint.name not in topology.tree_joints and joint.type.name != "screw"
        for unit in joint.type.coordinate_units:
            if cut and unit == "rad" and len(q):
                q[:, column] = np.unwrap(q[:, column])
            column += 1


def _outputs(program: Compiled, t: np.ndarray, x: np.ndarray, p: np.ndarray) -> dict[str, np.ndarray]:
    return {k: v[:, :, 0] for k, v in evaluate(program, "outputs", lambda: _columns(program), t, x, p).items()}


def _columns(program: Compiled) -> dict[str, ca.SX]:
    e, closed = program.equations, program.closed
    joints = e.topology.joints
    lam = ca.SX.zeros(len(e.closure), 1)
    for k, row in enumerate(program.rows):
        lam[row] = closed.lam[k]
    active = ca.DM([float(row in set(program.active)) for row in range(len(e.closure))])
    columns = {
        "q": ca.vertcat(ca.SX(0, 1), *(e.measures.coordinates(j) for j in joints)),
        "v": ca.vertcat(ca.SX(0, 1), *(e.measures.velocities(j) for j in joints)),
        "a": closed.a,
        "lam": lam,
        "c": active * e.closure.c,
        "c_dot": active * (e.closure.A @ e.limbs.v + e.closure.c_t),
        "kinetic": e.kinetic,
        "potential": e.potential,
        "power": closed.dx[-1],
        "work": closed.x[-1],
    }
    return columns | {f"effort {name}": effort for name, effort in e.applied.efforts.items()}


def frame_motion(run: Run, frame: Frame) -> xarray.Dataset:
    """Pose and velocity of a frame over time, in world axes."""
    import xarray

    e = run.program.equations
    if frame.body.mechanism is not run.mechanism:
        raise ModelError(
            f"frame {frame.body.name}.{frame.name} belongs to another mechanism, {frame.body.mechanism.name!r}"
        )
    if frame.body.name not in e.topology.link_of:
        raise ModelError(f"body {frame.body.name!r} was drawn after the run: simulate again to follow it")
    try:
        motion = e.motion.frame(frame)
    except RuntimeError:  # its numbers are parameters that the run does not have
        raise ModelError(
            f"frame {frame.body.name}.{frame.name} was drawn after the run: simulate again, or use body.at(x, y, z)"
        ) from None
    columns = {
        "position": motion.X.r,
        "rotation": motion.X.R,
        "velocity": motion.velocity.lin,
        "angular": motion.velocity.ang,
    }
    got = evaluate(run.program, frame, lambda: columns, run.t, run.x, run.p)
    axes = list("xyz")
    return xarray.Dataset(
        {
            "position": (("time", "axis"), got["position"][:, :, 0], {"units": "m"}),
            "rotation": (("time", "axis", "frame_axis"), got["rotation"], {"units": "1"}),
            "velocity": (("time", "axis"), got["velocity"][:, :, 0], {"units": "m/s"}),
            "angular_velocity": (("time", "axis"), got["angular"][:, :, 0], {"units": "rad/s"}),
        },
        coords={"time": ("time", run.t, {"units": "s"}), "axis": axes, "frame_axis": axes},
        attrs={"frame": f"{frame.body.name}.{frame.name}", "axes": "world"},
    )
