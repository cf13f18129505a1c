"""Chain by chain against the whole system solved at once, for any reference member; and how the work grows."""

import numpy as np
import pytest

import closedchain as cc
from benchmarks.growth import arms, operations, published
from closedchain.close.formulation import Choice
from closedchain.testing.measured import close_to
from closedchain.testing.terms import TIME
from tests.identities.sample import GEARED, LOOPS, PLATFORMS, TREES, case
from tests.identities.test_multipliers import dense

# mechanisms of the sample in which not every body can be the reference member: how many are refused
REFUSED = {
    ("loop", 145): 1,
    ("loop", 146): 1,
    ("loop", 149): 1,
    ("geared", 720): 1,
    ("geared", 721): 5,
    ("geared", 722): 1,
    ("geared", 723): 1,
    ("geared", 724): 1,
    ("geared", 725): 1,
}


def agrees(c, reference=None, states=1):
    closed = cc.OperationalSpace(reference).close(c.equations, Choice(c.rows))
    f = c.equations.function("f", {"a": closed.a, "lam": closed.lam})
    for which in range(states):
        q, v = c.closed(which)
        for got, wanted in zip(f(TIME, q, v, c.p), dense(c, q, v), strict=True):
            close_to(np.array(got)[:, 0], wanted, 1e-9)  # the promise; found: 4e-13, and 6e-11 in a gear train


@pytest.mark.parametrize("key", TREES + LOOPS + PLATFORMS + GEARED, ids=str)
def test_agrees_with_the_dense_system(key):
    agrees(case(*key), states=3)


@pytest.mark.parametrize("key", LOOPS[::3] + PLATFORMS[:1] + GEARED[1:3] + tuple(REFUSED)[:1], ids=str)
def test_any_body_may_be_the_reference_member(key):
    """Type 0, Type 1, and chains that carry it: all ways to hang it; refused only with a sentence."""
    c = case(*key)
    refused = []
    for link in c.topology.links:
        try:
            agrees(c, link.body.name)
        except cc.ModelError as error:
            refused.append(str(error))
    assert len(refused) == REFUSED.get(key, 0)
    assert all(sentence.endswith("; use cc.Multipliers()") for sentence in refused)


# ---- growth --------------------------------------------------------------------------------------------------------


def totals(sizes):
    return [operations(arms(m, N), cc.OperationalSpace()).total for m, N in sizes]


def test_one_more_joint_costs_the_same_however_many_there_are():
    """O(N): exactly a straight line, once a link has all velocities that a link can have."""
    counts = totals([(2, N) for N in (5, 6, 7, 10)])
    one_more = np.diff(counts) / [1, 1, 3]
    np.testing.assert_array_equal(one_more, one_more[0])


def test_one_more_chain_costs_the_same_however_many_there_are():
    """O(m)."""
    counts = totals([(m, 3) for m in (3, 4, 5, 8)])
    one_more = np.diff(counts) / [1, 1, 3]
    np.testing.assert_array_equal(one_more, one_more[0])


@pytest.mark.parametrize("constraints", [3, 6])
def test_fewer_operations_than_published(constraints):
    """Tables 2 and 3 for three arms of six joints."""
    ours = operations(arms(3, 6, constraints), cc.OperationalSpace())
    multiplications, additions = published(3, 6, constraints)
    assert ours.mul < multiplications
    assert ours.add < additions


def test_the_published_counts():
    """Their totals for one chain, and for the machine of three."""
    assert published(3, 6, 3) == (10292, 8468)
    assert published(1, 6, 3) == (3402 + 86, 2772 + 27 + 71)
