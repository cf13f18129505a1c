"""Bodies: shapes with their inertia, cross-sections, flexible links, rotations.

Not known here: joints, and how a body moves.
"""
