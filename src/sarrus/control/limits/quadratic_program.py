"""Small dense quadratic programs, and the solvers to choose from.

    min (z - z0).T H (z - z0) / 2    subject to    lower <= A z <= upper,  |T z + c| <= d.z + e     (1)

The kernel solves programs without cones (a dual active-set method, kernels/algebra/quadratic_program.hpp),
and programs with cones in three dimensions by a sequence of those (cone_program.hpp). Two others are there to
compare with: DAQP, and non-negative least squares of SciPy after [Lawson1974] chapter 23 (least distance
programming), which also solves what the kernel does not converge on. Clarabel solves what is left of programs
with cones: steps that do not end, and least violations.
Why these: docs/decisions/0012-quadratic-programs.md.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np

from ... import _kernel
from ...arrays import Array, BoolArray
from ...errors import InputError

FEASIBLE = 1e-9  # [N m] on rows of unit length, or of the size of z0
FAR = 1e20  # a bound that is none
ROUNDED = 1e-13  # rows shorter than this, or than this share of the longest, are zero
SOLVERS = ("auto", "kernel", "daqp", "scipy", "clarabel")
DAQP_OPTIMAL = (1, 2)


@dataclass(frozen=True)
class Cone:
    """|T z + c| <= d.z + e: T (k, n), c (k,), d (n,), e."""

    T: Array
    c: Array
    d: Array
    e: float

    def excess(self, z: Array) -> float:
        """By how much z leaves the cone; negative inside."""
        return float(np.linalg.norm(self.T @ z + self.c) - self.d @ z - self.e)


@dataclass(frozen=True)
class Program:
    """The program (1); H None is the identity."""

    z0: Array
    A: Array
    lower: Array
    upper: Array
    H: Array | None = None
    cones: Sequence[Cone] = ()


@dataclass(frozen=True)
class ProgramSolution:
    """z (n,), whether it satisfies everything, who found it and how long that took [s].

    `active` holds the rows that press on z, where the solver tells; None where it does not.
    """

    z: Array
    feasible: bool
    solver: str
    iterations: int
    time: float
    active: list[int] | None = None


def check_solver(name: str, cones: bool) -> str:
    """The solver to use, or an error that says what to install."""
    if not isinstance(name, str) or name not in SOLVERS:
        raise InputError(f"solver must be one of {', '.join(map(repr, SOLVERS))}, got {name!r}.")
    if cones:
        return _solver_of_cones(name)
    if name in ("auto", "kernel"):
        return "kernel"
    return name if name == "scipy" else _installed(name, f'solver="{name}"')


def _solver_of_cones(name: str) -> str:
    """The same where some limit is an exact cone."""
    if name not in ("auto", "clarabel"):
        raise InputError(f'solver="{name}" knows no cones: use solver="clarabel", or pyramids (edges=8).')
    found = _installed("clarabel", "an exact friction cone; or use a pyramid, edges=8")
    return "cones" if name == "auto" else found


def _installed(package: str, purpose: str) -> str:
    if find_spec(package) is None:
        raise InputError(
            f"the package {package} is needed for {purpose}. Install it: pip install 'sarrus[qp]'."
        )
    return package


def solve(program: Program, solver: str) -> ProgramSolution:
    """Solve (1); `feasible` is False where nothing satisfies all rows, and z then has no meaning."""
    began = time.perf_counter()
    if program.cones and solver != "cones":
        solver = "clarabel"
    z, iterations, active = _SOLVERS[solver](program)
    spent = time.perf_counter() - began
    if z is None:
        return ProgramSolution(program.z0, False, solver, iterations, spent)
    return ProgramSolution(z, True, solver, iterations, spent, active)


def solve_softly(
    program: Program, weights: Array, solver: str, soft: BoolArray | None = None
) -> ProgramSolution:
    """The z of least weighted violation |weights * excess|, nearest to z0 among those.

    Rows and cones that are soft (None: all) get slack variables, A z - s within the bounds, and 1e-10 of the
    weight stays on z. The others hold.
    """
    m, n, k = len(program.A), len(program.z0), len(program.cones)
    gives = np.ones(m + k) if soft is None else soft.astype(float)
    lengths = np.linalg.norm(program.A, axis=1)
    rounded = lengths < ROUNDED * max(1.0, float(lengths.max(initial=0.0)))
    scaled = np.where(rounded, 0.0, weights[:m])[:, None] * program.A
    small = 1e-10 * max(float(np.sum(scaled**2)) / max(n, 1), 1e-12)
    H = np.eye(n + m + k)
    H[:n, :n] = small * (np.eye(n) if program.H is None else program.H)
    A = np.zeros((m, n + m + k))
    A[:, :n] = scaled
    A[:, n : n + m] = -np.diag(gives[:m])
    cones = []
    for i, cone in enumerate(program.cones):
        T, d = np.zeros((len(cone.c), n + m + k)), np.zeros(n + m + k)
        T[:, :n], d[:n], d[n + m + i] = cone.T, cone.d, gives[m + i] / weights[m + i]
        cones.append(Cone(T, cone.c, d, cone.e))
    z0 = np.concatenate([program.z0, np.zeros(m + k)])
    slack = Program(z0, A, weights[:m] * program.lower, weights[:m] * program.upper, H, cones)
    found = solve(slack, solver)
    if not found.feasible and solver in ("kernel", "daqp"):
        found = solve(slack, "scipy")
    return ProgramSolution(found.z[:n], False, found.solver, found.iterations, found.time)


# ---------------------------------------------------------------------- solvers

Found = tuple[Array | None, int, list[int] | None]


def _in_kernel(p: Program) -> Found:
    found = _kernel.solve_program(z0=p.z0, H=p.H, A=p.A, lower=p.lower, upper=p.upper, tol=_tolerance(p))
    if found["status"] == "not converged":
        return _scipy(p)
    return (found["z"] if found["status"] == "optimal" else None), found["iterations"], found["active"]


def _tolerance(p: Program) -> float:
    return FEASIBLE * max(1.0, float(np.abs(p.z0).max(initial=0.0)))


def _daqp(p: Program) -> Found:
    import daqp

    n = len(p.z0)
    H = np.eye(n) if p.H is None else p.H
    f = -p.z0 if p.H is None else -(p.H @ p.z0)
    z, _, flag, info = daqp.solve(H, f, p.A, p.upper, p.lower, primal_tol=_tolerance(p))
    if flag not in DAQP_OPTIMAL:
        return None, int(info["iterations"]), None
    return z, int(info["iterations"]), np.flatnonzero(info["lam"]).tolist()


def _scipy(p: Program) -> Found:
    """min |y|, G y >= g, by min |E x - (0, .., 0, 1)|, x >= 0, E = [G.T; g.T]; [Lawson1974] (23.27)."""
    from scipy.linalg import solve_triangular
    from scipy.optimize import nnls

    n = len(p.z0)
    root = np.eye(n) if p.H is None else np.linalg.cholesky(p.H).T  # y = root (z - z0)
    A = solve_triangular(root, p.A.T, trans="T").T
    at = p.A @ p.z0
    up, low = p.upper < FAR, p.lower > -FAR
    G = np.concatenate([-A[up], A[low]])
    g = np.concatenate([(at - p.upper)[up], (p.lower - at)[low]])
    if len(g) == 0:
        return p.z0, 0, None
    size = np.linalg.norm(G, axis=1)
    zero = size < 1e-13 * max(1.0, float(size.max()))
    scale = max(float(np.max(np.abs(g / np.where(zero, 1.0, size)))), 1e-300)
    if np.any(g[zero] > FEASIBLE * scale):
        return None, 0, None
    G, g = G[~zero] / size[~zero, None], g[~zero] / size[~zero] / scale
    if len(g) == 0 or g.max() <= 0.0:
        return p.z0, 0, None
    E = np.vstack([G.T, g])
    right = np.zeros(n + 1)
    right[n] = 1.0
    x, _ = nnls(E, right, maxiter=30 * len(g) + 100)
    residual = E @ x - right
    if -residual[n] <= FEASIBLE**2 + 1e-14 * float(np.abs(x) @ np.abs(g)):
        return None, len(g), None
    y = -residual[:n] / residual[n] * scale
    if float(np.max(g * scale - G @ y)) > 1e-6 * max(scale, float(np.linalg.norm(y))):
        return None, len(g), None
    return p.z0 + solve_triangular(root, y), len(g), None


def _in_kernel_with_cones(p: Program) -> Found:
    if not p.cones:
        return _in_kernel(p)
    if {len(cone.c) for cone in p.cones} != {2}:
        return _clarabel(p)
    R = np.array([[*cone.T, cone.d] for cone in p.cones])
    at = np.array([[*cone.c, cone.e] for cone in p.cones])
    found = _kernel.solve_cone_program(
        z0=p.z0, H=p.H, A=p.A, lower=p.lower, upper=p.upper, R=R, at=at, tol=_tolerance(p)
    )
    if found["status"] == "not converged":
        return _clarabel(p)
    return (found["z"] if found["status"] == "optimal" else None), found["iterations"], None


def _clarabel(p: Program) -> Found:
    import clarabel
    from scipy.sparse import csc_matrix

    n = len(p.z0)
    H = np.eye(n) if p.H is None else p.H
    up, low = p.upper < FAR, p.lower > -FAR
    blocks = [p.A[up], -p.A[low]]
    rights = [p.upper[up], -p.lower[low]]
    kinds = [clarabel.NonnegativeConeT(int(up.sum() + low.sum()))] if up.any() or low.any() else []
    for cone in p.cones:
        # (d.z + e, T z + c) in the second-order cone
        blocks.append(np.vstack([-cone.d, -cone.T]))
        rights.append(np.concatenate([[cone.e], cone.c]))
        kinds.append(clarabel.SecondOrderConeT(len(cone.c) + 1))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    triangle = csc_matrix(np.triu(H))
    model = clarabel.DefaultSolver(
        triangle, -(H @ p.z0), csc_matrix(np.concatenate(blocks)), np.concatenate(rights), kinds, settings
    )
    found = model.solve()
    good = found.status in (clarabel.SolverStatus.Solved, clarabel.SolverStatus.AlmostSolved)
    return (np.asarray(found.x) if good else None), int(found.iterations), None


_SOLVERS: dict[str, Callable[[Program], Found]] = {
    "kernel": _in_kernel,
    "daqp": _daqp,
    "scipy": _scipy,
    "clarabel": _clarabel,
    "cones": _in_kernel_with_cones,
}
