"""Formulation study: one mechanism in every formulation, correction and chart, accuracy against cost."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..dynamics.forward import FORMULATIONS
from ..errors import InputError, SarrusError
from ..mechanism.core.contact_refusals import has_contacts
from ..mechanism.mechanism import Mechanism
from .charts.chart_selector import KINDS
from .simulate import simulate
from .stepping.methods import CORRECTIONS, METHODS
from .system.system import System
from .trajectory.trajectory import Trajectory

QUICK = 0.1  # [s]; shorter runs are timed twice
FINER = 8  # steps of the reference for each step of the study
RTOL, ATOL = 1e-8, 1e-10  # of methods that choose their steps
TIGHTER = 100  # their tolerances, relative to those of the reference


@dataclass(frozen=True)
class StudyRow:
    """Result of one way to run: a formulation, coordinates and a correction.

    Attributes:
        formulation, coordinates, correction: as in `simulate`.
        error: distance of the last pose from the reference, largest coordinate [rad, or times L in m]; NaN
            where the run did not get there.
        energy_error: largest change of the energy [J]; NaN where forces do work.
        drift: largest |phi| [m], angles times L.
        velocity_drift: largest |J v - b| [m/s], angles times L.
        cost: time per step [s].
        message: why it did not get to the end; empty if it did.
    """

    formulation: str
    coordinates: str
    correction: str
    error: float = np.nan
    energy_error: float = np.nan
    drift: float = np.nan
    velocity_drift: float = np.nan
    cost: float = np.nan
    message: str = ""


@dataclass(frozen=True)
class Study:
    """Every way to run one mechanism; `print` shows the table.

    Attributes:
        name: of the mechanism.
        t_end: length of the runs [s].
        dt: their step [s]; of methods that choose their steps the first one.
        method: their method.
        rows: one for each way.
    """

    name: str
    t_end: float
    dt: float
    method: str
    rows: tuple[StudyRow, ...]

    def __str__(self) -> str:
        by = f"dt = {self.dt:g} s, against dt / {FINER}"
        if METHODS[self.method].adaptive:
            by = f"rtol = {RTOL:g}, atol = {ATOL:g}, against tolerances / {TIGHTER}"
        head = f"{self.name}: {self.t_end:g} s by {self.method} at {by}"
        columns = f"{'formulation':<21}{'coordinates':<12}{'correction':<11}{'error':>9}{'energy [J]':>11}"
        columns += f"{'drift':>9}{'velocity':>10}{'us/step':>9}"
        return "\n".join([head, "", columns, "-" * len(columns), *map(_line, self.rows)])


def _line(row: StudyRow) -> str:
    names = f"{row.formulation:<21}{row.coordinates:<12}{row.correction:<11}"
    if row.message:
        return names + row.message
    energy = f"{row.energy_error:>11.1e}" if np.isfinite(row.energy_error) else f"{'-':>11}"
    drifts = f"{row.drift:>9.1e}{row.velocity_drift:>10.1e}"
    return f"{names}{row.error:>9.1e}{energy}{drifts}{1e6 * row.cost:>9.0f}"


def study(mech: Mechanism, t_end: float = 1.0, dt: float = 2e-3, method: str = "rk4") -> Study:
    """Run a mechanism from its default state in every formulation, correction and chart.

    Args:
        mech: the mechanism.
        t_end: length of the runs [s].
        dt: step [s]; of methods that choose their steps the first one.
        method: as in `simulate`.

    Errors are differences from a run with steps of dt / 8, or with tolerances 100 times tighter where the
    method chooses its steps.
    """
    options: dict[str, Any] = {"dt": dt, "method": method, "rtol": RTOL, "atol": ATOL}
    finer = {"dt": dt / FINER, "rtol": RTOL / TIGHTER, "atol": ATOL / TIGHTER}
    if has_contacts(mech.model):
        raise InputError(
            "study compares ways to run that surfaces which may touch do not know; compile without contacts."
        )
    reference = simulate(mech, (0.0, t_end), **options | finer)
    rows = [_run(mech, t_end, reference, options | way) for way in ways()]
    return Study(mech.name, t_end, dt, method, tuple(rows))


def ways() -> Iterator[dict[str, Any]]:
    """Options of every way to run, the default first."""
    for correction in ("project", *(name for name in CORRECTIONS if name != "project")):
        for formulation in FORMULATIONS if correction != "soft" else ("svd",):
            yield {"formulation": formulation, "coordinates": "full", "correction": correction}
    for kind in KINDS:
        yield {"formulation": "nullspace", "coordinates": kind, "correction": "project"}


def _run(mech: Mechanism, t_end: float, reference: Trajectory, options: dict[str, Any]) -> StudyRow:
    names = options["formulation"], options["coordinates"], options["correction"]
    try:
        run, taken = _timed(mech, t_end, options)
        if taken < QUICK:  # time it again, with warm caches
            taken = min(taken, _timed(mech, t_end, options)[1])
        message = "" if run.success else _reason(run.message)
    except SarrusError as refused:
        run, taken, message = None, 0.0, _reason(str(refused))
    if run is None or message:
        return StudyRow(*names, message=message)
    conservative = not System(mech).work_done()
    return StudyRow(
        *names,
        error=float(np.max(np.abs(mech.difference(reference.q[-1], run.q[-1]) / mech.units.unit))),
        energy_error=float(np.max(np.abs(run.energy - run.energy[0]))) if conservative else np.nan,
        drift=float(run.drift.max()),
        velocity_drift=float(run.velocity_drift.max()),
        cost=taken / max(len(run) - 1, 1),
    )


def _timed(mech: Mechanism, t_end: float, options: dict[str, Any]) -> tuple[Trajectory, float]:
    began = time.perf_counter()
    run = simulate(mech, (0.0, t_end), **options)
    return run, time.perf_counter() - began


def _reason(message: str) -> str:
    """The first sentence, short enough for a table."""
    said = message.splitlines()[0].split(": ", 1)[-1]
    return said if len(said) <= 80 else said[:77] + "..."
