"""Visual: a shape on a body that a picture may show and that no force knows of."""

from __future__ import annotations

import sys
from collections.abc import Container, Sequence
from dataclasses import dataclass, field, replace

from ...arrays import numbers, text
from ...errors import InputError, require_known
from ..base.pose import Pose
from ..base.restore import Restored

SHAPES = {  # numbers in size
    "box": 3, "sphere": 1, "cylinder": 2, "capsule": 2, "ellipsoid": 3, "mesh": 3, "tube": 3,
}  # fmt: skip
LISTS = {  # those of any number of corners: how many numbers, in words
    "plate": (range(7, sys.maxsize, 2), "a thickness and three corners or more"),
    "hull": (range(12, sys.maxsize, 3), "four corners or more"),
}
GREY = (0.7, 0.7, 0.7, 1.0)


@dataclass(frozen=True)
class Visual(Restored):
    """A shape on a body.

    Args:
        body: Name of the body.
        shape: "box" (whole lengths of the edges), "sphere" (radius), "cylinder" and "capsule" (radius,
            length of the straight part, along z), "ellipsoid" (radii), "mesh" (scale of each axis), "tube"
            (radius, inner radius, length, along z), "plate" (thickness, then x and y of each corner) or
            "hull" (x, y, z of each of its corners).
        size: Lengths [m], or the scale of a mesh.
        at: Frame of the shape in the body frame.
        file: File of a mesh, "" for other shapes.
        rgba: Red, green, blue, opacity, 0 to 1; the default grey lets pictures choose the colour.
    """

    body: str
    shape: str
    size: tuple[float, ...]
    at: Pose = field(default_factory=Pose)
    file: str = ""
    rgba: tuple[float, ...] = GREY

    def __post_init__(self) -> None:
        text(self.body, "body of a Visual")
        require_known("shape", self.shape, SHAPES | LISTS, "a Visual")
        if self.shape in LISTS:
            counts, wanted = LISTS[self.shape]
            self._check_numbers("size", wanted, counts)
        else:
            count = SHAPES[self.shape]
            self._check_numbers("size", f"{count} numbers", (count,))
        self._check_numbers("rgba", "4 numbers", (4,))
        if not isinstance(self.file, str):
            raise InputError(f"file of a Visual must be a str, got {self.file!r:.80}.")
        if not isinstance(self.at, Pose):
            raise InputError(f"at of a Visual must be a Pose, got {self.at!r}.")

    def _check_numbers(self, name: str, wanted: str, counts: Container[int]) -> None:
        """Keep a field as a tuple of numbers."""
        values = numbers(getattr(self, name), f"{name} of a Visual").ravel()
        if len(values) not in counts:
            raise InputError(f"{name} of a {self.shape} must be {wanted}, got {values.tolist()}.")
        object.__setattr__(self, name, tuple(values.tolist()))

    def simplified(self) -> Visual:
        """The shape that files of other programs know: a tube as a cylinder, a plate and a hull as the
        box around it."""
        if self.shape == "tube":
            return replace(self, shape="cylinder", size=(self.size[0], self.size[2]))
        if self.shape == "plate":
            thickness, *corners = self.size
            (x0, x1), (y0, y1) = _extents(corners, 2)
            middle = Pose((0.5 * (x0 + x1), 0.5 * (y0 + y1), 0.0))
            return replace(self, shape="box", size=(x1 - x0, y1 - y0, thickness), at=self.at @ middle)
        if self.shape == "hull":
            sides = _extents(self.size, 3)
            middle = Pose([0.5 * (low + high) for low, high in sides])
            edges = tuple(high - low for low, high in sides)
            return replace(self, shape="box", size=edges, at=self.at @ middle)
        return self


def _extents(corners: Sequence[float], axes: int) -> list[tuple[float, float]]:
    """Least and largest coordinate of corners along each axis; their coordinates are listed in turn."""
    sides = [corners[k::axes] for k in range(axes)]
    return [(min(side), max(side)) for side in sides]
