"""optimize: values of parameters for which a purpose is served best, within limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array, positive, positive_whole
from ..errors import InputError
from ..mechanism.mechanism import Mechanism
from .design_problem import ON_LIMIT, Found, Problem
from .evaluation import Evaluation, check_evaluation, check_mechanism, why_not
from .measure_slopes import Measures
from .objectives import Objective, check_limits, check_objective, check_ranges


@dataclass(frozen=True)
class Optimum:
    """The result of `optimize`.

    Attributes:
        mech: the mechanism with the best parameters found.
        parameters: these, {name: value}.
        objective: what they reach.
        before: what the given mechanism reached; infinite where it kept no limit or could not be built.
        measures: of the best mechanism, where they were taken.
        active: names of parameters and limits that the best mechanism stands on.
        history: objective of the best design that keeps all limits, after each start (starts,).
        evaluations: number of mechanisms that were tried.
        gradient: how it was differentiated: {"objective": "exact" or "differences"}, and the limits by name.
        success: whether the optimizer converged and all limits are kept.
        message: the same in words.
    """

    mech: Mechanism
    parameters: dict[str, float]
    objective: float
    before: float
    measures: Measures
    active: tuple[str, ...]
    history: Array
    evaluations: int
    gradient: dict[str, str]
    success: bool
    message: str


def optimize(
    mech: Mechanism,
    parameters: Mapping[str, tuple[float, float]],
    objective: Objective | str,
    *,
    over: Evaluation,
    limits: Mapping[str, Any] | None = None,
    starts: int = 1,
    seed: int = 0,
    tol: float = 1e-8,
    max_iterations: int = 200,
) -> Optimum:
    """Vary parameters so that an objective becomes least, within limits; returns an `Optimum`.

    The best local minimum from several starts. A design that cannot be assembled, swept or run counts as a
    bad one.

    Args:
        mech: a mechanism with parameters and measures; the search starts at its values.
        parameters: what varies, {parameter: (lower, upper)}.
        objective: objective(measures) -> number, smooth, to be made small; measures are arrays (n,) or (n, k)
            by name, over n states. Or the name of a measure (n,), whose mean square is meant.
        over: where measures are taken: `design.Poses`, `design.Sweep` or `design.Run`.
        limits: {measure: (lower, upper)} of all its values, or {name: (function(measures), lower, upper)} of
            a number or array that it returns; None leaves a side open.
        starts: number of starts; those after the first are random, within the ranges.
        seed: of the random starts.
        tol: change of the objective, relative to its size at the start, at which it has converged.
        max_iterations: of each start.
    """
    check_mechanism(mech, "optimize")
    variables = check_ranges(mech, parameters)
    problem = Problem(
        mech,
        variables,
        check_objective(mech, objective),
        check_evaluation(over, mech, "optimize"),
        check_limits(mech, limits),
    )
    first = np.clip([mech.parameters[name] for name in variables.names], variables.lower, variables.upper)
    rng = np.random.default_rng(seed)
    others = rng.uniform(variables.lower, variables.upper, (positive_whole(starts, "starts") - 1, len(first)))
    before = problem.tried(first)
    accuracy, iterations = positive(tol, "tol"), positive_whole(max_iterations, "max_iterations")
    found = [problem.search(start, accuracy, iterations) for start in (first, *others)]
    best = max(found, key=lambda one: (one.kept, -one.value))
    history = np.minimum.accumulate([one.value if one.kept else np.inf for one in found])
    return _optimum(problem, best, before, history)


def _optimum(problem: Problem, found: Found, before: tuple[float, Array], history: Array) -> Optimum:
    """The result in words."""
    v = problem.variables
    if not np.isfinite(found.value):
        at = {name: float(f"{x:.6g}") for name, x in zip(v.names, found.x, strict=True)}
        if problem.undefined:
            raise InputError(f"objective of optimize must be a finite number, got nan at {at}.")
        raise InputError(
            "optimize: no design within the ranges could be assembled and evaluated; narrow them around"
            f" {at}.{why_not(problem.over, problem.mech, v, found.x)}"
        )
    best = v.changed(problem.mech, found.x)
    measures = problem.over.measures(best)
    near = ON_LIMIT * v.range
    active = [
        name
        for i, name in enumerate(v.names)
        if found.x[i] - v.lower[i] < near[i] or v.upper[i] - found.x[i] < near[i]
    ]
    active += [one.name for one in problem.limits if np.min(one.margins(measures)) < 1e3 * ON_LIMIT]
    reached = bool(np.all(before[1] >= -ON_LIMIT)) and np.isfinite(before[0])
    idle = [repr(name) for name, still in zip(v.names, problem.idle, strict=True) if still]
    if len(idle) == len(v.names):
        raise InputError(
            f"optimize has no freedom: neither the objective nor a limit depends on {', '.join(idle)}"
            " around the given values; vary other parameters, or judge by other measures."
        )
    words = "Converged" if found.converged else f"Stopped: {found.words}"
    words += "." if found.kept else "; limits are not kept: widen them or the ranges of the parameters."
    words += f" Nothing depends on {', '.join(idle)}." if idle else ""
    return Optimum(
        mech=best,
        parameters=dict(zip(v.names, map(float, found.x), strict=True)),
        objective=found.value,
        before=before[0] if reached else np.inf,
        measures=measures,
        active=tuple(active),
        history=history,
        evaluations=len(problem.known),
        gradient={name: "differences" if rough else "exact" for name, rough in problem.differences.items()},
        success=found.converged and found.kept,
        message=words,
    )
