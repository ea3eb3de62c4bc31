"""equilibrium: a static pose on the constraints, and its stability.

The kernel searches (kernels/derivatives/equilibrium.hpp): Newton's steps towards the equilibrium near the
guess, then damped steps down the potential. Here are the result and its words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import Array, numbers
from ..dynamics.dry_friction import DryFriction, sticks
from ..dynamics.forward import Motion
from ..errors import EquilibriumError, InputError
from ..mechanism.core.access import applied_force, arguments_of, without_dry_friction
from ..mechanism.core.contact_refusals import TOUCHES, has_contacts, refuse_touching
from ..mechanism.core.core import State
from ..mechanism.mechanism import Mechanism
from ..mechanism.query.sticking import held_by_contacts
from ..simulation.system.custom_system import CustomSystem
from .equilibrium_search import CustomSearch, Search
from .linearize import linearize
from .model import LinearModel
from .operating_point import by_differences, require_mechanism
from .resting import Resting
from .stability import Stability, stability
from .states import first_order
from .states_at_rest import StatesAtRest


@dataclass(frozen=True)
class Equilibrium:
    """A static pose. What is read is computed when read.

    Attributes:
        q: positions (nq,) [rad, m].
        v: velocities (nv,): zero, but states of first order have their values there.
        u: inputs of the actuators (nu,) [N m, N] that hold it.
        residual: largest entry of the force that is not balanced (its tangent part) [N m, N].
    """

    q: Array
    v: Array
    u: Array
    residual: float
    _mech: Mechanism = field(repr=False)
    _tau: Any = field(repr=False)
    _t: float = field(repr=False)
    _held: bool = field(repr=False)
    _dry: tuple[str, ...] = field(default=(), repr=False)  # coordinates with dry friction
    _resting: Motion | None = field(default=None, repr=False)  # on contacts

    @property
    def contact_force(self) -> Array:
        """Forces of contacts on b, in the world (n, 3) [N], of least norm where several are possible."""
        return self._on_contacts.contact_force

    @property
    def contact_unique(self) -> npt.NDArray[np.bool_]:
        """Which of them the pose determines (n,): the feet of a table may share a load in many ways."""
        return self._on_contacts.contact_unique

    @property
    def _on_contacts(self) -> Motion:
        if self._resting is None:
            raise InputError("no surfaces touch in this equilibrium.")
        return self._resting

    @cached_property
    def model(self) -> LinearModel:
        """The minimal linear model there, without inputs."""
        method = "finite_difference" if by_differences(self._mech) else "analytic"
        at_rest = self.q, self.v, self.u, self._t
        found = linearize(self._mech, *at_rest, inputs=[], tau=self._tau, method=method)
        assert isinstance(found, LinearModel)
        return found

    @cached_property
    def _stability(self) -> Stability:
        return stability(self.model)

    @property
    def states(self) -> dict[str, float]:
        """Values of the states of first order by name."""
        names = first_order(self._mech)
        return {name: float(self.v[self._mech.names.index(name)]) for name in names}

    @property
    def stable(self) -> bool | None:
        """True (comes back, or oscillates about it), False (leaves), None (neutral: can move off without
        force, so linear terms do not decide)."""
        return True if self._is_held else self._stability.stable

    @cached_property
    def _is_held(self) -> bool:
        """Whether contacts that stick, and loops, leave no freedom."""
        if self._resting is None:
            return False
        force = applied_force(self._mech, self.q, self._tau, self.u)
        held = held_by_contacts(
            self._mech, State(self.q, np.zeros(self._mech.nv)), force, self._t, "equilibrium"
        )
        return held is not None and held.mobility(self.q).dof == 0

    @property
    def message(self) -> str:
        """The same in words."""
        holding = f" Held by u = {np.array2string(self.u, precision=6)}." if self._held else ""
        names = ", ".join(map(repr, self._dry))
        dry = f" Dry friction of {names} is left out; it holds poses nearby as well." if names else ""
        said = "Contacts that stick hold it." if self._is_held else self._stability.message
        return said + holding + dry

    @property
    def eigenvalues(self) -> npt.NDArray[np.complex128]:
        """Of the minimal linear model there [1/s]."""
        if self._is_held:
            return np.zeros(0, dtype=complex)
        return self._stability.eigenvalues


def _on_contacts(
    mech: Mechanism, search: Any, start: Array, given: tuple[Any, ...]
) -> tuple[Array, Array, float, Motion] | None:
    """Pose, inputs, residual and motion of an equilibrium on contacts; None: surfaces play no part in it."""
    u, tau, t = given
    q0 = search.close(start)
    try:
        q = search.run(q0)[0]
    except EquilibriumError:
        q = None
    if q is not None and np.min(mech.contacts(q).gap) > TOUCHES * mech.length:
        return None
    inputs = np.zeros(mech.nu) if u is None else np.array(numbers(u, "u"), dtype=float)
    resting = Resting(mech, inputs, tau, t)
    if np.min(mech.contacts(q0).gap) < 0.0:
        q0 = np.array(mech.separate(q0).q)
    found, motion = resting.run(q0)
    residual = float(np.max(np.abs(mech.terms(found, 0.0 * motion.a).M @ motion.a), initial=0.0))
    return found, inputs, residual, motion


def equilibrium(
    mech: Mechanism | CustomSystem,
    q_guess: npt.ArrayLike | None = None,
    u: npt.ArrayLike | None = None,
    *,
    fixed: Mapping[str, Any] | None = None,
    tau: npt.ArrayLike | None = None,
    t: float = 0.0,
) -> Equilibrium:
    """A static pose under gravity, springs and given inputs; see `Equilibrium`.

    The equilibrium near the guess, stable or not (0.5 rad, or 0.5 L); where there is none so near, the one at
    which the mechanism comes to rest when it slides slowly down from the guess.

    Where surfaces touch, the pose in which the mechanism comes to rest on them when it moves down from the
    guess without speed, with `contact_force` and `contact_unique`; a guess at which contacts hold it is one.
    Contacts that stick count as joints in `stable` and `eigenvalues`.

    Dry friction (friction_model="coulomb") holds poses on all sides of an equilibrium: what is found is the
    one without it, `stable` speaks of the mechanism without it, and the message says so.
    `mech.forward_dynamics(q, 0 * v).a` tells whether friction holds another pose.

    Args:
        mech: a Mechanism or a CustomSystem.
        q_guess: where to look (nq,) [rad, m]; default `mech.default.q`. Closed first where it is open.
        u: inputs of the actuators (nu,) [N m, N]; default zero.
        fixed: coordinates to hold at these values, {name: value}. Inputs that hold the mechanism there are
            added to u: of least norm at the pose that is found, near the guess where they could hold others.
        tau: applied generalized force besides u (nv,) [N m, N].
        t: time of the drives [s].

    Raises:
        EquilibriumError: there is none, or none was found; the message says what keeps moving.
        AssemblyError: the guess cannot be closed.

    Example:

        >>> import numpy as np
        >>> import sarrus as sr
        >>> rest = sr.equilibrium(sr.library.pendulum(), [-1.5])  # a pendulum along x, gravity along -y
        >>> bool(abs(rest.q[0] + np.pi / 2) < 1e-9), rest.stable
        (True, True)
    """
    require_mechanism(mech, "equilibrium")
    if fixed is not None and not isinstance(fixed, Mapping):
        raise InputError(f"fixed must be a mapping {{name: value}} of coordinates to hold, got {fixed!r}.")
    system: Any = mech
    dry = DryFriction(mech.model).names if sticks(mech.model) else ()
    if dry:
        system = without_dry_friction(system)
    kind = CustomSearch if isinstance(mech, CustomSystem) else Search
    arguments = arguments_of(system)
    t = arguments.time(t)
    start = np.array(mech.default.q) if q_guess is None else arguments.one_pose(q_guess, "q_guess")
    states = StatesAtRest(system)
    search = kind(states.mech, u, fixed, tau, t)
    point: dict[str, Any] = {"_mech": system, "_tau": tau, "_t": t}
    if isinstance(mech, Mechanism) and has_contacts(mech.model) and not (dry or fixed or first_order(mech)):
        on_contacts = _on_contacts(mech, search, start, (u, tau, t))
        if on_contacts is not None:
            q, inputs, residual, motion = on_contacts
            return Equilibrium(q, 0.0 * motion.a, inputs, residual, **point, _held=False, _resting=motion)
    found, inputs, residual = search.run(search.close(states.put_in(start)))
    q, v = states.taken_out(found)
    if isinstance(mech, Mechanism):
        refuse_touching(mech, q, "equilibrium with these options")
    return Equilibrium(q, v, inputs, residual, **point, _held=bool(fixed), _dry=dry)
