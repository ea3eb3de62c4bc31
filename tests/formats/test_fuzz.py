"""A few hundred mutated files: a Mechanism or a SarrusError each time, in a process that survives.

`python bench/fuzz_formats.py --runs 100000` is the long study.
"""

from __future__ import annotations

from bench.fuzz_formats import KINDS, case, fuzz, originals


def test_mutated_files_are_a_mechanism_or_a_clear_error() -> None:
    tally = fuzz(runs=240, seed=7)
    assert not tally.bad, tally.bad
    assert sum(tally.counts.values()) == 240
    for kind in KINDS:
        assert tally.counts[f"{kind} mechanism"] > 0
        assert tally.counts[f"{kind} FormatError"] > 0


def test_runs_are_repeatable() -> None:
    texts = {kind: originals(kind) for kind in KINDS}
    assert [case(k, 3, texts) for k in range(9)] == [case(k, 3, texts) for k in range(9)]
    assert case(0, 3, texts) != case(0, 4, texts)
