"""Surfaces of bodies, and pairs of them that may touch."""
