"""Equations of an equivalent rigid-link system, traced: nodes of links, joints between them, loads on them.

Not known here: finite elements as numbers (`erls`), and time.
"""
