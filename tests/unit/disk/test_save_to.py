"""Where results are written: a folder's name, or an object with the time between checkpoints."""

from pathlib import Path

import pytest

import closedchain as cc


def test_what_save_takes():
    whole = cc.SaveTo("folder", every=2)
    assert cc.SaveTo.of(None) is None and cc.SaveTo.of(whole) is whole
    assert cc.SaveTo.of("folder") == cc.SaveTo(Path("folder")) and cc.SaveTo.of("folder").every == 5.0
    assert isinstance(whole.every, float)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: cc.SaveTo.of(3), "save takes the name of a folder, not 3"),
        (lambda: cc.SaveTo(""), "SaveTo takes the name of a folder, not ''"),
        (lambda: cc.SaveTo("folder", every=-1.0), "every must be zero or a positive number of seconds between two"),
    ],
)
def test_what_it_cannot_take(make, message):
    with pytest.raises(cc.ModelError, match=message):
        make()
