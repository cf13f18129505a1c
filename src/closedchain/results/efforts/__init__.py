"""Efforts that a motion needs: inverse dynamics, sizing of motors, series springs, computed torque.

Not known here: pictures.
"""
