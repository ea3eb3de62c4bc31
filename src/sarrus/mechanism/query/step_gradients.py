"""Gradients through single steps of a Mechanism: what cotangents of the state after a step are before it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from ...arrays import Array, BoolArray, flatten_batch, names, positive, positive_whole, state
from ...differences import slope_terms
from ...dynamics.step_derivatives import StepDerivatives
from ...errors import InputError, SarrusError, require_all_known
from ..core.contact_refusals import has_contacts
from ..core.core import Core, whole
from .contact_slopes import touched_slopes
from .contact_steps import surfaces_act
from .position_rates import increments_of_positions, rates_of_positions
from .time_steps import METHODS, step_options

if TYPE_CHECKING:
    from ..mechanism import Mechanism

Gradient = tuple[Array, Array, Array]
WHAT = "step_vjp"
APART = 2e-3  # of a parameter: values of the differences of order six
TERMS = slope_terms(6)


class StepGradients(Core):
    """Gradients through single steps."""

    def step_vjp(
        self,
        q: npt.ArrayLike,
        v: npt.ArrayLike,
        u: npt.ArrayLike | None = None,
        dt: float = 1e-3,
        t: float = 0.0,
        *,
        cotangent: tuple[npt.ArrayLike, npt.ArrayLike],
        tau: npt.ArrayLike | None = None,
        method: str = "rk4",
        substeps: int = 1,
        contacts: str = "steps",
        parameters: Sequence[str] | None = None,
    ) -> tuple[Any, ...]:
        """Gradients by q, v and u of a number that depends on the state after `step`: reverse mode.

        The step is that of normalized quaternions and of the projected state. Gradients by q are those by its
        entries, quaternions included; see section 8 of docs/notation.md. Steps of fixed Runge-Kutta methods
        away from singular poses are swept backwards in compiled code, at the cost of a few steps; others take
        the columns of `step_derivatives`. Batch axes allowed; batches use all cores.

        Args:
            q, v, u, dt, t, tau, method, substeps, contacts: those of `step`; explicit methods.
            cotangent: gradients by the state after the step: by its q (nq,) and its v (nv,).
            parameters: names of parameters of the description to differentiate by, too: by differences of
                order six, of copies with other values whose constraints the state is projected onto.

        Returns:
            Gradients by q (nq,), by v (nv,) and by u (nu,); with `parameters` also {name: gradient}, a number
            for each state. A state of a batch without derivatives is NaN.

        Raises:
            SingularConstraintError: J loses rank within the step of a single state.
            InputError: a contact slides, closes or changes within the step, dry friction does not slide all
                along it, or Python functions would have to be differentiated.
            SarrusError: the step of a single state failed, or a parameter opens an overconstrained loop.

        Example:

            >>> import sarrus as sr
            >>> mech = sr.library.pendulum()
            >>> by_q, by_v, by_u = mech.step_vjp([0.3], [0.0], [0.0], 1e-2, cotangent=([1.0], [0.0]))
            >>> bool(abs(by_v[0] - 0.01) < 1e-4)  # the angle after 0.01 s grows by 0.01 s times the speed
            True
        """
        if (
            substeps == 1
            and method == "rk4"
            and contacts == "steps"
            and parameters is None
            and self._is_smooth
        ):
            swept = self._swept_at_once((q, v, u, tau), (t, dt), cotangent)
            if swept is not None:
                return swept
        end = _cotangent(cotangent, self.nq, self.nv, self._owner)
        options: Any = {"tau": tau, "method": method, "contacts": contacts}
        parts, dt = positive_whole(substeps, "`substeps`"), positive(dt, "`dt`")
        times = [(self._time(t) + k * dt / parts, dt / parts) for k in range(parts)]
        states: list[Any] = [(q, v)]
        for start, h in times[:-1]:
            before_q, before_v = states[-1]
            after = whole(self).step(before_q, before_v, u, h, start, **options)
            states.append((after.q, after.v))
        gradient: Any = (*end, 0.0)
        for (start, h), x in zip(reversed(times), reversed(states), strict=True):
            now = self._through((*x, u, tau), (start, h), gradient[:2], options)
            gradient = (*now[:2], gradient[2] + now[2])
        if parameters is None:
            return cast(tuple[Any, ...], gradient)
        wanted = names(parameters, "parameters")
        require_all_known("parameter", wanted, whole(self).parameters)
        call = (q, v, u, dt, t), {**options, "substeps": substeps}
        return *gradient, {name: _by_parameter(whole(self), call, name, end) for name in wanted}

    @cached_property
    def _is_smooth(self) -> bool:
        """Whether nothing touches, sticks or is computed in Python, so that steps may be swept."""
        return not (has_contacts(self.model) or self._modes is not None or self.model.functions)

    def _swept_at_once(self, given: tuple[Any, ...], time: tuple[float, float], end: Any) -> Gradient | None:
        """Gradients of plain arrays, all of whose steps are swept; None for everything else."""
        t, dt = time
        if type(end) is not tuple or len(end) != 2 or type(dt) is not float or not 0.0 < dt < math.inf:
            return None
        try:
            found: Any = self._queries.step_gradient(
                given, (self._actuated, self._applied), (t, dt, 1), step_options("rk4", dt), end
            )
        except InputError:
            return None  # says more where arguments are checked one by one
        if found is None or not (found[3] if type(found[3]) is bool else found[3].all()):
            return None
        return cast(Gradient, found[:3])

    def _through(
        self, given: tuple[Any, ...], time: tuple[float, float], end: tuple[Array, Array], options: Any
    ) -> Gradient:
        """Gradients of one part of a step of q, v, u, tau; time: its beginning and its length [s]."""
        acts = surfaces_act(self.model, options["contacts"], WHAT)
        plain = not acts and self._modes is None and not self.model.functions
        swept = self._swept(given, time, end, options["method"]) if plain else None
        return self._by_columns(given, time, end, (acts, options)) if swept is None else swept

    def _swept(
        self, given: tuple[Any, ...], time: tuple[float, float], end: tuple[Array, Array], method: str
    ) -> Gradient | None:
        """Gradients by q, v and u in compiled code; None where no state is swept.

        States of a batch that are not swept take the columns of `step_derivatives`.
        """
        if not isinstance(method, str) or method not in METHODS:
            return None  # refused where columns are asked for
        try:
            pose = state(given[0], "q", self.nq, self._owner)
            force = self._applied(given[0], given[3], given[2], None)
            parts = [(self._positions(pose.copy()), "q"), (self._tangent(given[1], "v"), "v"), (force, "tau")]
            (q, v, tau, *ends), batch = flatten_batch([*parts, *zip(end, CALLED, strict=True)])
        except InputError:
            return None  # states that are not finite, or refused with a message of the step
        how = (self._actuated, self._applied), (*time, 1), step_options(method, sum(time))
        found: Any = self._queries.step_gradient((q, v, None, tau), *how, tuple(ends))
        swept = found[3].astype(bool)
        if not swept.any():
            return None
        gradient = found[:3]
        if not swept.all():
            self._fill((q, v, tau), (time, ends, method), ~swept, gradient)
        by_q, by_v, by_u = (x.reshape(*batch, x.shape[-1]) for x in gradient)
        for first in self.model.quaternions:  # those by entries of any length
            part = slice(first, first + 4)
            by_q[..., part] /= np.linalg.norm(pose[..., part], axis=-1, keepdims=True)
        return by_q, by_v, by_u

    def _fill(self, states: tuple[Array, ...], how: Any, rest: BoolArray, gradient: Gradient) -> None:
        """Puts the gradients of some states in by columns of `step_derivatives`."""
        (q, v, tau), (time, ends, method) = (x[rest] for x in states), how
        options = {"method": method, "contacts": "ignore"}
        given, end = (q, v, None, tau), (ends[0][rest], ends[1][rest])
        found = self._by_columns(given, time, end, (False, options))
        for x, part in zip(gradient, found, strict=True):
            x[rest] = part

    def _by_columns(
        self, given: tuple[Any, ...], time: tuple[float, float], end: tuple[Array, Array], how: Any
    ) -> Gradient:
        """The same by `step_derivatives`; how: whether surfaces act, and options."""
        pose = state(given[0], "q", self.nq, self._owner)
        found = self._slopes(given, time, *how)
        back = _pulled(rates_of_positions(self.model, found.q), end[0])
        shape = np.broadcast_shapes(back.shape[:-1], end[1].shape[:-1])
        out = np.concatenate([np.broadcast_to(x, (*shape, self.nv)) for x in (back, end[1])], axis=-1)
        both = _pulled(found.A, out)
        by_q = _pulled(increments_of_positions(self.model, pose), both[..., : self.nv])
        return by_q, both[..., self.nv :], _pulled(found.B, out)

    def _slopes(
        self, given: tuple[Any, ...], time: tuple[float, float], acts: bool, options: Any
    ) -> StepDerivatives:
        q, v, u, tau = given
        asked = {"t": time[0], "dt": time[1], "method": options["method"]}
        if acts:
            return touched_slopes(whole(self), given, {**asked, "substeps": 1}, WHAT, differences=False)
        return whole(self).step_derivatives(q, v, u, tau=tau, contacts="ignore", **asked)


CALLED = ("cotangent[0]", "cotangent[1]")


def _pulled(slopes: Array, gradient: Array) -> Array:
    """slopes.T gradient, with batch axes."""
    return np.asarray(np.einsum("...ij,...i->...j", slopes, gradient))


def _cotangent(given: Any, nq: int, nv: int, owner: str) -> tuple[Array, Array]:
    """The gradients by q (..., nq) and v (..., nv) after the step."""
    if not isinstance(given, (tuple, list)) or len(given) != 2:
        raise InputError(
            f"cotangent must be a pair, the gradients by q ({nq},) and by v ({nv},) after the step, got"
            f" {given!r:.80}."
        )
    return state(given[0], CALLED[0], nq, owner), state(given[1], CALLED[1], nv, owner)


def _by_parameter(mech: Mechanism, call: Any, name: str, end: tuple[Array, Array]) -> Array:
    """The gradient by one parameter, of order six: steps of copies, whose constraints the state is put on."""
    (q, v, u, dt, t), options = call
    value = mech.parameters[name]
    h = APART * (abs(value) or 1.0)
    total: Any = 0.0
    for k, weight in TERMS:
        copy = mech.with_(**{name: value + k * h})
        try:
            start = copy.project(q, v, t)
            after = copy.step(*start, u, dt, t, **options)
        except SarrusError as error:
            raise type(error)(f"{WHAT} has no gradient by parameter {name!r}: {error}") from error
        total = total + weight / h * (np.sum(end[0] * after.q, -1) + np.sum(end[1] * after.v, -1))
    return np.asarray(total)
