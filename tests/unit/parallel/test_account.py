"""An account of a run on several processors says honestly whether they paid."""

from closedchain.parallel.account import Account, MemberAccount


def accounted(members, operations, waiting):
    """A team in which each member computes for a second."""
    each = MemberAccount(("limb",), 3000, 10, 80, 1, 2, 3, 1.0, waiting)
    return Account("rank", "everyone", operations, (each,) * members, 1.0 + waiting)


def test_what_every_member_computes_for_itself_is_no_gain():
    """Seven members with two thirds of the whole each: one process would take a second and a half, not seven."""
    team = accounted(7, 4500, 0.6)
    assert team.alone == 1.5
    assert not team.pays and "one process alone would compute for about 1.5e+05 us" in team.hint
    assert accounted(7, 4500, 0.4).pays


def test_parts_that_nobody_has_twice_add_up():
    assert accounted(2, 6000, 0.5).alone == 2.0
    assert accounted(2, 9000, 0.5).alone == 2.0  # cut by limbs it may take fewer operations than in one piece
    assert accounted(1, 3000, 0.0).hint == ""


def test_all_that_was_exchanged_is_told():
    told = str(accounted(1, 3000, 0.25))
    assert told == (
        "rank 0: limb; 3000 operations, 80 bytes in 1 messages, 2 reductions and 3 agreements, 1 s computing, "
        "0.25 s waiting"
    )
