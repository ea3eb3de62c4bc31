"""Motion: accelerations and constraint forces under given forces, in any formulation.

The kernel computes "nullspace". The other formulations are NumPy functions of `Terms` (`formulations.py`),
for comparison and for systems that supply nothing but their terms. All agree where all are defined.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ..constraints.evaluate import Evaluator
from ..constraints.user_forces import user_wrenches
from ..errors import InputError, ModelError, unknown_name, warn
from ..models.model import Model
from . import formulations as fm
from .bearings import BodyMotion, External, Loads, bearing
from .contact_loads import ContactLoads
from .forces_without_bodies import passed_over, unloading, without_loads
from .reactions import RowWrenches, reaction
from .terms import Terms, Units

FORMULATIONS = ("nullspace", *fm.FORMULATIONS)
UNDETERMINED = 1e-9  # of a change of multipliers: smaller changes of a reaction are rounding
SMALL_REST = 1e-6  # of the largest constraint force: what is left of it beside the rows of the kernel
SINGULAR_INERTIA = 1e-14  # smallest eigenvalue of N.T M N relative to the largest


@dataclass(frozen=True)
class Loaded:
    """The state of a motion, q (nq,) and v (nv,), and the wrenches on bodies; batch axes in front."""

    q: Array
    v: Array
    external: tuple[External, ...] = ()


@dataclass(frozen=True)
class Motion:
    """Accelerations and constraint forces of one state, or of a batch (batch axes in front of every shape).

    Attributes:
        a: acceleration (nv,) [rad/s^2, m/s^2].
        constraint_force: generalized force of the constraints (nv,) [N m, N]; always unique. Equal to J.T @
            lam, except exactly at a singular pose in motion, where no finite lam may give it.
        lam: multipliers (nc,) [N, N m], of least norm where rows of J depend on each other.
        lam_unique: which of them the motion determines, (nc,) bool.
        rank: rank of J; of a batch an array.
    """

    a: Array
    constraint_force: Array
    lam: Array
    lam_unique: npt.NDArray[np.bool_]
    rank: int | Any
    _q: Array | None = field(repr=False)  # of the state; None where the motion is of a system without bodies
    _v: Array | None = field(repr=False)
    _model: Model = field(repr=False)
    _external: tuple[External, ...] = field(default=(), repr=False)  # wrenches on bodies
    _friction: Array | None = field(default=None, repr=False)
    _friction_unique: npt.NDArray[np.bool_] | None = field(default=None, repr=False)
    _contacts: ContactLoads | None = field(default=None, repr=False)

    @property
    def friction(self) -> Array:
        """Generalized force of dry friction (nv,) [N m, N] (friction_model="coulomb"), of least norm."""
        return np.zeros_like(self.a) if self._friction is None else self._friction

    @property
    def friction_unique(self) -> npt.NDArray[np.bool_]:
        """Which entries of `friction` the motion determines, (nv,): joints at rest may share a load."""
        return np.ones(self.a.shape, dtype=bool) if self._friction_unique is None else self._friction_unique

    @property
    def contact_force(self) -> Array:
        """Forces of surfaces that touch, on b in the world (n, 3) [N]: one for each slot, of least norm."""
        return np.zeros((*self.a.shape[:-1], 0, 3)) if self._contacts is None else self._contacts.force

    @property
    def contact_unique(self) -> npt.NDArray[np.bool_]:
        """Which of `contact_force` the motion determines, (n,): feet of a table may share a load."""
        none = np.ones((*self.a.shape[:-1], 0), dtype=bool)
        return none if self._contacts is None else self._contacts.unique

    @property
    def contact_status(self) -> Any:
        """How contact forces were found: "SOLVED", or why there are none: "CONTACT_UNSOLVED" (not to 1e-10 of
        the largest one), "CONTACT_PRESSED" (parts that close cannot give way), "CONTACT_PAINLEVE" (a sliding
        contact whose push pulls). Then `a` is NaN."""
        return (
            np.full(self.a.shape[:-1], "SOLVED")[()] if self._contacts is None else self._contacts.status[()]
        )

    @property
    def contact_residual(self) -> Any:
        """What contact forces miss of their law, relative to the largest force."""
        return np.zeros(self.a.shape[:-1])[()] if self._contacts is None else self._contacts.residual[()]

    def reaction(self, name: str, frame: str = "A") -> Array:
        """Wrench [force; moment] (6,) [N, N m] that a loop, or the joint of a body, exerts.

        A loop exerts it on its second body b, the joint of a body on that body; at the origin of B, which is
        the body frame. The first body, or the parent, receives the opposite wrench at the same point.

        The wrench of a body's joint holds everything that goes through it, also along its axis: actuator,
        `tau`, springs, dampers and friction of the joint, couplings and drives, less the inertia of its
        armature. External and constant wrenches and point springs act on the bodies themselves.

        Where rows are redundant it follows from the lam of least norm; `lam_unique` tells. A Coupling and
        other relations between coordinates load no body: joints that should carry what they stand for warn.

        Args:
            name: of a loop or another constraint between two bodies, or of a body; a loop comes first.
            frame: axes to express it in: "A", "B" (the frames of the loop; of a joint its frame on the parent
                and the body's), "a", "b" (the bodies; the parent and the body) or "world".
        """
        is_joint, loaded = self._is_joint(name), self._require_bodies(name)
        R, p, V, A, W, rows_at, forces, forces_at = self._body_loads
        rows = RowWrenches(W, rows_at)
        if not is_joint:
            return reaction(self._model, R, rows, self.lam, name, frame=frame)
        missing = unloading(self._model, name, self.lam) + self._functions_between(name)
        if missing:
            warn(without_loads(name, missing))
        touching = () if self._contacts is None else self._contacts.external(self._model, p)
        loads = Loads(
            external=(*loaded.external, *touching),
            lam=self.lam,
            rows=rows,
            friction=self.friction,
            forces=forces,
            at=forces_at,
            formulas=self._formula_loads,
            deflections=self._deflection_loads,
        )
        return bearing(self._model, BodyMotion(R, p, V, A), loads, name, frame)

    def reaction_unique(self, name: str, frame: str = "A") -> npt.NDArray[np.bool_]:
        """Which entries of `reaction` (6,) the motion determines.

        Where rows depend on each other, a rigid model leaves open how joints share loads: every lam that
        differs by w with w.T J = 0 gives the same motion.
        """
        batch, m = self.a.shape[:-1], self._model
        state = self._require_bodies(name)
        out = np.ones((*batch, 6), dtype=bool)
        for i in np.ndindex(batch):
            nothing = np.zeros((1, len(m.drives), 3)), np.zeros((1, len(m.u_row), 3 + m.nv))
            J = m.kernel.constraints(state.q[i][None], state.v[i][None], *nothing)[1][0]
            values, Vt = np.linalg.svd((J * m.unit / m.row_unit[:, None]).T)[1:]
            null = Vt[int(np.sum(values > float(m.rank_tol))) :] / m.row_unit
            lam = self.lam[i] + np.concatenate([np.zeros((1, m.nc)), null])
            a, q, v = (np.repeat(x[i][None], len(lam), axis=0) for x in (self.a, state.q, state.v))
            found = replace(self, a=a, lam=lam, _q=q, _v=v, _external=()).reaction(name, frame)
            sizes = np.max(np.abs(null), axis=1, initial=0.0)
            out[i] = np.all(np.abs(found[1:] - found[0]) < UNDETERMINED * sizes[:, None], axis=0)
        return out

    def _functions_between(self, joint: str) -> list[str]:
        """Names of CustomConstraints whose generalized force passes over a joint."""
        m, state = self._model, self._require_bodies(joint)
        if not m.customs:
            return []
        q, v, lam = _flat(state.q), _flat(state.v), _flat(self.lam)
        nothing = np.zeros((len(q), len(m.drives), 3)), np.zeros((len(q), len(m.u_row), 3 + m.nv))
        J = m.kernel.constraints(q, v, *nothing)[1]
        rest = np.abs(_flat(self.constraint_force) - np.einsum("brj,br->bj", J, lam)).max(axis=0, initial=0.0)
        size = SMALL_REST * float(np.max(np.abs(self.constraint_force), initial=0.0))
        acting = [name for name, x in zip(m.coordinate_names, rest, strict=True) if x > size]
        over = len(acting) > 1 and passed_over(m, acting, joint)
        return [custom.name for custom in m.customs] if over else []

    def _is_joint(self, name: str) -> bool:
        """Whether a name is that of a body and of no constraint; one that is neither is an error."""
        constraints = [group.name for group in self._model.groups]
        joints = self._model.body_names[1:]
        if not isinstance(name, str) or (name not in constraints and name not in joints):
            loops = [group.name for group in self._model.groups if group.element >= 0]
            raise unknown_name("loop or joint", name, [*loops, *joints])
        return name not in constraints

    @property
    def _loaded(self) -> Loaded | None:
        return None if self._q is None or self._v is None else Loaded(self._q, self._v, self._external)

    def _require_bodies(self, name: str) -> Loaded:
        if self._loaded is None:
            raise InputError(
                f"no wrench of joint {name!r}: the motion is of a system that supplies its own terms and"
                " does not say which bodies it is made of."
            )
        return self._loaded

    @cached_property
    def _body_loads(self) -> list[Array]:
        """What the kernel tells of this motion, in world axes.

        Rotations (nb, 3, 3), origins (nb, 3), twists and accelerations (nb, 6) of the bodies, wrenches of the
        rows (nc, 6) and where they act (ne, 3), those of the forces between bodies (nf, 6), (nf, 3).
        """
        assert self._loaded is not None
        kernel, q, v = self._model.kernel, _flat(self._loaded.q), _flat(self._loaded.v)
        loads = (*kernel.row_wrenches(q), *kernel.force_wrenches(q, v))
        found = (*kernel.poses(q), *kernel.body_motion(q, v, _flat(self.a)), *loads)
        return [x.reshape(*self.a.shape[:-1], *x.shape[1:]) for x in found]

    @cached_property
    def _deflection_loads(self) -> Array:
        """Wrenches that flexible bodies need beside those of rigid ones, (nfl, 6), world axes."""
        assert self._loaded is not None
        if not len(self._model.fl_node):
            return np.zeros((0, 6))
        if np.iscomplexobj(self._loaded.q):
            raise InputError(
                "reactions beside flexible bodies have no exact derivatives by parameters; take differences"
                " of mechanisms with other values."
            )
        state = (self._loaded.q, self._loaded.v, self.a)
        found = self._model.kernel.deflection_wrenches(*(_flat(x) for x in state))
        return np.asarray(found.reshape(*self.a.shape[:-1], *found.shape[1:]))

    @cached_property
    def _formula_loads(self) -> tuple[Array, Array]:
        """Wrenches of formulas on bodies, and where they act, (nfm, 6), (nfm, 3), world axes."""
        assert self._loaded is not None
        q, v = self._loaded.q, self._loaded.v
        if not len(self._model.fm_node):
            return np.zeros((0, 6)), np.zeros((0, 3))
        if np.iscomplexobj(q):
            raise InputError(
                "reactions beside forces by formulas have no exact derivatives by parameters; take"
                " differences of mechanisms with other values."
            )
        found = self._model.kernel.formula_wrenches(_flat(q), _flat(v))
        W, at = (x.reshape(*self.a.shape[:-1], *x.shape[1:]) for x in found)
        return W, at


def _flat(x: Array) -> Array:
    return np.ascontiguousarray(x.reshape(-1, x.shape[-1]))


def check_formulation(formulation: str, independent: Sequence[str] | None) -> None:
    """Refuse an unknown formulation, and independent coordinates for one that does not use them."""
    if not isinstance(formulation, str) or formulation not in FORMULATIONS:
        known = ", ".join(f'"{name}"' for name in FORMULATIONS)
        raise InputError(f"`formulation` must be one of {known}; got {formulation!r}.")
    if independent is not None and formulation != "partition":
        raise InputError(
            f'`independent` is only used by formulation="partition", got formulation="{formulation}".'
        )


def forward_terms(
    terms: Terms,
    tau: Array,
    units: Units,
    formulation: str,
    *,
    independent: Sequence[str] | None = None,
    lost_rows: Callable[[Array], fm.LimitRows | None] | None = None,
    rank: int | None = None,
) -> tuple[Array, Array, Array, npt.NDArray[np.bool_], int]:
    """a, constraint_force, lam, lam_unique, rank of one state from its terms.

    Args:
        terms: of the state.
        tau: applied generalized force (nv,).
        units: units of rows and coordinates.
        formulation: one of `formulations.FORMULATIONS`.
        independent: names of the independent coordinates of "partition".
        lost_rows: the limit of rows lost at a singular pose, as a function of the left null space of J.
        rank: the rank of J, where it is not to be decided here (within a step).
    """
    state = fm.split(terms, tau, units, rank)
    if formulation == "lagrange":
        fm.require_independent(state, units)
    if lost_rows is not None and rank is None and state.rank < min(terms.J.shape):
        limit = lost_rows(state.lost)
        if limit is not None:
            state = fm.with_limit(state, limit, units)
    inertia = np.linalg.eigvalsh(state.N.T @ state.M @ state.N)
    if inertia.size and inertia[0] <= SINGULAR_INERTIA * inertia[-1]:
        raise without_inertia()
    try:
        if formulation == "partition":
            chosen = None if independent is None else fm.independent_indices(state, independent, units)
            a = units.unit * fm.partition(state, chosen)
        else:
            a = units.unit * fm.FORMULATIONS[formulation](state)
    except np.linalg.LinAlgError:
        raise ModelError(
            f'formulation "{formulation}" needs a mass matrix that is positive definite in every direction,'
            ' also in those that the constraints lock; "nullspace" (the default) does not.'
        ) from None
    force = terms.M @ a + terms.h - tau
    lam, unique = fm.multipliers(terms, state, force)
    return a, force, lam, unique, state.rank


def with_wrenches(motion: Motion, evaluator: Evaluator, external: Sequence[External], t: float) -> Motion:
    """The motion with the wrenches, external and of functions of the user's, that reactions need; t [s]."""
    assert motion._q is not None and motion._v is not None
    batch = motion.a.shape[:-1]
    given = [(body, np.broadcast_to(wrench, (*batch, 6)), point) for body, wrench, point in external]
    of_user = user_wrenches(evaluator, motion._q, motion._v, np.full(batch, t))
    return replace(motion, _external=(*given, *of_user))


def body_loads(motion: Motion) -> list[Array]:
    """R, p, V, A of all bodies, wrenches of rows and where they act, and of forces between bodies."""
    return motion._body_loads


def without_inertia() -> ModelError:
    """The error for a reduced mass matrix N.T M N that is not positive definite."""
    return ModelError(
        "no acceleration: the mass matrix is not positive definite along the directions that the constraints"
        " leave free at this pose. Give what moves there mass or inertia."
    )
