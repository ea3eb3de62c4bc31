"""Ways out of a pose: the tangent cone, its pieces, and motions that start on them."""

from __future__ import annotations

import numpy as np
import pytest

import sarrus as sr
from sarrus.projection.tangent_cone import components, independent_forms

FLAT = np.array([-0.5, 0.5]) * np.pi


def flat(n: int) -> tuple[sr.Mechanism, np.ndarray]:
    """The N-four-bar with all links on the base line."""
    return sr.library.n_four_bar(n), np.append(np.tile(FLAT, n), FLAT[0])


def admissible(mech: sr.Mechanism, q: np.ndarray, v: np.ndarray) -> tuple[float, float]:
    """|J v| and the part of gamma across the range of J, both zero for a direction of the cone."""
    terms = mech.terms(q, v)
    U, s, _ = np.linalg.svd(terms.J)
    lost = U[:, int(np.sum(s > 1e-9)) :]
    return float(np.abs(terms.J @ v).max()), float(np.abs(lost.T @ terms.gamma).max(initial=0.0))


def test_a_regular_pose_has_one_branch() -> None:
    for mech in (sr.library.four_bar(), sr.library.bricard(), sr.library.stewart()):
        (branch,) = mech.branches()
        assert branch.mobility == mech.mobility().dof == branch.tangent.shape[1]
        assert not branch.curved and branch.two_sided


def test_slider_crank_at_its_toggle() -> None:
    """Two lines: the slider moves on, or both links turn together over a slider that stands still."""
    mech, q = sr.library.slider_crank(), np.array([np.pi / 2, np.pi])
    found = {tuple(np.round(b.direction / b.direction[0], 9)): b for b in mech.branches(q)}
    assert set(found) == {(1.0, -2.0), (1.0, 0.0)}
    assert all(b.mobility == 1 and b.two_sided and not b.curved for b in found.values())


@pytest.mark.parametrize("n", [1, 2, 3])
def test_n_four_bar_lying_flat(n: int) -> None:
    """n + 1 motions: uprights up to some number stay down, all others rise together."""
    mech, q = flat(n)
    assert mech.mobility(q).dof == n + 1
    found = mech.branches(q)
    patterns = set()
    for branch in found:
        assert branch.mobility == 1
        assert max(admissible(mech, q, branch.direction)) < 1e-9
        uprights = branch.direction[::2]
        patterns.add(tuple(np.abs(np.round(uprights / np.abs(uprights).max(), 6))))
    assert patterns == {(0.0,) * k + (1.0,) * (n + 1 - k) for k in range(n + 1)}


def test_five_bar_stretched_has_a_curved_cone() -> None:
    mech = sr.library.five_bar()
    (branch,) = mech.branches()
    assert branch.curved and branch.mobility == 2 and mech.mobility().dof == 3
    assert len(branch.directions) > 10
    for direction in branch.directions:
        assert max(admissible(mech, mech.default.q, direction)) < 1e-9
    assert np.linalg.matrix_rank(branch.directions, tol=1e-3) == 3


def test_parallelogram_folded() -> None:
    mech = sr.library.parallelogram()
    found = mech.branches([0.0, 0.0, 0.0])
    assert sorted(b.mobility for b in found) == [1, 1]


def test_a_cusp_is_left_on_one_side_only() -> None:
    """phi = y^2 - x^3: the cone is the line y = 0, but only x > 0 can be reached."""
    spec = sr.MechanismSpec(gravity=(0.0, 0.0, 0.0), length=1.0)
    spec.body("x", joint=sr.Prismatic("x"), mass=1.0)
    spec.body("y", parent="x", joint=sr.Prismatic("y"), mass=1.0)
    spec.constrain("cusp", sr.CustomConstraint(lambda q, t: [q[1] ** 2 - q[0] ** 3], 1))
    (branch,) = spec.compile().branches([0.0, 0.0])
    assert branch.mobility == 1 and not branch.two_sided
    np.testing.assert_allclose(branch.direction, [1.0, 0.0], atol=1e-6)


