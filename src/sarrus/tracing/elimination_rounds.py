"""The order in which threads that work together eliminate sparse symmetric equations: rounds of updates.

What the updates are: `kernels/team/elimination.hpp`.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

AHEAD = 8  # rounds whose updates devices read beforehand, in two halves
RECIPROCAL = -1  # in place of d: x[to] = 1 / x[a]
Task = tuple[int, int, int, int]  # x[to] -= x[a] x[b] x[d]


@dataclass(frozen=True)
class Elimination:
    """The order of unknowns, and the entries of the factor.

    Attributes:
        order: unknowns in the order of elimination.
        below: unknowns after each one that its column has entries for, by unknown.
        place: where the entry of an earlier and a later unknown is kept; (i, i): the pivot.
        inverse: where the reciprocals of the pivots begin, behind the entries.
    """

    order: list[int]
    below: list[list[int]]
    place: dict[tuple[int, int], int]
    inverse: int

    def entry(self, a: int, b: int) -> int:
        """Where the entry of two unknowns is kept."""
        return self.place[(a, b)] if (a, b) in self.place else self.place[(b, a)]


def least_degree(
    neighbours: Sequence[Iterable[int]], waits_for: Sequence[Iterable[int]], least: int = 0
) -> Elimination:
    """The order of least degree in which unknown i comes after those in waits_for[i].

    Among unknowns of equal degree the one comes first that has waited for the fewest others: independent
    columns are then eliminated at the same time. least: numbers that there are before the reciprocals.
    """
    n = len(neighbours)
    left, waiting = [set(one) - {i} for i, one in enumerate(neighbours)], [set(one) for one in waits_for]
    after: list[list[int]] = [[] for _ in range(n)]
    for i, one in enumerate(waiting):
        for j in one:
            after[j].append(i)
    alive, depth = set(range(n)), [0] * n
    order: list[int] = []
    for _ in range(n):
        pivot = min((len(left[i]), depth[i], -i) for i in alive if not waiting[i])
        k = -pivot[2]
        order.append(k)
        alive.discard(k)
        for i in left[k]:
            left[i] |= left[k]
            left[i] -= {i, k}
            depth[i] = max(depth[i], depth[k] + 1)
        for i in after[k]:
            waiting[i].discard(k)
    at = {k: position for position, k in enumerate(order)}
    below = [sorted(left[i], key=lambda j: at[j]) for i in range(n)]
    place: dict[tuple[int, int], int] = {}
    for k in order:
        for j in (k, *below[k]):
            place[(k, j)] = len(place)
    return Elimination(order, below, place, max(len(place), least))


def heights(plan: Elimination) -> list[int]:
    """By unknown: how many others have to be eliminated after it, one after the other."""
    found = [0] * len(plan.order)
    for k in reversed(plan.order):
        found[k] = 1 + max((found[j] for j in plan.below[k]), default=0)
    return found


@dataclass
class Tasks:
    """Updates with their urgency: (urgency, task)."""

    listed: list[tuple[float, Task]] = field(default_factory=list)

    def add(self, urgency: float, to: int, a: int, b: int, d: int) -> None:
        """One more."""
        self.listed.append((urgency, (to, a, b, d)))


def factor_tasks(plan: Elimination, tasks: Tasks) -> None:
    """u_ij -= u_ik u_jk / d_k for all pivots k, and 1 / d_k."""
    inverse, height = plan.inverse, heights(plan)
    for k in plan.order:
        tasks.add(height[k] + 0.5, inverse + k, plan.place[(k, k)], 0, RECIPROCAL)
        for n, i in enumerate(plan.below[k]):
            for j in plan.below[k][n:]:
                tasks.add(height[i], plan.entry(i, j), plan.place[(k, i)], plan.place[(k, j)], inverse + k)


def forward_tasks(plan: Elimination, right: int, tasks: Tasks) -> None:
    """y_i -= u_ik y_k / d_k for all pivots k; right: where y begins."""
    inverse, height = plan.inverse, heights(plan)
    for k in plan.order:
        for i in plan.below[k]:
            tasks.add(height[i] - 0.5, right + i, plan.place[(k, i)], right + k, inverse + k)


def back_tasks(plan: Elimination, right: int, tasks: Tasks) -> None:
    """w_k -= u_ik w_i / d_i for all pivots k."""
    inverse = plan.inverse
    urgency = [0] * len(plan.order)
    for k in plan.order:
        urgency[k] = 1 + max((urgency[j] for j in range(len(plan.order)) if k in plan.below[j]), default=0)
    for k in reversed(plan.order):
        for i in plan.below[k]:
            tasks.add(urgency[k], right + k, plan.place[(k, i)], right + i, inverse + i)


@dataclass
class _Waiting:
    """Tasks that are still to be done.

    Attributes:
        tasks: all of them.
        pending: by place, how many tasks have still to write to it.
        readers: by place, the tasks that wait for it.
        blocked: by task, how many places it waits for.
        ready: heap of the tasks that wait for none, (minus urgency, task).
    """

    tasks: Tasks
    pending: dict[int, int] = field(default_factory=dict)
    readers: dict[int, list[int]] = field(default_factory=dict)
    blocked: list[int] = field(default_factory=list)
    ready: list[tuple[float, int]] = field(default_factory=list)

    @classmethod
    def of(cls, tasks: Tasks) -> _Waiting:
        """All tasks, none of them done."""
        found = cls(tasks)
        for _, (to, *_) in tasks.listed:
            found.pending[to] = found.pending.get(to, 0) + 1
        for n in range(len(tasks.listed)):
            waits = found._waits(n)
            found.blocked.append(len(waits))
            for x in waits:
                found.readers.setdefault(x, []).append(n)
            if not waits:
                found._release(n)
        return found

    def _waits(self, n: int) -> list[int]:
        """Places that a task reads and others write to."""
        to, a, b, d = self.tasks.listed[n][1]
        reads = {a} if d == RECIPROCAL else {a, b, d}
        return [x for x in reads if x in self.pending and x != to]

    def _release(self, n: int) -> None:
        heapq.heappush(self.ready, (-self.tasks.listed[n][0], n))

    def take(self, width: int, may_invert: bool) -> list[int]:
        """The most urgent tasks that are ready, at most `width`, each with a place of its own.

        may_invert: whether reciprocals may be among them.
        """
        taken: list[int] = []
        later: list[int] = []
        written: set[int] = set()
        while self.ready and len(taken) < width:
            _, n = heapq.heappop(self.ready)
            to, *_, d = self.tasks.listed[n][1]
            waits = to in written or (d == RECIPROCAL and not may_invert)
            (later if waits else taken).append(n)
            written.add(to)
        for n in later:
            self._release(n)
        return taken

    def done(self, n: int) -> None:
        """A task has written: where it was the last to do so, those that wait for its place may go on."""
        to = self.tasks.listed[n][1][0]
        self.pending[to] -= 1
        if self.pending[to]:
            return
        for reader in self.readers.pop(to, []):
            self.blocked[reader] -= 1
            if not self.blocked[reader]:
                self._release(reader)


def rounds_of(tasks: Tasks, width: int, idle: Callable[[int], Task]) -> npt.NDArray[np.int64]:
    """Rounds of at most `width` tasks (rounds, width, 4), the most urgent ones first.

    A task waits until nothing more is to be written to what it reads, and a round writes to a place once.
    Rounds of even numbers alone have reciprocals. idle(k): what lane k does where it has nothing to do. The
    number of rounds is a multiple of AHEAD.
    """
    waiting = _Waiting.of(tasks)
    rounds: list[list[Task]] = []
    while waiting.ready:
        taken = waiting.take(width, may_invert=len(rounds) % 2 == 0)
        rounds.append([tasks.listed[n][1] for n in taken] + [idle(k) for k in range(len(taken), width)])
        for n in taken:
            waiting.done(n)
    rounds += [[idle(k) for k in range(width)]] * (-len(rounds) % AHEAD)
    return np.array(rounds, dtype=np.int64).reshape(-1, width, 4)
