"""Linear models of mechanisms with loops: local coordinates, A B C D, modes, equilibrium."""

from .equilibrium import Equilibrium, equilibrium
from .linearize import linearize
from .model import LinearModel
from .trajectory import LinearTrajectory, linearize_trajectory

__all__ = [
    "Equilibrium",
    "LinearModel",
    "LinearTrajectory",
    "equilibrium",
    "linearize",
    "linearize_trajectory",
]
