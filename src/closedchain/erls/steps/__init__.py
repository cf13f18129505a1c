"""Steps of ERLS in time: stages, generalised alpha, ESDIRK, the loop, and its judgement.

Not known here: data sets and reports.
"""
