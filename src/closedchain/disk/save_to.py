"""`SaveTo`: where results are written while they are computed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from closedchain.arguments import folder, not_negative


@dataclass(frozen=True)
class SaveTo:
    """Write results to a folder as they are computed; repeat the same call to resume after an interruption.

    A run (``cc.simulate(..., save=cc.SaveTo("folder"))``) resumes from its latest checkpoint and gives the same bits as
    if it had not been interrupted. A study (``cc.sweep(..., save=cc.SaveTo("folder"))``) computes the points that are
    missing. If the run or the study is finished, the call reads the result.

    Attributes
    ----------
    folder
        Its name; it is made if it does not exist.
    every
        Seconds between two checkpoints of a run. A study writes its points as they arrive.
    """

    folder: str | Path
    every: float = 5.0

    def __post_init__(self) -> None:
        folder("SaveTo", self.folder)
        object.__setattr__(
            self, "every", not_negative("SaveTo: every", self.every, "of seconds between two checkpoints")
        )

    @classmethod
    def of(cls, save: SaveTo | str | Path | None) -> SaveTo | None:
        """The object for what ``save=`` takes: the name of a folder, an object, or None."""
        if save is None or isinstance(save, SaveTo):
            return save
        return cls(folder("save", save))
