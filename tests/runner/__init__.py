"""Modules of tests/run.py: test reports, processor time of processes, and the limits of the test budget."""
