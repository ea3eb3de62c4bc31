"""Cases of `python -m bench.recorded_runs`."""
