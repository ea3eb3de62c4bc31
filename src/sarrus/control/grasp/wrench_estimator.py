"""WrenchEstimator: the external wrench on a body without force sensors, and the mass that it carries.

The observer works in the tangent space, so constraint forces never enter. With x' = J v the twist of the
body, Lambda its inertia within the constraints and a the acceleration that the model predicts for the input
that was applied, the momentum Lambda x' changes between two samples by

    Lambda dx' + dLambda x' = dt (Lambda (J a + J' v) + F) + dLambda x'                                (1)

so F_raw = Lambda (dx' / dt - (J a + J' v)), Lambda and a averaged over the sample, and a filter of the chosen
bandwidth makes the estimate. A payload loads the body with -Y pi (`payload.py`): with Y filtered like F,
F = -Y pi holds without delay, and least squares with exponential forgetting estimate pi.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ... import _kernel
from ...arrays import Array, positive, state
from ...dynamics.input_response import respond
from ...errors import InputError, unknown_name
from ..core.task_inertia import inertia_of, inverse_inertia, solve_small
from ..outputs.body import body_and_point
from ..state.active_constraints import ActiveConstraints
from ..state.measured_state import MeasuredState, check_system, measured_state
from .payload import SIZE, Payload, with_payload

FARTHEST = 5.0  # lengths of the mechanism within which a payload's centre of mass lies
PRIOR = 1e-6  # weight of the last estimate relative to the information on the mass, for unexcited parameters
UNFELT = 1e-6  # eigenvalues of the inertia below this share of the largest: wrenches that cause no motion
METHODS = ("momentum", "displacement")


@dataclass(frozen=True)
class Estimate:
    """Estimate at one sample; wrenches are [force; moment] (6,) in world axes at the point.

    Attributes:
        t: time [s].
        wrench: total external wrench, what the model does not predict.
        external: the same less the wrench of the payload; equal to `wrench` where no payload is estimated.
        parameters: the ten numbers of the payload (10,), see `payload.py`.
    """

    t: float
    wrench: Array
    external: Array
    parameters: Array = field(repr=False)
    _inertia: Array = field(default_factory=lambda: np.eye(6), repr=False)  # as far as motion shows it
    _unit: Array = field(default_factory=lambda: np.ones(6), repr=False)

    @cached_property
    def unfelt(self) -> Array:
        """Wrenches [N, N m] that no motion of the mechanism shows, one per column (6, k).

        The body cannot move along them: `wrench` is what is left when they are taken away, and any multiple
        of them may act as well. A link behind four hinges has two, a body that moves freely none.
        """
        s, U = np.linalg.eigh(self._inertia * np.outer(self._unit, self._unit))
        return np.asarray((U / self._unit[:, None])[:, s <= UNFELT * s[-1]])

    @cached_property
    def payload(self) -> Payload:
        """What the body carries beside its own mass."""
        return Payload.of(self.parameters)


class _Sample(NamedTuple):
    t: float
    twist: Array  # of the point, world axes
    a0: Array  # its acceleration without inputs
    B: Array  # per unit of input
    inertia: Array
    R: Array
    V: Array  # twist of the body's origin
    rows: bytes  # which constraints hold


class WrenchEstimator:
    """External wrench on a body, and its payload, from positions, velocities and inputs alone.

    Called as estimator.update(t, q, v, u) once per sample, u the input held since the sample before. Asked at
    the stages of an integrator (`simulate` without `control_dt`) it takes those for samples whose times are
    later than all before: estimates are then good to the order of the step.

    Args:
        mech: the model.
        body: on which the wrench acts.
        point: where, in the body frame [m], (3,); default its centre of mass.
        method: "momentum", or "displacement": [Lin2018] eq. (7) without its acceleration, which needs
            `impedance`.
        impedance: the `ObjectImpedance` that holds the body, for method="displacement".
        bandwidth: of the filter [rad/s].
        payload: whether to estimate mass, centre of mass and inertia that the body carries. What a person
            does to the body then looks like a payload as far as it can: see `learning`.
        memory: time [s] after which old samples count 1/e in the payload.
        massless: whether the model takes the body itself for massless, as [Lin2018] does.
        active: constraints that hold, by name, or a function of (t, q, v) that returns them; default all. A
            sample across a change of them is left out.

    Attributes:
        ready: whether it has seen what it needs for an estimate, two samples.
        last: the latest Estimate, or None.
        learning: set it to False to keep the payload as it is.
    """

    def __init__(
        self,
        mech: Any,
        body: str,
        point: npt.ArrayLike | None = None,
        *,
        method: str = "momentum",
        impedance: Any = None,
        bandwidth: float = 100.0,
        payload: bool = False,
        memory: float = 0.1,
        massless: bool = False,
        active: Any = None,
    ) -> None:
        self.system = check_system(mech, "WrenchEstimator")
        if not isinstance(method, str) or method not in METHODS:
            raise unknown_name("method", method, METHODS, "WrenchEstimator")
        if (method == "displacement") != hasattr(impedance, "displacement_wrench"):
            raise InputError(
                'method="displacement" reads the wrench off the displacement of an impedance: give both'
                ' method="displacement" and impedance=ObjectImpedance(...), or neither.'
            )
        given = (0.0, 0.0, 0.0) if point is None else point
        self._body, self._point = body_and_point(body, given, mech, "WrenchEstimator")
        own = mech.model.bodies[self._body]
        if point is None:
            self._point = np.array(own.com, dtype=float)
        self._method, self._impedance = method, impedance
        self._bandwidth = positive(bandwidth, "bandwidth of WrenchEstimator")
        self._memory = positive(memory, "memory of WrenchEstimator")
        self.estimates_payload, self.massless = bool(payload), bool(massless)
        self._own = -Payload.of_body(own).parameters if massless else None
        self._active = ActiveConstraints(mech, active)
        self._gravity = np.asarray(mech.model.gravity, dtype=float)
        self._columns = np.array([a.index for a in mech.model.actuators], dtype=int)
        L = mech.length
        self._unit = np.array([L, L, L, 1.0, 1.0, 1.0])
        self._sizes = np.outer(self._unit, self._unit)
        self._size = np.array([1.0, L, L, L, *[L * L] * 6])
        self._identity, self._nothing = np.eye(SIZE), np.zeros(SIZE)
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        self.last: Estimate | None = None
        self.learning = True
        self._before: _Sample | None = None
        self._wrench, self._Y = np.zeros(6), np.zeros((6, SIZE))
        self.ready = False
        self._information, self._right = np.zeros((SIZE, SIZE)), np.zeros(SIZE)
        self._parameters = np.zeros(SIZE)

    def update(self, t: float, q: npt.ArrayLike, v: npt.ArrayLike, u: npt.ArrayLike) -> Estimate:
        """The estimate at a new sample.

        Args:
            t: time [s]; a sample that is not later than the last one changes nothing.
            q: positions (nq,).
            v: velocities (nv,).
            u: inputs (nu,) held since the last sample.
        """
        return self.observe(measured_state(self.system, t, q, v), state(u, "u", self.system.nu))

    def observe(self, now: MeasuredState, u: Array) -> Estimate:
        """The same for a state that was checked already."""
        before = self._before
        if before is not None and now.t <= before.t and self.last is not None:
            return self.last
        sample = self._sample(now)
        self._before = sample
        if before is not None and before.rows == sample.rows:
            dt = sample.t - before.t
            share = 1.0 - math.exp(-self._bandwidth * dt) if self.ready else 1.0
            self.ready = True
            self._wrench = self._wrench + share * (self._raw(now, before, sample, u, dt) - self._wrench)
            if self.estimates_payload:
                self._Y = self._Y + share * (self._mean_regressor(before, sample, dt) - self._Y)
                self._learn(dt)
        carried = self._nothing
        if self.estimates_payload:
            carried = np.asarray(_kernel.possible_payload(self._parameters, FARTHEST * self._unit[0]))
        external = self._wrench + self._Y @ carried  # the payload exerts -Y pi
        self.last = Estimate(now.t, self._wrench.copy(), external, carried, sample.inertia, self._unit)
        return self.last

    # ------------------------------------------------------------------ the wrench

    def _sample(self, now: MeasuredState) -> _Sample:
        """Of a measured state. The response is that of the projected one; the twist stays the measured one,
        because the projection in the mass metric would mix the noise of all coordinates into it."""
        active = self._active.at(now)
        terms = active.terms
        if self._own is not None:
            terms = with_payload(terms, active.now, self._body, self._own, self._gravity)
        response = respond(terms, self._columns, active.units)
        _, twist, bias, J, R = now.point(self._body, self._point)
        inertia = inertia_of(inverse_inertia(response, J), self._sizes)
        V = now.motion[0][self._body] if self.estimates_payload else twist  # only payloads ask for it
        return _Sample(
            now.t,
            twist,
            a0=J @ response.a0 + bias,
            B=J @ response.B,
            inertia=inertia,
            R=R,
            V=V,
            rows=b"" if active.rows is None else active.rows.tobytes(),
        )

    def _raw(self, now: MeasuredState, before: _Sample, after: _Sample, u: Array, dt: float) -> Array:
        """Mean wrench over one sample, (1)."""
        if self._method == "displacement":
            return np.asarray(self._impedance.displacement_wrench(now))
        predicted = 0.5 * (before.a0 + after.a0 + (before.B + after.B) @ u)
        inertia = 0.5 * (before.inertia + after.inertia)
        return np.asarray(inertia @ ((after.twist - before.twist) / dt - predicted))

    # ------------------------------------------------------------------ the payload

    def _mean_regressor(self, before: _Sample, after: _Sample, dt: float) -> Array:
        """Y (6, 10) at the point in world axes, mean over one sample."""
        Y = _kernel.payload_regressor(
            R0=before.R, V0=before.V, R1=after.R, V1=after.V, dt=dt, gravity=self._gravity, point=self._point
        )
        return np.asarray(Y)

    def _learn(self, dt: float) -> None:
        if not self.learning:
            return
        keep = math.exp(-dt / self._memory)
        weight = self._unit / self._unit[0]  # moments count by their force at L
        rows = weight[:, None] * self._Y * self._size
        rest = -weight * self._wrench
        self._information = keep * self._information + rows.T @ rows
        self._right = keep * self._right + rows.T @ rest
        prior = PRIOR * max(float(self._information[0, 0]), 1e-300)
        right = self._right + prior * (self._parameters / self._size)
        known = self._information + prior * self._identity
        self._parameters = solve_small(known, right) * self._size
