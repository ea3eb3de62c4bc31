"""LinearModel: a linear system with named signals, its modes, and conversions to other packages."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import Array, fixed_shape, number, numbers, positive
from ..errors import InputError
from ..mechanism.mechanism import Mechanism
from .change_of_coordinates import Minimal, changed
from .independent_coordinates import IndependentCoordinates
from .modes import Complex, Mode, Reach, modes, ordered, reach, spectrum
from .operating_point import OperatingPoint


@dataclass(frozen=True, kw_only=True, eq=False)
class LinearSystem:
    """What a linear model and linear models along a trajectory have in common; described there."""

    A: Array
    B: Array
    C: Array
    D: Array
    names: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    independent: tuple[str, ...]
    lift: Array

    @property
    def _sizes(self) -> str:
        return f"nx={len(self.names)}, nw={len(self.inputs)}, ny={len(self.outputs)}"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LinearModel(LinearSystem):
    """E dx/dt = A x + B w + rate, y = C x + D w about a state; w and y are increments, too.

    Attributes:
        A, B, C, D: (nx, nx), (nx, nw), (ny, nx), (ny, nw).
        E: (nx, nx) of a descriptor form, else None (the identity).
        names: of the states, "q.crank", ..., "v.crank", ... (nx).
        inputs: of the inputs: coordinates on which they act (nw).
        outputs: of the outputs (ny).
        independent: the independent coordinates.
        form: "minimal", "full" or "descriptor".
        method: how the derivatives were taken.
        rate: time derivative of the states at the point itself (nx,); zero at an equilibrium.
        lift: [dq; dv] in all coordinates of the states (2 nv, nx).
        reduce: states of [dq; dv] (nx, 2 nv).
        point: the state: q, v, u, tau, t, a, lam.
        choice: indices of the independent positions and velocities.
        dt: sample time [s] of a discrete model, x[k+1] = A x[k] + B w[k] + rate; None: continuous.
    """

    E: Array | None = None
    form: str
    method: str
    rate: Array
    reduce: Array
    point: OperatingPoint
    choice: IndependentCoordinates
    dt: float | None = None
    _independence: float | None = None  # of other coordinates than `choice`

    def __post_init__(self) -> None:
        for name in ("A", "B", "C", "D", "E", "rate", "lift", "reduce"):
            array = getattr(self, name)
            if array is not None:
                array.setflags(write=False)

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism that was linearized."""
        return self.point.mech

    @property
    def order(self) -> int:
        """Freedoms of positions plus freedoms of velocities: the size of the minimal form."""
        return len(self.choice.positions) + len(self.choice.velocities)

    @cached_property
    def independence(self) -> float:
        """How well the independent coordinates determine the motion: 1 at best, 0 not at all."""
        return self.choice.quality(self.point.at) if self._independence is None else self._independence

    # ------------------------------------------------------------------ motions

    @cached_property
    def _spectrum(self) -> tuple[Complex, Complex]:
        values, vectors = spectrum(self.A, self.E, self.order)
        if self.dt is None:
            return values, vectors
        order = ordered(_rates(values, self.dt))
        return values[order], vectors[:, order]

    @property
    def eigenvalues(self) -> Complex:
        """Eigenvalues (nx,) complex [1/s], by size; of a descriptor form the finite ones.

        Those of a discrete model are factors per sample; see `poles`.
        """
        return self._spectrum[0]

    @cached_property
    def poles(self) -> Complex:
        """Eigenvalues as rates [1/s], (nx,); of a discrete model log(eigenvalue) / dt."""
        return self.eigenvalues if self.dt is None else _rates(self.eigenvalues, self.dt)

    @property
    def natural_frequencies(self) -> Array:
        """|pole| [rad/s], (nx,), in the order of `eigenvalues`."""
        return np.abs(self.poles)

    @property
    def damping_ratios(self) -> Array:
        """-Re(pole) / |pole|, (nx,), in the order of `eigenvalues`; 0 for a pole at zero."""
        size = self.natural_frequencies
        return np.divide(-self.poles.real, size, out=np.zeros_like(size), where=size > 0.0)

    @cached_property
    def modes(self) -> tuple[Mode, ...]:
        """One `Mode` per real eigenvalue or complex pair, with its shape in all coordinates."""
        return modes(self.poles, self._spectrum[1], self.lift, self.mechanism.units.unit)

    def mode_poses(self, which: int, phases: npt.ArrayLike, amplitude: float = 0.25) -> Array:
        """Poses (n, nq) of a mode, closed: q moved by amplitude * Re(shape exp(i phase)).

        Args:
            which: number of the mode in `modes`.
            phases: of the cycle [rad], (n,).
            amplitude: of the coordinate that moves most [rad], or times L [m].
        """
        if not isinstance(which, (int, np.integer)) or not 0 <= which < len(self.modes):
            raise InputError(f"the mode must be a number from 0 to {len(self.modes) - 1}, got {which!r}.")
        m, shape = self.mechanism, number(amplitude, "amplitude") * self.modes[which].shape
        turns = np.exp(1j * numbers(np.atleast_1d(numbers(phases, "phases")), "phases", 1))
        moved = [m.integrate(self.point.q, np.real(shape * turn)) for turn in turns]
        return np.array([m.assemble(q, t=self.point.t).q for q in moved])

    # ------------------------------------------------------------------ inputs and outputs

    def controllability(self) -> Reach:
        """Which part of the state the inputs can move; see `Reach`."""
        self._require_explicit("controllability")
        return reach(self.A, self.B, ("controllable", "no input moves"))

    def observability(self) -> Reach:
        """Which part of the state the outputs observe; see `Reach`."""
        self._require_explicit("observability")
        return reach(self.A.T, self.C.T, ("observable", "no output shows"))

    def state(self, q: npt.ArrayLike, v: npt.ArrayLike) -> Array:
        """States x (nx,) of a nearby state q (nq,), v (nv,) of the mechanism."""
        dq = self.mechanism.difference(self.point.q, fixed_shape(q, "q", (self.mechanism.nq,)))
        dv = fixed_shape(v, "v", (self.mechanism.nv,)) - self.point.v
        return np.asarray(self.reduce @ np.concatenate([dq, dv]))

    def in_coordinates(self, coordinates: Any) -> LinearModel:
        """The same model with other states: names, combinations, a matrix or a `Chart`, as for `linearize`.

        Its states are `other.reduce @ self.lift` times those of this one.
        """
        if self.form != "minimal" or self.dt is not None:
            raise InputError(
                "in_coordinates needs a continuous model of the minimal form; change coordinates before"
                " discretize()."
            )
        C = None if self.outputs == self.names else self.C
        return replace(self, **changed(Minimal(self.point, self.lift, C, self.inputs), coordinates))

    # ------------------------------------------------------------------ elsewhere

    def discretize(self, dt: float) -> LinearModel:
        """The exact model of samples dt [s] apart, inputs held in between."""
        from scipy.linalg import expm

        self._require_explicit("discretize")
        if self.dt is not None:
            raise InputError(f"the model is discrete already, with dt = {self.dt:g} s.")
        dt = positive(dt, "dt [s]")
        nx, nw = self.B.shape
        right = np.column_stack([self.B, self.rate])
        whole = expm(dt * np.block([[self.A, right], [np.zeros((nw + 1, nx + nw + 1))]]))
        A, B, rate = whole[:nx, :nx], whole[:nx, nx : nx + nw], whole[:nx, -1]
        return replace(self, A=A.copy(), B=B.copy(), rate=rate.copy(), dt=dt)

    def to_control(self) -> Any:
        """A `control.StateSpace` of the python-control package, with the names of all signals.

        That package allows no dots in names: "q.crank" is "q_crank" there, with a number where that makes two
        names one.
        """
        self._require_explicit("to_control")
        try:
            import control
        except ImportError:
            raise InputError("to_control() needs the package `control`: pip install control.") from None
        time = () if self.dt is None else (self.dt,)
        signals = {"states": self.names, "inputs": self.inputs, "outputs": self.outputs}
        labels = {kind: _without_dots(names) for kind, names in signals.items()}
        return control.ss(self.A, self.B, self.C, self.D, *time, **labels, name=self.mechanism.name)

    def to_scipy(self) -> Any:
        """A `scipy.signal.StateSpace`."""
        from scipy.signal import StateSpace

        self._require_explicit("to_scipy")
        time = {} if self.dt is None else {"dt": self.dt}
        return StateSpace(self.A, self.B, self.C, self.D, **time)

    def _repr_html_(self) -> str:
        """What notebooks show."""
        from ..viz.notebook import linear_html

        return linear_html(self)

    def plot_poles(self, ax: Any = None, **options: Any) -> Any:
        """Draw the eigenvalues in the complex plane, returning Axes; see `sarrus.viz.figures.linear`."""
        from ..viz.figures.linear import pole_map

        return pole_map(self, ax, **options)

    def plot_mode(self, which: int = 0, ax: Any = None, **options: Any) -> Any:
        """Draw a mode on the mechanism, returning Axes; see `sarrus.viz.figures.linear`."""
        from ..viz.figures.linear import mode_shape

        return mode_shape(self, which, ax, **options)

    def __str__(self) -> str:
        head = (
            f"Linear model of {self.mechanism.name!r} ({self.form}, {self.method}): {len(self.names)} states"
            f" ({', '.join(self.names)}), {len(self.inputs)} inputs, {len(self.outputs)} outputs"
        )
        lines = [head + ("." if self.dt is None else f", dt = {self.dt:g} s.")]
        lines += [f"  {_shown(mode.eigenvalue)} 1/s: {mode.text}" for mode in self.modes]
        if np.max(np.abs(self.rate), initial=0.0) > 1e-8:
            lines.append("  Not an equilibrium: the state itself changes, see `rate`.")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"LinearModel({self.mechanism.name!r}, form={self.form!r}, {self._sizes})"

    def _require_explicit(self, what: str) -> None:
        if self.E is not None:
            raise InputError(f'{what} needs dx/dt = A x + B w: linearize with form="minimal".')


def _rates(factors: Complex, dt: float) -> Complex:
    """log(factor) / dt [1/s]."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(factors) / dt, dtype=complex)


def _shown(value: complex) -> str:
    return f"{value.real:.6g} +- {value.imag:.6g}i" if value.imag else f"{value.real:.6g}"


def _without_dots(names: tuple[str, ...]) -> list[str]:
    """Names with _ for dots, all different: later ones get a number."""
    found: list[str] = []
    for name in (name.replace(".", "_") for name in names):
        number = 2
        label = name
        while label in found:
            label, number = f"{name}_{number}", number + 1
        found.append(label)
    return found
