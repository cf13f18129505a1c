"""Random mechanisms: trees and closed loops of any size, branching and joints, the same for the same seed.

Every joint is drawn between randomly placed and turned frames, in a random direction, so that about half of the tree
joints are walked backwards. A loop is closed by construction: the tree stands at random coordinates, and the frames of
the closing joint are placed where that joint's own random coordinates want them.

    drawing = draw(seed=3, bodies=6, loops=2)
    drawing.mechanism         # the cc.Mechanism
    drawing.at["j2"]          # coordinates of a joint at which all loops are closed; they are its guess, too
"""

from dataclasses import dataclass

import numpy as np

import closedchain as cc
from closedchain.cut.topology import cut as cut_open
from closedchain.model.bodies.rotation import from_axis, from_two_axes
from closedchain.model.joints.types import JOINT_TYPES
from tests.identities.independent import Independent, inverse, joint_pose, pose, quaternion_of, rotation_of

KINDS = tuple(JOINT_TYPES)
CLOSING_KINDS = tuple(name for name, kind in JOINT_TYPES.items() if kind.closure)  # those that lock something
SCALAR_KINDS = tuple(name for name, kind in JOINT_TYPES.items() if not kind.has_quaternion)


@dataclass(frozen=True)
class Drawing:
    """A mechanism, the joints that close its loops, and the coordinates of every joint where they are closed."""

    mechanism: cc.Mechanism
    closing: tuple[str, ...]
    at: dict[str, np.ndarray]
    poses: dict[str, np.ndarray]  # of the bodies there

    @property
    def topology(self):
        return cut_open(self.mechanism)

    @property
    def independent(self):
        return Independent(self.topology)

    def q(self):
        """The closed configuration in the numbering of the cut mechanism."""
        q = [np.zeros(0)]
        for link in self.topology.links:
            T = self.poses[link.body.name]
            # a body that the cuts set adrift has a joint of its own
            q.append(self.at.get(link.joint.name, np.concatenate([T[:3, 3], quaternion_of(T[:3, :3])])))
        q.append([self.at[counter.joint.name][counter.index] for counter in self.topology.counters])
        return np.concatenate(q)


def draw(
    seed,
    *,
    bodies=5,
    loops=0,
    branching=0.5,
    kinds=KINDS,
    closing=CLOSING_KINDS,
    backwards=0.5,
    acting=False,
    geared=None,
    mobility=1,
    cut="closing",
    loop_length=None,
):
    """Draw a random mechanism.

    Parameters
    ----------
    seed
        Number, or sequence of numbers.
    bodies, loops
        How many.
    branching
        Probability that a body hangs on any earlier body (or the ground) instead of the last one: 0 is a chain.
    kinds, closing
        Joints to choose from, in the tree and to close the loops.
    backwards
        Probability that a joint is drawn from the later body to the earlier one.
    acting
        Also draw motors, springs, dampers, friction, forces and moments at frames, on closing joints too.
    geared
        Also draw rotors, stops, a coupling of two joints and a prescribed motion, which agree with the drawing at this
        time, s. The coupling and the motion take one freedom each.
    mobility
        Freedoms left at least: by each loop alone, and by all loops together, if their rows are independent.
    cut
        ``"closing"``: the closing joints are cut; None: the library chooses; or names of the joints to cut.
    loop_length
        How many joints each loop has, the closing one included; None: any number.
    """
    rng = np.random.default_rng(seed)
    graph = _graph(rng, bodies, loops, branching, kinds, closing, mobility, loop_length)
    return _build(rng, f"random {seed}", *graph, backwards, acting, cut, geared=geared)


def draw_platform(seed, *, limbs=6, planar=False, acting=False, backwards=0.5):
    """Draw a parallel robot: many limbs that all meet at body ``b1``, which is free (in the plane, if all is planar).

    No limb takes a freedom from the platform. In a planar one all axes are parallel.
    """
    rng = np.random.default_rng(seed)
    kinds = ["revolute"] if planar else ["revolute", "universal", "spherical", "cylindrical", "planar"]
    tree, chords = [(0, "planar" if planar else "free")], []
    for _ in range(limbs):
        kind = str(rng.choice(kinds if planar else kinds[1:]))
        locked = 2 if planar else 6 - JOINT_TYPES[kind].nv
        parent = 0
        while locked > 0:
            joint = str(rng.choice(kinds))
            tree.append((parent, joint))
            parent = len(tree)
            locked -= JOINT_TYPES[joint].nv
        chords.append((parent, 1, kind))
    return _build(rng, f"platform {seed}", tree, chords, backwards, acting, "closing", planar)


