"""rollout: many copies of one mechanism in time, on all cores or on a cluster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy.typing as npt

from .._kernel import all_cores
from ..errors import warn
from ..mechanism.core.modes import Mode
from ..mechanism.core.slot_modes import ContactMode
from ..mechanism.mechanism import Mechanism
from .copies.arguments import Policy, check_arguments
from .copies.cluster import run_on_cluster
from .copies.copies_run import CopiesRun
from .copies.linear_feedback import LinearFeedback
from .copies.result import Rollout, doubt_about_steps


def rollout(
    mech: Mechanism,
    q0: npt.ArrayLike,
    v0: npt.ArrayLike | None = None,
    u: npt.ArrayLike | None = None,
    *,
    dt: float,
    steps: int,
    method: str = "rk4",
    policy: Policy | LinearFeedback | None = None,
    parameters: Mapping[str, Any] | None = None,
    every: int = 1,
    device: str = "cpu",
    dtype: str = "float64",
    threads: int | None = None,
    client: Any = None,
    progress: bool = False,
    t0: float = 0.0,
    switches: Any = (),
    stops: bool = False,
    mode0: Mode | ContactMode | None = None,
    contacts: str = "steps",
    **others: Any,
) -> Rollout:
    """Integrate the motion of B copies of a mechanism over equal steps; returns a `Rollout`.

    The numbers of a copy depend neither on the other copies, nor on their number or on the number of threads.
    A copy that fails stops alone, with a status and a message. Ctrl-C keeps what is done. Where fixed steps
    are too long for the motion of a copy, `message` and a SarrusWarning say so, as those of `simulate`.

    Args:
        mech: the mechanism.
        q0: positions to start at (B, nq) [rad, m]; (nq,) is the same for all.
        v0: velocities to start with (B, nv) [rad/s, m/s]; default rest, or what drives prescribe.
        u: actuator inputs (B, steps, nu), or (steps, nu) for all copies [N m, N], held over a step; default
            none.
        dt: length of a step [s].
        steps: number of steps.
        method: integrator, see docs/motion.md; those that choose their steps arrive at each multiple of dt.
        policy: policy(t, q, v) -> u, a function of a time and of whole batches: (B, nq), (B, nv) -> (B, nu);
            called at the beginning of each step with copies of the states. Or a `LinearFeedback`, which runs
            in compiled code.
        parameters: what differs between copies: the keywords of `with_`, each value with a leading axis B,
            as in {"mass": {"rod": masses}, "gravity": (B, 3)}.
        every: keep the state after every so many steps.
        device: "cpu", or "cuda" for an NVIDIA GPU (docs/code.md): rk4 steps by recorded code, without policy
            and events; drift is then an upper bound. It needs CuPy, `pip install "sarrus[gpu]"`.
        dtype: "float64", or "float32" on the GPU.
        threads: number of threads; default one for each core.
        client: a `dask.distributed.Client`: parts of the batch then run on its workers, with the same
            results; what a lost worker was doing is done again. A policy is then called with the copies of
            one part at a time.
        progress: whether to show a progress bar.
        t0: time at the start [s]; matters with drives, policies and switches.
        switches: `Switch` objects that switch by the clock, and `Contact` objects, as those of `simulate`.
        stops: whether the limits of the coordinates are hard stops, hit without rebound.
        mode0: which constraints are closed at the start, or what surfaces do: that of another rollout with
            the same switches and stops (`Rollout.mode`). Default: as switches, contacts and (q0, v0) say.
        contacts: of surfaces that may touch: "steps" (docs/contacts.md), with a method of fixed steps, or
            "ignore": they go through each other.
        others: refused by name. Of what only `simulate` has (events, ...) the message says what serves
            instead.

    Example:

        >>> import numpy as np
        >>> import sarrus as sr
        >>> mech = sr.library.pendulum()
        >>> many = sr.rollout(mech, np.linspace(0, 1, 5)[:, None], np.zeros((5, 1)), dt=0.01, steps=20)
        >>> many.q.shape
        (5, 21, 1)
    """
    given = check_arguments(dict(locals()), all_cores())
    found = CopiesRun(given).run() if client is None else run_on_cluster(client, given)
    if doubt := doubt_about_steps(found.status, found.step_error, given.dt):
        warn(doubt)
    return found
