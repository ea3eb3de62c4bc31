"""Laws where ranks change, over random mechanisms; the long study is `python -m bench.laws`."""

from __future__ import annotations

import pytest

from bench.laws import FAULTS, main, study


def test_a_few_trials() -> None:
    total = study(12, seed=300)[-1]
    assert total["title"] == "all" and total["trials"] == 12 and total["told"] > 50
    assert not any(total[fault] for fault in (*FAULTS, "large", "undeclared"))


@pytest.mark.slow
def test_a_thousand_trials() -> None:
    assert main([]) == 0
