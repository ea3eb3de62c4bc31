"""bench.stored_contacts: both ways in which matrices are stored, and a problem with a known solution."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bench import stored_contacts

# two blocks of mass 1 on a floor: pushes stop speeds of -1, friction 0.5 stops 0.3 and not 2
DENSE = "3 2 0 6 6 {size} {matrix} -1 0.3 0 -1 2 0 0.5 0.5"
BLOCKS = "3 2 1 6 6 2 2 2 3 6 3 6 3 2 0 1 2 0 1 0 {one} 1 {one} -1 0.3 0 -1 2 0 0.5 0.5"
ONE = "1 0 0 0 1 0 0 0 1"
IDENTITY = " ".join(str(x) for x in np.eye(6).ravel())
TEXTS = {
    "dense": DENSE.format(size="", matrix=IDENTITY),
    "dense, size twice": DENSE.format(size="6 6", matrix=IDENTITY),
    "blocks": BLOCKS.format(one=ONE),
}


@pytest.mark.parametrize("way", TEXTS)
def test_stored_problems_are_read_and_solved(way: str) -> None:
    problem = stored_contacts.read(TEXTS[way])
    np.testing.assert_array_equal(problem.W, np.eye(6))
    np.testing.assert_array_equal(problem.friction, [0.5, 0.5])
    found = stored_contacts.solve(problem)
    assert found["outcome"] == "solved" and found["residual"] < 1e-14
    assert stored_contacts.residual(problem, np.array([1, -0.3, 0, 1, -0.5, 0])) < 1e-15
    less = stored_contacts.residual(problem, np.array([1, -0.3, 0, 1, -0.4, 0]))
    assert less == pytest.approx(0.04)  # (0.2, -2) onto the cone is (0.96, -0.48); 0.08 of q = 2


def test_blocks_are_stored_by_columns() -> None:
    """Rows 2: one row of friction; a block that is not symmetric."""
    text = "2 1 1 2 2 1 1 1 2 2 2 1 0 1 0 0 4 1 2 5 -1 0 0.5"
    np.testing.assert_array_equal(
        stored_contacts.in_blocks(iter([float(x) for x in text.split()[5:]]), 2), [[4, 2], [1, 5]]
    )
    found = stored_contacts.solve(stored_contacts.read(text))
    assert found["residual"] < 1e-14


@pytest.mark.parametrize("text", ["", "3 1 7", "3 1 0 4 4", "3 1 0 3 3 1 0", "4 1 0 4 4"])
def test_other_files_are_left_out(text: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"ends early|no problem|another size"):
        stored_contacts.read(text)
    (tmp_path / "other.dat").write_text(text)
    assert stored_contacts.run(tmp_path, 10) == []
