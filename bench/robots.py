"""Round trips of robot files, judged by the simulators themselves: `python -m bench.robots FOLDER...`

Every MJCF, URDF and SDF file below the folders is loaded and compared with MuJoCo, Pinocchio or Drake
reading the same file; then it is written in each format and the copy compared in the same way. A number is
the largest relative difference, at random states on the constraints, of M, of h, of the rows of J and of the
accelerations.
"""

from __future__ import annotations

import argparse
import logging
import tempfile
import warnings
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import sarrus as sr

from .mujoco_terms import row_space, terms

Array = npt.NDArray[np.float64]
STATES = 3
REACH = 0.05  # of random states around the default one [rad], or times L [m]
RIGHT = 1e-10
LARGEST = 150  # coordinates
STILL = "rows are still independent"  # of loops that the digits of a file leave undecided
OURS = ("loop_joint", "default_state", "sarrus_declarations")


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


def states(mech: sr.Mechanism) -> list[tuple[Array, Array]]:
    """Random states on the constraints, near the default one."""
    rng, found = np.random.default_rng(0), []
    for _ in range(STATES):
        q = mech.integrate(mech.default.q, REACH * rng.standard_normal(mech.nv) * mech.units.unit)
        if mech.nc:
            q = mech.assemble(q).q
        v = (
            mech.consistent_velocity(q, rng.standard_normal(mech.nv))
            if mech.nc
            else rng.standard_normal(mech.nv)
        )
        found.append((np.asarray(q), np.asarray(v)))
    return found


def frictionless(mech: sr.Mechanism) -> sr.Mechanism:
    """Without dry friction, which is smoothed here and exact elsewhere."""
    return mech.with_(friction={body.name: 0.0 for body in mech.model.bodies if any(body.friction)})


def in_mujoco(mech: sr.Mechanism, file: Path) -> float:
    """Differences from MuJoCo reading a file; u is what its servos do without a signal."""
    import mujoco

    model = mujoco.MjModel.from_xml_path(str(file))
    bridge, worst = sr.bridge.mujoco(mech, model), 0.0
    same = len(bridge._map.others) == 0 and not bridge._map.tendons
    for q, v in states(mech):
        ctrl = np.zeros(model.nu)
        there = terms(bridge, q, v, ctrl)
        a = mech.forward_dynamics(q, v, u=bridge.to_u(ctrl, q, v)).a
        worst = max(worst, there.difference(a), float(np.abs(there.phi).max(initial=0.0)) / mech.length)
        if same:
            M = there.T.T @ there.M @ there.T
            worst = max(worst, relative(mech.mass_matrix(q), M))
            J = mech.terms(q, v).J
            if len(J):
                worst = max(worst, float(np.abs(row_space(J) - row_space(there.J @ there.T)).max()))
    return worst


def bare(mech: sr.Mechanism) -> sr.Mechanism:
    """Without forces and armature, which other readers of URDF and SDF do not see."""
    spec = sr.MechanismSpec.from_declared(mech.model.declared | {"forces": ()})
    return spec.compile().with_default(*mech.default)


def as_others_read(file: Path) -> sr.Mechanism:
    """The tree of a URDF without the elements that only our reader knows."""
    root = ET.parse(file).getroot()
    for element in [one for one in root if one.tag in OURS]:
        root.remove(element)
    plain = file.with_name(f"plain_{file.name}")
    plain.write_bytes(ET.tostring(root))
    try:
        return bare(sr.load(plain))
    finally:
        plain.unlink()


def in_pinocchio(mech: sr.Mechanism, file: Path) -> float:
    """M and h of the tree in Pinocchio; loops are not part of its URDF."""
    import pinocchio as pin

    mech = as_others_read(file)
    model = pin.buildModelFromUrdf(str(file))
    model.gravity.linear = mech.model.gravity
    data, bridge, worst = model.createData(), sr.bridge.pinocchio(mech, model), 0.0
    for q, v in states(mech):
        T, (theirs, speed) = bridge.velocity_map(q), bridge.to_pinocchio(q, v)
        M = pin.crba(model, data, theirs)
        M = T.T @ (np.triu(M) + np.triu(M, 1).T) @ T
        h = T.T @ pin.nonLinearEffects(model, data, theirs, speed)
        worst = max(worst, terms_differ(mech, q, v, M, h))
    return worst


