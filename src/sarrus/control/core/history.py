"""History: a control law evaluated again at the states of a trajectory, its results as arrays."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ...arrays import Array, frozen
from ...errors import InputError
from .solution import Solution, Status


@dataclass(frozen=True)
class History:
    """Parts of a control law at n times.

    Attributes:
        t: times [s], (n,).
        outputs, desired, errors: of the outputs (n, k).
        u: inputs (n, nu).
        tau, tau_tangent, tau_normal: generalized forces (n, nv): total, tangent part (moves the mechanism),
            normal part (only loads the constraints).
        lam: predicted multipliers (n, nc).
        margins: distance to each limit, {name: (n,)}, negative where it is exceeded.
        status: (n,), see `Status`.
        elapsed: time spent on each step [s], (n,).
        solutions: all the results (n).
    """

    t: Array
    outputs: Array
    desired: Array
    errors: Array
    u: Array
    tau: Array
    tau_tangent: Array
    tau_normal: Array
    lam: Array
    margins: dict[str, Array]
    status: npt.NDArray[np.int64]
    elapsed: Array
    task_names: tuple[str, ...]
    coordinate_names: tuple[str, ...]
    row_names: tuple[str, ...]
    actuator_names: tuple[str, ...]
    solutions: tuple[Solution, ...] = field(repr=False)

    @property
    def torque_norm(self) -> Array:
        """|u| (n,) [N m, N]."""
        return np.asarray(np.linalg.norm(self.u, axis=1))

    @property
    def success(self) -> bool:
        """Whether no step violated limits or failed."""
        return bool(np.all(self.status >= 0))

    def plot(self, *args: Any, **kwargs: Any) -> Any:
        """Plot references, errors, torques and limits; see `sarrus.viz.figures.control`."""
        from ...viz.figures.control import plot_control

        return plot_control(self, *args, **kwargs)

    def summary(self) -> str:
        """Largest errors, torques and what went wrong, in words."""
        each = 1e6 * float(np.median(self.elapsed))
        lines = [f"{len(self.t)} steps, t = {self.t[0]:g} .. {self.t[-1]:g} s, {each:.0f} us each (median)"]
        for name, error in zip(self.task_names, np.abs(self.errors).max(axis=0), strict=True):
            lines.append(f"{name}: largest error {error:.3g}")
        lines.append(f"largest |u| {self.torque_norm.max():.4g}")
        for name, left in self.margins.items():
            lines.append(f"{name}: smallest margin {left.min():.4g}")
        for status in Status:
            count = int(np.sum(self.status == status))
            if count:
                lines.append(f"{status.name}: {count} steps")
        return "\n".join(lines)


def replay(controller: Any, trajectory: Any, every: int = 1) -> History:
    """Solve the law again at the states of a trajectory.

    Args:
        controller: any of the laws; it is reset first.
        trajectory: of the mechanism that the controller was built for.
        every: take every so many states.
    """
    if len(trajectory) == 0:
        raise InputError("a trajectory without states has no history.")
    if isinstance(every, bool) or not isinstance(every, (int, np.integer)) or every < 1:
        raise InputError(f"every must be a whole number of at least 1, got {every!r}.")
    controller.reset()
    states = zip(trajectory.t[::every].tolist(), trajectory.q[::every], trajectory.v[::every], strict=True)
    found = tuple(controller.solve(*state) for state in states)
    system = controller.system
    names = list(dict.fromkeys(name for one in found for name in one.margins))
    margins = {name: np.array([one.margins.get(name, np.nan) for one in found]) for name in names}
    nothing = np.full(system.nc, np.nan)

    parts = ("t", "outputs", "desired", "errors", "u", "tau", "tau_tangent", "tau_normal", "elapsed")
    arrays = {part: frozen([getattr(one, part) for one in found]) for part in parts}
    lam = [one.lam if len(one.lam) == system.nc else nothing for one in found]
    return History(
        **arrays,
        lam=frozen(lam),
        margins=margins,
        status=np.array([int(one.status) for one in found]),
        task_names=found[0].task_names,
        coordinate_names=tuple(system.names),
        row_names=tuple(system.row_names),
        actuator_names=tuple(system.actuators),
        solutions=found,
    )
