"""Points of a study: grids, lists that go together, points one by one, samples."""

import numpy as np
import pandas
import pytest
from scipy import stats

import closedchain as cc
from closedchain.studies.points import Samples, Together, points

NORMAL = stats.norm(0, 1)


def test_a_grid_has_the_last_name_fastest():
    got = points({"a": [1, 2], "b": [10, 20, 30]})
    assert got.dims == ("a", "b") and got.shape == (2, 3) and len(got) == 6
    assert [got[k] for k in (0, 1, 3)] == [{"a": 1, "b": 10}, {"a": 1, "b": 20}, {"a": 2, "b": 10}]
    assert {name: (axis, x.tolist()) for name, (axis, x) in got.coords().items()} == {
        "a": ("a", [1, 2]),
        "b": ("b", [10, 20, 30]),
    }


@pytest.mark.parametrize(
    "got",
    [
        points(Together({"a": [1, 2], "b": [10, 20]})),
        points([{"a": 1, "b": 10}, {"b": 20, "a": 2}]),
        points(pandas.DataFrame({"a": [1, 2], "b": [10, 20]})),
    ],
    ids=["together", "mappings", "data frame"],
)
def test_points_one_by_one(got):
    assert got.dims == ("point",) and got.values.tolist() == [[1, 10], [2, 20]]
    coords = got.coords()
    assert coords["b"][0] == "point" and coords["b"][1].tolist() == [10, 20]


def test_a_latin_hypercube_has_one_sample_in_each_interval():
    n = 50
    given = {"a": stats.uniform(2.0, 3.0), "b": stats.norm(0.0, 1.0)}
    got = points(Samples(given, count=n, seed=4))
    assert got.dims == ("sample",) and got.shape == (n,)
    for k, distribution in enumerate(given.values()):
        interval = np.floor(distribution.cdf(got.values[:, k]) * n).astype(int)
        assert sorted(interval) == list(range(n))
    assert abs(np.corrcoef(got.values.T)[0, 1]) < 0.5  # the two are shuffled by themselves
    np.testing.assert_array_equal(got.values, points(Samples(given, count=n, seed=4)).values)
    assert not np.array_equal(got.values, points(Samples(given, count=n, seed=5)).values)


def test_monte_carlo_leaves_intervals_empty():
    got = points(Samples({"a": stats.uniform(0.0, 1.0)}, count=50, sampling="monte-carlo", seed=1))
    assert len(set(np.floor(got.values[:, 0] * 50))) < 45  # 1 - 1/e of them have one: 32 are expected


def test_lists_are_combined_with_the_same_samples():
    got = points(Samples({"x": stats.uniform(0, 1), "k": [1.0, 2.0]}, count=3))
    assert got.dims == ("k", "sample") and got.names == ("k", "x") and got.shape == (2, 3)
    np.testing.assert_array_equal(got.values[:3, 1], got.values[3:, 1])
    assert got.coords()["x"][0] == "sample" and len(got.coords()["x"][1]) == 3


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: {}, "nothing to vary"),
        (lambda: [], "the list of points is empty"),
        (lambda: "a", "not 'a'"),
        (lambda: {"a": []}, "'a' has no value: its list is empty"),
        (lambda: {"a": [1, np.nan]}, "'a' takes finite numbers, but value 1 is nan"),
        (lambda: {"a": ["one"]}, "'a' takes numbers"),
        (lambda: {"a": [[1, 2]]}, r"not an array of shape \(1, 2\)"),
        (lambda: Together({"a": [1, 2], "b": [1]}), "'a' has 2, 'b' has 1"),
        (lambda: Together({}), "nothing to vary"),
        (lambda: Together([{"a": 1}]), "Together takes values by name"),
        (lambda: [{"a": 1}, {"b": 1}], "point 1 has other names than the first: 'a', 'b'"),
        (lambda: {"a": NORMAL}, r"how many samples of 'a'\? Say for instance cc.Samples\("),
        (lambda: Samples({"a": NORMAL}, count=0), "count must be a whole number of at least 1, not 0"),
        (lambda: Samples({"a": NORMAL}, count=2, sampling="sobol"), "not 'sobol'"),
        (lambda: Samples({"a": NORMAL}, count=2, seed=-1), "seed must be"),
        (lambda: Together({"a": NORMAL, "b": [1, 2]}), "Together is for lists, but 'a' is drawn at random"),
        (lambda: Samples({"a": stats.norm(0, -1)}, count=2), "the distribution of 'a' does not give finite numbers"),
        (lambda: Samples({"a": [1, 2]}, count=5), "'a' is a list: give a distribution"),
        (lambda: Samples({}, count=5), "nothing to vary"),
        (lambda: Samples("a", count=5), "Samples takes values by name"),
        (lambda: {"a": range(5000), "b": range(5000)}, "2.5e[+]07 points, and 1e[+]07 are the most"),
        (lambda: {"a": range(10**12)}, "1e[+]12 points, and 1e[+]07 are the most"),
        (lambda: Together({"a": range(10**12), "b": range(10**12)}), "1e[+]12 points, and 1e[+]07 are the most"),
        (lambda: Samples({"a": NORMAL}, count=10**12), "1e[+]12 points, and 1e[+]07 are the most"),
        (lambda: Samples({"a": NORMAL, "b": range(10**6)}, count=10**6), "1e[+]12 points, and 1e[+]07 are the most"),
        (lambda: {3: [1, 2]}, "has a name"),
    ],
    ids=lambda x: x if isinstance(x, str) else "",
)
def test_what_cannot_be_meant_is_said(made, message):
    with pytest.raises(cc.ModelError, match=message):
        points(made())
