"""A few hundred runs of each fuzzer: a result or a SarrusError each time, in a process that survives.

`python -m bench.fuzz --what api --count 100000` is the long study.
"""

from __future__ import annotations

import pytest

from bench.fuzz.api import Fuzzer as ApiFuzzer
from bench.fuzz.files import KINDS, case, originals
from bench.fuzz.runs import WHAT, fuzz


@pytest.mark.parametrize("what", WHAT)
def test_nothing_goes_wrong(what: str) -> None:
    count = {"api": 600, "files": 240, "mechanisms": 45}[what]
    tally = fuzz(what, count, seed=7)
    assert not tally.bad, tally.bad
    assert sum(tally.counts.values()) == count


def test_every_kind_of_file_is_read_and_refused() -> None:
    tally = fuzz("files", 120, seed=8)
    for kind in KINDS:
        refused = "InputError" if kind == "npz" else "FormatError"
        assert tally.counts[f"{kind} result"] > 0 and tally.counts[f"{kind} {refused}"] > 0


def test_runs_are_repeatable() -> None:
    texts = {kind: originals(kind) for kind in KINDS if kind != "npz"}
    picked = [k for k in range(12) if KINDS[k % len(KINDS)] != "npz"]
    assert [case(k, 3, texts) for k in picked] == [case(k, 3, texts) for k in picked]
    assert case(0, 3, texts) != case(0, 4, texts)
    fuzzer = ApiFuzzer(3)
    assert len(fuzzer.calls) > 120
    assert [fuzzer._case(k)[0] for k in range(200)] == [ApiFuzzer(3)._case(k)[0] for k in range(200)]
