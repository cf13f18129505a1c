"""Numbers at the samples of a run: multipliers, accelerations, closure, energies, frames."""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from closedchain.march.compiled import Compiled
from closedchain.model.parts import Frame

if TYPE_CHECKING:
    import xarray

    from closedchain.results.run import Run


def evaluate(
    program: Compiled, key: object, expressions: dict[str, ca.SX], t: np.ndarray, x: np.ndarray, p: np.ndarray
) -> dict[str, np.ndarray]:
    """Evaluate traced expressions of (t, x, p) at many samples; leading axis is time.

    CasADi's own interpreter is fast enough here, and saves the user a compilation.
    """
    derived = program.equations.topology.mechanism._derived
    key = ("evaluate", program.method, program.rows, key)
    if key not in derived:
        inputs = [program.equations.limbs.t, program.closed.x, program.equations.limbs.p]
        dense = ca.cse([ca.densify(v) for v in expressions.values()])
        derived[key] = ca.Function("evaluate", inputs, dense, ["t", "x", "p"], list(expressions))
    f = derived[key]
    n = len(t)
    out = {}
    values = f.map(n)(np.asarray(t).reshape(1, n), np.asarray(x).T, np.tile(p[:, None], (1, n))) if n else []
    values = values if isinstance(values, tuple | list) else [values]
    for i, name in enumerate(expressions):
        shape = f.size_out(i)
        flat = np.array(values[i]) if n else np.zeros((shape[0], 0))
        # columns come time after time: (rows, n * columns)
        out[name] = flat.reshape(shape[0], n, shape[1]).transpose(1, 0, 2)
    return out


def outputs(program: Compiled, t: np.ndarray, x: np.ndarray, p: np.ndarray) -> dict[str, np.ndarray]:
    """All standard results at the samples of a run, each (time, size)."""
    e, closed = program.equations, program.closed
    joints = e.topology.joints
    c_dot = e.closure.A @ e.limbs.v
    columns = {
        "q": ca.vertcat(ca.SX(0, 1), *(e.measures.coordinates(j) for j in joints)),
        "v": ca.vertcat(ca.SX(0, 1), *(e.measures.velocities(j) for j in joints)),
        "a": closed.a,
        "lam": closed.lam,
        "c": e.closure.c,
        "c_dot": c_dot,
        "kinetic": e.kinetic,
        "potential": e.potential,
        "power": e.power,
        "work": closed.x[-1],
    }
    efforts = e.applied.efforts
    columns |= {f"effort {name}": effort for name, effort in efforts.items()}
    return {k: v[:, :, 0] for k, v in evaluate(program, "outputs", columns, t, x, p).items()}


def frame_motion(run: Run, frame: Frame) -> xarray.Dataset:
    """Pose and velocity of a frame over time, in world axes."""
    import xarray

    e = run.program.equations
    motion = e.motion.frame(frame)
    columns = {
        "position": motion.X.r,
        "rotation": motion.X.R,
        "velocity": motion.velocity.lin,
        "angular": motion.velocity.ang,
    }
    got = evaluate(run.program, (frame.body.name, frame.name, id(frame)), columns, run.t, run.trajectory.x, run.p)
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
