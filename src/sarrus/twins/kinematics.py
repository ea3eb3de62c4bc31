"""Positions, rates and completed states of a twin."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..arrays import Array, state
from ..errors import AssemblyError, SingularConstraintError
from ..mechanism.core.core import State
from ..mechanism.mechanism import Mechanism
from .loop_map import SINGULAR, TROUBLE, Follow, LoopMap
from .partition import Indices


class Kinematics:
    """What positions and speeds of the tree are to the closed robot; see `Twin` for the attributes."""

    mech: Mechanism
    tree: Mechanism
    loops: LoopMap
    serial: tuple[str, ...]
    motor_names: tuple[str, ...]
    _motors: Indices
    _motors_q: Indices

    def motors(self, q_s: npt.ArrayLike) -> Array:
        """Positions of the motors q_m (..., nu) [rad, m] at q_s (..., nq_s)."""
        q, shape = self._positions(q_s)
        return self._follow(q, shape).q[:, self._motors_q].reshape(*shape, -1)

    def jacobian(self, q_s: npt.ArrayLike) -> Array:
        """J_A (..., nu, nv_s) with v_m = J_A v_s."""
        q, shape = self._positions(q_s)
        return self._follow(q, shape).N[:, self._motors].reshape(*shape, len(self._motors), self.tree.nv)

    def jacobian_rate(self, q_s: npt.ArrayLike, v_s: npt.ArrayLike) -> Array:
        """Rate of J_A (..., nu, nv_s) along v_s (..., nv_s): a_m = J_A a_s + J_A' v_s."""
        q, v, shape = self._state(q_s, v_s)
        found, n = self._follow(q, shape), self.tree.nv
        J = found.N[:, self._motors]
        columns = [self._rate_column(found, v, np.eye(n)[j]) for j in range(n)]
        bracket = np.stack([self._bracket(v, np.eye(n)[j]) for j in range(n)], axis=-1)
        rate = np.stack(columns, axis=-1) + 0.5 * J @ bracket if n else J
        return rate.reshape(*shape, len(self._motors), n)

    def _rate_column(self, found: Follow, v: Array, w: Array) -> Array:
        """The symmetric part: gamma is quadratic in v, so that two of its values give the mixed term."""
        ahead, behind = (self._drift(found, v + s * w) for s in (1.0, -1.0))
        return 0.25 * (ahead - behind)

    def _drift(self, found: Follow, v: Array) -> Array:
        full = np.einsum("bij,bj->bi", found.N, v)
        fine = found.status == 0
        a = np.full((len(v), len(self._motors)), np.nan)
        a[fine] = self.loops.drift(found.q[fine], full[fine])[:, self._motors]
        return a

    def _bracket(self, v: Array, w: Array) -> Array:
        """[v, w] (B, nv_s): rates of body velocities do not commute, others do."""
        found = np.zeros_like(v)
        for at in self.tree.model.v_slices:
            k, n = at.start, at.stop - at.start
            if n and self.tree.model.coordinate_q[k] < 0:
                omega = slice(at.stop - 3, at.stop)
                found[:, omega] = np.cross(v[:, omega], w[omega])
                if n == 6:
                    shift = slice(k, k + 3)
                    found[:, shift] = np.cross(v[:, omega], w[shift]) - np.cross(w[omega], v[:, shift])
        return found

    def complete(self, q_s: npt.ArrayLike, v_s: npt.ArrayLike | None = None) -> State:
        """The state of the closed robot, all loops closed: q (..., nq) and v (..., nv)."""
        q, v, shape = self._state(q_s, np.zeros(self.tree.nv) if v_s is None else v_s)
        found = self._follow(q, shape)
        full = np.einsum("bij,bj->bi", found.N, v)
        return State(found.q.reshape(*shape, -1), full.reshape(*shape, -1))

    def status(self, q_s: npt.ArrayLike) -> npt.NDArray[np.int_]:
        """0 where there is a pose (...); 1: loops do not close on the branch; 2: singular."""
        q, shape = self._positions(q_s)
        return self.loops.solve(q).status.reshape(shape)

    # ------------------------------------------------------------------ arguments

    def _positions(self, q_s: npt.ArrayLike) -> tuple[Array, tuple[int, ...]]:
        q = np.asarray(self.tree.integrate(q_s, np.zeros(self.tree.nv)))
        return q.reshape(-1, self.tree.nq), q.shape[:-1]

    def _state(self, q_s: npt.ArrayLike, v_s: npt.ArrayLike) -> tuple[Array, Array, tuple[int, ...]]:
        v = state(v_s, "v_s", self.tree.nv, f"the joints {list(self.serial)}")
        return self._together(q_s, v)

    def _together(self, q_s: npt.ArrayLike, x: Array) -> tuple[Array, Array, tuple[int, ...]]:
        """Positions and another array, broadcast against each other."""
        q, shape = self._positions(q_s)
        both = np.broadcast_shapes(shape, x.shape[:-1])
        q = np.broadcast_to(q.reshape(*shape, -1), (*both, self.tree.nq)).reshape(-1, self.tree.nq)
        return q, np.broadcast_to(x, (*both, x.shape[-1])).reshape(-1, x.shape[-1]), both

    def _follow(self, q: Array, shape: tuple[int, ...]) -> Follow:
        """Poses; one that does not exist raises."""
        found = self.loops.solve(q)
        if not shape and found.status[0]:
            status = int(found.status[0])
            kind = SingularConstraintError if status == SINGULAR else AssemblyError
            raise kind(
                f"twin of {self.mech.name!r}: {TROUBLE[status]}. Stay where `status(q_s)` is 0, or make a"
                " twin of mech.with_default(q) on the branch that you want."
            )
        return found
