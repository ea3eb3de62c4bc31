"""Tests: independent oracles, laws, cases, gates and the kernels themselves."""
