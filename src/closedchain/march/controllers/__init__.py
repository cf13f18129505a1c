"""Sampled controllers during a run: inputs held between samples, what a controller sees and remembers.

Not known here: how a run is stepped.
"""
