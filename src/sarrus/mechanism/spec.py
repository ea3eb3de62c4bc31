"""MechanismSpec: the description of a mechanism, part by part, and its compilation."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from numpy.typing import ArrayLike

from ..arrays import positive
from ..constraints.rows import Constraint
from ..models.base.restore import MAKERS
from ..models.model import Model
from ..models.tree.bodies import Body
from .describe.as_drawn import lower
from .describe.compile import build_model
from .describe.default_state import DefaultState
from .describe.drive_elements import DriveElements
from .describe.recipe import Recipe
from .describe.schema import decode, encode
from .loop_compatibility import make_compatible
from .mechanism import Mechanism
from .query.report import outline

FROM_FILES = ("omitted", "laws", "visuals")  # what files say besides the mechanism


class MechanismSpec(DriveElements):
    """The description of a mechanism. Every method checks its arguments; one that raises changes nothing.

    Args:
        gravity: Gravity [m/s^2], (3,), in world axes.
        name: Name of the mechanism, for reports and messages.
        length: Characteristic length L [m]; None: the mean distance between joints.

    Attributes:
        omitted: What the file that it comes from contains and it does not, what changes the motion first.
        laws: Laws of actuators by the coordinate that they drive: {coordinate: (ActuatorLaw, ...)}.
        visuals: Shapes for pictures, a list of `Visual`.
        default: The state that compile() gives to the mechanism, where its file says one; or None.

    Example:

        >>> import sarrus as sr
        >>> spec = sr.MechanismSpec(gravity=(0, 0, -9.81), name="pendulum")
        >>> mech = spec.body("rod", joint=sr.Revolute("y"), mass=1.0, com=(0, 0, -0.5)).compile()
        >>> mech.names, mech.nv, mech.nc
        (('rod',), 1, 0)
    """

    def __init__(
        self, gravity: ArrayLike = (0.0, 0.0, -9.81), name: str = "mechanism", length: float | None = None
    ) -> None:
        super().__init__(gravity, name, length)
        self.default: DefaultState | None = None

    def __repr__(self) -> str:
        bodies = len(self._coordinates.bodies) - len(self._joints)
        sizes = {"bodies": bodies, "constraints": len(self._constraints), "forces": len(self._forces)}
        counts = [f"{kind}={size}" for kind, size in sizes.items()]
        return f"MechanismSpec({self.name!r}, {', '.join(counts)})"

    def __str__(self) -> str:
        return outline(self)

    @property
    def bodies(self) -> tuple[Body, ...]:
        """Bodies of the tree so far, without the ground."""
        return self._tree()[0]

    @property
    def constraints(self) -> tuple[tuple[str, Constraint], ...]:
        """Loops and constraints so far, by name."""
        return self._tree()[1]

    @property
    def declared(self) -> dict[str, Any]:
        """All of it: arguments of `build_model` and `from_declared`."""
        bodies, constraints = self._tree()
        names = ("name", "gravity", "length", "forces", "actuated", "measures", "surfaces", "contacts")
        found = {name: getattr(self, name) for name in (*names, *FROM_FILES)} | {
            "bodies": bodies,
            "constraints": constraints,
        }
        found |= {"points": tuple(self._points.items()), "floor": self._floor}
        return found | {"recipe": self._recipe()} if self._parameters else found

    def _recipe(self) -> Recipe:
        head: dict[str, Any] = {"gravity": self.gravity, "name": self.name, "length": self.length}
        said = {name: copy.copy(getattr(self, name)) for name in FROM_FILES}
        head |= {"start": self._start} if self._start else {}
        head |= {"said": said} if any(said.values()) else {}
        return Recipe(MechanismSpec, head, dict(self._parameters), tuple(self._calls), {})

    def _tree(self) -> tuple[tuple[Body, ...], tuple[tuple[str, Constraint], ...]]:
        """Bodies and constraints; those of parts and joints as drawn lowered to a tree and loops."""
        declared = self._coordinates.bodies
        if not self._parts and not self._joints:
            return tuple(declared.values()), tuple(self._constraints.items())
        drawn = self._parts.keys() | self._joints.keys()
        plain = [body for name, body in declared.items() if name not in drawn]
        bodies, loops = lower(plain, self._parts, list(self._joints.values()), self._needed_joints())
        return tuple(bodies), (*loops.items(), *self._constraints.items())

    def _needed_joints(self) -> set[str]:
        """Joints whose coordinate an actuator, a constraint or a force needs."""
        asked = [name for name, _ in self._actuated or ()]
        acting: list[Any] = [*self._constraints.values(), *self._forces.values()]
        for entry in acting:
            asked += (*entry.coordinates(), *entry.reads())
        owners = self._coordinates.owners
        return {owners[k].name for name in asked for k in self._coordinates.find_all(name)}

    def compile(self, loop_tolerance: float | None = None) -> Mechanism:
        """The compiled mechanism: immutable, thread-safe, picklable. Loops are not assembled here.

        Args:
            loop_tolerance: Data with few digits (float32, six decimals) leave loops open by their last digit,
                and taken literally these bind. Misfits up to this [rad], or times L [m], are corrected by
                displacing frames, with a warning that says by how much, as for files (1e-4 there); `default`
                is assembled then. None: the description is taken literally.
        """
        mech = Mechanism(self.model())
        if loop_tolerance is not None:
            mech = make_compatible(mech, mech.neutral(), positive(loop_tolerance, "loop_tolerance"))
        elif self.default is not None:
            mech = self.default.given_to(mech)
        for name, measure in self._measures.items():
            measure.check(mech, f"measure {name!r}")
        return mech

    def model(self, recipe: Recipe | None = None) -> Model:
        """The flat arrays that compile() hands to the kernel, and how they were made, where that is known."""
        declared = self.declared
        return build_model(**declared if recipe is None else declared | {"recipe": recipe})

    def to_dict(self) -> dict[str, Any]:
        """The description as plain lists, numbers and strings, ready for JSON; carries a version."""
        return encode(self)

    @classmethod
    def from_declared(cls, declared: Mapping[str, Any]) -> MechanismSpec:
        """A description from what another one, or a model, has `declared`: nothing is checked again."""
        spec = cls(declared["gravity"], declared["name"], declared["length"])
        for body in declared["bodies"]:
            spec._coordinates.add(body)
        spec._constraints.update(declared["constraints"])
        spec._forces.update(declared["forces"])
        spec._actuated = None if declared["actuated"] is None else list(declared["actuated"])
        spec.omitted = tuple(declared.get("omitted", ()))
        spec._measures.update(declared.get("measures", ()))
        spec._points.update(declared.get("points", ()))
        spec._floor = declared.get("floor")
        spec._surfaces.update((one.name, one) for one in declared.get("surfaces", ()))
        spec._contacts.update((one.name, one) for one in declared.get("contacts", ()))
        spec.laws = dict(declared.get("laws", {}))
        spec.visuals = list(declared.get("visuals", ()))
        spec._start = {key: value for key, value in declared.items() if key != "recipe"}
        return spec

    @classmethod
    def from_model(cls, model: Model) -> MechanismSpec:
        """The description that a model was compiled from, with later changes of parameters."""
        return cls.from_declared(model.declared)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> MechanismSpec:
        """A description from the result of to_dict()."""
        return decode(data, MechanismSpec)


MAKERS["Recipe"] = lambda data: Recipe(MechanismSpec, *data)
