"""Many processors: studies over threads, processes, MPI pools or Dask clusters."""
