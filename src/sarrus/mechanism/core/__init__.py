"""What all of a Mechanism shares: model, kernel, sizes, modes, checks of arguments."""

from .core import Slices, State

__all__ = ["Slices", "State"]  # here earlier pickles look for them
