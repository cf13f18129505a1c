"""Pictures: outlines, sketches, plots, animations, graphs, pages.

Not known here: how numbers are computed. Only results are drawn.
"""
