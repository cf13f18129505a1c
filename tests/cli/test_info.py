import closedchain as cc
from closedchain.march.program.compiled import operations

LOOSE = """
import closedchain as cc
mechanism = cc.Mechanism("half done")
arm = mechanism.body("arm", cc.rod(length=1.0, mass=1.0))
mechanism.body("forgotten", cc.rod(length=1.0, mass=1.0))
mechanism.revolute("hinge", mechanism.ground, arm)
"""

TOO_SHORT = """
import closedchain as cc
def mechanism():
    m = cc.library.four_bar()
    m.parameters["coupler.length"] = 0.1
    return m
"""


def test_json_tells_the_whole_mechanism(cli):
    content = cli("info", "four_bar", "--json").json
    assert content["name"] == "four-bar"
    assert content["gravity"] == [0, -9.8, 0]
    assert [body["name"] for body in content["bodies"]] == ["crank", "coupler", "rocker"]
    assert content["bodies"][0] == {"name": "crank", "shape": "rod", "mass": 1.0, "frames": ["origin", "tip", "com"]}
    assert [joint["name"] for joint in content["joints"]] == ["O", "A", "C", "B"]
    assert [joint["driven"] for joint in content["joints"]] == [True, False, False, False]
    assert content["cuts"] == [{"joint": "B", "equations": 5}]
    assert [[link["joint"] for link in limb] for limb in content["limbs"]] == [["O", "A"], ["C"]]
    assert content["parameters"] == dict(cc.library.four_bar().parameters)
    # five equations of a hinge, two of which are left in a planar loop: 3 - 2 = 1 freedom
    assert (content["independent_closure_equations"], content["freedoms"]) == (2, 1)
    assert content["operations"] == operations(cc.library.four_bar().assemble(), cc.Multipliers())


def test_tables_show_it_too(cli):
    answer = cli("info", "four-bar")
    assert (answer.code, answer.err) == (0, "")
    lines = [line.split() for line in answer.out.splitlines()]
    assert ["O", "revolute", "ground", "crank", "1", "motor", "limb", "1"] in lines
    assert ["B", "revolute", "coupler", "rocker", "1", "cut"] in lines
    assert ["cuts", "B", "(5", "equations)"] in lines
    assert ["O.motor", "6"] in lines
    total = operations(cc.library.four_bar().assemble(), cc.Multipliers())["total"]
    assert f"operations                     {total} in the right-hand side under multipliers" in answer.out


def test_operations_depend_on_the_method(cli):
    counts = [
        cli("info", "four-bar", "--method", method, "--json").json["operations"]["total"]
        for method in ("multipliers", "multipliers-baumgarte")
    ]
    assert counts[1] > counts[0]


def test_a_drawing_that_is_not_complete_is_shown_with_the_reason(cli, file):
    answer = cli("info", file(LOOSE))
    assert answer.code == 1
    assert "half done" in answer.out and "hinge" in answer.out
    assert answer.err.startswith("error: ") and "'forgotten'" in answer.err
    content = cli("info", "model.py", "--json").json
    assert "'forgotten'" in content["error"]
    assert [body["name"] for body in content["bodies"]] == ["arm", "forgotten"]


def test_a_mechanism_that_cannot_close_is_shown_with_its_gaps(cli, file):
    answer = cli("info", file(TOO_SHORT))
    assert answer.code == 1
    assert "cuts" in answer.out and "operations" not in answer.out
    assert "does not close" in answer.err and "loop closed by 'B'" in answer.err


def test_unknown_names(cli):
    answer = cli("info", "for-bar")
    assert answer.code == 2
    assert "did you mean 'four-bar'" in answer.err
    answer = cli("info", "four-bar", "--method", "multiplier")
    assert answer.code == 2
    assert "did you mean 'multipliers'" in answer.err


def test_limbs_are_shared_out_to_members(cli):
    found = cli("info", "four-bar", "--method", "projection", "--partition", "threads:2", "--json").json["partition"]
    assert [(limb["name"], limb["member"]) for limb in found["limbs"]] == [("crank", 0), ("rocker", 1)]
    # with a member for each limb, a member computes what its limb costs
    assert [limb["operations"] for limb in found["limbs"]] == [member["operations"] for member in found["members"]]
    # S'MS and the right-hand side of one independent velocity: each adds up two numbers, or more if S is a product
    assert {member["reduced_bytes"] for member in found["members"]} != {0}
    assert all(member["messages"] == 1 for member in found["members"])


def test_shares_are_printed(cli):
    answer = cli("info", "four-bar", "--method", "virtual-spring", "--partition", "threads:2")
    assert answer.code == 0
    lines = [line.split() for line in answer.out.splitlines()]
    assert ["member", "limbs", "operations", "messages", "bytes", "sent", "bytes", "reduced"] in lines
    assert any(line[:2] == ["1", "rocker"] and line[-1] == "0" for line in lines)
    assert "times as fast as one process" in answer.out


def test_more_members_than_limbs_are_refused(cli):
    answer = cli("info", "four-bar", "--partition", "threads:3")
    assert answer.code == 1
    assert "2 limbs (crank, rocker)" in answer.err
