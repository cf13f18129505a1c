"""Files of results: pictures, tables and datasets, each written whole or not at all."""

from __future__ import annotations

import importlib.util
import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from closedchain.disk.names import named
from closedchain.disk.whole import write, written
from closedchain.errors import ModelError

if TYPE_CHECKING:
    import pandas
    import xarray

DPI = 150


def saved(figure: Any, path: Any) -> Any:
    """The figure, written to a file if one is named, in the format of its ending; PNG if it has none."""
    if path is None:
        return figure
    if isinstance(path, io.IOBase):  # open already
        figure.savefig(path, dpi=DPI)
        return figure
    target = named("path", path)
    ending = target.suffix.lower().removeprefix(".") or figure.canvas.get_default_filetype()
    known = figure.canvas.get_supported_filetypes()
    if ending not in known:
        raise ModelError(f"'{target}': a picture cannot be written as .{ending}; known are {', '.join(sorted(known))}")
    drawn = io.BytesIO()  # some formats forget why they could not be written
    figure.savefig(drawn, dpi=DPI, format=ending)
    write(target if target.suffix else Path(f"{target}.{ending}"), drawn.getvalue())
    return figure


def save_netcdf(dataset: xarray.Dataset, path: Any) -> None:
    """Write a dataset to a NetCDF file (needs the extra ``closedchain[netcdf]``)."""
    if importlib.util.find_spec("netCDF4") is None:
        raise ModelError("writing NetCDF needs the package netCDF4: pip install 'closedchain[netcdf]'")
    with written(path) as fresh:
        dataset.to_netcdf(fresh, engine="netcdf4")


def save_csv(table: pandas.DataFrame, path: Any) -> None:
    """Write a table, with its index in the first column."""
    with written(path) as fresh:
        table.to_csv(fresh)
