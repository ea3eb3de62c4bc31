"""linearize: a minimal, exact linear model of a mechanism with loops, in independent coordinates.

Forms:
    minimal      dx/dt = A x + B w of the independent coordinates        [Spencer2004] section 4.2
    full         the same in all coordinates, A = Df P, eq. (4.4)        with 2 nv - nx eigenvalues zero
    descriptor   E dx/dt = A x + B w of [dq; dv; dlam]: kinematics, momentum, constraints
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ..blas_threads import one_blas_thread
from ..dynamics.derivatives import derivatives
from ..dynamics.friction_refusals import refuse_rest
from ..errors import InputError
from ..mechanism.core.access import applied_force, arguments_of
from ..mechanism.core.contact_refusals import has_contacts, refuse_touching
from ..mechanism.core.core import State
from ..mechanism.mechanism import Mechanism
from ..mechanism.query.sticking import held_by_contacts
from ..simulation.system.custom_system import CustomSystem
from .compiled_models import LinearModels, Signals, States, compiled_batch, compiled_model, plan, stacked
from .finite_differences import finite_variation
from .first_variations import Variation, analytic_variation
from .independent_coordinates import IndependentCoordinates, given_coordinates, independent_coordinates
from .measured_outputs import StateOfModel
from .model import LinearModel
from .near_singular import require_accuracy
from .operating_point import (
    OperatingPoint,
    by_differences,
    consistent_state,
    operating_point,
    require_mechanism,
)
from .signals import input_columns, output_matrices
from .state_space_forms import FORMS, Form
from .states import first_order, outputs_of, with_states, without_integrals

METHODS = ("analytic", "dual", "finite_difference")


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
) -> LinearModel | Any:
    """A linear model about any consistent state, at rest, in motion or accelerating; see `LinearModel`.

    States are increments of the independent positions, then of their velocities (of as many as there are
    freedoms, where rolling makes the two counts differ), among which states of first order bear their names;
    Spherical and Free joints by tangent increments relative to the motion. Batch axes allowed: the models of
    a batch have the same coordinates; see `LinearModels`.

    Args:
        mech: a Mechanism or a CustomSystem.
        q: positions (nq,) [rad, m]; default `mech.default.q`.
        v: velocities (nv,) [rad/s, m/s]; default `mech.default.v` without q, else rest.
        u: inputs of the actuators there (nu,) [N m, N]; default zero.
        t: time of the drives [s].
        independent: names of the independent coordinates or joints; default: those that determine the motion
            best. {"positions": [...], "velocities": [...]} where rows restrict only velocities.
        inputs: names of coordinates on which inputs act [N m, N]; default the actuators.
        outputs: names: "crank", "v.crank", "a.crank", "pose.rod", "lam.loop.tx", "loop", names of
            measures; default the states.
        method: "analytic" (recursive), "dual" (dual numbers) or "finite_difference" (states perturbed on the
            constraints only; the one for CustomConstraint rows, and always that of a CustomSystem).
        form: "minimal", "full" or "descriptor".
        tau: applied generalized force besides u (nv,) [N m, N].
        coordinates: other states than coordinates of the mechanism, instead of `independent`: names,
            combinations such as [{"link1": 1, "link2": 1}] (an absolute angle), a matrix R (p, nv) with
            y = R dq, or a `Chart`. The states are y, then its time derivative. {"positions": ...,
            "velocities": ...}, both of the first three kinds, where rows restrict only velocities.

    Raises:
        InputError: a contact that slides or changes its mode there (those that stick count as joints),
            a state off the constraints, unknown names, coordinates that are not independent (the
            message says which would be).
        SingularConstraintError: a singular pose: there is no linear model; or one so near that rounding
            leaves nothing of it. Where it leaves errors above 1e-6, a warning says how much.

    Example:

        >>> import sarrus as sr
        >>> mech = sr.library.pendulum()
        >>> model = sr.linearize(mech, q=sr.equilibrium(mech, [-1.5]).q)
        >>> model.A.shape, model.names
        ((2, 2), ('q.rod', 'v.rod'))
    """
    _one_of("method", method, METHODS)
    _one_of("form", form, tuple(FORMS))
    require_mechanism(mech, "linearize")
    refuse_rest(mech.model, mech.default.v if q is None and v is None else v, "linearize")
    if isinstance(mech, Mechanism):
        mech = _with_contacts(mech, (q, v, u, tau), t)
    if coordinates is not None:
        _refuse_with_coordinates(independent, form)
    system: Any = mech
    method = "finite_difference" if isinstance(mech, CustomSystem) else method
    independent, outputs = with_states(mech, independent), outputs_of(mech, outputs)
    wanted, given = Wanted(independent, inputs, outputs, method, form), (q, v, u, tau)
    found: LinearModel | LinearModels | None = None
    if _is_batch(q) or _is_batch(v) or _is_batch(u) or _is_batch(tau):
        if isinstance(mech, CustomSystem):
            raise InputError("linearize takes one state of a CustomSystem; linearize a batch one by one.")
        found = _batch(system, given, t, wanted)
    elif wanted.compiled(system):
        found = _compiled(system, given, t, wanted)
    if found is None:
        found = _by_variation(operating_point(mech, q, v, u, tau=tau, t=t), wanted)
    found = without_integrals(found, first_order(mech))
    return found if coordinates is None else found.in_coordinates(coordinates)


def _with_contacts(mech: Mechanism, given: tuple[Any, ...], t: float) -> Mechanism:
    """The mechanism in which contacts that stick at a state q, v under u, tau are joints."""
    q, v, u, tau = given
    if not has_contacts(mech.model):
        return mech
    if any(_is_batch(x) for x in given):
        refuse_touching(mech, mech.default.q if q is None else q, "linearize of a batch")
        return mech
    at_rest = np.zeros(mech.nv) if q is not None else mech.default.v
    pose = mech.default.q if q is None else arguments_of(mech).one_pose(q, "q")
    at = State(pose, at_rest if v is None else v)
    force = applied_force(mech, at.q, tau, u)
    held = held_by_contacts(mech, at, force, t, "linearize")
    return mech if held is None else held


def _is_batch(x: Any) -> bool:
    """Whether an argument has batch axes."""
    if x is None or isinstance(x, np.ndarray):
        return x is not None and x.ndim > 1
    try:
        return np.ndim(x) > 1
    except ValueError:  # lists of different lengths: refused where arguments are checked
        return False


class Wanted(NamedTuple):
    """What a linear model is wanted in: arguments of `linearize`."""

    independent: Any
    inputs: Any
    outputs: Any
    method: str
    form: str

    def compiled(self, mech: Mechanism) -> bool:
        """Whether the kernel has it."""
        usual = self.method == "analytic" and self.form == "minimal" and self.outputs is None
        return usual and not by_differences(mech) and not mech.evaluator.calls_functions


@one_blas_thread
def _by_variation(point: OperatingPoint, wanted: Wanted) -> LinearModel:
    """Any form, any outputs, by any method."""
    mech = point.mech
    require_accuracy(mech, point.q, point.v, point.a, point.t)
    choice = independent_coordinates(mech, point.at, wanted.independent)
    names, columns = input_columns(mech, wanted.inputs)
    variation = variation_at(point, choice, columns, wanted.method)
    written = FORMS[wanted.form](point, choice, variation, wanted.independent is not None)
    labels, C, D = _outputs(point, written, columns, wanted)
    system = written._asdict()
    del system["variation"]
    return LinearModel(
        **system,
        C=C,
        D=D,
        inputs=names,
        outputs=labels,
        independent=tuple(mech.names[i] for i in choice.positions),
        choice=choice,
        form=wanted.form,
        method=wanted.method,
        point=point,
    )


def _refuse_with_coordinates(independent: Any, form: str) -> None:
    if independent is not None:
        raise InputError("coordinates and independent both choose the states; give one of them.")
    if form != "minimal":
        raise InputError(f'coordinates= is for form="minimal", whose states they are; got form="{form}".')


Given = tuple[Any, Any, Any, Any]


def _states(mech: Mechanism, given: Given, t: float) -> States:
    """q, v, u, tau as given or by default, with or without batch axes."""
    q, v, u, tau = given
    if mech.evaluator.driven and v is None and np.ndim(q) < 2:
        q, v = consistent_state(mech, q, None, t)
    elif v is None:
        v = mech.default.v if q is None else mech.rest
        v = mech.consistent_velocity(q, v, t) if mech.evaluator.driven else v
    q = mech.default.q if q is None else q
    if u is None:
        return States(q, v, np.zeros(mech.nv) if tau is None else tau, t)
    return States(q, v, applied_force(mech, q, tau, u), t)


def _compiled(mech: Mechanism, given: Given, t: float, wanted: Wanted) -> LinearModel | None:
    """One state, by the kernel; None where it has no model."""
    names, columns = input_columns(mech, wanted.inputs)
    indices = given_coordinates(mech, wanted.independent)
    at = _states(mech, given, arguments_of(mech).time(t))
    u = np.zeros(mech.nu) if given[2] is None else np.array(given[2], dtype=float)
    found = compiled_model(mech, at, plan(*indices, columns), Signals(names, u))
    if found is not None:
        require_accuracy(mech, found.point.q, found.point.v, found.point.a, found.point.t)
    return found


def _batch(mech: Mechanism, given: Given, t: float, wanted: Wanted) -> LinearModels:
    """A batch of states, in the same coordinates."""
    at, u = _states(mech, given, arguments_of(mech).time(t)), np.zeros(mech.nu)
    parts: list[tuple[Any, str, bool]] = [(at.q, "q", True), (at.v, "v", False), (at.tau, "tau", False)]
    (q, v, tau), batch = arguments_of(mech).states(parts)
    if len(q) == 0:
        raise InputError(f"a batch of states must have at least one, got q of shape {np.shape(at.q)}.")
    at, u = States(q, v, tau, at.t), np.asarray(u if given[2] is None else given[2], dtype=float)
    names, columns = input_columns(mech, wanted.inputs)
    signals = Signals(names, np.broadcast_to(u, (*batch, mech.nu)).reshape(len(q), mech.nu))
    compiled: LinearModels | int = 0
    if not mech.evaluator.calls_functions:
        indices = given_coordinates(mech, wanted.independent)
        compiled = compiled_batch(mech, at, plan(*indices, columns), signals, batch)
    if isinstance(compiled, LinearModels) and wanted.compiled(mech):
        require_accuracy(mech, q, v, mech.acceleration(q, v, tau, at.t), at.t)
        return compiled
    first = compiled[(0,) * len(batch)] if isinstance(compiled, LinearModels) else _one(at, 0, mech, wanted)
    if isinstance(compiled, int) and not mech.evaluator.calls_functions:
        _one(at, compiled, mech, wanted)  # says why
    if wanted.independent is None:
        chosen = {"positions": first.choice.positions, "velocities": first.choice.velocities}
        fixed = {role: [mech.names[i] for i in where] for role, where in chosen.items()}
        wanted = wanted._replace(independent=fixed)
    return stacked([_one(at, i, mech, wanted) for i in range(len(q))], batch)


def _one(at: States, i: int, mech: Mechanism, wanted: Wanted) -> LinearModel:
    """One state of a batch, by any method."""
    return _by_variation(operating_point(mech, at.q[i], at.v[i], tau=at.tau[i], t=at.t), wanted)


def _one_of(what: str, value: Any, allowed: tuple[str, ...]) -> None:
    if not isinstance(value, str) or value not in allowed:
        known = ", ".join(f'"{name}"' for name in allowed)
        raise InputError(f"{what} must be one of {known}; got {value!r}.")


def variation_at(
    point: OperatingPoint, choice: IndependentCoordinates, columns: npt.NDArray[np.int32], method: str
) -> Variation:
    """Variations at a point, in the chosen coordinates, by any method."""
    R_q, R_v = choice.rows(point.mech.nv)
    if method == "finite_difference":
        return finite_variation(point, R_q, R_v, columns)
    system = point.mech.evaluator
    states = point.q[None], point.v[None], point.tau[None]
    d = derivatives(system, *states, system.drive(point.t, 1), method=method, t=point.t)[0]
    return analytic_variation(point.at, d, point.ad_v, R_q, R_v, columns)


def _outputs(
    point: OperatingPoint, form: Form, columns: npt.NDArray[np.int32], wanted: Wanted
) -> tuple[tuple[str, ...], Array, Array]:
    """Names, C and D; by default the states."""
    if wanted.outputs is None:
        return form.names, np.eye(len(form.names)), np.zeros((len(form.names), form.B.shape[1]))
    at = StateOfModel(point.mech, point.q, point.v, point.tau, point.t)
    return output_matrices(at, form.variation.signals, columns, wanted.outputs)
