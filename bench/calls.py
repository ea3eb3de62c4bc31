"""Every public call on one state, beside the kernel below it and beside Pinocchio's equivalent.

kernel: the same call on a batch, per state, so that what Python adds to one call does not count; no value for
calls without batches. A call that returns arrays should be at most 1.0 times Pinocchio's or ARRAY_US above
its kernel, one that returns a result object at most 2 times or RESULT_US above.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pinocchio as pin

import sarrus as sr
from sarrus.results import Decomposition, Mobility

from .kernel import Bench, prepare
from .report import Column, table
from .timing import race

Array = npt.NDArray[np.float64]
Function = Callable[[], object]

BATCH = 64
ARRAY_US, RESULT_US = 0.6, 2.0  # above the kernel
ARRAY_RATIO, RESULT_RATIO = 1.0, 2.0  # over Pinocchio
LINEARIZE = 5.0, 20.0  # forward dynamics, and microseconds
SWEEP_US = 20.0  # a pose of the four-bar
FOUR_BAR_NV = 3
SWEPT = 32  # poses of a sweep

ROWS: tuple[Column, ...] = (
    ("call", "call", ""),
    ("us", "us", ".2f"),
    ("kernel us", "kernel_us", ".2f"),
    ("above us", "above_us", ".2f"),
    ("peer us", "peer_us", ".2f"),
    ("ratio", "ratio", ".2f"),
    ("", "verdict", ""),
    ("peer", "peer", ""),
)


@dataclass(frozen=True)
class Call:
    """One public call: on one state, on a batch of BATCH states, and what Pinocchio has for it."""

    name: str
    one: Function
    many: Function | None = None
    peer: tuple[str, Function] | None = None
    arrays: bool = False


def humanoid() -> sr.Mechanism:
    """A tree of the size of a humanoid: a free trunk, two legs of 6, two arms of 7 and a neck of 2 hinges."""
    spec = sr.MechanismSpec(name="humanoid")
    spec.body("trunk", joint=sr.Free(), mass=20.0, com=(0.0, 0.0, 0.1), inertia=(0.9, 0.8, 0.3))
    limbs = {"leg_l": 6, "leg_r": 6, "arm_l": 7, "arm_r": 7, "neck": 2}
    for limb, hinges in limbs.items():
        parent, at = "trunk", (0.0, {"l": 0.1, "r": -0.1}.get(limb[-1], 0.0), -0.2 if "leg" in limb else 0.3)
        for i in range(hinges):
            name, inertia = f"{limb}{i + 1}", {"mass": 2.0, "inertia": (0.01, 0.01, 0.004)}
            link: dict[str, Any] = {"com": (0.0, 0.0, -0.05), **inertia}
            spec.body(name, parent=parent, joint=sr.Revolute("xyz"[i % 3]), at=sr.Pose(at), **link)
            spec.actuate(name)
            parent, at = name, (0.0, 0.0, -0.1)
    q = np.concatenate([[0.0] * 6, [1.0], 0.3 * np.sin(np.arange(28))])
    return spec.compile().with_default(q)


MECHANISMS: dict[str, Callable[[], sr.Mechanism]] = {
    "pendulum": sr.library.pendulum,
    "four-bar": lambda: sr.library.four_bar(closure="point"),
    "welded arms": sr.library.dual_arm,
    "humanoid": humanoid,
}


def run(quick: bool, rounds: int) -> dict[str, Any]:
    """All of it, as numbers."""
    seconds = 0.002 if quick else 0.01
    chosen = list(MECHANISMS)[: 2 if quick else None]
    return {"mechanisms": {name: measure(MECHANISMS[name](), rounds, seconds) for name in chosen}}


def show(results: dict[str, Any]) -> str:
    """All of it, as text."""
    notes = (
        f"kernel: the same call on {BATCH} states, per state. met: at most {ARRAY_RATIO:g} x the peer or"
        f" {ARRAY_US:g} us above the kernel (arrays),",
        f"{RESULT_RATIO:g} x or {RESULT_US:g} us (result objects); linearize: {LINEARIZE[0]:g} forward"
        f" dynamics plus {LINEARIZE[1]:g} us; sweep: {SWEEP_US:g} us a pose of the four-bar.",
    )
    return "\n".join(
        table(f"Single calls: {name}", ROWS, rows, notes) for name, rows in results["mechanisms"].items()
    )


def measure(mech: sr.Mechanism, rounds: int, seconds: float) -> list[dict[str, Any]]:
    """One row for each call."""
    bench = prepare(mech)
    rows = []
    for call in (*tree_calls(bench), *state_calls(bench), *pose_calls(bench), *model_calls(bench)):
        rivals = {"one": call.one, "many": call.many, "peer": call.peer and call.peer[1]}
        times = race({name: f for name, f in rivals.items() if f is not None}, rounds, seconds)
        us = {name: 1e6 * each.best for name, each in times.items()}
        rows.append(_row(call, us["one"], us["many"] / BATCH if "many" in us else None, us.get("peer")))
    _judge_models(rows, mech.nv)
    return rows


def _row(call: Call, us: float, kernel: float | None, peer: float | None) -> dict[str, Any]:
    above = None if kernel is None else us - kernel
    ratio = None if peer is None else us / peer
    most = (ARRAY_US, ARRAY_RATIO) if call.arrays else (RESULT_US, RESULT_RATIO)
    known = [x <= bound for x, bound in zip((above, ratio), most, strict=True) if x is not None]
    return {
        "call": call.name,
        "us": us,
        "kernel_us": kernel,
        "above_us": above,
        "peer_us": peer,
        "ratio": ratio,
        "verdict": ("met" if any(known) else "missed") if known else "",
        "peer": call.peer[0] if call.peer else "",
    }


def _judge_models(rows: list[dict[str, Any]], nv: int) -> None:
    by_name = {row["call"]: row for row in rows}
    most = LINEARIZE[0] * by_name["forward_dynamics"]["us"] + LINEARIZE[1]
    by_name["linearize"]["verdict"] = "met" if by_name["linearize"]["us"] <= most else "missed"
    for row in rows:
        if row["call"].startswith("sweep"):
            met = "met" if row["us"] <= SWEEP_US * SWEPT else "missed"
            row["verdict"] = met if nv <= FOUR_BAR_NV else ""


def tree_calls(bench: Bench) -> list[Call]:
    """Calls that return arrays, or numbers, and know no constraint."""
    m, model, data = bench.mech, bench.twin.model, bench.twin.data
    (q, v, a, _), (pq, pv, pa, _) = bench.ours[3], bench.peers[3]
    Q, V, A, _ = (part[:BATCH] for part in bench.batch())
    body, last = m.body_names[-1], model.njoints - 1

    def moved(what: Callable[..., object], *order: Array) -> Function:
        return lambda: (pin.forwardKinematics(model, data, *order), what(model, data, last))

    def placed() -> object:
        pin.forwardKinematics(model, data, pq)
        return data.oMi[last]

    peers: dict[str, tuple[str, Function]] = {
        "rnea": ("rnea", lambda: pin.rnea(model, data, pq, pv, pa)),
        "bias": ("nonLinearEffects", lambda: pin.nonLinearEffects(model, data, pq, pv)),
        "mass_matrix": ("crba", lambda: pin.crba(model, data, pq)),
        "energy": ("computeMechanicalEnergy", lambda: pin.computeMechanicalEnergy(model, data, pq, pv)),
        "pose": ("forwardKinematics", placed),
        "velocity": ("forwardKinematics, getVelocity", moved(pin.getVelocity, pq, pv)),
        "body_acceleration": (
            "forwardKinematics, getAcceleration",
            moved(pin.getAcceleration, pq, pv, pa),
        ),
        "jacobian": ("computeJointJacobian", lambda: pin.computeJointJacobian(model, data, pq, last)),
        "integrate": ("integrate", lambda: pin.integrate(model, pq, pv)),
        "difference": ("difference", lambda: pin.difference(model, pq, pq)),
    }
    ours: dict[str, tuple[Function, Function]] = {
        "rnea": (lambda: m.rnea(q, v, a), lambda: m.rnea(Q, V, A)),
        "bias": (lambda: m.bias(q, v), lambda: m.bias(Q, V)),
        "mass_matrix": (lambda: m.mass_matrix(q), lambda: m.mass_matrix(Q)),
        "energy": (lambda: m.energy(q, v), lambda: m.energy(Q, V)),
        "pose": (lambda: m.pose(q, body), lambda: m.evaluator.kernel.poses(Q)),
        "velocity": (lambda: m.velocity(q, v, body), lambda: m.velocity(Q, V, body)),
        "body_acceleration": (
            lambda: m.body_acceleration(q, v, a, body),
            lambda: m.body_acceleration(Q, V, A, body),
        ),
        "jacobian": (lambda: m.jacobian(q, body), lambda: m.jacobian(Q, body)),
        "integrate": (lambda: m.integrate(q, v), lambda: m.integrate(Q, V)),
        "difference": (lambda: m.difference(q, q), lambda: m.difference(Q, Q)),
    }
    results = ("energy", "pose")
    return [Call(name, *ours[name], peers[name], name not in results) for name in ours]


def state_calls(bench: Bench) -> list[Call]:
    """Calls of constrained dynamics."""
    m, twin = bench.mech, bench.twin
    (q, v, a, tau), (pq, pv, _, ptau) = bench.ours[3], bench.peers[3]
    Q, V, A, T = (part[:BATCH] for part in bench.batch())
    forward = ("constraintDynamics", lambda: twin.acceleration(pq, pv, ptau))
    terms = ("computeAllTerms, getConstraintsJacobian", lambda: twin.terms(pq, pv))
    return [
        Call(
            "acceleration", lambda: m.acceleration(q, v, tau), lambda: m.acceleration(Q, V, T), forward, True
        ),
        Call(
            "forward_dynamics",
            lambda: m.forward_dynamics(q, v, tau),
            lambda: m.forward_dynamics(Q, V, T),
            forward,
        ),
        Call("terms", lambda: m.terms(q, v), lambda: m.terms(Q, V), terms),
        Call("derivatives", lambda: m.derivatives(q, v, tau), lambda: m.derivatives(Q, V, T)),
        Call("inverse_dynamics", lambda: m.inverse_dynamics(q, v, a), lambda: m.inverse_dynamics(Q, V, A)),
    ]


def pose_calls(bench: Bench) -> list[Call]:
    """Calls about the constraints at a pose."""
    m = bench.mech
    q, v, *_ = bench.ours[3]
    near = m.integrate(q, 1e-3 * np.ones(m.nv))
    coordinate = m.names[-1]
    start = float(q[m.model.coordinate_q[-1]])
    values = start + np.linspace(0.0, 0.3, SWEPT)
    Q, V = (part[:BATCH] for part in bench.batch()[:2])
    rows = m.evaluator
    calls = [
        Call("project", lambda: m.project(near, v), lambda: m.project(np.tile(near, (BATCH, 1)), V)),
        Call(
            "consistent_velocity",
            lambda: m.consistent_velocity(q, v),
            lambda: m.consistent_velocity(Q, V),
            arrays=True,
        ),
        Call(
            "decompose",
            lambda: m.decompose(q),
            lambda: m._queries.decompose(Decomposition, Q, None, 0.0, rows),
        ),
        Call("mobility", lambda: m.mobility(q), lambda: m._queries.mobility(Mobility, Q, 0.0, rows)),
        Call("impact", lambda: m.impact(q, v), lambda: m.impact(Q, V)),
        Call("assemble", lambda: m.assemble(near), lambda: m.assemble(np.tile(near, (BATCH, 1)))),
    ]
    if m.nc:
        paths = np.tile(values, (BATCH, 1))
        one, many = (lambda: m.sweep(coordinate, values, q)), (lambda: m.sweep(coordinate, paths, q))
        calls.append(Call(f"sweep, {SWEPT} poses", one, many))
    return calls


def model_calls(bench: Bench) -> list[Call]:
    """Linear models and static poses."""
    m = bench.mech
    q, v, _, tau = bench.ours[3]
    Q, V, _, T = (part[:BATCH] for part in bench.batch())
    many = lambda: sr.linearize(m, Q, V, tau=T)  # noqa: E731
    calls = [Call("linearize", lambda: sr.linearize(m, q, v, tau=tau), many)]
    if m.name != "humanoid":  # nothing holds it
        calls.append(Call("equilibrium", lambda: sr.equilibrium(m)))
    return calls
