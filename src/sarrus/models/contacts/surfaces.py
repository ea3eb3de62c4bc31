"""Surface: a shape on a body that can touch others. ContactPair: two of them that may touch."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from ...arrays import nonnegative, number, text
from ...errors import InputError
from ...varied import largest
from ..base.expressions import KeepsParameters
from ..base.pose import Pose
from ..base.restore import Restored
from ..shapes.kernel_shape import KernelShape
from ..shapes.shapes import Shape
from ..shapes.visual import Visual


def restitution_of(value: object, what: str) -> float | None:
    """A coefficient of restitution, 0 to 1, or None."""
    if value is None:
        return None
    e = number(value, what)
    if not 0.0 <= e <= 1.0:
        raise InputError(f"{what} must be between 0 (no rebound) and 1 (no loss), got {e:g}.")
    return e


def friction_of(value: object, what: str) -> float | None:
    """A coefficient of friction, not negative, or None."""
    return None if value is None else nonnegative(value, what)


@dataclass(frozen=True)
class Surface(Restored, metaclass=KeepsParameters):
    """A shape on a body.

    Attributes:
        name: Unique among surfaces.
        body: Name of the body, or "ground".
        shape: What touches. Its density and mass do not count.
        at: Frame in the body frame in which the shape stands.
        friction: Coefficient of friction; None: that of the other surface.
        restitution: 0 to 1; None: that of the other surface, or 0.
        torsion, rolling: Largest moment about the normal and across it, per normal force [m].
    """

    name: str
    body: str
    shape: Shape
    at: Pose = field(default_factory=Pose)
    friction: float | None = None
    restitution: float | None = None
    torsion: float = 0.0
    rolling: float = 0.0

    def __post_init__(self) -> None:
        what = f"surface {text(self.name, 'the name of a surface')!r}"
        if not isinstance(self.shape, Shape):
            raise InputError(
                f"the shape of {what} must be one of {', '.join(Shape.kinds)}, got {self.shape!r:.80}."
            )
        if not isinstance(self.at, Pose):
            raise InputError(f"at of {what} must be a Pose, got {self.at!r:.80}.")
        for name, check in CHECKS.items():
            object.__setattr__(self, name, check(getattr(self, name), f"{name} of {what}"))

    def visual(self, extent: float) -> Visual:
        """What pictures show of it; what has no end as far as the extent [m]."""
        shown = self.shape.visual(self.body, extent)
        return replace(shown, at=self.at @ shown.at)

    def in_kernel(self) -> KernelShape:
        """The shape as the kernel knows it, `at` in the body frame."""
        found = self.shape.in_kernel()
        return found._replace(at=self.at @ self.shape.at @ found.at)


CHECKS: dict[str, Any] = {
    "friction": friction_of, "restitution": restitution_of, "torsion": nonnegative, "rolling": nonnegative,
}  # fmt: skip


@dataclass(frozen=True)
class ContactPair(Restored, metaclass=KeepsParameters):
    """Two surfaces that may touch.

    Attributes:
        name: Unique among pairs; its slots are "name.0", "name.1" ...
        a, b: Names of the surfaces; normals point from a to b, forces act on b.
        friction, restitution: Of this pair, instead of those of its surfaces.
    """

    name: str
    a: str
    b: str
    friction: float | None = None
    restitution: float | None = None

    def __post_init__(self) -> None:
        what = f"contact {text(self.name, 'the name of a contact')!r}"
        for name in ("friction", "restitution"):
            object.__setattr__(self, name, CHECKS[name](getattr(self, name), f"{name} of {what}"))


def law_of_pair(pair: ContactPair, a: Surface, b: Surface) -> tuple[Any, Any, Any, Any]:
    """Friction, restitution, torsion and rolling: the smaller friction, of all others the larger."""
    friction = _joint(pair.friction, a.friction, b.friction, smaller=True)
    if friction is None:
        raise InputError(
            f"contact {pair.name!r}: neither {a.name!r} nor {b.name!r} has a friction; give it to one of them"
            " or to the pair: friction=0.0 is a smooth contact."
        )
    restitution = _joint(pair.restitution, a.restitution, b.restitution)
    rest = (largest((getattr(a, name), getattr(b, name))) for name in ("torsion", "rolling"))
    return (friction, 0.0 if restitution is None else restitution, *rest)


def _joint(own: Any, a: Any, b: Any, smaller: bool = False) -> Any:
    """A coefficient of a pair: its own, or from those of its surfaces; None where nobody says one."""
    given = [x for x in ((own,) if own is not None else (a, b)) if x is not None]
    if not given:
        return None
    return -largest(-x for x in given) if smaller else largest(given)
