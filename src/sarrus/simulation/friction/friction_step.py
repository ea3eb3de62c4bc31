"""Single steps with friction that sticks: short runs, with their events."""

from __future__ import annotations

from typing import Any

from ...arrays import Array
from ...errors import SarrusError
from ...mechanism.mechanism import Mechanism
from ..run.option_checks import check_options
from ..system.system import System
from .friction_run import FrictionRun

DEFAULTS: dict[str, Any] = {
    "control": None, "control_dt": None, "rtol": 1e-8, "atol": None, "t_eval": None, "energy": False,
    "formulation": "nullspace", "correction": "project", "events": (), "coordinates": "full",
    "progress": False, "external": None, "baumgarte": None, "store_every": 1, "switches": (), "stops": False,
    "jacobian": "analytic", "projection_metric": "mass", "softness": None, "chart_rule": "quality",
    "chart_thresholds": None,
}  # fmt: skip


def friction_step(
    mech: Mechanism, state: tuple[Array, Array, Array], time: tuple[float, float, int], method: str
) -> tuple[Array, Array] | str:
    """q (nq,) and v (nv,) after a step of the state q, v under tau (nv,), or why there is none.

    Args:
        mech: the mechanism.
        state: q, v and tau.
        time: t, dt [s] and the number of substeps.
        method: integrator.
    """
    q, v, tau = state
    t, dt, substeps = time
    try:
        if mech.nc:
            q, v = mech.project(q, v, t)
        given = {**DEFAULTS, "tau": tau, "method": method, "dt": dt / substeps}
        run = FrictionRun(mech, check_options(System(mech), (t, t + dt), given), q, v).run()
    except SarrusError as error:
        return str(error)
    return (run.q[-1], run.v[-1]) if run.success else run.message
