"""Arguments of a rollout, checked: states and inputs of B copies, and mechanisms with other parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...arrays import Array, BoolArray, mapping, numeric, one_of, positive, positive_whole, takes, truth
from ...dynamics.friction_refusals import refuse_dry_friction
from ...errors import InputError, unknown_name
from ...mechanism.core.modes import Modes
from ...mechanism.mechanism import Mechanism
from ...mechanism.query.contact_steps import IGNORED, refuse_chosen_steps, surfaces_act
from ...mechanism.query.time_steps import METHODS
from ...mechanism.variants.design_variants import common_length, lengths, variants_of
from ...tracing.cuda_device import require_cuda
from ...tracing.program import refuse_callables
from .copy_modes import copies_modes, start_modes, touching_modes
from .linear_feedback import LinearFeedback

CONSISTENT = 1e-6  # of L, and of the speed: a copy that is further off at its start does not start
LEAST_SPEED = 1e-3  # [rad/s], lengths divided by L: slower is rest
TOGETHER = 1024  # states whose rows are looked at together: J of all would pass through the memory
Policy = Callable[[float, Array, Array], Any]
# Arguments of `simulate` that copies do not have, and what serves instead
INSTEAD = {
    "events": "singular poses and passed limits are in the result's events; look for others in its states",
    "control": "policy= is the same for whole batches",
    "control_dt": "u and what a policy returns are held over each step dt",
    "store_every": "every= is the same",
    "t_span": "dt= and steps= say when it ends, t0= when it starts",
    "t_eval": "states are kept after every= steps",
    "tau": "u= are the inputs of the actuators; mech.step takes tau",
}


@dataclass(frozen=True)
class RolloutArguments:
    """The checked arguments of `rollout`, which describes them; B copies.

    Attributes:
        mech: the mechanism.
        variants: one of each copy (B) where they have parameters of their own; else empty.
        q, v: where the copies start (B, nq), (B, nv); NaN marks a copy that does not start.
        u: inputs (B or 1, steps or 1, nu), or None.
        feedback: u, K, q, v of a LinearFeedback, or None.
        policy: a function for whole batches, or None.
        t0, dt, steps, every, method, threads, progress: as in `rollout`.
        threads_asked: whether the number of threads was given.
        open_by: largest |phi| of each copy at its start [m], (B,).
        off: largest |J v - b| of each copy at its start, relative to its speed, (B,).
        device, dtype: as in `rollout`.
        modes: what can change; None: nothing.
        mode: in which the copies start (B, n); None where nothing can change, and where surfaces act as
            (q, v) says.
        touches: whether surfaces act.
        inside: by how much surfaces of each copy are inside each other at its start [m], (B,).
    """

    mech: Mechanism
    variants: tuple[Mechanism, ...]
    q: Array
    v: Array
    u: Array | None
    feedback: tuple[Array, Array, Array, Array] | None
    policy: Policy | None
    t0: float
    dt: float
    steps: int
    every: int
    method: str
    threads: int
    progress: bool
    open_by: Array
    off: Array
    threads_asked: bool = False
    device: str = "cpu"
    dtype: str = "float64"
    modes: Modes | None = None
    mode: Array | None = None
    touches: bool = False
    inside: Array = field(default_factory=lambda: np.zeros(0))

    @property
    def count(self) -> int:
        """B."""
        return len(self.q)

    @property
    def end(self) -> float:
        """Time at the end [s]."""
        return self.t0 + self.steps * self.dt


def _refuse_others(others: dict[str, Any], existing: Iterable[str]) -> None:
    """Name the first argument that `rollout` does not have, and what serves instead."""
    for name in others:
        if name not in INSTEAD:
            raise unknown_name("argument of rollout", name, existing)
        raise InputError(
            f"rollout has no `{name}`: {INSTEAD[name]}. sr.simulate runs one copy at a time with `{name}`."
        )


def check_arguments(given: dict[str, Any], cores: int) -> RolloutArguments:
    """The arguments of `rollout` by name; "others" are those that it does not have."""
    _refuse_others(given.pop("others", {}), given)
    mech = _mechanism(given["mech"])
    touches = surfaces_act(mech.model, given["contacts"], "rollout")
    device, dtype = _device(mech, given, touches)
    steps = positive_whole(given["steps"], "`steps`")
    threads = cores if given["threads"] is None else positive_whole(given["threads"], "`threads`")
    policy, feedback = _policy(mech, given["policy"], given["u"], steps)
    parameters = mapping(
        given["parameters"], "parameters", "{keyword of with_: values with a leading axis B}"
    )
    q = _batch(given["q0"], "q0", mech.nq, mech)
    v = None if given["v0"] is None else _batch(given["v0"], "v0", mech.nv, mech)
    u = None if given["u"] is None else _inputs(given["u"], mech, steps)
    sizes = {"q0": len(q), "v0": len(q if v is None else v), "u": 1 if u is None else len(u)}
    sizes["policy"] = 1 if feedback is None else len(feedback[0])
    count = common_length(sizes | lengths(parameters))
    t0 = mech._time(given["t0"])
    variants = variants_of(mech, parameters, count)
    dt = positive(given["dt"], "`dt`")
    method = one_of(given["method"], "`method`", tuple(METHODS))
    if touches:
        refuse_chosen_steps(METHODS[method], "rollout")
    modes = None if touches else copies_modes(mech, given["switches"], given["stops"], given["mode0"], dt)
    mode = _start_mode(modes, given, (variants or (mech,), count, t0), touches)
    acts = (
        np.ones(mech.nc, dtype=bool) if modes is None or mode is None else modes.acting(mode[0], mech.model)
    )
    q, v, open_by, off = _start(variants or (mech,), np.repeat(q, count // len(q), axis=0), v, t0, acts)
    inside = _inside(variants or (mech,), q) if touches else np.zeros(count)
    return RolloutArguments(
        mech=mech,
        variants=variants,
        q=q,
        v=v,
        u=u,
        feedback=feedback,
        policy=policy,
        t0=t0,
        dt=dt,
        steps=steps,
        every=positive_whole(given["every"], "`every`"),
        method=method,
        threads=threads,
        progress=truth(given["progress"], "`progress`"),
        open_by=open_by,
        off=off,
        threads_asked=given["threads"] is not None,
        device=device,
        dtype=dtype,
        modes=modes,
        mode=mode,
        touches=touches,
        inside=inside,
    )


def _start_mode(
    modes: Modes | None, given: dict[str, Any], of: tuple[tuple[Mechanism, ...], int, float], touches: bool
) -> Array | None:
    """Numbers of the modes in which copies start; of: their mechanisms, how many they are, the time [s]."""
    mechs, count, t0 = of
    if touches:
        return touching_modes(mechs[0], given, count)
    return None if modes is None else start_modes(modes, given["mode0"], t0, mechs, count)


def _mechanism(mech: Any) -> Mechanism:
    if not isinstance(mech, Mechanism):
        raise InputError(f"rollout takes a Mechanism, got {type(mech).__name__}.")
    if mech.model.functions:
        listed = ", ".join(map(repr, mech.model.functions))
        raise InputError(
            f"rollout runs compiled code in several threads and cannot call the Python functions of"
            f" {listed}; use simulate, or step, for this mechanism."
        )
    return mech


def _device(mech: Mechanism, given: dict[str, Any], touches: bool) -> tuple[str, str]:
    """Where copies are stepped, and in which numbers."""
    device = one_of(given["device"], "`device`", ("cpu", "cuda"))
    dtype = one_of(given["dtype"], "`dtype`", ("float64", "float32"))
    if dtype == "float32" and device == "cpu":
        raise InputError('dtype="float32" needs device="cuda"; processors step in float64.')
    if device == "cuda":
        _on_device(mech, given, touches)
    return device, dtype


def _on_device(mech: Mechanism, given: dict[str, Any], touches: bool) -> None:
    """Refuse what recorded programs do not do, and machines without a device."""
    if touches:
        raise InputError(f'rollout with device="cuda" does not know surfaces in this version. {IGNORED}')
    refuse_callables(mech.model, 'rollout with device="cuda"')
    refuse_dry_friction(mech.model, 'rollout with device="cuda"')
    if given["switches"] or given["stops"] or given["mode0"] is not None:
        raise InputError('rollout with device="cuda" takes no switches, stops or mode0; use device="cpu".')
    for name in ("policy", "client"):
        if given[name] is not None:
            raise InputError(
                f'rollout with device="cuda" takes no {name}: it runs one compiled program with inputs u. Use'
                ' device="cpu", or mech.step on device arrays in a loop of your own.'
            )
    if given["method"] != "rk4":
        raise InputError(f'rollout with device="cuda" has the method "rk4" alone, got {given["method"]!r}.')
    require_cuda()


def _policy(
    mech: Mechanism, policy: Any, u: Any, steps: int
) -> tuple[Policy | None, tuple[Array, Array, Array, Array] | None]:
    """The policy as a function, or the rows of a LinearFeedback."""
    if policy is None:
        return None, None
    if u is not None:
        raise InputError("give u or policy, not both; a policy can add its own u.")
    if mech.nu == 0:
        raise InputError(f"a policy needs actuators, and mechanism {mech.name!r} has none.")
    if isinstance(policy, LinearFeedback):
        return None, policy.rows(mech, steps)
    takes(policy, "t, q, v", "policy")
    return policy, None


def _batch(value: Any, name: str, n: int, mech: Mechanism) -> Array:
    """States (B, n), as numbers of which some may not be finite."""
    rule = f"an array of numbers with shape (B, {n}) for mechanism {mech.name!r}"
    array = numeric(value, name, rule)
    if array.ndim == 1:
        array = array[None]
    if array.ndim != 2 or array.shape[1] != n:
        raise InputError(f"{name} must be {rule}, got shape {np.shape(value)}.")
    if len(array) == 0:
        raise InputError(f"{name} must have at least one copy, got shape {np.shape(value)}.")
    return array


def _inputs(value: Any, mech: Mechanism, steps: int) -> Array:
    """u (B or 1, steps, nu)."""
    rule = f"an array of numbers with shape (B, {steps}, {mech.nu}) or ({steps}, {mech.nu})"
    array = numeric(value, "u", f"{rule}: B copies, steps, actuators {list(mech.actuators)}")
    if array.ndim == 2:
        array = array[None]
    if array.ndim != 3 or array.shape[1:] != (steps, mech.nu) or len(array) == 0:
        raise InputError(
            f"u must be {rule}: B copies, {steps} steps, {mech.nu} actuators, got {np.shape(value)}."
        )
    return np.ascontiguousarray(array)


def _start(
    mechs: tuple[Mechanism, ...], q: Array, v: Array | None, t0: float, acts: BoolArray
) -> tuple[Array, Array, Array, Array]:
    """q, v (B, ...) with NaN where a copy cannot start; how far each pose is open [m] and v off, (B,) each.

    Args:
        mechs: one for each copy, since parameters may be lengths, or one for all.
        q, v: where they start.
        t0: time [s].
        acts: which rows act (nc,).
    """
    mech, count = mechs[0], len(q)
    speeds = np.tile(mech.rest, (count, 1)) if v is None else np.repeat(v, count // len(v), axis=0)
    good = np.isfinite(q).all(axis=1)
    for first in mech.model.quaternions:
        norm = np.linalg.norm(q[:, first : first + 4], axis=1)
        good &= norm > 1e-9
        q[:, first : first + 4] /= np.where(norm > 1e-9, norm, 1.0)[:, None]
    if v is None and mech.model.drives and good.any():
        speeds[good] = mech.consistent_velocity(q[good], t=t0)
    open_by, off = np.full(count, np.nan), np.full(count, np.nan)
    if acts.any() and good.any():
        some = np.flatnonzero(good)
        parts = np.array_split(some, -(-len(some) // TOGETHER) if len(mechs) == 1 else len(some))
        for part in parts:
            one = mechs[int(part[0]) if len(mechs) > 1 else 0]
            open_by[part], off[part] = _misfits(one, q[part], speeds[part], t0, acts)
        good &= (open_by <= CONSISTENT * mech.length) & ~(off > CONSISTENT)
    q[~good] = np.nan
    return np.ascontiguousarray(q), np.ascontiguousarray(speeds), open_by, off


def _inside(mechs: tuple[Mechanism, ...], q: Array) -> Array:
    """By how much surfaces are inside each other [m] (B,); copies that are too far get NaN as q (B, nq)."""
    found = np.zeros(len(q))
    some = np.flatnonzero(np.isfinite(q).all(axis=1))
    for part in [some] if len(mechs) == 1 else np.split(some, len(some)) if len(some) else ():
        one = mechs[int(part[0]) if len(mechs) > 1 else 0]
        found[part] = np.maximum(-one.contacts(q[part]).gap.min(axis=1, initial=0.0), 0.0)
    q[found > CONSISTENT * mechs[0].length] = np.nan
    return found


def _misfits(mech: Mechanism, q: Array, v: Array, t0: float, acts: BoolArray) -> tuple[Array, Array]:
    """Of states (k, ...), over the rows that act (nc,): largest |phi| [m], angles times L, and largest
    |J v - b| relative to the speed."""
    drive, user = mech.evaluator.drive(t0, len(q)), np.zeros((len(q), 0, 3 + mech.nv))
    rows, unit = mech.units.row_unit[acts], mech.units.unit
    each = mech._kernel.constraints(np.ascontiguousarray(q), np.ascontiguousarray(v), drive, user)
    phi, J, b, _ = (x[:, acts] for x in each)
    miss = np.max(np.abs((J @ v[..., None])[..., 0] - b) / rows, axis=1)
    speed = np.maximum(np.max(np.abs(v) / unit, axis=1), np.max(np.abs(b) / rows, axis=1))
    return np.max(np.abs(phi) / rows, axis=1) * mech.length, miss / np.maximum(speed, LEAST_SPEED)
