"""Mutated MJCF, URDF and JSON files: each must end as a Mechanism or as a SarrusError, soon.

    python bench/fuzz_formats.py --runs 100000

Files are loaded in worker processes, so that a crash of any library underneath, or a hang, is seen and
counted; the file that caused it is kept under out/fuzz/. Run k of seed s is always the same file.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path

ROOT = Path(__file__).parents[1]
DATA = ROOT / "tests" / "data"
KINDS = ("mjcf", "urdf", "json")
REPORT_EVERY = 5000
NUMBERS = "0 -1 1e308 -1e308 1e-320 nan inf -0.0 1e50 99999999999 0x10 1,5 3e 0.000001 1.570796 1e400".split()
WORDS = ("ground", "world", "", " ", "a", "\u00e9", "\0", "a" * 300, "&amp;", "../..", "base", "free", "ball")
SNIPPETS = {
    "mjcf": """<joint type="ball"/>
        <freejoint/>
        <body name="x"/>
        <worldbody/>
        <equality><weld body1="base"/></equality>
        <geom type="mesh" mesh="m"/>
        <include file="gripper.xml"/>
        <replicate count="1000"><geom size="1"/></replicate>
        <option gravity="0 0 0"/>
        <composite type="cable" count="500 1 1"/>
        <!-- -->
        <?pi?>
        <![CDATA[x]]>""",
    "urdf": """<link name="extra"/>
        <joint name="j" type="floating"><parent link="base"/><child link="extra"/></joint>
        <mimic joint="elbow"/>
        <axis xyz="0 0 0"/>
        <inertial/>
        <!-- -->
        <!DOCTYPE r [<!ENTITY a "b">]>
        <loop_joint name="l" type="fixed"><link1 link="rod"/><link2 link="base"/></loop_joint>
        &a;
        <?pi?>""",
    "json": """null
        []
        {}
        true
        "x"
        1e999
        -1
        {"type": "Free"}
        ["a", 1.0]
        [1, 2]""",
}


# ---------------------------------------------------------------------- files


def originals(kind: str) -> list[str]:
    """Sound files of one kind."""
    if kind == "mjcf":
        return [(DATA / name).read_text() for name in ("gripper.xml", "leg.xml")]
    if kind == "urdf":
        return [(DATA / "arm.urdf").read_text()]
    import sarrus as sr
    from sarrus.formats.json import spec_of

    names = ("four_bar", "slider_crank", "stewart", "pantograph_leg", "rolling_disk")
    return [json.dumps(spec_of(sr.library.MECHANISMS[name]()).to_dict(), indent=1) for name in names]


def mutated(text: str, kind: str, rng: random.Random) -> bytes:
    """The file after one to six changes, most of them small enough to leave the rest meaningful."""
    for _ in range(1 + int(rng.expovariate(0.7))):
        text = rng.choice(CHANGES)(text, kind, rng)
    data = text.encode("utf-8", errors="replace")
    if rng.random() < 0.1 and data:
        k = rng.randrange(len(data))
        data = data[:k] + bytes([rng.randrange(256)]) + data[k + 1 :]
    return data


def _spans(text: str, characters: str) -> list[tuple[int, int]]:
    """Where maximal runs of the given characters are."""
    found, start = [], None
    for i, c in enumerate(text + "\n"):
        if c in characters:
            start = i if start is None else start
        elif start is not None:
            found.append((start, i))
            start = None
    return found


def _number(text: str, kind: str, rng: random.Random) -> str:
    spans = _spans(text, "0123456789.-+e")
    spans = [s for s in spans if any(c.isdigit() for c in text[slice(*s)])]
    if not spans:
        return text
    a, b = rng.choice(spans)
    value = rng.choice(NUMBERS) if rng.random() < 0.6 else repr(rng.uniform(-2, 2))
    return text[:a] + value + text[b:]


def _word(text: str, kind: str, rng: random.Random) -> str:
    spans = _spans(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789")
    if len(spans) < 2:
        return text
    (a, b), (c, d) = rng.choice(spans), rng.choice(spans)
    value = text[c:d] if rng.random() < 0.7 else rng.choice(WORDS)
    return text[:a] + value + text[b:]


def _cut(text: str, kind: str, rng: random.Random) -> str:
    a = rng.randrange(len(text) + 1)
    return text[:a] + text[a + int(rng.expovariate(0.02)) :]


def _repeat_line(text: str, kind: str, rng: random.Random) -> str:
    lines = text.splitlines(keepends=True) or [""]
    k = rng.randrange(len(lines))
    n = 1 + int(rng.expovariate(0.5))
    return "".join(lines[: k + n] + lines[k:])


def _drop_line(text: str, kind: str, rng: random.Random) -> str:
    lines = text.splitlines(keepends=True) or [""]
    k = rng.randrange(len(lines))
    return "".join(lines[:k] + lines[k + 1 + int(rng.expovariate(1.0)) :])


def _swap_lines(text: str, kind: str, rng: random.Random) -> str:
    lines = text.splitlines(keepends=True) or [""]
    i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[i], lines[j] = lines[j], lines[i]
    return "".join(lines)


def _insert(text: str, kind: str, rng: random.Random) -> str:
    ends = [i + 1 for i, c in enumerate(text) if c in ">,:["]
    k = rng.choice(ends) if ends else 0
    return text[:k] + rng.choice(SNIPPETS[kind].splitlines()).strip() + text[k:]


def _truncate(text: str, kind: str, rng: random.Random) -> str:
    return text[: rng.randrange(len(text) + 1)] if rng.random() < 0.1 else text


CHANGES = (
    _number,
    _number,
    _number,
    _word,
    _word,
    _cut,
    _repeat_line,
    _drop_line,
    _swap_lines,
    _insert,
    _truncate,
)


def case(run: int, seed: int, texts: dict[str, list[str]]) -> tuple[str, bytes]:
    """Kind and content of one run."""
    rng = random.Random(f"{seed}/{run}")
    kind = KINDS[run % len(KINDS)]
    return kind, mutated(rng.choice(texts[kind]), kind, rng)


# ---------------------------------------------------------------------- one run


def outcome(path: Path) -> str:
    """ "mechanism", or the class of the error; anything but a SarrusError is told by "BAD"."""
    import sarrus as sr

    try:
        mech = sr.load(path)
        _ = mech.default
    except sr.SarrusError as error:
        return type(error).__name__ if str(error).strip() else "BAD error without a message"
    except BaseException as error:
        return f"BAD {type(error).__name__}: {error}"[:300]
    return "mechanism" if isinstance(mech, sr.Mechanism) else f"BAD {type(mech).__name__}"


def work(pipe: Connection, seed: int) -> None:
    """Load the files of the runs that come through the pipe."""
    warnings.simplefilter("ignore")
    texts = {kind: originals(kind) for kind in KINDS}
    with tempfile.TemporaryDirectory() as folder:
        pipe.send("ready")
        while (run := pipe.recv()) is not None:
            kind, data = case(run, seed, texts)
            path = Path(folder) / f"case.{'json' if kind == 'json' else 'xml'}"
            path.write_bytes(data)
            start = time.perf_counter()
            pipe.send((outcome(path), time.perf_counter() - start))


# ---------------------------------------------------------------------- many runs


@dataclass
class Tally:
    """What happened so far."""

    counts: Counter[str] = field(default_factory=Counter)
    bad: list[tuple[int, str]] = field(default_factory=list)
    slowest: tuple[float, int] = (0.0, -1)

    def note(self, run: int, result: str, seconds: float) -> None:
        """Count one run."""
        self.counts[f"{KINDS[run % len(KINDS)]} {result if not result.startswith('BAD') else 'BAD'}"] += 1
        self.slowest = max(self.slowest, (seconds, run))
        if result.startswith("BAD"):
            self.bad.append((run, result))
            print(f"run {run}: {result}", file=sys.stderr, flush=True)
        done = sum(self.counts.values())
        if done % REPORT_EVERY == 0:
            print(f"{done} runs, {len(self.bad)} bad", file=sys.stderr, flush=True)


class Worker:
    """A process that loads files, replaced when it dies or hangs."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.start()

    def start(self) -> None:
        """A fresh process."""
        self.pipe, theirs = multiprocessing.Pipe()
        context = multiprocessing.get_context("spawn")
        self.process = context.Process(target=work, args=(theirs, self.seed), daemon=True)
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


