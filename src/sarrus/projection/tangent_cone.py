"""The tangent cone at a singular pose to second order: directions on which several quadratic forms vanish.

    { y : y.T Q_i y = 0,  i = 1 .. k }     in d dimensions                                              (1)

One form is split by its eigenvalues. Several are solved by Gauss-Newton on the unit sphere from many fixed
starts at once; k = d - 1 forms have at most 2^k lines in common, some of them multiple zeros. A component of
the cone is linear when the forms vanish on the whole tangent space at one of its points, otherwise curved.
Points of curved components belong to the same one if a path on the cone connects them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Array

VANISHES = 1e-7  # values of forms of unit size, eigenvalues and singular values below this count as zero
SAME = 1e-5  # directions and subspaces that differ by less are equal
COINCIDE, OFTEN = 1e-4, 3  # at least OFTEN solutions within this distance of each other are a line
ROUNDS = 60  # Gauss-Newton iterations
STARTS_PER_LINE, LEAST_STARTS, MOST_STARTS = 40, 200, 4000
MOST_POINTS, MOST_SAMPLES = 100, 24  # solutions examined for curved components, and kept of each component
STEPS = 60  # of a path over half a turn


@dataclass(frozen=True)
class Component:
    """A component of the cone: unit directions (n, d) on it, the tangent space (d, m) at the first of them,
    and whether it is curved. The directions of a linear component are a basis of it."""

    directions: Array
    tangent: Array
    curved: bool


def independent_forms(forms: Array) -> Array:
    """Forms (k, d, d) of unit size with the span of those given, without forms that vanish."""
    count, d, _ = forms.shape
    if count == 0 or d == 0:
        return np.zeros((0, d, d))
    _, s, Vt = np.linalg.svd(forms.reshape(count, d * d), full_matrices=False)
    return np.asarray(Vt[s > 10.0 * VANISHES].reshape(-1, d, d))


def rigid_directions(forms: Array) -> Array:
    """Orthonormal rows (m, d) that are orthogonal to every y of the cone of forms (k, d, d), where the sum of
    the forms, each times its trace, is semidefinite; none where it is not."""
    d = forms.shape[1]
    values, vectors = np.linalg.eigh(np.einsum("kii,kde->de", forms, forms))
    zero = VANISHES * max(1.0, float(np.max(np.abs(values), initial=0.0)))
    return np.asarray(vectors[:, values > zero].T if np.all(values > -zero) else np.zeros((0, d)))


def components(forms: Array) -> list[Component]:
    """Components of the cone (1) of independent forms (k, d, d)."""
    d = forms.shape[1]
    if len(forms) == 0:
        return [Component(np.eye(d), np.eye(d), False)] if d else []
    if len(forms) == 1:
        return _one_form(forms[0])
    return _collected(forms, solutions(forms))


def _one_form(Q: Array) -> list[Component]:
    """The cone of a single form: its null space, two hyperplanes, or a curved cone."""
    values, vectors = np.linalg.eigh(Q)
    zero = np.abs(values) <= VANISHES
    up, down = values > VANISHES, values < -VANISHES
    if not up.any() or not down.any():
        kernel = vectors[:, zero]
        return [Component(kernel.T, kernel, False)] if kernel.shape[1] else []
    if up.sum() == 1 and down.sum() == 1:
        a, b = np.sqrt(values[up][0]) * vectors[:, up], np.sqrt(-values[down][0]) * vectors[:, down]
        return [_linear(np.linalg.svd((a + sign * b).T)[2][1:].T) for sign in (1.0, -1.0)]
    return _collected(Q[None], solutions(Q[None]))


def solutions(forms: Array) -> Array:
    """Unit vectors (n, d) on the cone, from a fixed set of starts."""
    k, d, _ = forms.shape
    count = int(np.clip(STARTS_PER_LINE * 2 ** min(k, 12), LEAST_STARTS, MOST_STARTS))
    y = np.random.default_rng(1853).standard_normal((count, d))
    y /= np.linalg.norm(y, axis=1, keepdims=True)
    for _ in range(ROUNDS):
        y = _newton(forms, y)
    value = np.einsum("nd,kde,ne->nk", y, forms, y)
    return np.asarray(y[np.max(np.abs(value), axis=1) < 1e-12])


def _newton(forms: Array, y: Array) -> Array:
    """One Gauss-Newton step for unit vectors y (n, d), which stay unit vectors."""
    gradient = 2.0 * np.einsum("kde,ne->nkd", forms, y)
    value = np.einsum("nkd,nd->nk", gradient, y) / 2.0
    rows = np.concatenate([gradient, y[:, None]], axis=1)
    right = np.concatenate([value, np.zeros((len(y), 1))], axis=1)
    y = y - (np.linalg.pinv(rows, rcond=1e-9) @ right[..., None])[..., 0]
    return np.asarray(y / np.linalg.norm(y, axis=1, keepdims=True))


def _collected(forms: Array, points: Array) -> list[Component]:
    """Components of the cone through these points, in an order that does not depend on the starts."""
    curved: list[list[Array]] = []
    lines, others = _lines(points)
    linear = [_linear(y[:, None]) for y in lines]
    for y in others[:MOST_POINTS]:
        tangent = _null_space(forms @ y)
        if np.max(np.abs(np.einsum("di,kde,ej->kij", tangent, forms, tangent))) < 10.0 * VANISHES:
            if not any(_same(tangent, piece.tangent) for piece in linear):
                linear.append(_linear(tangent))
            continue
        _sort_in(forms, y, curved)
    found = linear + [Component(np.array(p[:MOST_SAMPLES]), _null_space(forms @ p[0]), True) for p in curved]
    return sorted(found, key=lambda piece: tuple(np.round(piece.directions[0], 6)), reverse=True)


def _lines(points: Array) -> tuple[list[Array], list[Array]]:
    """Directions found from OFTEN starts or more, up to sign, and the other points.

    Multiple zeros are found to half the digits only, and their tangent space is too large.
    """
    lines: list[Array] = []
    others: list[Array] = []
    left = points
    while len(left):
        near = 1.0 - np.abs(left @ left[0]) < 0.5 * COINCIDE**2
        if near.sum() >= OFTEN:
            together = left[near] * np.sign(left[near] @ left[0])[:, None]
            middle = np.median(together, axis=0)
            lines.append(middle / np.linalg.norm(middle))
        else:
            others.extend(left[near])
        left = left[~near]
    return lines, others


def _linear(tangent: Array) -> Component:
    """A linear component; the direction of a line has its largest entry positive."""
    if tangent.shape[1] == 1:
        tangent = tangent * np.sign(tangent[np.argmax(np.abs(tangent) > np.abs(tangent).max() - SAME)])
    return Component(tangent.T, tangent, False)


def _null_space(rows: Array) -> Array:
    """Orthonormal basis (d, m) of the null space of the rows (k, d)."""
    _, s, Vt = np.linalg.svd(rows)
    return np.asarray(Vt[int(np.sum(s > SAME)) :].T)


def _same(A: Array, B: Array) -> bool:
    """Whether two orthonormal bases span the same space."""
    return A.shape == B.shape and float(np.linalg.norm(A - B @ (B.T @ A))) < SAME * 10.0


def _sort_in(forms: Array, y: Array, pieces: list[list[Array]]) -> None:
    """Add a direction to the components that paths on the cone connect it with, which become one.

    A direction that no path connects with any of them starts a new component.
    """

    def is_connected(piece: list[Array]) -> bool:
        cosines = np.array(piece) @ y
        nearest = np.argsort(-np.abs(cosines))[:2]
        return any(_connected(forms, y, np.sign(cosines[i]) * piece[i]) for i in nearest)

    apart: list[list[Array]] = []
    merged: list[Array] = []
    for piece in pieces:
        if is_connected(piece):
            merged += piece
        else:
            apart.append(piece)
    pieces[:] = [*apart, [*merged, y]]


def _connected(forms: Array, y: Array, goal: Array) -> bool:
    """Whether steps on the cone towards `goal` lead from y to it."""
    step = np.pi / STEPS
    for _ in range(STEPS):
        away = float(np.arccos(np.clip(y @ goal, -1.0, 1.0)))
        straight = goal - (goal @ y) * y
        tangent = _null_space(np.vstack([forms @ y, y]))
        along = tangent @ (tangent.T @ straight)
        size = float(np.linalg.norm(along))
        if away < 1.5 * step:  # arrived, unless the goal lies on another component that crosses here
            return size > 0.8 * float(np.linalg.norm(straight))
        if size < 1e-3 * np.sin(away):
            return False
        y = y + step * along / size
        y = y / np.linalg.norm(y)
        for _ in range(3):
            y = _newton(forms, y[None])[0]
    return False
