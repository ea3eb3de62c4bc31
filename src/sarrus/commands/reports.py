"""`sarrus check`, `convert`, `library`, `study` and `demo`: reports of mechanisms."""

from __future__ import annotations

import json
import warnings
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

import sarrus.library as library
from sarrus.errors import AssemblyError, SarrusError, SarrusWarning, require_known
from sarrus.formats import load, save
from sarrus.mechanism.mechanism import Mechanism
from sarrus.models.tree.bodies import is_possible
from sarrus.simulation.study import study

from .answers import Answer, elapsed, found, say


def check(file: Path, as_json: bool, root: str, repaired: Path | None = None) -> int:
    """Report on a file, and write a copy of it whose loops close if asked to; returns the exit code."""
    options = {"root": root} if root != "fixed" else {}
    with warnings.catch_warnings(record=True) as caught, elapsed("check"):
        warnings.simplefilter("always", SarrusWarning)
        mech, problem = _loaded(file, options)
        if repaired is not None and mech is not None and problem is None:
            problem = _not_saved(mech, repaired)
    said = [str(w.message) for w in caught if issubclass(w.category, SarrusWarning)]
    if as_json:
        print(json.dumps(_summary(file, mech, problem, said), indent=2))
    else:
        _print_report(mech, problem, said)
    return 0 if problem is None else 1


def _not_saved(mech: Mechanism, path: Path) -> str | None:
    """Why a mechanism could not be saved; None where it was."""
    try:
        save(mech, path)
    except SarrusError as error:
        return str(error)
    return None


def convert(source: Path, target: Path, root: str, strict: bool, sidecar: bool) -> Answer:
    """Write a file in another format."""
    options: dict[str, Any] = {"root": root} if root != "fixed" else {}
    mech = _described(source, options | {"strict": strict})
    written = save(mech, target, strict=strict, sidecar=sidecar)
    loops = len({group.name for group in mech.model.groups})
    data = {"written": str(written), "nv": mech.nv, "loops": loops, "nu": mech.nu}
    return Answer(f"{written}: {mech.nv} coordinates, {loops} loops and couplings, {mech.nu} actuators", data)


def _described(file: Path, options: dict[str, Any]) -> Mechanism:
    """A mechanism of a file or, where there is no such file, of the library."""
    a_name = not file.suffix and not file.exists()
    return found(str(file)) if a_name else load(file, **options)


def _loaded(file: Path, options: dict[str, Any]) -> tuple[Mechanism | None, str | None]:
    """The mechanism, if the file describes one, and the error that prevents its use, if any."""
    try:
        mech = _described(file, options)
    except SarrusError as error:
        return None, str(error)
    try:
        _ = mech.default
    except AssemblyError as error:
        return mech, str(error)
    return mech, None


def _print_report(mech: Mechanism | None, problem: str | None, said: list[str]) -> None:
    if mech is not None:
        say(mech)
        for line in _findings(mech, problem is None):
            say(line)
    for message in said:
        say(message, error=True, title="warning:", style="yellow")
    if problem is not None:
        say(problem, error=True, title="error:", style="bold red")


def _findings(mech: Mechanism, closed: bool) -> list[str]:
    """Lines about gaps of loops, inertias that no body has, and what is not modelled."""
    found = []
    if mech.nc:
        gaps = mech.assemble().gaps if not closed else mech.assemble(mech.default.q).gaps
        worst = max(gaps, key=lambda name: gaps[name])
        found.append(f"largest gap of a loop: {gaps[worst]:.1e} m ({worst})")
    odd = [body.name for body in mech.model.bodies[1:] if not is_possible(body)]
    if odd:
        found.append(f"inertias that violate the triangle inequality: {', '.join(odd)}")
    if mech.omitted:
        found.append("not modelled: " + "; ".join(mech.omitted))
    return found


def _summary(file: Path, mech: Mechanism | None, problem: str | None, said: list[str]) -> dict[str, Any]:
    """The report as plain data."""
    data: dict[str, Any] = {"file": str(file), "ok": problem is None, "error": problem, "warnings": said}
    return data if mech is None else data | _about(mech, problem is None)


def _about(mech: Mechanism, closed: bool = True) -> dict[str, Any]:
    """A mechanism as plain data."""
    model = mech.model
    data: dict[str, Any] = {"name": mech.name, "nq": mech.nq, "nv": mech.nv, "nc": mech.nc, "nu": mech.nu}
    data |= {"length": mech.length, "gravity": np.ravel(model.gravity).tolist(), "names": list(mech.names)}
    data["bodies"] = [
        {"name": body.name, "parent": body.parent, "joint": body.joint.label(), "mass": body.mass}
        for body in model.bodies[1:]
    ]
    data["constraints"] = [
        {"name": group.name, "kind": group.kind, "rows": list(mech.row_names[group.rows])}
        for group in model.groups
    ]
    data |= {"actuated": list(mech.actuators), "passive": list(mech.passive), "omitted": list(mech.omitted)}
    data["impossible_inertias"] = [body.name for body in model.bodies[1:] if not is_possible(body)]
    if closed:
        q = np.array(mech.default.q)
        m = mech.mobility(q)
        data["default"] = {"q": q.tolist(), "gap": m.gap}
        data["mobility"] = {"dof": m.dof, "rank": m.rank, "gruebler": m.gruebler, "condition": m.condition}
        data["mobility"] |= {"redundant": list(m.redundant), "is_singular": m.is_singular}
        data["mobility"]["explain"] = m.explain()
    else:
        data["gaps"] = dict(mech.assemble().gaps)
    return data


def show_library(name: str | None) -> Answer:
    """The library, or one mechanism of it."""
    if name is None:
        known = library.names()
        width = 2 + max(map(len, known))
        return Answer("\n".join(f"{key:{width}}{said}" for key, said in known.items()), {"mechanisms": known})
    require_known("mechanism", name, library.MECHANISMS)
    mech = library.MECHANISMS[name]()
    return Answer(str(mech), _about(mech))


def show_study(name: str, t_end: float, dt: float, method: str) -> Answer:
    """The formulation study of a mechanism of the library or of a file."""
    found_rows = study(found(name), t_end, dt, method)
    return Answer(str(found_rows), {"rows": [asdict(row) for row in found_rows.rows]})


def demo() -> Answer:
    """Report Sarrus' linkage and let it go once."""
    linkage = library.MECHANISMS["sarrus"]()
    q, v = linkage.default
    plate = linkage.body_acceleration(q, v, linkage.forward_dynamics(q, v).a, "plate")
    text = (
        f"{linkage}\n\nLet go from rest, the plate accelerates by {plate[2]:+.4f} m/s^2 along z "
        f"and {float(np.abs(plate[:2]).max()):.0e} m/s^2 sideways."
    )
    return Answer(text, {"acceleration": plate[:3]})
