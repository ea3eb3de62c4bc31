"""Benchmarks: ratios against peers measured in the same run. `python -m bench --help`."""
