"""Beams as reduced: frequencies of Euler-Bernoulli and Timoshenko beams, and consistent finite elements."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from scipy.linalg import expm
from scipy.optimize import brentq

import sarrus as sr
from sarrus.models.base.pose import Pose
from tests.oracles.beam_elements import beam_matrices

Array = npt.NDArray[np.float64]
E, RHO, L = 2e11, 7800.0, 1.0


def constants(**options: object) -> sr.models.flexible.deflections.Deflections:  # type: ignore[name-defined]
    given = {"width": 0.02, "height": 0.03, "youngs_modulus": E, "density": RHO} | options
    return sr.Beam((0, 0, 0), (L, 0, 0), **given).cut()[0].constants  # type: ignore[arg-type]


def roots(function: object, most: float, number: int) -> Array:
    """The first zeros of a function."""
    x = np.linspace(1e-3 * most, most, 4000)
    y = np.array([function(one) for one in x])  # type: ignore[operator]
    signs = np.flatnonzero(y[:-1] * y[1:] < 0.0)[:number]
    return np.array([brentq(function, x[i], x[i + 1], xtol=1e-13) for i in signs])


def test_euler_bernoulli_cantilever() -> None:
    """cos(x) cosh(x) = -1 in both planes; a rod's stretching and twisting."""
    x = roots(lambda z: np.cos(z) * np.cosh(z) + 1.0, 9.0, 2)
    A, twice = 0.02 * 0.03, (0.03 * 0.02**3 / 12, 0.02 * 0.03**3 / 12)
    exact = np.sort([z**2 * np.sqrt(E * I / (RHO * A)) for z in x for I in twice])
    found = constants(modes=12).frequencies
    np.testing.assert_allclose(found[:4], exact, rtol=1e-6)
    np.testing.assert_allclose(constants().frequencies[:2], exact[:2], rtol=1e-6)  # 6 modes
    # more modes converge faster than any power
    first = [constants(modes=n).frequencies[0] / exact[0] - 1.0 for n in (2, 4, 6)]
    assert first[0] > 30 * first[1] > 30 * 30 * first[2] > 0.0


def test_timoshenko_cantilever() -> None:
    """The boundary determinant of the Timoshenko equations, by a matrix exponential."""
    b, k = 0.1, 5.0 / 6.0
    A, I, G = b * b, b**4 / 12.0, E / 2.6

    def boundary(w: float) -> float:
        rates = np.array(
            [
                [0, 1, 0, 1 / (k * G * A)],
                [0, 0, 1 / (E * I), 0],
                [0, -RHO * I * w * w, 0, -1],
                [-RHO * A * w * w, 0, 0, 0],
            ]
        )
        return float(np.linalg.det(expm(rates * L)[2:, 2:]))

    exact = roots(boundary, 12000.0, 2)
    found = constants(width=b, height=b, shear_factor=k, modes=30).frequencies
    for w in exact:
        assert np.min(np.abs(found / w - 1.0)) < 1e-6


def test_constants_are_those_of_finite_elements() -> None:
    """Integrals of the deflections of the end, which cubic elements have exactly."""
    beam = sr.Beam((0, 0, 0), (L, 0, 0), width=0.02, height=0.03, youngs_modulus=E, density=RHO, modes=0,
                   stiffening=False)  # fmt: skip
    A, Iy, Iz, J = beam.geometry()
    M, K, nodes = beam_matrices(8, L, E=E, G=E / 2.6, rho=RHO, A=A, Iy=Iy, Iz=Iz, J=J)
    mine, theirs = (part.cut()[0].constants for part in (beam, sr.ModalBody(M, K, nodes, [0, 8], modes=0)))
    for name in ("mass", "first", "inertia", "s", "c", "M"):
        scale = np.max(np.abs(getattr(mine, name)))
        np.testing.assert_allclose(
            getattr(theirs, name), getattr(mine, name), atol=1e-9 * scale, err_msg=name
        )
    np.testing.assert_allclose(theirs.K, mine.K, atol=1e-9 * np.max(mine.K))
    for name in ("J", "c2", "J2"):  # with masses at the nodes
        scale = np.max(np.abs(getattr(mine, name)))
        np.testing.assert_allclose(
            getattr(theirs, name), getattr(mine, name), atol=0.03 * scale, err_msg=name
        )


def test_constants_in_another_frame() -> None:
    """There and back."""
    given, X = constants(modes=2), Pose((0.3, -0.2, 0.5), rpy=(0.4, 0.2, -0.7))
    back = given.moved(X).moved(X.inverse())
    for name in ("first", "inertia", "s", "c", "J", "s2", "c2", "J2"):
        np.testing.assert_allclose(getattr(back, name), getattr(given, name), atol=1e-11, err_msg=name)


def test_constants_by_points() -> None:
    """s, c, J and their second order are sums over points of a bent rod, by quadrature of the shapes."""
    given = constants(modes=0)
    xi, weights = np.polynomial.legendre.leggauss(12)
    x, w = 0.5 * (xi + 1.0), 0.5 * weights * RHO * 0.02 * 0.03
    q = np.array([0.0, 1e-3, 2e-3, 0.0, -3e-3, 4e-3])
    v = (3 * x**2 - 2 * x**3) * q[1] + (x**3 - x**2) * q[5]
    z = (3 * x**2 - 2 * x**3) * q[2] - (x**3 - x**2) * q[4]
    slope = lambda s, a, b: (6 * s - 6 * s * s) * a + (3 * s * s - 2 * s) * b  # noqa: E731
    square = lambda s: slope(s, q[1], q[5]) ** 2 + slope(s, q[2], -q[4]) ** 2  # noqa: E731
    whole = 0.5 * np.sum(0.5 * weights * square(x))
    partial = np.array([0.5 * np.sum(0.5 * s * weights * square(s * x)) for s in x])
    r = np.column_stack([x + x * whole - partial, v, z])
    first = w @ r
    np.testing.assert_allclose(
        given.first + q @ given.s + 0.5 * np.einsum("k,l,kli", q, q, given.s2), first, rtol=1e-12
    )
    J = np.einsum("g,gi,gj->ij", w, r, r)
    exact = np.trace(J) * np.eye(3) - J
    found = np.einsum("k,kij", q, given.J) + 0.5 * np.einsum("k,l,klij", q, q, given.J2)
    straight = np.zeros((3, 3))
    straight[1, 1] = straight[2, 2] = w @ x**2
    np.testing.assert_allclose(found, exact - straight, atol=5e-9)  # third order in q, 4e-3


@pytest.mark.parametrize("ratio", [0.0, 0.02])
def test_damping_is_a_part_of_critical_damping(ratio: float) -> None:
    given = constants(modes=3, damping=ratio)
    A = np.block([[np.zeros((9, 9)), np.eye(9)], [-np.linalg.solve(given.M, np.hstack([given.K, given.D]))]])
    poles = np.linalg.eigvals(A)
    np.testing.assert_allclose(-poles.real / np.abs(poles), ratio, atol=1e-7)
