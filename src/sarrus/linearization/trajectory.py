"""linearize_trajectory: linear models along a motion, all in the same coordinates."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ..blas_threads import one_blas_thread
from ..dynamics.derivatives import derivatives
from ..dynamics.friction_refusals import refuse_rest
from ..errors import InputError
from ..mechanism.mechanism import Mechanism
from ..mechanism.query.time_steps import step_slopes
from ..models.twists import ad_all, twist_slices
from ..projection.local_coordinates import INDEPENDENT_TOL, Tangents, choose, tangents
from ..simulation.trajectory.trajectory import Trajectory
from .first_variations import analytic_variation
from .independent_coordinates import IndependentCoordinates, independent_coordinates
from .measured_outputs import StateOfModel
from .model import LinearSystem
from .operating_point import require_mechanism
from .signals import input_columns, output_matrices

CANDIDATES = 16  # states whose best coordinates are compared; those best at their worst state are taken


@dataclass(frozen=True, kw_only=True, repr=False)
class LinearTrajectory(LinearSystem):
    """dx/dt = A(t) x + B(t) w, y = C(t) x + D(t) w: increments relative to the stored motion.

    Attributes:
        t: times [s], (n,).
        A, B, C, D: (n, nx, nx), (n, nx, nw), (n, ny, nx), (n, ny, nw).
        names, inputs, outputs: of the states, inputs and outputs.
        independent: the independent coordinates.
        independence: how well they determine the motion at each state (n,).
        lift: [dq; dv] in all coordinates of the states (n, 2 nv, nx).
        reduce: states of [dq; dv] (nx, 2 nv).
        motion: the run.
        columns: coordinates on which the inputs act (nw,).
        dt: steps [s] of discrete models (n,), x[k+1] = A[k] x[k] + B[k] w[k]; None: continuous.
    """

    t: Array
    independence: Array
    reduce: Array
    motion: Trajectory
    columns: npt.NDArray[np.intp]
    dt: Array | None = None

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        return f"LinearTrajectory({len(self)} states, t = {self.t[0]:g} .. {self.t[-1]:g} s, {self._sizes})"

    def discretize(self) -> LinearTrajectory:
        """The models that lead from each state to the next, with inputs held in between: one less.

        They are exact to the steps of the run, `Mechanism.step_derivatives`: those of its method where steps
        are fixed, else steps of "dopri5" with its tolerances.
        """
        if self.dt is not None:
            raise InputError("the models are discrete already.")
        run, dt = self.motion, np.diff(self.t)
        A, B = (np.stack(x) for x in zip(*(self._step(k, float(h)) for k, h in enumerate(dt)), strict=True))
        before = {name: getattr(self, name)[:-1] for name in ("t", "C", "D", "lift", "independence")}
        steps = {"A": self.reduce @ A @ self.lift[:-1], "B": self.reduce @ B, "motion": run, "dt": dt}
        return replace(self, **before, **steps)

    def _step(self, k: int, h: float) -> tuple[Array, Array]:
        """A (2 nv, 2 nv) and B (2 nv, nw) of the step of size h from state k."""
        run, options = self.motion, self.motion._outcome.options
        mech: Mechanism = run.system
        method, parts = "dopri5", 1
        if options is not None and not options.integrator.adaptive:
            method, parts = options.method, max(1, round(h / options.dt))
        state = run.q[k], run.v[k], run.tau[k]
        return step_slopes(mech, state, self.columns, (float(run.t[k]), h, parts), method)


@one_blas_thread
def linearize_trajectory(
    trajectory: Trajectory,
    independent: Any = None,
    inputs: Any = None,
    outputs: Any = None,
    method: str = "analytic",
) -> LinearTrajectory:
    """Linear models at every stored state of a run; see `LinearTrajectory`.

    Args:
        trajectory: what `simulate` returned.
        independent: as in `linearize`, the same at all states; default: those whose worst conditioning
            along the motion is best.
        inputs, outputs: as in `linearize`.
        method: "analytic" or "dual".

    Raises:
        InputError: no fixed choice of coordinates is independent all along (say, a crank through its dead
            centre); the message says where it fails.
    """
    if not isinstance(trajectory, Trajectory):
        raise InputError(
            f"linearize_trajectory takes a Trajectory of sr.simulate, got {type(trajectory).__name__}."
        )
    mech = trajectory.system
    require_mechanism(mech, "linearize_trajectory")
    refuse_rest(mech.model, trajectory.v, "linearize_trajectory")
    ats = _all_tangents(mech, trajectory)
    choice = _choice(mech, trajectory, ats, independent)
    rows, (names, columns) = choice.rows(mech.nv), input_columns(mech, inputs)
    d = _derivatives(mech, trajectory, method)
    slices, R = twist_slices(mech.model), choice.matrix(mech.nv)
    parts: list[tuple[Array, ...]] = []
    labels, t = choice.names(mech.names), trajectory.t.tolist()
    for i, at in enumerate(ats):
        x = analytic_variation(at, d[i], ad_all(slices, trajectory.v[i]), *rows, columns)
        C, D = np.eye(len(R)), np.zeros((len(R), len(columns)))
        if outputs is not None:
            state = StateOfModel(mech, *(part[i] for part in (trajectory.q, trajectory.v, trajectory.tau, t)))
            labels, C, D = output_matrices(state, x.signals, columns, outputs)
        parts.append((R @ x.rate, R @ x.rate_u, C, D, x.T))
    A, B, C, D, T = (np.stack(part) for part in zip(*parts, strict=True))
    quality = np.array([choice.quality(at) for at in ats])
    independent_names = tuple(mech.names[i] for i in choice.positions)
    states: dict[str, Any] = {"names": choice.names(mech.names), "independent": independent_names}
    signals: dict[str, Any] = {"inputs": names, "outputs": labels, "independence": quality}
    known: dict[str, Any] = {"reduce": R, "motion": trajectory, "columns": np.asarray(columns, dtype=np.intp)}
    return LinearTrajectory(t=trajectory.t, A=A, B=B, C=C, D=D, lift=T, **states, **signals, **known)


def _all_tangents(mech: Mechanism, trajectory: Trajectory) -> list[Tangents]:
    """Tangent directions at every state; refused where their number changes along the motion."""
    out = []
    for t, q, v, rank in zip(trajectory.t, trajectory.q, trajectory.v, trajectory.rank, strict=True):
        J = mech.terms(q, v, float(t)).J
        out.append(tangents(mech.evaluator, J, int(rank)))
    ranks = {at.rank for at in out}
    if len(ranks) > 1:
        where = int(np.argmin(trajectory.rank))
        raise InputError(
            f"the motion passes a singular pose at t = {trajectory.t[where]:.6g} s (rank {min(ranks)} instead"
            f" of {max(ranks)}), where no linear model exists. Linearize the parts before and after it."
        )
    return out


def _choice(
    mech: Mechanism, trajectory: Trajectory, ats: list[Tangents], independent: Any
) -> IndependentCoordinates:
    """Coordinates that are independent at every state."""
    if independent is None:
        some = ats[:: max(1, len(ats) // CANDIDATES)]
        choices = {independent_coordinates(mech, at) for at in some}
        choice = max(choices, key=lambda c: min(c.quality(at) for at in ats))
    else:
        choice = independent_coordinates(mech, ats[0], independent)
    worst = min(range(len(ats)), key=lambda i: choice.quality(ats[i]))
    if choice.quality(ats[worst]) <= INDEPENDENT_TOL:
        at = ats[worst]
        good = [mech.names[i] for i in choose(at.bare(at.N_q))]
        raise InputError(
            f"the coordinates {[mech.names[i] for i in choice.positions]} are not independent at"
            f" t = {trajectory.t[worst]:.6g} s; {good} would be there. Choose others, or linearize in pieces."
        )
    return choice


def _derivatives(mech: Mechanism, trajectory: Trajectory, method: str) -> Any:
    """Derivatives of all states in one call."""
    system = mech.evaluator
    drive = np.concatenate([system.drive(float(t), 1) for t in trajectory.t])
    q, v, tau = (np.ascontiguousarray(x) for x in (trajectory.q, trajectory.v, trajectory.tau))
    return derivatives(system, q, v, tau, drive, method=method)
