"""Fuzzers: `python -m bench.fuzz --help`."""
