"""Planar mechanisms of flexible beams and rigid bodies in Exudyn, from plain numbers.

An oracle for flexible links: another code (Exudyn, by J. Gerstmayr), other coordinates and other beams. A beam is a
chain of cubic elements in absolute nodal coordinates (places and slopes; Gerstmayr and Irschik 2008), whose strains are
exact for any deflection: axial ``|r'| - 1``, bending ``d(angle of r')/ds``. Sections are thin: no shear, no rotary
inertia. Joints are constraints with multipliers. Nothing here knows closedchain.

    p = Planar(gravity=(0, -9.81))
    p.beam("arm", (0, 0), (0.5, 0), mass_per_length=4.7, EI=100.0, EA=3e6, elements=8)
    p.pin("arm.start")
    p.watch("tip", "arm.end")
    run = p.march(until=0.3, step=1e-4, samples=30)
    run["t"], run["tip"], run["tip'"]                               # (time,), (time, 2), (time, 2)

A place is written ``beam.start``, ``beam.end``, ``beam.0.5`` (a fraction of the length at which there is a node),
``body.point``, or as the two numbers of a point on the ground.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import exudyn
import exudyn.itemInterface
import numpy as np

Point = tuple[float, float]
Place = str | Point
Item = Any  # Exudyn numbers its nodes, bodies, markers and sensors by types of its own

items = exudyn.itemInterface
Output = exudyn.OutputVariableType
FULL_INTEGRATION = 0  # 5 Gauss points for the axial strain, 3 for bending
IN_PLANE = [1, 1, 0, 0, 0, 1]  # what a weld holds: x, y, and the turn about z


@dataclass(frozen=True)
class Chain:
    """The nodes and elements of a beam from start to end, and its direction in the drawing."""

    nodes: list[Item]
    elements: list[Item]
    direction: float

    def node(self, at: str) -> int:
        """The index of the node at ``start``, ``end`` or a fraction of the length."""
        k = {"start": 0.0, "end": 1.0}.get(at, at)
        k = float(k) * len(self.elements)
        if abs(k - round(k)) > 1e-9:
            raise ValueError(f"a beam of {len(self.elements)} elements has no node at {at} of its length")
        return round(k)


@dataclass(frozen=True)
class Rigid:
    """A rigid body, its x axis along ``direction`` in the drawing; its points from the centre of mass, in its axes."""

    body: Item
    direction: float
    points: dict[str, np.ndarray]


class Planar:
    """A mechanism in the plane xy, drawn in an undeformed pose.

    Parameters
    ----------
    gravity
        Acceleration along x and y, m/s^2.
    """

    rounding = 1e-14  # in elastic forces, relative to the stiffness of an element: m

    def __init__(self, gravity: Point = (0.0, 0.0)):
        self._container = exudyn.SystemContainer()  # one of its own: mechanisms do not see each other
        self._system = self._container.AddSystem()
        self._gravity = [*gravity, 0.0]
        self._ground = self._system.AddObject(items.ObjectGround())
        self._parts: dict[str, Chain | Rigid] = {}
        self._stiffest = 0.0
        self._torques: list[Item] = []
        self._watched: dict[str, tuple[Item, slice]] = {}

    # ---- bodies

    def beam(
        self,
        name: str,
        start: Point,
        end: Point,
        *,
        mass_per_length: float,
        EI: float,
        EA: float,
        elements: int,
        velocities: tuple[Point, Point] = ((0.0, 0.0), (0.0, 0.0)),
    ) -> None:
        """A straight beam, undeformed; the velocities of its ends at the start must not stretch it."""
        ends, velocities = np.array([start, end], float), np.array(velocities, float)
        size = math.dist(*ends) / elements
        nodes, cables = self._nodes_and_elements(ends, velocities, mass_per_length, EI, EA, elements)
        for cable in cables:
            self._weigh(cable)
        self._stiffest = max(self._stiffest, EA / size, 12 * EI / size**3)
        along = ends[1] - ends[0]
        self._parts[name] = Chain(nodes, cables, math.atan2(along[1], along[0]))

    def rigid(
        self,
        name: str,
        centre: Point,
        *,
        mass: float,
        inertia: float,
        points: dict[str, Point],
        direction: float = 0.0,
        velocity: Point = (0.0, 0.0),
        spin: float = 0.0,
    ) -> None:
        """A rigid body with points, given where they are in the drawing; inertia about the centre of mass."""
        node = self._system.AddNode(
            items.NodeRigidBody2D(
                referenceCoordinates=[*centre, direction], initialVelocities=[*map(float, velocity), spin]
            )
        )
        body = self._system.AddObject(items.ObjectRigidBody2D(mass=mass, inertia=inertia, nodeNumber=node))
        self._weigh(body)
        c, s = math.cos(direction), math.sin(direction)
        inwards = np.array([[c, s], [-s, c]])
        here = {point: inwards @ (np.array(at, float) - centre) for point, at in points.items()}
        self._parts[name] = Rigid(body, direction, here)

    def rod(self, name: str, start: Point, end: Point, *, mass: float, spin: float = 0.0) -> None:
        """A rigid thin rod from ``start`` to ``end``, turning about its start."""
        start, end = np.array(start, float), np.array(end, float)
        along = end - start
        self.rigid(
            name,
            tuple((start + end) / 2),
            mass=mass,
            inertia=mass * (along @ along) / 12,
            points={"start": start, "end": end},
            direction=math.atan2(along[1], along[0]),
            velocity=tuple(spin / 2 * np.array([-along[1], along[0]])),
            spin=spin,
        )

    # ---- joints

    def pin(self, place: Place, other: Place) -> None:
        """Keeps two places together."""
        markers = [self._marker(place), self._marker(other)]
        self._system.AddObject(items.ObjectJointRevolute2D(markerNumbers=markers))

    def weld(self, place: Place, other: Place) -> None:
        """Keeps two places together, and the angle between the tangents there."""
        markers = [self._marker(x, turned=-self._direction(x)) for x in (place, other)]
        self._system.AddObject(items.ObjectJointGeneric(markerNumbers=markers, constrainedAxes=IN_PLANE))

    def slider(self, name: str, place: Point, *, mass: float) -> None:
        """A body ``name`` with a point ``name.pin``, which moves along x without turning."""
        self.rigid(name, place, mass=mass, inertia=mass, points={"pin": place})
        node = self._system.GetObject(self._parts[name].body)["nodeNumber"]
        still = self._system.AddNode(items.NodePointGround())
        ground = self._system.AddMarker(items.MarkerNodeCoordinate(nodeNumber=still, coordinate=0))
        for held in (1, 2):
            marker = self._system.AddMarker(items.MarkerNodeCoordinate(nodeNumber=node, coordinate=held))
            self._system.AddObject(items.ObjectConnectorCoordinate(markerNumbers=[ground, marker]))

    # ---- loads

    def torque(self, place: str, law: float | Callable[[float], float]) -> None:
        """A torque about z, N m, on the section at a place: a number, or a function of time."""
        load = items.LoadTorqueVector(markerNumber=self._marker(place))
        if callable(law):
            load.loadVectorUserFunction = lambda system, t, vector: [0.0, 0.0, law(t)]
        else:
            load.loadVector = [0.0, 0.0, law]
        self._torques.append(self._system.AddLoad(load))

    # ---- results

    def watch(self, name: str, place: str) -> None:
        """Samples a place as ``name`` and its velocity as ``name'``."""
        for column, kind in ((name, Output.Position), (f"{name}'", Output.Velocity)):
            self._watched[column] = self._sensor(place, kind), slice(1, 3)

    def watch_angle(self, name: str, place: str) -> None:
        """Samples the angle of the tangent at a place as ``name``; it turns less than half between samples."""
        self._watched[name] = self._sensor(place, Output.Rotation), slice(-1, None)

    def march(
        self,
        until: float,
        step: float,
        samples: int,
        jumps: Iterable[tuple[float, tuple[float, ...]]] = (),
        rho_inf: float = 1.0,
    ) -> dict[str, np.ndarray]:
        """Integrates by the generalised-alpha method with a fixed step, and samples evenly from 0 to ``until``.

        Parameters
        ----------
        jumps
            Times at which constant torques change, each with all torques from then on, in the order in which they were
            drawn. The integrator starts anew there: a step across a jump would have an error of its own order.
        rho_inf
            1 damps nothing.
        """
        self._system.Assemble()
        settings = exudyn.SimulationSettings()
        settings.linearSolver.solverType = exudyn.LinearSolverType.EigenSparse
        settings.solution.file.write = False
        settings.solution.sensors.writePeriod = until / samples
        integration = settings.timeIntegration
        integration.generalizedAlpha.spectralRadius = rho_inf
        integration.newton.useModifiedNewton = True
        # the iteration cannot do better than rounding in the elastic forces allows
        integration.newton.absoluteTolerance = max(1e-8, self.rounding * self._stiffest)
        integration.adaptiveStep = False
        found: dict[str, list[np.ndarray]] = {name: [] for name in ("t", *self._watched)}
        since = 0.0
        for change, torques in (*jumps, (until, ())):
            integration.startTime, integration.endTime = since, change
            integration.numberOfSteps = round((change - since) / step)
            exudyn.SolveDynamic(self._system, settings, updateInitialValues=True)
            for name, (sensor, columns) in self._watched.items():
                data = self._system.GetSensorStoredData(sensor)
                fresh = slice(0 if since == 0.0 else 1, None)  # the first sample repeats the last one
                found[name].append(data[fresh, columns])
            found["t"].append(data[fresh, 0])
            for load, value in zip(self._torques, torques, strict=False):
                self._system.SetLoadParameter(load, "loadVector", [0.0, 0.0, value])
            since = change
        columns = {name: np.concatenate(parts) for name, parts in found.items()}
        return {name: np.unwrap(x[:, 0]) if x.ndim == 2 and x.shape[1] == 1 else x for name, x in columns.items()}

    def frequencies(self, count: int) -> np.ndarray:
        """The lowest frequencies about the drawn pose, rad/s; a freedom to move counts as one of (nearly) zero."""
        self._system.Assemble()
        squares, _ = exudyn.ComputeODE2Eigenvalues(self._system)
        return np.sqrt(np.sort(np.abs(squares)))[:count]

    # ---- inside

    def _nodes_and_elements(
        self, ends: np.ndarray, velocities: np.ndarray, mass_per_length: float, EI: float, EA: float, elements: int
    ) -> tuple[list[Item], list[Item]]:
        d, w = np.diff(ends, axis=0)[0], np.diff(velocities, axis=0)[0]
        length = math.hypot(*d)
        nodes = [
            self._system.AddNode(
                items.NodePoint2DSlope1(
                    referenceCoordinates=[*(ends[0] + x * d), *(d / length)],
                    initialVelocities=[*(velocities[0] + x * w), *(w / length)],
                )
            )
            for x in np.linspace(0.0, 1.0, elements + 1)
        ]
        cables = [
            self._system.AddObject(
                items.ObjectANCFCable2D(
                    length=length / elements,
                    massPerLength=mass_per_length,
                    bendingStiffness=EI,
                    axialStiffness=EA,
                    nodeNumbers=nodes[k : k + 2],
                    useReducedOrderIntegration=FULL_INTEGRATION,
                )
            )
            for k in range(elements)
        ]
        return nodes, cables

    def _weigh(self, body: Item) -> None:
        if any(self._gravity):
            marker = self._system.AddMarker(items.MarkerBodyMass(bodyNumber=body))
            self._system.AddLoad(items.LoadMassProportional(markerNumber=marker, loadVector=self._gravity))

    def _direction(self, place: Place) -> float:
        return self._parts[place.partition(".")[0]].direction if isinstance(place, str) else 0.0

    def _marker(self, place: Place, turned: float = 0.0) -> Item:
        """A marker with the axes of the section at a place, turned."""
        c, s = math.cos(turned), math.sin(turned)
        frame = np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1.0]])
        if not isinstance(place, str):
            frame[:2, 3] = place
            return self._system.AddMarker(items.MarkerBodyRigid(bodyNumber=self._ground, localHT=frame))
        name, _, at = place.partition(".")
        part = self._parts[name]
        if isinstance(part, Chain):
            node = part.nodes[part.node(at)]
            return self._system.AddMarker(items.MarkerNodeRigid(nodeNumber=node, localHT=frame))
        frame[:2, 3] = part.points[at]
        return self._system.AddMarker(items.MarkerBodyRigid(bodyNumber=part.body, localHT=frame))

    def _sensor(self, place: str, kind: Item) -> Item:
        return self._system.AddSensor(
            items.SensorMarker(
                markerNumber=self._marker(place), outputVariableType=kind, storeInternal=True, writeToFile=False
            )
        )


