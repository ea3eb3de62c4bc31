"""Twin: a robot with closed loops as a tree for other simulators, and its motors seen from its joints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ..arrays import Array, state
from ..errors import InputError
from ..formats.save import save
from ..mechanism.mechanism import Mechanism
from .chain import chain_of
from .limits import polytope, torque_rows
from .loop_map import LoopMap
from .partition import partition, pattern
from .report import report
from .robot_checks import check_robot, speeds_of
from .statics import RANK, Statics
from .tree import TreeBuilder


@dataclass(frozen=True)
class TwinError:
    """How far the motion of the tree is from that of the closed robot, in one state.

    Attributes:
        a: Acceleration of the closed robot in the coordinates of the tree (..., nv_s).
        a_tree: That of the tree (..., nv_s).
        torque: What the tree needs beside tau_s to move as the closed robot does (..., nv_s) [N m, N].
        relative: |a_tree - a| / |a| with lengths divided by L (...); 0 where both are zero.
    """

    a: Array
    a_tree: Array
    torque: Array
    relative: float | Array


class Twin(Statics):
    """A tree beside a closed robot. Make it with `sarrus.twin`.

    Positions, speeds and torques of the tree (q_s, v_s, tau_s) are those of `tree`, in its order; those of
    the motors (q_m, tau_m) in the order of `motor_names`. Batch axes come first. q_m, J_A, torques and limits
    are exact; the inertia of linkages is lumped at the reference pose. Poses are those of the branch of the
    default state of the robot.

    Where there is no result, one pose raises: AssemblyError where the loops do not close on this branch,
    SingularConstraintError where joints do not determine motors or motors do not move joints. In a batch such
    copies are NaN, and `status` says which.

    Attributes:
        mech: The closed robot.
        tree: The tree, a Mechanism without constraints; its default state is the reference pose.
        serial: Names of its coordinates (nv_s).
        motor_names: Names of the motors (nu).
        loops: What follows from its coordinates, and how.
        left_out: What the tree does not have or has only at the reference pose, in words.
    """

    def __init__(self, mech: Mechanism, serial: Sequence[str], speeds: Mapping[str, float] | None) -> None:
        self.mech = mech
        check_robot(mech)
        self._motors = np.array([one.index for one in mech.model.actuators], dtype=int)
        self._motors_q = np.array([mech.model.coordinate_q[k] for k in self._motors], dtype=int)
        self.motor_names = mech.actuators
        self.speeds = speeds_of(mech, speeds)
        used = np.any(pattern(mech), axis=0)
        chain = chain_of(mech, serial, used)
        split = partition(mech, chain.joints, self._motors.tolist(), "the joints of `serial`")
        self.loops = LoopMap(mech, split, np.array(mech.default.q))
        self._q_s = np.array(mech.default.q)[split.given_q]
        self._unit_s = np.array(mech.units.unit)[split.given]
        self._unit_m = np.array(mech.units.unit)[self._motors]
        J = self.loops.solve(self._q_s[None]).N[0][self._motors]
        self._rank = int(np.sum(np.linalg.svd(self._without_units(J), compute_uv=False) > RANK))
        self._inputs = np.array([[x.lower, x.upper] for x in mech.model.actuators]).reshape(-1, 2)
        bounds = polytope(mech.names, *torque_rows(J, self._inputs[:, 0], self._inputs[:, 1]))
        names = [mech.names[k] for k in split.given]
        acted = np.any(np.abs(self._without_units(J)) > RANK, axis=0)
        inputs = {
            name: (float(low), float(high))
            for name, low, high, has in zip(names, bounds.lower, bounds.upper, acted, strict=True)
            if has
        }
        made = TreeBuilder(mech, chain, self.loops).build(inputs)
        self.tree, self.left_out = made.mech, made.left_out
        self.serial = self.tree.names

    def __repr__(self) -> str:
        return f"Twin({self.mech.name!r}, serial={list(self.serial)}, motors={list(self.motor_names)})"

    def __str__(self) -> str:
        return report(self)

    # ------------------------------------------------------------------ dynamics

    def error(self, q_s: npt.ArrayLike, v_s: npt.ArrayLike, tau_s: npt.ArrayLike) -> TwinError:
        """How far the tree's acceleration is from the closed robot's under the same torques: `TwinError`."""
        tau = state(tau_s, "tau_s", self.tree.nv, f"the joints {list(self.serial)}")
        q, v, shape = self._state(q_s, v_s)
        q, v, tau, shape = _broadcast(q, v, tau, shape)
        closed = self.complete(q, v)
        fine = np.asarray(np.isfinite(closed.q).all(axis=1))
        if not shape and not fine[0]:
            self._follow(q, shape)
        a, a_tree = np.full_like(v, np.nan), np.full_like(v, np.nan)
        full = np.zeros((len(q), self.mech.nv))
        full[:, self.loops.split.given] = tau
        if np.any(fine):
            a[fine] = self.mech.acceleration(closed.q[fine], closed.v[fine], full[fine])[
                :, self.loops.split.given
            ]
            a_tree[fine] = self.tree.acceleration(q[fine], v[fine], tau[fine])
        M = self.tree.mass_matrix(q)
        torque = np.einsum("bij,bj->bi", M, a - a_tree)
        apart = np.linalg.norm((a_tree - a) / self._unit_s, axis=1)
        size = np.linalg.norm(a / self._unit_s, axis=1)
        relative = np.where(apart == 0.0, 0.0, apart / np.where(size > 0.0, size, 1.0))
        a, a_tree, torque = (x.reshape(*shape, -1) for x in (a, a_tree, torque))
        return TwinError(a, a_tree, torque, relative.reshape(shape) if shape else float(relative[0]))

    def correction(self, q_s: npt.ArrayLike, v_s: npt.ArrayLike, tau_s: npt.ArrayLike) -> Array:
        """Torque (..., nv_s) that makes the tree move exactly as the closed robot does under tau_s.

        Apply tau_s + correction(q_s, v_s, tau_s) to the tree. tau_s is all that acts on the robot beside what
        its description says: torques of motors in the joints, and J.T f of forces on bodies.
        """
        return self.error(q_s, v_s, tau_s).torque

    # ------------------------------------------------------------------ files

    def save(self, path: str | Path) -> Path:
        """Write the tree as URDF, MJCF, SDF or JSON (.urdf, .xml, .sdf, .json); see `sarrus.save`."""
        return save(self.tree, path)

    def export_code(
        self,
        folder: str | Path,
        language: str = "c",
        *,
        ranges: Mapping[str, tuple[float, float]] | None = None,
    ) -> tuple[Path, ...]:
        """Write the functions of the twin as code of its own, without sarrus; see docs/twins.md.

        Args:
            folder: Where the files go; made if it does not exist.
            language: "c" (C99: NAME_twin.c, NAME_twin.h, main.c), "numpy", "torch" or "jax" (one module each,
                NAME_twin_LANGUAGE.py, batched, differentiable).
            ranges: {coordinate of the tree: (lower, upper)} [rad, m], of balls and Free joints from the
                reference, for which the code is made; default: limits of joints, or 0.6 rad (times L) about
                the reference. Where loops close in less it is made for less, and its first lines say what.

        Returns:
            The paths of the files.
        """
        from .export import export_twin

        return export_twin(self, folder, language, ranges)


def _broadcast(
    q: Array, v: Array, tau: Array, shape: tuple[int, ...]
) -> tuple[Array, Array, Array, tuple[int, ...]]:
    both = np.broadcast_shapes(shape, tau.shape[:-1])
    parts = [x.reshape(*shape, x.shape[-1]) for x in (q, v)] + [tau]
    wide = [np.broadcast_to(x, (*both, x.shape[-1])).reshape(-1, x.shape[-1]) for x in parts]
    return wide[0], wide[1], wide[2], both


def twin(mech: Mechanism, serial: Sequence[str], *, speeds: Mapping[str, float] | None = None) -> Twin:
    """The tree of a robot with closed loops, for simulators that take trees only; see `Twin`.

    Args:
        mech: The closed robot; its actuators are the motors, its default state is the reference pose and
            says which branch.
        serial: Names of the joints that the tree has: as many freedoms as the loops leave, all on its main
            chain. Joints that no loop touches, floating bases too, belong to the tree by themselves.
        speeds: Largest speeds of motors by name [rad/s, m/s]; others are not limited.

    Raises:
        InputError: The joints do not determine the motors, or are tied to each other; the robot has parts
            that no tree and no code can have (functions of Python, drives, rolling).
    """
    if not isinstance(mech, Mechanism):
        raise InputError(f"twin takes a Mechanism, got {type(mech).__name__}; spec.compile() makes one.")
    return Twin(mech, serial, speeds)
