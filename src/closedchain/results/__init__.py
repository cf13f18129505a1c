"""What a run is and can be asked: the run, its data set, its checks, and why it ended.

Not known here: plots, animations and pages (`look`), and studies.
"""
