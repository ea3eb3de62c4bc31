"""The constants of a flexible body, as kernels/tree/flexible.hpp has them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...arrays import Array
from ...varied import is_varied
from ..base.pose import Pose

UPPER = ((0, 0, 0, 1, 1, 2), (0, 1, 2, 1, 2, 2))  # xx xy xz yy yz zz


def moments(product: Array) -> Any:
    """tr(P) 1 - P of matrices P = sum of a b^T dm, (..., 3, 3)."""
    return np.trace(product, axis1=-2, axis2=-1)[..., None, None] * np.eye(3) - product


def crossed(product: Array) -> Array:
    """Sums of a x b dm of matrices P = sum of a b^T dm, (..., 3)."""
    anti = product - np.swapaxes(product, -1, -2)
    return np.stack([anti[..., 1, 2], anti[..., 2, 0], anti[..., 0, 1]], axis=-1)


def skew(a: Array) -> Any:
    """The matrices [a] with [a] x = a x x, (..., 3, 3)."""
    out = np.zeros((*a.shape, 3))
    out[..., 0, 1], out[..., 0, 2], out[..., 1, 2] = -a[..., 2], a[..., 1], -a[..., 0]
    return out - np.swapaxes(out, -1, -2)


def _turned(R: Array, J: Array) -> Any:
    return np.einsum("ij,...jk,lk->...il", R, J, R)


def _about(p: Array, s: Array) -> Any:
    """What first moments s add to second moments about a point whose distance from the mass is p more."""
    outer = p[:, None] * s[..., None, :]
    return moments(outer + np.swapaxes(outer, -1, -2))


@dataclass(frozen=True, eq=False)
class Deflections:
    """A body with n deflections q: points stand at r(q) in its frame, in axes of that frame.

    Attributes:
        mass: [kg].
        first, inertia: First moment [kg m] (3,) and inertia about the origin [kg m^2] (3, 3), undeflected.
        s, s2: Of the first moment: s_k and s_kl, (n, 3), (n, n, 3).
        c, c2: Of the angular momentum: c_k and c_kl, (n, 3), (n, n, 3).
        J, J2: Of the inertia: J_k and J_kl, (n, 3, 3), (n, n, 3, 3).
        M, K, D: Inertia, stiffness and damping of the deflections, (n, n).
        stretches: Coordinates that stretch the body, and what shortens it: (k, G (n, n)).
    """

    mass: float
    first: Array
    inertia: Array
    s: Array
    c: Array
    J: Array
    M: Array
    K: Array
    D: Array
    s2: Array
    c2: Array
    J2: Array
    stretches: tuple[tuple[float, Array], ...] = ()

    @property
    def n(self) -> int:
        """Number of deflections."""
        return len(self.M)

    def moved(self, X: Pose) -> Deflections:
        """The same in a frame in which this one stands at X."""
        R, p = X.rotation, X.xyz
        if not is_varied(X.matrix.tolist()) and (X.matrix == np.eye(4)).all():
            return self
        first, s, s2 = self.first @ R.T, self.s @ R.T, self.s2 @ R.T
        inertia = _turned(R, self.inertia) + _about(p, first) + self.mass * moments(np.outer(p, p))
        return replace(
            self,
            first=first + self.mass * p,
            inertia=inertia,
            s=s,
            s2=s2,
            c=self.c @ R.T + np.cross(p, s),
            c2=self.c2 @ R.T + np.cross(p, s2),
            J=_turned(R, self.J) + _about(p, s),
            J2=_turned(R, self.J2) + _about(p, s2),
        )

    def flat(self) -> list[float]:
        """All of them in the order of the kernel."""
        parts: list[Any] = [
            [self.mass],
            self.first,
            self.s,
            self.c,
            self.J[:, UPPER[0], UPPER[1]],
            self.M,
            self.K,
            self.D,
        ]
        parts += [self.s2, self.c2, self.J2[:, :, UPPER[0], UPPER[1]]]
        for k, G in self.stretches:
            parts += [[k], G]
        return [x for part in parts for x in np.ravel(part).tolist()]

    @classmethod
    def of_flat(cls, n: int, stretches: int, values: Array) -> Deflections:
        """From what flat() made; the inertia is not among it."""
        sizes = [1, 3, 3 * n, 3 * n, 6 * n, n * n, n * n, n * n, 3 * n * n, 3 * n * n, 6 * n * n]
        sizes += [1, n * n] * stretches
        mass, first, s, c, J, M, K, D, s2, c2, J2, *rest = np.split(values, np.cumsum(sizes)[:-1])
        pairs = zip(rest[::2], rest[1::2], strict=True)
        square, triples = (n, n), (n, n, 3)
        return cls(
            mass=mass[0],
            first=first,
            inertia=np.zeros((3, 3)),
            s=s.reshape(n, 3),
            c=c.reshape(n, 3),
            J=_full(J.reshape(n, 6)),
            M=M.reshape(square),
            K=K.reshape(square),
            D=D.reshape(square),
            s2=s2.reshape(triples),
            c2=c2.reshape(triples),
            J2=_full(J2.reshape(n, n, 6)),
            stretches=tuple((k[0], G.reshape(square)) for k, G in pairs),
        )

    @property
    def frequencies(self) -> Array:
        """Angular frequencies with the frame at rest [rad/s], ascending, (n,)."""
        from scipy.linalg import eigh

        return np.asarray(np.sqrt(np.maximum(eigh(self.K, self.M, eigvals_only=True), 0.0)))

    def damped(self, ratio: float) -> Deflections:
        """With modes that are damped by this part of their critical damping, while the frame is at rest."""
        from scipy.linalg import eigh

        squares, shapes = eigh(self.K, self.M)
        weighted = self.M @ shapes
        rates = 2.0 * ratio * np.sqrt(np.maximum(squares, 0.0))
        return replace(self, D=(weighted * rates) @ weighted.T)


def _full(six: Array) -> Array:
    out = np.zeros((*six.shape[:-1], 3, 3), dtype=six.dtype)
    out[..., UPPER[0], UPPER[1]] = out[..., UPPER[1], UPPER[0]] = six
    return out
