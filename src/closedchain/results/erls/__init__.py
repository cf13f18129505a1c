"""Runs by an equivalent rigid-link system: the march, the solution, its data set, frames, reactions, and why it ended.

Not known here: pictures.
"""
