"""The site: no warning, tutorials executed, links lead somewhere, every public name in the reference."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import urllib.parse
from html.parser import HTMLParser
from pathlib import Path

import pytest
from sphinx.util.inventory import InventoryFile

from tests.gates.sources import ROOT, public_rooms

WALL = "five_bar,v_belt"  # of the gallery, whose other machines take a minute
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


class Page(HTMLParser):
    """Targets of links and names that links lead to, of one page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.sources: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {key: value or "" for key, value in attrs}
        self.anchors.add(given.get("id", ""))
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif "src" in given:
            self.sources.append(given["src"])
        elif tag == "link" and given.get("rel") == "stylesheet":
            self.sources.append(given["href"])


def built(folder: Path) -> Path:
    """The site, as `make docs` builds it; a warning fails."""
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-q",
        "-W",
        "--keep-going",
        "-b",
        "html",
        "-D",
        f"wall_machines={WALL}",
    ]
    command += ["docs", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def check_links(site: Path) -> None:
    """Every link within the site leads to a page and a place on it; nothing is loaded from elsewhere."""
    pages = {path: Page(path) for path in site.rglob("*.html") if "_pictures" not in path.parts}
    broken, remote = [], []
    for path, page in pages.items():
        remote += [f"{path.name}: {x}" for x in page.sources if re.match("(https?:)?//", x)]
        for link in [*page.links, *page.sources]:
            where, _, anchor = urllib.parse.unquote(link).partition("#")
            if re.match(r"\w+:", where):
                continue
            target = (path.parent / where.partition("?")[0]).resolve() if where else path
            known = pages.get(target / "index.html" if target.is_dir() else target)
            if not target.exists() or (anchor and known and anchor not in known.anchors):
                broken.append(f"{path.relative_to(site)}: {link}")
    assert not broken, "\n".join(["broken links:", *broken])
    assert not remote, "\n".join(["the site works offline, but loads:", *remote])


def check_public_names(site: Path) -> None:
    """Every public name has an entry in the reference, under the name that users type."""
    inventory = InventoryFile.loads((site / "objects.inv").read_bytes(), uri="")
    entries = {
        name.rpartition(".")[2]
        for kind, names in inventory.data.items()
        for name in names
        if kind.startswith("py:")
    }
    wanted = {name for room in public_rooms() for name in room.__all__}
    modules = {room.__name__.rpartition(".")[2] for room in public_rooms()}
    missing = sorted(wanted - entries - modules)
    assert not missing, f"add their modules to a page of docs/api: {missing}"


def check_pictures(site: Path) -> None:
    """Every tutorial has a picture."""
    tutorials = sorted(path.stem for path in (ROOT / "docs" / "tutorials").glob("*.md"))
    drawn = {folder.name for folder in (site / "_pictures").iterdir() if any(folder.iterdir())}
    assert [name for name in tutorials if f"tutorials-{name}" not in drawn] == []


def check_wall(site: Path) -> None:
    """Machines of the gallery have a picture, a page that plays and a studio; examples have a page."""
    page = Page(site / "gallery.html")
    for name in WALL.split(","):
        assert f"_machines/{name}.html" in page.links and f"_machines/{name}.png" in page.sources
        assert (site / "_machines" / f"{name}-film.html").is_file()
    assert "_examples/five_bar_methods.html" in page.links
    assert "kernel" in (site / "_machines" / "five_bar.html").read_text(encoding="utf-8")


def check_search(site: Path, browser: str) -> None:
    """The search works in a browser, from the file itself."""
    address = f"{site.as_uri()}/search.html?q=redundant"
    command = [
        browser,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--virtual-time-budget=5000",
        "--dump-dom",
        address,
    ]
    page = subprocess.run(command, capture_output=True, text=True, timeout=120).stdout
    found = re.search(r"found (\d+) pages? matching", page)
    assert found and int(found[1]) > 5, page[-3000:]
    assert 'class="context"' in page, "search results have no excerpts"
    results = re.findall(r'<li[^>]*><a href="([^"?#]+)', page[page.index(found[0]) :])
    assert results and not results[0].startswith(("decisions/", "changelog")), results[:3]


def test_the_site(tmp_path: Path) -> None:
    site = built(tmp_path / "site")
    check_links(site)
    check_public_names(site)
    check_pictures(site)
    check_wall(site)
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        pytest.skip("built and checked; not opened in a browser: apt-get install chromium")
    check_search(site, browser)
