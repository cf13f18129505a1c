"""What a person draws, as plain data: mechanisms, their bodies, joints, forces, expressions and paths; the library.

Not known here: how equations are derived, closed or integrated. No CasADi, no Numba, no plots.
"""
