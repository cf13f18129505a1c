"""Small motions about a state: linearisation, modes, frequencies over the workspace, spectra.

Not known here: pictures.
"""
