"""Queries of Mechanism about many poses: paths along coordinates, assembly modes, targets, branches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ...arrays import Array, count, mapping, names, one_of, truth
from ...blas_threads import one_blas_thread
from ...errors import InputError
from ...models.tree.bodies import UNLIMITED
from ...projection.branches import Branch, branches
from ...projection.sweep import Sweep
from ..core.core import Core, whole
from ..variants.design_variants import variants_of_batch
from .assembly_modes import STARTS, Assemblies, all_assemblies
from .held_coordinates import hold
from .reaching import Approach, Reached, Target, joined, targets_of
from .sweeps import Sweeping, moved_together, swept_targets

OPEN = 1e-9  # times L: gap of a pose that has no branches


class PoseQueries(Core):
    """Queries about more than one pose."""

    def sweep(
        self,
        coordinate: str | Mapping[str, npt.ArrayLike],
        values: npt.ArrayLike | None = None,
        q0: npt.ArrayLike | None = None,
        t: float = 0.0,
        fixed: Mapping[str, Any] | None = None,
        grid: bool = False,
        parameters: Mapping[str, Any] | None = None,
    ) -> Sweep:
        """Follow the mechanism along one coordinate or several, on one branch; see `Sweep`.

        Batch axes allowed: a path for each row of values (..., n), for each pose of q0 (..., nq), or both.

        Args:
            coordinate: name of an angle or a displacement; or {name: values} of several that move together,
                each linearly from one of its values to the next.
            values: where to go, in order (n,) [rad, m]; the first is assembled near q0.
            q0: pose to start near (nq,); default `default.q`.
            t: time of the drives [s].
            fixed: further positions to hold all along, as for `assemble`; freedoms that nothing determines
                move as little as possible, and `undetermined` names them.
            grid: with {name: values} (n1,), (n2,), ...: all combinations, poses (n1, n2, ..., nq). The first
                coordinates move with the others at their first values; then the last one, along each row.
            parameters: keywords of `with_`, each with a leading axis B: sweeps these variants, each from
                its default pose. Poses are (B, n, nq), of a grid (B, n1, n2, ..., nq); rows of values and of
                q0 go to the variants.

        Example:

            >>> import numpy as np
            >>> import sarrus as sr
            >>> turn = sr.library.four_bar().sweep("crank", np.linspace(1.0, 1.0 + 2 * np.pi, 25))
            >>> turn.success, turn.q.shape
            (True, (25, 3))
        """
        targets = swept_targets(coordinate, values, truth(grid, "grid"))
        for name in targets:
            self.model.structure.tree.scalar(name, "sweep")
        if not np.all(self.model.holonomic):
            raise InputError(
                f"sweep follows positions, but {self._owner} has rows that restrict velocities only"
                " (rolling): where it ends depends on the path; simulate it instead."
            )
        together = moved_together(targets) if not grid or len(targets) == 1 else None
        copies = None if parameters is None else variants_of_batch(whole(self), parameters)
        kept = mapping(fixed, "fixed", "{coordinate: value}")
        sweeping = Sweeping(whole(self), self._time(t), kept, copies)
        start = sweeping.starts(q0)
        if together is None:
            return sweeping.grid(targets, start).result()
        return sweeping.along(tuple(targets), together, start).result()

    @one_blas_thread
    def assemblies(
        self,
        fixed: Mapping[str, Any] | None = None,
        q_guess: npt.ArrayLike | None = None,
        t: float = 0.0,
        starts: int = STARTS,
        by: str = "bodies",
    ) -> Assemblies:
        """All poses that close the mechanism, as far as random starts find them; see `Assemblies`.

        Args:
            fixed: positions to hold, as for `assemble`, so many that nothing is left undetermined except
                spins that nothing notices, as of a rod between two ball joints: modes are counted modulo
                these.
            q_guess: the pose to sort by (nq,); default `default.q`.
            t: time of the drives [s].
            starts: number of random starts; more find rarer modes.
            by: "bodies": poses in which all bodies look the same are one mode, such as those of a universal
                joint turned over (a leg between its joints looks the same when it is turned about its line);
                "coordinates": they are different ones.
        """
        one_of(by, "by", ("bodies", "coordinates"))
        mech = whole(self)
        q = np.array(mech.default.q) if q_guess is None else self._one_pose(q_guess, "q_guess")
        held = hold(mech, q, fixed)
        return all_assemblies(mech, q, held, self._time(t), count(starts, "starts"), by)

    @one_blas_thread
    def reach(
        self,
        body: str | Sequence[str],
        point: Any,
        target: Any,
        *,
        q_guess: npt.ArrayLike | None = None,
        fixed: Mapping[str, Any] | None = None,
        limits: bool = True,
        t: float = 0.0,
    ) -> Reached:
        """A pose that brings a point of a body to a target, or as near to it as is found from the guess.

        Several bodies at once: `mech.reach(["hand", "foot"], [p, "sole"], [pose, (x, y, z)])`, each with its
        point and target. Many targets or guesses: batch axes in front; each is searched for by itself.

        Args:
            body: its name, or names.
            point: in its frame [m], (3,), or the name of a point of the drawing; of several bodies one each.
            target: in the world [m], (..., 3); or a Pose that the body's axes take on there, or an array or
                list of poses; of several bodies one such target each.
            q_guess: where to start (..., nq); default `default.q`.
            fixed: positions to hold, as for `assemble`.
            limits: whether coordinates stay within their limits.
            t: time of the drives [s].
        """
        mech = whole(self)
        several = not isinstance(body, str)
        parts = (names(body, "body"), point, target) if several else ([body], [point], [target])
        shape, targets = targets_of(mech, *parts)
        guess = np.array(mech.default.q) if q_guess is None else self._arguments.positions(q_guess, "q_guess")
        batch = np.broadcast_shapes(shape, guess.shape[:-1])
        bounds = self.model.limits if truth(limits, "limits") else np.tile(UNLIMITED, (self.nv, 1))
        starts = np.broadcast_to(guess, (*batch, self.nq)).reshape(-1, self.nq)
        order = np.broadcast_to(np.arange(len(targets)).reshape(shape), batch).ravel().tolist()
        found = [
            self._reach(targets[k], np.array(q), fixed, bounds, t) for k, q in zip(order, starts, strict=True)
        ]
        return joined(found, batch, self.nq) if batch else found[0]

    def _reach(
        self, targets: list[Target], guess: Array, fixed: Mapping[str, Any] | None, bounds: Array, t: float
    ) -> Reached:
        """One search from one guess (nq,)."""
        mech = whole(self)
        start = mech.assemble(guess, fixed, t)
        if not start.success:
            return Reached(start.q, float("inf"), False, f"No pose to start from. {start.message}")
        held = np.array(hold(mech, np.array(start.q), fixed), dtype=int)
        way = Approach(mech, targets, held=held, limits=bounds, t=self._time(t))
        return way.within(np.array(start.q), dict(fixed or {}))

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
        mech = whole(self)
        pose = np.array(mech.default.q) if q is None else self._one_pose(q)
        mobility = mech.mobility(pose, t)
        largest = float(np.max(mobility.singular_values, initial=0.0))
        if mobility.gap > OPEN * self.length * max(1.0, largest):
            raise InputError(
                f"branches need a pose on the constraints, but {self._owner} is open by {mobility.gap:.2g} m"
                " there. Start from mech.assemble(q).q."
            )
        return branches(self.evaluator, pose, self._time(t))
