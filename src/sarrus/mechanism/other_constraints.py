"""Mechanism with other constraints, or leaving a pose: subsets, latched constraints, impacts, branches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Self

import numpy as np
import numpy.typing as npt

from ..arrays import mapping, names
from ..blas_threads import one_blas_thread
from ..constraints.rows import Constraint
from ..dynamics.impact import Impact, no_velocity_after
from ..errors import InputError, unknown_name
from ..projection.branches import Branch, branches
from ..projection.decomposition import metric_factor
from .compile import exchange_constraints
from .sweep_queries import SweepQueries


class OtherConstraints(SweepQueries):
    """Copies with other constraints, and branches of the configuration space."""

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
        wanted = set(declared if active is None else names(active, "active"))
        for name in wanted - set(declared):
            raise unknown_name("constraint", name, declared, "with_constraints")
        kept = tuple((name, one) for name, one in declared.items() if name in wanted)
        default = None if replaced else self._default
        return type(self)(exchange_constraints(self.model, kept), default)

    def latched(self, name: str, q: npt.ArrayLike) -> Constraint:
        """A copy of a loop or constraint with phi(q) = 0 at the pose q (nq,).

        For `with_constraints(replaced={name: mech.latched(name, q)})`. Frame A of a loop moves onto frame B,
        a Distance takes the present length, a Coupling the present sum.
        """
        pose = self._one_pose(q)
        declared: dict[str, Constraint] = dict(self.model.constraints)
        if not isinstance(name, str) or name not in declared:
            raise unknown_name("constraint", name, declared, "latched")

        def position(coordinate: str) -> float:
            return float(pose[self.model.tree.scalar(coordinate, "latched")[0]])

        return declared[name].latched(name, lambda body: self.pose(pose, body), position)

    def impact(self, q: npt.ArrayLike, v: npt.ArrayLike, t: float = 0.0) -> Impact:
        """The impact of all constraints, closing at once at the pose q (nq,), on the velocity v (nv,).

        Inelastic: the velocity afterwards is the one nearest to v in the mass metric with J v = b, the change
        an impulse of the constraints; see `Impact`. Rows may depend on each other. Batch axes allowed.

        Raises:
            AssemblyError: no velocity satisfies J v = b: drives contradict what closes.
        """
        if self._may_be_undefined:
            self.terms(q, v, t)  # refuses poses at which rows are undefined
        found = self._queries.impact(Impact, q, v, t, self.evaluator)
        if type(found) is Impact:
            return found
        miss, status = found
        first = int(np.flatnonzero(status)[0])
        if status[first] == 1:
            metric_factor(self.mass_matrix(q).reshape(-1, self.nv, self.nv)[first], self.nv)
        raise no_velocity_after(self.row_names, miss.reshape(-1, self.nc)[first])

    @one_blas_thread
    def branches(self, q: npt.ArrayLike | None = None, t: float = 0.0) -> tuple[Branch, ...]:
        """The branches that leave the pose q (nq,), default `default.q`, with their mobility; see `Branch`.

        A regular pose has one, along all directions that J allows. At a singular pose the directions that
        continue into motions form a cone of several components. Drives are held at time t [s].

        Example:

            >>> import sarrus as sr
            >>> len(sr.library.parallelogram().branches([0.0, 0.0, 0.0]))  # flat: parallelogram and crossed
            2
        """
        pose = np.array(self.default.q) if q is None else self._one_pose(q)
        mobility = self.mobility(pose, t)
        if mobility.gap > 1e-9 * self.length * max(1.0, float(np.max(mobility.singular_values, initial=0.0))):
            raise InputError(
                f"branches need a pose on the constraints, but {self._owner} is open by {mobility.gap:.2g} m"
                " there. Start from mech.assemble(q).q."
            )
        return branches(self.evaluator, pose, self._time(t))
