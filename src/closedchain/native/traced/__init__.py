"""A traced expression as a graph: tracing, hoisting, scheduling, counting operations.

Not known here: engines and caches.
"""
