"""Mechanisms with closed loops, redundant constraints, singular poses and passive joints.

    import sarrus as sr

    mech = sr.library.sarrus()
    print(mech)                                   # what it can do
    motion = mech.forward_dynamics(*mech.default)

Notation, signs and shapes: docs/notation.md.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING, Any

from .constraints.couplings import *
from .constraints.custom import *
from .constraints.gears import *
from .constraints.moving_distances import *
from .constraints.points import *
from .constraints.polynomials import *
from .constraints.profiles import *
from .constraints.pulleys import *
from .constraints.rolling import *
from .constraints.ropes import *
from .constraints.rows import Constraint as _Constraint
from .constraints.tooth_friction import *
from .dynamics.impact import Impact
from .errors import (
    AssemblyError,
    EquilibriumError,
    InputError,
    ModelError,
    SarrusError,
    SarrusWarning,
    SingularConstraintError,
    UnknownNameError,
)
from .mechanism.describe.force_measures import *
from .mechanism.describe.measure import Measure as _Measure
from .mechanism.describe.measures import *
from .mechanism.describe.pressure_angle import *
from .mechanism.describe.sensors import *
from .mechanism.mechanism import Mechanism
from .mechanism.spec import MechanismSpec
from .models.base.pose import Pose
from .models.base.restore import restore
from .models.flexible.beam import *
from .models.flexible.flexible_part import FlexiblePart as _FlexiblePart
from .models.flexible.modal_body import *
from .models.kinds.actuator_law import ActuatorLaw
from .models.kinds.axial_friction import *
from .models.kinds.bearing_friction import *
from .models.kinds.body_force import *
from .models.kinds.bushing import *
from .models.kinds.coulomb_friction import *
from .models.kinds.end_stop import *
from .models.kinds.flexibility import *
from .models.kinds.forces import *
from .models.kinds.forces import Force as _Force
from .models.kinds.formula_force import *
from .models.kinds.table_forces import *
from .models.kinds.user_force import *
from .models.shapes.convex_shapes import *
from .models.shapes.plate import *
from .models.shapes.profile import *
from .models.shapes.shapes import *
from .models.shapes.shapes import Shape as _Shape
from .models.shapes.surface_mesh import *
from .models.shapes.visual import Visual
from .models.tree.joint import Joint as _Joint
from .models.tree.joints import *
from .models.tree.node_deflection import *
from .projection.branches import Branch
from .projection.decompose import decompose
from .projection.decomposition import Decomposition
from .projection.user_chart import Chart

if TYPE_CHECKING:
    from . import bridge, control, design, library, results, showcase, viz
    from .design.optimize import Optimum, optimize
    from .design.tolerances import Tolerances, tolerances
    from .formats import FormatError, from_mujoco, from_pinocchio, load, load_spec, save
    from .linearization import (
        Equilibrium,
        LinearModel,
        LinearTrajectory,
        equilibrium,
        linearize,
        linearize_trajectory,
    )
    from .simulation import (
        Contact,
        CustomSystem,
        Event,
        LinearFeedback,
        Rollout,
        Study,
        Switch,
        SwitchedTrajectory,
        Trajectory,
        rollout,
        simulate,
        study,
    )
    from .twins import Twin, TwinError, twin

# Imported when one of their names is first used: `import sarrus` loads what a Mechanism needs and no more.
_LATE = {
    "bridge": (), "control": (), "design": (), "library": (), "results": (), "showcase": (), "viz": (),
    "design.optimize": ("Optimum", "optimize"), "design.tolerances": ("Tolerances", "tolerances"),
    "formats": ("FormatError", "from_mujoco", "from_pinocchio", "load", "load_spec", "save"),
    "linearization": ("Equilibrium", "LinearModel", "LinearTrajectory", "equilibrium", "linearize",
                      "linearize_trajectory"),
    "simulation": ("Contact", "CustomSystem", "Event", "LinearFeedback", "Rollout", "Study", "Switch",
                   "SwitchedTrajectory", "Trajectory", "rollout", "simulate", "study"),
    "twins": ("Twin", "TwinError", "twin"),
}  # fmt: skip

__version__ = "0.2.0"

__all__ = [
    # a description
    "Mechanism", "MechanismSpec", "Pose",
    # files and pickles
    "ActuatorLaw", "Visual", "from_mujoco", "from_pinocchio", "load", "load_spec", "restore", "save",
    # closed robots for other simulators
    "Twin", "TwinError", "twin",
    # what is done with it, and what comes back
    "Branch", "Chart", "Contact", "CustomSystem", "Decomposition", "Equilibrium", "Event", "Impact",
    "LinearFeedback", "LinearModel", "LinearTrajectory", "Rollout", "Study", "Switch", "SwitchedTrajectory",
    "Optimum", "Tolerances", "Trajectory", "decompose", "equilibrium", "linearize", "linearize_trajectory",
    "optimize", "rollout", "simulate", "study", "tolerances",
    # packages
    "bridge", "control", "design", "library", "results", "showcase", "viz",
    # errors
    "AssemblyError", "EquilibriumError", "FormatError", "InputError", "ModelError", "SarrusError",
    "SarrusWarning", "SingularConstraintError", "UnknownNameError",
]  # fmt: skip
# kinds of joints, constraints, forces, shapes and measures that `import *` brings from their modules
_FAMILIES = (_Joint, _Constraint, _Force, _Shape, _Measure, _FlexiblePart)
__all__ += [kind for family in _FAMILIES for kind in family.kinds if kind in globals()]


def __getattr__(name: str) -> Any:
    for room, names in _LATE.items():
        if name == room or name in names:
            module = _import_module(f".{room}", __name__)
            globals().update({one: getattr(module, one) for one in names})
            return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
