"""Reference data of tests/data: tables with a source line, a head, and blanks where samples are missing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

FOLDER = Path(__file__).parents[1] / "data"


def table(name: str) -> npt.NDArray[np.float64]:
    """Rows (n, columns), NaN where a sample is missing."""
    return np.genfromtxt(FOLDER / f"{name}.csv", delimiter=",", skip_header=2)
