"""Derivatives of constrained dynamics beside Pinocchio's; a stiff run, implicit beside explicit."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pinocchio as pin

import sarrus as sr

from .kernel import BATCH, Bench, prepare
from .report import Column, table
from .timing import race, race_prepared, ratio

Array = npt.NDArray[np.float64]

AT_MOST = 1.0  # of Pinocchio's forward dynamics and derivatives together
AIM = 4.0  # derivatives, over one forward dynamics inside the kernel
SPAN = 3.0  # [s] of the governor
STIFFER = (1.0, 10.0, 100.0)
RUNS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("radau, analytic Jacobian", {"method": "radau"}),
    ("radau, finite differences", {"method": "radau", "jacobian": "finite_difference"}),
    ("dopri5", {"method": "dopri5"}),
)
TOLERANCE = {"rtol": 1e-6, "atol": 1e-8}

ROWS: tuple[Column, ...] = (
    ("what", "title", ""),
    ("us", "sarrus_us", ".1f"),
    ("beside us", "peer_us", ".1f"),
    ("ratio", "ratio", ".2f"),
    ("spread", "spread", ".2f"),
    ("differ by", "difference", ".0e"),
    ("beside", "peer", ""),
)
STIFF: tuple[Column, ...] = (
    ("springs times", "stiffer", "g"),
    ("method", "method", ""),
    ("steps", "steps", "d"),
    ("evaluations", "nfev", "d"),
    ("ratio", "nfev_ratio", ".2f"),
    ("CPU s", "seconds", ".3f"),
    ("ratio", "ratio", ".3f"),
    ("error m", "error", ".0e"),
)


def run(quick: bool, rounds: int) -> dict[str, Any]:
    """All of it, as numbers."""
    bench = prepare(sr.library.dual_arm())
    seconds = 0.005 if quick else 0.02
    stiff = [row for k in (STIFFER[:1] if quick else STIFFER) for row in governor(k, 0.3 if quick else SPAN)]
    return {
        "rows": [*beside_pinocchio(bench, rounds, seconds), *inside(bench, rounds, seconds)],
        "stiff": stiff,
    }


def show(results: dict[str, Any]) -> str:
    """All of it, as text."""
    top = table(
        "Welded arms: derivatives of acceleration and multipliers by q, v and tau",
        ROWS,
        results["rows"],
        (
            "differ by: along directions tangent to {phi = 0, J v = 0}; off them no derivative is better",
            f"than another. batched: {BATCH} states in one call, per state.",
        ),
    )
    bottom = table(
        "Stiff flyball governor (IFToMM A05), rtol 1e-6: implicit beside explicit",
        STIFF,
        results["stiff"],
        (
            "evaluations: of the acceleration; analytic derivatives do not count. ratios: to dopri5. error:",
            "of the height of the slider at the end.",
        ),
    )
    return f"{top}\n{bottom}"


def beside_pinocchio(bench: Bench, rounds: int, seconds: float) -> list[dict[str, Any]]:
    """One call from Python on both sides; theirs needs its forward dynamics first."""
    mech, twin = bench.mech, bench.twin
    q, v, _, tau = bench.ours[0]
    peer = bench.peers[0]

    def theirs() -> None:
        twin.acceleration(peer[0], peer[1], peer[3])
        pin.computeConstraintDynamicsDerivatives(
            twin.model, twin.data, twin.constraints, twin.constraint_data, twin.settings
        )

    times = race({"ours": lambda: mech.derivatives(q, v, tau), "theirs": theirs}, rounds, seconds)
    compared = ratio(times["ours"], times["theirs"])
    theirs()
    row = {
        "title": "derivatives, one call",
        "sarrus_us": 1e6 * times["ours"].median,
        "peer_us": 1e6 * times["theirs"].median,
        "ratio": compared.value,
        "spread": compared.spread,
        "difference": difference(bench, q, v, tau),
        "peer": "pin.constraintDynamics + computeConstraintDynamicsDerivatives",
        "at_most": AT_MOST,
    }
    return [row]


def difference(bench: Bench, q: Array, v: Array, tau: Array) -> float:
    """Largest difference along tangent directions, relative to the largest derivative there."""
    mech, twin = bench.mech, bench.twin
    d = mech.derivatives(q, v, tau)
    lift = sr.linearize(mech, q, v, tau=tau).lift
    dq, dv, i = lift[: mech.nv], lift[mech.nv :], twin.v_index
    ours = (d.a_q @ dq + d.a_v @ dv)[i]
    theirs = twin.data.ddq_dq @ dq[i] + twin.data.ddq_dv @ dv[i]
    return float(np.max(np.abs(ours - theirs)) / np.max(np.abs(theirs)))


def inside(bench: Bench, rounds: int, seconds: float) -> list[dict[str, Any]]:
    """Many states in one call: the cost over one forward dynamics, and the other methods over this one."""
    mech, kernel = bench.mech, bench.mech.evaluator.kernel
    q, v, _, tau = bench.batch()
    states = (q, v, tau, mech.evaluator.drive(0.0, BATCH), mech.evaluator.user(q, v, 0.0))
    one = bench.ours[0]
    rivals = {
        "forward": lambda: kernel.forward(*states),
        "analytic": lambda: kernel.derivatives(*states),
        "dual": lambda: kernel.derivatives(*states, True),
        "linearize": lambda: sr.linearize(mech, one[0], one[1], tau=one[3]),
        "differences": lambda: sr.linearize(mech, one[0], one[1], tau=one[3], method="finite_difference"),
    }
    times = race(rivals, rounds, seconds)
    per = {
        name: each.per(BATCH if name in ("forward", "analytic", "dual") else 1)
        for name, each in times.items()
    }
    rows = []
    for title, name, peer in (
        ("derivatives, batched", "analytic", "forward"),
        ("by dual numbers, batched", "dual", "analytic"),
        ("sr.linearize", "linearize", "differences"),
    ):
        compared = ratio(per[name], per[peer])
        rows.append(
            {
                "title": title,
                "sarrus_us": 1e6 * per[name].median,
                "peer_us": 1e6 * per[peer].median,
                "ratio": compared.value,
                "spread": compared.spread,
                "peer": PEERS[peer],
                "at_most": AIM if name == "analytic" else None,
            }
        )
    return rows


PEERS = {
    "forward": "one forward dynamics, batched",
    "analytic": "the analytic ones, batched",
    "differences": 'sr.linearize(method="finite_difference")',
}


def governor(stiffer: float, span: float) -> list[dict[str, Any]]:
    """The governor with stiffer springs and dampers, by every method."""
    mech = sr.library.flyball_governor(8e5 * stiffer, 4e4 * stiffer)
    exact = sr.simulate(mech, (0.0, span), method="radau", rtol=1e-10, atol=1e-12, store_every=10**6).q[-1, 1]
    rows = []
    for name, options in RUNS:
        made: list[sr.Trajectory] = []
        call = (
            lambda: None,
            lambda _, o=options, m=made: m.append(sr.simulate(mech, (0.0, span), **o, **TOLERANCE)),
        )
        seconds = race_prepared({name: call}, 1)[name].median
        run = made[0]
        rows.append(
            {
                "stiffer": stiffer,
                "method": name,
                "steps": len(run) - 1,
                "nfev": run.nfev,
                "seconds": seconds,
                "error": float(abs(run.q[-1, 1] - exact)),
            }
        )
    for row in rows:
        row["nfev_ratio"] = row["nfev"] / rows[-1]["nfev"]
        row["ratio"] = row["seconds"] / rows[-1]["seconds"]
    rows[0] |= {"title": f"stiff governor, springs times {stiffer:g}", "at_most": 1.0}
    return rows
