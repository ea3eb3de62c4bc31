"""Checks of the arguments of `simulate` that say how states are kept on the constraints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...arrays import positive, state
from ...errors import InputError

METRICS = ("mass", "euclidean")
BAUMGARTE_PER_STEP = 0.1  # default of alpha dt and of beta dt
WITH_GAINS = ("baumgarte", "soft")  # corrections that feed constraint errors back
SOFTNESS = 1e-3  # default, a singular value of J without units


def correction_options(given: Mapping[str, Any], correction: str, dt: float) -> dict[str, Any]:
    """`baumgarte`, `projection_metric` and `softness` of `Options`."""
    return {
        "baumgarte": _baumgarte(given["baumgarte"], correction, dt),
        "projection_metric": _metric(given, correction),
        "softness": _softness(given, correction),
    }


def _baumgarte(value: Any, correction: str, dt: float) -> tuple[float, float]:
    if value is None:
        gain = BAUMGARTE_PER_STEP / dt if correction in WITH_GAINS else 0.0
        return gain, gain
    if correction not in WITH_GAINS:
        raise InputError(
            'baumgarte gains are for correction="baumgarte" only, and for "soft"; got'
            f' correction="{correction}".'
        )
    alpha, beta = state(value, "baumgarte (alpha, beta) [1/s]", 2).tolist()
    if alpha < 0.0 or beta < 0.0:
        raise InputError(f"baumgarte gains (alpha, beta) [1/s] must not be negative, got {value!r}.")
    return alpha, beta


def _metric(given: Mapping[str, Any], correction: str) -> str:
    metric = given["projection_metric"]
    if not isinstance(metric, str) or metric not in METRICS:
        raise InputError(f'projection_metric must be "mass" or "euclidean"; got {metric!r}.')
    full = isinstance(given["coordinates"], str) and given["coordinates"] == "full"
    if metric != "mass" and (correction != "project" or not full):
        raise InputError(
            'projection_metric is for correction="project" in full coordinates, where states are projected;'
            f' got correction="{correction}" and coordinates={given["coordinates"]!r}. Leave it out.'
        )
    return metric


def _softness(given: Mapping[str, Any], correction: str) -> float:
    value = given["softness"]
    if correction != "soft":
        if value is not None:
            raise InputError(f'softness is for correction="soft" only; got correction="{correction}".')
        return 0.0
    if given["formulation"] == "lagrange":
        raise InputError(
            'correction="soft" damps the inverse of J, which formulation="lagrange" does not use; take "svd".'
        )
    return SOFTNESS if value is None else positive(value, "softness")
