"""Holding: what motors and joints carry at rest, or along a prescribed motion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...arrays import Array, fixed_shape, mapping, names, one_of
from ...constraints.user_forces import user_wrenches
from ...dynamics.bearing_moments import ignored_loads
from ...dynamics.dry_friction import sticks
from ...dynamics.forward import Motion
from ...dynamics.inverse import Torques
from ...dynamics.load_sharing import left_null_space, shared
from ...dynamics.reactions import FRAMES
from ...errors import InputError, require_known, unknown_name, warn
from ...models.model import Model
from ...models.tables import data_frames, named_columns, position_names
from ...models.tree.bodies import COPY
from ...projection.sweep import Sweep, mechanism_of
from ..core.access import without_dry_friction
from ..describe.as_drawn import WELD
from ..describe.measure import measured
from ..describe.measured_states import MeasuredStates
from .sliding_friction import with_sliding_friction

if TYPE_CHECKING:
    from ..mechanism import Mechanism

MISSING = 1e-8  # of the forces: what motors may leave over where they hold
WRENCH = ("fx", "fy", "fz", "mx", "my", "mz")


@dataclass(frozen=True)
class Holding:
    """Forces of motors and joints at n poses; NaN where the motors cannot hold.

    `holding["name"]` is a measure of the mechanism under these forces, (n,) or (n, k).

    Attributes:
        motors: {name: (n,)} force of each motor [N m, N], positive along its coordinate.
        reactions: {joint: (n, 6)} wrench [force; moment] [N, N m] of each joint and loop on its second body.
        multipliers: {constraint: (n, k)} of couplings, gears, belts and Drives; of a Drive its force.
        held: whether the motors hold, (n,) bool.
        unique: {joint: (n, 6) bool}, whether the poses, or compliances, determine the reaction.
        q, v, a: positions (n, nq) and prescribed motion (n, nv).
        tau: generalized force of the motors (n, nv).
        message: what is missing or beyond limits, in words.
        index: names of the swept coordinates and their values; of poses () and none.
    """

    motors: dict[str, Array]
    held: npt.NDArray[np.bool_]
    q: Array
    v: Array
    a: Array
    tau: Array
    message: str
    index: tuple[tuple[str, ...], Array] = field(repr=False)
    _mech: Mechanism = field(repr=False)
    _motion: Motion = field(repr=False)
    _frame: str = field(repr=False)
    _open: bool = field(repr=False)  # whether redundant rows share loads by least norm

    @property
    def success(self) -> bool:
        """Whether the motors hold at every pose."""
        return bool(self.held.all())

    @cached_property
    def reactions(self) -> dict[str, Array]:
        return {
            name: self._of_held(self._motion.reaction(name, self._frame)) for name in joints(self._mech.model)
        }

    @cached_property
    def multipliers(self) -> dict[str, Array]:
        groups = [group for group in self._mech.model.groups if group.element < 0]
        return {group.name: self._of_held(self._motion.lam[:, group.rows]) for group in groups}

    @cached_property
    def unique(self) -> dict[str, npt.NDArray[np.bool_]]:
        every = np.ones((len(self.q), 6), dtype=bool)
        found = joints(self._mech.model)
        return {
            name: self._motion.reaction_unique(name, self._frame) if self._open else every for name in found
        }

    def __len__(self) -> int:
        return len(self.q)

    def __getitem__(self, name: str) -> Array:
        """A measure of the mechanism under these forces by its name."""
        measures = dict(self._mech.model.measures)
        require_known("measure", name, measures, "holding[...]")
        states = MeasuredStates(self._mech, self.q, self.v, np.zeros(len(self.q)), self.tau)
        states.motion = self._motion
        return self._of_held(measured(states, measures[name], name))

    def _of_held(self, x: Array) -> Array:
        held = self.held.reshape(-1, *(1 for _ in x.shape[1:]))
        return np.where(held, x, np.nan)

    def to_dataframe(self) -> Any:
        """A pandas.DataFrame, one row per pose: motors, then joints as "foot[fx]" ... "foot[mz]", measures.

        Of a sweep the index holds the values of its coordinates, else positions come first, as "q.name".
        """
        pandas = data_frames("to_dataframe")
        columns: dict[str, Any] = {}
        index: Any = None
        swept, values = self.index
        if not swept:
            named = zip(position_names(self._mech.model), self.q.T, strict=True)
            columns = {f"q.{name}": x for name, x in named}
        else:
            each = dict(zip(swept, values.reshape(len(self.q), -1).T, strict=True))
            index = pandas.MultiIndex.from_arrays(list(each.values()), names=list(each))
            if len(each) == 1:
                index = pandas.Index(values.ravel(), name=swept[0])
        columns |= self.motors
        for joint, wrench in self.reactions.items():
            columns |= {f"{joint}[{one}]": x for one, x in zip(WRENCH, wrench.T, strict=True)}
        for name, _ in self._mech.model.measures:
            columns |= named_columns(name, self[name])
        return pandas.DataFrame(columns | {"held": self.held}, index=index)

    def plot(self, what: str | Sequence[str] | None = None, ax: Any = None) -> Any:
        """Plot motors and the sizes of joint forces; see `sarrus.viz.figures.holding.plot`."""
        from ...viz.figures.holding import plot

        return plot(self, what, ax)


def joints(model: Model) -> tuple[str, ...]:
    """Joints that move and loops, by the names of their reactions; what ties copies of parts is none."""
    bodies = [body for body in model.bodies[1:] if COPY not in body.name]
    chains = [body for body in bodies if body.parent.startswith(f"{body.name}.")]  # of a joint turned around
    moving = [body.name for body in bodies if body.joint.nv or body in chains]
    loops = [group.name for group in model.groups if group.element >= 0]
    welds = {f"{name}.{WELD}" for name in moving}
    return (*moving, *(name for name in loops if name not in welds))


def poses_of(mech: Mechanism, q: Any) -> tuple[Array, tuple[tuple[str, ...], Array]]:
    """Poses (n, nq), and of a sweep its coordinates and values."""
    if not isinstance(q, Sweep):
        poses = np.atleast_2d(mech._positions(q))
        if poses.ndim != 2:
            raise InputError(f"hold takes poses (n, nq) or one path, got shape {poses.shape}.")
        return poses, ((), np.zeros(0))
    if q.q.ndim != 2 or mechanism_of(q).names != mech.names:
        raise InputError("hold takes one path of this mechanism; of a batch choose one: sweep[i].")
    return q.q, (q.names, q.values)


def _holders(mech: Mechanism, by: Sequence[str] | str | None, q: Array) -> list[str] | None:
    """Coordinates whose motors hold; None: the declared ones."""
    if by is not None:
        listed = [by] if isinstance(by, str) else names(by, "by")
        return [mech.names[k] for k in mech._indices(listed, "by")]
    if mech.model.actuators_declared:
        return None
    nothing_to_hold = not len(q) or mech.mobility(q[0]).dof == 0
    if nothing_to_hold:
        return []
    raise InputError(
        f"hold: {mech._owner} does not say which joints have motors. Declare them, spec.actuate"
        f"({mech.names[0]!r}), or name what holds it: by=[{mech.names[0]!r}]; coordinates:"
        f" {', '.join(map(repr, mech.names))}."
    )


def _compliances(model: Model, given: Mapping[str, Any] | None) -> dict[str, Array]:
    """{joint: (6,)}: a number counts for the three forces."""
    known, out = joints(model), {}
    for name, value in mapping(given, "compliance", "{joint: compliance}").items():
        if name not in known:
            raise unknown_name("joint or loop", name, known, "compliance")
        what = f"compliance of {name!r}"
        six = np.r_[np.full(3, value), np.zeros(3)] if np.ndim(value) == 0 else value
        out[name] = fixed_shape(six, what, (6,))
        if np.any(out[name] < 0.0):
            raise InputError(f"{what} must not be negative, got {value!r}.")
    return out


def hold(
    mech: Mechanism,
    q: Any,
    by: Sequence[str] | str | None,
    motion: tuple[Any, Any],
    compliance: Mapping[str, Any] | None,
    frame: str,
) -> Holding:
    """See `Mechanism.hold`."""
    one_of(frame, "`frame`", FRAMES)
    poses, index = poses_of(mech, q)
    which = _holders(mech, by, poses)
    stiff = _compliances(mech.model, compliance)
    mech._warn_of_gaps(poses, 0.0)
    state: tuple[Array, ...] = (
        poses,
        *(_each(mech, x, what, len(poses)) for x, what in zip(motion, "va", strict=True)),
    )
    smooth = without_dry_friction(mech)
    holders = mech._actuated if which is None else np.array(mech._indices(which, "by"), dtype=np.int32)
    state = _with_rates(smooth, state)
    torques = smooth.inverse_dynamics(state[0], state[1], state[2], actuated=which)
    torques, friction = with_sliding_friction(mech, state, torques, holders)
    loads = [torques.tau, torques.constraint_force, smooth.bias(poses, state[1]), friction]
    size = np.max([np.max(np.abs(x), axis=-1, initial=0.0) for x in loads], axis=0)
    held = np.asarray(torques.residual) <= MISSING * size
    lam, open_ = _share(smooth, state, torques, stiff) if stiff else (torques.lam, mech.nc > 0)
    moved = replace(_forces(mech, state, lam, torques.constraint_force), _friction=friction)
    if ignored := ignored_loads(mech.model, partial(moved.reaction, frame="B")):
        warn(ignored)
    columns = mech.actuators if which is None else which
    motors = {name: np.where(held, x, np.nan) for name, x in zip(columns, torques.u.T, strict=True)}
    about = _said(mech, torques, held, (any(x is not None for x in motion), friction))
    given: dict[str, Any] = dict(zip("qva", state, strict=True))
    parts: dict[str, Any] = {"_mech": mech, "_motion": moved, "_frame": frame, "_open": open_}
    return Holding(motors, held, **given, tau=torques.tau, message=about, index=index, **parts)


def _each(mech: Mechanism, x: Any, what: str, n: int) -> Array:
    """A velocity or acceleration for each pose, (n, nv); None: rest."""
    rest = mech.rest if what == "v" else np.zeros(mech.nv)
    given = rest if x is None else mech._tangent(x, what)
    try:
        return np.array(np.broadcast_to(given, (n, mech.nv)))
    except ValueError:
        raise InputError(
            f"{what} must have shape ({n}, {mech.nv}) or ({mech.nv},), got {given.shape}."
        ) from None


def _with_rates(mech: Mechanism, state: tuple[Array, ...]) -> tuple[Array, ...]:
    """The motion in which states of first order change as they do."""
    q, v, a = state
    which = [mech.names.index(name) for name in mech.states]
    if which:
        a = a.copy()
        a[:, which] = -mech.bias(q, v)[:, which] / mech.model.armature[which]
    return q, v, a


def _forces(mech: Mechanism, state: tuple[Array, ...], lam: Array, force: Array) -> Motion:
    """The motion with these multipliers, whose reactions are asked for."""
    q, v, a = state
    known: dict[str, Any] = {"a": a, "constraint_force": force, "lam": lam}
    known |= {"lam_unique": np.ones(lam.shape, dtype=bool), "rank": np.zeros(len(q), dtype=int)}
    wrenches = user_wrenches(mech.evaluator, q, v, np.zeros(len(q)))
    return Motion(**known, _q=q, _v=v, _model=mech.model, _external=wrenches)


def _share(
    mech: Mechanism, state: tuple[Array, ...], torques: Torques, compliances: dict[str, Array]
) -> tuple[Array, bool]:
    """Multipliers (n, nc) that share loads by compliances, and whether something stays open."""
    lam, determined = np.array(torques.lam), True
    for i, force in enumerate(torques.constraint_force):

        def wrench(many: Array, joint: str, i: int = i, force: Array = force) -> Array:
            same = tuple(np.repeat(x[i : i + 1], len(many), axis=0) for x in state)
            return _forces(mech, same, many, np.repeat(force[None], len(many), axis=0)).reaction(joint, "A")

        lam[i], sure = shared(lam[i], left_null_space(mech.model, state[0][i]), compliances, wrench)
        determined = determined and sure
    return lam, not determined


def _said(mech: Mechanism, torques: Torques, held: npt.NDArray[np.bool_], given: tuple[bool, Array]) -> str:
    """What users should know about the forces; given: whether a motion is, and its friction."""
    moves, friction = given
    text = [f"Held at {int(held.sum())} of {len(held)} poses."]
    if not held.all():
        text.append(f"Forces of {float(np.max(torques.residual)):.4g} (N or N m) are missing.")
    if not held.all() or torques.exceeded or moves:
        text.append(torques.message)
    if sticks(mech.model) and friction.any():
        text.append("Dry friction of what moves is part of it.")
    elif sticks(mech.model):
        text.append("Dry friction is left out: at rest it may hold a part of this, or all.")
    return " ".join(text)
