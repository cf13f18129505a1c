"""Plain data comes back as it was; everything else is refused by name, and nothing in a file is executed."""

import collections
import io
import math
import os
import pickle
import zipfile

import numpy as np
import pytest

from closedchain.disk.plain import Maybe, NotPlain, check, from_bytes, refuse, to_bytes

RECORD = np.array([(1, 0.1)], dtype=[("n", "i8"), ("x", "f8")])
VALUES = [
    None, True, 3, -(2**70), 0.1, -0.0, math.inf, "text \udc80 \0 €", 1 + 2j, np.float64(0.1), np.float32(0.1),
    np.int8(-3), np.bool_(True), np.complex128(1 - 1j), np.str_("x"), [1, [2.0, "x"]], (1, (2,), []), {"a": {"$b": 1}},
    {1: "x", 2.5: None, False: 0}, {"$tuple": [1]}, np.arange(6.0).reshape(2, 3).T, np.array(["a", "bc"]),
    np.zeros((0, 3), np.int32), np.array(2 + 1j), RECORD,
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_comes_back_to_the_last_bit(value):
    back = from_bytes(to_bytes(value))
    assert type(back) is type(value)
    if isinstance(value, np.ndarray):
        assert back.dtype == value.dtype and back.shape == value.shape
        assert back.tobytes() == value.tobytes()
    else:
        assert back == value and repr(back) == repr(value)
    refuse(value, "memory")


def test_nan_comes_back():
    assert math.isnan(from_bytes(to_bytes([math.nan]))[0])


LOOP: list = []
LOOP.append(LOOP)
ONE = np.zeros(3)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"f": len}, r"memory\['f'\] is of type builtin_function_or_method"),
        ([1, {2}], r"memory\[1\] is of type set"),
        ({"q": collections.deque([1])}, r"memory\['q'\] is of type deque"),
        ({"o": collections.OrderedDict()}, "is of type OrderedDict"),
        (np.array([None]), "is an array of object"),
        (np.ma.array([1.0]), "is of type MaskedArray"),
        (np.longdouble(1), "is of type longdouble"),
        (b"bytes", "is of type bytes"),
        ({(1, 2): 3}, r"has the key \(1, 2\) of type tuple"),
        (2**5000, "whole number of 5001 bits"),
        (LOOP, r"memory\[0\] is the same list as memory"),
        ({"a": ONE, "b": ONE}, r"memory\['b'\] is the same ndarray as memory\['a'\]"),
        ({"a": ONE, "b": ONE[1:]}, r"memory\['b'\] looks at the same numbers as memory\['a'\]"),
    ],
)
def test_what_would_not_come_back_is_refused_by_name(value, message):
    with pytest.raises(NotPlain, match=message):
        refuse(value, "memory")


def test_rows_of_one_array_are_two_arrays():
    a, b = np.zeros((2, 3))
    refuse({"a": a, "b": b}, "memory")


def test_an_endless_value_is_refused_when_it_is_written():
    with pytest.raises(NotPlain, match="nested too deeply"):
        to_bytes(LOOP)


class Planted:
    """Executes a command when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.system, (f"touch '{self.path}'",)


def bombs(path):
    array = np.empty(1, object)
    array[0] = Planted(path)
    buffer = io.BytesIO()
    np.savez(buffer, told=array, allow_pickle=True)
    yield buffer.getvalue()
    yield pickle.dumps(Planted(path))
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=True)
    yield buffer.getvalue()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:  # a small file that would fill the memory
        file.writestr("told.npy", bytes(10**7))
    yield buffer.getvalue()
    yield b""
    yield to_bytes({"a": 1})[:-30]


@pytest.mark.parametrize("number", range(6))
def test_nothing_is_executed(tmp_path, number):
    with pytest.raises(ValueError, match="no plain data"):
        from_bytes(list(bombs(tmp_path / "planted"))[number])
    assert not (tmp_path / "planted").exists()


@pytest.mark.parametrize("told", ['{"$array": "none"}', '{"$scalar": ["O", 1]}', '{"$new": 1}', '{"$tuple": 3}', "{"])
def test_json_that_is_damaged(told):
    buffer = io.BytesIO()
    np.savez(buffer, told=np.frombuffer(told.encode(), np.uint8))
    with pytest.raises(ValueError, match="no plain data"):
        from_bytes(buffer.getvalue())


SCHEMA = {"n": int, "x": int | float | None, "rows": [(int, str)], "by": {str: bool}, "maybe": Maybe({"y": np.ndarray})}
GOOD = {"n": 1, "x": 0.5, "rows": [(1, "a")], "by": {"k": True}, "maybe": None}


def test_a_schema_is_satisfied():
    check(GOOD, SCHEMA)
    check(GOOD | {"maybe": {"y": np.zeros(1)}, "x": None, "rows": [], "by": {}}, SCHEMA)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n": True}, r"value\['n'\] is True"),
        ({"x": "1"}, r"value\['x'\] is '1'"),
        ({"rows": [(1,)]}, r"value\['rows'\]\[0\] has 1 entries"),
        ({"rows": [[1, "a"]]}, r"value\['rows'\]\[0\] is no tuple"),
        ({"by": {1: True}}, r"a key of value\['by'\] is 1"),
        ({"by": {"k": 1}}, r"value\['by'\]\['k'\] is 1"),
        ({"maybe": {}}, r"value\['maybe'\] has the entries \[\]"),
        ({"more": 1}, "value has the entries"),
    ],
)
def test_a_schema_names_the_place(change, message):
    with pytest.raises(ValueError, match=message):
        check(GOOD | change, SCHEMA)
