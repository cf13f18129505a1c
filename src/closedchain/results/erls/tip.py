"""How far a frame of a run by ERLS is from where it would be with rigid links."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from closedchain.errors import ModelError
from closedchain.model.parts import Body, Frame
from closedchain.results.erls.run import ErlsRun
from closedchain.results.run import Run
from closedchain.simulation import simulate

if TYPE_CHECKING:
    import xarray


def tip_deflection(run: ErlsRun, frame: Frame | Body | str, rigid: Run | None = None) -> xarray.Dataset:
    """How far a frame is from where it would be with rigid links under the same efforts, over time.

    ``rigid`` is a run of the rigid twin at the same times, if there is one already.
    """
    import xarray

    at = run._frame(frame)
    if run.topology.nv:
        if rigid is None:
            rigid = simulate(run.system.twin, run.system.start, float(run.t[-1]), rtol=1e-9, t_eval=run.t)
        if len(rigid.t) != len(run.t) or not np.allclose(rigid.t, run.t):
            raise ModelError("the rigid run has other times: simulate it with t_eval=run.t, or leave it out")
        bodies = {"ground": rigid.mechanism.ground, **rigid.mechanism.bodies}
        there = rigid.frame(type(at)(bodies[at.body.name], at.position, at.rotation, at.name))["position"].values
    else:  # a structure without joints that move stands where it is
        value = run.mechanism.values(run.parameters)
        there = run.rigid_points(at.body.name, np.array([[value(x) for x in at.position]]))[:, 0]
    away = run.frame(at)["position"].values - there
    return xarray.Dataset(
        {
            "displacement": (("time", "axis"), away, {"units": "m"}),
            "distance": ("time", np.linalg.norm(away, axis=1), {"units": "m"}),
        },
        coords={"time": ("time", run.t, {"units": "s"}), "axis": list("xyz")},
        attrs={"frame": f"{at.body.name}.{at.name}", "axes": "world"},
    )
