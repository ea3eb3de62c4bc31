"""Twins: robots with closed loops as trees for other simulators, with exact maps to their motors."""

from .twin import Twin, TwinError, twin

__all__ = ["Twin", "TwinError", "twin"]
