"""The numerics of the equivalent rigid-link system: elements, assembly, elimination and time integration.

Nothing of a mechanism is known here but its numbers: `mesh` has them, `close.erls` the traced motions.
"""
