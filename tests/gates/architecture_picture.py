"""The picture of docs/architecture.md, from the floors that the gates hold: which room stands on which.

python -m tests.gates.architecture_picture     # writes docs/static/architecture.svg
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from .sources import ROOT
from .test_import_direction import FLOORS
from .test_kernel_sources import MAY_INCLUDE

PICTURE = ROOT / "docs" / "static" / "architecture.svg"

# what a room or a kernel folder is for, in the few words that fit beside its name
PURPOSES = {
    "__main__": "python -m sarrus",
    "cli": "arguments of the command line",
    "commands": "what its commands do",
    "viz": "pictures, pages, studios: draws, computes nothing",
    "results": "types of all results, for annotations",
    "control": "laws: which inputs to apply",
    "linearization": "A, B, C, D",
    "design": "best values",
    "gym": "environments",
    "simulation": "time: runs, events, modes, many copies",
    "bridge": "states to and from MuJoCo and Pinocchio",
    "twins": "closed robots as trees, maps to their motors",
    "formats": "files in and out",
    "library": "ready-made mechanisms",
    "showcase": "their signature motions",
    "mechanism": "MechanismSpec and Mechanism: what users hold",
    "dynamics": "all that needs M",
    "tracing": "recorded code: C, CUDA",
    "projection": "all that needs J and no mass",
    "constraints": "kinds: what they add to phi, J, gamma",
    "models": "bodies, joints, forces; Model: their arrays",
    "dual_numbers": "exact derivatives",
    "stepped_numbers": "complex steps",
    "differences": "central differences",
    "arrays": "checks of arguments",
    "blas_threads": "one thread of BLAS",
    "errors": "exceptions",
    "varied": "recorded numbers",
    "_kernel": "bindings/: checks, loops, the GIL, no formula",
    "base": "vectors",
    "algebra": "matrices",
    "tree": "M and h",
    "constraints/": "J, gamma",
    "contacts": "gaps",
    "solve": "a, lam",
    "derivatives": "A and B",
    "integrate": "steps, modes",
    "control/": "control steps",
    "team": "many threads",
}
WIDTH, LEFT, GAP = 700, 34, 6
ROOM, PITCH = 27, 33  # height of a room, and from floor to floor
FOLDER = 40
LETTER, SMALL = 8, 6.8  # widths of letters of names and of purposes
STYLE = """
  .page { fill: #ffffff; stroke: #d0d7de }
  .room { fill: #e8f0fb; stroke: #7f9fc9 }
  .kernel { fill: #fbeedd; stroke: #c99a5b }
  .name { fill: #10243e; font: 600 13px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace }
  .says, .note { fill: #3f4a57; font: 12px system-ui, "Segoe UI", "DejaVu Sans", sans-serif }
  .arrow { stroke: #57606a; stroke-width: 1.5; fill: none }
  .head { fill: #57606a }
  @media (prefers-color-scheme: dark) {
    .page { fill: #14181e; stroke: #30363d }
    .room { fill: #1c2c44; stroke: #4d76ab }
    .kernel { fill: #3b2c17; stroke: #a67a3d }
    .name { fill: #eaf1fb }
    .says, .note { fill: #b9c3cf }
    .arrow { stroke: #9aa4b0 }
    .head { fill: #9aa4b0 }
  }
"""


def escaped(text: str) -> str:
    """Text as it stands in XML."""
    return text.replace("&", "&amp;").replace("<", "&lt;")


def box(x: float, y: float, width: float, height: float, kind: str) -> str:
    """A rectangle with round corners."""
    return f'<rect class="{kind}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="5"/>'


def words(x: float, y: float, kind: str, text: str, more: str = "") -> str:
    """A line of text from (x, y) on."""
    return f'<text class="{kind}" x="{x:g}" y="{y:g}"{more}>{escaped(text)}</text>'


def down(x: float, top: float, bottom: float) -> list[str]:
    """An arrow down."""
    head = f"{x - 4:g},{bottom - 8:g} {x + 4:g},{bottom - 8:g} {x:g},{bottom:g}"
    return [
        f'<path class="arrow" d="M{x:g} {top:g} V{bottom - 8:g}"/>',
        f'<polygon class="head" points="{head}"/>',
    ]


def floor_boxes(rooms: set[str], y: float) -> list[str]:
    """The rooms of one floor, side by side, each with its name and purpose."""
    out, width = [], (WIDTH - LEFT - 12 - GAP * (len(rooms) - 1)) / len(rooms)
    for k, room in enumerate(sorted(rooms)):
        x = LEFT + k * (width + GAP)
        out.append(box(x, y, width, ROOM, "kernel" if room == "_kernel" else "room"))
        out.append(words(x + 8, y + 18, "name", room))
        apart = max(LETTER * len(room) + 8, 130 if len(rooms) == 1 else 0)
        out.append(words(x + 8 + apart, y + 18, "says", PURPOSES[room]))
    return out


def levels(may_include: Mapping[str, str]) -> list[list[str]]:
    """Kernel folders by how many others stand below them; folders inside folders count as these."""
    below: dict[str, set[str]] = {}
    for folder, allowed in may_include.items():
        top = folder.split("/")[0]
        below.setdefault(top, set()).update({x.split("/")[0] for x in allowed.split()} - {top})
    level: dict[str, int] = {}
    while len(level) < len(below):
        for folder, needs in below.items():
            if folder not in level and needs <= set(level):
                level[folder] = 1 + max((level[x] for x in needs), default=-1)
    return [[x for x in below if level[x] == n] for n in range(max(level.values()) + 1)]


def strangers(may_include: Mapping[str, str]) -> list[str]:
    """Pairs of folders, one left of the other in the picture, that do not include each other."""
    columns, known = levels(may_include), {k.split("/")[0]: v for k, v in may_include.items()}
    pairs = []
    for n, column in enumerate(columns):
        left = [x for other in columns[:n] for x in other]
        pairs += [f"{x} does not include {y}" for x in column for y in left if y not in known[x]]
    return pairs


def kernel_boxes(may_include: Mapping[str, str], y: float) -> list[str]:
    """The folders of kernels/, lowest at the left."""
    out, columns = [], levels(may_include)
    says = {x: PURPOSES.get(f"{x}/") or PURPOSES[x] for column in columns for x in column}
    needed = [max(max(LETTER * len(x), SMALL * len(says[x])) for x in column) for column in columns]
    spare = WIDTH - LEFT - 12 - GAP * (len(columns) - 1) - sum(needed)
    x = float(LEFT)
    for column, wide in zip(columns, needed, strict=True):
        width = wide + spare / len(columns)
        for k, folder in enumerate(column):
            top = y + k * (FOLDER + GAP)
            out += [box(x, top, width, FOLDER, "kernel"), words(x + 6, top + 16, "name", folder)]
            out.append(words(x + 6, top + 32, "says", says[folder]))
        x += width + GAP
    return out


def picture(floors: Sequence[set[str]], may_include: Mapping[str, str]) -> str:
    """The picture as SVG: rooms from the top floor down, then the folders of kernels/."""
    first = 40
    end = first + PITCH * len(floors)
    rows = max(len(column) for column in levels(may_include))
    height = end + 30 + rows * (FOLDER + GAP) + 8
    body = [box(0.5, 0.5, WIDTH - 1, height - 1, "page")]
    body.append(words(LEFT, 25, "note", "src/sarrus: a room imports only rooms on floors below its own."))
    for k, rooms in enumerate(reversed(floors)):
        body += floor_boxes(rooms, first + k * PITCH)
    body += down(17, first, end - (PITCH - ROOM))
    rule = "; ".join(["kernels/: a folder includes folders to its left", *strangers(may_include)])
    body.append(words(LEFT, end + 18, "note", f"{rule}."))
    body += kernel_boxes(may_include, end + 30)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}"'
        f' height="{height}" role="img">'
    )
    title = "<title>Rooms of sarrus, highest first, and folders of its kernel</title>"
    return "\n".join([head, title, f"<style>{STYLE}</style>", *body, "</svg>", ""])


def main(path: Path = PICTURE) -> None:
    """Write the picture."""
    path.write_text(picture(FLOORS, MAY_INCLUDE), encoding="utf-8")


if __name__ == "__main__":
    main()
