"""MJCF before and after MuJoCo: sizes that would never finish are refused, what is not modelled is listed."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from sarrus.formats.reading.markup import Element, parse
from sarrus.formats.reading.messages import FormatError, Omitted
from sarrus.formats.reading.outside import Reach

MOST_COPIES = 10_000  # of replicate, composite, flexcomp, multiplied over nesting
LARGEST_SIZE = 10_000_000  # of one array that an attribute asks for
LARGEST_PICTURE = 100_000_000  # pixels of a texture, points of a height field
MOST = {
    "nkey": 2_000,
    "nuser": 10_000,
}  # MuJoCo takes 42 s for 100,000 keyframes; nuser_... is for each object
MOST_INCLUDES = 100
COUNTED = {"replicate": "count", "composite": "count", "flexcomp": "count"}
SIZES = ("width", "height", "size")  # and all that begin with n
SIZED = ("texture", "hfield", "numeric", "size")


FOLDERS = ("meshdir", "texturedir", "assetdir")  # of <compiler>
FILES = "mesh", "texture", "hfield", "skin", "flexcomp"  # that are looked up there
INCLUDED = "include", "model"  # beside the description; files with elements of their own


def check_sizes(root: Element, folder: Path | None, reach: Reach) -> None:
    """Refuse counts and sizes that would exhaust the memory or never return, and files out of reach.

    Included files are read, too.
    """
    waiting = [(root, 1.0)]
    included: set[Path] = set()
    folders: set[str] = set()
    files: list[Element] = []
    while waiting:
        element, copies = waiting.pop()
        if element.tag in COUNTED:
            copies *= _product(element, COUNTED[element.tag])
        if copies > MOST_COPIES:
            element.fail(f"it makes {copies:.3g} copies; at most {MOST_COPIES} are accepted")
        if element.tag in SIZED:
            _check_attributes(element)
        inside = list(element.children)
        if element.tag == "compiler":
            folders |= {element.attributes[name] for name in FOLDERS if name in element.attributes}
        if element.tag in FILES:
            files.append(element)
        if element.tag in INCLUDED and "file" in element.attributes:
            _check_reach([element], {""}, reach)
            inside = [*_include(element, folder, included), *inside] if folder is not None else inside
        waiting.extend((one, copies) for one in inside)
    _check_reach(files, folders or {""}, reach)


def _check_reach(elements: list[Element], folders: set[str], reach: Reach) -> None:
    """Refuse files of elements that are out of reach from one of the folders."""
    for element in elements:
        names = [x for name, x in element.attributes.items() if name.startswith("file") and x]
        for name in names:
            for why in filter(None, (reach.refuses(name, one) for one in sorted(folders))):
                element.fail(why)


def _product(element: Element, name: str) -> float:
    try:
        counts = [abs(float(word)) for word in element.attributes.get(name, "1").split()]
    except ValueError:
        return 1.0  # MuJoCo says what is wrong with it
    return math.prod(max(count, 1.0) for count in counts)


def _check_attributes(element: Element) -> None:
    for name in (a for a in element.attributes if a in SIZES or (a.startswith("n") and a != "name")):
        most = MOST.get(name.partition("_")[0], LARGEST_SIZE)
        if _product(element, name) > most:
            element.fail(f"{name}={element.attributes[name]!r} is too large; at most {most} is accepted")
    for sides in (("width", "height"), ("nrow", "ncol")):
        if math.prod(_product(element, name) for name in sides) > LARGEST_PICTURE:
            shown = " times ".join(f"{name}={element.attributes.get(name)!r}" for name in sides)
            element.fail(f"{shown} is too large; at most {LARGEST_PICTURE} is accepted")


def _include(element: Element, folder: Path, included: set[Path]) -> list[Element]:
    path = folder / element.attributes.get("file", "")
    if path in included or len(included) >= MOST_INCLUDES:
        element.fail(f"the include of {path.name!r} is repeated, or one of more than {MOST_INCLUDES}")
    included.add(path)
    if path.exists() and not path.is_file():
        element.fail(f"{path.name!r} is not a regular file")
    if not path.exists():
        return []  # MuJoCo says what is missing, and knows its other search paths
    try:
        return [parse(path.read_bytes(), path.name)]
    except OSError as error:
        raise FormatError(f"{path.name} cannot be read: {error.strerror}.") from None


def note_extras(model: Any, rest: Any, omitted: Omitted, *, sensors: int, surfaces: int) -> None:
    """List what a compiled model contains and a Mechanism does not.

    Args:
        model: The model.
        rest: The qpos of its rest pose.
        omitted: Gets what is missing.
        sensors: How many of its sensors are measures.
        surfaces: How many of its geoms are surfaces.
    """
    touching = int(np.count_nonzero(model.geom_contype | model.geom_conaffinity))
    omitted.count("contact of geoms", 0 if surfaces else touching)
    for kind in ("flex", "skin", "plugin", "pair", "sensor", "camera", "light"):
        count = int(getattr(model, _SIZE_OF.get(kind, f"n{kind}"), 0))
        if kind == "flex":
            for i in range(count):
                omitted.add(kind, model.flex(i).name)
        else:
            read = {"sensor": sensors, "pair": count if surfaces else 0}
            omitted.count(_LABEL.get(kind, kind), count - read.get(kind, 0))
    omitted.count("keyframe", sum(not np.allclose(key, rest, atol=1e-12) for key in model.key_qpos))
    omitted.count("mocap body (fixed where it is)", int(model.nmocap))
    if model.opt.density != 0.0 or model.opt.viscosity != 0.0:
        omitted.add("forces of the surrounding fluid")


_SIZE_OF = {"camera": "ncam"}
_LABEL = {"pair": "contact pair"}
