"""Finite elements on an equivalent rigid-link system: mesh, elements, matrices, energies, static displacements.

Not known here: data sets and reports (`results.erls`).
"""
