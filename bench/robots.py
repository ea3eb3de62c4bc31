"""Round trips of robot files, judged by the simulators themselves: `python -m bench.robots FOLDER...`

Every MJCF, URDF and SDF file below the folders is loaded and compared with MuJoCo, Pinocchio or Drake
reading the same file ("in"); then it is written in each format and the copy compared in the same way ("xml",
"urdf", "sdf"), and once through all of them, URDF, then SDF, then MJCF ("chain"). A number is the largest
relative difference, at random states on the constraints, of M, of h, of the rows of J and of the
accelerations. A "-" was not compared, for the reason below it. A number with "*" was measured by our own
reader alone, because no other library reads the copy. Loops that a robot.yaml beside a URDF names (Gepetto's
example-parallel-robots) are closed. Files whose bodies have no joints at all are counted apart.
"""

from __future__ import annotations

import argparse
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import sarrus as sr

from .parallel_robots import closed, said_beside
from .robot_judges import (
    Array,
    NotComparedError,
    felt,
    frictionless,
    in_drake,
    in_mujoco,
    in_pinocchio,
    refused_by,
    relative,
    sensitivity,
    states,
)
from .robot_table import Row, is_no_robot, line, table

LARGEST = 150  # coordinates
CHAIN = (".urdf", ".sdf", ".xml")
Judge = Callable[[sr.Mechanism, Path], float]
JUDGES: dict[str, tuple[Judge, ...]] = {
    ".xml": (in_mujoco,),
    ".urdf": (in_pinocchio, in_drake),
    ".sdf": (in_drake,),
}


def read(file: Path) -> sr.Mechanism:
    """A robot without dry friction, with the loops that a robot.yaml beside it names."""
    said = said_beside(file)
    return frictionless(closed(file, said) if said else sr.load(file))


def judge(row: Row, mech: sr.Mechanism, file: Path) -> float | None:
    """Largest difference found by the libraries that read the format; None where none of them could."""
    found, refusals = [], []
    for one in JUDGES[file.suffix]:
        try:
            found.append(one(mech, file))
            row.judged[one.__name__] += 1
        except NotComparedError as error:
            refusals.append(str(error))
            row.judged[f"not {one.__name__}"] += 1
    if not found:
        row.judged[f"why {file.suffix}: {'; '.join(refusals)}"] += 1
    return max(found, default=None)


def motion(one: sr.Mechanism, two: sr.Mechanism) -> float:
    """Difference of accelerations: of coordinates at random states, of bodies let go at the default pose."""
    found = []
    for mech in (one, two):
        q, v = mech.default.q, np.zeros(mech.nv)
        a = np.where(felt(mech, q), mech.forward_dynamics(q, v).a, 0.0)
        heavy = [body.name for body in mech.model.bodies[1:] if body.mass]
        found.append({name: mech.body_acceleration(q, v, a, name) for name in heavy})
    common = [name for name in found[0] if name in found[1]]
    gaps = [np.abs(found[0][name] - found[1][name]).max() for name in common]
    worst = float(max(gaps, default=0.0) / max([1.0, *(np.abs(found[0][name]).max() for name in common)]))
    if set(one.names) == set(two.names) and one.nq == two.nq:
        for q, v in states(one):
            worst = max(worst, _same_state(one, two, q, v))
    return worst


def _same_state(one: sr.Mechanism, two: sr.Mechanism, q: Array, v: Array) -> float:
    """Difference of accelerations at one state, coordinates by name; that of wild motions relative.

    Positions are increments from the default pose: a ball may be zero elsewhere in the copy.
    """
    order = [one.names.index(name) for name in two.names]
    there = two.integrate(two.default.q, one.difference(one.default.q, q)[order])
    a, seen = one.forward_dynamics(q, v).a, felt(one, q)[order]
    return relative(two.forward_dynamics(there, v[order]).a[seen], a[order][seen], 1.0)


