"""Parameters in a studio: the mechanism as compiled for each stop of their sliders.

A parameter is part of a Python program, which a page cannot run. So the page holds what differs in the tables
of the kernel at each stop: all combinations of up to three parameters, one at a time of more.
"""

from __future__ import annotations

import base64
import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import InputError, SarrusError, SarrusWarning
from ..mechanism.mechanism import Mechanism
from .studio_data import as_json, kernel_table, reachable, scene, zipped

STOPS = {1: 21, 2: 9, 3: 5}  # of each of so many parameters, all combinations
ONE_BY_ONE = 11  # stops of each of more
GRAIN = 1e-3  # of points of meshes, relative to the length; the next power of two packs best
RANGE = 0.3  # of the value to both sides, where no range is given


def parameter_stops(
    mech: Mechanism, ranges: Mapping[str, Any] | None, picture: tuple[dict[str, Any], Any, Any]
) -> str | None:
    """Packed data of the stops, None for a mechanism without parameters.

    Args:
        mech: The mechanism as declared.
        ranges: {name: (low, high)}; None: all parameters.
        picture: Its scene, shapes and thickness.
    """
    recipe = mech.model.recipe
    declared = {} if recipe is None else recipe.current()
    asked = dict(declared if ranges is None else ranges)
    for name in asked:
        if name not in declared:
            known = ", ".join(declared) or "none"
            raise InputError(f"parameters of a studio: no parameter {name!r}; the mechanism has {known}.")
    if not asked:
        return None
    values = {name: _values(name, declared[name], ranges, len(asked)) for name in asked}
    grid = len(asked) in STOPS
    grain = float(2.0 ** np.round(np.log2(GRAIN * mech.length)))
    base, meshes = kernel_table(mech), Meshes(picture[0]["meshes"], grain)
    stops = [
        _stop(mech, changed, base, picture[1:], meshes) for changed in _combinations(values, declared, grid)
    ]
    said = [
        {"name": name, "values": list(x), "base": int(np.argmin(np.abs(np.array(x) - declared[name])))}
        for name, x in values.items()
    ]
    out = {"grid": grid, "parameters": said, "list": stops, "meshes": meshes.list}
    return zipped(as_json(out).encode())


class Meshes:
    """Meshes of all stops, each once, those of the declared mechanism first.

    Args:
        first: These, as the page has them.
        grain: Meshes whose points differ by less are the same [m].
    """

    def __init__(self, first: list[dict[str, str]], grain: float) -> None:
        self.list, self._grain = list(first), grain
        self._known = {self._key(self._seen(one)): i for i, one in enumerate(first)}

    @staticmethod
    def _key(one: dict[str, str]) -> tuple[tuple[str, str], ...]:
        return tuple(sorted(one.items()))

    def _seen(self, one: dict[str, str]) -> dict[str, str]:
        """The mesh with its points on a grid as fine as is seen, which packs better."""
        points = np.frombuffer(base64.b64decode(one["points"]), dtype="<f4")
        coarse = (np.round(points / self._grain) * self._grain + 0.0).astype("<f4")
        return one | {"points": base64.b64encode(coarse.tobytes()).decode("ascii")}

    def renumbered(self, film: dict[str, Any]) -> list[dict[str, Any]]:
        """Solids of a scene with the numbers of their meshes in this list."""
        out = []
        for solid in film["solids"]:
            if "mesh" in solid:
                one = self._seen(film["meshes"][solid["mesh"]])
                key = self._key(one)
                if key not in self._known:
                    self._known[key] = len(self.list)
                    self.list.append(one)
                solid = solid | {"mesh": self._known[key]}
            out.append(solid)
        return out


def _values(name: str, value: float, ranges: Mapping[str, Any] | None, count: int) -> list[float]:
    """Stops of one parameter, its declared value among them."""
    low, high = value - RANGE * abs(value), value + RANGE * abs(value)
    if value == 0.0:
        low, high = -1.0, 1.0
    if ranges is not None:
        given = np.asarray(ranges[name], dtype=float)
        if given.shape != (2,) or not np.all(np.isfinite(given)) or not given[0] < given[1]:
            raise InputError(f"range of parameter {name!r} must be (low, high), got {ranges[name]!r}.")
        low, high = min(float(given[0]), value), max(float(given[1]), value)
    stops = np.linspace(low, high, STOPS.get(count, ONE_BY_ONE))
    stops[np.argmin(np.abs(stops - value))] = value
    return [float(x) for x in stops]


def _combinations(
    values: Mapping[str, Sequence[float]], declared: Mapping[str, float], grid: bool
) -> list[dict[str, float]]:
    if grid:
        return [dict(zip(values, each, strict=True)) for each in itertools.product(*values.values())]
    return [{name: x} for name, stops in values.items() for x in stops]


def _stop(
    mech: Mechanism, changed: dict[str, float], base: bytes, picture: tuple[Any, ...], meshes: Meshes
) -> dict[str, Any] | None:
    """What differs at a stop: entries of the table (index of eight bytes, value), pose, solids.

    None where the mechanism cannot be assembled there.
    """
    import warnings

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SarrusWarning)
            other = mech.with_(**changed)
            pose = np.array(other.default.q)
    except SarrusError:
        return None
    table = kernel_table(other)
    if len(table) != len(base):
        return None
    before, after = (np.frombuffer(x + b"\0" * (-len(x) % 8), dtype="<f8") for x in (base, table))
    at = np.flatnonzero(before.view("<i8") != after.view("<i8"))
    solids = meshes.renumbered(scene(other, reachable(other, pose), *picture))
    return {"at": at.tolist(), "to": after[at].tolist(), "q": pose.tolist(), "solids": rounded(solids)}


def rounded(value: Any) -> Any:
    """Numbers of a picture to as many digits as are seen."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {key: rounded(x) for key, x in value.items()}
    return [rounded(x) for x in value] if isinstance(value, list) else value
