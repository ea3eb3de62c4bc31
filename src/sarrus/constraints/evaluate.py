"""Evaluator: the constraints of a model as functions of (q, v, t), drives and user rows included.

The kernel computes the rows of loops, couplings and rolling discs. What comes from Python is handed to it:
f, f', f'' of each drive, and phi, b, gamma, J of each user row. Derivatives that the user did not give are
central differences on the manifold (`user_rows.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ..errors import InputError, SarrusError, SarrusWarning
from ..models.model import Model
from .check_derivatives import check_drive, check_jumps, check_rows, check_speed
from .user_forces import user_force
from .user_rows import CustomRows, user_rows

SHARES = (0.0, 0.137, 0.314, 0.618, 0.886)  # of a run, where rates of drives are compared


class Evaluator:
    """Constraints and manifold of one model; immutable, so any number of threads may share it."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.kernel: Any = model.kernel
        self.nq, self.nv, self.nc = model.nq, model.nv, model.nc
        self.coordinate_names = model.coordinate_names
        self.row_names = model.row_names
        self.constraint_rows: Mapping[str, slice] = {group.name: group.rows for group in model.groups}
        self.holonomic = model.holonomic
        self.unit, self.row_unit = model.unit, model.row_unit
        self.row_kind = model.row_kinds
        self.length, self.rank_tol = float(model.length), float(model.rank_tol)
        self.driven, self.has_user_rows = bool(model.drives), bool(model.customs)
        self.calls_functions = len(model.u_row) > 0
        first_order = zip(model.coordinate_names, model.first_order, strict=True)
        self.state_names = tuple(name for name, first in first_order if first)
        self._drives_checked, self._rows_checked = not self.driven, not self.has_user_rows

    def of_variant(self, model: Model) -> Evaluator:
        """The evaluator of a model that differs in numbers only."""
        copy = object.__new__(Evaluator)
        copy.__dict__.update(self.__dict__)
        copy.model, copy.kernel = model, model.kernel
        copy.unit, copy.row_unit, copy.length = model.unit, model.row_unit, float(model.length)
        return copy

    def __reduce__(self) -> tuple[type[Evaluator], tuple[Model]]:
        return Evaluator, (self.model,)

    def drive(self, t: float, count: int) -> Array:
        """f, f', f'' of each drive at time t [s], the same for a batch: (count, nd, 3)."""
        if not self.driven:
            return np.zeros((count, 0, 3))
        if not self._drives_checked:
            self.check_drives(t)
        values = self.model.drive_values(t)
        return np.ascontiguousarray(np.broadcast_to(values, (count, *values.shape)))

    def check_drives(self, t0: float, t1: float | None = None) -> None:
        """Compare rates of drives with differences, at t0 [s] or at some times until t1.

        Then also look for jumps, and for functions too fast for differences.
        Done by itself at first use, with the time asked for.
        """
        times = [t0] if t1 is None else [t0 + share * (t1 - t0) for share in SHARES]
        drives = ((name, one) for name, one in self.model.constraints if one in self.model.drives)
        for name, one in drives:
            try:
                check_drive(name, one, times)
                if t1 is not None:
                    check_jumps(name, one, t0, t1)
                    check_speed(name, one, t0, t1)
            except (SarrusError, SarrusWarning):  # a warning that was made an error
                raise
            except Exception:  # a function that fails somewhere is reported where that matters
                continue
        self._drives_checked = True

    def _check_rows(self, q: Array, t: float) -> None:
        """Compare J, b and gamma of user rows with differences, once."""
        self._rows_checked = True  # before: the functions may use this mechanism themselves
        for one in self.model.customs:
            try:
                check_rows(
                    CustomRows(self, one.name, one.constraint), q, t, bool(self.holonomic[one.rows].all())
                )
            except InputError:
                self._rows_checked = False
                raise

    def user(self, q: Array, v: Array, t: float, *, forces: bool = True) -> Array:
        """phi, b, gamma, J of each user row, for a batch of states: (B, number of rows, 3 + nv).

        The forces of UserForces follow in place of the J of a last row; zero without `forces`.
        """
        out = np.zeros((len(q), len(self.model.u_row), 3 + self.nv))
        if not self._rows_checked and len(q):
            self._check_rows(q[0], t)
        for i in range(len(q) if self.has_user_rows else 0):
            user_rows(self, q[i], v[i], t, out[i])
        for i in range(len(q) if forces and self.model.user_forces else 0):
            out[i, -1, 3:] = user_force(self, q[i], v[i], t)
        return out

    def outside(self, q: Array, v: Array, t: float) -> tuple[Array, Array]:
        """Values of drives, user rows and user forces at a batch of states: what the kernel cannot know."""
        return self.drive(t, len(q)), self.user(q, v, t)

    def constraints(self, q: Array, v: Array, t: float) -> tuple[Array, Array, Array, Array]:
        """phi (nc,), J (nc, nv), b (nc,), gamma (nc,) at one state."""
        drive, user = self.drive(t, 1), self.user(q[None], v[None], t, forces=False)
        found: tuple[Array, Array, Array, Array] = self.kernel.constraints(q, v, drive, user)
        return found

    def closure(self, q: Array, v: Array, t: float) -> tuple[Array, Array]:
        """phi (nc,) and J v - b (nc,) at one state, without J: it costs what the constraints have entries."""
        drive, user = self.drive(t, 1), self.user(q[None], v[None], t, forces=False)
        found: tuple[Array, Array] = self.kernel.closure(q, v, drive, user)
        return found

    def project(
        self, q: Array, v: Array, t: float, part: Array | None = None, metric: Array | None = None
    ) -> tuple[Array, Array, Array, npt.NDArray[np.int_]]:
        """Consistent states nearest to the given ones, one (nq,), (nv,) or a batch.

        Args:
            q: positions (..., nq).
            v: velocities (..., nv).
            t: time [s].
            part: what is done with each row (nc,) int8: LEFT_OUT, CLOSE or KEPT as open as it is; None closes
                all.
            metric: (..., nv, nv); None is the inertia at q.

        Returns:
            q, v, the largest |phi| of the given poses with lengths divided by L, and a `PROJECTION` status.
        """
        speeds = v[None] if v.ndim == 1 else v
        user = self.rows_at(t) if self.calls_functions else None
        found: tuple[Array, Array, Array, npt.NDArray[np.int_]] = self.kernel.project(
            q, v, self.drive(t, len(speeds)), user, part, metric
        )
        return found

    def rows_at(self, t: float) -> Callable[[Array, Array], Array]:
        """User rows as a function of (q, v), without the forces."""
        return lambda q, v: self.user(q[None], v[None], t, forces=False)[0]

    def close(
        self, q: Array, t: float, rows: npt.NDArray[np.intp], columns: npt.NDArray[np.intp]
    ) -> tuple[Array, Array, int]:
        """Pose (nq,) near q at which rows close, moving coordinates; what is left of them, iterations."""
        user = self.rows_at(t) if self.calls_functions else None
        which = rows.astype(np.int32), columns.astype(np.int32)
        found, r, iterations = self.kernel.close(np.ascontiguousarray(q), self.drive(t, 1), user, *which)
        return found, r, int(iterations)

    def loses_rank(self, q: Array, t: float, rank: int = -1) -> bool:
        """Whether J, of this rank or (-1) by `rank_tol`, loses rank at the pose q (nq,) only."""
        user = self.rows_at(t) if self.calls_functions else None
        return bool(self.kernel.loses_rank(np.ascontiguousarray(q), self.drive(t, 1), user, rank))

    def integrate(self, q: Array, dv: Array) -> Array:
        """q moved by dv on the manifold, one state."""
        return np.asarray(self.kernel.integrate(q[None], dv[None])[0])

    def difference(self, q0: Array, q1: Array) -> Array:
        """dv that leads from q0 to q1, one state."""
        return np.asarray(self.kernel.difference(q0[None], q1[None])[0])
