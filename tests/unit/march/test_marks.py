"""What events, changes of conditions and singular poses do where they happen, alone and together."""

import pytest

import closedchain as cc
from closedchain.march.marks import ConditionChange, Happening, Instant, SingularPose
from closedchain.model.forces.sampled import LIVE

NOTE = cc.Event("note", cc.t)
STOP = cc.Event("stop", cc.t, then="stop")
LAND = cc.Event("land", cc.t, -1, cc.Switch(close="foot"))
LIFT = cc.Event("lift", cc.t, 1, cc.Switch(open=["foot", "toe"]))
CHANGE = ConditionChange(number=3, level=0.5, direction=1, value=1.0)
WARNS, STOPS = SingularPose("closure", stops=False), SingularPose("closure", stops=True)


def together(*marks):
    instant = Instant()
    for mark in marks:
        mark.happen(instant)
    return instant


@pytest.mark.parametrize(
    ("mark", "ends", "instant"),
    [
        (NOTE, False, Instant()),
        (STOP, True, Instant(stops=True)),
        (LAND, True, Instant(switches=[LAND])),
        (CHANGE, True, Instant(conditions=[CHANGE])),
        (WARNS, False, Instant()),
        (STOPS, True, Instant(singular=True)),
    ],
    ids=["note", "stop", "switch", "condition", "pose that is told", "pose that stops"],
)
def test_each_alone(mark, ends, instant):
    assert mark.ends is ends and together(mark) == instant


@pytest.mark.parametrize("other", [STOP, LAND, STOPS], ids=["stop", "switch", "pose"])
def test_conditions_wait_where_the_run_ends_or_a_joint_switches(other):
    assert together(CHANGE, other).changes == together(other, CHANGE).changes == []


def test_conditions_change_where_others_are_only_told():
    instant = together(NOTE, CHANGE, WARNS)
    assert instant.changes == [CHANGE] and not instant.stops and not instant.singular


def test_all_switches_of_an_instant_are_made_also_where_the_run_stops():
    instant = together(LAND, STOP, LIFT)
    assert instant.switches == [LAND, LIFT] and instant.stops


def test_only_switches_name_joints():
    assert (LAND.switch.close, LAND.switch.open) == (("foot",), ())
    assert (LIFT.switch.close, list(LIFT.switch.open)) == ((), ["foot", "toe"])
    assert STOP.switch == NOTE.switch == cc.Switch()


@pytest.mark.parametrize(
    ("event", "open_joints", "expected"),
    [
        (LAND, ("foot",), True),
        (LAND, (), False),
        (LIFT, (), True),
        (LIFT, ("foot",), True),  # the toe still stands
        (LIFT, ("foot", "toe"), False),
        (STOP, (), True),
        (NOTE, ("foot",), True),
        (cc.Event("nothing", cc.t, then=cc.Switch()), ("foot",), False),
    ],
)
def test_a_switch_that_changes_nothing_is_none(event, open_joints, expected):
    assert event.changes(open_joints) is expected


@pytest.mark.parametrize(
    ("direction", "value", "held", "side"),
    [(1, 1.0, 0.0, -1.0), (1, 1.0, 1.0, 1.0), (-1, 0.0, 1.0, 1.0), (-1, 0.0, 0.0, -1.0), (1, 1.0, LIVE, 0.0)],
)
def test_the_side_of_a_level_on_which_a_condition_is_held(direction, value, held, side):
    """Before it rises through its level a signal is below, afterwards above."""
    assert ConditionChange(0, 0.5, direction, value).side(held) == side


def test_entries_in_the_record():
    assert NOTE.entry(0.25) == Happening(0.25, "note", "note at t = 0.25 s", event=True)
    assert STOP.entry(0.25).text == "stop at t = 0.25 s"
    assert LAND.entry(0.25) is CHANGE.entry(0.25) is None  # an impact has numbers, a condition is not worth a word
    assert WARNS.entry(0.25) == Happening(0.25, "singular pose", "singular pose at t = 0.25 s")
    lost = SingularPose("actuation", stops=True, lost=" (type 2), at O=0").entry(0.25)
    assert lost.text == "singular pose of the actuation at t = 0.25 s (type 2), at O=0"


@pytest.mark.parametrize("name", ["singular pose", "singular pose of the actuation", "divergence", "condition"])
def test_names_of_events_are_no_remarks_of_the_run(name):
    assert Happening(0.0, name, "...").tells_of(name)
    assert not cc.Event(name, cc.t).entry(0.0).tells_of(name)
