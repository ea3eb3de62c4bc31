"""Modes of a linear model (eigenvalues, shapes, words), its controllability and observability."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..arrays import Array

Complex = npt.NDArray[np.complex128]

REACH_TOL = 1e-8  # least singular value of new directions, relative to the largest entry of the balanced A
BALANCING, TINIEST = 3, 1e-300  # rounds of scaling a pencil, and what stands for an empty row
REAL_TOL = 1e-9  # real or imaginary parts below this share of the largest eigenvalue count as zero


@dataclass(frozen=True)
class Mode:
    """A real eigenvalue, or a pair of complex ones, with its motion.

    Attributes:
        eigenvalue: [1/s], imaginary part not negative.
        frequency: |eigenvalue| [rad/s], the natural frequency.
        damping: damping ratio, -Re / |eigenvalue|; 0 for an eigenvalue of zero.
        shape: increments of all coordinates (nv,) complex; the largest (lengths divided by L) is 1.
        velocity: velocities of all coordinates (nv,) complex, on the same scale.
        vector: the eigenvector itself, in the states (nx,) complex.
    """

    eigenvalue: complex
    frequency: float
    damping: float
    shape: Complex
    velocity: Complex
    vector: Complex

    @property
    def text(self) -> str:
        """The mode in words."""
        growth, turn = self.eigenvalue.real, self.eigenvalue.imag
        if self.frequency == 0.0:
            return "neither moves back nor away"
        if turn == 0.0:
            verb = "grows" if growth > 0.0 else "decays"
            return f"{verb} with time constant {1.0 / abs(growth):.4g} s"
        how = "undamped" if growth == 0.0 else f"damping ratio {self.damping:.4g}"
        if growth:
            how += f", undamped {self.frequency:.6g} rad/s"
        return f"oscillates at {turn:.6g} rad/s ({turn / (2 * np.pi):.4g} Hz), {how}"


@dataclass(frozen=True)
class Reach:
    """The controllable, or the observable, subspace of the states.

    Attributes:
        rank: its dimension.
        complete: whether it is the whole state space.
        missing: eigenvalues of the rest, (nx - rank,) complex.
        message: the same in words.
    """

    rank: int
    complete: bool
    missing: Complex
    message: str


def ordered(values: Complex) -> list[int]:
    """Order of eigenvalues: by size, then real part, then imaginary part."""
    scale = float(np.max(np.abs(values), initial=1.0))

    def key(i: int) -> tuple[float, float, float]:
        x = values[i] / scale
        return round(abs(x), 9), round(x.real, 9), x.imag

    return sorted(range(len(values)), key=key)


def spectrum(A: Array, E: Array | None, finite: int) -> tuple[Complex, Complex]:
    """Eigenvalues (k,), ordered, and their vectors (nx, k); of a pencil only the `finite` smallest.

    The other eigenvalues of a descriptor form are infinite, or merely large because of rounding.
    """
    from scipy.linalg import eig

    if A.size == 0:
        return np.zeros(0, dtype=complex), np.zeros((len(A), 0), dtype=complex)
    unit = np.ones(len(A))
    if E is not None:
        A, E, unit = _scaled(A, E)
    found = np.linalg.eig(A) if E is None else eig(A, E)
    values, vectors = (np.asarray(part, dtype=complex) for part in found)
    vectors = vectors * unit[:, None]
    if E is not None:
        size = np.where(np.isfinite(values), np.abs(values), np.inf)
        keep = np.argsort(size)[:finite]
        values, vectors = values[keep], vectors[:, keep]
    order = ordered(values)
    return values[order], vectors[:, order]


def _scaled(A: Array, E: Array) -> tuple[Array, Array, Array]:
    """A pencil in units in which its rows and columns have entries up to 1, and what these are of the states.

    `eig` balances no pencils, and states of first order [Pa] are far from lengths.
    """
    both, unit = np.stack([A, E]), np.ones(len(A))
    for _ in range(BALANCING):
        both = both / np.maximum(np.max(np.abs(both), axis=(0, 2)), TINIEST)[None, :, None]
        columns = np.maximum(np.max(np.abs(both), axis=(0, 1)), TINIEST)
        both, unit = both / columns, unit / columns
    return both[0], both[1], unit


def modes(values: Complex, vectors: Complex, lift: Array, unit: Array) -> tuple[Mode, ...]:
    """One mode per real eigenvalue or pair, shapes lifted to all coordinates.

    Args:
        values, vectors: eigenvalues [1/s] and vectors.
        lift: [dq; dv] of the states (2 nv, nx).
        unit: L for a length, 1 for an angle (nv,).
    """
    out = []
    tiny = REAL_TOL * float(np.max(np.abs(values), initial=0.0))
    for value, vector in zip(values, vectors.T, strict=True):
        if value.imag < -tiny:
            continue
        real = 0.0 if abs(value.real) <= tiny else value.real
        imag = 0.0 if abs(value.imag) <= tiny else value.imag
        full = lift @ vector
        shape, velocity = full[: len(unit)], full[len(unit) :]
        sizes = np.abs(shape / unit)
        if np.max(sizes, initial=0.0) > 1e-9 * np.max(np.abs(velocity / unit), initial=0.0):
            k = int(np.argmax(sizes >= (1.0 - 1e-9) * sizes.max()))
            scale = shape[k] / unit[k]
        else:  # a motion without displacement: a freedom of velocities only
            k = int(np.argmax(np.abs(velocity / unit)))
            scale = velocity[k] / unit[k]
        size = float(np.hypot(real, imag))
        damping = -real / size if size else 0.0
        out.append(Mode(complex(real, imag), size, damping, shape / scale, velocity / scale, vector / scale))
    return tuple(out)


def reach(A: Array, B: Array, words: tuple[str, str]) -> Reach:
    """The smallest invariant subspace of A that contains the columns of B, grown block by block.

    Args:
        A, B: (nx, nx), (nx, k).
        words: "controllable" and "no input moves", or what to say instead.
    """
    from scipy.linalg import matrix_balance

    nx = len(A)
    if nx == 0:
        return Reach(0, True, np.zeros(0, dtype=complex), f"Completely {words[0]}: nothing moves.")
    balanced, (scale, _) = matrix_balance(A, permute=False, separate=True)
    right = B / scale[:, None]
    size = np.linalg.norm(right, axis=0)
    fresh = right[:, size > 0.0] / size[size > 0.0]
    basis, tol = np.zeros((nx, 0)), REACH_TOL
    while fresh.shape[1] and basis.shape[1] < nx:
        for _ in range(2):  # Gram-Schmidt twice is orthogonal to rounding
            fresh = fresh - basis @ (basis.T @ fresh)
        U, s, _ = np.linalg.svd(fresh, full_matrices=False)
        new = U[:, s > tol]
        basis = np.hstack([basis, new])
        fresh, tol = balanced @ new, REACH_TOL * float(np.max(np.abs(balanced)))
    rank = basis.shape[1]
    rest = np.linalg.svd(basis, full_matrices=True)[0][:, rank:] if rank else np.eye(nx)
    missing = spectrum(rest.T @ balanced @ rest, None, nx - rank)[0]
    return Reach(rank, rank == nx, missing, _reach_text(rank, nx, missing, words))


def _reach_text(rank: int, nx: int, missing: Complex, words: tuple[str, str]) -> str:
    if rank == nx:
        return f"Completely {words[0]}: {nx} of {nx} states."
    listed = ", ".join(f"{value:.4g}" if value.imag else f"{value.real:.4g}" for value in missing[:8])
    return f"Not completely {words[0]}: {rank} of {nx} states; {words[1]} motions with eigenvalues {listed}."
