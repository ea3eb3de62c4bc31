"""What linearize says to arguments that make no sense."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import sarrus as sr


@pytest.fixture(scope="module")
def loader() -> sr.Mechanism:
    return sr.library.loader()


def refused(mech: sr.Mechanism, pattern: str, **arguments: Any) -> sr.SarrusError:
    with pytest.raises(sr.SarrusError) as caught:
        sr.linearize(mech, **arguments)
    assert re.search(pattern, str(caught.value)), str(caught.value)
    return caught.value


def test_dependent_coordinates_and_the_way_out(loader: sr.Mechanism) -> None:
    error = refused(
        loader,
        r"\['boom', 'lift_rod'\] are not independent.*would be independent",
        independent=["boom", "lift_rod"],
    )
    advice = re.search(r"(\[[^\]]*\]) would be", str(error))
    assert advice is not None
    names = re.findall(r"'(\w+)'", advice.group(1))
    assert sr.linearize(loader, independent=names).independent == tuple(names)


def test_wrong_number_of_coordinates(loader: sr.Mechanism) -> None:
    refused(loader, r"must be 2 coordinates.*got 1: \['boom'\].*would be independent", independent=["boom"])
    refused(loader, r"must be 2 coordinates.*got 3", independent=["boom", "link", "bucket"])
    refused(loader, r"names 'boom' twice", independent=["boom", "boom"])
    refused(loader, r"list of names", independent=[1, 2])


def test_unknown_names(loader: sr.Mechanism) -> None:
    for what in ("independent", "inputs", "outputs"):
        error = refused(loader, "unknown .* 'boon'", **{what: ["boon", "bucket"]})
        assert isinstance(error, sr.UnknownNameError) and "Did you mean 'boom'?" in str(error)
    refused(loader, r"'q.boom' names 'q.boom', which is there already", outputs=["boom", "q.boom"])
    refused(loader, r"method must be one of .*got 'exact'", method="exact")
    refused(loader, r"form must be one of .*got 'small'", form="small")


def test_states_off_the_manifold(loader: sr.Mechanism) -> None:
    q = np.array(loader.default.q)
    refused(loader, r"q is off the constraints.*mech.assemble", q=q + 0.01)
    v = np.zeros(loader.nv)
    v[0] = 1.0
    refused(loader, r"v breaks the constraints.*consistent_velocity", q=q, v=v)
    refused(loader, r"q must be finite", q=q * np.nan)
    refused(loader, r"u must have shape \(2,\).*lift_rod", u=[1.0])


def test_rounding_is_put_right(loader: sr.Mechanism) -> None:
    q = np.array(loader.default.q)
    near = sr.linearize(loader, np.round(q, 8))
    assert np.max(np.abs(loader.terms(near.point.q, np.zeros(loader.nv)).phi)) < 1e-12


def test_rolling_has_more_positions_than_velocities() -> None:
    disc = sr.library.rolling_disk()
    model = sr.linearize(disc)
    assert sum(name.startswith("q.") for name in model.names) == 5
    assert sum(name.startswith("v.") for name in model.names) == 3
    chosen = {
        "positions": ["disc.vy", "disc.vz", "disc.wx", "disc.wy", "disc.wz"],
        "velocities": ["disc.wx", "disc.wy", "disc.wz"],
    }
    assert sr.linearize(disc, independent=chosen).names[-1] == "v.disc.wz"
    refused(disc, "velocities must be 3 coordinates", independent={"velocities": ["disc.wx"]})
    refused(disc, 'keys "positions" and "velocities"', independent={"speeds": []})


def test_only_mechanisms() -> None:
    with pytest.raises(sr.InputError, match="compile it"):
        sr.linearize(sr.MechanismSpec())
    with pytest.raises(sr.InputError, match="takes a Mechanism, got int"):
        sr.linearize(3)
    with pytest.raises(sr.InputError, match=r"fixed must be a mapping .*got 'boom'"):
        sr.equilibrium(sr.library.loader(), fixed="boom")


def test_driven_mechanism() -> None:
    """A drive takes a freedom away; what is left is linearized at the time that is asked for."""
    spec = sr.MechanismSpec(gravity=(0, -9.81, 0))
    spec.body("cart", joint=sr.Prismatic("x"), mass=1.0)
    spec.body(
        "rod", parent="cart", joint=sr.Revolute("z"), mass=1.0, com=(0, -1.0, 0), inertia=(0.1, 0.1, 0.1)
    )
    spec.constrain("shake", sr.Drive("cart", lambda t: 0.1 * np.sin(3 * t)))
    mech = spec.compile()
    model = sr.linearize(mech, t=0.4)
    assert model.independent == ("rod",)
    dual, differences = (sr.linearize(mech, t=0.4, method=m) for m in ("dual", "finite_difference"))
    np.testing.assert_allclose(model.A, dual.A, atol=1e-12)
    np.testing.assert_allclose(model.A, differences.A, atol=1e-8)
    assert model.point.v[0] == pytest.approx(0.3 * np.cos(1.2), rel=1e-8)
