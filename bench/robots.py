"""Round trips of robot files, judged by the simulators themselves: `python -m bench.robots FOLDER...`

Every MJCF, URDF and SDF file below the folders is loaded and compared with MuJoCo, Pinocchio or Drake
reading the same file ("in"); then it is written in each format and the copy compared in the same way ("xml",
"urdf", "sdf"), and once through all of them, URDF, then SDF, then MJCF ("chain"). A number is the largest
relative difference, at random states on the constraints, of M, of h, of the rows of J and of the
accelerations. Loops that a robot.yaml beside a URDF names (Gepetto's example-parallel-robots) are closed.
"""

from __future__ import annotations

import argparse
import re
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import sarrus as sr

from .robot_judges import (
    Array,
    NotComparedError,
    felt,
    frictionless,
    in_drake,
    in_mujoco,
    in_pinocchio,
    relative,
    states,
)

RIGHT = 1e-10
LARGEST = 150  # coordinates
FEW = 10.0  # times the rounding below, within which two ways to the same number may differ
STILL = "rows are still independent"  # of loops that the digits of a file leave undecided
NO_ROBOT = ("no coordinate", "no joint of it moves", "needs a <model>")
CHAIN = (".urdf", ".sdf", ".xml")
Judge = Callable[[sr.Mechanism, Path], float]
JUDGES: dict[str, tuple[Judge, ...]] = {
    ".xml": (in_mujoco,),
    ".urdf": (in_pinocchio, in_drake),
    ".sdf": (in_drake,),
}


@dataclass
class Row:
    """One robot: sizes, differences by column ("in", "xml", ...), and reasons where there is none."""

    name: str
    nv: int = 0
    rows: int = 0
    dof: int = 0
    nu: int = 0
    errors: dict[str, float] = field(default_factory=dict)
    reasons: list[str] = field(default_factory=list)
    judged: Counter[str] = field(default_factory=Counter)
    rounding: float = 0.0


def read(file: Path) -> sr.Mechanism:
    """A robot without dry friction, with the loops that a robot.yaml beside it names."""
    loops = loops_beside(file)
    if not loops:
        return frictionless(sr.load(file))
    spec = sr.load_spec(file)
    for i, (a, b, joint) in enumerate(loops, start=1):
        spec.close(f"loop{i}", a, b, joint)
    return frictionless(spec.compile())


def loops_beside(file: Path) -> list[tuple[str, str, Any]]:
    """Pairs of links that coincide, wholly or in a point."""
    beside = file.with_name("robot.yaml")
    if file.suffix != ".urdf" or not beside.exists():
        return []
    import yaml

    said = yaml.safe_load(beside.read_text())
    kinds = [sr.Spherical() if kind.lower() == "3d" else sr.Fixed() for kind in said.get("type", ())]
    return [(a, b, kind) for (a, b), kind in zip(said.get("closed_loop", ()), kinds, strict=False)]


def judge(row: Row, mech: sr.Mechanism, file: Path) -> float:
    """Largest difference found by the libraries that read the format; those that cannot are passed over."""
    worst = 0.0
    for one in JUDGES[file.suffix]:
        try:
            worst = max(worst, one(mech, file))
            row.judged[one.__name__] += 1
        except NotComparedError:
            row.judged[f"not {one.__name__}"] += 1
    return worst


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
    """Difference of accelerations at one state, coordinates by name; that of wild motions relative."""
    order = [one.names.index(name) for name in two.names]
    q_two, v_two = np.array(two.default.q), v[order]
    at_one, at_two = one.model.tree.coordinate_q, two.model.tree.coordinate_q
    for here, there in enumerate(order):
        if at_two[here] >= 0 and at_one[there] >= 0:
            q_two[at_two[here]] = q[at_one[there]]
    for k, body in enumerate(two.model.bodies[1:], start=1):
        if body.joint.is_ball or body.joint.is_free:
            same = one.model.body_index(body.name)
            q_two[two.model.q_slices[k]] = q[one.model.q_slices[same]]
    a, seen = one.forward_dynamics(q, v).a, felt(one, q)[order]
    return relative(two.forward_dynamics(q_two, v_two).a[seen], a[order][seen], 1.0)


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
        return row
    row.nv, row.rows, row.nu, row.dof = mech.nv, mech.nc, mech.nu, mobility.dof
    if mech.nv > LARGEST:
        row.reasons.append(f"more than {LARGEST} coordinates")
        return row
    attempt(row, "in", lambda: judge(row, sr.load(file) if loops_beside(file) else mech, file))
    for suffix in JUDGES:
        attempt(row, suffix[1:], lambda suffix=suffix: written(row, mech, [folder / f"copy{suffix}"]))
    attempt(row, "chain", lambda: written(row, mech, [folder / f"chain{suffix}" for suffix in CHAIN]))
    if row.reasons:
        explain(row, mech)
        row.reasons += [text[i:] for one in said if (i := (text := str(one.message)).find(STILL)) >= 0]
    return row


