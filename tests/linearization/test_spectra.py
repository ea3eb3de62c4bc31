"""Eigenvalues: independent of the coordinates at an equilibrium, zeros counted, known frequencies met."""

from __future__ import annotations

import numpy as np
import pytest

import sarrus as sr

from .mechanisms import redundant_pendulum, relative

G = 9.81
HANGING = [-1.5, 1.5, -1.5]


def sorted_spectrum(model: sr.LinearModel) -> np.ndarray:
    values = model.eigenvalues
    return values[np.lexsort((np.round(values.real, 6), np.round(values.imag, 6)))]


@pytest.mark.parametrize(("section", "omega"), [(0.1, 4.28508), (0.0, 4.28879)])
def test_parallelogram_oscillates_in_two_states(section: float, omega: float) -> None:
    """Case U2."""
    mech = sr.library.parallelogram(section=section)
    rest = sr.equilibrium(mech, HANGING)
    assert rest.stable and rest.residual < 1e-12
    for name in mech.names:
        model = sr.linearize(mech, rest.q, independent=[name])
        assert model.A.shape == (2, 2) and model.names == (f"q.{name}", f"v.{name}")
        np.testing.assert_allclose(model.natural_frequencies, omega, atol=6e-6)
        np.testing.assert_allclose(model.eigenvalues.real, 0.0, atol=1e-12)


def test_no_artefacts_whatever_closes_the_loop() -> None:
    """Case U12: the same minimal model from 2, 3 and 5 rows, without poles that come from constraints."""
    models = []
    for closure in ("pin", "point", "revolute"):
        mech = sr.library.parallelogram(closure=closure)
        rest = sr.equilibrium(mech, HANGING)
        models.append(sr.linearize(mech, rest.q, independent=["left"], outputs=["right", "pose.coupler"]))
    for other in models[1:]:
        for name in "ABCD":
            assert relative(getattr(other, name), getattr(models[0], name)) < 1e-12


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_pendulum_in_redundant_coordinates(sign: float) -> None:
    length = 0.8
    mech = redundant_pendulum(length)
    model = sr.linearize(mech, [0.0, sign * length, 0.0])
    assert model.independent == ("bob.x",)
    np.testing.assert_allclose(model.eigenvalues**2, sign * G / length, rtol=1e-12)
    found = sr.equilibrium(mech, [0.05, sign * length, 0.0])
    assert found.stable is (sign < 0)
    assert found.message.startswith("Stable" if sign < 0 else "Unstable")


@pytest.mark.parametrize("name", ["loader", "bricard", "delta", "pantograph_leg", "three_rrr"])
def test_spectrum_does_not_depend_on_coordinates(name: str) -> None:
    """[Spencer2004] theorems 4.1.1, 4.1.2: at an equilibrium, with 2 rank zeros more in the full form."""
    mech = sr.library.MECHANISMS[name]()
    rest = sr.equilibrium(mech)
    first = sr.linearize(mech, rest.q)
    rng = np.random.default_rng(1)
    for _ in range(3):
        names = rng.permutation(mech.names).tolist()
        good = sr.linearize(mech, rest.q, independent=chosen(mech, rest.q, names))
        np.testing.assert_allclose(sorted_spectrum(good), sorted_spectrum(first), atol=1e-7)
    for independent in (None, first.independent):
        full = sr.linearize(mech, rest.q, form="full", independent=independent)
        assert full.A.shape == (2 * mech.nv, 2 * mech.nv)
        values = np.abs(full.eigenvalues)
        assert np.sum(values < 1e-6 * values.max()) == 2 * mech.mobility(rest.q).rank
        nonzero = full.eigenvalues[values >= 1e-6 * values.max()]
        np.testing.assert_allclose(np.sort(np.abs(nonzero)), np.sort(np.abs(first.eigenvalues)), rtol=1e-7)
    descriptor = sr.linearize(mech, rest.q, form="descriptor")
    np.testing.assert_allclose(sorted_spectrum(descriptor), sorted_spectrum(first), atol=1e-6)


def chosen(mech: sr.Mechanism, q: np.ndarray, names: list[str]) -> list[str]:
    """The first of these names that are independent."""
    J = mech.terms(q, np.zeros(mech.nv)).J
    N = sr.decompose(J, rank=mech.mobility(q).rank).N
    kept: list[int] = []
    for i in map(mech.names.index, names):
        if np.linalg.svd(N[[*kept, i]], compute_uv=False)[-1] > 0.05:
            kept.append(i)
        if len(kept) == N.shape[1]:
            break
    return [mech.names[i] for i in kept]


def test_away_from_equilibrium_the_spectrum_depends_on_coordinates() -> None:
    mech = sr.library.loader()
    one, other = (
        sr.linearize(mech, independent=names).eigenvalues
        for names in (["boom", "bucket"], ["lift_rod", "tilt_rod"])
    )
    assert np.max(np.abs(one - other)) > 1e-3


def test_next_to_a_singular_pose() -> None:
    mech = sr.library.five_bar()
    with pytest.raises(sr.SingularConstraintError, match=r"singular \(rank 1 here, more nearby\)"):
        sr.linearize(mech)
    near = mech.assemble(mech.default.q + np.array([0.0, 1e-4, 2e-4, 0.0])).q
    model = sr.linearize(mech, near)
    dual = sr.linearize(mech, near, method="dual")
    assert np.all(np.isfinite(model.A)) and len(model.names) == 4
    assert relative(model.A, dual.A) < 1e-6  # both lose digits to the condition of the pose


def test_rolling_disc_stays_up_when_fast_enough() -> None:
    """A thin disc that rolls upright is stable where its spin exceeds sqrt(g / (3 r)).

    The body frame spins with the disc; in a frame that does not, A gains the generator of the spin.
    """
    mech = sr.library.rolling_disk()
    disc = mech.model.element_parameters(0)
    radius, axis = float(disc["radius"][0]), disc["axis"]
    q, spin = upright(mech, axis, radius)
    limit = np.sqrt(G / (3 * radius))
    for speed, stable in ((0.8 * limit, False), (1.2 * limit, True)):
        v = mech.consistent_velocity(q, speed * spin)
        model = sr.linearize(mech, q, v, form="full")
        assert len(model.names) == 12 and model.order == 8
        whole = model.A + np.kron(np.eye(2), generator(v[3:]))
        assert (np.max(np.linalg.eigvals(whole).real) < 1e-6 * speed) == stable


def upright(mech: sr.Mechanism, axis: np.ndarray, radius: float) -> tuple[np.ndarray, np.ndarray]:
    """A pose with the disc's axis along y, and the velocity of spinning about it at 1 rad/s."""
    from scipy.spatial.transform import Rotation

    turn = Rotation.align_vectors([[0.0, 1.0, 0.0]], [axis])[0]
    q = np.concatenate([[0.0, 0.0, radius], turn.as_quat()])
    assert np.max(np.abs(mech.terms(q, np.zeros(6)).phi)) < 1e-12
    world = np.array([radius, 0.0, 0.0])
    return q, np.concatenate([turn.inv().apply(world), axis])


def generator(w: np.ndarray) -> np.ndarray:
    """ad of a pure turn on twists [linear; angular]."""
    hat = np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
    return np.kron(np.eye(2), hat)
