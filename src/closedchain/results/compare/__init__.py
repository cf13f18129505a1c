"""Methods against each other: compare, recommend, stiffness of virtual springs, reference runs.

Not known here: pictures and pages.
"""
