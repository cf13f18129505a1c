"""Formulations: one file for each way to close the loops of a cut mechanism.

Not known here: machine code and solvers. A formulation is ``dx = f(t, x, p)``.
"""
