"""Steps of ERLS in time: stages, generalised alpha, ESDIRK, and what the loop of all runs needs of them.

Not known here: data sets and reports.
"""
