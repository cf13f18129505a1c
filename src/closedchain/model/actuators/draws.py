"""Drawing actuators on joints, and the motors of a law of control."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from closedchain.arguments import suggest
from closedchain.errors import ModelError
from closedchain.model.actuators.base import ActuatorModel
from closedchain.model.actuators.draw import draw_actuator
from closedchain.model.drawing import Drawing, atomic
from closedchain.model.forces.actions import Actuator, Law, Motor
from closedchain.model.parts import Joint

if TYPE_CHECKING:
    from closedchain.model.mechanism import Mechanism


class DrawsActuators(Drawing):
    """The part of a mechanism that has motors with limits, and laws that command them."""

    @atomic
    def actuator(
        self,
        joint: str | Joint,
        model: ActuatorModel,
        *,
        command: Any = None,
        coordinate: str | int | None = None,
        name: str | None = None,
    ) -> Actuator:
        """Put a motor or cylinder with its limits, inertia and friction on a joint coordinate.

        Parameters
        ----------
        joint, coordinate
            As for `motor`.
        model
            A `DCMotor`, `ElectricCylinder`, `HydraulicCylinder`, `ForceLimit` or `SeriesElastic`. Its numbers become
            parameters of the drawing: ``O.motor.resistance`` and so on.
        command
            What is asked of it, as an effort of `motor`: a number, an expression, a function, or `Sampled`. The model
            says what it means: a voltage, a current, a torque, a force, the opening of a valve.
        name
            Of the motor, and in ``m.actuators``; the joint's with ``.motor`` unless given. The run has the effort on
            the joint under this name. Other parts are named after it: ``<name>.rotor``, ``<name>.friction``.

        Examples
        --------
        >>> import closedchain as cc
        >>> from closedchain.model.actuators import DCMotor
        >>> m = cc.library.pendulum()
        >>> drawn = m.actuator("hinge", DCMotor(resistance=1.0, torque_constant=0.1, gear=30), command=12.0)
        >>> drawn.name, m.parameters["hinge.motor.gear"]
        ('hinge.motor', 30.0)
        """
        j = self._joint(joint, "actuator")
        index = j.index(coordinate, f"actuator on {j.name!r}")
        return draw_actuator(self._whole, j, index, model, command, name)

    @atomic
    def control(self, law: Law, *, actuator: Any = None) -> dict[str, Motor]:
        """Let a law drive the mechanism: it says which coordinates, and with which torques or forces.

        Parameters
        ----------
        law
            An object with a method ``efforts(mechanism)`` that returns expressions by coordinate, named as in results:
            ``{"O": 5 * (1 - m.joints["O"].q)}``, or ``"table.x"`` for a joint with several.
        actuator
            What carries the law out: a model such as `DCMotor` for all of them, or some by coordinate. Its ``drive``
            must be a torque or a force. Without one the efforts act as they are.

        Returns
        -------
        dict
            The motors by coordinate; they are named ``<coordinate>.control``.

        Examples
        --------
        >>> import closedchain as cc
        >>> class Spring:
        ...     def efforts(self, mechanism):
        ...         return {"hinge": -5.0 * mechanism.joints["hinge"].q}
        >>> m = cc.library.pendulum()
        >>> m.control(Spring())["hinge"].name
        'hinge.control'
        """
        kind = type(law).__name__
        if isinstance(law, type) or not callable(getattr(law, "efforts", None)):
            raise ModelError(f"control needs a law with a method efforts(mechanism), not {law!r}")
        efforts = law.efforts(self._whole)
        if not isinstance(efforts, Mapping) or not efforts:
            raise ModelError(
                f"control: {kind}.efforts must return efforts by coordinate, for instance {{'O': 5.0}}, not {efforts!r}"
            )
        models = actuator if isinstance(actuator, Mapping) else dict.fromkeys(efforts, actuator)
        for label in models:
            if label not in efforts:
                raise ModelError(f"control: {kind} does not drive {label!r}{suggest(str(label), efforts)}")
        return {label: self._controlled(label, x, models.get(label), kind) for label, x in efforts.items()}

    def _controlled(self, label: str, wanted: Any, model: Any, law: str) -> Motor:
        joint, index = self._freedom(label, f"control: {law}")
        name, turning = f"{label}.control", joint.type.velocity_units[index] == "rad/s"
        if model is None:
            return self._whole.motor(joint, coordinate=index, name=name, **{"torque" if turning else "force": wanted})
        if isinstance(model, ActuatorModel) and not model.takes_effort:
            effort_ = "torque" if turning else "force"
            raise ModelError(
                f"control of {label!r}: {law} gives a {effort_}, but the {type(model).__name__} takes a "
                f"{model.meaning}: say drive={effort_!r}"
            )
        return self.motors[self.actuator(joint, model, command=wanted, coordinate=index, name=name).name]

    def _freedom(self, label: str, what: str) -> tuple[Joint, int]:
        """Joint and number of a velocity by its name in results."""
        for joint in self.joints.values():
            if isinstance(label, str) and label in joint.velocity_labels():
                return joint, joint.velocity_labels().index(label)
        known = [x for j in self.joints.values() for x in j.velocity_labels()]
        raise ModelError(f"{what}: no coordinate is named {label!r}{suggest(str(label), known)}")

    @property
    def _whole(self) -> Mechanism:
        """The mechanism that this is a part of."""
        return cast("Mechanism", self)
