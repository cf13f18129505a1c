"""Numbers of a drawing that are not constant: expressions, their functions and operations, parameters, corners.

Not known here: bodies, joints and forces.
"""