def study(file: Path, folder: Path) -> Row:
    """One robot, read and written in every format."""
    row = Row(f"{file.parent.name}/{file.name}")
    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            mech = read(file)
        mobility = mech.mobility()
    except sr.SarrusError as error:
        row.reasons.append(f"load: {error}")
        row.refused_too = refused_by(file)
        return row
    row.said["in"] = "; ".join(str(one.message) for one in said)
    row.jointless = all(body.joint.is_free or not body.joint.nv for body in mech.model.bodies[1:])
    row.nv, row.rows, row.nu, row.dof = mech.nv, mech.nc, mech.nu, mobility.dof
    if mech.nv > LARGEST:
        row.reasons.append(f"more than {LARGEST} coordinates")
        return row
    attempt(row, "in", lambda: imported(row, sr.load(file) if said_beside(file) else mech, file))
    for suffix in JUDGES:
        attempt(row, suffix[1:], lambda suffix=suffix: written(row, mech, [folder / f"copy{suffix}"]))
    attempt(row, "chain", lambda: written(row, mech, [folder / f"chain{suffix}" for suffix in CHAIN]))
    if any(not row.right(column) for column in row.errors):
        row.omitted, row.rounding = mech.omitted, sensitivity(mech)
    return row


def imported(row: Row, mech: sr.Mechanism, file: Path) -> float:
    """A file as it was read, beside another library reading it."""
    found = judge(row, mech, file)
    if found is None:
        raise NotComparedError(next(text for text in row.judged if text.startswith("why"))[4:])
    return found


def written(row: Row, mech: sr.Mechanism, copies: list[Path]) -> float:
    """Write, load what was written, and compare it: our own motion from rest, and another library's terms."""
    again, column = mech, copies[-1].suffix[1:] if len(copies) == 1 else "chain"
    for copy in copies:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            sr.save(again, copy)
        row.said[column] = "; ".join([row.said.get(column, ""), *(str(one.message) for one in said)])
        again = sr.load(copy)
    if again.mobility().dof != mech.mobility().dof:
        raise sr.ModelError(f"mobility {again.mobility().dof} instead of {mech.mobility().dof}")
    found = judge(row, again, copies[-1])
    if found is None:
        row.alone.add(column)
    return max(motion(mech, again), found or 0.0)


def attempt(row: Row, column: str, measure: Callable[[], float]) -> None:
    """A number, or the reason why there is none."""
    try:
        row.errors[column] = measure()
    except NotComparedError as error:
        row.reasons.append(f"{column}: not compared: {error}")
    except Exception as error:  # a study reports what other libraries raise
        row.reasons.append(f"{column}: {type(error).__name__}: {' '.join(str(error).split())}")


def robot_files(folders: list[Path]) -> list[Path]:
    """Files with robots below folders, scenes last."""
    found = []
    for folder in folders:
        for suffix in JUDGES:
            for file in sorted(
                folder.rglob(f"*{suffix}"), key=lambda one: (one.stem.startswith("scene"), one)
            ):
                head = file.read_bytes()[:4000]
                if b"<mujoco" in head or b"<robot" in head or b"<sdf" in head:
                    found.append(file)
    return found


def main(words: Any = None) -> list[Row]:
    """Run the study and print it."""
    parser = argparse.ArgumentParser(prog="python -m bench.robots", description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path, help="Folders with robot files.")
    parser.add_argument("--match", default="", help="Only files whose path contains this.")
    parser.add_argument("--per-folder", type=int, default=10**6, help="Number of files of one folder.")
    options = parser.parse_args(words)
    rows = []
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore")
        counts: Counter[Path] = Counter()
        for file in robot_files(options.folders):
            if options.match not in str(file) or counts[file.parent] >= options.per_folder:
                continue
            rows.append(study(file, Path(folder)))
            counts[file.parent] += rows[-1].nv > 0  # parts of robots and scenes without one do not count
            if not is_no_robot(rows[-1]):
                print(line(rows[-1]), flush=True)
    print(table(rows))
    return rows


if __name__ == "__main__":
    main()
