"""LLVM IR from a graph: operations, blocks, chunks, lanes, tables, and functions of mathematics.

Not known here: engines and caches.
"""
