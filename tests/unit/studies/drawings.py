"""Mechanisms of the tests of studies, drawn once."""

import closedchain as cc

FOUR_BAR = cc.library.four_bar()
PENDULUM = cc.library.pendulum()
