"""Accelerations and the algorithms below them, beside Pinocchio; growth with the size of the mechanism."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pinocchio as pin

import sarrus as sr

from .report import Column, table
from .timing import Times, race, ratio
from .twins.pinocchio_twin import PinocchioTwin, pinocchio_twin

Array = npt.NDArray[np.float64]

AT_MOST = 0.6  # of pin.constraintDynamics, one call from Python; what is aimed at is AIM
AIM = 0.4
BATCH = 256
SIZES = (2, 5, 10, 20, 40)
QUICK_SIZES = (2, 4, 8)
LARGE = 10  # growth is fitted from here on

ROWS: tuple[Column, ...] = (
    ("what", "title", ""),
    ("sarrus us", "sarrus_us", ".2f"),
    ("peer us", "peer_us", ".2f"),
    ("ratio", "ratio", ".2f"),
    ("spread", "spread", ".2f"),
    ("differ by", "difference", ".0e"),
    ("peer", "peer", ""),
)
GROWTH: tuple[Column, ...] = (
    ("N", "n", "d"),
    ("nv", "nv", "d"),
    ("sarrus us", "sarrus_us", ".1f"),
    ("constraintDynamics us", "peer_us", ".1f"),
    ("ratio", "ratio", ".2f"),
    ("spread", "spread", ".2f"),
    ("differ by", "difference", ".0e"),
    ("lcaba us", "lcaba_us", ".1f"),
    ("ratio", "lcaba_ratio", ".2f"),
    ("differ by", "lcaba_difference", ".0e"),
)


@dataclass(frozen=True)
class Bench:
    """One mechanism, its twin, and the same states for both: (q, v, a, tau) each, in the order of each."""

    mech: sr.Mechanism
    twin: PinocchioTwin
    ours: list[tuple[Array, ...]]
    peers: list[tuple[Array, ...]]

    def batch(self) -> tuple[Array, ...]:
        """Our states again and again, one under the other."""
        many = [self.ours[i % len(self.ours)] for i in range(BATCH)]
        return tuple(np.ascontiguousarray(np.stack(part)) for part in zip(*many, strict=True))


def prepare(mech: sr.Mechanism, count: int = 8) -> Bench:
    """States along the first 0.4 s of free motion, with random forces."""
    moved = sr.simulate(mech, (0.0, 0.4), dt=1e-3, store_every=400 // count)
    forces = np.random.default_rng(1).normal(size=(count, mech.nv))
    twin = pinocchio_twin(mech)
    ours = []
    for q, v, tau in zip(moved.q[1:], moved.v[1:], forces, strict=True):
        parts = (q, v, mech.acceleration(q, v, tau), tau)
        ours.append(tuple(np.array(part) for part in parts))
    return Bench(mech, twin, ours, [tuple(twin.to_peer(*parts)) for parts in ours])


def run(quick: bool, rounds: int) -> dict[str, Any]:
    """All of it, as numbers."""
    seconds = 0.005 if quick else 0.02
    sizes = QUICK_SIZES if quick else SIZES
    grown = [growth(n, rounds, seconds) for n in sizes]
    return {
        "rows": [
            *algorithms(prepare(sr.library.dual_arm()), rounds, seconds),
            smallest(prepare(sr.library.pendulum()), rounds, seconds),
        ],
        "growth": grown,
        "exponents": {key: exponent(grown, key) for key in ("sarrus_us", "peer_us", "lcaba_us")},
    }


def show(results: dict[str, Any]) -> str:
    """All of it, as text."""
    fitted = results["exponents"]
    top = table(
        "Welded arms (14 coordinates, 6 rows): CPU time of one evaluation, beside Pinocchio",
        ROWS,
        results["rows"],
        (
            "one call: as typed in Python on both sides, checks of arguments included. batched:"
            f" {BATCH} states in one call,",
            "per state, against one call of the peer, which has none for many states; the pendulum shows how"
            " much the call itself costs.",
        ),
    )
    bottom = table(
        "N-four-bar: growth of one constrained acceleration, called from Python",
        GROWTH,
        results["growth"],
        (
            f"time grows as N^{fitted['sarrus_us']:.2f} (sarrus), N^{fitted['peer_us']:.2f}"
            f" (constraintDynamics), N^{fitted['lcaba_us']:.2f} (lcaba), fitted to the larger N.",
        ),
    )
    return f"{top}\n{bottom}"


def algorithms(bench: Bench, rounds: int, seconds: float) -> list[dict[str, Any]]:
    """One row for each algorithm: one call, and batched."""
    mech, twin, kernel = bench.mech, bench.twin, bench.mech.evaluator.kernel
    model, data = twin.model, twin.data
    q, v, a, tau = bench.batch()
    outside = mech.evaluator.drive(0.0, BATCH), mech.evaluator.user(q, v, 0.0)
    constrained = (lambda q, v, a, tau: twin.acceleration(q, v, tau), "pin.constraintDynamics")
    terms = (lambda q, v, a, tau: twin.terms(q, v), "pin.computeAllTerms + getConstraintsJacobian")
    rnea = (lambda q, v, a, tau: pin.rnea(model, data, q, v, a), "pin.rnea")
    crba = (lambda q, v, a, tau: pin.crba(model, data, q), "pin.crba")
    race_once, race_many = _racers(bench, rounds, seconds)
    return [
        race_once("acceleration", lambda q, v, a, tau: mech.acceleration(q, v, tau), *constrained)
        | {"at_most": AT_MOST, "aim": AIM},
        race_many("acceleration and forces", lambda: kernel.forward(q, v, tau, *outside)[0], *constrained),
        race_once("terms (M, h, phi, J, b, gamma)", lambda q, v, a, tau: mech.terms(q, v), *terms),
        race_many("terms (M, h, phi, J, b, gamma)", lambda: kernel.terms(q, v, *outside), *terms),
        race_once("inverse dynamics (RNEA)", lambda q, v, a, tau: mech.rnea(q, v, a), *rnea),
        race_many("inverse dynamics (RNEA)", lambda: kernel.rnea(q, v, a), *rnea),
        race_once("mass matrix (CRBA)", lambda q, v, a, tau: mech.mass_matrix(q), *crba),
        race_many("mass matrix (CRBA)", lambda: kernel.mass_matrix(q), *crba),
    ]


def smallest(bench: Bench, rounds: int, seconds: float) -> dict[str, Any]:
    """A pendulum: nearly all of it is the cost of a call from Python."""
    once, _ = _racers(bench, rounds, seconds)
    model, data = bench.twin.model, bench.twin.data
    row: dict[str, Any] = once(
        "acceleration of a pendulum",
        lambda q, v, a, tau: bench.mech.acceleration(q, v, tau),
        lambda q, v, a, tau: pin.aba(model, data, q, v, tau),
        "pin.aba",
    )
    return row


def _racers(bench: Bench, rounds: int, seconds: float) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Two functions that race ours against the peer: one call at a time, or our batch."""

    def once(title: str, ours: Callable[..., Any], theirs: Callable[..., Any], peer: str) -> dict[str, Any]:
        found = ours(*bench.ours[0])
        times = race({"sarrus": _over(bench.ours, ours), "peer": _over(bench.peers, theirs)}, rounds, seconds)
        each = {name: measured.per(len(bench.ours)) for name, measured in times.items()}
        return _row(f"{title}, one call", peer, each, _difference(bench, found, theirs(*bench.peers[0])))

    def many(title: str, ours: Callable[[], Any], theirs: Callable[..., Any], peer: str) -> dict[str, Any]:
        found = ours()
        first = found[0][0] if isinstance(found, tuple) else found[0]
        times = race({"sarrus": ours, "peer": _over(bench.peers, theirs)}, rounds, seconds)
        each = {"sarrus": times["sarrus"].per(BATCH), "peer": times["peer"].per(len(bench.peers))}
        return _row(f"{title}, batched", peer, each, _difference(bench, first, theirs(*bench.peers[0])))

    return once, many


