"""Shapes of parts, meshes of files, and what pictures show."""

from .shapes import MassProperties

__all__ = ["MassProperties"]  # here earlier pickles look for it
