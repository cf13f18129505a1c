"""Benchmarks: how many operations, how long, how exact. `python -m benchmarks` runs them all."""
