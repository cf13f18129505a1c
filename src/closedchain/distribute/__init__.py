"""Many processors: limbs over the ranks of an MPI job or over threads, and studies over a pool or a cluster."""
