"""Setups of laws cross to the kernel by the names of their fields."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sarrus import _kernel
from sarrus.control.outputs.output import POINT, POSE
from sarrus.library import five_bar

LIMITS: dict[str, Any] = {
    **dict.fromkeys(("on_u", "on_force", "on_a")),
    **{name: np.zeros(0) for name in ("on_lam", "lower", "upper")},
}


@pytest.mark.parametrize("name", LIMITS)
def test_a_field_that_is_missing_or_misspelt_is_refused(name: str) -> None:
    rest = {key: value for key, value in LIMITS.items() if key != name}
    with pytest.raises(TypeError, match=rf"supported:\s.*\b{name}: object"):
        _kernel.LimitRows(**rest)
    with pytest.raises(TypeError, match=rf"kwargs = .*\b{name}_: "):
        _kernel.LimitRows(**rest, **{name + "_": LIMITS[name]})


@pytest.mark.parametrize(
    ("kind", "given", "message"),
    [
        (POINT, {"point": np.zeros(3), "rows": [0, 1]}, "`body` is not the index of a body"),
        (POINT, {"point": np.zeros(3), "body": 0}, "`rows` must have `size` entries"),
        (POSE, {"body": 0, "rows": [0, 1]}, r"`point` must have shape \(3\)"),
    ],
)
def test_an_output_without_a_field_of_its_kind_is_refused(kind: int, given: Any, message: str) -> None:
    mech = five_bar()
    law = law_with(mech, _kernel.OutputSetup(kind=kind, size=2, accelerated=False, **given))
    with pytest.raises((IndexError, ValueError), match=message):
        _kernel.ControlStep(mech.evaluator.kernel, law)


def law_with(mech: Any, output: _kernel.OutputSetup) -> _kernel.LawSetup:
    """A law with one output, and otherwise nothing."""
    rows = np.ones(mech.nc)
    task = _kernel.TaskSetup(outputs=[output], unit=np.ones(2), keep=None, kp=None, kd=None)
    switches = ("mass_metric", "by_mass", "drops_lost_rows", "has_terms", "has_tasks")
    numbers = ("rank_tol", "damping", "min_controllability", "touch", "tol", "angle", "speed")
    return _kernel.LawSetup(
        columns=[0],
        used=[0],
        nu=mech.nu,
        active=_kernel.ActiveSetup(gap_weight=rows, per_row=rows, part=np.ones(mech.nc, dtype=np.int8)),
        tasks=[task],
        levels=0,
        **dict.fromkeys(switches, False),
        **dict.fromkeys(numbers, 0.0),
        **dict.fromkeys(("metric", "limits", "object", "forces")),
    )
