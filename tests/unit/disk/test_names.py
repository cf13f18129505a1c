"""Names and small files, checked before anything is computed."""

from pathlib import Path

import pytest

import closedchain as cc
from closedchain.disk.names import named, text_of


@pytest.mark.parametrize("name", ["", "  "])
def test_an_empty_name_is_refused(name):
    with pytest.raises(cc.ModelError, match=r"^to is empty: give a name"):
        named("to", name)


@pytest.mark.parametrize("name", [None, 3, b"bytes", ["x"]])
def test_what_is_no_name_is_refused(name):
    with pytest.raises(cc.ModelError, match=r"^to takes the name of a file or a folder, not"):
        named("to", name)


def test_a_null_byte_is_refused():
    with pytest.raises(cc.ModelError, match=r"^to = 'a\\x00b' has a null byte"):
        named("to", "a\0b")


def test_text_is_read(tmp_path):
    (tmp_path / "x").write_bytes("\ufeffà\n".encode())
    assert text_of(tmp_path / "x", "the table") == "à\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"t,x\n0,1\n1,\0\n", "x, line 3: the table has a null byte"),
        (b"t,x\n\xff\xfe", "x, line 2: the table cannot be read"),
        (b"t" * 101, "x: the table of .* is not read, the limit is"),
    ],
)
def test_what_is_no_text_is_said(tmp_path, content, message):
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(cc.ModelError, match=message):
        text_of(tmp_path / "x", "the table", 100)


def test_a_file_without_an_end_is_said():
    with pytest.raises(cc.ModelError, match="/dev/zero: the table has no end"):
        text_of(Path("/dev/zero"), "the table", 100)


def test_a_name_that_no_file_can_have():
    with pytest.raises(cc.ModelError, match="the table cannot be read"):
        text_of(Path("a\0b"), "the table")


def test_a_file_that_is_not_there_is_said(tmp_path):
    with pytest.raises(cc.ModelError, match=r"nothing: the table cannot be read \(No such file"):
        text_of(tmp_path / "nothing", "the table")
