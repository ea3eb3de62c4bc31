"""Steps in which surfaces touch: which states have one, and the steps themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._kernel import Copies, RunOptions, StepStatus, all_cores
from ...arrays import Array, BoolArray, one_of, require_memory
from ...dynamics.dry_friction import sticks
from ...errors import InputError
from ..core.contact_refusals import STEP_WAYS, has_contacts
from ..core.core import State
from ..core.slot_modes import ContactMode

if TYPE_CHECKING:
    from ..mechanism import Mechanism

IGNORED = 'contacts="ignore" lets surfaces go through each other.'
DEEP = (
    "surfaces are inside each other in a way that one step of motion does not explain, or cannot be moved"
    ' apart: take a shorter dt, or simulate(..., contacts="events")'
)
NEVER = 2**60  # steps between two records
POINT_BYTES = 15e3  # of the contact problem, for each pair of points: measured with 40 to 120 of them
MOST_POINTS = 200  # with friction, that may touch at one time: MOST_ROWS of kernels/solve/contact


def surfaces_act(model: Any, contacts: object, what: str) -> bool:
    """Whether surfaces of a model act in steps; what does not go with them is refused by name.

    Args:
        model: the model.
        contacts: "steps" or "ignore".
        what: who asks.
    """
    if one_of(contacts, f"contacts of {what}", STEP_WAYS) == "ignore" or not has_contacts(model):
        return False
    if sticks(model):
        raise InputError(
            f'{what}: dry friction of joints (friction_model="coulomb", BearingFriction) does not go with'
            f" surfaces that touch in this version; smooth friction does. {IGNORED}"
        )
    require_room(model, what)
    return True


def require_room(model: Any, what: str) -> None:
    """Refuse contact points of which the problem does not fit into the memory of this machine."""
    points = len(model.structure.slots)
    require_memory(
        POINT_BYTES * float(min(points, MOST_POINTS)) ** 2,
        f"{what}: the contact problem of {points} points that surfaces can touch at",
        "Declare fewer pairs (spec.contact), or simpler shapes: boxes, spheres, hulls of fewer corners"
        ' (sr.load(..., hull_corners=)); contacts="ignore" leaves surfaces out.',
    )


def refuse_chosen_steps(method: Any, what: str) -> None:
    """Refuse methods that choose their steps, where surfaces act."""
    if method.adaptive or method.implicit:
        raise InputError(
            f'{what} with surfaces that touch needs a method of fixed steps ("rk4", "verlet"), and'
            f" method={method.name!r} chooses them or is implicit. {IGNORED}"
        )


def refuse_on_device(acts: bool, what: str) -> None:
    """Refuse surfaces on a CUDA device."""
    if acts:
        raise InputError(f"{what}: surfaces do not touch on a CUDA device in this version. {IGNORED}")


def start_mode(mech: Mechanism, mode: Any, name: str) -> ContactMode | None:
    """The mode that steps begin in, checked; None: what (q, v) says."""
    if mode is None:
        return None
    names = mech.model.structure.slots
    if not isinstance(mode, ContactMode) or mode.names != names:
        raise InputError(
            f"{name} must be the mode of another state of {mech.name!r} (State.mode, Rollout.mode), got"
            f" {mode!r:.80}."
        )
    return mode


@dataclass(frozen=True)
class AskedStep:
    """A step that a user asks for.

    Attributes:
        given: q, v, u, tau.
        time: t, dt [s] and the number of substeps.
        options: of the steps.
        begun: the mode before; None: what (q, v) says.
    """

    given: tuple[Any, Any, Any, Any]
    time: tuple[float, float, int]
    options: RunOptions
    begun: ContactMode | None


def touched_steps(mech: Mechanism, free: State, touched: BoolArray, asked: AskedStep) -> State:
    """States after a step, of which some touch.

    Args:
        mech: the mechanism.
        free: the states after a step without contacts.
        touched: which of them are replaced by a step with contacts.
        asked: the step.
    """
    (q, v, u, tau), names = asked.given, mech.model.structure.slots
    begun = asked.begun
    batch = free.q.shape[:-1]
    closed = touched if begun is None else touched | begun.touches
    if not np.any(closed):
        mode = ContactMode.open(names, batch) if begun is None else begun
        return State(free.q, free.v, 0.0, free.status, mode, free.step_error)
    force = mech._applied(q, tau, u, None)
    of_states = [(q, mech.nq), (v, mech.nv), (force, mech.nv)]
    numbers = _mode_before(mech, begun, batch)
    which = np.flatnonzero(np.broadcast_to(closed, batch))
    flat = [
        np.broadcast_to(np.asarray(x, dtype=float), (*batch, n)).reshape(-1, n)[which] for x, n in of_states
    ]
    copies = _stepped(mech, flat, numbers[which], asked)
    status = np.asarray(copies.status).astype(np.int32)
    after = [np.array(x).reshape(-1, x.shape[-1]) for x in free]
    for to, found in zip(after, (copies.q, copies.v), strict=True):
        to[which] = np.where(status[:, None] == 0, found, np.nan)
    all_status = np.broadcast_to(np.asarray(free.status, dtype=np.int32), batch).ravel().copy()
    error = np.broadcast_to(np.asarray(free.step_error, dtype=float), batch).ravel().copy()
    all_status[which], error[which], numbers[which] = status, np.nan, copies.modes
    shaped = [x.reshape(*batch, x.shape[-1]) for x in (*after, numbers)]
    mode = ContactMode(names, shaped[2])
    if not batch:
        return State(shaped[0], shaped[1], 0.0, int(all_status[0]), mode, float(error[0]))
    of_batch: Any = all_status.reshape(batch)
    return State(shaped[0], shaped[1], 0.0, of_batch, mode, error.reshape(batch))


def _mode_before(mech: Mechanism, begun: ContactMode | None, batch: tuple[int, ...]) -> Array:
    """Numbers (B, n) of the modes before."""
    mode = ContactMode.open(mech.model.structure.slots, ()) if begun is None else begun
    if begun is not None and begun.numbers.shape[:-1] not in ((), batch):
        raise InputError(f"mode is of {begun.numbers.shape[:-1]} states, there are {batch}.")
    width = mode.numbers.shape[-1]
    return np.array(np.broadcast_to(mode.numbers, (*batch, width))).reshape(-1, width)


def _stepped(mech: Mechanism, flat: list[Array], numbers: Array, asked: AskedStep) -> Copies:
    """The copies after their step."""
    (q, v, tau), (t, dt, substeps) = (np.ascontiguousarray(x) for x in flat), asked.time
    if mech.nc:
        q, v = (np.ascontiguousarray(x) for x in mech.project(q, v, t))
    drives = mech.evaluator.drive if mech.model.drives else None
    copies = Copies(
        [mech._kernel],
        asked.options,
        (t, dt / substeps),
        np.arange(mech.nv, dtype=np.int32),
        drives,
        evaluator=mech.evaluator,
        contacts=True,
    )
    threads = 1 if mech.model.functions else min(all_cores(), len(q))
    copies.start(q, v, None, 0, threads, np.ascontiguousarray(numbers), inputs=tau)
    out = *(np.zeros((len(q), 1, n)) for n in (mech.nq, mech.nv, mech.nv)), NEVER
    copies.advance(0, substeps, (tau[:, None], None, None, None), out, threads)
    return copies


def inside(mech: Mechanism, q: Any) -> str:
    """Which surfaces are inside each other at a pose, in words; empty where none are."""
    found = mech.contacts(q)
    k = int(np.argmin(found.gap))
    if not found.gap[k] < 0.0:
        return ""
    where = ", ".join(f"{x:.4g}" for x in found.point_a[k])
    return (
        f"contact {found.names[k]!r} is inside by {-found.gap[k]:.3g} m, at ({where}); mech.separate(q) is"
        " the nearest pose without"
    )


def why_not_apart(mech: Mechanism, status: StepStatus, q: Any) -> str:
    """Why a step with surfaces failed, where its status says so; else empty."""
    if status != StepStatus.OPEN_GAP or not has_contacts(mech.model):
        return ""
    return inside(mech, q) or DEEP
