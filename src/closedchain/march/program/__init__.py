"""A formulation as machine code, and further functions that solvers need: Jacobian, kinematics, corners.

Not known here: events, samples and checkpoints.
"""
