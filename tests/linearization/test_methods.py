"""Three ways to the same derivatives, at states that move and accelerate, on mechanisms of every kind."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import sarrus as sr
from tests.oracles import every_constraint as every
from tests.oracles import random_mechanisms as random
from tests.oracles.description import Description
from tests.oracles.states import mechanism, random_force, tangent_velocity

from .mechanisms import moving, relative

SINGULAR_AT_START = ("five_bar",)
EVERY_KIND = (*every.CLOSING, *(kind for kind in every.DECLARED if kind != "custom"))


def with_forces(seed: int) -> Description:
    d = every.base(seed)
    return d.with_(forces=tuple(every.forces(d, np.random.default_rng(seed))))


DESCRIPTIONS: dict[str, Callable[[], Description]] = {
    **{
        f"{kind}-{seed}": lambda k=kind, s=seed: every.constrained(k, s)
        for kind in EVERY_KIND
        for seed in (0, 1)
    },
    "everything": lambda: every.everything(0),
    "forces": lambda: with_forces(3),
    "massless": lambda: random.massless_between(0),
    "clamped": lambda: random.clamped(0),
    **{
        f"twice-{s}": lambda s=s: random.duplicated(random.loops(s, ("revolute", "spherical")))
        for s in range(4)
    },
    **{f"planar-{s}": lambda s=s: random.planar_loop(s, 4) for s in range(3)},
}
BY_DIFFERENCES = (
    "fixed-0",
    "rolling-1",
    "helical-1",
    "everything",
    "forces",
    "twice-0",
    "planar-1",
    "universal-0",
)


def models(description: Description, methods: tuple[str, ...], seed: int = 5) -> list[sr.LinearModel]:
    mech = mechanism(description)
    q = np.array(description.q)
    v, tau = tangent_velocity(mech, q, seed), random_force(mech, seed)
    outputs = [
        *mech.names,
        *(f"a.{name}" for name in mech.names),
        *mech.row_names,
        f"pose.{mech.body_names[-1]}",
    ]
    inputs = mech.names[:4]
    return [sr.linearize(mech, q, v, tau=tau, inputs=inputs, outputs=outputs, method=m) for m in methods]


def assert_same(one: sr.LinearModel, other: sr.LinearModel, tol: float) -> None:
    for name in ("A", "B", "C", "D", "lift"):
        assert relative(getattr(one, name), getattr(other, name)) < tol, name


@pytest.mark.parametrize("name", DESCRIPTIONS)
def test_analytic_is_dual(name: str) -> None:
    analytic, dual = models(DESCRIPTIONS[name](), ("analytic", "dual"))
    assert np.max(np.abs(analytic.rate)) > 0.1  # nothing is in balance
    assert_same(analytic, dual, 1e-12)


@pytest.mark.parametrize("name", BY_DIFFERENCES)
def test_analytic_is_the_limit_of_differences_on_the_manifold(name: str) -> None:
    analytic, differences = models(DESCRIPTIONS[name](), ("analytic", "finite_difference"))
    assert_same(analytic, differences, 1e-8)


# friction by load has no derivatives: refused by name
BY_LOAD = ("overhung_gearbox", "screw_jack", "worm_hoist")


@pytest.mark.parametrize("name", sorted(set(sr.library.MECHANISMS) - {*SINGULAR_AT_START, *BY_LOAD}))
def test_library(name: str) -> None:
    mech = sr.library.MECHANISMS[name]()
    q, v, u = moving(mech)
    outputs = [*mech.names, *(f"lam.{name}" for name in mech.row_names)]
    analytic, dual = (sr.linearize(mech, q, v, u, outputs=outputs, method=m) for m in ("analytic", "dual"))
    rounding = 1e-15 * float(np.linalg.cond(mech.mass_matrix(q)))  # both solve with M
    assert_same(analytic, dual, 1e-12 + rounding)


@pytest.mark.parametrize("name", ["bennett", "loader", "rolling_disk", "pantograph_leg", "stewart"])
def test_library_by_differences(name: str) -> None:
    mech = sr.library.MECHANISMS[name]()
    q, v, u = moving(mech)
    analytic, differences = (sr.linearize(mech, q, v, u, method=m) for m in ("analytic", "finite_difference"))
    assert_same(analytic, differences, 1e-8)


def test_custom_rows_by_differences_only() -> None:
    spec = sr.MechanismSpec(gravity=(0, -9.81, 0))
    spec.body("bob", joint=sr.Planar("z"), mass=1.0, inertia=(1e-3, 1e-3, 1e-3))
    spec.constrain("rod", sr.CustomConstraint(lambda q, t: np.array([np.hypot(q[0], q[1]) - 0.5]), 1))
    spec.constrain("upright", sr.Coupling({"bob.angle": 1.0}))
    mech = spec.compile()
    with pytest.raises(sr.InputError, match=r"'rod' \(CustomConstraint\).*method=\"finite_difference\""):
        sr.linearize(mech, [0.0, -0.5, 0.0])
    model = sr.linearize(mech, [0.0, -0.5, 0.0], method="finite_difference", independent=["bob.x"])
    assert model.natural_frequencies == pytest.approx([np.sqrt(9.81 / 0.5)] * 2, rel=1e-7)
    found = sr.equilibrium(mech, [0.2, -0.4, 0.0])
    np.testing.assert_allclose(found.q, [0.0, -0.5, 0.0], atol=1e-9)
    assert found.stable and "finite differences" in found.message


def test_mechanism_derivatives_in_batches() -> None:
    mech = sr.library.dual_arm()
    q, v, u = moving(mech)
    many = mech.derivatives(np.stack([q, q]), np.stack([v, v]), u=u)
    one = mech.derivatives(q, v, u=u, method="dual")
    assert many.a_q.shape == (2, 14, 14) and one.lam_v.shape == (6, 14)
    tangent = sr.linearize(mech, q, v, u).lift
    for part in ("a", "lam"):
        for d in (many[0], many[1]):
            got = getattr(d, f"{part}_q") @ tangent[:14] + getattr(d, f"{part}_v") @ tangent[14:]
            want = getattr(one, f"{part}_q") @ tangent[:14] + getattr(one, f"{part}_v") @ tangent[14:]
            assert relative(got, want) < 1e-12


@pytest.mark.parametrize("name", ["bennett", "bricard", "sarrus", "scott_russell"])
def test_multipliers_of_dependent_rows_turn_in_the_kernel(name: str) -> None:
    mech = sr.library.MECHANISMS[name]()
    q, v, _ = moving(mech)
    tau = np.random.default_rng(2).normal(size=mech.nv)
    kernel = mech.evaluator.kernel
    states = q[None], v[None], tau[None], np.zeros((1, 0, 3)), np.zeros((1, 0, 3 + mech.nv))
    analytic, dual = (kernel.derivatives(*states, by_duals) for by_duals in (False, True))
    assert analytic[3][0] == dual[3][0] < mech.nc
    lift = sr.linearize(mech, q, v, tau=tau).lift
    dq, dv = lift[: mech.nv], lift[mech.nv :]
    for mine, theirs in zip(analytic[:2], dual[:2], strict=True):
        along = [x[0, 0] @ dq + x[0, 1] @ dv for x in (mine, theirs)]
        assert relative(*along) < 1e-12
        assert relative(mine[0, 2], theirs[0, 2]) < 1e-12


@pytest.mark.parametrize("name", ["dual_arm", "bennett", "loader", "double_pendulum"])
def test_one_state_and_many_give_the_same_bits(name: str) -> None:
    mech = sr.library.MECHANISMS[name]()
    q, v, _ = moving(mech)
    tau = np.random.default_rng(4).normal(size=mech.nv)
    one, many = mech.derivatives(q, v, tau), mech.derivatives(q[None], v[None], tau[None])
    for part in ("a", "lam", "Jv_q"):
        np.testing.assert_array_equal(getattr(one, part), getattr(many, part)[0])
        assert getattr(one, part).flags.writeable
    assert one.rank == many.rank[0] and isinstance(one.rank, int)


def test_without_multipliers_nothing_else_changes() -> None:
    mech = sr.library.bennett()
    q, v, _ = moving(mech)
    states = q[None], v[None], v[None], np.zeros((1, 0, 3)), np.zeros((1, 0, 3 + mech.nv))
    for dual in (False, True):
        full, less = (mech.evaluator.kernel.derivatives(*states, dual, wanted) for wanted in (True, False))
        assert less[1].shape == (1, 3, 0, mech.nv)
        for i in (0, 2, 3, 4):
            np.testing.assert_array_equal(full[i], less[i])


def test_derivatives_take_what_other_calls_take() -> None:
    for mech in (sr.library.dual_arm(), sr.library.chain_mail(2)):  # the second one with quaternions
        q, v, _ = moving(mech)
        expected = mech.derivatives(q, v, v)
        for same in (list(q), np.repeat(q, 2)[::2]):
            np.testing.assert_array_equal(mech.derivatives(same, v, v).a, expected.a)
        batch = mech.derivatives(np.stack([q, q]), np.stack([v, v]), np.stack([v, v]))
        for part in ("a", "lam", "Jv_q"):
            np.testing.assert_array_equal(getattr(batch, part)[1], getattr(expected, part))
        np.testing.assert_array_equal(mech.derivatives(q, v).a, mech.derivatives(q, v, 0.0 * v).a)
        with pytest.raises(sr.SarrusError, match="finite"):
            mech.derivatives(np.full_like(q, np.nan), v, v)
        with pytest.raises(sr.SarrusError, match="q"):
            mech.derivatives(q[:-1], v, v)
