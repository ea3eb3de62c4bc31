"""Writing the code of a twin."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..arrays import Array, fixed_shape, mapping, one_of
from ..errors import InputError, require_known, warn
from ..tracing.written_files import c_name, folder_of
from .array_text import ArrayText
from .c_text import CText
from .code_data import CodeData, data_of
from .code_parts import CodeParts
from .start_fit import StartFit, fits, range_text

LANGUAGES = ("c", "numpy", "torch", "jax")
MADE = "made by sarrus (Twin.export_code)"  # in each file: only such files are overwritten
TRIED = 400  # poses in the range on which the code is tried
SHARE = 0.95  # of them that should pass their guards


def export_twin(twin: Any, folder: Any, language: str, ranges: Any = None) -> tuple[Path, ...]:
    """Write the files; see `Twin.export_code`."""
    one_of(language, "language of export_code", LANGUAGES)
    parts, data, share, found = _made(twin, _limits(twin, ranges))
    if share < SHARE:
        warn(
            f"{twin.mech.name}: the exported code gives results at {share:.0%} of {TRIED} poses within the"
            " range of its joints; at the others its guards say so. Narrower ranges= help."
        )
    said = _said(twin, found, share)
    if language == "c":
        texts = CText(data, parts, said).texts()
    else:
        texts = {f"{data.name}_twin_{language}.py": ArrayText(data, parts, said, language).text()}
    return _written(folder_of(folder), texts)


def _limits(twin: Any, ranges: Any) -> Array:
    """Ranges (nv, 2) of the coordinates of the robot: those given, else the limits of joints."""
    limits, tree = twin.mech.model.limits.copy(), twin.tree
    for name, given in mapping(ranges, "ranges", "{coordinate: (lower, upper)}").items():
        require_known("coordinate", name, tree.names, "ranges of export_code")
        lower, upper = fixed_shape(given, f"range of {name!r}", (2,)).tolist()
        i = tree.model.coordinate_q[tree.names.index(name)]
        here = tree.default.q[i] if i >= 0 else 0.0
        if not lower < here < upper:
            raise InputError(
                f"range of {name!r} must contain its value at the reference pose, {here:.4g}, got"
                f" {lower:g} to {upper:g}."
            )
        limits[twin.loops.split.given[tree.names.index(name)]] = lower, upper
    return np.asarray(limits)


def _made(twin: Any, limits: Array) -> tuple[CodeParts, CodeData, float, tuple[StartFit, ...]]:
    """Arithmetic and numbers, made once for a twin, and the share of poses at which they give results."""
    known = twin.__dict__.setdefault("_code", {})
    key = limits.tobytes()
    if key not in known:
        loops = twin.loops
        if not loops.split.blocks:
            raise InputError(f"export_code: {twin.mech.name!r} has no loops; its motors are its joints.")
        found = fits(twin.mech, loops, limits)
        parts = CodeParts(twin.mech, loops, found)
        data = data_of(twin, parts, c_name(twin.mech.name))
        known[key] = parts, data, _share(twin, parts, data, found), found
    made: tuple[CodeParts, CodeData, float, tuple[StartFit, ...]] = known[key]
    return made


def _share(twin: Any, parts: CodeParts, data: CodeData, found: tuple[StartFit, ...]) -> float:
    """Share of poses within the range, of those where the loops close, at which the code gives results."""
    module: dict[str, Any] = {}
    exec(compile(ArrayText(data, parts, (), "numpy").text(), "twin", "exec"), module)
    poses = _poses(parts, found)
    fine = twin.status(poses) == 0
    return float(np.mean(module["guards"](poses[fine]) == 0)) if np.any(fine) else 0.0


def _poses(parts: CodeParts, found: tuple[StartFit, ...]) -> Array:
    rng, chart = np.random.default_rng(1), parts.loops.chart
    x = np.zeros((TRIED, chart.nv))
    for fit in found:
        x[:, fit.block.given] = fit.middle + fit.half * rng.uniform(-1, 1, (TRIED, len(fit.middle)))
    return np.asarray(chart.pose(x)[:, parts.loops.split.given_q])


def _said(twin: Any, found: tuple[StartFit, ...], share: float) -> list[str]:
    """The comment at the top of a file."""
    ranges = dict.fromkeys(text for fit in found for text in range_text(twin.loops, fit))
    lines = [
        f"Tree twin of {_plain(twin.mech.name)}, {MADE}. Units: m, rad, N, kg, s.",
        f"v_s: {_plain(', '.join(twin.serial))}.",
        f"q_m, tau_m: {_plain(', '.join(twin.motor_names))}.",
        f"Made for {_plain('; '.join(ranges))} (balls and Free joints: from the reference);",
        f"{share:.0%} of poses there give results, guards say where there is none.",
    ]
    return [piece for line in lines for piece in _wrapped(line)]


def _plain(text: str) -> str:
    """Names as they may stand in comments."""
    shown = text.encode("ascii", "backslashreplace").decode()
    return (
        shown.replace("*/", "* /")
        .replace("/*", "/ *")
        .replace("\n", " ")
        .replace('"', "'")
        .replace("\\", "/")
    )


def _wrapped(line: str, width: int = 96) -> list[str]:
    found = [""]
    for word in line.split(" "):
        if len(found[-1]) + len(word) > width:
            found.append("  ")
        found[-1] += f"{word} "
    return [one.rstrip() for one in found]


def _written(where: Path, texts: dict[str, str]) -> tuple[Path, ...]:
    paths = tuple(where / name for name in texts)
    for path in paths:
        if path.exists() and not (path.is_file() and MADE in path.read_text(errors="replace")[:4000]):
            raise InputError(
                f"export_code: {str(path)!r} is not a file that it wrote; give a folder of its own."
            )
    try:
        for path in paths:
            path.write_text(texts[path.name], encoding="ascii")
    except OSError as error:
        raise InputError(f"export_code cannot write into {str(where)!r}: {error.strerror}.") from None
    return paths
