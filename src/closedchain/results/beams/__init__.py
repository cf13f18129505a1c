"""Flexible links over time: displacements, section forces, stresses, deflection from the rigid motion.

Not known here: pictures.
"""
