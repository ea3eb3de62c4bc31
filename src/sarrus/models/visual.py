"""Visual: a shape on a body that a picture may show and that no force knows of."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..arrays import numbers, text
from ..errors import InputError, unknown_name
from .pose import Pose
from .restore import Restored

SHAPES = {"box": 3, "sphere": 1, "cylinder": 2, "capsule": 2, "ellipsoid": 3, "mesh": 3}  # numbers in size


@dataclass(frozen=True)
class Visual(Restored):
    """A shape on a body.

    Args:
        body: Name of the body.
        shape: "box" (whole lengths of the edges), "sphere" (radius), "cylinder" and "capsule" (radius,
            length of the straight part, along z), "ellipsoid" (radii) or "mesh" (scale of each axis).
        size: Lengths [m], or the scale of a mesh.
        at: Frame of the shape in the body frame.
        file: File of a mesh, "" for other shapes.
        rgba: Red, green, blue, opacity, 0 to 1.
    """

    body: str
    shape: str
    size: tuple[float, ...]
    at: Pose = field(default_factory=Pose)
    file: str = ""
    rgba: tuple[float, ...] = (0.7, 0.7, 0.7, 1.0)

    def __post_init__(self) -> None:
        text(self.body, "body of a Visual")
        if not isinstance(self.shape, str) or self.shape not in SHAPES:
            raise unknown_name("shape", self.shape, SHAPES, "a Visual")
        for name, n in (("size", SHAPES[self.shape]), ("rgba", 4)):
            values = numbers(getattr(self, name), f"{name} of a Visual").ravel()
            if len(values) != n:
                raise InputError(f"{name} of a {self.shape} must be {n} numbers, got {values.tolist()}.")
            object.__setattr__(self, name, tuple(values.tolist()))
        if not isinstance(self.file, str):
            raise InputError(f"file of a Visual must be a str, got {self.file!r:.80}.")
        if not isinstance(self.at, Pose):
            raise InputError(f"at of a Visual must be a Pose, got {self.at!r}.")