def fuzz(runs: int, seed: int = 0, workers: int = 1, limit: float = 20.0, first: int = 0) -> Tally:
    """Load mutated files.

    Args:
        runs: How many.
        seed: Chooses the files.
        workers: Number of processes.
        limit: Time that one file may take [s].
        first: Index of the first run.
    """
    tally, waiting = Tally(), iter(range(first, first + runs))
    pool = [Worker(seed) for _ in range(workers)]
    busy = [worker for worker in pool if _next(worker, waiting)]
    while busy:
        ready = wait([worker.pipe for worker in busy], timeout=0.5)
        for worker in list(busy):
            if worker.pipe in ready:
                try:
                    tally.note(worker.run, *worker.pipe.recv())
                except EOFError:
                    tally.note(worker.run, f"BAD crash (exit code {worker.process.exitcode})", 0.0)
                    worker.replace()
            elif time.monotonic() - worker.since > limit:
                tally.note(worker.run, f"BAD hang of more than {limit:g} s", limit)
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
    """Fuzz, print what happened, keep the files that went wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--limit", type=float, default=20.0)
    options = parser.parse_args()
    start = time.monotonic()
    tally = fuzz(options.runs, options.seed, options.workers, options.limit, options.first)
    for name, count in sorted(tally.counts.items()):
        print(f"{count:8d}  {name}")
    seconds = time.monotonic() - start
    print(
        f"{options.runs} runs in {seconds:.0f} s; slowest {tally.slowest[0]:.2f} s (run {tally.slowest[1]})"
    )
    texts = {kind: originals(kind) for kind in KINDS}
    for run, result in tally.bad:
        kept = ROOT / "out" / "fuzz" / f"{options.seed}-{run}.txt"
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(case(run, options.seed, texts)[1])
        print(f"run {run}: {result} (kept as {kept.relative_to(ROOT)})")
    return 1 if tally.bad else 0


if __name__ == "__main__":
    sys.exit(main())