def explain(row: Row, mech: sr.Mechanism) -> None:
    """What is known about a robot that is not right in every column."""
    row.rounding = rounding(mech)
    row.reasons.append(f"condition of the reduced M times the spacing of floats: {row.rounding:.0e}")
    if mech.omitted:
        row.reasons.append(f"not modelled: {'; '.join(mech.omitted[:3])}")


def rounding(mech: sr.Mechanism) -> float:
    """Relative error of accelerations that rounding of M alone leads to."""
    q = mech.default.q
    N = mech.decompose(q).N if mech.nc else np.eye(mech.nv)
    return float(np.finfo(float).eps * np.linalg.cond(N.T @ mech.mass_matrix(q) @ N))


def written(row: Row, mech: sr.Mechanism, copies: list[Path]) -> float:
    """Write, load what was written, and compare it: our own motion from rest, and another library's terms."""
    again = mech
    for copy in copies:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            sr.save(again, copy)
        row.judged.update(f"said {one.message}" for one in said if len(copies) == 1)
        again = sr.load(copy)
    if again.mobility().dof != mech.mobility().dof:
        raise sr.ModelError(f"mobility {again.mobility().dof} instead of {mech.mobility().dof}")
    return max(motion(mech, again), judge(row, again, copies[-1]))


def attempt(row: Row, column: str, measure: Callable[[], float]) -> None:
    """A number, or the reason why there is none."""
    try:
        row.errors[column] = measure()
        if row.errors[column] > RIGHT:
            row.reasons.append(f"{column}: differs by {row.errors[column]:.0e}{_said(row, column)}")
    except Exception as error:  # a study reports what other libraries raise
        row.reasons.append(f"{column}: {type(error).__name__}: {' '.join(str(error).split())}")


def _said(row: Row, column: str) -> str:
    """What save said about a copy, where it explains a difference."""
    for message in row.judged:
        found = re.search(r"(?:principal )?moments that violate[^;.]*", message)
        if found and f"copy.{column}" in message:
            return f"; save said: {found.group()}"
    return ""


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


def show(rows: list[Row]) -> str:
    """The table, and what it says."""
    columns = ["in", *(suffix[1:] for suffix in JUDGES), "chain"]
    lines = [
        f"{'robot':48} {'nv':>4} {'rows':>5} {'dof':>4} {'u':>4} " + " ".join(f"{c:>8}" for c in columns)
    ]
    robots = [row for row in rows if not is_no_robot(row)]
    for row in robots:
        values = (f"{row.errors[c]:8.0e}" if c in row.errors else f"{'-':>8}" for c in columns)
        lines.append(f"{row.name:48.48} {row.nv:4} {row.rows:5} {row.dof:4} {row.nu:4} " + " ".join(values))
        lines += [f"    {reason:.200}" for reason in row.reasons]
    return "\n".join([*lines, *summary(robots, columns, len(rows) - len(robots))])


def is_no_robot(row: Row) -> bool:
    """Whether nothing in a file moves: parts, scenes and furniture."""
    return any(text in reason for reason in row.reasons for text in NO_ROBOT)


def summary(rows: list[Row], columns: list[str], others: int) -> Iterator[str]:
    """Counts."""
    tried = [row for row in rows if row.errors]
    for column in columns:
        right = [row for row in tried if row.errors.get(column, 1.0) <= RIGHT]
        yield f"{column}: {len(right)} of {len(tried)} robots right to {RIGHT:g}"
    whole = [row for row in tried if all(row.errors.get(column, 1.0) <= RIGHT for column in columns)]
    close = [
        row
        for row in tried
        if row not in whole and all(row.errors.get(column, 1.0) <= FEW * row.rounding for column in columns)
    ]
    looped = [row for row in tried if row.rows]
    yield (
        f"every column: {len(whole)} of {len(tried)}; with loops or couplings:"
        f" {len([row for row in whole if row.rows])} of {len(looped)}"
    )
    yield f"within {FEW:g} times the rounding that the condition of M allows: {len(close)} more"
    judged: Counter[str] = sum((row.judged for row in tried), Counter())
    for name in ("in_mujoco", "in_pinocchio", "in_drake"):
        yield f"files compared {name.replace('_', ' ')}: {judged[name]} (not: {judged[f'not {name}']})"
    refused = [row for row in rows if not row.errors]
    yield f"not read: {len(refused)}; without anything that moves: {others}"


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
                print(show(rows[-1:]).splitlines()[1], flush=True)
    print(show(rows))
    return rows


if __name__ == "__main__":
    main()
