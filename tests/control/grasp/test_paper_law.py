"""The law of [Lin2018] as printed, on arms without a body for the box, against ours with the box massless.

A twin in NumPy, eqs. (6), (9), (13)-(16): the constraint Jacobian of internal forces, its projection and the
operational space of the object. With gamma (1 - P) in M_c and r from the centre of mass, as the errata say.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from scipy.spatial.transform import Rotation

import sarrus as sr
from sarrus import control as sc
from sarrus.models.base.rotation import hat

from .held_box import held

Array = npt.NDArray[np.float64]

STIFFNESS = np.array([400.0, 600.0, 500.0, 40.0, 50.0, 60.0])
DAMPING = np.array([90.0, 80.0, 100.0, 8.0, 6.0, 7.0])
LIGHT = 1e-9  # of the box that stands for a massless one [kg]


class Paper:
    """The printed law of two arms; `q` and `v` are those of the whole mechanism, the box last."""

    def __init__(self, mech: sr.Mechanism) -> None:
        self.mech = mech
        self.grips = [closure for _, closure in mech.model.constraints]
        self.rest = mech.pose(mech.default.q, "box")

    def maps(self, q: Array) -> tuple[Array, Array]:
        """J_c (12, 14) of eq. (13), and J_x (6, 14): the twist of the box by those of the hands."""
        com = self.mech.pose(q, "box").xyz
        hands = [self.mech.jacobian(q, one.b, one.at_b.xyz)[:, :14] for one in self.grips]
        points = [(self.mech.pose(q, one.b) @ one.at_b).xyz for one in self.grips]
        G = np.hstack([np.block([[np.eye(3), np.zeros((3, 3))], [hat(p - com), np.eye(3)]]) for p in points])
        J = np.vstack(hands)
        return (np.eye(12) - np.linalg.pinv(G) @ G) @ J, np.linalg.pinv(G.T) @ J

    def projector(self, q: Array) -> Array:
        J_c = self.maps(q)[0]
        return np.asarray(np.eye(14) - np.linalg.pinv(J_c, rcond=1e-9) @ J_c)

    def tau(self, q: Array, v: Array) -> Array:
        """tau_u of eq. (16), with the terms of (6) and (9); nothing of the box but its place enters."""
        M = self.mech.mass_matrix(q)[:14, :14]
        h = self.mech.bias(q, v)[:14]
        ahead, back = (self.mech.integrate(q, s * 1e-6 * v) for s in (1.0, -1.0))
        P, J_x = self.projector(q), self.maps(q)[1]
        P_rate = (self.projector(ahead) - self.projector(back)) / 2e-6
        J_rate = (self.maps(ahead)[1] - self.maps(back)[1]) / 2e-6
        gamma = np.trace(M) / 14.0
        Y = J_x @ np.linalg.inv(P @ M + gamma * (np.eye(14) - P))
        inertia = np.linalg.inv(Y @ P @ J_x.T)
        h_c = inertia @ (Y @ (P @ h - gamma * P_rate @ v[:14]) - J_rate @ v[:14])
        place = self.mech.pose(q, "box")
        turn = Rotation.from_matrix(place.rotation @ self.rest.rotation.T).as_rotvec()
        error = np.append(place.xyz - self.rest.xyz, turn)
        F = h_c - DAMPING * (J_x @ v[:14]) - STIFFNESS * error
        return np.asarray(P @ J_x.T @ F)


def states() -> list[tuple[str, Array, Array]]:
    """Away from the reference, at rest and in motion."""
    mech, _ = held()
    rng = np.random.default_rng(5)
    N = sr.decompose(mech.terms(*mech.default).J).N
    near = mech.assemble(mech.integrate(mech.default.q, N @ rng.normal(size=N.shape[1]) * 1e-4)).q
    N = sr.decompose(mech.terms(near, np.zeros(mech.nv)).J).N
    return [("rest", near, np.zeros(mech.nv)), ("motion", near, 0.3 * N @ rng.normal(size=N.shape[1]))]


def boxed(plant: sr.Mechanism, q: Array, v: Array, u: Array) -> Array:
    """Acceleration (6,) of the box of a plant."""
    return np.asarray(plant.body_acceleration(q, v, plant.forward_dynamics(q, v, u=u).a, "box"))


@pytest.mark.parametrize(("name", "q", "v"), states(), ids=["rest", "motion"])
def test_a_massless_box_moves_as_the_paper_says(name: str, q: Array, v: Array) -> None:
    """Both laws give the box of a plant without mass the same acceleration, that of eq. (7)."""
    mech, grasp = held(least=0.0)
    plant = mech.with_(mass={"box": LIGHT}, inertia={"box": (LIGHT, LIGHT, LIGHT)})
    gains = {"stiffness": STIFFNESS, "damping": DAMPING, "error": "split"}
    law = sc.ObjectImpedance(mech, grasp, **gains, external=None, massless=True)
    ours, printed = law.solve(0.0, q, v).u, Paper(mech).tau(q, v)
    assert np.abs(ours - printed).max() > 1.0  # squeeze and elbows, which the box does not see
    a = boxed(plant, q, v, ours)
    assert np.abs(a[:3]).min() > 1e-4
    np.testing.assert_allclose(boxed(plant, q, v, printed), a, rtol=1e-3, atol=1e-6)


def test_why_the_box_of_the_paper_hangs_low() -> None:
    """Its weight is in neither M nor h of the printed law: the box falls from where it should be and comes to
    rest where the spring carries it, lower by weight / stiffness. With its inertia in the model it stays."""
    mech, grasp = held()
    rest, still = np.array(mech.default.q), np.zeros(mech.nv)
    paper, ours = Paper(mech), sc.ObjectImpedance(mech, grasp, stiffness=STIFFNESS, damping=DAMPING)
    weight = np.array([0.0, 0.0, -0.7 * 9.81, 0.0, 0.0, 0.0])
    falls = ours.solve(0.0, rest, still).mobility @ weight  # type: ignore[attr-defined]
    np.testing.assert_allclose(boxed(mech, rest, still, paper.tau(rest, still)), falls, atol=1e-6)
    assert falls[2] < -0.5
    np.testing.assert_allclose(boxed(mech, rest, still, ours.solve(0.0, rest, still).u), 0.0, atol=1e-9)
    law = sc.ObjectImpedance(mech, grasp, stiffness=STIFFNESS, massless=True, damping_ratio=1.0)
    low = sr.simulate(mech, (0.0, 3.0), control=law, control_dt=4e-3, dt=4e-3).q[-1]
    sag = mech.pose(low, "box").xyz[2] - mech.pose(rest, "box").xyz[2]
    assert sag == pytest.approx(weight[2] / STIFFNESS[2], rel=0.01)
    np.testing.assert_allclose(boxed(mech, low, still, paper.tau(low, still))[:3], 0.0, atol=0.01)
