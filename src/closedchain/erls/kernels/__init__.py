"""Compiled kernels of ERLS: forces, linearisation, condensation, elimination of the links' unknowns.

Not known here: names of bodies and joints.
"""
