"""Inertia of linkages as masses on the bodies of a tree, at the reference pose.

Pieces that a tree can carry: the mass of a linkage body at the points where something holds it and at its
centre, the body itself, each fixed to any body of the tree that it is linked to; and armature of joints. How
much of each, not less than nothing, is found by least squares (NNLS) in the metric of the mass matrix: the
tree then has, as nearly as such pieces can, the mass matrix and the gravity forces of the closed robot at the
reference pose. The masses of a
linkage body always add up to its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..arrays import Array
from ..models.tree.bodies import GROUND, Body
from .chain import Chain

USUAL = 10.0  # acceleration [rad/s^2], lengths divided by L: how errors of gravity and of inertia compare
WHOLE = 1e4  # weight of "masses add up" against forces of the same size


@dataclass(frozen=True)
class Piece:
    """Something rigid on a body of the tree.

    Attributes:
        owner: Body of the tree.
        source: Linkage body whose mass it is.
        mass: [kg].
        com: In the frame of the owner [m], (3,).
        inertia: About com in the frame of the owner [kg m^2], (3, 3).
    """

    owner: str
    source: str
    mass: float
    com: Array
    inertia: Array


@dataclass(frozen=True)
class Lumped:
    """What a tree gets.

    Attributes:
        bodies: Its bodies with their new masses, in order.
        armature: By coordinate [kg m^2, kg].
    """

    bodies: tuple[Body, ...]
    armature: dict[str, float]


class Lumping:
    """Finds the masses of a tree.

    Args:
        mech: The closed robot.
        chain: Bodies of the tree and of linkages.
        tree: The tree without linkages.
        q: Reference pose of the robot (nq,).
        q_s: That of the tree (nq_s,).
        N: v = N v_s of the robot there (nv, nv_s).
    """

    def __init__(self, mech: Any, chain: Chain, tree: Any, poses: tuple[Array, Array], N: Array) -> None:
        self.mech, self.chain, self.tree, self.N = mech, chain, tree, N
        self.q, self.q_s = poses
        self.gravity = np.asarray(mech.model.gravity)

    def lumped(self) -> Lumped:
        """The masses."""
        from scipy.optimize import nnls

        pieces = list(self._pieces())
        single = [k for k, i in enumerate(self.tree.model.coordinate_q) if i >= 0]
        sources = list(dict.fromkeys(one.source for one in pieces))
        columns = [self._effect(one) for one in pieces] + [self._armature(k) for k in single]
        wanted = self._wanted()
        size = np.abs(wanted).max(initial=0.0) or 1.0
        share = np.array(
            [[float(one.source == name) for one in pieces] + [0.0] * len(single) for name in sources]
        )
        A = np.vstack([np.array(columns).T / size, WHOLE * share.reshape(len(sources), len(columns))])
        scale = np.linalg.norm(A, axis=0)
        scale[scale == 0.0] = 1.0
        found = nnls(A / scale, np.concatenate([wanted / size, WHOLE * np.ones(len(sources))]))[0] / scale
        weights, armature = found[: len(pieces)], found[len(pieces) :]
        for name in sources:
            own = [i for i, one in enumerate(pieces) if one.source == name]
            weights[own] = weights[own] / weights[own].sum()
        extra = {self.tree.names[k]: float(x) for k, x in zip(single, armature, strict=True) if x > 0.0}
        return Lumped(self._with(pieces, weights), extra)

    # ------------------------------------------------------------------ pieces

    def _pieces(self) -> Iterator[Piece]:
        for name, (owner, at) in self.chain.welded.items():
            body = self.mech.model.bodies[self.mech.model.body_index(name)]
            R = at.rotation
            if body.mass or np.any(body.inertia_rows):
                yield Piece(owner, name, body.mass, at.apply(body.com), R @ np.array(body.inertia_rows) @ R.T)
        for body in self.chain.linkage:
            if body.mass:
                for owner in self._owners(body.name):
                    yield from self._on(body, owner)

    def _on(self, body: Body, owner: str) -> Iterator[Piece]:
        """A linkage body on a body of the tree, where it is at the reference pose."""
        X = self.mech.pose(self.q, owner).inverse() @ self.mech.pose(self.q, body.name)
        R = X.rotation
        yield Piece(owner, body.name, body.mass, X.apply(body.com), R @ np.array(body.inertia_rows) @ R.T)
        for point in self._held(body.name):
            yield Piece(owner, body.name, body.mass, X.apply(point), np.zeros((3, 3)))

    def _links(self) -> list[tuple[tuple[str, Any], tuple[str, Any]]]:
        """Pairs of (body, point) that joints and constraints hold together."""
        found = [((b.parent, b.at.xyz), (b.name, (0.0, 0.0, 0.0))) for b in self.mech.model.bodies[1:]]
        for _, one in self.mech.model.constraints:
            ends = [(end.body, end.at.xyz) for end in getattr(one, "ends", tuple)()]
            found += [(ends[0], ends[1])] if len(ends) == 2 else []
        return found

    def _held(self, name: str) -> list[Array]:
        points = [np.array(p) for pair in self._links() for body, p in pair if body == name]
        return [p for i, p in enumerate(points) if all(np.linalg.norm(p - x) > 1e-9 for x in points[:i])]

    def _owners(self, name: str) -> list[str]:
        """Bodies of the tree, or the ground, that a linkage touches."""
        inside = {*self.chain.names, GROUND}
        found, seen, todo = list[str](), {name}, [name]
        while todo:
            here = todo.pop()
            for (a, _), (b, _) in self._links():
                there = b if a == here else a if b == here else here
                there = self.chain.welded[there][0] if there in self.chain.welded else there
                if there in inside:
                    found += [there] if there not in found else []
                elif there not in seen:
                    seen.add(there)
                    todo.append(there)
        return found

    # ------------------------------------------------------------------ least squares

    @cached_property
    def _metric(self) -> tuple[Array, float]:
        """L^-1 of the closed robot's M = L L.T, and the size of L.T a for usual accelerations a."""
        L = np.linalg.cholesky(self.N.T @ self.mech.mass_matrix(self.q) @ self.N)
        usual = USUAL * self.tree.units.unit
        return np.asarray(np.linalg.inv(L)), float(np.linalg.norm(L.T @ usual)) / np.sqrt(len(usual))

    def _measured(self, M: Array, force: Array) -> Array:
        """Changes of M and of forces, as relative errors of accelerations in the metric of M."""
        inverse, usual = self._metric
        return np.concatenate([self._entries(inverse @ M @ inverse.T), inverse @ force / usual])

    def _armature(self, k: int) -> Array:
        """What armature of one coordinate adds."""
        return self._measured(np.diag(np.eye(self.tree.nv)[k]), np.zeros(self.tree.nv))

    def _entries(self, M: Array) -> Array:
        """A symmetric matrix as a vector of the same norm."""
        i, j = np.triu_indices(len(M))
        return np.asarray(M[i, j] * np.where(i == j, 1.0, np.sqrt(2.0)))

    def _effect(self, one: Piece) -> Array:
        """What a piece adds to the mass matrix and to gravity; on the ground nothing."""
        if one.owner == GROUND:
            return np.zeros(self.tree.nv * (self.tree.nv + 1) // 2 + self.tree.nv)
        J = self.tree.jacobian(self.q_s, one.owner, one.com)
        R = self.tree.pose(self.q_s, one.owner).rotation
        M = one.mass * J[:3].T @ J[:3] + J[3:].T @ (R @ one.inertia @ R.T) @ J[3:]
        return self._measured(M, one.mass * J[:3].T @ self.gravity)

    def _wanted(self) -> Array:
        M = self.N.T @ self.mech.mass_matrix(self.q) @ self.N - self.tree.mass_matrix(self.q_s)
        pull = self.N.T @ self._gravity(self.mech, self.q) - self._gravity(self.tree, self.q_s)
        return self._measured(M, pull)

    def _gravity(self, mech: Any, q: Array) -> Array:
        total = np.zeros(mech.nv)
        for body in mech.model.bodies[1:]:
            if body.mass:
                total += body.mass * mech.jacobian(q, body.name, body.com)[:3].T @ self.gravity
        return total

    def _with(self, pieces: list[Piece], weights: Array) -> tuple[Body, ...]:
        """Bodies of the tree with what they got."""
        found = []
        for body in self.chain.bodies:
            own = [
                (w, one) for w, one in zip(weights, pieces, strict=True) if one.owner == body.name and w > 0.0
            ]
            found.append(_joined(body, own) if own else body)
        return tuple(found)


def _joined(body: Body, pieces: list[tuple[float, Piece]]) -> Body:
    """A body and shares of pieces on it as one body."""
    parts = [(body.mass, np.array(body.com), np.array(body.inertia_rows))]
    parts += [(w * one.mass, one.com, w * one.inertia) for w, one in pieces]
    mass = sum(m for m, _, _ in parts)
    com = np.sum([m * c for m, c, _ in parts], axis=0) / mass if mass else np.zeros(3)
    total = np.zeros((3, 3))
    for m, c, own in parts:
        r = c - com
        total = total + own + m * (r @ r * np.eye(3) - np.outer(r, r))
    total = 0.5 * (total + total.T)
    return body.again(mass=float(mass), com=tuple(com.tolist()), inertia=tuple(map(tuple, total.tolist())))
