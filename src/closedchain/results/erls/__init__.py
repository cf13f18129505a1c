"""Runs by an equivalent rigid-link system: the verb, the run, its data set, frames, reactions, and why it ended.

Not known here: pictures.
"""
