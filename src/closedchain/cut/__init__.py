"""The graph of a mechanism: which joints to cut, the limbs that remain, and their numbering.

Not known here: equations, states and time.
"""
