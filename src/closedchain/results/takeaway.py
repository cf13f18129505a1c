"""Ways out of a run of any method: pictures, animations, tables and files."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Any

from closedchain.errors import ModelError

if TYPE_CHECKING:
    import pandas


class Takeaway:
    """What runs have in common: they have a ``dataset``, and can be drawn."""

    def plot(self: Any, *names: str, path: Any = None) -> Any:
        """Plot variables over time; see `closedchain.results.plot.plot`."""
        from closedchain.results.plot import plot

        return plot(self, *names, path=path)

    def plot_deformed(self: Any, time: float | None = None, *, magnify: float | None = None, path: Any = None) -> Any:
        """Draw the mechanism with its deflections magnified; see `closedchain.results.sketch.plot_deformed`."""
        from closedchain.results.sketch import plot_deformed

        return plot_deformed(self, time, magnify=magnify, path=path)

    def animate(self: Any, file: Any, **options: Any) -> Any:
        """Write the motion as a GIF or an HTML page; see `closedchain.results.animation.animate`."""
        from closedchain.results.animation import animate

        return animate(self, file, **options)

    def to_netcdf(self: Any, path: Any) -> None:
        """Write the dataset to a NetCDF file (needs the extra ``closedchain[netcdf]``)."""
        if importlib.util.find_spec("netCDF4") is None:
            raise ModelError("writing NetCDF needs the package netCDF4: pip install 'closedchain[netcdf]'")
        self.dataset.to_netcdf(path, engine="netcdf4")

    def to_dataframe(self: Any) -> pandas.DataFrame:
        """The variables that depend on time alone, one column each, indexed by time."""
        return self.dataset.drop_dims([d for d in self.dataset.dims if d != "time"]).to_dataframe()
