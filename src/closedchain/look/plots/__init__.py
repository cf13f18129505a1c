"""Figures with axes: variables over time, beams, efforts, comparisons, stiffness.

Not known here: how numbers are computed.
"""
