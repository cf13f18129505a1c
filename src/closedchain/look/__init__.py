"""Pictures: outlines, sketches, plots, animations, graphs, pages.

Not known here: how motions are computed.
"""
