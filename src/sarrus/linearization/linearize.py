"""linearize: a minimal, exact linear model of a mechanism with loops, in independent coordinates.

Forms:
    minimal      dx/dt = A x + B w of the independent coordinates        [Spencer2004] section 4.2
    full         the same in all coordinates, A = Df P, eq. (4.4)        with 2 nv - nx eigenvalues zero
    descriptor   E dx/dt = A x + B w of [dq; dv; dlam]: kinematics, momentum, constraints
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ..blas_threads import one_blas_thread
from ..dynamics.derivatives import derivatives
from ..errors import InputError
from ..mechanism.mechanism import Mechanism
from ..simulation.system.custom_system import CustomSystem
from .finite_differences import finite_variation
from .first_variations import Variation, analytic_variation
from .independent_coordinates import IndependentCoordinates, independent_coordinates
from .model import LinearModel
from .operating_point import OperatingPoint, operating_point
from .signals import input_columns, output_rows
from .state_space_forms import FORMS, Form

METHODS = ("analytic", "dual", "finite_difference")


@one_blas_thread
def linearize(
    mech: Mechanism | CustomSystem,
    q: npt.ArrayLike | None = None,
    v: npt.ArrayLike | None = None,
    u: npt.ArrayLike | None = None,
    t: float = 0.0,
    independent: Any = None,
    inputs: Any = None,
    outputs: Any = None,
    method: str = "analytic",
    form: str = "minimal",
    tau: npt.ArrayLike | None = None,
    coordinates: Any = None,
) -> LinearModel:
    """A linear model about any consistent state, at rest, in motion or accelerating; see `LinearModel`.

    States are increments of the independent positions, then of their velocities (of as many as there are
    freedoms, where rolling makes the two counts differ); Spherical and Free joints by tangent increments
    relative to the motion.

    Args:
        mech: a Mechanism or a CustomSystem.
        q: positions (nq,) [rad, m]; default `mech.default.q`.
        v: velocities (nv,) [rad/s, m/s]; default `mech.default.v` without q, else rest.
        u: inputs of the actuators there (nu,) [N m, N]; default zero.
        t: time of the drives [s].
        independent: names of the independent coordinates or joints; default: those that determine the motion
            best. {"positions": [...], "velocities": [...]} where rows restrict only velocities.
        inputs: names of coordinates on which inputs act [N m, N]; default the actuators.
        outputs: names, see `signals.py`: "crank", "v.crank", "a.crank", "pose.rod", "lam.loop.tx", "loop";
            default the states.
        method: "analytic" (recursive), "dual" (dual numbers) or "finite_difference" (states perturbed on the
            constraints only; the one for CustomConstraint rows, and always that of a CustomSystem).
        form: "minimal", "full" or "descriptor".
        tau: applied generalized force besides u (nv,) [N m, N].
        coordinates: other states than coordinates of the mechanism, instead of `independent`: names,
            combinations such as [{"link1": 1, "link2": 1}] (an absolute angle), a matrix R (p, nv) with
            y = R dq, or a `Chart`. The states are y, then its time derivative.

    Raises:
        InputError: a state off the constraints, unknown names, coordinates that are not independent (the
            message says which would be).
        SingularConstraintError: a singular pose: there is no linear model.
    """
    _one_of("method", method, METHODS)
    _one_of("form", form, tuple(FORMS))
    if coordinates is not None:
        _refuse_with_coordinates(independent, form)
    point = operating_point(mech, q, v, u, tau=tau, t=t)
    method = "finite_difference" if isinstance(mech, CustomSystem) else method
    system: Any = mech
    choice = independent_coordinates(system, point.at, independent)
    names, columns = input_columns(system, inputs)
    variation = variation_at(point, choice, columns, method)
    written = FORMS[form](point, choice, variation, independent is not None)
    labels, C, D = _outputs(point, written, outputs)
    fields = written._asdict()
    del fields["variation"]
    model = LinearModel(
        **fields,
        C=C,
        D=D,
        inputs=names,
        outputs=labels,
        independent=tuple(mech.names[i] for i in choice.positions),
        independence=choice.independence,
        form=form,
        method=method,
        point=point,
    )
    return model if coordinates is None else model.in_coordinates(coordinates)


def _refuse_with_coordinates(independent: Any, form: str) -> None:
    if independent is not None:
        raise InputError("coordinates and independent both choose the states; give one of them.")
    if form != "minimal":
        raise InputError(f'coordinates= is for form="minimal", whose states they are; got form="{form}".')


def _one_of(what: str, value: Any, allowed: tuple[str, ...]) -> None:
    if not isinstance(value, str) or value not in allowed:
        known = ", ".join(f'"{name}"' for name in allowed)
        raise InputError(f"{what} must be one of {known}; got {value!r}.")


def variation_at(
    point: OperatingPoint, choice: IndependentCoordinates, columns: list[int], method: str
) -> Variation:
    """Variations at a point, in the chosen coordinates, by any method."""
    R_q, R_v = choice.rows(point.mech.nv)
    if method == "finite_difference":
        return finite_variation(point, R_q, R_v, columns)
    system = point.mech.evaluator
    states = point.q[None], point.v[None], point.tau[None]
    d = derivatives(system, *states, system.drive(point.t, 1), method=method)[0]
    return analytic_variation(point.at, d, point.ad_v, R_q, R_v, columns)


def _outputs(point: OperatingPoint, form: Form, outputs: Any) -> tuple[tuple[str, ...], Array, Array]:
    """Names, C and D; by default the states."""
    if outputs is None:
        return form.names, np.eye(len(form.names)), np.zeros((len(form.names), form.B.shape[1]))
    labels, W = output_rows(point.mech, point.q, outputs)
    of_states, of_inputs = form.variation.signals
    return labels, W @ of_states, W @ of_inputs
