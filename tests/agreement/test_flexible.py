"""Flexible links: every exact formulation gives the same accelerations and forces, wherever the loops are cut.

Springs are left out where forces are compared; they come near in a limit, at first order in 1/k.
"""

from functools import cache, partial

import casadi as ca
import numpy as np
import pytest

import closedchain as cc
from closedchain.close.formulation import Choice
from closedchain.close.methods import METHODS
from closedchain.derive.equations import derive
from closedchain.model.library import FLEXIBLE
from closedchain.pose.closing import Closing
from closedchain.pose.independent import choose_pivots
from closedchain.pose.redundancy import independent_rows
from closedchain.pose.state import parameter_vector
from closedchain.results.reactions.wrenches import wrenches
from closedchain.results.samples import Samples
from closedchain.testing.formulations import closed_by, dense
from closedchain.testing.terms import TIME
from tests.agreement.test_library import EXACT
from tests.identities import test_flexible as random_flexible

STATES = 2
SOFT = cc.Section(A=2e-3, Iy=3e-5, Iz=5e-5, J=7e-5)
# one of each kind of factorisation; the others share that of the multipliers, and are tested on the four-bar
DIFFERENT = ("multipliers", "projection", "independent-coordinates", "operational-space", "denoc")


def bent_four_bar(cut="B"):
    """All three links bend, two stretch; ends move and turn, the rocker floats on its hinge; cut where one likes."""
    m = cc.Mechanism(f"four-bar cut at {cut}", gravity=(0, -9.8, 0))
    crank, coupler, rocker = (
        m.body(name, cc.rod(length=L, mass=1.0)) for name, L in (("crank", 1.0), ("coupler", 4.0), ("rocker", 2.5))
    )
    crank.flexible(1e8, SOFT, shapes=cc.shapes.polynomials(y=2))
    coupler.flexible(1e8, SOFT, shapes=cc.shapes.craig_bampton(y=1, axial=0))
    rocker.flexible(1e8, SOFT, shapes=cc.shapes.free_free(y=2, axial=1))
    ends = {
        "O": (m.ground, crank, 0.0),
        "A": (crank.tip, coupler, -1.2),
        "C": (m.ground.at(3, 0, 0), rocker, 1.3),
        "B": (coupler.tip, rocker.tip, 0.9),
    }
    for name, (a, b, guess) in ends.items():
        m.revolute(name, a, b, guess=guess, cut=name == cut)
    m.motor("O", torque=6.0)
    m.start = {"O": cc.pi / 2}
    return m


def tripod():
    """A platform on three flexible legs, with balls at their tips."""
    m = cc.Mechanism("tripod", gravity=(0, 0, -9.81))
    platform = m.body("platform", cc.disc(radius=0.3, thickness=0.02, mass=2.0))
    m.free("pose", m.ground, platform, guess=(0.05, -0.02, 1.0, 1.0, 0.0, 0.0, 0.0))
    for k in range(3):
        c, s = np.cos(2 * np.pi * k / 3), np.sin(2 * np.pi * k / 3)
        leg = m.body(f"leg{k + 1}", cc.rod(length=1.05, mass=0.5))
        leg.flexible(1e6, SOFT, shapes=cc.shapes.static(y=True, axial=True), stiffening=k == 2)
        guess = (0.1 * s, -np.pi / 2 + 0.2 * c)
        m.universal(f"foot{k + 1}", m.ground.at(0.5 * c, 0.5 * s, 0), leg, axes=((1, 0, 0), (0, 1, 0)), guess=guess)
        m.spherical(f"ball{k + 1}", leg.tip, platform.at(0.3 * c, 0.3 * s, 0), cut=True)
    m.start = {"pose.x": 0.05, "pose.y": -0.02}
    return m


DRAWINGS = {
    **{name: entry.build for name, entry in FLEXIBLE.items()},
    **{f"bent, cut at {joint}": partial(bent_four_bar, joint) for joint in "OABC"},
    "tripod": tripod,
}
LARGE = ("flexible-pacdrive", "flexible-delta")
RECURSIVE = ("operational-space", "denoc")  # those that go along the limbs, against the whole system at once
CASES = [("flexible-four-bar", method) for method in EXACT]
CASES += [(name, method) for name in ("bent, cut at B", "bent, cut at A", "tripod") for method in DIFFERENT]
CASES += [(name, method) for name in DRAWINGS if name not in {x for x, _ in CASES} for method in RECURSIVE]


