"""The types of all results of public calls, for annotations and `isinstance`.

    from sarrus.results import Motion, Trajectory

Users do not construct them: `Mechanism`, `simulate`, `linearize` and the controllers return them.
"""

from .control.core.history import History
from .control.core.solution import QPInfo, Solution
from .control.core.solution import Status as ControlStatus
from .control.grasp.force_closure import ForceClosure
from .control.grasp.grasp import Distribution
from .control.grasp.held_object import ImpedanceSolution
from .control.grasp.payload import Payload
from .control.grasp.wrench_estimator import Estimate
from .control.hierarchy.operational_space import OperationalSpace
from .control.hierarchy.solution import HierarchySolution, LevelResult, TaskResult
from .control.regulators.lqr import Regulation, Regulator
from .dynamics.constraint_inertia import ConstraintInertia
from .dynamics.decoupling import Coupling
from .dynamics.derivatives import Derivatives
from .dynamics.forward import Motion
from .dynamics.impact import Impact
from .dynamics.inverse import Torques
from .dynamics.step_derivatives import StepDerivatives
from .dynamics.terms import Energy, Terms, Units
from .linearization.compiled_models import LinearModels
from .linearization.equilibrium import Equilibrium
from .linearization.model import LinearModel
from .linearization.modes import Mode, Reach
from .linearization.operating_point import OperatingPoint
from .linearization.trajectory import LinearTrajectory
from .mechanism.core.core import Slices, State
from .mechanism.query.assembly_modes import Assemblies
from .mechanism.query.contact_queries import Contacts
from .mechanism.query.holding import Holding
from .mechanism.query.measure_event import MeasureEvent
from .mechanism.query.reaching import Reached
from .mechanism.variants.parameter_derivatives import ParameterDerivatives
from .models.base.pose import Pose
from .models.shapes.drawing import Frame
from .models.shapes.floor import Floor
from .projection.assembly import Assembly
from .projection.branches import Branch
from .projection.decomposition import Decomposition
from .projection.decompositions import Decompositions
from .projection.mobility import Mobility
from .projection.sweep import Sweep
from .simulation.contacts.contact_record import ContactRecord
from .simulation.copies.result import Rollout
from .simulation.events.events import Event
from .simulation.run.outcome import Status
from .simulation.study import Study, StudyRow
from .simulation.trajectory.switched_trajectory import SwitchedTrajectory
from .simulation.trajectory.trajectory import Sample, Trajectory
from .twins.limits import Polytope, TwinLimits
from .twins.twin import Twin, TwinError

__all__ = [
    # what a mechanism says of itself
    "Floor", "Frame",
    # a mechanism at a pose
    "Assemblies", "Assembly", "Branch", "Contacts", "Decomposition",
    "Decompositions", "Mobility", "ParameterDerivatives",
    "Pose", "Reached", "Slices", "State", "Sweep",
    # its dynamics
    "ConstraintInertia", "Coupling", "Derivatives", "Energy", "Holding", "Impact", "Motion",
    "StepDerivatives", "Terms", "Torques", "Units",
    # trees of closed robots
    "Polytope", "Twin", "TwinError", "TwinLimits",
    # linear models
    "Equilibrium", "LinearModel", "LinearModels", "LinearTrajectory", "Mode", "OperatingPoint", "Reach",
    # runs
    "ContactRecord", "Event", "MeasureEvent", "Rollout", "Sample", "Status", "Study", "StudyRow",
    "SwitchedTrajectory", "Trajectory",
    # control steps
    "ControlStatus", "Distribution", "Estimate", "ForceClosure", "HierarchySolution", "History",
    "ImpedanceSolution", "LevelResult", "OperationalSpace", "Payload", "QPInfo", "Regulation", "Regulator",
    "Solution", "TaskResult",
]  # fmt: skip


def __dir__() -> list[str]:
    return __all__
