"""Parts that commands share: options, sources of mechanisms, paths, output, exits, reports.

Not known here: how numbers are computed.
"""
