"""What a run is and can be asked: the run, its data set, its checks, its end in words.

Not known here: pictures (`look`) and studies.
"""
