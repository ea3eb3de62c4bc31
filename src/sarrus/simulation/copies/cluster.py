"""A rollout on a Dask cluster: batches in parts, results in order; what a worker lost is done again."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from ...arrays import Array
from ...errors import InputError
from ..run.progress import Progress
from .arguments import RolloutArguments
from .copies_run import CopiesRun
from .result import Rollout

Law = tuple[Array, Array, Array, Array]
PARTS = 4  # for each thread of the cluster, so that fast workers take more of them
REPEATED = 3  # times that a part which failed, or whose worker died, is tried again


def run_on_cluster(client: Any, given: RolloutArguments) -> Rollout:
    """The same numbers as on this machine; `client` is a `distributed.Client`."""
    if not all(hasattr(client, name) for name in ("submit", "gather", "nthreads")):
        raise InputError(f"client must be a dask.distributed Client, got {type(client).__name__}.")
    parts = split(given, PARTS * max(sum(client.nthreads().values()), 1))
    futures = [client.submit(run_part, part, pure=False, retries=REPEATED) for part in parts]
    bar = Progress(given.progress, 0.0, float(len(parts)))
    try:
        if given.progress:
            import distributed

            completed: Any = distributed.as_completed
            for done, _ in enumerate(completed(futures), 1):
                bar.show(float(done))
        found = client.gather(futures)
    except KeyboardInterrupt:
        finished = [future.status == "finished" for future in futures]
        found = [
            future.result() if whole else CopiesRun(part).run(interrupted=True)
            for future, part, whole in zip(futures, parts, finished, strict=True)
        ]
        client.cancel([future for future, whole in zip(futures, finished, strict=True) if not whole])
    finally:
        bar.close()
    return Rollout.joined(given.variants or (given.mech,), found, (given.dt, given.end))


def run_part(part: RolloutArguments) -> Rollout:
    """One part, on a worker; its mechanisms stay there."""
    return replace(CopiesRun(part).run(), _mechs=())


def split(given: RolloutArguments, most: int) -> list[RolloutArguments]:
    """At most so many parts of about the same size, each with one thread unless the user says otherwise."""
    edges = np.linspace(0, given.count, min(most, given.count) + 1).astype(int).tolist()
    threads = given.threads if given.threads_asked else 1
    return [
        replace(
            given,
            variants=given.variants[begin:end],
            q=given.q[begin:end],
            v=given.v[begin:end],
            u=given.u if given.u is None or len(given.u) == 1 else given.u[begin:end],
            feedback=_part_of(given.feedback, begin, end),
            open_by=given.open_by[begin:end],
            off=given.off[begin:end],
            inside=given.inside[begin:end],
            mode=None if given.mode is None else given.mode[begin:end],
            threads=threads,
            progress=False,
        )
        for begin, end in pairwise(edges)
    ]


def _part_of(law: Law | None, begin: int, end: int) -> Law | None:
    """A linear feedback, whose inputs may differ between copies."""
    if law is None or len(law[0]) == 1:
        return law
    return law[0][begin:end], *law[1:]
