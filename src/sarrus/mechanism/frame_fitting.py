"""The smallest change of a mechanism's frames that lets its nearly compatible loops move.

A linkage that moves only thanks to its special proportions (parallel hinges, Sarrus, Bennett) is locked
once its data are rounded. Let the frame of every joint and of every end of a loop be displaced, by a twist in
p that does not depend on the pose. The loops fit where one p closes them at many poses:

    phi(q_k, p) = 0,    k = 1 ... K,    |p| least                                               (1)

The poses come from the mechanism itself, with rows that are independent by less than the tolerance taken
for redundant. (1) is solved by Gauss-Newton with steps of least norm in p; the derivative with respect to p
is the Jacobian of the mechanism with a free joint in front of every frame.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..arrays import Array, IntArray
from ..constraints.rows import Constraint
from ..models.base.pose import Pose
from ..models.shapes.drawing import Frame
from ..models.tree.bodies import Body
from ..models.tree.coordinates import claim
from ..models.tree.joints import Free
from ..projection.decomposition import full_svd
from ..projection.system_kinematics import dimensionless
from .describe.compile import build_model
from .mechanism import Mechanism

MOST_POSES = 12
ATTEMPTS = 20
STEP = (0.3, 1.0)  # [rad], or times L [m]: how far apart the poses are
ITERATIONS = 24
POSES_ARE_FREE = 1e3  # weight of p against q_k in the norm that is made least
CLOSED = 1e-15
SCALES = (1.0, 0.5, 0.2, 0.05)
NOT_INDEPENDENT = 10.0  # times the tolerance: singular values below it are put down to rounded data


def fit_loops(
    mech: Mechanism, q: Array, tolerance: float, truncation: float, seed: int
) -> tuple[Mechanism, float] | None:
    """Displace the frames of joints and loops by as little as possible so that the loops fit.

    Args:
        mech: The mechanism.
        q: Pose (nq,) at which the loops are closed to within the tolerance.
        tolerance: Largest displacement [rad], or times L [m].
        truncation: Singular values of the linearized (1) below it are left out: where (1) is solved its rows
            depend on each other, and some of its solutions are double.
        seed: Chooses the poses.

    Returns:
        The changed mechanism and the largest displacement (angles in rad, lengths divided by L); None where
        no displacement within the tolerance helps.
    """
    poses = poses_along(mech, q, tolerance, seed)
    loose = _Loose.of(mech)
    states = [loose.state(pose) for pose in poses]
    for _ in range(ITERATIONS):
        better = _improved(loose, states, truncation)
        if better is None:
            break
        states = better
    fitted, largest = loose.displaced(states[0])
    return (fitted, largest) if largest <= tolerance else None


# ---------------------------------------------------------------------- poses


def _rows(mech: Mechanism, q: Array) -> tuple[Array, Array]:
    """Dimensionless phi and J of the rows that restrict positions."""
    phi, J, _, _ = mech.evaluator.constraints(q, np.zeros(mech.nv), 0.0)
    kept = mech.model.holonomic
    return (phi / mech.evaluator.row_unit)[kept], dimensionless(mech.evaluator, J)[kept]


def poses_along(mech: Mechanism, q: Array, tolerance: float, seed: int) -> list[Array]:
    """q, and poses along its motion, both ways, with misfits of the size of the tolerance."""
    rng, found = np.random.default_rng(seed), [q]
    wish = rng.standard_normal(mech.nv)
    ends = [(q, wish), (q, -wish)]
    for k in range(ATTEMPTS):
        pose, wish = ends[k % 2]
        _, s, Vt = full_svd(_rows(mech, pose)[1])
        tangent = Vt[int(np.sum(s > NOT_INDEPENDENT * tolerance)) :]
        along = tangent.T @ (tangent @ wish)
        if np.linalg.norm(along) == 0.0 or len(found) == MOST_POSES:
            break
        x = rng.uniform(*STEP) * along / np.linalg.norm(along)
        reached, misfit = near_pose(mech, mech.integrate(pose, mech.evaluator.unit * x), tolerance)
        if misfit < 3.0 * tolerance:
            found.append(reached)
            ends[k % 2] = (reached, along)
        else:
            ends[k % 2] = (pose, rng.standard_normal(mech.nv))
    return found


def near_pose(mech: Mechanism, q: Array, tolerance: float) -> tuple[Array, float]:
    """A pose near q (nq,) that closes all rows but those independent by less than the tolerance.

    Returns:
        The pose, and its largest gap (angles in rad, lengths divided by L), infinite where the rows are not
        defined.
    """
    for _ in range(12):
        r, J = _rows(mech, q)
        if not (np.all(np.isfinite(r)) and np.all(np.isfinite(J))):
            return q, np.inf
        U, s, Vt = full_svd(J)
        k = int(np.sum(s > NOT_INDEPENDENT * tolerance))
        x = -(U[:, :k].T @ r / s[:k]) @ Vt[:k]
        if np.max(np.abs(x), initial=0.0) > 1.0:
            break
        q = mech.integrate(q, mech.evaluator.unit * x)
    gap = float(np.max(np.abs(_rows(mech, q)[0]), initial=0.0))
    return q, gap if np.isfinite(gap) else np.inf


def _improved(loose: _Loose, states: list[Array], truncation: float) -> list[Array] | None:
    """The states after one step, shortened until the gaps get smaller; None where no step makes them so."""
    residual, p_columns, q_columns = loose.system(states)
    size = np.max(np.abs(residual))
    if size < CLOSED:
        return None
    dp, dq = _step(residual, p_columns, q_columns, truncation)
    for scale in SCALES:
        trial = [loose.moved(s, scale * dp, scale * x) for s, x in zip(states, dq, strict=True)]
        if np.max(np.abs(loose.system(trial)[0])) < 0.9 * size:
            return trial
    return None


def _step(residual: Array, p_columns: Array, q_columns: Array, truncation: float) -> tuple[Array, Array]:
    """The step (dp, dq_k) of least norm that solves the linearized (1); poses cost next to nothing."""
    from scipy.linalg import lstsq

    K, m, n = q_columns.shape
    A = np.zeros((K * m, p_columns.shape[2] + K * n))
    A[:, : p_columns.shape[2]] = p_columns.reshape(K * m, -1)
    for k in range(K):
        A[k * m : (k + 1) * m, p_columns.shape[2] + k * n :][:, :n] = POSES_ARE_FREE * q_columns[k]
    z = np.asarray(-lstsq(A, residual, cond=truncation / POSES_ARE_FREE, lapack_driver="gelsy")[0])
    return z[: p_columns.shape[2]], POSES_ARE_FREE * z[p_columns.shape[2] :].reshape(K, n)


# ---------------------------------------------------------------------- frames that may be displaced


@dataclass(frozen=True)
class _Loose:
    """The mechanism with a free joint in front of every frame of its loops.

    Attributes:
        given: The mechanism without them.
        mech: The mechanism with the free joints.
        body_frames: Name of the free joint in front of each body's joint.
        loop_frames: Names of the free joints at both ends of each loop.
        p: Columns of v that belong to the free joints.
        q: Columns of v that belong to the coordinates of the given mechanism, in its order.
        positions: Entries of q of those coordinates.
    """

    given: Mechanism
    mech: Mechanism
    body_frames: dict[str, str]
    loop_frames: dict[str, tuple[str, str]]
    p: IntArray
    q: IntArray
    positions: IntArray

    @classmethod
    def of(cls, mech: Mechanism) -> _Loose:
        declared = mech.model.declared
        bodies: list[Body] = []
        constraints: list[tuple[str, Constraint]] = []
        taken = {body.name for body in declared["bodies"]}
        in_loop = np.any(_rows(mech, mech.neutral())[1] != 0.0, axis=0)
        body_frames: dict[str, str] = {}
        loop_frames: dict[str, tuple[str, str]] = {}
        mass: dict[str, Any] = {"mass": 1.0, "inertia": (1.0, 1.0, 1.0)}
        for body in declared["bodies"]:
            parent, at = body.parent, body.at
            if np.any(in_loop[mech.model.v_slices[mech.model.body_index(body.name)]]):
                body_frames[body.name] = frame = claim(f"{body.name}~", taken)
                bodies.append(Body(frame, parent, Free(), at, **mass))
                parent, at = frame, Pose()
            bodies.append(Body(body.name, parent, body.joint, at, **mass))
        for name, entry in declared["constraints"]:
            if entry.frames():
                a, b = (claim(f"{name}~", taken) for _ in range(2))
                for end, carrier in zip((a, b), entry.frames(), strict=True):
                    bodies.append(Body(end, carrier.body, Free(), carrier.at, **mass))
                loop_frames[name] = (a, b)
                entry = entry.moved(Frame(a), Frame(b))
            constraints.append((name, entry))
        kept = {name: declared[name] for name in ("name", "gravity", "length")}
        lists: dict[str, Any] = {"bodies": bodies, "constraints": constraints, "forces": (), "actuated": ()}
        whole = Mechanism(build_model(**kept, **lists, checked=True))
        own = [whole.model.body_index(body.name) for body in mech.model.bodies[1:]]
        q = np.concatenate([np.arange(whole.nv)[whole.model.v_slices[i]] for i in own])
        positions = np.concatenate([np.arange(whole.nq)[whole.model.q_slices[i]] for i in own])
        p = np.setdiff1d(np.arange(whole.nv), q)
        return cls(mech, whole, body_frames, loop_frames, p=p, q=q, positions=positions)

    def state(self, pose: Array) -> Array:
        """Positions with no frame displaced."""
        state = self.mech.neutral()
        state[self.positions] = pose
        return np.asarray(state)

    def system(self, states: list[Array]) -> tuple[Array, Array, Array]:
        """Residual of (1), its derivative by p (K, rows, np) and, pose by pose, by q_k (K, rows, nv)."""
        parts = [_rows(self.mech, state) for state in states]
        J = np.array([J for _, J in parts])
        return np.concatenate([r for r, _ in parts]), J[:, :, self.p], J[:, :, self.q]

    def moved(self, state: Array, dp: Array, dq: Array) -> Array:
        """A state after a step in dimensionless p and q."""
        dv = np.zeros(self.mech.nv)
        dv[self.p], dv[self.q] = dp, dq
        return np.asarray(self.mech.integrate(state, self.mech.evaluator.unit * dv))

    def displaced(self, state: Array) -> tuple[Mechanism, float]:
        """The given mechanism with its frames displaced as in a state, and the largest displacement."""
        sizes = [0.0]

        def pose(frame: str) -> Pose:
            x = state[self.mech.model.q_slices[self.mech.model.body_index(frame)]]
            sizes.extend(
                (float(np.linalg.norm(x[:3]) / self.mech.length), float(2.0 * np.linalg.norm(x[3:6])))
            )
            return Pose(x[:3], quat=x[3:])

        declared, bodies = self.given.model.declared, []
        for body in declared["bodies"]:
            frame = self.body_frames.get(body.name)
            bodies.append(body if frame is None else replace(body, at=body.at @ pose(frame)))
        constraints: list[tuple[str, Constraint]] = []
        for name, entry in declared["constraints"]:
            if entry.frames():
                moves = (pose(frame) for frame in self.loop_frames[name])
                ends = zip(entry.frames(), moves, strict=True)
                entry = entry.moved(*(Frame(frame.body, frame.at @ move) for frame, move in ends))
            constraints.append((name, entry))
        declared |= {"bodies": bodies, "constraints": constraints, "recipe": None}
        return Mechanism(build_model(**declared, checked=True)), max(sizes)
