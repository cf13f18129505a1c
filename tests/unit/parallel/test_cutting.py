"""Graphs that are cut for teams: what members compute and tell each other gives the values of the whole."""

import math

import casadi as ca
import numpy as np
import pytest

import closedchain as cc
from closedchain.march.program.compiled import compiled
from closedchain.native.traced.graph import Graph
from closedchain.native.traced.trace import trace
from closedchain.parallel import shares
from closedchain.parallel.cutting import CONTRIBUTIONS, TOTALS, Cutting, X, Y, owners_of, regrouped, single
from closedchain.parallel.kernels import EXCHANGE, NOTHING, REDUCE

PLAIN = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "neg": lambda a: -a,
    "sin": math.sin,
    "cos": math.cos,
    "sq": lambda a: a * a,
}


def evaluate(graph, *inputs):
    """Outputs of a graph, by (output, position)."""
    values = []
    for k, name in enumerate(graph.name):
        if name == "const":
            values.append(graph.constants[graph.a[k]])
        elif name == "input":
            values.append(inputs[graph.a[k]][graph.b[k]])
        else:
            values.append(PLAIN[name](*(values[i] for i in graph.operands(k))))
    return {(output, position): values[k] for output, position, k in graph.outputs}


def act_out(cutting, t, x, p):
    """What a team computes together, step by step, with lists for boards."""
    members = cutting.members
    boards = [[math.nan] * member.board for member in members]
    y = {}
    for i in range(len(members[0].steps)):
        for member, board in zip(members, boards, strict=True):
            step = member.steps[i]
            out = evaluate(step.graph, [t], [x[k] for k in member.x], board, p)
            if step.then == NOTHING:
                for place, k in enumerate(member.y):
                    y.setdefault(k, []).append(out[0, place])
            else:
                for place in range(step.length):
                    board[step.begin + place] = out[0, place]
        if members[0].steps[i].then == EXCHANGE:
            for receiver, board in zip(members, boards, strict=True):
                for parcel in receiver.parcels[i]:
                    if parcel.receiver == receiver.number:
                        sent = next(s for s in members[parcel.sender].parcels[i] if s.receiver == receiver.number)
                        assert sent.length == parcel.length
                        source = boards[parcel.sender][sent.at_sender : sent.at_sender + sent.length]
                        board[parcel.at_receiver : parcel.at_receiver + parcel.length] = source
        elif members[0].steps[i].then == REDUCE:
            begin, length = members[0].steps[i].begin, members[0].steps[i].received[1]
            parts = [b[m.steps[i].begin : m.steps[i].begin + length] for m, b in zip(members, boards, strict=True)]
            totals = [sum(column) for column in zip(*parts, strict=True)]
            for member, board in zip(members, boards, strict=True):
                begin, length = member.steps[i].received
                board[begin : begin + length] = totals
    return y


def random_graph(rng, entries, results, operations=60):
    """Sums, products and sines of random earlier values; every output is one of the last ones."""
    g = Graph()
    values = [g.input(X, i) for i in range(entries)] + [g.input(0, 0), g.input(2, 0), g.input(2, 1), g.constant(0.7)]
    for _ in range(operations):
        a, b = rng.choice(values[-25:]), rng.choice(values[-25:])
        name = rng.choice(["add", "add", "sub", "mul", "sin", "neg"])
        values.append(
            g.operate(str(name), int(a), int(b)) if name not in ("sin", "neg") else g.operate(str(name), int(a))
        )
    g.outputs = [(Y, i, int(rng.choice(values[-20:]))) for i in range(results)]
    return g


@pytest.mark.parametrize("master", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_a_team_computes_what_one_would(seed, master):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 5))
    owner = [int(x) for x in rng.integers(0, size, 8)]
    owner[:size] = range(size)
    results = [[i for i, r in enumerate(owner) if r == member] + [8] for member in range(size)]  # the last is for all
    graph = random_graph(rng, 8, 9)
    t, x, p = 0.3, list(rng.normal(size=8)), [1.1, -0.4]
    whole = evaluate(graph, [t], x, p)
    y = act_out(Cutting(graph, owner, results, master=master), t, x, p)
    assert sorted(y) == list(range(9)) and len(y[8]) == size
    for k, values in y.items():
        # sums were regrouped: some units of rounding of terms of size one to ten, through 60 operations
        assert values == pytest.approx([whole[Y, k]] * len(values), rel=1e-11, abs=1e-11)


@pytest.mark.parametrize("limbs", [[0, 1, 1], [0, 1, 2], [0, 0, 0]])
def test_contributions_are_added_up_by_one_reduction(limbs):
    """y_i = x_i * total_0 - total_1 with totals (sum of x^2, sum of sin x) over three limbs of one entry each."""
    t, x, p, totals = ca.SX.sym("t"), ca.SX.sym("x", 3), ca.SX.sym("p", 1), ca.SX.sym("totals", 2)
    parts = ca.vertcat(*(e for i in range(3) for e in (x[i] * x[i], p * ca.sin(x[i]))))
    graph = trace("f", {"t": t, "x": x, "p": p, "totals": totals}, {"y": x * totals[0] - totals[1], "parts": parts})
    size = 1 + max(limbs)
    results = [[i for i in range(3) if limbs[i] == r] for r in range(size)]
    cutting = Cutting(graph, limbs, results, limbs, totals=2)
    assert [step.then for step in cutting.members[0].steps] == [REDUCE, NOTHING]  # and no exchange
    assert {step.received[1] for m in cutting.members for step in m.steps[:1]} == {2}
    y = act_out(cutting, 0.0, [0.3, -0.5, 1.2], [2.0])
    squares, sines = 0.09 + 0.25 + 1.44, 2.0 * (math.sin(0.3) + math.sin(-0.5) + math.sin(1.2))
    for i, value in enumerate([0.3, -0.5, 1.2]):
        assert y[i] == pytest.approx([value * squares - sines], rel=1e-14)
    assert CONTRIBUTIONS != Y and TOTALS == 3


