"""Reactions in joints: from the balance of bodies at samples, in any axes, about any point.

Not known here: which formulation made the motion.
"""
