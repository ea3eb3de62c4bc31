"""Triangles of mesh files: STL, binary or text, and OBJ."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

import numpy as np

from ...arrays import Array
from ...errors import InputError

LARGEST_FILE = 2**28  # bytes
HEADER, FACET = 84, 50  # bytes of a binary STL file: 80 of comment and the number of facets; of each facet
# endings of other formats that robot files name
OTHER = {
    ".dae": "COLLADA",
    ".glb": "glTF",
    ".gltf": "glTF",
    ".ply": "PLY",
    ".3ds": "3DS",
    ".fbx": "FBX",
    ".msh": "MSH",
}
VERTEX = re.compile(rb"\bvertex\s+(\S+)\s+(\S+)\s+(\S+)")


def read_triangles(path: str) -> Array:
    """Corners of the triangles of a mesh file, (n, 3, 3), in the units of the file."""
    data, what = _bytes(path), f"mesh {path!r:.200}"
    ending = os.path.splitext(path)[1].lower()
    if ending in OTHER:
        raise InputError(
            f"{what} is a {OTHER[ending]} file; STL and OBJ are read. Convert it, for example with Blender or"
            f" `assimp export x{ending} x.obj`, and name that file."
        )
    if path.lower().endswith(".obj"):
        found = _obj(data, what)
    elif len(data) >= HEADER and len(data) == HEADER + FACET * int.from_bytes(data[80:84], "little"):
        found = _binary_stl(data)
    elif data[:5].lower() == b"solid":
        found = _text_stl(data, what)
    else:
        raise InputError(
            f"{what} is no STL file: it neither begins with 'solid' nor has the length that its number of"
            " facets says. Files of OBJ need the ending .obj."
        )
    if not len(found):
        raise InputError(f"{what} has no triangles.")
    if not np.all(np.isfinite(found)):
        raise InputError(f"{what} has corners that are not finite.")
    return found


def _bytes(path: str) -> bytes:
    try:
        status = os.stat(path)
        if stat.S_ISREG(status.st_mode) and status.st_size <= LARGEST_FILE:
            return Path(path).read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"mesh {path!r:.200} cannot be read: {reason}.") from None
    raise InputError(
        f"mesh {path!r:.200} cannot be read: it must be a regular file of at most {LARGEST_FILE:,} bytes."
    )


def _binary_stl(data: bytes) -> Array:
    """Each facet: its normal and three corners, twelve float32, and two bytes of attributes."""
    facets = np.frombuffer(data, dtype=[("xyz", "<f4", (4, 3)), ("attribute", "<u2")], offset=HEADER)
    return np.asarray(facets["xyz"][:, 1:], dtype=np.float64)


def _text_stl(data: bytes, what: str) -> Array:
    corners = VERTEX.findall(data)
    if len(corners) % 3 or data.count(b"endfacet") * 3 != len(corners):
        raise InputError(f"{what}: every facet of an STL file must have three vertices and an end.")
    return _numbers(corners, what).reshape(-1, 3, 3)


def _obj(data: bytes, what: str) -> Array:
    """Lines "v x y z" and "f i j k ..."; polygons are split into fans. Other lines do not matter here."""
    corners: list[list[bytes]] = []
    faces: list[list[int]] = []
    for number, line in enumerate(data.splitlines(), 1):
        words = line.split()
        if words[:1] == [b"v"]:
            corners.append(words[1:4])
        elif words[:1] == [b"f"]:
            face = [_index(word, len(corners), f"{what}, line {number}") for word in words[1:]]
            if len(face) < 3:
                raise InputError(f"{what}, line {number}: a face needs three corners or more.")
            faces += [[face[0], face[k], face[k + 1]] for k in range(1, len(face) - 1)]
    points = _numbers(corners, what)
    return points[np.array(faces, dtype=np.int64).reshape(-1, 3)]


def _index(word: bytes, known: int, where: str) -> int:
    """The corner that "7", "7/1/3" or, counted from the last one, "-1" names."""
    try:
        i = int(word.split(b"/")[0])
    except ValueError:
        i = 0
    i = i - 1 if i > 0 else known + i
    if not 0 <= i < known:
        raise InputError(f"{where}: corner {word.decode(errors='replace')!r:.40} does not exist.")
    return i


def _numbers(corners: list[list[bytes]], what: str) -> Array:
    try:
        found = np.array(corners, dtype="S40").astype(np.float64)
    except (ValueError, TypeError):
        found = np.zeros(0)
    if found.size != 3 * len(corners):
        raise InputError(f"{what}: every corner must be three numbers.")
    return found.reshape(-1, 3)
