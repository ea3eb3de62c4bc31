"""Torques and limits of the motors of a twin, seen from its joints."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..arrays import Array, state
from ..errors import InputError, SingularConstraintError
from .kinematics import Kinematics
from .limits import Polytope, TwinLimits, polytope, torque_rows, two_sided

RANK = 1e-7  # singular value of J_A without units at which motors have lost a joint
REACHED = 1e-9  # share of a torque that motors may miss by rounding


class Statics(Kinematics):
    """Torques both ways, and limits; see `Twin` for the attributes."""

    speeds: Array
    _unit_s: Array
    _unit_m: Array
    _inputs: Array
    _rank: int

    def to_joints(self, q_s: npt.ArrayLike, tau_m: npt.ArrayLike) -> Array:
        """Torques of the joints tau_s = J_A.T tau_m (..., nv_s) that motors make."""
        tau = state(tau_m, "tau_m", len(self._motors), f"the motors {list(self.motor_names)}")
        q, tau, shape = self._together(q_s, tau)
        J = self._follow(q, shape).N[:, self._motors]
        return np.asarray(np.einsum("bij,bi->bj", J, tau)).reshape(*shape, self.tree.nv)

    def to_motors(self, q_s: npt.ArrayLike, tau_s: npt.ArrayLike) -> Array:
        """Torques of the motors (..., nu), of least norm, that make tau_s (..., nv_s) in the joints.

        Raises:
            SingularConstraintError: Motors have lost a joint at this pose; or tau_s asks for a torque where
                no motor acts.
        """
        tau = state(tau_s, "tau_s", self.tree.nv, f"the joints {list(self.serial)}")
        q, tau, shape = self._together(q_s, tau)
        J = self._follow(q, shape).N[:, self._motors]
        scaled = J / self._unit_m[:, None] * self._unit_s
        fine = np.asarray(np.isfinite(scaled).all(axis=(1, 2)))
        U, sizes, Vt = np.linalg.svd(np.where(fine[:, None, None], scaled, 0.0), full_matrices=False)
        regular = np.sum(sizes > RANK, axis=1) >= self._rank
        inverse = np.divide(1.0, sizes, out=np.zeros_like(sizes), where=sizes > RANK)
        wanted = tau * self._unit_s
        part = np.einsum("bij,bj->bi", Vt, wanted) * inverse
        missed = np.einsum("bij,bi->bj", scaled, np.einsum("bij,bj->bi", U, part)) - wanted
        reached = np.max(np.abs(missed), axis=1, initial=0.0) <= REACHED * np.max(
            np.abs(wanted), axis=1, initial=0.0
        )
        if not shape:
            self._refuse_torque(bool(regular[0]), bool(reached[0]), missed[0])
        found = np.einsum("bij,bj->bi", U, part) / self._unit_m
        found[~(fine & regular & reached)] = np.nan
        return np.asarray(found).reshape(*shape, len(self._motors))

    def _refuse_torque(self, regular: bool, reached: bool, missed: Array) -> None:
        if not regular:
            raise SingularConstraintError(
                f"to_motors: J_A of {self.mech.name!r} is singular at this pose: its motors make torques in"
                f" fewer than {self._rank} directions. Stay away from it: jacobian(q_s) shows it coming."
            )
        if not reached:
            where = ", ".join(
                repr(self.serial[k]) for k in np.flatnonzero(np.abs(missed) > 1e-9 * np.abs(missed).max())
            )
            raise SingularConstraintError(
                f"to_motors: no motor of {self.mech.name!r} makes this torque at {where}; leave those entries"
                " of tau_s zero, or give torques that to_joints returns."
            )

    def limited(self, q_s: npt.ArrayLike, tau_s: npt.ArrayLike) -> Array:
        """What motors make of tau_s (..., nv_s) when each stays within the limits of its input."""
        wanted = self.to_motors(q_s, tau_s)
        return self.to_joints(q_s, np.clip(wanted, self._inputs[:, 0], self._inputs[:, 1]))

    def limits(self, q_s: npt.ArrayLike, v_s: npt.ArrayLike | None = None) -> TwinLimits:
        """What the limits of the motors are in the joints, at one pose (nq_s,); see `TwinLimits`.

        Args:
            q_s: The pose.
            v_s: Speeds (nv_s,): a motor at its largest speed makes no torque that drives it further.
        """
        q, shape = self._positions(q_s)
        if shape:
            raise InputError(f"limits takes one pose q_s ({self.tree.nq},), got an array {q.shape}.")
        found = self._follow(q, shape)
        J, q_m = found.N[0, self._motors], found.q[0, self._motors_q]
        low, high = self._inputs.T.copy()
        if v_s is not None:
            v_m = J @ state(v_s, "v_s", self.tree.nv, f"the joints {list(self.serial)}")
            high[v_m >= self.speeds] = np.minimum(high, 0.0)[v_m >= self.speeds]
            low[v_m <= -self.speeds] = np.maximum(low, 0.0)[v_m <= -self.speeds]
        ends = self.mech.model.limits[self._motors]
        names = self.serial
        torque = polytope(names, *torque_rows(J, low, high))
        speed = polytope(names, *two_sided(J, -self.speeds, self.speeds))
        position = polytope(names, *two_sided(J, ends[:, 0] - q_m, ends[:, 1] - q_m))
        within = bool(np.all((q_m >= ends[:, 0]) & (q_m <= ends[:, 1])))
        return TwinLimits(torque, speed, position, within, self._said(J, torque, within, q_m))

    def _said(self, J: Array, torque: Polytope, within: bool, q_m: Array) -> str:
        said = []
        rank = int(np.sum(np.linalg.svd(self._without_units(J), compute_uv=False) > RANK))
        if rank < self._rank:
            said.append("J_A is singular here: the motors have lost a joint")
        none = [n for n, a, b in zip(self.serial, torque.lower, torque.upper, strict=True) if a == b == 0.0]
        if none:
            said.append(f"no box of torques at {', '.join(none)}: no motor acts there, or not there alone")
        if not within:
            ends = self.mech.model.limits[self._motors]
            out = [n for n, x, (a, b) in zip(self.motor_names, q_m, ends, strict=True) if not a <= x <= b]
            said.append(f"the motors {', '.join(out)} are beyond their limits of position")
        return "; ".join(said)

    def _without_units(self, J: Array) -> Array:
        return np.asarray(J / self._unit_m[:, None] * self._unit_s)
