"""Documents keep their word: links, reference keys and decision numbers resolve, every Python block runs.

All ```python blocks of a page run in order in one namespace, as a reader would paste them (page_blocks.py in
docs/extensions), and together pass `mypy --strict`. Those of tutorials run when the site is built
(tests/docs/test_site.py).
"""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import tomllib
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

import sarrus as sr
from page_blocks import blocks, run
from tests.studio_kernel import KERNEL, NO_KERNEL

from .sources import public_rooms

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
DECISIONS = sorted(ROOT.glob("docs/decisions/*.md"))
SOURCES = sorted(
    path
    for folder, ends in (
        ("src/sarrus", ("py",)),
        ("kernels", ("hpp",)),
        ("bindings", ("hpp", "cpp", "cu")),
        ("tests", ("py",)),
        ("docs", ("md",)),
        ("examples", ("py",)),
        ("bench", ("py", "md")),
    )
    for end in ends
    for path in (ROOT / folder).rglob(f"*.{end}")
)
KEYS = set(re.findall(r"^@\w+\{(\w+),", (ROOT / "docs" / "references.bib").read_text(encoding="utf-8"), re.M))
WIDEST = 120  # columns of a line of Markdown
SECTIONS = ["Context", "Choice", "Alternatives measured", "What would reopen it"]
LONGEST_DECISION = 45  # lines
FORMULATIONS = (
    "nullspace",
    "svd",
    "projection",
    "projection_symmetric",
    "projection_gamma",
    "partition",
    "lagrange",
)
OPTIONAL = (
    *("casadi", "control", "crocoddyl", "jax", "matplotlib", "mujoco", "pandas", "pinocchio"),
    "torch",
)


PAGES = [path for path in DOCUMENTS if blocks(path.read_text(encoding="utf-8"))]
EXECUTED = [
    path for path in PAGES if path.stem == "start" or path.parent.name == "tutorials"
]  # with the site


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.fixture
def drawing_without_a_display() -> Iterator[None]:
    """matplotlib, where it is installed, draws into memory; figures are closed afterwards."""
    if importlib.util.find_spec("matplotlib") is None:
        yield
        return
    import matplotlib.pyplot as plt

    plt.switch_backend("Agg")
    yield
    plt.close("all")


