"""Run: a design is judged by its measures along a run."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import Array, mapping, numbers
from ..errors import AssemblyError, InputError, require_all_known
from ..mechanism.core.access import known_default
from ..mechanism.mechanism import Mechanism
from ..mechanism.variants.state_slopes import Situation
from ..simulation.events.events import user_events
from ..simulation.sensitivity.run_slopes import may_be_smooth, run_slopes
from ..simulation.sensitivity.start_slopes import Start
from ..simulation.simulate import simulate
from ..simulation.trajectory.trajectory import Trajectory
from .evaluation import Evaluation
from .measure_slopes import Measures, MeasureSlopes, determined_slopes

# of simulate that designs may have: all but the system and times
OPTIONS = [x for x in inspect.signature(simulate).parameters if x not in ("system", "t_span", "t_eval")]


@dataclass(frozen=True)
class Run(Evaluation):
    """A run from the default state, or from a start with given coordinates; see `simulate`.

    Args:
        t: Times at which measures are taken [s], (n,), from the start of the run on.
        options: Of `simulate`, such as {"control": law, "v0": v}.
        fixed: {coordinate: value} [rad, m] at the start, which each design is assembled with, near its
            default pose.
        speeds: {coordinate: rate} [rad/s, m/s] at the start; the others follow with least kinetic energy.
    """

    t: npt.ArrayLike
    options: Mapping[str, Any] = field(default_factory=dict)
    fixed: Mapping[str, float] = field(default_factory=dict)
    speeds: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, given in (("fixed", self.fixed), ("speeds", self.speeds)):
            mapping(given, f"{name} of Run", "{coordinate: value}")
        require_all_known(
            "option of simulate",
            mapping(self.options, "options of Run", "{option of simulate: value}"),
            OPTIONS,
            "options of Run",
        )
        if (self.fixed or self.speeds) and {"q0", "v0"} & set(self.options):
            raise InputError(
                "Run starts either at fixed and speeds, which designs are assembled with, or at q0 and v0 of"
                " its options, which are the same for all; got both."
            )

        for event in user_events(self.options.get("events") or ()):
            if event.terminal:
                raise InputError(
                    f"event {event.name!r} would end runs of designs at different times, and Run measures all"
                    " of them at the same ones; leave `terminal` out, and ask for states at times of t."
                )

    def check(self, mech: Mechanism) -> None:
        """Default velocities are not kept while parameters change."""
        known = known_default(mech)
        told = self.speeds or self.options.get("v0") is not None or mech.model.drives
        if not told and known is not None and np.any(known.v):
            raise InputError(
                f"Run: designs start at rest, and {mech.name!r} has a default velocity. Say which coordinates"
                " move at the start, design.Run(t, speeds={coordinate: rate}), or give v0 in its options."
            )

    def measures(self, mech: Mechanism) -> Measures:
        return _measures_of(mech, self._run(mech))

    def slopes(self, mech: Mechanism, names: Sequence[str]) -> MeasureSlopes | None:
        """Each state follows from its time alone where drives determine it, otherwise from the run so far."""
        if mech.model.drives and self.options.get("control") is None:
            run = self._run(mech)
            at = Situation(run.q, run.v, np.zeros(run.v.shape), run.t, ())
            found = determined_slopes(mech, at, names, _measures_of(mech, run))
            if found is not None:
                return found
        return self._along_run(mech, names)

    def _along_run(self, mech: Mechanism, names: Sequence[str]) -> MeasureSlopes | None:
        """The same from the variational equation."""
        if not may_be_smooth(mech, self.options):
            return None
        t = numbers(self.t, "t of Run", 1)
        steps = self._simulated(mech, t, None)
        kept = steps._kept_at(t)
        found = self._found if self.fixed or self.speeds else None
        start = Start(self.options.get("q0"), self.options.get("v0"), float(t[0]), found)
        known = run_slopes(steps, kept, names, start)
        if known is None:
            return None
        measures, at = _measures_of(mech, kept), Situation(kept.q, kept.v, kept.tau, kept.t, ())
        slopes = determined_slopes(mech, at, names, measures, (known.q, known.v, known.tau))
        if slopes is None or known.exact:
            return slopes
        return replace(slopes, differences=frozenset(slopes.measures))

    def _run(self, mech: Mechanism) -> Trajectory:
        t = numbers(self.t, "t of Run", 1)
        return self._simulated(mech, t, t)

    def _simulated(self, mech: Mechanism, t: Array, t_eval: Array | None) -> Trajectory:
        """The run, at times t_eval or at all steps."""
        options = {**self.options, "store_every": 1}
        if self.fixed or self.speeds:
            options["q0"], options["v0"] = self._found(mech)
        run = simulate(mech, (float(t[0]), float(t[-1])), t_eval=t_eval, **options)
        if not run.success:
            raise AssemblyError(run.message)
        return run

    def _found(self, mech: Mechanism) -> tuple[Array, Array]:
        """Pose (nq,) and velocity (nv,) at the start, with the given coordinates."""
        t = float(np.ravel(self.t)[0])
        pose = mech.assemble(mech.default.q, dict(self.fixed), t)
        if not pose.success:
            raise AssemblyError(pose.message)
        return pose.q, mech.consistent_velocity(pose.q, t=t, fixed=dict(self.speeds))


def _measures_of(mech: Mechanism, run: Trajectory) -> Measures:
    """Measures along a run."""
    return {name: run[name] for name, _ in mech.model.measures}
