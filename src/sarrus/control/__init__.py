"""Laws: projected inverse dynamics, force limits, hybrid control, objects held by many arms."""

from .core.hardware import Hardware, model_error
from .core.history import History
from .core.solution import QPInfo, Solution, Status
from .grasp.contacts import ContactLimits, Patch, PointContact, SoftFinger
from .grasp.force_closure import ForceClosure
from .grasp.grasp import Distribution, Grasp
from .grasp.held_object import ImpedanceSolution
from .grasp.object_impedance import ObjectImpedance
from .grasp.payload import Payload
from .grasp.wrench_estimator import Estimate, WrenchEstimator
from .hierarchy.foot_forces import FootForces
from .hierarchy.gait import Gait
from .hierarchy.solution import HierarchySolution, LevelResult, TaskResult
from .hierarchy.task_hierarchy import TaskHierarchy
from .hierarchy.tasks import PriorityTask
from .limits.limits import CableTension, Friction, LinearLimits, Preload, TorqueBounds, Unilateral
from .motion.hybrid_force_motion import HybridForceMotion
from .motion.projected_inverse_dynamics import ForceLimits, ProjectedInverseDynamics
from .outputs.body import BodyPose, Position
from .outputs.function import Function
from .outputs.output import Coordinates
from .outputs.references import MinimumJerk, SetPoint, Sinusoid, Spline
from .outputs.whole_body import CenterOfMass, Orientation, Posture, RelativePose
from .regulators.lqr import Regulation, Regulator, lqr

__all__ = [
    # laws
    "ForceLimits", "HybridForceMotion", "ObjectImpedance", "ProjectedInverseDynamics", "TaskHierarchy", "lqr",
    # outputs and tasks
    "BodyPose", "CenterOfMass", "Coordinates", "Function", "Orientation", "Position", "Posture",
    "PriorityTask", "RelativePose",
    # references
    "Gait", "MinimumJerk", "SetPoint", "Sinusoid", "Spline",
    # limits
    "CableTension", "ContactLimits", "Friction", "LinearLimits", "Preload", "TorqueBounds", "Unilateral",
    # grasps
    "Grasp", "Patch", "Payload", "PointContact", "SoftFinger", "WrenchEstimator",
    # plants that are not the model
    "FootForces", "Hardware", "model_error",
    # what comes back
    "Distribution", "Estimate", "ForceClosure", "HierarchySolution", "History", "ImpedanceSolution",
    "LevelResult", "QPInfo", "Regulation", "Regulator", "Solution", "Status", "TaskResult",
]  # fmt: skip


def __dir__() -> list[str]:
    return __all__
