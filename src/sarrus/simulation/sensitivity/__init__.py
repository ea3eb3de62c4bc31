"""Sensitivity of runs: derivatives by parameters of the states along a run."""
