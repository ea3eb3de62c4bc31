"""Ghosts of the ways out of a singular pose, by a real mouse in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import sarrus as sr
from bench.chromium import Chromium, Page, find_chromium
from tests.studio_kernel import needs_kernel
from tests.viz.test_studios import CLOSED, fine, frames, opened

pytestmark = [
    needs_kernel,
    pytest.mark.skipif(find_chromium() is None, reason="no Chromium: apt-get install chromium"),
]
# A pixel at which ghost i is seen
FIND = """(() => {{ for (let y = 90; y < 660; y += 6) for (let x = 150; x < 740; x += 6)
  if (studio.ghosts.at(x, y) === {i}) return [x, y]; return null; }})()"""
POSE = "Array.from(studio.kernel.of('q'))"


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with Chromium() as browser:
        yield browser.page()


def test_a_ghost_moves_under_the_pointer_and_is_taken_by_a_click(page: Page, tmp_path: Path) -> None:
    """From a flat parallelogram: two ways as a parallelogram, two crossed."""
    mech = sr.library.parallelogram()
    opened(page, mech, tmp_path, q=np.zeros(3))
    assert page.evaluate("studio.ghosts.ways.length") == 4
    x, y = page.evaluate(FIND.format(i=1))
    page.mouse("mouseMoved", x, y, buttons=0)
    frames(page)
    assert page.evaluate("studio.ghosts.shown") == 1
    name = page.evaluate("studio.ghosts.ways[1].name")
    assert page.evaluate("document.getElementById('tip').textContent") == f"{name}: click to go this way"
    assert page.evaluate("document.querySelector('#branches .chosen').textContent") == name
    seen = set()
    for _ in range(12):
        seen.add(tuple(page.evaluate("studio.ghosts.places(1).flat(2)")))
        frames(page, 4)
    assert len(seen) > 3, "the preview moves"
    np.testing.assert_array_equal(page.evaluate(POSE), np.zeros(3))
    aim = np.array(page.evaluate("studio.ghosts.ways[1].poses.at(-1)"))
    x, y = page.evaluate(FIND.format(i=1))
    page.mouse("mousePressed", x, y)
    page.mouse("mouseReleased", x, y, buttons=0)
    frames(page)
    q = np.array(page.evaluate(POSE))
    np.testing.assert_allclose(q, aim, atol=1e-14)
    assert np.max(np.abs(mech.terms(q, np.zeros(3)).phi)) < CLOSED
    assert page.evaluate("studio.ghosts.ways.length") == 0
    page.evaluate("studio.undo('undo')")
    np.testing.assert_array_equal(page.evaluate(POSE), np.zeros(3))
    fine(page)


def test_the_list_previews_and_the_machine_stays_in_hand(page: Page, tmp_path: Path) -> None:
    opened(page, sr.library.parallelogram(), tmp_path, q=np.zeros(3))
    box = "document.querySelectorAll('#branches button')[2].getBoundingClientRect()"
    x, y = page.evaluate(f"[{box}.x + 20, {box}.y + 8]")
    page.mouse("mouseMoved", x, y, buttons=0)
    assert page.evaluate("studio.ghosts.shown") == 2
    page.mouse("mouseMoved", 300, 100, buttons=0)
    frames(page)
    assert page.evaluate("studio.ghosts.shown") == -1
    page.mouse("mousePressed", *page.evaluate("studio.scene.pixels(studio.bench.bodies.origin(2))"))
    assert page.evaluate("studio.grabbed !== null"), "a body before a ghost"
    page.mouse("mouseReleased", 300, 100, buttons=0)
    fine(page)


def test_of_many_ways_eight_are_shown_each_with_its_name(page: Page, tmp_path: Path) -> None:
    """The flat five-bar leaves along a curved cone, of which 24 directions are found."""
    opened(page, sr.library.five_bar(), tmp_path)
    assert page.evaluate("studio.branches.length") == 24
    names = page.evaluate("[...document.querySelectorAll('#branches button')].map((b) => b.textContent)")
    assert len(set(names)) == 8 and all(any(arrow in one for arrow in "↺↻→←↑↓↗↘↙↖") for one in names)
    ends = np.array(page.evaluate("studio.ghosts.ways.map((way) => way.poses.at(-1))"))
    mech = sr.library.five_bar()
    for q in ends:
        assert np.max(np.abs(mech.terms(q, np.zeros(mech.nv)).phi)) < CLOSED
    fine(page)