@cache
def drawn(name):
    return DRAWINGS[name]()


@cache
def states(name):
    """Closed poses around the start, beams bent, with random velocities that keep them closed."""
    m = drawn(name)
    e, start = derive(m), m.assemble()
    closing = Closing(e, parameter_vector(m))
    rng = np.random.default_rng(7)
    size = np.full(e.topology.nv, 0.1)
    for link in e.topology.links:
        size[link.shape_v] = 0.02 if name not in LARGE else 1e-3  # m
    found = []
    for _ in range(STATES):
        q = closing.near(start.q, size * rng.normal(size=len(size)))
        assert closing.error(q) < 1e-9
        A, v = closing.jacobian(q), rng.normal(size=len(size))
        found.append(cc.State(m, q, v - np.linalg.lstsq(A, A @ v, rcond=1e-10)[0]))
    return found


def agree(got, wanted):
    """The promise between formulations."""
    for mine, want in zip(got, wanted, strict=True):
        np.testing.assert_allclose(mine, want, rtol=0, atol=1e-9 * max(1.0, np.abs(want).max(initial=0.0)))


@pytest.mark.parametrize(("name", "method"), CASES)
def test_accelerations_and_multipliers(name, method):
    at, rows = closed_by(METHODS[method], drawn(name))
    for state in states(name):
        agree(at(state), dense(drawn(name), state, rows))


@pytest.mark.parametrize(
    ("name", "method"), [("turning", "operational-space"), ("fixed", "denoc"), ("fixed", "independent-coordinates")]
)
def test_random_loops(name, method):
    """Joints of all kinds anywhere on beams, also where the shapes move them; everything acts."""
    c = random_flexible.case(name)
    q, v = c.closed()
    got, e, rows = c.numbers(q, v), c.equations, c.rows
    state, formulation = cc.State(c.mechanism, q, v, t=TIME), METHODS[method]
    pivots = choose_pivots(e, state, rows, formulation.chooses) if formulation.chooses else ()
    closed = formulation.close(e, Choice(rows, pivots=pivots))
    f = ca.Function("closed", [e.limbs.t, closed.x, ca.vertcat(e.limbs.p, closed.parameters)], [closed.a, closed.lam])
    velocities = list(range(len(v)) if closed.velocities is None else closed.velocities)
    mine = [np.array(x).ravel() for x in f(TIME, np.concatenate([q, v[velocities], [0.0]]), c.p)]

    A = got["A"][list(rows)]
    K = np.block([[got["M"], A.T], [A, np.zeros((len(A), len(A)))]])
    wanted = np.linalg.solve(K, np.concatenate([got["tau"] - got["h"], -got["gamma"][list(rows)]]))
    agree(mine, np.split(wanted, [len(v)]))


# ---- wherever it is cut ----------------------------------------------------------------------------------------------


def measured(m, state):
    """Coordinates, velocities and accelerations of everything by name, and the wrenches of all joints."""
    e = derive(m)
    at, _ = closed_by(METHODS["multipliers"], m)
    a = at(state)[0]
    terms = {}
    for part in e.topology.measured:
        J = e.measures.jacobian(part)
        bias = e.measures.bias(part)
        terms[f"{part.name} q"], terms[f"{part.name} v"] = e.measures.coordinates(part), J @ e.limbs.v
        terms[f"{part.name} a"] = J @ ca.DM(a) + bias
    f = e.function("measured", {f"x{i}": x for i, x in enumerate(terms.values())})
    p = parameter_vector(m)
    values = dict(zip(terms, (np.array(x).ravel() for x in f.call([TIME, state.q, state.v, p])), strict=True))
    found = wrenches(Samples(e, np.array([TIME]), state.q[None], state.v[None], a[None], p))
    return values, dict(zip(found.joints, found.wrench[0], strict=True))


