"""Documents keep their word: the README program runs, links and reference keys lead somewhere."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
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


def test_the_readme_program_runs_without_a_warning(capsys: pytest.CaptureFixture[str]) -> None:
    (program,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.S)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        exec(compile(program, "README.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "Redundant rows (3)" in printed and "Mobility at the default pose: 1" in printed


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_reference_keys_resolve(path: Path) -> None:
    used = set(re.findall(r"\[([A-Z][A-Za-z]+(?:19|18|20)\d\d)\]", path.read_text(encoding="utf-8")))
    assert used <= KEYS, f"not in docs/references.bib: {sorted(used - KEYS)}"


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_between_documents_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#\s]+)", path.read_text(encoding="utf-8")):
        assert (path.parent / target).exists(), target


@pytest.mark.parametrize("path", sorted(ROOT.glob("docs/decisions/*.md")), ids=lambda p: p.name)
def test_decisions_are_short_and_numbered(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    assert re.fullmatch(r"\d{4}-[a-z0-9-]+\.md", path.name)
    assert lines[0].startswith(f"# {path.name[:4]} ")
    assert len(lines) <= 25


def test_ci_runs_the_tests_and_nothing_else() -> None:
    script = ROOT / ".ci" / "run"
    commands = [x for x in script.read_text(encoding="utf-8").splitlines() if x and not x.startswith("#")]
    assert commands == ["set -euo pipefail", 'cd "$(dirname "$0")/.."', "make test"]
    assert script.stat().st_mode & 0o111