def test_an_isolated_point_cannot_be_left() -> None:
    """phi = x^2 + y^2: a double row that nothing satisfies nearby."""
    spec = sr.MechanismSpec(gravity=(0.0, 0.0, 0.0), length=1.0)
    spec.body("x", joint=sr.Prismatic("x"), mass=1.0)
    spec.body("y", parent="x", joint=sr.Prismatic("y"), mass=1.0)
    spec.constrain("point", sr.CustomConstraint(lambda q, t: [q[0] ** 2 + q[1] ** 2], 1))
    assert spec.compile().branches([0.0, 0.0]) == ()


def test_paths_stay_closed_and_on_their_branch() -> None:
    mech, q = flat(2)
    for branch in mech.branches(q):
        for reach in (0.8, -0.8):
            path = branch.path(reach, 9)
            assert path.shape == (9, 5)
            assert max(mech.assemble(pose).residual for pose in path) < 1e-10
            moved = path[-1] - q
            along = np.sign(reach) * moved @ branch.direction / np.linalg.norm(moved)
            assert along > 0.99


def test_a_simulation_starts_on_the_branch_that_was_chosen() -> None:
    mech, q = sr.library.slider_crank(gravity=0.0), np.array([np.pi / 2, np.pi])
    for branch in mech.branches(q):
        run = sr.simulate(mech, (0.0, 0.5), q, 2.0 * branch.direction)
        moved = run.q[-1] - q
        assert abs(moved @ branch.direction) / np.linalg.norm(moved) > 0.999
        assert np.ptp(run.energy) < 1e-6
        assert run.drift.max() < 1e-12
    mech, q = flat(2)
    for branch in mech.branches(q):
        run = sr.simulate(mech, (0.0, 0.2), q, 3.0 * branch.direction)
        assert run.drift.max() < 1e-12 and np.ptp(run.energy) < 1e-3


def test_open_poses_are_refused() -> None:
    with pytest.raises(sr.InputError, match=r"branches need a pose on the constraints.*assemble"):
        sr.library.four_bar().branches([0.1, 0.2, 0.3])


class TestCone:
    """Forms with known zeros."""

    def test_no_forms(self) -> None:
        (piece,) = components(np.zeros((0, 3, 3)))
        assert piece.tangent.shape == (3, 3)

    def test_definite(self) -> None:
        assert components(np.eye(2)[None]) == []

    def test_two_planes(self) -> None:
        pieces = components(independent_forms(np.diag([1.0, -4.0, 0.0])[None]))
        assert [piece.tangent.shape for piece in pieces] == [(3, 2), (3, 2)]
        assert not any(piece.curved for piece in pieces)

    def test_dependent_forms_count_once(self) -> None:
        Q = np.diag([1.0, -1.0, 0.5])
        assert len(independent_forms(np.array([Q, 2.0 * Q, np.zeros((3, 3))]))) == 1

    def test_four_lines(self) -> None:
        """x^2 = z^2, y^2 = z^2."""
        forms = np.array([np.diag([1.0, 0.0, -1.0]), np.diag([0.0, 1.0, -1.0])])
        pieces = components(independent_forms(forms))
        lines = {tuple(np.round(p.directions[0] / p.directions[0][2], 6)) for p in pieces}
        assert lines == {(1.0, 1.0, 1.0), (1.0, -1.0, 1.0), (-1.0, 1.0, 1.0), (-1.0, -1.0, 1.0)}

    def test_a_plane_and_a_line(self) -> None:
        """x y = 0 and x z = 0: the plane x = 0, and the line y = z = 0."""
        xy, xz = np.zeros((3, 3)), np.zeros((3, 3))
        xy[0, 1] = xy[1, 0] = xz[0, 2] = xz[2, 0] = 1.0
        pieces = components(independent_forms(np.array([xy, xz])))
        assert sorted(piece.tangent.shape[1] for piece in pieces) == [1, 2]

    def test_curved_pieces_that_cross(self) -> None:
        """In four dimensions, x w = 0 and a cone: one in x = 0, one in w = 0, two lines in common."""
        xw = np.zeros((4, 4))
        xw[0, 3] = xw[3, 0] = 1.0
        pieces = components(independent_forms(np.array([xw, np.diag([1.0, 1.0, -1.0, 1.0])])))
        assert pieces and all(piece.curved for piece in pieces)
        found = np.vstack([piece.directions for piece in pieces])
        assert np.abs(found[:, 0] * found[:, 3]).max() < 1e-9
        assert np.linalg.matrix_rank(found, tol=0.1) == 4
