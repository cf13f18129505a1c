"""Equations of open limbs, traced on CasADi scalars: kinematics, inertia, bias, closures, energies.

Not known here: how loops are closed, machine code, and time.
"""
