"""One run on several processors: limbs over MPI ranks or threads.

Not known here: studies of many runs (`studies`).
"""
