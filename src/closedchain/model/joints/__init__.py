"""Joints: the table of types, the options of a joint, and the methods that draw them.

Not known here: coordinates of a cut mechanism. A joint is data here.
"""
