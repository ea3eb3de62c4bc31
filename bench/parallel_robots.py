"""URDF files with a robot.yaml beside them, as in Gepetto's example-parallel-robots.

The yaml names pairs of links that coincide, wholly ("6d") or in a point ("3d"), and hinges of the URDF that
stand for balls ("SPHERICAL") or for two hinges with one centre ("UJOINT_XY").
"""

from __future__ import annotations

import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np

import sarrus as sr

AXES = {"X": "1 0 0", "Y": "0 1 0", "Z": "0 0 1"}
STARTS, SPREAD = (
    40,
    0.5,
)  # random poses to assemble from [rad], where the drawn one does not lead to a closed one


def said_beside(file: Path) -> dict[str, Any]:
    """What robot.yaml says; {} where there is none, or it is about another file."""
    beside = file.with_name("robot.yaml")
    if file.suffix != ".urdf" or not beside.exists():
        return {}
    import yaml

    said, known = dict(yaml.safe_load(beside.read_text())), _bodies(ET.parse(file).getroot())
    return said if all(name in known for pair in said.get("closed_loop", ()) for name in pair) else {}


def closed(file: Path, said: dict[str, Any]) -> sr.Mechanism:
    """The robot with its loops, and with balls where the yaml wants them."""
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / file.name
        kinds = zip(said.get("joint_name", ()), said.get("joint_type", ()), strict=True)
        plain.write_bytes(_with_joints(file, dict(kinds)))
        spec = sr.load_spec(plain)
    body = _bodies(ET.parse(file).getroot())
    for i, ((a, b), kind) in enumerate(zip(said["closed_loop"], said["type"], strict=True), start=1):
        spec.close(f"loop{i}", body[a], body[b], sr.Spherical() if kind.lower() == "3d" else sr.Fixed())
    return _assembled(spec.compile())


def _bodies(root: ET.Element) -> dict[str, str]:
    """Bodies here for the frames of a URDF: links, and joints by name (fixed ones are their child)."""
    found = {link.get("name", ""): link.get("name", "") for link in root.findall("link")}
    for joint in root.findall("joint"):
        name, child = joint.get("name", ""), joint.find("child")
        fixed = joint.get("type") == "fixed" and child is not None
        found.setdefault(name, child.get("link", "") if fixed and child is not None else name)
    return found


def _with_joints(file: Path, kinds: dict[str, str]) -> bytes:
    """The URDF with some joints replaced."""
    root = ET.parse(file).getroot()
    for joint in root.findall("joint"):
        name = joint.get("name", "")
        kind = kinds.get(name, "")
        if kind == "SPHERICAL":
            joint.set("type", "spherical")
        elif kind.startswith("UJOINT"):
            _split(root, joint, f"{name}_cross", AXES[kind[-2]], AXES[kind[-1]])
    return ET.tostring(root)


def _split(root: ET.Element, joint: ET.Element, middle: str, first: str, second: str) -> None:
    """One joint as two hinges, with a link without mass between them."""
    ET.SubElement(root, "link", name=middle)
    child = joint.find("child")
    after = ET.SubElement(root, "joint", name=f"{middle}_2", type="continuous")
    ET.SubElement(after, "parent", link=middle)
    ET.SubElement(after, "child", link=child.get("link", "") if child is not None else "")
    ET.SubElement(after, "axis", xyz=second)
    joint.set("type", "continuous")
    for one, value in (("child", middle), ("axis", first)):
        for element in joint.findall(one):
            element.set("link" if one == "child" else "xyz", value)
    if joint.find("axis") is None:
        ET.SubElement(joint, "axis", xyz=first)


def _assembled(mech: sr.Mechanism) -> sr.Mechanism:
    """With a default pose at which the loops close: near the drawn one, else near a random one."""
    rng = np.random.default_rng(0)
    try:
        return mech.with_default(*mech.default)
    except sr.AssemblyError as error:
        reason = error
    for _ in range(STARTS):
        step = SPREAD * rng.standard_normal(mech.nv) * np.asarray(mech.units.unit)
        found = mech.assemble(mech.integrate(mech.neutral(), step))
        if found.success:
            return mech.with_default(found.q)
    raise reason
