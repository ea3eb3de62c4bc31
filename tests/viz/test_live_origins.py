"""A live view answers pages of its own only."""

from __future__ import annotations

import asyncio
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

import sarrus as sr
from sarrus.viz.live_origins import refusal

pytest.importorskip("viser")
websockets = pytest.importorskip("websockets")


@pytest.fixture
def view() -> Iterator[Any]:
    viewer = sr.viz.show(sr.library.four_bar(), block=False)
    yield viewer
    viewer.stop()


def connects(viewer: Any, origin: str | None) -> bool:
    """Whether a page of this origin gets the websocket of the view."""
    import viser

    port = viewer.server.get_port()

    async def go() -> bool:
        how = {"origin": origin, "subprotocols": [f"viser-v{viser.__version__}"], "max_size": None}
        try:
            async with websockets.connect(f"ws://127.0.0.1:{port}", **how) as line:
                return len(await asyncio.wait_for(line.recv(), 10)) > 0
        except websockets.exceptions.InvalidStatus:
            return False

    return asyncio.run(go())


def test_pages_of_others_get_nothing(view: Any) -> None:
    port = view.server.get_port()
    assert connects(view, f"http://127.0.0.1:{port}")
    assert not connects(view, "http://evil.example.com")
    assert not connects(view, f"http://127.0.0.1:{port + 1}")
    assert not connects(view, "null")


def test_names_of_others_get_nothing(view: Any) -> None:
    address = f"http://127.0.0.1:{view.server.get_port()}/"
    assert urllib.request.urlopen(address, timeout=10).status == 200
    rebound = urllib.request.Request(address, headers={"Host": "evil.example.com"})
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(rebound, timeout=10)


@pytest.mark.parametrize(
    ("host", "header", "origin", "fine"),
    [
        ("127.0.0.1", "localhost:8080", "http://localhost:8080", True),
        ("::1", "[::1]:8080", "http://[::1]:8080", True),
        ("127.0.0.1", None, None, False),
        ("127.0.0.1", "localhost.evil.com:8080", None, False),
        ("0.0.0.0", "robot.lab:8080", "http://robot.lab:8080", True),
        ("0.0.0.0", "robot.lab:8080", "http://evil.example.com", False),
        ("10.0.0.7", "10.0.0.7:80", None, True),
        ("10.0.0.7", "evil.example.com", None, False),
    ],
)
def test_who_is_refused(host: str, header: str | None, origin: str | None, fine: bool) -> None:
    assert (refusal(host, header, origin) == "") == fine
