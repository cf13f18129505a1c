"""The papers this library comes from, each a small package: its mechanism, its claims, and what we find when we check.

``python -m papers`` checks all claims, ``python -m papers wang2002`` those of one paper.
"""
