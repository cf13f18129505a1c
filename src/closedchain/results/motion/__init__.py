"""Motions along paths: follow, its result, limits of joints, jumps of velocity.

Not known here: forces.
"""
