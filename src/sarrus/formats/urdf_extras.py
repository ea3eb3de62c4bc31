"""What a URDF contains besides links and joints: listed, and meshes looked for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sarrus.formats.markup import Element
from sarrus.formats.messages import Omitted


def note_extras(robot: Element, omitted: Omitted) -> None:
    """List elements that have no meaning here; refuse a xacro file that was not expanded."""
    for element in robot.children:
        if element.tag.startswith("xacro:"):
            element.fail("this is a xacro file: expand it with the xacro tool first")
        if element.tag == "link":
            for child in element.children:
                if child.tag != "inertial":
                    omitted.count(child.tag, 1)
        elif element.tag not in ("joint", "loop_joint", "transmission", "material"):
            omitted.add(element.tag, element.attributes.get("name", ""))


def note_meshes(robot: Element, folder: Path | None, packages: Sequence[Path], omitted: Omitted) -> None:
    """Geometry is not used, so a mesh that is not there is worth a word and nothing more."""
    for link in robot.all("link"):
        for shape in (*link.all("visual"), *link.all("collision")):
            geometry = shape.first("geometry")
            mesh = None if geometry is None else geometry.first("mesh")
            if mesh is None or (folder is None and not packages):
                continue
            filename = mesh.attributes.get("filename", "")
            if not _mesh_exists(filename, folder, packages):
                omitted.add("mesh file that was not found", filename)


def _mesh_exists(filename: str, folder: Path | None, packages: Sequence[Path]) -> bool:
    path = filename.removeprefix("package://").removeprefix("file://")
    places = list(packages)
    if folder is not None:
        places += [folder, *folder.resolve().parents] if filename.startswith("package://") else [folder]
    try:
        return any((place / path).is_file() for place in places)
    except (OSError, ValueError):  # names no file system takes
        return False
