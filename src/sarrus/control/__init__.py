"""Laws: projected inverse dynamics, force limits, hybrid force and motion control."""

from .body_outputs import BodyPose, Position
from .function_output import Function
from .hardware import Hardware, model_error
from .hierarchy import TaskHierarchy
from .hierarchy_outputs import CenterOfMass, Orientation, Posture, RelativePose
from .hierarchy_result import HierarchySolution, LevelResult, TaskResult
from .hierarchy_tasks import PriorityTask
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
    "CenterOfMass",
    "Coordinates",
    "ForceLimits",
    "Friction",
    "Function",
    "Hardware",
    "HierarchySolution",
    "History",
    "HybridForceMotion",
    "LevelResult",
    "LinearLimits",
    "MinimumJerk",
    "Orientation",
    "Position",
    "Posture",
    "Preload",
    "PriorityTask",
    "ProjectedInverseDynamics",
    "QPInfo",
    "RelativePose",
    "SetPoint",
    "Sinusoid",
    "Solution",
    "Spline",
    "Status",
    "TaskHierarchy",
    "TaskResult",
    "TorqueBounds",
    "Unilateral",
    "model_error",
]
