"""What the loops of Modelica's Standard Library share: bars of steel, and the comparison with the official results."""

import numpy as np

import closedchain as cc


def bar(r, density, area, along, across):
    """A bar from the origin to r; its section has an area, and squared radii of gyration along and across the bar."""
    r = np.array(r, float)
    length = np.linalg.norm(r)
    mass = density * area * length
    inertia_along, inertia_across = mass * along, mass * (length**2 / 12 + across)
    e = r / length
    inertia = inertia_across * np.eye(3) + (inertia_along - inertia_across) * np.outer(e, e)
    return cc.rigid(mass, (r / 2).tolist(), ((inertia + inertia.T) / 2).tolist())


def check(mechanism, start, joint, numbers):
    """Simulate 5 s and compare the angle of a joint with the official results, to their own accuracy.

    They were made with a tolerance of 1e-6, so they lose digits as time goes on; the bounds are those of the file.
    """
    time, angle, rate = np.array(numbers["reference"]["rows"]).T
    run = cc.simulate(mechanism, start, until=5.0, rtol=1e-10, t_eval=[0.0, *time])
    bounds = {float(key.removeprefix("t<=")): x for key, x in numbers["suggested_tolerance"]["phi_abs"].items()}
    bound = np.array([next(x for end, x in sorted(bounds.items()) if t <= end) for t in time])
    assert (np.abs(run[joint].values[1:] - angle) < bound).all()
    # rates change by up to some 10 rad/s while the angle changes by one radian
    assert (np.abs(run[f"{joint}'"].values[1:] - rate) < 10 * bound).all()
    assert run.good
