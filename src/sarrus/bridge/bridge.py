"""Bridge: functions of a mechanism for a library of arrays."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from sarrus.arrays import mapping, number, one_of, positive, positive_whole
from sarrus.bridge.functions import Function, Functions, Stepping
from sarrus.bridge.operations import Operation, operation
from sarrus.bridge.parameters import with_parameters
from sarrus.bridge.rollouts import rollout
from sarrus.errors import InputError, SarrusError
from sarrus.mechanism.core.contact_refusals import STEP_WAYS
from sarrus.mechanism.mechanism import Mechanism

MOST_OPERATIONS = 64  # functions with other lengths or times of steps that are kept


class Bridge(ABC):
    """Functions of a mechanism for arrays of another library: arrays in, the same kind out.

    Batch axes come first. States are normalized (quaternions) and projected onto the constraints before
    anything else, so that states off the constraints are accepted; derivatives are those of the composition.

    Attributes:
        mech: The mechanism.
        contacts: Whether surfaces touch in steps, "steps" or "ignore".
    """

    library: ClassVar[str]

    def __init__(self, mech: Mechanism, contacts: str = "steps") -> None:
        if not isinstance(mech, Mechanism):
            raise InputError(f"a bridge takes a Mechanism, got {type(mech).__name__}.")
        if mech.model.functions:
            listed = ", ".join(map(repr, mech.model.functions))
            raise InputError(
                f"sr.bridge.{self.library} cannot differentiate the Python functions of {listed}."
                " Write them as constraints and forces of the library (sr.Coupling, sr.PolynomialCoupling,"
                " sr.JointSpring ...), or take mech.step without derivatives."
            )
        self.mech, self.contacts = mech, one_of(contacts, "`contacts`", STEP_WAYS)
        self._functions = Functions(mech, self.contacts)
        self._kept = lru_cache(MOST_OPERATIONS)(self._made)

    @abstractmethod
    def _call(self, operation: Operation, given: tuple[Any, ...]) -> tuple[Any, ...]:
        """Results of an operation, as arrays of the library that know their derivatives."""

    def _zeros(self, like: Any, n: int) -> Any:
        """A vector of zeros (n,) beside an array of the library."""
        return np.zeros(n)

    # ------------------------------------------------------------------ functions

    def step(
        self,
        q: Any,
        v: Any,
        u: Any = None,
        dt: float = 1e-3,
        t: float = 0.0,
        *,
        method: str = "rk4",
        substeps: int = 1,
        parameters: Mapping[str, Any] | None = None,
    ) -> tuple[Any, Any]:
        """The state (q, v) after a step of the projected state; see `Mechanism.step`.

        Args:
            q, v: positions (nq,) and velocities (nv,).
            u: actuator inputs (nu,), held over the step; default none.
            dt: length of the step [s].
            t: time at its beginning [s].
            method: an explicit integrator.
            substeps: number of equal steps that dt is divided into.
            parameters: {name: value}: values of parameters of the description instead of its own, which the
                result has derivatives by, too (differences of order six); each state may have its own.
        """
        how = self._stepping(dt, t, method, substeps)
        inputs = self._zeros(q, self.mech.nu) if u is None else u
        return self._with_parameters(("step", how), (q, v, inputs), parameters)

    def rollout(
        self,
        q0: Any,
        v0: Any,
        u: Any,
        *,
        dt: float = 1e-3,
        t: float = 0.0,
        method: str = "rk4",
        substeps: int = 1,
        parameters: Mapping[str, Any] | None = None,
    ) -> tuple[Any, Any]:
        """States q (n + 1, nq), v (n + 1, nv) along n steps under inputs u (n, nu), each held over its step.

        The first is the projected start. Arguments are those of `step`.
        """
        if len(np.shape(u)) < 2:
            raise InputError(
                f"rollout: u must have shape (n, {self.mech.nu}), inputs for each of n steps, with batch axes"
                f" in front, got {np.shape(u)}."
            )
        how = self._stepping(dt, t, method, substeps)
        return self._with_parameters(("rollout", how, int(np.shape(u)[-2])), (q0, v0, u), parameters)

    def acceleration(self, q: Any, v: Any, tau: Any = None, t: float = 0.0) -> Any:
        """Acceleration (nv,) of the projected state under the applied force tau (nv,), default none."""
        force = self._zeros(q, self.mech.nv) if tau is None else tau
        return self._call(self._kept("acceleration", number(t, "`t`")), (q, v, force))[0]

    def inverse_dynamics(self, q: Any, v: Any, a: Any, t: float = 0.0) -> Any:
        """Actuator inputs u (nu,) of least norm that give the projected state the acceleration a (nv,).

        Only the part of a along the constraints counts.
        """
        return self._call(self._kept("inverse_dynamics", number(t, "`t`")), (q, v, a))[0]

    def assemble(self, q_guess: Any = None, fixed: Mapping[str, Any] | None = None, t: float = 0.0) -> Any:
        """The pose q (nq,) that closes all constraints, with derivatives by the fixed positions.

        Args:
            q_guess: Where to search (nq,), plain numbers; default the default pose. Of several assemblies it
                chooses one and has no derivative.
            fixed: {coordinate: position}, as many as there are freedoms.
            t: Time [s].
        """
        held = mapping(fixed, "fixed", "{coordinate: position}")
        if not held:
            raise InputError(
                "assemble: fixed must name the coordinates to differentiate by, {coordinate: position};"
                " without any, project(q) is the pose nearest to a guess, with derivatives."
            )
        guess = None if q_guess is None else tuple(np.asarray(q_guess, dtype=float).ravel().tolist())
        made = self._kept("assemble", tuple(held), guess, number(t, "`t`"))
        return self._call(made, (self._stacked(list(held.values())),))[0]

    def project(self, q: Any, v: Any = None, t: float = 0.0) -> tuple[Any, Any]:
        """The nearest state (q, v) on the constraints, in the mass metric; v defaults to rest."""
        speed = self._zeros(q, self.mech.nv) if v is None else v
        return self._pair(("project", number(t, "`t`")), (q, speed))

    # ------------------------------------------------------------------ parts

    @abstractmethod
    def _stacked(self, values: list[Any]) -> Any:
        """Numbers as one vector, along a last axis."""

    def _with_parameters(
        self, what: tuple[Any, ...], given: tuple[Any, ...], parameters: Any
    ) -> tuple[Any, Any]:
        """A pair, with values of parameters where some are given."""
        values = mapping(parameters, "parameters", "{name: value}")
        if not values:
            return self._pair(what, given)
        made = (f"{what[0]} with parameters", tuple(values), *what[1:])
        return self._pair(made, (*given, self._stacked(list(values.values()))))

    def _pair(self, what: tuple[Any, ...], given: tuple[Any, ...]) -> tuple[Any, Any]:
        q, v = self._call(self._kept(*what), given)
        return q, v

    def _stepping(self, dt: float, t: float, method: str, substeps: int) -> Stepping:
        if not isinstance(method, str):
            raise InputError(f"`method` must be the name of an integrator, got {method!r}.")
        return Stepping(
            positive(dt, "`dt`"), number(t, "`t`"), method, positive_whole(substeps, "`substeps`")
        )

    def _made(self, name: str, *how: Any) -> Operation:
        functions = self._functions
        if name == "step with parameters":
            return operation(with_parameters(functions, how[0], lambda one: one.step(*how[1:])))
        if name == "rollout with parameters":
            return operation(with_parameters(functions, how[0], lambda one: rollout(one, *how[1:])))
        if name == "rollout":
            return operation(rollout(functions, *how))
        if name == "assemble":
            fixed, guess, t = how
            return operation(functions.assemble(fixed, None if guess is None else np.array(guess), t))
        made: Function = getattr(functions, name)(*how)
        return operation(made)


def require(library: str, package: str) -> SarrusError:
    """The error for a library that is not installed."""
    return InputError(
        f'sr.bridge.{library} needs {package}, which is not installed: pip install "sarrus[{library}]".'
    )
