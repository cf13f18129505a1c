"""Consistent initial states, and integration in time."""
