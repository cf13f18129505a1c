"""Many points of a study in one compiled loop: one after another, in lanes of registers, in threads.

Not known here: mechanisms.
"""
