"""The numbers of a mechanism by name: what may be set, what is refused."""

import math

import pytest

import closedchain as cc


def test_parameters_behave_like_a_mapping(m, a):
    m.parameters["a.mass"] = 5

    assert m.parameters["a.mass"] == 5.0 and len(m.parameters) == 2 and list(m.parameters) == ["a.length", "a.mass"]
    assert m.parameters.merged({"a.mass": 7}) == {"a.length": 1.0, "a.mass": 7.0}
    assert m.parameters["a.mass"] == 5.0
    assert "Parameters" in repr(m.parameters)


def test_asking_whether_a_parameter_exists(m, a):
    assert "a.mass" in m.parameters and "a.mas" not in m.parameters
    assert m.parameters.get("a.mas", 3.0) == 3.0


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda m: m.parameters["a.mas"], r"mechanism 'rig' has no parameter 'a\.mas'; did you mean 'a\.mass'"),
        (lambda m: m.parameters.update({"a.mas": 1}), r"no parameter 'a\.mas'"),
        (lambda m: m.parameters["a.radius"], r"no parameter 'a\.radius'.*exactly zero is structure"),
        (lambda m: m.parameters.update({"a.mass": math.nan}), r"parameter 'a\.mass' is nan"),
        (lambda m: m.parameters.update({"a.mass": "heavy"}), r"parameter 'a\.mass' must be a number"),
        (lambda m: m.parameters.update({"a.mass": cc.t}), r"'a\.mass' must be a number, not the expression t"),
        (lambda m: m.parameters.pop("a.mass"), r"parameter 'a\.mass' belongs to the drawing"),
        (lambda m: m.parameters.merged({"mass": 1}), "no parameter 'mass'"),
        (lambda m: m.parameters.merged({"a.mass": math.inf}), r"parameter 'a\.mass' is inf"),
        (lambda m: m.parameter("a.mass", 1.0), r"mechanism 'rig' already has a parameter 'a\.mass'"),
        (lambda m: m.parameter("k", math.nan), "parameter 'k' is nan"),
        (lambda m: m.parameter("k", cc.t), "parameter 'k' needs a number as its value"),
        (lambda m: m.parameter("k", "many"), "parameter 'k' must be a number"),
    ],
    ids=[
        "unknown", "set unknown", "zero", "nan", "text", "expression", "delete", "override unknown", "override inf",
        "twice", "declare nan", "declare expression", "declare text",
    ],
)  # fmt: skip
def test_refused_parameters(m, a, use, message):
    with pytest.raises(cc.ModelError, match=message):
        use(m)


@pytest.mark.parametrize("name", ["", None, 5, ["k"]], ids=repr)
def test_names_of_parameters_are_texts(m, name):
    with pytest.raises(cc.ModelError, match="the name of a parameter must be a non-empty text, not "):
        m.parameter(name, 1.0)


def test_what_is_no_text_is_no_parameter(m, a):
    assert ["a.mass"] not in m.parameters and m.parameters.get(["a.mass"], 3.0) == 3.0
    with pytest.raises(cc.ModelError, match=r"mechanism 'rig' has no parameter \['a\.mass'\]"):
        m.parameters[["a.mass"]]


def test_overrides_are_names_with_values(m, a):
    with pytest.raises(cc.ModelError, match=r"for instance \{'a\.length': 2\.0\}, not \[1\.0\]"):
        m.parameters.merged([1.0])
    with pytest.raises(cc.ModelError, match=r"parameter 'a\.mass' must be a number, not the expression t"):
        m.parameters.merged({"a.mass": cc.t})


def test_a_text_is_no_number(m, a):
    with pytest.raises(cc.ModelError, match=r"parameter 'a\.mass' must be a number, .* not '5'"):
        m.parameters["a.mass"] = "5"
