"""XML files of robots as text: numbers with every digit, names that XML can hold."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable

from sarrus.errors import InputError
from sarrus.models.base.pose import Pose

NOT_IN_XML = re.compile("[\x00-\x1f\x7f\ud800-\udfff\ufffe\uffff]")


def add(parent: ET.Element, tag: str, **attributes: str | None) -> ET.Element:
    """A child element; attributes that are None are left out, names end in _ where Python reserves them."""
    given = {name.rstrip("_"): value for name, value in attributes.items() if value is not None}
    for value in given.values():
        if NOT_IN_XML.search(value):
            raise InputError(
                f"the name {value!r:.80} cannot be written in XML, which has no such characters; rename it."
            )
    return ET.SubElement(parent, tag, given)


def numbers(values: Iterable[float]) -> str:
    """Numbers with all digits, separated by spaces; whole numbers short."""
    return " ".join(number(float(x)) for x in values)


def number(x: float) -> str:
    """One number with all digits."""
    return str(int(x)) if x == math.floor(x) and abs(x) < 1e15 else repr(float(x))


def wxyz(pose: Pose) -> str | None:
    """The rotation as a quaternion, scalar first; None where there is none."""
    if (pose.rotation == Pose().rotation).all():
        return None
    x, y, z, w = pose.quat.tolist()
    return numbers((w, x, y, z))


def nonzero(values: Iterable[float]) -> str | None:
    """Numbers, or None where all are zero."""
    given = [float(x) for x in values]
    return numbers(given) if any(given) else None


def document(root: ET.Element) -> bytes:
    """The file."""
    ET.indent(root)
    text = ET.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'.encode()