def _build(rng, title, tree, chords, backwards, acting, cut, planar=False, geared=None):
    """The mechanism of a graph, at random coordinates; closed by placing the frames of the chords."""
    bodies, loops = len(tree), len(chords)
    names = tuple(f"loop{k + 1}" for k in range(loops))
    opened = set(names if cut == "closing" else cut or ())
    m = cc.Mechanism(title, gravity=rng.normal(0, 5, 3))
    body = [m.ground, *(m.body(f"b{i}", shape(rng)) for i in range(1, bodies + 1))]
    T = {0: pose()}
    at = {}

    def connect(name, kind, a, b):
        """Draw a joint from a to b; it gives the pose of the new body, or closes a loop between two old ones."""
        if rng.random() < backwards:
            a, b = b, a
        q, frame_a, frame_b = coordinates(rng, kind), random_frame(rng, planar), random_frame(rng, planar)
        options, turn = ({}, pose()) if planar else random_axes(rng, kind)
        if len(q):
            options["guess"] = q
        if kind == "screw":
            options["pitch"] = rng.uniform(0.2, 1.0) * rng.choice([-1, 1])
        if acting and JOINT_TYPES[kind].nv and rng.random() < 0.5:
            options["friction"] = cc.Friction(rng.uniform(0, 1), rng.uniform(0, 1), velocity=rng.uniform(0.1, 1))
        if geared is not None and JOINT_TYPES[kind].nv == 1 and rng.random() < 0.5:
            low, high = q[0] + rng.choice([-1, 1]) * rng.uniform(0.1, 1) + [-0.05, 0.05]
            options["limits"] = cc.Stops(low, high, stiffness=rng.uniform(1, 9), damping=rng.uniform(0, 1))
        X = turn @ joint_pose(kind, q, options.get("pitch", 0.0)) @ inverse(turn)
        if a in T and b in T:
            frame_b = inverse(T[b]) @ T[a] @ frame_a @ X
        elif a in T:
            T[b] = T[a] @ frame_a @ X @ inverse(frame_b)
        else:
            T[a] = T[b] @ frame_b @ inverse(X) @ inverse(frame_a)
        m.joint(kind, name, put_on(body[a], frame_a), put_on(body[b], frame_b), cut=name in opened or None, **options)
        at[name] = q

    for i, (parent, kind) in enumerate(tree, start=1):
        connect(f"j{i}", kind, parent, i)
    for name, (a, b, kind) in zip(names, chords, strict=True):
        connect(name, kind, a, b)
    if acting:
        _act(m, rng, body)
    if geared is not None:
        _gear(m, rng, at, geared)
    return Drawing(m, names, at, {body[i].name: T[i] for i in T})


# ---- parts -------------------------------------------------------------------------------------------------


def shape(rng):
    """Mass properties that a body can have: those of a cloud of points."""
    points, masses = rng.normal(0, 0.3, (6, 3)), rng.uniform(0.1, 0.5, 6)
    com = masses @ points / masses.sum()
    r = points - com
    I = sum(m * ((x @ x) * np.eye(3) - np.outer(x, x)) for m, x in zip(masses, r, strict=True))
    return cc.rigid(masses.sum(), com, I)


def coordinates(rng, kind):
    """Random coordinates of a joint; quaternions of length one and either sign."""
    kind = JOINT_TYPES[kind]
    q = np.array([rng.uniform(-3, 3) if unit == "rad" else rng.uniform(-0.5, 0.5) for unit in kind.coordinate_units])
    if kind.has_quaternion:
        four = rng.normal(size=4)
        q[-4:] = four / np.linalg.norm(four)
    return q


def random_q(rng, topology):
    """A configuration anywhere, loops open."""
    tree = [coordinates(rng, link.joint.type.name) for link in topology.links]
    turns = rng.uniform(-20, 20, len(topology.counters))
    return np.concatenate([np.zeros(0), *tree, turns])


def random_rotation(rng):
    four = rng.normal(size=4)
    return rotation_of(four / np.linalg.norm(four))


def random_frame(rng, planar=False):
    if planar:
        return pose(r=[*rng.normal(0, 0.4, 2), 0])
    return pose(random_rotation(rng), rng.normal(0, 0.4, 3))


def put_on(body, frame):
    return body.at(*frame[:3, 3], R=frame[:3, :3])


def random_axes(rng, kind):
    """Sometimes the joint's axes are turned in its frames: the options that say so, and the turn."""
    if rng.random() < 0.5:
        return {}, pose()
    R = random_rotation(rng)
    if kind == "universal":
        axes = (R[:, 0], R[:, 1])
        return {"axes": axes}, pose(np.array(from_two_axes(*axes, "test")))
    return {"axis": R[:, 2]}, pose(np.array(from_axis(R[:, 2], "test")))


# ---- the graph ---------------------------------------------------------------------------------------------


