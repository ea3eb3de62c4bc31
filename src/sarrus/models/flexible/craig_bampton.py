"""Reduction of a finite-element model to deflections of its interface nodes and fixed-interface modes.

With u = T q_b + S q_i, T the motion that interface nodes impose and S all other freedoms, [Craig1968]:

    u = (T - S K_ii^-1 K_ib) q_b + S Phi eta,     K_ii Phi = M_ii Phi w^2                               (1)

The first interface node stands still in the floating frame. Constants of second order in the deflections
(centrifugal and Coriolis forces) take masses at the nodes where these have rotations.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ...arrays import Array
from ...errors import InputError
from .deflections import Deflections, crossed, moments, skew

DEFINITE = 1e-10  # of the largest diagonal entry: what is more negative is


@dataclass(frozen=True, eq=False)
class FiniteElements:
    """Sparse M and K of nodes (N, 3) with `width` freedoms each, and the nodes of each interface."""

    M: Any
    K: Any
    nodes: Array
    width: int
    interface: tuple[tuple[int, ...], ...]

    @cached_property
    def rigid(self) -> tuple[Array, Array]:
        """Displacements of all freedoms by unit translations and by unit turns about the origin, (n, 3)."""
        return self.rigid_about(np.zeros(3), range(len(self.nodes)))

    def rigid_about(self, p: Array, nodes: Any) -> tuple[Array, Array]:
        """The same of some nodes, about a point; zero elsewhere."""
        shape = (len(self.nodes), self.width, 3)
        move, turn = np.zeros(shape), np.zeros(shape)
        at = list(nodes)
        move[at, :3] = np.eye(3)
        turn[at, :3] = -skew(self.nodes[at] - p)
        if self.width == 6:
            turn[at, 3:] = np.eye(3)
        return move.reshape(-1, 3), turn.reshape(-1, 3)

    def centre(self, k: int) -> Array:
        """Where interface k stands: the mean of its nodes (3,)."""
        return np.asarray(self.nodes[list(self.interface[k])].mean(axis=0))

    @cached_property
    def imposed(self) -> Array:
        """T of (1): displacements by each interface but the first, relative to the one before, (n, 6 k)."""
        own = [np.hstack(self.rigid_about(self.centre(k), group)) for k, group in enumerate(self.interface)]
        columns = []
        for k in range(1, len(own)):
            column = own[k].copy()
            for later in range(k + 1, len(own)):
                column += own[later] @ _carried(self.centre(later) - self.centre(k))
            columns.append(column)
        return np.hstack(columns)

    @cached_property
    def free(self) -> Any:
        """Freedoms of all nodes that belong to no interface."""
        held = {node for group in self.interface for node in group}
        inner = [node for node in range(len(self.nodes)) if node not in held]
        return (np.array(inner, dtype=int)[:, None] * self.width + np.arange(self.width)).ravel()


def _carried(r: Array) -> Array:
    """Displacement and turn at a point r away by those at a point, (6, 6)."""
    found = np.eye(6)
    found[:3, 3:] = -skew(r)
    return found


def reduced(fem: FiniteElements, modes: int) -> Deflections:
    """Constants of `modes` modes, then six deflections of each interface node but the first, by (1)."""
    Phi = _shapes(fem, modes)
    move, turn = fem.rigid
    M_move, M_turn, M_Phi = fem.M @ move, fem.M @ turn, fem.M @ Phi
    mass = float(np.trace(move.T @ M_move)) / 3.0
    cross = move.T @ M_turn  # = -[first moment]
    n = Phi.shape[1]
    d = Phi.reshape(len(fem.nodes), fem.width, n)[:, :3].transpose(0, 2, 1)  # (nodes, n, 3)
    weights = _mass_of_nodes(fem)
    heavy = (weights @ d.reshape(len(d), -1)).reshape(d.shape)
    P0 = np.einsum("ai,akj->kij", fem.nodes, heavy)
    P = np.einsum("aki,alj->klij", d, heavy)
    K, M = Phi.T @ (fem.K @ Phi), Phi.T @ M_Phi
    return Deflections(
        mass=mass,
        first=0.5 * crossed(cross),
        inertia=turn.T @ M_turn,
        s=(move.T @ M_Phi).T,
        c=(turn.T @ M_Phi).T,
        J=moments(P0 + np.swapaxes(P0, 1, 2)),
        M=0.5 * (M + M.T),
        K=0.5 * (K + K.T),
        D=np.zeros((n, n)),
        s2=np.zeros((n, n, 3)),
        c2=np.swapaxes(crossed(P), 0, 1),
        J2=moments(P + np.swapaxes(P, 0, 1)),
    )


def _mass_of_nodes(fem: FiniteElements) -> Any:
    """Mass matrix (N, N) of displacements along one axis; of nodes with rotations its sums by rows."""
    from scipy import sparse

    axes = [fem.M[c :: fem.width][:, c :: fem.width] for c in range(3)]
    mean = (axes[0] + axes[1] + axes[2]) / 3.0
    return mean if fem.width == 3 else sparse.diags(np.asarray(mean.sum(axis=1)).ravel()).tocsr()


def _shapes(fem: FiniteElements, modes: int) -> Array:
    """Modes, then deflections by interface nodes, on all freedoms (n, modes + 6 each)."""
    from scipy.sparse.linalg import splu

    free, T = fem.free, fem.imposed
    if modes > len(free):
        raise InputError(f"modes of ModalBody must be at most its {len(free)} inner freedoms, got {modes}.")
    inner = np.zeros((fem.K.shape[0], modes))
    found = T.copy()
    if len(free):
        K_ii = fem.K[free][:, free].tocsc()
        solver = splu(K_ii)
        found[free] -= solver.solve(np.asarray((fem.K @ T)[free]))
        inner[free] = _modes(K_ii, fem.M[free][:, free].tocsc(), solver, modes)
    return np.hstack([inner, found])


def _modes(K: Any, M: Any, solver: Any, modes: int) -> Array:
    """The lowest fixed-interface modes (n, modes), scaled to the largest displacement 1."""
    from scipy.linalg import eigh
    from scipy.sparse.linalg import LinearOperator, eigsh

    if modes == 0:
        return np.zeros((K.shape[0], 0))
    if 2 * modes + 2 >= K.shape[0]:
        shapes = eigh(M.toarray(), K.toarray())[1][:, ::-1][:, :modes]
    else:
        inverse = LinearOperator(K.shape, solver.solve)
        start = np.cos(np.arange(K.shape[0]))  # the same modes whenever they are asked for
        squares, shapes = eigsh(M, modes, M=K, Minv=inverse, which="LA", v0=start, tol=1e-13)
        shapes = shapes[:, np.argsort(-squares)]
    return np.asarray(shapes / np.abs(shapes).max(axis=0))


def is_negative(matrix: Any) -> bool:
    """Whether a symmetric sparse matrix has an eigenvalue clearly below zero, by its pivots."""
    from scipy import sparse
    from scipy.sparse.linalg import splu

    size = float(abs(matrix.diagonal()).max(initial=0.0)) or 1.0
    shifted = (matrix + DEFINITE * size * sparse.identity(matrix.shape[0])).tocsc()
    try:
        factor = splu(
            shifted, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
        )
    except RuntimeError:  # an exact zero pivot of an indefinite matrix
        return True
    return bool((factor.U.diagonal() < 0.0).any())
