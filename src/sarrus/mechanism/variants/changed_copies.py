"""Changed copies of a Mechanism: other numbers, another default state, other constraints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy.typing as npt

from ...arrays import mapping, names
from ...constraints.rows import Constraint
from ...errors import InputError, require_all_known, require_known, unknown_name
from ...models.model import RESERVED
from ..core.access import near_default
from ..core.core import Core, frozen_state, whole
from ..describe.compile import exchange_constraints
from .design_variants import variant_of, variants_of_batch
from .variant_template import split_changes

if TYPE_CHECKING:
    from ..mechanism import Mechanism


class ChangedCopies(Core):
    """Copies with other numbers or constraints."""

    def with_(self, **changes: Any) -> Mechanism:
        """A changed copy of the same structure.

        Args:
            **changes: gravity=(3,), and mass, com, inertia, armature, damping, friction = {body: value},
                stiffness, damping = {force: value}, as in the description; and values of its parameters, with
                which the default state is assembled anew, near the one before.
        """
        recipe, mech = self.model.recipe, whole(self)
        if recipe is None:
            return type(mech)(self.model.replace(**changes), self._default)
        for name in changes:
            if name not in recipe.parameters and name not in RESERVED:
                raise unknown_name("parameter", name, [*recipe.parameters, *RESERVED])
        values, others = split_changes(mech, changes)
        if not values:
            model = replace(self.model.replace(**others), recipe=recipe.with_changes(others))
            return type(mech)(model, self._default)
        recipe = recipe.with_values(values)
        return variant_of(mech, recipe.with_changes(others) if others else recipe, near_default(mech))

    def with_default(self, q: npt.ArrayLike, v: npt.ArrayLike | None = None) -> Mechanism:
        """A copy with another default state, not checked by the constraints: q (nq,), v (nv,) or rest."""
        pose = self._one_pose(q)
        speed = self.rest if v is None else self._one_tangent(v, "v")
        return type(whole(self))(self.model, frozen_state(pose, speed))

    def variants(self, parameters: Mapping[str, Any]) -> tuple[Self, ...]:
        """Copies with other numbers, many at once: `with_` for each entry of a batch.

        Args:
            parameters: keywords of `with_`, each value with a leading axis B: {"a": (B,)}, {"mass": {"rod":
                (B,)}}.
        """
        return variants_of_batch(self, parameters)

    def with_constraints(
        self, active: Iterable[str] | None = None, replaced: Mapping[str, Constraint] | None = None
    ) -> Self:
        """The same bodies with some of the constraints only; names, coordinates and length L stay.

        Args:
            active: names of the loops and constraints to keep; default all. Their order is as declared.
            replaced: constraints to exchange for others of the same name, or to add: {name: constraint}.
        """
        declared = dict(self.model.constraints) | mapping(replaced, "replaced", "{name: constraint}")
        for name, one in declared.items():
            if not isinstance(name, str) or not isinstance(one, Constraint):
                raise InputError(f"replaced must be {{name: constraint}}, got {name!r:.80}: {one!r:.80}.")
        if active is not None:
            wanted = set(names(active, "active"))
            require_all_known("constraint", wanted, declared, "with_constraints")
            declared = {name: one for name, one in declared.items() if name in wanted}
        default = None if replaced else self._default
        return type(self)(exchange_constraints(self.model, tuple(declared.items())), default)

    def latched(self, name: str, q: npt.ArrayLike) -> Constraint:
        """A copy of a loop or constraint with phi(q) = 0 at the pose q (nq,).

        For `with_constraints(replaced={name: mech.latched(name, q)})`. Frame A of a loop moves onto frame B,
        a Distance takes the present length, a Coupling the present sum.
        """
        mech, pose = whole(self), self._one_pose(q)
        declared: dict[str, Constraint] = dict(self.model.constraints)
        require_known("constraint", name, declared, "latched")

        def position(coordinate: str) -> float:
            return float(pose[self.model.tree.scalar(coordinate, "latched")[0]])

        return declared[name].latched(name, lambda body: mech.pose(pose, body), position)
