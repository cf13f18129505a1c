"""The examples in docstrings run."""

import doctest
import importlib
import pkgutil

import pytest

import closedchain

MODULES = ["closedchain"] + [
    module.name
    for module in pkgutil.walk_packages(closedchain.__path__, "closedchain.")
    if not module.name.endswith("__main__")  # importing these runs the command line
]


@pytest.mark.parametrize("name", MODULES)
def test_module(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(name)
    failures = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    for test in doctest.DocTestFinder(exclude_empty=True).find(module, name):
        said: list[str] = []
        if runner.run(test, out=said.append).failed:
            failures.append("".join(said))
    assert not failures, "\n".join(failures)


@pytest.mark.parametrize("name", ["closedchain.model.mechanism", "closedchain.pose.assemble", "closedchain.simulation"])
def test_what_a_user_calls_has_an_example(name):
    assert any(test.examples for test in doctest.DocTestFinder().find(importlib.import_module(name), name))