class PlanarExact(Planar):
    """The same with geometrically exact beams (Simo and Vu-Quoc 1986), to check one kind of beam by the other.

    Quadratic elements with shear (stiffness ``E A``) and rotary inertia (radius of gyration ``sqrt(EI/EA)``).
    """

    rounding = 5e-13

    def _nodes_and_elements(
        self, ends: np.ndarray, velocities: np.ndarray, mass_per_length: float, EI: float, EA: float, elements: int
    ) -> tuple[list[Item], list[Item]]:
        d, w = np.diff(ends, axis=0)[0], np.diff(velocities, axis=0)[0]
        length = math.hypot(*d)
        turning = [math.atan2(d[1], d[0])], [(d[0] * w[1] - d[1] * w[0]) / length**2]
        nodes = [
            self._system.AddNode(
                items.NodeRigidBody2D(
                    referenceCoordinates=[*(ends[0] + x * d), *turning[0]],
                    initialVelocities=[*(velocities[0] + x * w), *turning[1]],
                )
            )
            for x in np.linspace(0.0, 1.0, 2 * elements + 1)
        ]
        beams = [
            self._system.AddObject(
                items.ObjectBeamGeometricallyExact2D(
                    length=length / elements,
                    massPerLength=mass_per_length,
                    crossSectionInertia=mass_per_length * EI / EA,
                    bendingStiffness=EI,
                    axialStiffness=EA,
                    shearStiffness=EA,
                    nodeNumbers=nodes[2 * k : 2 * k + 3],
                )
            )
            for k in range(elements)
        ]
        return nodes[::2], beams
