"""A mechanism at one instant: states, assembly, loops, rank, mobility, equilibrium, efforts, paths sample by sample.

Not known here: integration. Nothing here advances in time.
"""
