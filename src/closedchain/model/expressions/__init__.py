"""Numbers of a drawing that are not constant: expressions, their functions and operations, parameters.

Not known here: bodies, joints and forces.
"""
