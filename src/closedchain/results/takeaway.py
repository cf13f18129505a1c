"""What runs of any method offer: reactions, pictures, animations, tables and files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas
    import xarray

    from closedchain.model.parts import Body, Frame


class Takeaway:
    """What runs have in common: they have a ``dataset``, and can be drawn."""

    def reaction(
        self: Any,
        joint: str,
        axes: Frame | Body | str = "world",
        stiffness: Mapping[str, float] | None = None,
        *,
        about: Frame | Body | str = "second",
        on: Body | str | None = None,
    ) -> xarray.Dataset:
        """Reaction in any joint over time; see `closedchain.results.reactions.reactions.reaction`."""
        from closedchain.results.reactions.reactions import reaction

        return reaction(self, joint, axes, stiffness, about=about, on=on)

    def reactions(
        self: Any,
        axes: Frame | Body | str = "world",
        stiffness: Mapping[str, float] | None = None,
        *,
        about: Frame | Body | str = "second",
    ) -> xarray.Dataset:
        """Reactions in all joints over time; see `closedchain.results.reactions.reactions.reaction_table`."""
        from closedchain.results.reactions.reactions import reaction_table

        return reaction_table(self, axes, stiffness, about=about)

    def plot(self: Any, *names: str, path: Any = None) -> Any:
        """Plot variables over time; see `closedchain.look.plots.variables.plot`."""
        from closedchain.look.plots.variables import plot

        return plot(self, *names, path=path)

    def plot_deformed(self: Any, time: float | None = None, *, magnify: float | None = None, path: Any = None) -> Any:
        """Draw the mechanism with its deflections magnified; see `closedchain.look.sketch.plot_deformed`."""
        from closedchain.look.sketch import plot_deformed

        return plot_deformed(self, time, magnify=magnify, path=path)

    def animate(self: Any, file: Any, **options: Any) -> Any:
        """Write the motion as a GIF or an HTML page; see `closedchain.look.animation.animate`."""
        from closedchain.look.animation import animate

        return animate(self, file, **options)

    def to_netcdf(self: Any, path: Any) -> None:
        """Write the dataset to a NetCDF file (needs the extra ``closedchain[netcdf]``)."""
        from closedchain.results.files import save_netcdf

        save_netcdf(self.dataset, path)

    def to_dataframe(self: Any) -> pandas.DataFrame:
        """The variables that depend on time alone, one column each, indexed by time."""
        return self.dataset.drop_dims([d for d in self.dataset.dims if d != "time"]).to_dataframe()
