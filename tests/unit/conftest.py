"""Runs that several tests look at; none of them may change one."""

import pytest

import closedchain as cc


@pytest.fixture(scope="session")
def four_bar_run():
    m = cc.library.four_bar()
    return cc.simulate(m, until=1.0, rtol=1e-10, t_eval=[k / 100 for k in range(101)])


@pytest.fixture(scope="session")
def platform_run():
    """Quaternions, Hooke and ball joints, slides, motors that measure, and six cuts."""
    return cc.simulate(cc.library.gough_stewart(), until=0.4, rtol=1e-10, t_eval=[k / 500 for k in range(201)])


@pytest.fixture(scope="session")
def pendulum_run():
    return cc.simulate(cc.library.pendulum(), until=1.0, rtol=1e-10)
