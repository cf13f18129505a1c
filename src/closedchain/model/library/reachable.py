"""A mechanism that cannot be drawn with the arguments given says so, whatever its inverse kinematics stumbled over."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import ParamSpec

import numpy as np

from closedchain.errors import ModelError
from closedchain.model.mechanism import Mechanism

P = ParamSpec("P")


def reachable(build: Callable[P, Mechanism]) -> Callable[P, Mechanism]:
    """Turn a domain error of a builder's formulas into a sentence about its arguments."""

    @functools.wraps(build)
    def draw(*args: P.args, **kwargs: P.kwargs) -> Mechanism:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", RuntimeWarning)
                return build(*args, **kwargs)
        except ModelError:
            raise  # it says what is wrong already
        except (ValueError, TypeError, IndexError, RuntimeWarning, np.linalg.LinAlgError) as trouble:
            called = ", ".join([*map(repr, args), *(f"{k}={x!r}" for k, x in kwargs.items())])
            if not called:
                raise
            raise ModelError(
                f"{build.__name__}({called}) cannot be drawn: a pose may be out of reach, or an argument of the wrong "
                f"kind ({trouble})"
            ) from None

    return draw
