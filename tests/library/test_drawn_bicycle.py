"""The bicycle of the library against the published benchmark [Meijaard2007]."""

from __future__ import annotations

import numpy as np
import pytest

import sarrus as sr

# [Meijaard2007] section 5, of (lean, steer): M q'' + v C1 q' + (g K0 + v^2 K2) q = 0
M = np.array([[80.81722, 2.31941332208709], [2.31941332208709, 0.29784188199686]])
C1 = np.array([[0.0, 33.86641391492494], [-0.85035641456978, 1.68540397397560]])
K0 = np.array([[-80.95, -2.59951685249872], [-2.59951685249872, -0.80329488458618]])
K2 = np.array([[0.0, 76.59734589573222], [0.0, 2.65431523794604]])
WEAVE, CAPSIZE = 4.29238253634111, 6.02426201538837  # [m/s], its section 6


def published(speed: float) -> np.ndarray:
    """The four eigenvalues by the published matrices."""
    lower = -np.linalg.solve(M, np.hstack([9.81 * K0 + speed**2 * K2, speed * C1]))
    A = np.vstack([np.hstack([np.zeros((2, 2)), np.eye(2)]), lower])
    return np.asarray(np.sort_complex(np.linalg.eigvals(A)))


def eigenvalues(speed: float) -> np.ndarray:
    """Those of the library's bicycle that are not zero: place, heading and wheel angles matter to nothing."""
    mech = sr.library.bicycle(speed=speed)
    found = sr.linearize(mech, mech.default.q, mech.default.v).eigenvalues
    return np.asarray(np.sort_complex(found[np.argsort(-np.abs(found))][:4]))


@pytest.mark.parametrize("speed", [0.0, 2.0, 5.0, 8.0])
def test_eigenvalues_of_the_benchmark(speed: float) -> None:
    np.testing.assert_allclose(eigenvalues(speed), published(speed), rtol=1e-9, atol=1e-9)


def test_printed_eigenvalues() -> None:
    """[Meijaard2007] table 2 at 0 and 5 m/s."""
    np.testing.assert_allclose(
        eigenvalues(0.0).real,
        [-5.530943717653934, -3.131643247906656, 3.131643247906656, 5.530943717653934],
        atol=1e-10,
    )
    weave = -0.775341882195845 + 4.464867713788229j
    expected = [-14.07838969279822, weave.conjugate(), weave, -0.322866429004087]
    np.testing.assert_allclose(eigenvalues(5.0), expected, atol=1e-9)


def test_it_is_stable_between_weave_and_capsize_speed() -> None:
    for speed, sign in ((WEAVE, 1), (CAPSIZE, -1)):
        below, above = (float(eigenvalues(speed + d).real.max()) for d in (-1e-6, 1e-6))
        assert sign * below > 0.0 > sign * above
    assert all(eigenvalues(speed).real.max() < 0.0 for speed in np.linspace(4.3, 6.0, 5))


def test_a_push_dies_out_or_grows() -> None:
    """The nonlinear motion: weave dies out at 5 m/s; at 3 m/s it grows; energy is kept."""
    largest = {}
    for speed in (3.0, 5.0):
        mech = sr.library.bicycle(speed=speed)
        rates = {"place.vx": speed, "place.wx": 0.1, "steering": 0.0}
        run = sr.simulate(
            mech, (0.0, 3.0), v0=mech.consistent_velocity(mech.default.q, fixed=rates), energy=True
        )
        assert run.success and np.ptp(run.energy) < 1e-6 * abs(run.energy[0])
        lean = np.abs(run["lean"])
        largest[speed] = lean[run.t > 2.0].max() / lean[run.t < 1.0].max()
    assert largest[5.0] < 0.5 and largest[3.0] > 2.0


def test_parameters_of_a_bicycle() -> None:
    """A vertical fork without trail: the front contact lies on its axis, so steering does not move it."""
    mech = sr.library.bicycle().with_(tilt=0.0, trail=0.0)
    turned = mech.assemble(mech.default.q, {"steering": 0.3})
    np.testing.assert_allclose(mech.measure(turned.q)["front"], [1.02, 0.0, 0.35], atol=1e-12)
    assert mech.measure(turned.q)["steer"] == pytest.approx(0.3, abs=1e-12)
    leaning = mech.integrate(mech.default.q, 0.1 * np.eye(mech.nv)[3])
    assert mech.measure(leaning)["lean"] == pytest.approx(0.1, abs=1e-12)  # about the line of the contacts
