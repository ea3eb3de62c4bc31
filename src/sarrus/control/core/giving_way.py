"""Giving way: which limits are exceeded, and how much of the motion is lost, where not everything can be had.

Bounds of motors never give way. Everything else does in an order that the user chooses: what gives way last
is satisfied first, as well as the bounds of motors allow, and keeps what it got while the rest follows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...arrays import Array, BoolArray
from ...errors import InputError
from ..limits.limit_rows import CONTACT, MOTOR
from ..limits.limit_table import InputRows
from ..limits.quadratic_program import solve, solve_softly
from .nearest_inputs import OpenInputs, nearest_inputs, program_of, regularized

CONTACTS, LIMITS, MOTION = "contacts", "limits", "motion"
SLACK = 1e-9  # of bounds against rounding from program to program, relative to the largest


def _listed(gives: Any) -> list[str]:
    """What a user says that gives way, as a list: one name or several."""
    several = isinstance(gives, Sequence) and not isinstance(gives, str)
    given = list(gives) if several else [gives]
    if not all(isinstance(one, str) for one in given):
        raise InputError(f'gives must be "contacts", "limits", "motion" or a list, got {gives!r}.')
    return given


def _refuse_motors(given: list[str], motors: Iterable[str]) -> None:
    """Raise where bounds of motors are to give way."""
    if fixed := [one for one in given if one in set(motors)]:
        raise InputError(f"gives: bounds of motors never give way, got {fixed[0]!r}. Leave it out.")


@dataclass(frozen=True)
class Order:
    """What gives way, first to last.

    Attributes:
        groups: "contacts" (limits on forces of constraints), "limits" (all that no other group has),
            "motion", and names of limits.
    """

    groups: tuple[str, ...]

    @staticmethod
    def of(gives: Any, names: Iterable[str], motors: Iterable[str]) -> Order:
        """The order from what a user gives: a group, the name of a limit, or several of them, first to last.
        What is missing gives way after those: contacts, then other limits, then the motion.

        Args:
            gives: from the user.
            names: of all limits that can give way.
            motors: names of bounds of motors, which never do.
        """
        given = _listed(gives)
        _refuse_motors(given, motors)
        known = [CONTACTS, LIMITS, MOTION, *dict.fromkeys(names)]
        if not set(given) <= set(known):
            raise InputError(f"gives must be of {', '.join(map(repr, known))}, or a list, got {gives!r}.")
        if given in ([LIMITS], []):
            given = [CONTACTS, LIMITS]
        rest = [CONTACTS] if LIMITS not in given else []
        return Order(tuple(dict.fromkeys([*given, *rest, LIMITS, MOTION])))

    def group_of(self, name: str, kind: str) -> int:
        """Index of the group of a limit; -1 for bounds of motors."""
        if kind == MOTOR:
            return -1
        if name in self.groups:
            return self.groups.index(name)
        contact = kind == CONTACT and CONTACTS in self.groups
        return self.groups.index(CONTACTS if contact else LIMITS)


class GivingWay:
    """Limits that cannot all hold, relaxed as far as necessary in the order in which they give way.

    Args:
        inputs: in which directions inputs can be chosen.
        limits: on the inputs.
        order: in which they give way.
        solver: of the programs.

    Attributes:
        inputs: those with the motion that the limits allow, and the directions that it leaves open.
        limits: relaxed: `inputs` at `z` keep all of them.
        z: of `inputs`.
    """

    def __init__(self, inputs: OpenInputs, limits: InputRows, order: Order, solver: str) -> None:
        self.inputs, self.limits, self._order, self._solver = inputs, limits, order, solver
        self.z = np.zeros(inputs.Z.shape[1])
        kinds = zip(limits.names + limits.cone_names, limits.kinds, strict=True)
        self._group = np.array([order.group_of(*one) for one in kinds], dtype=int)
        self._slack = SLACK * (1.0 + max(_largest(limits.lower), _largest(limits.upper)))

    def run(self, motion: tuple[Array, Array, Array] | None) -> None:
        """Satisfy all groups, last to first.

        Args:
            motion: G (k, n), x (n,) that gives the motion, and Z (n, m) with G Z = 0; None is no motion.
        """
        held = self._group == -1
        for i in reversed(range(len(self._order.groups))):
            if self._order.groups[i] == MOTION and motion is not None:
                self._move(*motion, held)
            elif (self._group == i).any():
                held = held | (self._group == i)
                self._hold(held, self._group == i)

    def _hold(self, held: BoolArray, added: BoolArray) -> None:
        """Keep the limits `held`; those of them that were `added` now as well as possible."""
        limits = self.limits.without(~held)
        found = nearest_inputs(self.inputs, limits, self.z, None, self._solver)
        if found.status != "infeasible":
            self.z = found.z
            return
        program = program_of(self.inputs, limits, self.z, None)
        soft = solve_softly(program, limits.weights, self._solver, added[held])
        if not np.isfinite(soft.z).all():
            return
        self.z = soft.z
        u = self.inputs.at(self.z)[1]
        self.limits = self.limits.let_out(added, u, self._slack)

    def _move(self, G: Array, x: Array, Z: Array, held: BoolArray) -> None:
        """The motion of x as well as possible within the limits `held`."""
        limits = self.limits.without(~held)
        exact = OpenInputs(x, Z, self.inputs.metric)
        kept = nearest_inputs(exact, limits, None, None, self._solver)
        if kept.status != "infeasible":
            self.inputs, self.z = exact, kept.z
            return
        GZ, before = G @ self.inputs.Z, self.inputs.x + self.inputs.Z @ self.z
        z = self.z + np.linalg.lstsq(GZ, G @ (x - before), rcond=None)[0]
        found = solve(program_of(self.inputs, limits, z, regularized(GZ.T @ GZ)), self._solver)
        if found.feasible:
            before = self.inputs.x + self.inputs.Z @ found.z
        self.inputs, self.z = OpenInputs(before, Z, self.inputs.metric), np.zeros(Z.shape[1])

    def nearest(self, goal: Array, H: Array | None) -> Array:
        """z (m,) nearest to a goal in the norm of H with the relaxed limits kept."""
        found = nearest_inputs(self.inputs, self.limits, goal, H, self._solver)
        return self.z if found.status == "infeasible" else found.z


def _largest(bounds: Array) -> float:
    """Largest size of a finite bound."""
    return float(np.abs(bounds[np.isfinite(bounds)]).max(initial=0.0))


def let_out_reserve(limits: InputRows) -> InputRows:
    """Limits without the reserve by which they were drawn in."""
    if limits.reserve is None:
        return limits
    m = len(limits.R)
    cones = tuple(
        replace(k, e=k.e + float(by)) for k, by in zip(limits.cones, limits.reserve[m:], strict=True)
    )
    return replace(limits, lower=limits.lower - limits.reserve[:m], cones=cones, reserve=None)
