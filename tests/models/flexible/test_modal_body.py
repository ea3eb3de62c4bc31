"""Modal bodies: finite elements by matrices and files, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy import io, sparse

import sarrus as sr
from tests.oracles.beam_elements import beam_matrices

Array = npt.NDArray[np.float64]
SECTION = {"E": 2e11, "G": 8e10, "rho": 7800.0, "A": 6e-4, "Iy": 4.5e-8, "Iz": 2e-8, "J": 4.7e-8}
M, K, NODES = beam_matrices(10, 1.0, **SECTION)


def part(**changed: Any) -> sr.ModalBody:
    given: dict[str, Any] = {"M": M, "K": K, "nodes": NODES, "interface": [0, 10]} | changed
    return sr.ModalBody(**given)


def clamped(body: sr.ModalBody) -> sr.Mechanism:
    return sr.MechanismSpec().flexible("part", "ground", body).compile()


def test_frequencies_are_those_of_the_matrices() -> None:
    from scipy.linalg import eigh

    exact = np.sqrt(eigh(K[6:, 6:], M[6:, 6:], eigvals_only=True))[:4]
    found = part(modes=16).cut()[0].constants.frequencies[:4]
    np.testing.assert_allclose(found, exact, rtol=2e-4)
    every = part(modes=54).cut()[0].constants.frequencies[:4]
    np.testing.assert_allclose(every, exact, rtol=1e-9)


def test_three_interfaces_bend_as_the_matrices_do() -> None:
    """Forces at two of them, the third one clamped: the static deflection of the whole model."""
    load = np.zeros(66)
    load[[31, 32, 61, 62, 63]] = 3e-4, -2e-4, 1e-4, 4e-4, 5e-5
    exact = np.linalg.solve(K[6:, 6:], load[6:])
    spec = sr.MechanismSpec(gravity=(0, 0, 0)).flexible("part", "ground", part(interface=[0, 5, 10], modes=2))
    for node, k in (("part.5", 30), ("part.10", 60)):
        wrench = load[k : k + 6]
        spec.force(f"load {node}", sr.ConstantWrench(node, tuple(wrench)))
    mech = spec.compile()
    rest = sr.equilibrium(mech)
    place = mech.pose(rest.q, "part.10").xyz - (1.0, 0.0, 0.0)
    np.testing.assert_allclose(place, exact[54:57], atol=1e-12)
    np.testing.assert_allclose(mech.pose(rest.q, "part.5").xyz - (0.5, 0, 0), exact[24:27], atol=1e-12)


def test_solid_elements_need_groups_of_nodes() -> None:
    """A truss of nodes that do not turn, held by three of them."""
    nodes = np.array(
        [(0.1 * k, 0.05 * np.cos(2 * j), 0.05 * np.sin(2 * j)) for k in range(4) for j in range(3)]
    )
    stiff = np.zeros((36, 36))
    for i in range(12):
        for j in range(i):
            r = nodes[j] - nodes[i]
            at = [*range(3 * i, 3 * i + 3), *range(3 * j, 3 * j + 3)]
            stiff[np.ix_(at, at)] += 1e6 * np.kron([[1, -1], [-1, 1]], np.outer(r, r) / (r @ r))
    mass = 0.1 * np.eye(36)
    body = sr.ModalBody(mass, stiff, nodes, {"root": [0, 1, 2], "tip": (9, 10, 11)}, modes=18)
    mech = clamped(body)
    assert mech.names[-1] == "part.tip.rz" and mech.nv == 24
    found = body.cut()[0].constants
    assert found.mass == pytest.approx(1.2)
    np.testing.assert_allclose(found.first, 0.1 * nodes.sum(axis=0), atol=1e-12)
    with pytest.raises(sr.InputError, match="three nodes or more that are not on a line"):
        sr.ModalBody(mass, stiff, nodes, [0, 11])


@pytest.mark.parametrize("kind", ["npy", "npz", "mtx"])
def test_files_of_matrices(kind: str, tmp_path: Path) -> None:
    paths = [tmp_path / f"{name}.{kind}" for name in "MK"]
    for path, matrix in zip(paths, (M, K), strict=True):
        if kind == "npy":
            np.save(path, matrix)
        elif kind == "npz":
            sparse.save_npz(path, sparse.csr_array(matrix))
        else:
            io.mmwrite(path, sparse.coo_array(matrix), precision=17)
    mine, plain = clamped(part(M=paths[0], K=str(paths[1]))), clamped(part())
    np.testing.assert_allclose(
        mine.mass_matrix(mine.neutral()), plain.mass_matrix(plain.neutral()), atol=1e-9
    )


TILTED = K + 1e6 * np.diag(np.ones(66))
BAD = {
    "must have 3 or 6 rows": {"nodes": NODES[:-1]},
    "M of ModalBody must be symmetric": {"M": M + np.triu(M, 1)},
    "K of ModalBody must be positive semidefinite": {"K": -K},
    "M of ModalBody must be positive semidefinite": {"M": -M},
    "rigid-body modes of ModalBody are missing: K resists": {"K": TILTED},
    "interface '99' of ModalBody names node 99, and its nodes are 0 to 10": {"interface": [0, 99]},
    "two nodes or more with different names": {"interface": [0]},
    "belongs to the interfaces": {"interface": {"a": 0, "b": 0}},
    "must be square": {"M": M[:-1]},
    "must be finite": {"M": np.where(M > 0.1, np.nan, M)},
    "must be places": {"nodes": NODES[:, :2]},
    "cannot be read": {"M": "nowhere.npy"},
    "must be a file .npy, .npz, .mtx": {"M": "model.op2"},
    "modes of ModalBody must be at most": {"modes": 60},
    "numbers of nodes, or a mapping": {"interface": 3},
    "must have mass": {"M": 0.0 * M},
}


@pytest.mark.parametrize("message", BAD)
def test_refused(message: str) -> None:
    with pytest.raises(sr.InputError, match=message.split("[")[0]):
        part(**BAD[message]).cut()


def test_two_parts_that_are_not_connected() -> None:
    far = NODES + np.array((0.0, 1.0, 0.0))
    both = np.kron(np.eye(2), M), np.kron(np.eye(2), K), np.vstack([NODES, far])
    with pytest.raises(sr.InputError, match="K leaves one free: is it one connected part"):
        sr.ModalBody(*both, [0, 10, 11, 21], modes=2).cut()


def test_a_word_about_units() -> None:
    with pytest.warns(sr.SarrusWarning, match="rad/s, above 1e\\+07: are all numbers in SI units"):
        clamped(part(M=1e-9 * M))