def terms_differ(mech: sr.Mechanism, q: Array, v: Array, M: Array, h: Array) -> float:
    """Differences of M without armature and of h without damping from those of another library."""
    ours = mech.mass_matrix(q) - np.diag(mech.model.armature)
    losses = np.array([x for body in mech.model.bodies[1:] for x in body.damping])
    size = float(np.abs(M).max())  # h of a machine that turns in a plane can be rounding
    return max(relative(ours, M), relative(mech.bias(q, v) - losses * v, h, size))


def relative(ours: Array, theirs: Array, least: float = 1e-6) -> float:
    """Largest difference over the largest entry, or over the least."""
    return float(np.abs(ours - theirs).max(initial=0.0) / max(np.abs(theirs).max(initial=0.0), least))


def in_drake(mech: sr.Mechanism, file: Path) -> float:
    """M and gravity forces in Drake, of robots without loops; Drake refuses loops in SDF."""
    from pydrake.multibody.parsing import Parser
    from pydrake.multibody.plant import MultibodyPlant

    mech = bare(mech)
    logging.getLogger("drake").setLevel(logging.ERROR)  # it warns of elements that are for our reader
    plant, worst = MultibodyPlant(0.0), 0.0
    Parser(plant).AddModels(str(file))
    plant.mutable_gravity_field().set_gravity_vector(mech.model.gravity)
    plant.Finalize()
    context = plant.CreateDefaultContext()
    joints = [plant.get_joint(j) for j in plant.GetJointIndices()]
    single = {joint.name(): joint for joint in joints if joint.num_velocities() == 1}
    order = [single.get(name) or single.get(f"{name}_joint") for name in mech.names]
    if None in order:
        raise sr.InputError("it has balls or free bodies: not compared in Drake")
    columns = [joint.velocity_start() for joint in order if joint is not None]
    drawn = mech.default.q  # joints of SDF are zero there
    for q, v in states(mech):
        theirs, speed = np.zeros(plant.num_positions()), np.zeros(plant.num_velocities())
        theirs[[joint.position_start() for joint in order]] = q - drawn
        speed[columns] = v
        plant.SetPositionsAndVelocities(context, np.concatenate([theirs, speed]))
        M = plant.CalcMassMatrix(context)[np.ix_(columns, columns)]
        h = (plant.CalcBiasTerm(context) - plant.CalcGravityGeneralizedForces(context))[columns]
        worst = max(worst, terms_differ(mech, q, v, M, h))
    return worst


def where_drake_can(mech: sr.Mechanism, file: Path) -> float:
    """Drake's difference where it reads the file and has the same coordinates; zero elsewhere."""
    try:
        return in_drake(mech, file)
    except (ImportError, RuntimeError, sr.InputError):
        return 0.0


def motion(one: sr.Mechanism, two: sr.Mechanism) -> float:
    """Difference of accelerations: of coordinates at random states, of bodies let go at the default pose."""
    found, worst = [], 0.0
    for mech in (one, two):
        q, v = mech.default.q, np.zeros(mech.nv)
        a = mech.forward_dynamics(q, v).a
        heavy = [body.name for body in mech.model.bodies[1:] if body.mass]
        found.append({name: mech.body_acceleration(q, v, a, name) for name in heavy})
    common = [name for name in found[0] if name in found[1]]
    gaps = [np.abs(found[0][name] - found[1][name]).max() for name in common]
    worst = float(max(gaps) / max(1.0, *(np.abs(found[0][name]).max() for name in common)))
    if set(one.names) == set(two.names) and one.nq == two.nq:
        for q, v in states(one):
            worst = max(worst, _same_state(one, two, q, v))
    return worst


