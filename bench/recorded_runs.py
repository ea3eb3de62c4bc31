"""The same results before and after a change of the code: runs recorded by one version, compared with others.

    python -m bench.recorded_runs record FILE.npz              run every case, store all arrays and words
    python -m bench.recorded_runs compare BEFORE.npz AFTER.npz [--tolerance 1e-12] [--twin BEFORE_2.npz]
    python -m bench.recorded_runs write-files FOLDER           files and pickles of this version
    python -m bench.recorded_runs read-files FOLDER            load those of another version

The cases (`bench/recorded`) use the names that users type and
nothing else, so the same files run on both versions. Whatever a case returns is taken apart into numbers
(floating-point arrays) and facts (words, whole numbers, truth values); a call that raises is recorded as its
error. What only the newer version has is no difference.

Tolerance 0 demands the same bits, which two builds with -ffp-contract=off can give. Otherwise a difference
counts relative to the largest entry of its array, or to 1e-3 where all are smaller. What amplifies rounding
(chosen steps, finite differences, residuals that are nothing but rounding) differs more between any two
builds: each `--twin` is a recording of the *old* code in another build, or on another instruction set
(SARRUS_ISA=generic), and ten times the largest difference between them is allowed, array by array. Facts on
which they disagree are free.
"""

from __future__ import annotations

import argparse
import dataclasses
import enum
import json
import re
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import sarrus as sr

Array = npt.NDArray[Any]

# times of day and of computing, whole mechanisms, and what is recorded under other names already
LEFT_OUT = {"elapsed", "time", "cost", "system", "mechanism", "options", "point", "solutions", "segments"}
SHOWN = 8  # differences per case
AMPLE = 10.0  # times the difference of the twins
RESUMED = 1e-7  # tolerance for runs from a file that go on in another build
LEAST = 1e-3  # arrays whose entries are all smaller count as if they had this one (m, rad, N, ...)
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\binf\b|\bnan\b)")


