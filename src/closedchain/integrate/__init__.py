"""Integration in time of any ``dx = f(t, x, p)``: step control, projection, dense output, the table of solvers.

Not known here: mechanisms. A right-hand side is an address here.
"""
