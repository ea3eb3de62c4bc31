"""Fuzzers: `python -m bench.fuzz --what api|files|mechanisms --count 100000 --seed 0`.

Runs are made in worker processes, so that a crash of any library underneath, or a hang, is seen and counted.
Run k of seed s is always the same; `--first k --count 1` repeats it. Exit code 1 where a run went wrong.
"""

from __future__ import annotations

import argparse
import importlib
import multiprocessing
import os
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")  # workers are the parallelism

ROOT = Path(__file__).parents[2]
WHAT = ("api", "files", "mechanisms")
REPORT_EVERY = 5000


def work(pipe: Connection, what: str, seed: int) -> None:
    """Make the runs that come through the pipe, in a folder of their own."""
    warnings.simplefilter("ignore")
    fuzzer = importlib.import_module(f"bench.fuzz.{what}").Fuzzer(seed)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        pipe.send("ready")
        while (run := pipe.recv()) is not None:
            start = time.perf_counter()
            pipe.send((*fuzzer(run), time.perf_counter() - start))
        os.chdir(ROOT)


@dataclass
class Tally:
    """What happened so far."""

    counts: Counter[str] = field(default_factory=Counter)
    bad: list[tuple[int, str]] = field(default_factory=list)
    slowest: tuple[float, int] = (0.0, -1)

    def note(self, run: int, kind: str, result: str, seconds: float) -> None:
        """Count one run."""
        self.counts[f"{kind} {result.partition(' ')[0]}"] += 1
        self.slowest = max(self.slowest, (seconds, run))
        if result.startswith("BAD"):
            self.bad.append((run, f"{kind}: {result}"))
            print(f"run {run}: {kind}: {result}", file=sys.stderr, flush=True)
        done = sum(self.counts.values())
        if done % REPORT_EVERY == 0:
            print(f"{done} runs, {len(self.bad)} bad", file=sys.stderr, flush=True)


class Worker:
    """A process that makes runs, replaced when it dies or hangs."""

    def __init__(self, what: str, seed: int) -> None:
        self.what, self.seed = what, seed
        self.start()

    def start(self) -> None:
        """A fresh process."""
        self.pipe, theirs = multiprocessing.Pipe()
        context = multiprocessing.get_context("spawn")
        self.process = context.Process(target=work, args=(theirs, self.what, self.seed), daemon=True)
        self.process.start()
        theirs.close()
        self.pipe.recv()
        self.run, self.since = -1, 0.0

    def give(self, run: int) -> None:
        """Hand over one run."""
        self.run, self.since = run, time.monotonic()
        self.pipe.send(run)

    def replace(self) -> None:
        """End the process and start another."""
        self.process.kill()
        self.process.join()
        self.pipe.close()
        self.start()


def fuzz(
    what: str, count: int, seed: int = 0, *, workers: int = 1, limit: float = 20.0, first: int = 0
) -> Tally:
    """Make runs number `first` to `first + count - 1`.

    Args:
        what: "api", "files" or "mechanisms".
        count: How many.
        seed: Chooses the runs.
        workers: Number of processes.
        limit: Time that one run may take [s].
        first: Number of the first run.
    """
    tally, waiting = Tally(), iter(range(first, first + count))
    pool = [Worker(what, seed) for _ in range(workers)]
    busy = [worker for worker in pool if _next(worker, waiting)]
    while busy:
        ready = wait([worker.pipe for worker in busy], timeout=0.5)
        for worker in list(busy):
            if worker.pipe in ready:
                try:
                    tally.note(worker.run, *worker.pipe.recv())
                except EOFError:
                    worker.process.join(5.0)
                    tally.note(worker.run, what, f"BAD crash (exit code {worker.process.exitcode})", 0.0)
                    worker.replace()
            elif time.monotonic() - worker.since > limit:
                tally.note(worker.run, what, f"BAD hang of more than {limit:g} s", limit)
                worker.replace()
            else:
                continue
            if not _next(worker, waiting):
                busy.remove(worker)
    for worker in pool:
        worker.pipe.send(None)
        worker.process.join(5.0)
    return tally


def _next(worker: Worker, waiting: Iterator[int]) -> bool:
    run = next(waiting, None)
    if run is not None:
        worker.give(run)
    return run is not None


def main() -> int:
    """Fuzz, print what happened, keep what went wrong."""
    parser = argparse.ArgumentParser(prog="python -m bench.fuzz", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--what", choices=WHAT, required=True)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--limit", type=float, default=20.0, help="seconds that one run may take")
    o = parser.parse_args()
    start = time.monotonic()
    tally = fuzz(o.what, o.count, o.seed, workers=o.workers, limit=o.limit, first=o.first)
    for name, count in sorted(tally.counts.items()):
        print(f"{count:8d}  {name}")
    seconds, (longest, slowest) = time.monotonic() - start, tally.slowest
    print(f"{o.count} runs of seed {o.seed} in {seconds:.0f} s; slowest {longest:.2f} s (run {slowest})")
    print(f"{len(tally.bad)} went wrong")
    fuzzer = importlib.import_module(f"bench.fuzz.{o.what}").Fuzzer(o.seed) if tally.bad else None
    for run, result in tally.bad:
        kept = ROOT / "out" / "fuzz" / f"{o.what}-{o.seed}-{run}.txt"
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(fuzzer.content(run) if fuzzer is not None else b"")
        print(f"run {run}: {result} (kept as {kept.relative_to(ROOT)})")
    return 1 if tally.bad else 0
