"""Laws: projected inverse dynamics, force limits, hybrid control, objects held by many arms."""

from .body_outputs import BodyPose, Position
from .contacts import ContactLimits, Patch, PointContact, SoftFinger
from .estimation import Estimate, WrenchEstimator
from .force_closure import ForceClosure
from .function_output import Function
from .gait import Gait
from .grasp import Distribution, Grasp
from .hardware import Hardware, model_error
from .held import ImpedanceSolution
from .hierarchy import TaskHierarchy
from .hierarchy_outputs import CenterOfMass, Orientation, Posture, RelativePose
from .hierarchy_result import HierarchySolution, LevelResult, TaskResult
from .hierarchy_tasks import PriorityTask
from .history import History
from .hybrid import HybridForceMotion
from .impedance import ObjectImpedance
from .limits import CableTension, Friction, LinearLimits, Preload, TorqueBounds, Unilateral
from .lqr import Regulation, Regulator, lqr
from .motion import ForceLimits, ProjectedInverseDynamics
from .outputs import Coordinates
from .payload import Payload
from .references import MinimumJerk, SetPoint, Sinusoid, Spline
from .result import QPInfo, Solution, Status

__all__ = [
    "BodyPose",
    "CableTension",
    "CenterOfMass",
    "ContactLimits",
    "Coordinates",
    "Distribution",
    "Estimate",
    "ForceClosure",
    "ForceLimits",
    "Friction",
    "Function",
    "Gait",
    "Grasp",
    "Hardware",
    "HierarchySolution",
    "History",
    "HybridForceMotion",
    "ImpedanceSolution",
    "LevelResult",
    "LinearLimits",
    "MinimumJerk",
    "ObjectImpedance",
    "Orientation",
    "Patch",
    "Payload",
    "PointContact",
    "Position",
    "Posture",
    "Preload",
    "PriorityTask",
    "ProjectedInverseDynamics",
    "QPInfo",
    "Regulation",
    "Regulator",
    "RelativePose",
    "SetPoint",
    "Sinusoid",
    "SoftFinger",
    "Solution",
    "Spline",
    "Status",
    "TaskHierarchy",
    "TaskResult",
    "TorqueBounds",
    "Unilateral",
    "WrenchEstimator",
    "lqr",
    "model_error",
]
