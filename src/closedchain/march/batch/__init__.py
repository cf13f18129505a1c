"""Many points of a mechanism at once: assembly and runs in compiled loops.

Not known here: the studies that ask for them (`studies`).
"""