def sent(cutting):
    """How many numbers each member sends in one evaluation."""
    return [sum(p.length for parcels in m.parcels for p in parcels if p.sender == m.number) for m in cutting.members]


def test_regrouping_sends_one_number_instead_of_its_terms():
    """y_0 = sin(x_0) + sin(x_1) + cos(x_0) - x_1^2 + ... : of x_1 one sum is needed, however the terms are ordered."""
    x = ca.SX.sym("x", 3)
    mixed = x[0] + ca.sin(x[1]) - ca.cos(x[0]) - x[1] * x[1] + ca.sin(x[2]) + ca.cos(x[1]) - x[2]
    inputs = {"t": ca.SX.sym("t"), "x": x, "p": ca.SX.sym("p", 1), "totals": ca.SX(0, 1)}
    graph = trace("f", inputs, {"y": ca.vertcat(mixed, x[1], x[2])})
    cutting = Cutting(graph, [0, 1, 2], [[0], [1], [2]])
    assert sent(cutting) == [0, 1, 1]
    values = act_out(cutting, 0.0, [0.2, 0.4, 0.9], [0.0])
    wanted = 0.2 + math.sin(0.4) - math.cos(0.2) - 0.16 + math.sin(0.9) + math.cos(0.4) - 0.9
    assert values[0] == pytest.approx([wanted], rel=1e-14)

    # what is only a sum of one owner's terms stays as it was, and masks name the owners
    masks = owners_of(regrouped(graph, [0, 1, 2]), [0, 1, 2])
    assert {1, 2, 4, 7} <= set(masks) and [single(k) for k in (0, 1, 4, 7)] == [False, True, True, False]


def test_with_a_master_what_is_common_is_computed_once():
    x = ca.SX.sym("x", 2)
    common = ca.sin(x[0] * x[1])  # of both, needed by both
    inputs = {"t": ca.SX.sym("t"), "x": x, "p": ca.SX.sym("p", 1), "totals": ca.SX(0, 1)}
    outputs = {"y": ca.vertcat(common + x[0], common * x[1])}

    def sines(cutting):
        return [sum(step.graph.name.count("sin") for step in m.steps) for m in cutting.members]

    each = Cutting(trace("f", inputs, outputs), [0, 1], [[0], [1]])
    once = Cutting(trace("f", inputs, outputs), [0, 1], [[0], [1]], master=True)
    assert sines(each) == [1, 1] and sines(once) == [1, 0]
    assert sent(each) == [1, 1] and sent(once) == [1, 1]  # x[0], x[1]; then the sine, and x[1]
    for cutting in (each, once):
        y = act_out(cutting, 0.0, [0.7, -1.1], [0.0])
        assert y[0] == pytest.approx([math.sin(-0.77) + 0.7], rel=1e-14)
        assert y[1] == pytest.approx([math.sin(-0.77) * -1.1], rel=1e-14)


# ---- what is sent of real mechanisms ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def platform():
    return cc.library.gough_stewart()


def cut(m, method, member_of, master=False):
    program = compiled(m.assemble(), method, native=False)
    return shares.cut_for(shares.trace_limbs(program, master), member_of, correction=False, master=master), program


def test_legs_of_a_gough_stewart_platform_send_a_force_and_a_power(platform):
    """Springs: the platform tells a leg how the joint moves; a leg answers with a force, a moment, and a power."""
    cutting, program = cut(platform, cc.VirtualSpring(1e5, 1e2), range(7))
    assert shares.limb_names(program.equations.topology) == ("platform", *(f"leg{i} lower" for i in range(1, 7)))
    assert sent(cutting) == [36, *[7] * 6]
    for member in cutting.members[1:]:  # legs have nothing to say to each other
        assert {(p.sender, p.receiver) for p in member.parcels[0]} == {(0, member.number), (member.number, 0)}


@pytest.mark.parametrize("method", [cc.OperationalSpace(), cc.Projection()])
def test_sums_over_limbs_take_one_reduction(platform, method):
    """A symmetric matrix of 6x6 and 6x1: 21 + 6 numbers, in one reduction, whoever has which legs."""
    cutting, _ = cut(platform, method, [0, 1, 1, 0, 1, 0, 1])
    for member in cutting.members:
        assert [step.then for step in member.steps] == [EXCHANGE, REDUCE, NOTHING]
        assert member.steps[1].received[1] == 27
    if isinstance(method, cc.OperationalSpace):
        assert sent(cutting) == [24, 1]  # how the platform moves; the other legs' power
