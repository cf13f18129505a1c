"""A mechanism in time: the run loop, events, impacts, discontinuities, checkpoints, solvers of other libraries.

Not known here: data sets, plots and files of results.
"""