def test_the_readme_program_runs_without_a_warning(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (program,) = blocks((ROOT / "README.md").read_text(encoding="utf-8"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        exec(compile(program.code, "README.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "Redundant rows (3)" in printed and "Mobility at the default pose: 1" in printed


@pytest.mark.parametrize("path", [x for x in PAGES if x not in EXECUTED], ids=name)
@pytest.mark.usefixtures("drawing_without_a_display")
def test_python_blocks_run_and_print_what_the_page_shows(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = path.read_text(encoding="utf-8")
    code = "\n".join(block.code for block in blocks(text))
    for module in re.findall(r"^(?:import|from) (\w+)", code, re.M):
        if module in OPTIONAL:
            pytest.importorskip(module)
    if ".studio(" in code and not KERNEL.is_file():
        pytest.skip(NO_KERNEL)
    monkeypatch.chdir(tmp_path)
    for _ in run(text, path.relative_to(ROOT)):
        pass


def test_python_blocks_pass_mypy_strict(tmp_path: Path) -> None:
    for path in PAGES:
        lines: list[str] = []
        for block in blocks(path.read_text(encoding="utf-8")):  # line numbers of the page are kept
            lines += [""] * (block.line - 1 - len(lines)) + block.code.splitlines()
        stem = re.sub(r"\W", "_", path.relative_to(ROOT).with_suffix("").as_posix())
        (tmp_path / f"page_{stem}.py").write_text("\n".join(lines) + "\n", encoding="utf-8")
    config = str(ROOT / "pyproject.toml")
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", config, str(tmp_path)]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert found.returncode == 0, found.stdout.replace(f"{tmp_path}/", "") + found.stderr


@pytest.mark.parametrize("path", SOURCES, ids=name)
def test_reference_keys_resolve(path: Path) -> None:
    used = set(re.findall(r"\[([A-Z][A-Za-z]+(?:19|18|20)\d\d)\]", path.read_text(encoding="utf-8")))
    assert used <= KEYS, f"not in docs/references.bib: {sorted(used - KEYS)}"


@pytest.mark.parametrize("path", DOCUMENTS, ids=name)
def test_links_between_documents_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#\s]+)", path.read_text(encoding="utf-8")):
        assert (path.parent / target).exists(), target


@pytest.mark.parametrize("path", DOCUMENTS, ids=name)
def test_lines_are_at_most_120_columns(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    wide = [f"{name(path)}:{i}: {len(line)}" for i, line in enumerate(lines, 1) if len(line) > WIDEST]
    assert not wide, f"lines wider than {WIDEST} columns: " + ", ".join(wide)


def test_decisions_have_numbers_of_their_own() -> None:
    """Numbers are given when work begins, so that a later one may be there first."""
    numbers = [path.name[:4] for path in DECISIONS]
    assert numbers == sorted(set(numbers)) and numbers[0] == "0001"


@pytest.mark.parametrize("path", DECISIONS, ids=lambda p: p.name)
def test_decisions_have_a_number_four_sections_and_fit_a_page(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    assert re.fullmatch(r"\d{4}-[a-z0-9-]+\.md", path.name)
    assert lines[0].startswith(f"# {path.name[:4]} ")
    assert [line[3:] for line in lines if line.startswith("## ")] == SECTIONS
    assert len(lines) <= LONGEST_DECISION


@pytest.mark.parametrize("path", SOURCES, ids=name)
def test_decisions_that_are_cited_exist(path: Path) -> None:
    known = {decision.name[:4] for decision in DECISIONS}
    cited = set(re.findall(r"[Dd]ecisions?[ /](?:\[)?(\d{4})\b", path.read_text(encoding="utf-8")))
    assert cited <= known, f"no such decision: {sorted(cited - known)}"


def test_every_page_is_in_the_index() -> None:
    docs = ROOT / "docs"
    index = (docs / "README.md").read_text(encoding="utf-8")
    pages = [p.relative_to(docs).as_posix() for p in docs.glob("**/*.md") if p.name != "README.md"]
    assert [page for page in pages if f"]({page})" not in index] == []


def test_every_public_name_is_in_a_guide() -> None:
    """Names of public packages, methods of mechanisms and descriptions; the reference does not count."""
    folders = ("docs", "docs/tutorials", "docs/howto")
    pages = [path for folder in folders for path in (ROOT / folder).glob("*.md")]
    words = set(re.findall(r"\w+", "\n".join(path.read_text(encoding="utf-8") for path in pages)))
    names = {name for room in public_rooms() for name in room.__all__} | {*FORMULATIONS}
    names |= {name for kind in (sr.Mechanism, sr.MechanismSpec) for name in dir(kind) if name[0] != "_"}
    missing = sorted(names - words)
    assert not missing, (
        f"no page of docs/ (the reference does not count) names {', '.join(missing)}: add a line"
    )


def test_one_version_everywhere() -> None:
    """`__version__` is the place; packages read it from there."""
    found = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.M)
    assert found and found[1] == sr.__version__
    newest = re.search(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)
    assert newest and newest[1] == sr.__version__
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["dynamic"] == ["version"] and "version" not in project


def test_ci_runs_the_tests_and_nothing_else() -> None:
    script = ROOT / ".ci" / "run"
    commands = [x for x in script.read_text(encoding="utf-8").splitlines() if x and not x.startswith("#")]
    assert commands == ["set -euo pipefail", 'cd "$(dirname "$0")/.."', "make test"]
    assert script.stat().st_mode & 0o111
