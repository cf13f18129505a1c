"""Whether actuators can produce a motion, and where they nearly cannot."""

from __future__ import annotations

import numpy as np

from closedchain.errors import ModelError, RunWarning, warn
from closedchain.pose.inverse import UNBALANCED, Terms

WEAK = 1e-3  # conditioning of the actuators below which one is told


def check_balance(x: Terms, u: np.ndarray, left: np.ndarray, t: np.ndarray, labels: list[str]) -> None:
    """Refuse a motion that the actuators cannot produce; say which part of it is not theirs to choose."""
    if not np.isfinite(u).all():
        k = int(np.argmin(np.isfinite(u).all(axis=1)))
        raise ModelError(f"the efforts at t = {t[k]:.6g} s are not finite: a force or torque there is not")
    off = np.abs(left * x.velocity_size)  # N m
    sizes = np.maximum(x.force_size, 1e-6 * x.force_size.max(initial=0.0))  # rates have errors of their own
    bound = UNBALANCED * np.maximum(sizes, np.abs(u * x.effort_size).max(axis=1, initial=0.0))
    excess = off.max(axis=1, initial=0.0) / np.maximum(bound, 1e-300)
    k = int(np.argmax(excess))
    if not off.size or excess[k] <= 1.0:
        return
    names = x.equations.topology.v_labels
    order = np.argsort(-off[k])
    worst = int(order[0])
    moving = [names[i] for i in order if off[k, i] > 0.1 * off[k, worst]][:4]
    unit = "N" if x.equations.topology.v_units[worst] == "m/s" else "N m"
    why = (
        f"{len(labels)} actuator{'s' * (len(labels) != 1)} cannot choose {x.freedoms} freedoms"
        if x.freedoms > len(labels)
        else "the actuators are in a singular pose, where something moves although all of them are locked"
    )
    raise ModelError(
        f"the actuators ({', '.join(labels)}) of {x.equations.topology.mechanism.name!r} cannot produce this motion: "
        f"at t = {t[k]:.6g} s {left[k, worst]:.4g} {unit} along {names[worst]!r} are missing "
        f"(the motion of {', '.join(map(repr, moving))} is not theirs to choose). {why}: add an actuator, or prescribe "
        "the actuated coordinates with m.drive(...) and simulate, which finds the rest of the motion"
    )


def warn_of_singular_poses(x: Terms, t: np.ndarray) -> None:
    """Say where the actuators lose their hold: efforts grow without bound there, and samples may miss it."""
    if len(x.actuators) < x.freedoms - x.idle or not len(t):
        return
    name, conditioning = x.equations.topology.mechanism.name, x.conditioning
    k = int(np.argmin(conditioning))
    if len(x.actuators) == x.freedoms > 0 and len(t) > 1:
        # the sign of what efforts do along motions that go on continuously
        N = x.motions / x.velocity_size[:, None]
        going_on = np.sign(np.linalg.det(np.einsum("nvf,nvg->nfg", N[:-1], N[1:])))
        sign = np.sign(np.linalg.det(x.felt))
        passed = np.flatnonzero(sign[1:] * sign[:-1] * going_on < 0)
        if len(passed):
            first, after = t[passed[0] : passed[0] + 2]
            warn(
                f"between t = {first:.6g} and {after:.6g} s the actuators of {name!r} pass a singular "
                "pose, where something moves although all of them are locked: near it the efforts grow without bound",
                RunWarning,
            )
            return
    if conditioning[k] < WEAK:
        warn(
            f"the actuators of {name!r} hardly hold it at t = {t[k]:.6g} s (conditioning "
            f"{conditioning[k]:.1e}; 0 is a singular pose): the efforts there are as large as that makes them",
            RunWarning,
        )
