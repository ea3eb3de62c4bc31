"""Figures of matplotlib: mechanisms, runs, sweeps, linear models, controllers, tolerances."""
