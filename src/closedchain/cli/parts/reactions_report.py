"""What joints carry, for the terminal and for files: ``--reactions`` of several commands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from closedchain.cli.parts import output
from closedchain.cli.parts.exits import WrongUsage
from closedchain.cli.parts.values import names

if TYPE_CHECKING:
    import xarray
    from rich.table import Table

    from closedchain.model.mechanism import Mechanism


def joints(m: Mechanism, typed: str | None) -> list[str]:
    """Joints whose reactions are asked for; a free joint carries nothing."""
    from closedchain.arguments import suggest

    if typed is None:
        return []
    carrying = [joint.name for joint in m.joints.values() if joint.type.closure]
    if typed.strip() == "all":
        return carrying
    out = list(dict.fromkeys(names("--reactions", typed)))
    for name in out:
        if name not in m.joints:
            raise WrongUsage(f"--reactions: {m.name!r} has no joint {name!r}{suggest(name, carrying)}")
        if name not in carrying:
            raise WrongUsage(f"--reactions: joint {name!r} is free: it carries nothing")
    return out


def summary(carried: Mapping[str, xarray.Dataset]) -> dict[str, dict[str, Any]]:
    """What each joint carries at most, and when."""
    return {joint: _carries(data) for joint, data in carried.items()}


def table(carried: Mapping[str, Any]) -> Table:
    """What joints carry at most."""
    columns = ("joint", "force [N]", "at [s]", "moment [N m]", "at [s]", "not unique")
    rows = [
        (
            joint,
            f"{tidy(x['force']):.4g}",
            f"{x['force_time']:.3f}",
            f"{tidy(x['moment']):.4g}",
            f"{x['moment_time']:.3f}",
            " ".join(x["not_unique"]),
        )
        for joint, x in carried.items()
    ]
    return output.table(columns, rows, right=columns[1:5])


def beside(data: xarray.Dataset, carried: Mapping[str, xarray.Dataset]) -> xarray.Dataset:
    """Variables over time, and the components of reactions: ``"wrist1 fx"`` and so on."""
    for joint, one in carried.items():
        for letter, what in (("f", "force"), ("m", "moment")):
            columns = {f"{joint} {letter}{axis}": one[what].values[:, k] for k, axis in enumerate("xyz")}
            attrs = {"units": one[what].attrs["units"], "axes": "world"}
            data = data.assign({name: ("time", column, attrs) for name, column in columns.items()})
    return data


def _carries(data: xarray.Dataset) -> dict[str, Any]:
    """Largest force and moment in a joint, when, and which components are not unique."""
    import numpy as np

    out: dict[str, Any] = {}
    for what in ("force", "moment"):
        size = np.linalg.norm(data[what].values, axis=1)
        k = int(np.nanargmax(size)) if np.isfinite(size).any() else 0
        out |= {what: float(size[k]), f"{what}_time": float(data["time"].values[k])}
    out["not_unique"] = [
        f"{letter}{axis}"
        for letter, what in (("f", "force"), ("m", "moment"))
        for axis, unique in zip("xyz", data[f"{what}_unique"].values, strict=True)
        if not unique
    ]
    return out


def tidy(x: float) -> float:
    """Without what rounding left of zero."""
    return 0.0 if abs(x) < 1e-12 else x
