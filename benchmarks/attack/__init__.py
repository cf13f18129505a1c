"""Attacks on the library: random cases of many kinds, each of which must end well or be refused in a sentence.

``python -m benchmarks.attack --minutes 90 --seed 1`` runs until the time is over, and adds to the counts in
``out/attack.json``; the same call resumes behind the last case. A finding is written there with all that is needed to
reproduce it. ``tests/attack`` runs a few cases of each kind. The page is ``docs/theory/attack.md``.

How to add a kind of attack
---------------------------
1. Write a file with ``attack(rng) -> Outcome``: make one case from the random numbers alone, judge it, and return an
   `outcome.Outcome`. Exceptions that nobody foresaw may leave it: the worker makes findings of them.
2. Give it a ``BUDGET``, s of processor time: what takes longer counts as hanging. Child processes are not counted.
3. Add one line to ``KINDS`` in `kinds`, and a test to ``tests/attack``.

A case must not leave anything behind: files go to a temporary folder, processes end.
"""