@pytest.mark.parametrize("joint", "OAC")
def test_the_same_motion_and_reactions_wherever_it_is_cut(joint):
    there, here = drawn("bent, cut at B"), drawn(f"bent, cut at {joint}")
    for state in states("bent, cut at B"):
        wanted, forces = measured(there, state)
        links = derive(here).topology.links
        q, v = (
            np.concatenate([np.append(wanted[f"{k.joint.name} {x}"], wanted[f"{k.body.name} {x}"]) for k in links])
            for x in "qv"
        )
        q = np.append(q, wanted[f"{joint} q"])  # the counter of its turns
        got, mine = measured(here, cc.State(here, q, v))
        for key, value in wanted.items():
            size = max(np.abs(x).max() for k, x in wanted.items() if k[-1] == key[-1])
            np.testing.assert_allclose(got[key] / size, value / size, rtol=0, atol=1e-9, err_msg=key)
        size = max(np.abs(w).max() for w in forces.values())
        for name, wrench in forces.items():
            np.testing.assert_allclose(mine[name] / size, wrench / size, rtol=0, atol=1e-9, err_msg=name)


def test_reactions_are_the_multipliers():
    """Of the joint that is cut: force of the first body on the second."""
    m = drawn("bent, cut at B")
    at, _ = closed_by(METHODS["multipliers"], m)
    for state in states("bent, cut at B"):
        lam, force = at(state)[1], measured(m, state)[1]["B"][3:5]
        np.testing.assert_allclose(force, lam, rtol=1e-9, atol=1e-9 * np.abs(lam).max())


def test_reactions_that_flexibility_decides():
    """A beam clamped at both ends: rigid, nothing could tell how the load is shared; as it is, all is determined."""
    m = cc.Mechanism("clamped", gravity=(0, -9.81, 0))
    beam = m.body("beam", cc.rod(length=1.0, mass=1.0))
    beam.flexible(1e8, SOFT, shapes=cc.shapes.craig_bampton(y=2, axial=0))
    m.weld("near", m.ground, beam)
    m.weld("far", m.ground.at(1, 0, 0), beam.tip, cut=True)
    m.force("push", beam.at(0.25, 0, 0), (0, -10, 0))
    rest = m.equilibrium()
    a, lam = closed_by(METHODS["multipliers"], m)[0](rest)
    found = wrenches(Samples(derive(m), np.array([TIME]), rest.q[None], rest.v[None], a[None], parameter_vector(m)))
    near, far = (found.wrench[0, found.joints.index(name)] for name in ("near", "far"))
    np.testing.assert_allclose(far[[3, 4, 2]], lam, rtol=1e-9, atol=1e-9)
    assert found.determined(found.axes, found.r_second)[found.joints.index("far"), [2, 3, 4]].all()
    # of the textbook: F a^2 (3 L - 2 a) / L^3 + m g / 2 and F a^2 (L - a) / L^2 + m g L / 12; static shapes hold it
    np.testing.assert_allclose(far[[4, 2]], [10 * 0.15625 + 9.81 / 2, -(10 * 0.046875 + 9.81 / 12)], rtol=1e-9)
    np.testing.assert_allclose((near + far)[3:], [0, 10 + 9.81, 0], atol=1e-9)


# ---- springs -----------------------------------------------------------------------------------------------------


def test_springs_are_of_first_order():
    """The motion comes near that of the closed loop with 1/k, and the springs' forces near the multipliers."""
    m = drawn("flexible-four-bar")
    times, stiffness = np.linspace(0, 0.6, 61), np.array([4e5, 8e5, 1.6e6])
    exact = cc.simulate(m, until=0.6, rtol=1e-11, t_eval=times)
    found = []
    for k in stiffness:
        # in proportion to k: no ringing is left in the second half, and the error is a series in 1/k
        run = cc.simulate(m, until=0.6, method=cc.VirtualSpring(k, 1e-3 * k), rtol=1e-11, t_eval=times)
        tree = run.program.equations.topology.tree_nq
        motion = np.abs(run.x[:, :tree] - exact.x[:, :tree])[31:].max()
        found.append([motion, np.abs(run["lam"].values - exact["lam"].values)[31:].max()])
    orders = -np.diff(np.log2(found), axis=0)
    np.testing.assert_allclose(orders, 1.0, atol=0.05)


def test_independent_rows_of_the_tripod():
    m = drawn("tripod")
    assert len(independent_rows(derive(m), m.assemble()).kept) == 9
