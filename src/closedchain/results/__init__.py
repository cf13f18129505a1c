"""What a run is and can be asked: how it is made ready and marched, its data set, its checks, and why it ended.

Not known here: plots, animations and pages (`look`), and studies.
"""
