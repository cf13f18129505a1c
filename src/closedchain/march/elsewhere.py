"""Options that are not arguments of a verb: where they are said."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import fields
from functools import wraps
from typing import ParamSpec, TypeVar

from closedchain.arguments import suggest
from closedchain.errors import ModelError
from closedchain.integrate.solvers import SOLVERS

P = ParamSpec("P")
Answer = TypeVar("Answer")

# words for an option, and how it is said
SAID = {
    "begin": "the run begins at the time of the start, m.assemble(time=...)",
    "divergence": "say events=[cc.Divergence(...)]",
    "every": "say t_eval=cc.Every(...)",
    "guess": "say start=cc.Start(..., guess=...)",
    "progress": "say it around the call, with closedchain.progress.reported(f): ...",
    "samples": "say cc.Samples({...}, count=...)",
    "sampling": "say cc.Samples({...}, count=..., sampling=...)",
    "save_every": "say save=cc.SaveTo(folder, every=...)",
    "save_to": "say save=folder",
    "seed": "say cc.Samples({...}, count=..., seed=...)",
    "singularity": "say events=[cc.SingularPoses(...)]",
    "t_span": "say until=, and the time of the start",
    "threads": "say partition=cc.Threads(...)",
    "to": "say save=folder",
    "together": "say cc.Together({...})",
    "velocity": "say it of the start, m.assemble(velocity=...)",
}


def unknown_option(verb: str, name: str, known: Iterable[str]) -> ModelError:
    """The error about an option that a verb does not have: it says where the option belongs, or which are alike."""
    owners = [kind.__name__ for kind in SOLVERS.values() if name in {x.name for x in fields(kind)}]
    if owners:
        where = f": it belongs to the solver, for instance solver=cc.solvers.{owners[0]}({name}=...)"
    else:
        where = f": {SAID[name]}" if name in SAID else suggest(name, known)
    return ModelError(f"{verb} has no option {name!r}{where}")


def says_where(verb: Callable[P, Answer]) -> Callable[P, Answer]:
    """Decorate a verb: an option that it does not have is refused with `unknown_option`."""
    known = list(inspect.signature(verb).parameters)

    @wraps(verb)
    def checked(*args: P.args, **options: P.kwargs) -> Answer:
        for name in options:
            if name not in known:
                raise unknown_option(verb.__name__, name, known)
        return verb(*args, **options)

    return checked
