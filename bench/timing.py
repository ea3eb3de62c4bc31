"""Time rivals side by side, in rounds in which each gets its turn: what slows the machine slows them all.

CPU time of the process, not time on the wall: other processes then cost cache and clock frequency only. A
ratio is the median of the ratios of the rounds; `spread` is the largest over the smallest of them.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Times:
    """Seconds of CPU time per call, one entry for each round."""

    rounds: tuple[float, ...]

    @property
    def best(self) -> float:
        """The fastest round [s]."""
        return min(self.rounds)

    @property
    def median(self) -> float:
        """The round in the middle [s]."""
        return statistics.median(self.rounds)

    def per(self, count: int) -> Times:
        """The same for each of `count` equal parts of a call."""
        return Times(tuple(seconds / count for seconds in self.rounds))


@dataclass(frozen=True)
class Ratio:
    """How long one takes relative to another in the same rounds: median, and largest over smallest."""

    value: float
    spread: float


def ratio(times: Times, peer: Times) -> Ratio:
    """Time over the peer's time, round by round."""
    each = [a / b for a, b in zip(times.rounds, peer.rounds, strict=True)]
    return Ratio(statistics.median(each), max(each) / min(each))


def race(rivals: Mapping[str, Callable[[], object]], rounds: int, seconds: float = 0.02) -> dict[str, Times]:
    """Time functions that are called again and again.

    Args:
        rivals: The functions by name.
        rounds: Number of rounds; every other one runs in reverse order.
        seconds: CPU time that each function gets in a round, at least one call [s].
    """
    counts = {name: _calls_within(function, seconds) for name, function in rivals.items()}
    kept: dict[str, list[float]] = {name: [] for name in rivals}
    for name in _turns(rivals, rounds):
        function, count = rivals[name], counts[name]
        with _quiet():
            start = time.process_time()
            for _ in range(count):
                function()
            kept[name].append((time.process_time() - start) / count)
    return {name: Times(tuple(each)) for name, each in kept.items()}


def race_prepared(
    rivals: Mapping[str, tuple[Callable[[], Any], Callable[[Any], object]]], rounds: int
) -> dict[str, Times]:
    """Time functions that are called once in a round on something made for that call, which is not timed.

    Args:
        rivals: Pairs (prepare, function) by name; function gets what prepare returned.
        rounds: Number of rounds; every other one runs in reverse order.
    """
    kept: dict[str, list[float]] = {name: [] for name in rivals}
    for name in _turns(rivals, rounds):
        prepare, function = rivals[name]
        given = prepare()
        with _quiet():
            start = time.process_time()
            function(given)
            kept[name].append(time.process_time() - start)
    return {name: Times(tuple(each)) for name, each in kept.items()}


def _turns(rivals: Mapping[str, object], rounds: int) -> Iterator[str]:
    """Names in the order in which they run: nobody always comes second."""
    for i in range(rounds):
        yield from rivals if i % 2 == 0 else reversed(list(rivals))


def _calls_within(function: Callable[[], object], seconds: float) -> int:
    """How many calls fill a turn, found by doubling; warms caches on the way."""
    count = 1
    while True:
        start = time.process_time()
        for _ in range(count):
            function()
        spent = time.process_time() - start
        if spent >= 0.25 * seconds:
            return max(1, round(count * seconds / spent))
        count *= 2


@contextmanager
def _quiet() -> Iterator[None]:
    """No garbage collection while the clock runs."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
