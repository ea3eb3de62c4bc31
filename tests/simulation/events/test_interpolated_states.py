"""What interpolation must know: inputs that are held between samples, states that are far apart."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
import pytest

import sarrus as sr


@pytest.mark.parametrize("options", [{}, {"method": "dopri5"}, {"method": "radau"}, {"dt": 0.02}])
def test_states_before_a_sample_know_nothing_of_it(options: dict[str, Any]) -> None:
    """1 N on 1 kg, turned round at 0.5 s: two parabolas. Speeds were wrong by 1.3 mm/s before the sample."""
    spec = sr.MechanismSpec(gravity=(0, 0, 0))
    spec.body("cart", joint=sr.Prismatic("x"), mass=1.0)
    mech, t = spec.compile(), np.linspace(0.0, 1.0, 1001)
    late = t > 0.5
    q = np.where(late, 0.125 + 0.5 * (t - 0.5) - 0.5 * (t - 0.5) ** 2, 0.5 * t**2)
    v = np.where(late, 1.0 - t, t)
    given = options | {"control": lambda t, q, v: [1.0 if t < 0.45 else -1.0], "control_dt": 0.1}
    kept = sr.simulate(mech, (0, 1), [0.0], t_eval=t, **given)
    run = sr.simulate(mech, (0, 1), [0.0], events=[lambda t, q, v: q[0] - 0.1225], **given)
    for states in (kept, run.at(t)):
        assert states.q[:, 0] == pytest.approx(q, abs=1e-12)
        assert states.v[:, 0] == pytest.approx(v, abs=1e-11)
    assert run.events[0].t == pytest.approx(np.sqrt(0.245), abs=1e-9)


@pytest.mark.parametrize("kept", [{"t_eval": [0.0, 5.0, 10.0]}, {"store_every": 50}])
def test_states_that_are_far_apart_warn(kept: dict[str, Any]) -> None:
    """An oscillator at 10 rad/s: at(2.5) was -77.8 instead of 0.991."""
    spec = sr.MechanismSpec(gravity=(0, 0, 0))
    spec.body("p", joint=sr.Prismatic("x"), mass=1.0)
    mech = spec.force("k", sr.JointSpring("p", 100.0)).compile()
    with pytest.warns(sr.SarrusWarning, match="far apart"):
        sr.simulate(mech, (0, 10), [1.0], **kept).at([2.5, 3.3])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert sr.simulate(mech, (0, 10), [1.0]).at(2.5).q[0] == pytest.approx(np.cos(25.0), abs=1e-6)


@pytest.mark.parametrize("name", ["four_bar", "pendulum", "slider_crank", "stewart"])
@pytest.mark.parametrize("every", [3, 7, 20])
def test_the_warning_knows_the_error(name: str, every: int) -> None:
    """States between kept ones against those of the run with all of its steps."""
    mech, t = getattr(sr.library, name)(), np.linspace(0.0, 1.0, 151)
    exact = sr.simulate(mech, (0, 1)).at(t)
    error, said = between(mech, sr.simulate(mech, (0, 1), store_every=every), t, exact)
    assert said is not None or error < 2e-6
    assert said is None or 0.2 * error < said < 50.0 * error


def test_the_warning_sees_samples_between_kept_states() -> None:
    spec = sr.MechanismSpec(gravity=(0, 0, 0))
    spec.body("p", joint=sr.Prismatic("x"), mass=1.0)
    mech, t = spec.compile(), np.linspace(0.0, 1.0, 151)
    options = {"control": lambda t, q, v: [30.0 * np.sin(40.0 * t)], "control_dt": 0.01}
    exact = sr.simulate(mech, (0, 1), [0.0], **options).at(t)
    for every in (2, 5, 10):
        error, said = between(mech, sr.simulate(mech, (0, 1), [0.0], store_every=every, **options), t, exact)
        assert said is not None and 0.2 * error < said < 20.0 * error


def between(mech: sr.Mechanism, run: Any, t: Any, exact: Any) -> tuple[float, float | None]:
    """The error of run.at(t), and what the warning says of it."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        found = run.at(t)
    unit, said = mech.units.unit, [re.search(r"by about (\S+),", str(one.message)) for one in seen]
    speed = np.abs(exact.v / unit).max()
    dq, dv = mech.difference(exact.q, found.q) / unit, (found.v - exact.v) / unit / speed
    return float(max(np.abs(dq).max(), np.abs(dv).max())), float(said[0][1]) if said and said[0] else None