def _same_state(one: sr.Mechanism, two: sr.Mechanism, q: Array, v: Array) -> float:
    """Difference of accelerations at one state, coordinates by name; that of wild motions relative."""
    q_two, v_two, order = np.empty(two.nq), np.empty(two.nv), [one.names.index(name) for name in two.names]
    for name in dict.fromkeys(joint for joint in one.body_names[1:] if joint in two.body_names):
        q_two[two.index(name).q], v_two[two.index(name).v] = q[one.index(name).q], v[one.index(name).v]
    a = one.forward_dynamics(q, v).a
    return relative(two.forward_dynamics(q_two, v_two).a, a[order], 1.0)


JUDGES: dict[str, Callable[[sr.Mechanism, Path], float]] = {
    ".xml": in_mujoco,
    ".urdf": in_pinocchio,
    ".sdf": where_drake_can,
}


def study(file: Path, folder: Path) -> Row:
    """One robot, read and written in every format."""
    row = Row(f"{file.parent.name}/{file.name}")
    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            mech = frictionless(sr.load(file))
        mobility = mech.mobility()
    except sr.SarrusError as error:
        row.reasons.append(f"load: {error}")
        return row
    row.nv, row.rows, row.nu, row.dof = mech.nv, mech.nc, mech.nu, mobility.dof
    if mech.nv > LARGEST:
        row.reasons.append(f"more than {LARGEST} coordinates")
        return row
    attempt(row, "in", lambda: JUDGES[file.suffix](mech, file))
    for suffix in JUDGES:
        attempt(row, suffix[1:], lambda suffix=suffix: written(mech, folder / f"copy{suffix}"))
    if row.reasons and mech.omitted:
        row.reasons.append(f"not modelled: {'; '.join(mech.omitted[:3])}")
    if row.reasons:
        row.reasons += [text[i:] for one in said if (i := (text := str(one.message)).find(STILL)) >= 0]
    return row


def written(mech: sr.Mechanism, copy: Path) -> float:
    """Write, load what was written, and compare it: our own motion from rest, and another library's terms."""
    sr.save(mech, copy)
    again = sr.load(copy)
    if again.mobility().dof != mech.mobility().dof:
        raise sr.ModelError(f"mobility {again.mobility().dof} instead of {mech.mobility().dof}")
    return max(motion(mech, again), JUDGES[copy.suffix](again, copy))


def attempt(row: Row, column: str, measure: Callable[[], float]) -> None:
    """A number, or the reason why there is none."""
    try:
        row.errors[column] = measure()
        if row.errors[column] > RIGHT:
            row.reasons.append(f"{column}: differs by {row.errors[column]:.0e}")
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


def show(rows: list[Row]) -> str:
    """The table, and what it says."""
    columns = ["in", *(suffix[1:] for suffix in JUDGES)]
    lines = [
        f"{'robot':48} {'nv':>4} {'rows':>5} {'dof':>4} {'u':>4} " + " ".join(f"{c:>8}" for c in columns)
    ]
    for row in rows:
        values = (f"{row.errors[c]:8.0e}" if c in row.errors else f"{'-':>8}" for c in columns)
        lines.append(f"{row.name:48.48} {row.nv:4} {row.rows:5} {row.dof:4} {row.nu:4} " + " ".join(values))
        lines += [f"    {reason:.160}" for reason in row.reasons]
    for column in columns:
        tried = [row for row in rows if row.nv]
        right = [row for row in tried if row.errors.get(column, 1.0) <= RIGHT]
        lines.append(f"{column}: {len(right)} of {len(tried)} robots right to {RIGHT:g}")
    looped = [row for row in rows if row.rows]
    lines.append(f"with loops or couplings: {len(looped)} robots")
    return "\n".join(lines)


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
            print(show(rows[-1:]).splitlines()[1], flush=True)
    print(show(rows))
    return rows


if __name__ == "__main__":
    main()
