"""What the contacts keep for wrenches that nobody knows of."""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt
import pytest

import sarrus as sr
from sarrus import control as sc

from .held_box import fingers, held, patches

Array = npt.NDArray[np.float64]

RESERVE = np.array([10.0, 1.0])


def unknown(rng: np.random.Generator) -> Array:
    """A wrench as large as the reserve, in any direction."""
    w = rng.normal(size=6)
    return w / np.linalg.norm(w) * np.repeat(RESERVE, 3)


def worst(mech: sr.Mechanism, grasp: sc.Grasp, u: Array, wrenches: list[Array]) -> float:
    """The least margin of all contacts in the plant under each of the wrenches at the centre of mass."""
    q, v, found = mech.default.q, np.zeros(mech.nv), np.inf
    for w in wrenches:
        lam = mech.forward_dynamics(q, v, u=u, external={grasp.body: (w, grasp.com)}).lam
        found = min(found, *grasp.margins(grasp.components(lam)).values())
    return float(found)


@pytest.mark.parametrize("edges", [8, None])
def test_any_wrench_as_large_as_the_reserve_is_borne(edges: int | None) -> None:
    """Contacts on the true plant stay inside at once, before anything was measured; a larger one slips."""
    mech, _ = held()
    mech = mech.with_(com={"box": (0.02, 0.03, -0.05)})
    grasp = sc.Grasp(mech, "box", patches(least=0.0, edges=edges))
    rng = np.random.default_rng(0)
    pushes = [unknown(rng) for _ in range(200)]
    safe = sc.ObjectImpedance(mech, grasp, external=None, reserve=RESERVE).solve(0.0, *mech.default)
    assert safe.success and worst(mech, grasp, safe.u, pushes) > -1e-7
    bare = sc.ObjectImpedance(mech, grasp, external=None, reserve=(0.0, 0.0)).solve(0.0, *mech.default)
    assert worst(mech, grasp, bare.u, pushes) < -1.0
    if edges is not None:  # row by row nothing is kept in excess: some wrench reaches the limits
        steep = [w for _ in range(3000) for w in [unknown(rng)]]
        assert worst(mech, grasp, safe.u, steep) < 0.5
    assert min(safe.margins.values()) > 0.3  # true distances, without unknown wrench


def test_three_points_keep_a_reserve() -> None:
    angles = 2.0 * np.pi / 3.0 * np.arange(3)
    points = [(0.1 * np.cos(x), 0.1 * np.sin(x), 0.0) for x in angles]
    mech = fingers(sr.Spherical(), points, [(-x, -y, -z) for x, y, z in points])
    grasp = sc.Grasp(mech, "box", [sc.PointContact(f"tip{k}", 0.6) for k in range(3)])
    rng = np.random.default_rng(1)
    law = sc.ObjectImpedance(mech, grasp, external=None, reserve=RESERVE)
    assert worst(mech, grasp, law.solve(0.0, *mech.default).u, [unknown(rng) for _ in range(100)]) > -1e-7


def test_less_is_kept_where_motors_allow_less() -> None:
    """Tighter and tighter motors: first the reserve goes, without a jump, then the limits."""
    mech, grasp = held(mu=0.3, least=0.0)
    found = []
    for bound in np.arange(42.0, 27.0, -0.5):
        law = sc.ObjectImpedance(
            mech, grasp, external=None, reserve=(40.0, 4.0), limits=sc.TorqueBounds((-bound, bound))
        )
        found.append(law.solve(0.0, *mech.default))
    shares = np.array([one.reserve_left for one in found])  # type: ignore[attr-defined]
    less = np.flatnonzero(shares < 1.0 - 1e-6)
    assert shares[0] == pytest.approx(1.0, abs=1e-6) and len(less) > 15 and 0.5 < shares[-1] < 0.8
    assert all(one.success and min(one.margins.values()) > -1e-6 for one in found)
    assert max(np.abs(b.u - a.u).max() for a, b in itertools.pairwise(found)) < 0.6
    assert np.diff(shares).max() < 1e-4


def test_bad_input() -> None:
    mech, grasp = held()
    with pytest.raises(sr.SarrusError, match="reserve must be"):
        sc.ObjectImpedance(mech, grasp, reserve=(-1.0, 0.0))
    with pytest.raises(sr.SarrusError, match=r"reserve of ObjectImpedance must have shape \(2,\)"):
        sc.ObjectImpedance(mech, grasp, reserve=5.0)
