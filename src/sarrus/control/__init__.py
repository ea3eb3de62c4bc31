"""Laws: projected inverse dynamics, force limits, hybrid force and motion control."""

from .body_outputs import BodyPose, Position
from .function_output import Function
from .hardware import Hardware, model_error
from .history import History
from .hybrid import HybridForceMotion
from .limits import CableTension, Friction, LinearLimits, Preload, TorqueBounds, Unilateral
from .motion import ForceLimits, ProjectedInverseDynamics
from .outputs import Coordinates
from .references import MinimumJerk, SetPoint, Sinusoid, Spline
from .result import QPInfo, Solution, Status

__all__ = [
    "BodyPose",
    "CableTension",
    "Coordinates",
    "ForceLimits",
    "Friction",
    "Function",
    "Hardware",
    "History",
    "HybridForceMotion",
    "LinearLimits",
    "MinimumJerk",
    "Position",
    "Preload",
    "ProjectedInverseDynamics",
    "QPInfo",
    "SetPoint",
    "Sinusoid",
    "Solution",
    "Spline",
    "Status",
    "TorqueBounds",
    "Unilateral",
    "model_error",
]
