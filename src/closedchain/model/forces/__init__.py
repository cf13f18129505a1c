"""Forces and torques: motors, springs, dampers, friction, gears, controllers, and the methods that draw them.

Not known here: how forces enter the equations (`derive.applied`).
"""
