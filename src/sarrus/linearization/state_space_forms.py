"""Three forms of the linear system of the variations: minimal, full, descriptor."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import Array
from ..projection.system_kinematics import dimensionless
from .first_variations import Variation
from .independent_coordinates import IndependentCoordinates
from .operating_point import OperatingPoint


class Form(NamedTuple):
    """E dx/dt = A x + B w + rate, x by name.

    Attributes:
        names: of the states (nx).
        A, B: (nx, nx), (nx, nw).
        E: (nx, nx), or None for the identity.
        rate: right side at the point itself (nx,).
        lift: [dq; dv] of the states (2 nv, nx).
        reduce: states of [dq; dv] (nx, 2 nv).
        variation: variations as functions of the states, for outputs.
    """

    names: tuple[str, ...]
    A: Array
    B: Array
    E: Array | None
    rate: Array
    lift: Array
    reduce: Array
    variation: Variation


def minimal(point: OperatingPoint, choice: IndependentCoordinates, x: Variation, chosen: bool) -> Form:
    """dx/dt = A x + B w of the independent coordinates, [Spencer2004] section 4.2."""
    R = choice.matrix(point.mech.nv)
    rate, names = R @ np.concatenate([point.v, point.a]), choice.names(point.mech.names)
    A, B = R @ x.rate, R @ x.rate_u
    return Form(names=names, A=A, B=B, E=None, rate=rate, lift=x.T, reduce=R, variation=x)


def full(point: OperatingPoint, choice: IndependentCoordinates, x: Variation, chosen: bool) -> Form:
    """The linearized underlying ODE in all coordinates, A = Df P, [Spencer2004] eq. (4.4).

    P = T R, eq. (4.3), for coordinates that the user chose; else orthogonal, lengths divided by L.
    """
    R = choice.matrix(point.mech.nv) if chosen else _left_inverse(point, x)
    whole = Variation(x.T @ R, x.rate @ R, x.lam @ R, x.rate_u, x.lam_u)
    rate, one = np.concatenate([point.v, point.a]), np.eye(2 * point.mech.nv)
    maps = {"A": whole.rate, "B": x.rate_u, "lift": one, "reduce": one}
    return Form(names=_all_names(point), E=None, rate=rate, variation=whole, **maps)


def descriptor(point: OperatingPoint, choice: IndependentCoordinates, x: Variation, chosen: bool) -> Form:
    """E dx/dt = A x + B w with x = [dq; dv; dlam], lam of as many rows as are independent:

        d(dq)/dt    = dv - ad_v dq
        M d(dv)/dt  = G [dq; dv] + J.T dlam + S w
                  0 = J dq              rows that restrict positions
                  0 = (J v)_q dq + J dv    rows that restrict only velocities

    G, the change of all other forces at fixed lam, is M da - J.T dlam on tangent directions and arbitrary
    elsewhere. Away from an equilibrium the hidden constraints contain time derivatives of J, which these
    matrices do not: use "minimal" there.
    """
    from scipy.linalg import block_diag

    mech, nv = point.mech, point.mech.nv
    M, P, kept = mech.mass_matrix(point.q), _left_inverse(point, x), _independent_rows(point)
    J, k = point.J[kept], len(kept)
    R_q, _ = choice.rows(nv)
    G = (M @ x.rate[nv:] - point.J.T @ x.lam) @ P
    S = M @ x.rate_u[nv:] - point.J.T @ x.lam_u
    rows = np.hstack([J, np.zeros((k, nv))])
    slips = ~mech.model.holonomic[kept]
    rows[slips] = np.hstack([-(J @ x.T[nv:, : len(R_q)] @ R_q), J])[slips]  # (J v)_q K = -J L
    kinematics = np.hstack([-point.ad_v, np.eye(nv), np.zeros((nv, k))])
    A = np.vstack([kinematics, np.hstack([G, J.T]), np.hstack([rows, np.zeros((k, k))])])
    B = np.vstack([np.zeros_like(S), S, np.zeros((k, S.shape[1]))])
    E = block_diag(np.eye(nv), M, np.zeros((k, k)))
    rate = np.concatenate([point.v, M @ point.a, np.zeros(k)])
    names = (*_all_names(point), *(f"lam.{mech.row_names[i]}" for i in kept))
    T, rates, lam = (np.hstack([part @ P, np.zeros((len(part), k))]) for part in (x.T, x.rate, x.lam))
    variation, size = Variation(T, rates, lam, x.rate_u, x.lam_u), 2 * nv + k
    maps = {"A": A, "B": B, "E": E, "lift": np.eye(2 * nv, size), "reduce": np.eye(size, 2 * nv)}
    return Form(names=names, rate=rate, variation=variation, **maps)


FORMS = {"minimal": minimal, "full": full, "descriptor": descriptor}


def _all_names(point: OperatingPoint) -> tuple[str, ...]:
    return tuple(f"{kind}.{name}" for kind in ("q", "v") for name in point.mech.names)


def _left_inverse(point: OperatingPoint, x: Variation) -> Array:
    """Left inverse of T (nx, 2 nv) whose null space is orthogonal to the tangent space, lengths over L."""
    unit = np.tile(point.mech.units.unit, 2)
    return np.asarray(np.linalg.pinv(x.T / unit[:, None]) / unit)


def _independent_rows(point: OperatingPoint) -> list[int]:
    """As many rows of J as are independent, by elimination with pivoting."""
    from scipy.linalg import qr

    if point.at.rank == 0:
        return []
    bare = dimensionless(point.mech.evaluator, point.J)
    pivots = qr(bare.T, mode="r", pivoting=True)[1]
    return sorted(int(i) for i in pivots[: point.at.rank])
