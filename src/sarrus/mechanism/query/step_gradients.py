"""Gradients through single steps of a Mechanism: what cotangents of the state after a step are before it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from ...arrays import Array, names, positive_whole, state
from ...differences import slope_terms
from ...errors import InputError, SarrusError, require_all_known
from ..core.core import Core, whole
from .contact_slopes import touched_slopes
from .contact_steps import surfaces_act
from .position_rates import increments_of_positions, rates_of_positions

if TYPE_CHECKING:
    from ..mechanism import Mechanism

Gradient = tuple[Array, Array, Array]
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
        entries, quaternions included; see section 8 of docs/notation.md. Regular steps of fixed Runge-Kutta
        methods are swept backwards in compiled code, at the cost of a few steps; others take the columns of
        `step_derivatives`. Batch axes allowed; batches use all cores.

        Args:
            q, v, u, dt, t, tau, method, substeps, contacts: those of `step`.
            cotangent: gradients by the state after the step: by its q (nq,) and its v (nv,).
            parameters: names of parameters of the description to differentiate by, too.

        Returns:
            Gradients by q (nq,), by v (nv,) and by u (nu,); with `parameters` also {name: gradient}, a number
            for each state. A state of a batch without derivatives is NaN.

        Raises:
            SingularConstraintError: J loses rank within the step of a single state.
            InputError: a contact slides, closes or changes within the step, dry friction does not slide all
                along it, or Python functions would have to be differentiated.
            SarrusError: the step of a single state failed, or a parameter opens an overconstrained loop.
        """
        end = _cotangent(cotangent, self.nq, self.nv, self._owner)
        options: Any = {"tau": tau, "method": method, "contacts": contacts}
        parts = positive_whole(substeps, "`substeps`")
        times = [(t + k * dt / parts, dt / parts) for k in range(parts)]
        states: list[Any] = [(q, v)]
        for start, h in times[:-1]:
            after = whole(self).step(*states[-1], u, h, start, **options)
            states.append((after.q, after.v))
        gradient: Any = (*end, 0.0)
        for (start, h), x in zip(reversed(times), reversed(states), strict=True):
            now = self._step_vjp((*x, u), (start, h), gradient[:2], options)
            gradient = (*now[:2], gradient[2] + now[2])
        if parameters is None:
            return cast(tuple[Any, ...], gradient)
        wanted = names(parameters, "parameters")
        require_all_known("parameter", wanted, whole(self).parameters)
        call = (q, v, u, dt, t), {**options, "substeps": substeps}
        return *gradient, {name: _by_parameter(whole(self), call, name, end) for name in wanted}

    def _step_vjp(
        self, given: tuple[Any, ...], time: tuple[float, float], end: tuple[Array, Array], options: Any
    ) -> Gradient:
        """Gradients of one part of a step of q, v, u; time: its beginning and its length [s]."""
        pose = state(given[0], "q", self.nq, self._owner)
        A, B, q1 = self._slopes(given, time, options)
        back = _pulled(rates_of_positions(self.model, q1), end[0])
        out = np.concatenate(np.broadcast_arrays(back, end[1]), axis=-1)
        found = _pulled(A, out)
        by_q = _pulled(increments_of_positions(self.model, pose), found[..., : self.nv])
        return by_q, found[..., self.nv :], _pulled(B, out)

    def _slopes(
        self, given: tuple[Any, ...], time: tuple[float, float], options: Any
    ) -> tuple[Array, Array, Array]:
        """A and B of `step_derivatives`, and the positions after the step."""
        q, v, u = given
        asked = {"t": time[0], "dt": time[1], "method": options["method"]}
        if surfaces_act(self.model, options["contacts"], "step_vjp"):
            call = whole(self), (q, v, u, options["tau"]), {**asked, "substeps": 1}
            found = touched_slopes(*call, "step_vjp", differences=False)
        else:
            found = whole(self).step_derivatives(q, v, u, tau=options["tau"], contacts="ignore", **asked)
        return found.A, found.B, found.q


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
    return state(given[0], "cotangent[0]", nq, owner), state(given[1], "cotangent[1]", nv, owner)


def _by_parameter(mech: Mechanism, call: Any, name: str, end: tuple[Array, Array]) -> Array:
    """The gradient by one parameter, of order six: steps of copies, whose constraints the state is put on."""
    (q, v, *rest), options = call
    value = mech.parameters[name]
    h = APART * (abs(value) or 1.0)
    total: Any = 0.0
    for k, weight in TERMS:
        copy = mech.with_(**{name: value + k * h})
        try:
            after = copy.step(*copy.project(q, v, rest[2]), *rest, **options)
        except SarrusError as error:
            raise type(error)(f"step_vjp has no gradient by parameter {name!r}: {error}") from error
        total = total + weight / h * (np.sum(end[0] * after.q, -1) + np.sum(end[1] * after.v, -1))
    return np.asarray(total)
