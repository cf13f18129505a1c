"""Many runs: sweeps over parameters on a pool, MPI or a cluster; points, stores, workers.

Not known here: limbs of one mechanism on several processors (`parallel`).
"""