def _over(states: Sequence[tuple[Array, ...]], function: Callable[..., Any]) -> Callable[[], None]:
    """Call a function with one state after another."""

    def each() -> None:
        for one in states:
            function(*one)

    return each


def _row(title: str, peer: str, times: dict[str, Times], difference: float) -> dict[str, Any]:
    compared = ratio(times["sarrus"], times["peer"])
    return {
        "title": title,
        "peer": peer,
        "sarrus_us": 1e6 * times["sarrus"].median,
        "peer_us": 1e6 * times["peer"].median,
        "ratio": compared.value,
        "spread": compared.spread,
        "difference": difference,
    }


def _difference(bench: Bench, ours: Any, theirs: Any) -> float:
    """Largest difference of what both computed, relative to the largest entry; of terms: of M."""
    found = np.asarray(ours.M if hasattr(ours, "M") else ours)
    if found.ndim == 2:  # Pinocchio fills the upper triangle of its mass matrix
        upper = np.triu(np.array(bench.twin.data.M))
        order = np.argsort(bench.twin.v_index)
        wanted = (upper + np.triu(upper, 1).T)[np.ix_(order, order)]
    else:
        wanted = bench.twin.from_peer(np.array(theirs))
    return float(np.abs(found - wanted).max() / np.abs(wanted).max())


def growth(n: int, rounds: int, seconds: float) -> dict[str, Any]:
    """One constrained acceleration of a row of n four-bars."""
    bench = prepare(sr.library.n_four_bar(n), count=4)
    structured = bench.twin.structured_acceleration()
    rivals: dict[str, Callable[..., Array]] = {
        "sarrus": lambda q, v, a, tau: bench.mech.acceleration(q, v, tau),
        "peer": lambda q, v, a, tau: bench.twin.acceleration(q, v, tau),
        "lcaba": lambda q, v, a, tau: structured(q, v, tau),
    }
    states = {name: bench.ours if name == "sarrus" else bench.peers for name in rivals}
    found = {name: rivals[name](*states[name][0]) for name in rivals}
    loops = {name: _over(states[name], rivals[name]) for name in rivals}
    times = {name: each.per(4) for name, each in race(loops, rounds, seconds).items()}
    row = _row(
        f"N = {n}", "pin.constraintDynamics", times, _difference(bench, found["sarrus"], found["peer"])
    )
    return row | {
        "n": n,
        "nv": bench.mech.nv,
        "lcaba_us": 1e6 * times["lcaba"].median,
        "lcaba_ratio": ratio(times["sarrus"], times["lcaba"]).value,
        "lcaba_difference": _difference(bench, found["sarrus"], found["lcaba"]),
    }


def exponent(rows: Sequence[dict[str, Any]], key: str) -> float:
    """p of the power law N^p through the larger mechanisms, at least the last two."""
    large = [row for row in rows if row["n"] >= LARGE]
    used = large if len(large) > 1 else rows[-2:]
    slope = np.polyfit([math.log(row["n"]) for row in used], [math.log(row[key]) for row in used], 1)[0]
    return float(slope)
