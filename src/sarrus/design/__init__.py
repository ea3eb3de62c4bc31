"""Design: values of parameters that serve a purpose, and how much their tolerances matter."""

from .evaluation import Poses, Sweep
from .optimize import Optimum, optimize
from .run_evaluation import Run
from .tolerances import Tolerances, tolerances

__all__ = ["Optimum", "Poses", "Run", "Sweep", "Tolerances", "optimize", "tolerances"]
