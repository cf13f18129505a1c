"""Checks during a run: divergence and its cause, gaps of loops, conditioning of poses.

Not known here: data sets and reports.
"""