class Recording:
    """Numbers and facts by name, "case/call/part"."""

    def __init__(self) -> None:
        self.numbers: dict[str, Array] = {}
        self.facts: dict[str, Any] = {}

    def save(self, path: str) -> None:
        """One file: all numbers in a row, and a table of contents in JSON."""
        index = [(k, a.dtype.char, a.shape) for k, a in self.numbers.items()]
        head = json.dumps({"version": sr.__version__, "index": index, "facts": self.facts}).encode()
        flat = [np.ascontiguousarray(a).reshape(-1).view(np.float64) for a in self.numbers.values()]
        np.savez(path, head=np.frombuffer(head, dtype=np.uint8), numbers=np.concatenate([np.zeros(0), *flat]))

    @staticmethod
    def load(path: str) -> Recording:
        """What `save` wrote."""
        with np.load(path) as file:
            head, numbers = json.loads(file["head"].tobytes()), file["numbers"]
        out, first = Recording(), 0
        out.facts = head["facts"]
        for name, kind, shape in head["index"]:
            dtype = np.dtype(kind)
            count = int(np.prod(shape)) * (dtype.itemsize // 8)
            out.numbers[name] = numbers[first : first + count].view(dtype).reshape(shape)
            first += count
        return out

    def take(self, name: str, value: Any, depth: int = 0) -> None:
        """Take a result apart."""
        if isinstance(value, enum.Enum):
            self.facts[name] = f"{value.name} ({value.value})"
        elif value is None or isinstance(value, (bool, np.bool_, int, np.integer)):
            self.facts[name] = None if value is None else int(value)
        elif isinstance(value, str):
            self.facts[name] = masked(value)
        elif isinstance(value, (float, complex, np.floating, np.complexfloating)):
            self.numbers[name] = np.asarray(value)
        elif isinstance(value, np.ndarray) and value.dtype.kind in "fc":
            self.numbers[name] = np.array(value)
        elif isinstance(value, np.ndarray) and value.dtype.kind in "biu":
            self.facts[name] = np.asarray(value, dtype=int).tolist()
        elif isinstance(value, sr.Pose):
            self.numbers[name] = np.array(value.matrix)
        elif isinstance(value, Mapping):
            self.facts[name] = [str(k) for k in value]
            for key, one in value.items():
                self.take(f"{name}.{key}", one, depth + 1)
        elif isinstance(value, (tuple, list, np.ndarray)) and not hasattr(value, "_fields"):
            self._take_several(name, value, depth)
        elif not callable(value) and not isinstance(value, sr.Mechanism) and depth < 5:
            cut = isinstance(value, sr.Trajectory) and (value.status == 1 or hasattr(value, "segments"))
            for part in public_names(value):
                if not (cut and part == "nfev"):  # how far it looked beyond its end depends on the clock
                    self._take_part(f"{name}.{part}", value, part, depth)

    def _take_several(self, name: str, values: Any, depth: int) -> None:
        self.facts[f"{name}.length"] = len(values)
        if all(isinstance(one, (str, int, type(None))) for one in values):
            self.facts[name] = [masked(one) if isinstance(one, str) else one for one in values]
            return
        for i, one in enumerate(values):
            self.take(f"{name}[{i}]", one, depth + 1)

    def _take_part(self, name: str, value: Any, part: str, depth: int) -> None:
        try:
            one = getattr(value, part)
        except Exception as error:
            self.facts[name] = said(error)
        else:
            self.take(name, one, depth + 1)


class Keep:
    """What cases call: runs a function and records what it returned, or raised."""

    def __init__(self, recording: Recording, case: str) -> None:
        self._recording, self._case = recording, case

    def __call__(self, label: str, function: Any, *args: Any, **options: Any) -> Any:
        """Record a call (or a value); returns its result, None where it raised."""
        name = f"{self._case}/{label}"
        assert f"{name}/warnings" not in self._recording.facts, name
        result = None
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            try:
                result = function(*args, **options) if callable(function) else function
            except Exception as error:
                self._recording.facts[f"{name}/raised"] = said(error)
            else:
                self._recording.take(f"{name}/", result)
        ours = [masked(str(w.message)) for w in heard if issubclass(w.category, sr.SarrusWarning)]
        self._recording.facts[f"{name}/warnings"] = ours
        return result


def public_names(value: Any) -> Iterable[str]:
    """Fields, attributes and properties that do not begin with an underscore."""
    names = [field.name for field in dataclasses.fields(value)] if dataclasses.is_dataclass(value) else []
    names += getattr(value, "_fields", ())
    names += getattr(value, "__dict__", ())
    for kind in type(value).__mro__:
        names += [k for k, p in vars(kind).items() if isinstance(p, (property, cached_property))]
    return sorted({name for name in names if not name.startswith("_")} - LEFT_OUT)


def masked(text: str) -> str:
    """Without addresses, places in the source and computing times."""
    text = re.sub(r"\nTraceback.*", "\n(traceback)", text, flags=re.S)
    text = re.sub(r"[\d.]+ us each", "some us each", text)
    return re.sub(r"0x[0-9a-f]{6,}", "(address)", text)


def said(error: Exception) -> str:
    """An error in one line."""
    return f"{type(error).__name__}: {masked(str(error))}"


def record(cases: Mapping[str, Callable[[Keep], None]], show: bool = False) -> Recording:
    """Run all cases."""
    out = Recording()
    for name, case in cases.items():
        began = time.perf_counter()
        try:
            case(Keep(out, name))
        except Exception as error:
            out.facts[f"{name}/raised"] = said(error)
            print(f"{name}: {said(error)}")
        if show:
            print(f"{time.perf_counter() - began:7.2f} s  {name}", flush=True)
    return out


# ---------------------------------------------------------------------- comparing


def compare(before: Recording, after: Recording, tolerance: float, twins: Sequence[Recording] = ()) -> bool:
    """Print a table, case by case; whether everything is within bounds."""
    cases: dict[str, dict[str, None]] = {}
    for name in [*before.numbers, *before.facts, *after.numbers, *after.facts]:
        cases.setdefault(name.split("/")[0], {})[name] = None
    fine = True
    print(f"{'case':<44} {'arrays':>6} {'facts':>6}  result")
    for case, names in cases.items():
        worst, identical, wrong = 0.0, True, []
        for name in names:
            off, text = differ(name, before, after, tolerance, twins)
            worst, identical = max(worst, off), identical and off == 0.0 and not text
            wrong += [text] if text.startswith("!") else []
        fine = fine and not wrong
        verdict = "bit-identical" if identical else f"largest relative difference {worst:.1e}"
        counts = [sum(name in table for name in names) for table in (before.numbers, before.facts)]
        print(f"{case:<44} {counts[0]:>6} {counts[1]:>6}  {'OUT OF BOUNDS, ' * bool(wrong)}{verdict}")
        for text in sorted(wrong, key=lambda text: "/raised: " not in text)[:SHOWN]:
            print(f"    {text[1:]}")
        if len(wrong) > SHOWN:
            print(f"    ... and {len(wrong) - SHOWN} more")
    return fine


def differ(
    name: str, before: Recording, after: Recording, tolerance: float, twins: Sequence[Recording]
) -> tuple[float, str]:
    """Relative difference of one entry, and words: "" the same bits, "!..." out of bounds."""
    if name in before.numbers and name in after.numbers:
        return numbers_differ(name, before, after, tolerance, twins)
    a, b = (
        r.facts.get(name, "(nothing)") if name not in r.numbers else "(an array)" for r in (before, after)
    )
    if a == b:
        return 0.0, ""
    if name not in before.facts and name not in before.numbers and not name.endswith("/raised"):
        return 0.0, f"new: {name}"
    free = any(twin.facts.get(name) != before.facts.get(name) for twin in twins)
    free = free or any((name in twin.numbers) != (name in before.numbers) for twin in twins)
    allowed = tolerance > 0.0 and (free or alike(a, b))
    return 0.0, f"{'' if allowed else '!'}{name}: {str(a)[:150]!r} is now {str(b)[:150]!r}"


def numbers_differ(
    name: str, before: Recording, after: Recording, tolerance: float, twins: Sequence[Recording]
) -> tuple[float, str]:
    """The same of two arrays."""
    a, b = before.numbers[name], after.numbers[name]
    others = [twin.numbers.get(name, np.zeros(0)) for twin in twins]
    if a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes():
        return 0.0, ""
    free = tolerance > 0.0 and any(x.shape != a.shape for x in others)  # its size is a matter of rounding
    if a.shape != b.shape:
        return np.inf, f"{'' if free else '!'}{name}: shape {a.shape} is now {b.shape}"
    off, scale = apart(a, b), float(np.abs(a[np.isfinite(a)]).max(initial=LEAST))
    spread = max((apart(x, y) for x, y in combinations([a, *others], 2)), default=0.0) if not free else np.inf
    bound = max(tolerance * scale, AMPLE * spread) if tolerance else 0.0
    text = f"{name}: off by {off / scale:.1e} of {scale:.1e}, allowed {bound / scale:.1e}"
    return off / scale, ("!" if off > bound or tolerance == 0.0 else "") + text


def apart(a: Array, b: Array) -> float:
    """Largest difference; infinite where only one is finite."""
    if not np.array_equal(np.isfinite(a), np.isfinite(b)):
        return np.inf
    finite = np.isfinite(a)
    return float(np.abs(a[finite] - b[finite]).max(initial=0.0))


def alike(a: Any, b: Any) -> bool:
    """Whether two texts, or lists of texts, differ in the last digits of numbers only."""
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(x == y or alike(x, y) for x, y in zip(a, b, strict=True))
    if not (isinstance(a, str) and isinstance(b, str)) or NUMBER.sub("#", a) != NUMBER.sub("#", b):
        return False
    x, y = ([float(n) for n in NUMBER.findall(text)] for text in (a, b))
    return np.allclose(x, y, rtol=1e-3, atol=1e-9, equal_nan=True)


def main(arguments: list[str] | None = None) -> int:
    """The command line; 1 where something is out of bounds."""
    parser = argparse.ArgumentParser(prog="python -m bench.recorded_runs", description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("record")
    one.add_argument("file")
    one.add_argument("--only", default="", help="cases whose name contains this")
    one = commands.add_parser("compare")
    one.add_argument("before")
    one.add_argument("after")
    one.add_argument("--tolerance", type=float, default=0.0)
    one.add_argument("--twin", action="append", default=[], help="the old code in another build")
    for name in ("write-files", "read-files"):
        commands.add_parser(name).add_argument("folder", type=Path)
    given = parser.parse_args(arguments)
    from .recorded import files

    if given.command == "record":
        from .recorded import cases as asked
        from .recorded import control, grasps, motion

        rooms = (asked, motion, control, grasps)
        cases = {name: case for room in rooms for name, case in room.CASES.items()}
        out = record({name: case for name, case in cases.items() if given.only in name}, show=True)
        out.save(given.file)
        print(f"sarrus {sr.__version__}: {len(out.numbers)} arrays, {len(out.facts)} facts")
        return 0
    if given.command == "compare":
        before, after, *twins = map(Recording.load, (given.before, given.after, *given.twin))
        fine = compare(before, after, given.tolerance, twins)
    elif given.command == "write-files":
        files.write(given.folder)
        return 0
    else:
        fine = compare(Recording.load(str(given.folder / "expected.npz")), files.read(given.folder), RESUMED)
    print("within bounds" if fine else "OUT OF BOUNDS")
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
