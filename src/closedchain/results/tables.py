"""What runs of any method have in common: methods of later layers, and their data set as a table or a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from closedchain.attached import Attached
from closedchain.results.files import save_netcdf

if TYPE_CHECKING:
    import pandas


class Tables(Attached):
    """A ``dataset`` as a table or a file."""

    def to_netcdf(self: Any, path: Any) -> None:
        """Write the dataset to a NetCDF file (needs the extra ``closedchain[netcdf]``)."""
        save_netcdf(self.dataset, path)

    def to_dataframe(self: Any) -> pandas.DataFrame:
        """The variables that depend on time alone, one column each, indexed by time."""
        return self.dataset.drop_dims([d for d in self.dataset.dims if d != "time"]).to_dataframe()
