"""Queries of Mechanism about the constraints: terms, mobility, assembly, consistent states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt

from ...arrays import Array, OneState
from ...dynamics.terms import Terms
from ...errors import AssemblyError
from ...projection.assembly import AboutAssembly, Assembly, Which, each_of, rows_and_columns
from ...projection.consistent_velocity import no_velocity
from ...projection.decomposition import Decomposition, metric_factor
from ...projection.decompositions import Decompositions
from ...projection.mobility import Mobility
from ...projection.nearest_state import cannot_project
from ..core.access import queries_of
from ..core.core import Core, State, frozen_state, whole
from ..variants.design_variants import variants_of_batch
from .held_coordinates import beyond_limits, held_text, hold, prescribed_velocities
from .idle_freedoms import spins_only
from .inertia_queries import Metric
from .measured_paths import measured_along

if TYPE_CHECKING:
    from ..mechanism import Mechanism


class ConstraintQueries(Core):
    """Queries that need the constraints."""

    @property
    def default(self) -> State:
        """A consistent State(q, v): the one given, else assembled near `neutral()`, at rest, at t = 0.

        Where parameters were changed: assembled near the default pose before.
        """
        if self._default is None:
            found = self.assemble(self._near)
            if not found.success:
                raise AssemblyError(f"{self._owner} has no default state. {found.message}")
            v = self.consistent_velocity(found.q)
            object.__setattr__(self, "_default", frozen_state(found.q, v))
        assert self._default is not None
        return self._default

    def terms(self, q: npt.ArrayLike, v: npt.ArrayLike, t: float = 0.0) -> Terms:
        """M, h, phi, J, b, gamma at a state; see `Terms`. Batch axes allowed."""
        terms: Terms = self._queries.terms(Terms, q, v, t, self.evaluator)
        if self._may_be_undefined:
            self._require_defined(terms.J, terms.gamma)
        return terms

    @overload
    def decompose(  # type: ignore[overload-overlap]
        self, q: OneState, metric: Metric = None, t: float = 0.0
    ) -> Decomposition: ...
    @overload
    def decompose(self, q: npt.ArrayLike, metric: Metric = None, t: float = 0.0) -> Decompositions: ...
    def decompose(
        self, q: npt.ArrayLike, metric: Metric = None, t: float = 0.0
    ) -> Decomposition | Decompositions:
        """Split velocities and forces at the constraints of the pose q (nq,); see `Decomposition`.

        The rank is decided on the dimensionless J, as everywhere; the split is in the metric.

        Args:
            q: positions (nq,), or with batch axes (..., nq); the result is a `Decompositions` then.
            metric: None (Euclidean), "mass", or a symmetric positive definite matrix (nv, nv).
            t: time [s].
        """
        if self._may_be_undefined:
            self.terms(q, np.zeros(self.nv), t)  # refuses poses at which rows are undefined
        found: Decomposition | None = self._queries.decompose(Decomposition, q, metric, t, self.evaluator)
        if found is None:
            for M in self._queries.mass_matrix(q).reshape(-1, self.nv, self.nv):
                metric_factor(M, self.nv)  # says why it is no metric
        assert found is not None
        if found.singular_values.ndim == 1:
            return found
        return Decompositions.of(found)

    def mobility(self, q: npt.ArrayLike | None = None, t: float = 0.0) -> Mobility:
        """Degrees of freedom and redundancy at the pose q (nq,), default `default.q`; see `Mobility`.

        Batch axes allowed.

        Example:

            >>> import sarrus as sr
            >>> found = sr.library.four_bar().mobility()
            >>> found.dof, found.gruebler, found.redundant
            (1, -2, ('pin.tz', 'pin.rx', 'pin.ry'))
        """
        pose = self.default.q if q is None else q
        if self._may_be_undefined:
            self.terms(pose, np.zeros(self.nv), t)  # refuses poses at which rows are undefined
        found: Mobility = self._queries.mobility(Mobility, pose, t, self.evaluator)
        return found

    def assemble(
        self,
        q_guess: npt.ArrayLike | None = None,
        fixed: Mapping[str, Any] | None = None,
        t: float = 0.0,
        parameters: Mapping[str, Any] | None = None,
    ) -> Assembly:
        """Find a pose that closes all constraints, near a guess. Fails with a value, not an exception.

        Batch axes allowed: one search for each guess, or for each variant, each with its own `success`; see
        `Assembly`.

        Args:
            q_guess: where to start (nq,); default `neutral()`.
            fixed: positions to hold: {coordinate: value [rad, m]}, or {joint: its part of q} for joints
                with several coordinates or a quaternion; of a batch of guesses one for all, or one for each.
            t: time of the drives [s].
            parameters: keywords of `with_`, each with a leading axis B: assembles these variants.

        Example:

            >>> import sarrus as sr
            >>> found = sr.library.four_bar().assemble(fixed={"crank": 0.5})
            >>> found.success, float(found.q[0])
            (True, 0.5)
        """
        q = self.model.neutral() if q_guess is None else q_guess
        if parameters is not None:
            copies = variants_of_batch(whole(self), parameters)
            q = np.array(np.broadcast_to(self._positions(q, "q_guess"), (len(copies), self.nq)))
            return assemble_each(copies, q, self._held_assembly(q, fixed, t))
        if fixed is None:
            about, which = self._free_assembly(t)
        else:
            q = self._positions(q, "q_guess")
            about = self._held_assembly(q, fixed, t)
            which = about.which()
        found: Assembly = self._queries.assemble(Assembly, q, (self.evaluator, about.t), which, about)
        return found

    def _held_assembly(self, q: Array, fixed: Mapping[str, Any] | None, t: float) -> AboutAssembly:
        """What assembly with held coordinates needs, whose positions are put into q (..., nq)."""
        mech = whole(self)
        held = tuple(hold(mech, q, fixed))
        return about_assembly(mech, self._time(t), held, held_text(fixed))

    def consistent_velocity(
        self,
        q: npt.ArrayLike,
        v: npt.ArrayLike | None = None,
        t: float = 0.0,
        fixed: Mapping[str, Any] | None = None,
        metric: Metric = "mass",
    ) -> Array:
        """The velocity (nv,) nearest to v that satisfies J v = b. Batch axes allowed.

        Args:
            q: positions (nq,).
            v: the velocity to start from (nv,); default `rest`.
            t: time [s].
            fixed: velocities to prescribe, {coordinate: value} or {joint: values}.
            metric: what "nearest" means: "mass" (least kinetic energy of the change), None (lengths divided
                by L) or a symmetric positive definite matrix (nv, nv).

        Raises:
            AssemblyError: nothing satisfies the constraints and the prescribed velocities together.
        """
        held = None if fixed is None else prescribed_velocities(whole(self), fixed)
        if v is None and self.states:
            v = np.broadcast_to(self.rest, (*np.shape(q)[:-1], self.nv))
        if self._may_be_undefined:
            self.terms(q, np.zeros(self.nv), t)  # refuses poses at which rows are undefined
        found = self._queries.consistent_velocity(q, v, t, self.evaluator, metric, held)
        if type(found) is tuple:
            miss, status = found
            first = int(np.flatnonzero(status)[0])
            if status.flat[first] == 1:  # not positive definite
                W = self._queries.mass_matrix(q) if isinstance(metric, str) else np.asarray(metric)
                metric_factor(W.reshape(-1, self.nv, self.nv)[min(first, W.size // self.nv**2 - 1)], self.nv)
            raise no_velocity(
                self.row_names,
                self.names,
                miss.reshape(-1, self.nc)[first],
                [] if held is None else held[0].tolist(),
            )
        velocity: Array = found
        return velocity

    def project(self, q: npt.ArrayLike, v: npt.ArrayLike | None = None, t: float = 0.0) -> State:
        """The consistent state nearest to a given one, such as a measured one. Batch axes allowed.

        "Nearest" is meant in the metric of the mass matrix at the given q, for positions and velocities. The
        pose is reached by continuation from q and never lies on another assembly. Near a singular pose, where
        branches cross, the velocity tells the branch.

        Args:
            q: positions (nq,) [rad, m].
            v: velocities (nv,) [rad/s, m/s]; default rest.
            t: time of the drives [s].

        Returns:
            The pair (q, v), with `gap` [m], by how much the given pose was open, and `status`. In a batch a
            state that cannot be projected is NaN with a status other than 0.

        Raises:
            AssemblyError: a single state cannot be projected, see `status` of `State`.
        """
        q1, v1, gap, status = self._queries.project(q, v, t, self.evaluator)
        if q1.ndim == 1 and status:
            raise cannot_project(self._owner, status, gap)
        return State(q1, v1, gap, status)

    def _free_assembly(self, t: float) -> tuple[AboutAssembly, Which]:
        """What assembly without held coordinates needs, at a time."""
        known: tuple[AboutAssembly, Which] | None = self._free
        t = self._time(t)
        if known is None or known[0].t != t:
            about = about_assembly(whole(self), t)
            known = about, rows_and_columns(self.evaluator) if known is None else known[1]
            object.__setattr__(self, "_free", known)
        return known


def about_assembly(mech: Mechanism, t: float, held: tuple[int, ...] = (), text: str = "") -> AboutAssembly:
    """What words about an assembly need; text: the held coordinates in words."""
    return AboutAssembly(
        mech,
        t,
        held,
        text,
        note=partial(beyond_limits, mech),
        spins=partial(spins_only, mech),
        measured=measured_along,
    )


def assemble_each(copies: Sequence[Mechanism], q: Array, about: AboutAssembly) -> Assembly:
    """Variants of a mechanism assembled, each near its own guess of q (B, nq)."""
    which = about.which()
    abouts = [about_assembly(one, about.t, about.held, about.held_text) for one in copies]
    found: list[Assembly] = [
        queries_of(one).assemble(Assembly, guess, (one.evaluator, about.t), which, told)
        for one, guess, told in zip(copies, q, abouts, strict=True)
    ]
    parts = {
        name: np.array([getattr(one, name) for one in found])
        for name in ("q", "residual", "iterations", "success", "_guess", "_r")
    }
    return Assembly(**parts, _about=each_of(abouts))
