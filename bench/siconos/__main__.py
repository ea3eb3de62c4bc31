"""`python -m bench.siconos`: runs that Siconos publishes, beside ours; `--scheme` takes minutes.

`--scheme` repeats three of them by the scheme of Moreau and Jean (bench/twins/moreau_jean.py) at the step of
the source and at half of it: their difference from ours is the error of their steps.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict

from ..report import Column, table
from .compare import CASES, rocking
from .scheme import SCHEMES, step_errors

COLUMNS: tuple[Column, ...] = (
    ("run", "run", ""),
    ("coordinate", "coordinate", ""),
    ("events", "events", ""),
    ("their step, s", "step", ".0e"),
    ("range", "size", ".3g"),
    ("largest difference", "difference", ".1e"),
)
SCHEME: tuple[Column, ...] = (
    ("run", "run", ""),
    ("until, s", "until", ".2f"),
    ("coordinate", "coordinate", ""),
    ("theirs from the scheme", "theirs", ".1e"),
    ("scheme from ours", "whole", ".1e"),
    ("at half the step", "half", ".1e"),
)
NOTES = (
    "differences are those of their steps, of order 1 across impacts; ours: rtol 1e-8.",
    "slider-crank: the published run gains 2 % of energy in free flight (projection of its steps).",
)

if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m bench.siconos", description=__doc__)
    parser.add_argument("--scheme", action="store_true", help="how large the errors of their steps are")
    given = parser.parse_args()
    rows = [asdict(one) for case in CASES for one in case.compare()] + [asdict(one) for one in rocking()]
    print(table("Runs of siconos-tutorials", COLUMNS, rows, NOTES))
    if given.scheme:
        errors = [row for name in SCHEMES for row in step_errors(name)]
        print(table("The same scheme at the step of the source", SCHEME, errors))
