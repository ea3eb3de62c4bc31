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

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ... import _kernel
from ...arrays import Array, BoolArray, positive, state
from ...dynamics.friction_refusals import refuse_dry_friction
from ...errors import InputError, require_known
from ..core.compiled_step import STEPPED, CompiledStep
from ..core.force_metric import ForceMetric
from ..exported.written_law import WrittenObserver, refuse
from ..outputs.body import body_and_point
from ..state.active_constraints import ActiveConstraints
from ..state.measured_state import MeasuredState, check_system, measured_state
from .payload import Payload

FARTHEST = 5.0  # lengths of the mechanism within which a payload's centre of mass lies
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
        refuse_dry_friction(self.system.model, "WrenchEstimator, which would take it for an external wrench,")
        require_known("method", method, METHODS, "WrenchEstimator")
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
        self._columns = np.array([a.index for a in mech.model.actuators], dtype=int)
        L = mech.length
        self._unit = np.array([L, L, L, 1.0, 1.0, 1.0])
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        self._found: tuple[float, Any] | None = None
        self.learning = True
        if "_observer" in self.__dict__:
            self._observer.reset()

    @property
    def ready(self) -> bool:
        """Whether it has seen what it needs for an estimate, two samples."""
        return bool(self._observer.ready)

    @property
    def last(self) -> Estimate | None:
        """The latest Estimate, or None."""
        if self._found is not None and not isinstance(self._found[1], Estimate):
            t, found = self._found
            wrench, external, parameters, inertia = found.estimate()
            self._found = t, Estimate(t, wrench, external, parameters, inertia, self._unit)
        return None if self._found is None else self._found[1]

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
        observer, asked = self.question(now, u)
        found = observer(now.q, now.v, now.t, asked)
        if found.status != STEPPED:
            self._step.explain(found, now.t)
        self.accept(now.t, found)
        assert self.last is not None
        return self.last

    # ------------------------------------------------------------------ in the kernel

    @cached_property
    def _step(self) -> CompiledStep:
        """Response of a measured state to the inputs: a law without outputs."""
        return CompiledStep(
            self.system,
            (),
            columns=self._columns,
            used=np.arange(self.system.nu),
            active=self._active,
            metric=ForceMetric(None, self.system, self._columns),
            damping={"damping": 0.0, "min_controllability": 0.0, "by_mass": False},
            limits=None,
            held=_kernel.ObjectSetup(
                body=self._body,
                column=0,
                com=self._point,
                stiffness=None,
                damping=None,
                inertia=None,
                reserve=None,
            ),
            drops_lost_rows=True,
        )

    @cached_property
    def _observer(self) -> _kernel.Observer:
        """The observer with what it remembers: kernels/control/wrench_observer.hpp."""
        length = self.system.length
        return _kernel.Observer(
            self._step.kernel,
            length,
            self._bandwidth,
            self._memory,
            farthest=FARTHEST * length,
            payload=self.estimates_payload,
        )

    def question(self, now: MeasuredState, u: Array) -> tuple[Any, tuple[Any, ...]]:
        """The observer, and what it is asked at a measured state; inputs u (nu,) since the last sample."""
        asked, drive = self._step.question(now)
        raw = None if self._impedance is None else self._impedance.displacement_wrench(now)
        rows = self._active.rows(now)[0]
        return self._observer, (u, drive, rows, raw, self._own, self.learning, asked)

    def written(self, compensates: bool, rows: BoolArray | None) -> Any:
        """The estimator as a `WrittenObserver`, for laws without Python whose constraint rows (nc,) hold."""
        if self._impedance is not None:
            refuse('method="displacement"', "belongs to another law", 'Take external="displacement".')
        every = np.ones(self.system.nc, dtype=bool)
        own = every if self._active.fixed is None else self._active.fixed
        if not self._active.is_fixed or not np.array_equal(own, every if rows is None else rows):
            refuse("active of the WrenchEstimator", "differs from that of the law", "Give both the same.")
        length = self.system.length
        return WrittenObserver(
            setup=self._step.kernel.tables(),
            bandwidth=self._bandwidth,
            memory=self._memory,
            length=length,
            farthest=FARTHEST * length,
            payload=self.estimates_payload,
            compensates=compensates,
            own=self._own,
        )

    def accept(self, t: float, found: Any) -> None:
        """Remember what the kernel estimated at time t [s]; a sample that is not later changes nothing."""
        if self._found is None or t > self._found[0]:
            self._found = t, found
