"""Random grasps: force closure and the sharing of loads, each against a linear program of its own."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

import sarrus as sr
from sarrus import control as sc

from .held_box import fingers


def grasp_of(seed: int) -> sc.Grasp:
    """One to four fingers of one kind on a ball of 0.1 m, pushing more or less inwards."""
    rng = np.random.default_rng(seed)
    count, kind, mu = int(rng.integers(1, 5)), seed % 3, float(rng.uniform(0.1, 1.2))
    out = rng.normal(size=(count, 3))
    out /= np.linalg.norm(out, axis=1)[:, None]
    joint = (sr.Spherical(), sr.Universal("x", "y"), sr.Fixed())[kind]
    mech = fingers(joint, list(0.1 * out), list(0.4 * rng.normal(size=(count, 3)) - out))
    contacts: list[sc.PointContact] = []
    for name in (f"tip{k}" for k in range(count)):
        if kind == 0:
            contacts.append(sc.PointContact(name, mu, least=1.0))
        elif kind == 1:
            contacts.append(sc.SoftFinger(name, mu, least=1.0, torsion=0.02))
        else:
            contacts.append(sc.Patch(name, mu, least=1.0, torsion=0.02, half=(0.02, 0.03)))
    return sc.Grasp(mech, "box", contacts, (None, 1.0, 0.07)[seed // 3 % 3])


@pytest.mark.parametrize("start", [0, 20])
def test_force_closure_is_a_squeeze_inside_all_limits(start: int) -> None:
    """The largest room that internal forces leave to all limits is positive, and G has rank six."""
    found = []
    for seed in range(start, start + 20):
        grasp = grasp_of(seed)
        G, (faces, _) = grasp.map(), grasp.pyramids()
        unit = faces / np.linalg.norm(faces, axis=1)[:, None]
        rules = np.column_stack([-unit, np.ones(len(unit))])
        best = linprog(
            np.append(np.zeros(grasp.size), -1.0),
            A_ub=rules,
            b_ub=np.zeros(len(unit)),
            A_eq=np.column_stack([G, np.zeros(6)]),
            b_eq=np.zeros(6),
            bounds=[(-1.0, 1.0)] * grasp.size + [(None, 1.0)],
        )
        rank = np.linalg.matrix_rank(G * np.repeat([1.0, 10.0], 3)[:, None], 1e-9)
        found.append(bool(best.status == 0 and -best.fun > 1e-7 and rank == 6))
        assert bool(grasp.force_closure()) == found[-1], seed
    assert 2 < sum(found) < 18


@pytest.mark.parametrize("start", [0, 20])
def test_loads_are_shared_where_that_is_possible(start: int) -> None:
    """Feasible by a linear program: balanced to rounding within all limits; else INFEASIBLE."""
    found = []
    for seed in range(start, start + 20):
        grasp = grasp_of(seed)
        load = np.random.default_rng(100 + seed).normal(size=6) * np.repeat([3.0, 0.15], 3)
        (faces, floor), free = grasp.pyramids(), [(None, None)] * grasp.size
        known = linprog(
            np.zeros(grasp.size), A_ub=-faces, b_ub=-floor, A_eq=grasp.map(), b_eq=-load, bounds=free
        )
        found.append(known.status == 0)
        shared = grasp.distribute(load)
        assert (shared.status != sc.Status.INFEASIBLE) == found[-1], seed
        if found[-1]:
            np.testing.assert_allclose(grasp.map() @ shared.f, -load, atol=1e-9)
            assert min(shared.margins.values()) > -1e-7
    assert 2 < sum(found) < 18
