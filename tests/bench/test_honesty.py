"""Success means right, over random runs; the long study is `python -m bench.honesty`, in `make slow`."""

from __future__ import annotations

import pytest

from bench.honesty import main, study


def test_a_few_runs() -> None:
    rows = study(6, seed=300)
    assert rows[-1]["title"] == "all" and rows[-1]["runs"] == 6
    assert rows[-1]["wrong"] == 0


@pytest.mark.slow
def test_two_thousand_runs() -> None:
    assert main(["--count", "2000"]) == 0
