"""Linear models with states of first order: without their integrals, on which nothing depends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..mechanism.mechanism import Mechanism
from .compiled_models import LinearModels, stacked
from .independent_coordinates import IndependentCoordinates
from .model import LinearModel


def first_order(mech: Any) -> tuple[str, ...]:
    """Names of the states of first order of a mechanism."""
    return mech.states if isinstance(mech, Mechanism) else ()


def with_states(mech: Any, independent: Any) -> Any:
    """Names of independent coordinates, with the states, which are independent of everything."""
    states = first_order(mech)
    if not states or independent is None:
        return independent
    if isinstance(independent, Mapping):
        return {role: _with(names, states) for role, names in independent.items()}
    return _with(independent, states)


def _with(names: Any, states: tuple[str, ...]) -> Any:
    if isinstance(names, str):
        names = [names]
    if not isinstance(names, (list, tuple)):
        return names
    return [*names, *(state for state in states if state not in names)]


def outputs_of(mech: Any, outputs: Any) -> Any:
    """Names of outputs; that of a state stands for the state, not for its integral."""
    states = first_order(mech)
    if not states or outputs is None:
        return outputs
    if isinstance(outputs, str):
        outputs = [outputs]
    if not isinstance(outputs, (list, tuple)):
        return outputs
    return [f"v.{name}" if name in states else name for name in outputs]


def without_integrals(
    found: LinearModel | LinearModels, states: tuple[str, ...]
) -> LinearModel | LinearModels:
    """The model without the states "q.NAME"; "v.NAME" is called NAME."""
    if not states:
        return found
    if isinstance(found, LinearModels):
        batch = found.rate.shape[:-1]
        each = [_reduced(found[i], states) for i in np.ndindex(batch)]
        return stacked(each, batch)
    return _reduced(found, states)


def _reduced(model: LinearModel, states: tuple[str, ...]) -> LinearModel:
    gone = {f"q.{name}" for name in states}
    keep = [i for i, name in enumerate(model.names) if name not in gone]
    both = np.ix_(keep, keep)
    mech = model.mechanism
    positions = tuple(i for i in model.choice.positions if mech.names[i] not in states)
    shown, C, D = _outputs(model, gone, keep)
    return replace(
        model,
        A=model.A[both],
        B=model.B[keep],
        C=C,
        D=D,
        E=None if model.E is None else model.E[both],
        names=_named([model.names[i] for i in keep], states),
        outputs=_named(shown, states),
        rate=model.rate[keep],
        lift=model.lift[:, keep],
        reduce=model.reduce[keep],
        choice=IndependentCoordinates(positions, model.choice.velocities),
        independent=tuple(name for name in model.independent if name not in states),
    )


def _outputs(model: LinearModel, gone: set[str], keep: list[int]) -> tuple[list[str], Any, Any]:
    """Names and rows of the outputs, without integrals where they are the states."""
    rows = [i for i, name in enumerate(model.outputs) if name not in gone]
    return [model.outputs[i] for i in rows], model.C[np.ix_(rows, keep)], model.D[rows]


def _named(names: list[str], states: tuple[str, ...]) -> tuple[str, ...]:
    short = {f"v.{name}": name for name in states}
    return tuple(short.get(name, name) for name in names)