def _graph(rng, bodies, loops, branching, kinds, closing, mobility, loop_length):
    """(parent, kind) of each body, and (a, b, kind) of each loop; drawn again until the loops leave freedoms."""
    for _ in range(1000):
        parents = [rng.integers(0, i) if rng.random() < branching else i - 1 for i in range(1, bodies + 1)]
        chosen = [str(rng.choice(kinds)) for _ in parents]
        freedoms = [JOINT_TYPES[k].nv for k in chosen]
        chords, rows = [], 0
        for _ in range(loops):
            kind = str(rng.choice(closing))
            locked = 6 - JOINT_TYPES[kind].nv
            pairs = [
                (a, b)
                for b in range(1, bodies + 1)
                for a in range(b)
                if sum(freedoms[i - 1] for i in _between(parents, a, b)) - locked >= mobility
                and loop_length in (None, len(_between(parents, a, b)) + 1)
            ]
            if not pairs:
                break
            chords.append((*pairs[rng.integers(len(pairs))], kind))
            rows += locked
        if len(chords) == loops and sum(freedoms) - rows >= mobility:
            return list(zip(parents, chosen, strict=True)), chords
    raise ValueError(f"no mechanism of {bodies} bodies with joints {kinds} and {loops} loops keeps {mobility} freedoms")


def _between(parents, a, b):
    """Bodies whose joints lie on the way from a to b."""

    def up(i):
        path = set()
        while i > 0:
            path.add(i)
            i = parents[i - 1]
        return path

    return up(a) ^ up(b)


# ---- what acts ---------------------------------------------------------------------------------------------


def _act(m, rng, body):
    """One of everything at least, on random joints and frames; about every other joint is driven."""
    moving = [j for j in m.joints.values() if j.type.nv]
    scalar = [j for j in moving if not j.type.has_quaternion]

    def pick(joints):
        joint = joints[rng.integers(len(joints))]
        return joint, int(rng.integers(joint.type.nv))

    for joint in moving:
        if rng.random() < 0.5:
            index = int(rng.integers(joint.type.nv))
            turns = joint.type.velocity_units[index] == "rad/s"
            m.motor(joint, **{"torque" if turns else "force": effort(m, rng)}, coordinate=index)
    for _ in range(2):
        if scalar:
            joint, index = pick(scalar)
            m.joint_spring(joint, rng.uniform(1, 9), rest=rng.normal(), coordinate=index)
        joint, index = pick(moving)
        m.joint_damper(joint, rng.uniform(0.1, 2), coordinate=index)

    def somewhere(i):
        return put_on(body[i], random_frame(rng))

    for axes in ("world", "frame"):
        on = somewhere(int(rng.integers(1, len(body))))
        force, moment = ([effort(m, rng) for _ in range(3)] for _ in range(2))
        m.force(f"push in {axes} axes", on, force, moment=moment, axes=axes)
    for name, length, damping in (("plain", 0, 0), ("long", 0.7, 0), ("damped", 0.2, 1.3)):
        a, b = rng.choice(len(body), 2, replace=False)
        m.spring(
            f"{name} spring", somewhere(int(a)), somewhere(int(b)), rng.uniform(1, 9), length=length, damping=damping
        )


def _gear(m, rng, at, time):
    """Rotors, one coupling and one prescribed motion, on joints that are cut where possible."""
    moving = [j for j in m.joints.values() if j.type.nv]
    for _ in range(3):
        joint = moving[rng.integers(len(moving))]
        m.rotor(joint, rng.uniform(0.01, 0.1), ratio=rng.uniform(1, 4), coordinate=int(rng.integers(joint.type.nv)))
    # the angle of a cut joint is known up to whole turns only, and cannot be coupled
    ends = [
        (j, i)
        for j in moving
        if not j.type.has_quaternion
        for i, unit in enumerate(j.type.coordinate_units)
        if not j.cut or unit == "m" or j.type.name == "screw"
    ]
    ends.sort(key=lambda end: not end[0].cut)  # cut joints first, since they are rare
    (driven, i), (prescribed, k), (driver, j) = ends[0], ends[1], ends[-1]
    ratio = rng.uniform(0.5, 2)
    offset = at[driven.name][i] - ratio * at[driver.name][j]
    m.couple("gear", driven.labels()[i], driver.labels()[j], ratio=ratio, offset=offset)
    m.drive(prescribed, at[prescribed.name][k] + rng.uniform(0.2, 1) * cc.math.sin(3 * (cc.t - time)), coordinate=k)


def effort(m, rng):
    """A torque or force: a number, or an expression of time, coordinates and velocities."""
    kind = rng.integers(4)
    if kind == 0:
        return rng.normal(0, 3)
    if kind == 1:
        return rng.normal(0, 3) * cc.math.sin(2 * cc.t + rng.normal())
    scalar = [j for j in m.joints.values() if j.type.nq and not j.type.has_quaternion]
    turning = [j for j in m.joints.values() if j.type.nv]
    speed = np.ravel(turning[rng.integers(len(turning))].v)[0]
    if kind == 2 or not scalar:
        return -rng.uniform(0, 2) * speed + cc.math.where(cc.t < 1, 1.0, 2.0)
    place = np.ravel(scalar[rng.integers(len(scalar))].q)[0]
    return cc.math.interp(place, (-2, 0, 1, 2), rng.normal(0, 2, 4)) + cc.math.minimum(speed, 1.0)
