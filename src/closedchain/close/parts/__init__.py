"""Parts that several formulations share: elimination, feasible motions, the manifold of closed states, springs.

Not known here: machine code and solvers.
"""
