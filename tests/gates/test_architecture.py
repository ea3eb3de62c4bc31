"""docs/architecture.md names what the gates hold: every room, every kernel folder, and files that exist."""

from __future__ import annotations

import re

import pytest

from . import architecture_picture
from .architecture_picture import PICTURE, picture
from .sources import BINDINGS, KERNELS, ROOT, SOURCE
from .test_import_direction import FLOORS
from .test_kernel_sources import MAY_INCLUDE

PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
ROOMS = sorted(set().union(*FLOORS))
FOLDERS = sorted({folder.split("/")[0] for folder in MAY_INCLUDE})
REDRAW = "python -m tests.gates.architecture_picture"
# names of tests and tools that the page names beside those of the library
TOOLS = ("tests/gates", "tests/simulation", "bench")


@pytest.mark.parametrize("room", ROOMS)
def test_the_page_names_every_room(room: str) -> None:
    assert f"`{room}`" in PAGE, f"docs/architecture.md does not say what the room {room} is for; add it"


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_page_names_every_folder_of_the_kernel(folder: str) -> None:
    assert f"`kernels/{folder}`" in PAGE, f"docs/architecture.md does not say what kernels/{folder} is for"


def test_every_room_and_folder_has_a_purpose_in_the_picture() -> None:
    purposes = architecture_picture.PURPOSES
    missing = [x for x in (*ROOMS, *FOLDERS) if x not in purposes]
    assert not missing, (
        f"say in PURPOSES of tests/gates/architecture_picture.py what these are for: {missing}"
    )


def test_the_picture_shows_the_floors_of_the_gates() -> None:
    shown = PICTURE.read_text(encoding="utf-8")
    assert shown == picture(FLOORS, MAY_INCLUDE), f"{PICTURE.name} shows other floors; draw it: {REDRAW}"


def test_files_that_the_page_names_exist() -> None:
    """A name with folders is a path in the repository or below src/sarrus; a bare name is somewhere."""
    roots = (SOURCE, KERNELS, BINDINGS, *(ROOT / x for x in TOOLS))
    known = {path.name for root in roots for path in root.rglob("*.*")}
    named = set(re.findall(r"`([\w./]+\.(?:py|hpp|cpp|pyi))`", PAGE))
    assert len(named) > 30
    missing = sorted(
        x for x in named if not ((ROOT / x).is_file() or (SOURCE / x).is_file() if "/" in x else x in known)
    )
    assert not missing, f"docs/architecture.md names files that do not exist: {missing}"


def test_functions_that_the_page_names_exist() -> None:
    """Names with parentheses, `name()` or `Class.name()`, are defined somewhere in the sources."""
    ends = {".py", ".hpp", ".cpp"}
    files = [p for root in (SOURCE, KERNELS, BINDINGS) for p in root.rglob("*") if p.suffix in ends]
    words = set(re.findall(r"\w+", "\n".join(p.read_text(encoding="utf-8") for p in files)))
    named = set(re.findall(r"`([\w.]+)\(\)`", PAGE))
    assert len(named) > 20
    missing = sorted(x for x in named if not set(x.split(".")) <= words)
    assert not missing, f"docs/architecture.md names functions that do not exist: {missing}"


def test_worked_examples_that_the_page_links_exist() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    titles = re.findall(r"^## (.+)$", text, re.M)
    known = {re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles}
    linked = set(re.findall(r"CONTRIBUTING\.md#([\w-]+)", PAGE))
    assert linked == {x for x in known if x.startswith("worked-example")}
