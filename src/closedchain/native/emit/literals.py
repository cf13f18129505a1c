"""Numbers as LLVM IR spells them."""

from __future__ import annotations

import struct


def literal(value: float) -> str:
    """A double by its bits: exact, and the only spelling of infinities and NaNs.

    Examples
    --------
    >>> literal(1.0)
    '0x3FF0000000000000'
    """
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"
