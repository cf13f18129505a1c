"""Methods of integration, one in each file, and their tableaus.

Not known here: mechanisms and files.
"""
