"""Runs by an equivalent rigid-link system: the verb, the run, its data set, frames, reactions, its end in words.

Not known here: pictures.
"""
