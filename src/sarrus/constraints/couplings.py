"""Couplings: relations between coordinates, constant (gears) or driven in time.

sum_i c_i q_i = offset + f(t), where single terms may be c_i f_i(q_i) with a curve f_i (cams)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, ClassVar, TypeGuard

from ..arrays import number, text
from ..errors import InputError
from ..models.base.kind import Checks
from ..models.base.pose import Pose
from ..models.model import RowGroup
from ..models.tree.tree import Tree
from .prescribed import Prescribed
from .rows import Constraint, RowName, Rows

__all__ = ["Coupling", "Drive"]

Terms = Mapping[str, float] | tuple[tuple[str, float], ...]


def _check_terms(terms: object, what: str) -> tuple[tuple[str, float], ...]:
    """{coordinate: coefficient} as a tuple of pairs, at least one, none of them zero."""
    if _are_pairs(terms):
        terms = dict(terms)  # what this function made before
    if not isinstance(terms, Mapping) or not terms:
        raise InputError(f"{what} must be a mapping {{coordinate: coefficient}}, not empty, got {terms!r}.")
    for coordinate, coefficient in terms.items():
        text(coordinate, f"a coordinate of {what}")
        if number(coefficient, f"coefficient of {coordinate!r} in {what}") == 0.0:
            raise InputError(f"coefficient of {coordinate!r} in {what} must not be zero; leave it out.")
    return tuple((str(coordinate), number(coefficient, what)) for coordinate, coefficient in terms.items())


def _are_pairs(terms: object) -> TypeGuard[tuple[tuple[Any, Any], ...]]:
    """Whether these are pairs in a tuple, at least one."""
    if not isinstance(terms, tuple) or not terms:
        return False
    return all(isinstance(pair, tuple) and len(pair) == 2 for pair in terms)


def lower_coupling(
    group: RowGroup,
    terms: Terms,
    tree: Tree,
    rows: Rows,
    *,
    offset: float,
    drive: int = -1,
    kind: str = "",
    curves: Mapping[str, Sequence[Any]] = MappingProxyType({}),
) -> None:
    """The row of a coupling.

    `kind` says "m" or "rad", by default what its coordinates are; `curves` has the knots (n, 5) of
    kernels/constraints/coupling_terms.hpp of terms that are curves of their coordinate.
    """
    where = f"constraint {group.name!r}"
    pairs = [(*tree.scalar(name, where), c, curves.get(name, ())) for name, c in dict(terms).items()]
    lengths = all(not tree.coordinate_is_angle[iv] for _, iv, *_ in pairs)
    here = rows.add(group, [RowName(group.name, kind or ("m" if lengths else "rad"))]).rows
    rows.append(k_row=here.start, k_begin=rows.count("kt_q"), k_offset=offset, k_drive=drive)
    for iq, iv, coefficient, knots in pairs:
        rows.append(kt_q=iq, kt_v=iv, kt_coef=coefficient, kt_knot=rows.count("knots"), kt_knots=len(knots))
        for knot in knots:
            rows.append(knots=knot)
    rows.append(k_end=rows.count("kt_q"))


@dataclass(frozen=True)
class Coupling(Constraint):
    """Linear relation between coordinates: sum of coefficient * coordinate = offset.

    Args:
        terms: {coordinate: coefficient}; coordinates are angles [rad] or displacements [m].
        offset: Right-hand side, in the unit of the sum.
    """

    checks: ClassVar[Checks] = {"offset": number}
    terms: Terms
    offset: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "terms", _check_terms(self.terms, "Coupling"))
        super().__post_init__()

    def coordinates(self) -> tuple[str, ...]:
        return tuple(dict(self.terms))

    def lower(self, name: str, tree: Tree, rows: Rows) -> None:
        lower_coupling(RowGroup(name, "Coupling"), self.terms, tree, rows, offset=self.offset)

    def latched(self, name: str, pose: Callable[[str], Pose], position: Callable[[str], float]) -> Coupling:
        total = sum(c * position(coordinate) for coordinate, c in dict(self.terms).items())
        return replace(self, offset=total)

    def data(self) -> dict[str, Any]:
        return super().data() | {"terms": dict(self.terms)}


@dataclass(frozen=True)
class Drive(Prescribed, Constraint):
    """Prescribed motion: a coordinate, or a sum of coefficient * coordinate, equals function(t).

    f must be twice differentiable: a jump of f cannot be followed, a jump of f' is an impulse that nothing
    here computes. Without `rate` and `acceleration` they are fourth-order differences of f(t - 2 ms) ...
    f(t + 2 ms), over shorter times where f changes faster: f is asked a little before the start and after
    the end of a run, and a corner is rounded off over 4 ms. A function of more than some 200 Hz needs its
    derivatives given; `simulate` warns of it.

    Args:
        coordinate: Name of a coordinate, or {name: coefficient}.
        function: f(t), t in s, value in rad or m. A mechanism can be pickled if it is a function of a module,
            not a lambda.
        rate: f'(t); by differences if not given.
        acceleration: f''(t); likewise.
    """

    holds_functions: ClassVar[bool] = True
    constant: ClassVar[str] = "Coupling({coordinate: 1.0}, offset=value)"
    coordinate: str | Terms
    function: Callable[[float], float]
    rate: Callable[[float], float] | None = None
    acceleration: Callable[[float], float] | None = None

    def __post_init__(self) -> None:
        terms = {self.coordinate: 1.0} if isinstance(self.coordinate, str) else self.coordinate
        object.__setattr__(self, "coordinate", _check_terms(terms, "Drive"))
        self.check_functions("function")

    def coordinates(self) -> tuple[str, ...]:
        return tuple(self.driven())

    def driven(self) -> Mapping[str, float]:
        assert not isinstance(self.coordinate, str)  # made a tuple of pairs when checked
        return dict(self.coordinate)

    def lower(self, name: str, tree: Tree, rows: Rows) -> None:
        assert not isinstance(self.coordinate, str)
        group = RowGroup(name, "Drive")
        lower_coupling(group, self.coordinate, tree, rows, offset=0.0, drive=len(rows.drives))
        rows.drives.append(self)


@dataclass(frozen=True)
class HeldCoordinate(Constraint, base=True):
    """A velocity coordinate at rest: the row of friction that sticks. Its multiplier is the friction.

    Args:
        index: Into v.
    """

    index: int

    def lower(self, name: str, tree: Tree, rows: Rows) -> None:
        kind = "rad" if tree.coordinate_is_angle[self.index] else "m"
        here = rows.add(RowGroup(name, "HeldCoordinate"), [RowName(name, kind, holonomic=False)]).rows
        begin = rows.count("kt_q")
        rows.append(k_row=here.start, k_begin=begin, k_offset=0.0, k_drive=-1)
        rows.append(kt_q=0, kt_v=self.index, kt_coef=1.0, kt_knot=0, kt_knots=0, k_end=begin + 1)
