"""Mechanism: a compiled mechanism. Immutable, safe to share between threads, picklable.

Its methods stand in classes beside each other, one for each kind of question; all have the same base, `Core`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy.typing as npt

from ..models.base.restore import MAKERS, restore
from ..tracing.c_files import CFiles, chosen_functions
from ..tracing.linear_parameters import linear_parameters
from .core.core import frozen_state
from .query.body_queries import BodyQueries
from .query.constraint_queries import ConstraintQueries
from .query.contact_queries import ContactQueries
from .query.design_queries import DesignQueries
from .query.friction_queries import FrictionQueries
from .query.inertia_queries import InertiaQueries
from .query.motion_queries import MotionQueries
from .query.pose_queries import PoseQueries
from .query.recorded_code import longest_of, program_of
from .query.report import report
from .query.step_gradients import StepGradients
from .query.time_steps import TimeSteps
from .variants.changed_copies import ChangedCopies


class Mechanism(
    ChangedCopies,
    BodyQueries,
    ContactQueries,
    ConstraintQueries,
    PoseQueries,
    MotionQueries,
    FrictionQueries,
    TimeSteps,
    StepGradients,
    DesignQueries,
    InertiaQueries,
):
    """Rigid bodies, joints, closed loops and other constraints, compiled from a `MechanismSpec`.

    Signs: M a + h = tau + S.T u + J.T lam, phi(q, t) = 0, J v = b, J a = gamma. Rows of J may depend on each
    other. Array arguments may have leading batch axes where a method says so. `print(mech)` shows bodies,
    constraints, actuators and mobility.

    Attributes:
        name: Name of the mechanism.
        nq, nv, nc, nu: Numbers of positions, velocities, constraint rows and actuators.
        names, body_names, row_names: Names of velocity coordinates, bodies and constraint rows.
        actuators, passive: Names of the coordinates with an actuator, in the order of u, and without.
        states: Names of the states of first order (`spec.state`), whose values are entries of v.
        length: Characteristic length L [m], which makes metres and radians comparable.
        omitted: What its file contains and it does not, what changes the motion first.
        laws, visuals: Laws of actuators by coordinate and shapes for pictures, where its file gives them.
    """

    def __repr__(self) -> str:
        return f"Mechanism({self.name!r}, nq={self.nq}, nv={self.nv}, nc={self.nc}, nu={self.nu})"

    def __str__(self) -> str:
        return report(self)

    def __reduce__(self) -> tuple[Any, ...]:
        known = self._default if self._near is None else self.default
        default = None if known is None else (known.q.tolist(), known.v.tolist())
        return restore, ("Mechanism", {"model": self.model, "default": default})

    # ------------------------------------------------------------------ pictures

    def plot(self, q: npt.ArrayLike | None = None, ax: Any = None, **options: Any) -> Any:
        """Draw the mechanism at q (nq,), default `default.q`, returning Axes; see `sarrus.viz.draw`."""
        from ..viz.figures.mechanism import draw

        return draw(self, q, ax, **options)

    def report(self, path: str | Path, **options: Any) -> Path:
        """Write a report as one HTML file that prints well; see `sarrus.viz.report`."""
        from ..viz.report import report

        return report(self, path, **options)

    def _repr_html_(self) -> str:
        """What notebooks show."""
        from ..viz.notebook import mechanism_html

        return mechanism_html(self)

    def studio(self, path: str | Path, **options: Any) -> Path:
        """Write one HTML file in which it can be dragged, simulated and analysed; see `sarrus.viz.studio`."""
        from ..viz.studios import studio

        return studio(self, path, **options)

    # ------------------------------------------------------------------ code

    def export_code(
        self,
        folder: str | Path,
        functions: Sequence[str] = ("acceleration", "step", "terms"),
        *,
        parameters: Mapping[str, Any] | None = None,
    ) -> tuple[Path, Path, Path]:
        """Write the mechanism as C99 for microcontrollers and real-time loops: NAME.c, NAME.h and main.c.

        The code allocates nothing, needs libm alone and does the same operations in every call. It holds
        where guards say so: functions return 0, or guard bits, and then leave the state untouched. See
        docs/code.md. It is recorded about `default`: a mechanism whose default pose is singular is recorded
        at a pose nearby. How long a step it takes is tried on states beside it: NAME_LONGEST_STEP of the
        header; where many of them refuse 1 ms, a warning says so.

        Args:
            folder: where the files go; made if it does not exist. Files of these names that sarrus did not
                write are not overwritten.
            functions: which of "acceleration", "step" (one rk4 step, projected), "terms" and "project" (the
                consistent state beside a measured one) it has.
            parameters: what stays variable in the code: keywords of `with_`, each with at least two values
                that it may take, as in {"mass": {"rod": [1.0, 2.0]}}. Functions then take one more argument
                p, which the header describes. They must enter linearly, as masses, gravity, stiffnesses and
                lengths do.

        Returns:
            The paths of NAME.c, NAME.h and main.c, a program that shows their use.

        Raises:
            InputError: the mechanism calls Python functions or is too large, a parameter is not linear, or
                the folder cannot be written.
        """
        wanted = chosen_functions(functions)
        linear = linear_parameters(lambda **x: self.with_(**x).model, parameters)
        program = program_of(self, "float64", "exported code", linear.entries)
        longest = longest_of(self, program, linear) if "step" in wanted else None
        return CFiles(self.model, program, wanted, linear, longest).write(folder)


def _restored(data: dict[str, Any]) -> Mechanism:
    default = data["default"]
    return Mechanism(data["model"], None if default is None else frozen_state(*default))


MAKERS["Mechanism"] = _restored
