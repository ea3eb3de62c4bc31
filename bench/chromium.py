"""Chromium without a window, over its DevTools protocol: pages are opened, touched, asked, photographed."""

from __future__ import annotations

import base64
import json
import os
import shutil
import socket
import struct
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars"),
    *("--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"),
    *("--remote-debugging-port=0", "--allow-file-access-from-files=0"),
)
PATIENCE = 60.0  # [s] for the browser and for pages to start


def find_chromium() -> str | None:
    """Where the browser is, or None."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


class Chromium:
    """A browser; a context manager that ends it."""

    def __init__(self) -> None:
        program = find_chromium()
        assert program is not None, "no Chromium: apt-get install chromium"
        self._folder = tempfile.mkdtemp(prefix="chromium")
        command = [program, *FLAGS, f"--user-data-dir={self._folder}", "about:blank"]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        port = Path(self._folder) / "DevToolsActivePort"
        end = time.monotonic() + PATIENCE
        while not (port.exists() and "\n" in port.read_text()):
            assert self._process.poll() is None and time.monotonic() < end, "Chromium does not start"
            time.sleep(0.05)
        self._port = int(port.read_text().split()[0])

    def __enter__(self) -> Chromium:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(20)
        shutil.rmtree(self._folder, ignore_errors=True)

    def page(self) -> Page:
        """A new tab."""
        address = f"http://127.0.0.1:{self._port}/json/new?about:blank"
        with urllib.request.urlopen(urllib.request.Request(address, method="PUT")) as answer:
            return Page(json.load(answer)["webSocketDebuggerUrl"])


class Page:
    """A tab."""

    def __init__(self, address: str) -> None:
        host, path = address.removeprefix("ws://").split("/", 1)
        name, port = host.split(":")
        self._socket = socket.create_connection((name, int(port)), timeout=180)
        key = base64.b64encode(os.urandom(16)).decode()
        head = f"GET /{path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        head += f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n"
        self._socket.sendall(head.encode())
        self._stream = self._socket.makefile("rb")
        while self._stream.readline().strip():
            pass
        self._count, self.events = 0, list[dict[str, Any]]()
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """One command and its answer; events on the way are kept."""
        self._count += 1
        self._send(json.dumps({"id": self._count, "method": method, "params": parameters}).encode())
        while True:
            message = self._receive()
            if message.get("id") != self._count:
                self.events.append(message)
                continue
            assert "error" not in message, message["error"]
            result: dict[str, Any] = message["result"]
            return result

    def _send(self, data: bytes) -> None:
        """One masked frame of text, RFC 6455 section 5.2."""
        n, mask = len(data), os.urandom(4)
        size = bytes([0x80 | n]) if n < 126 else b"\xfe" + struct.pack(">H", n)
        if n >= 65536:
            size = b"\xff" + struct.pack(">Q", n)
        key = int.from_bytes((mask * (n // 4 + 1))[:n], "big")
        self._socket.sendall(b"\x81" + size + mask + (int.from_bytes(data, "big") ^ key).to_bytes(n, "big"))

    def _receive(self) -> dict[str, Any]:
        out = b""
        while True:
            first, second = self._stream.read(2)
            n = second & 127
            if n > 125:
                n = int.from_bytes(self._stream.read(2 if n == 126 else 8), "big")
            out += self._stream.read(n)
            if first & 128:
                message: dict[str, Any] = json.loads(out)
                return message

    def evaluate(self, code: str) -> Any:
        """The value of an expression in the page, promises awaited."""
        found = self.call("Runtime.evaluate", expression=code, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def wait(self, code: str) -> None:
        """Until an expression is true."""
        end = time.monotonic() + PATIENCE
        while not self.evaluate(code):
            assert time.monotonic() < end, f"never true: {code}; {self.problems()}"
            time.sleep(0.03)

    def open(self, address: str, ready: str = "document.readyState === 'complete'") -> None:
        """A page, when `ready` is true in it; events of pages before are forgotten."""
        self.call("Page.navigate", url="about:blank")
        self.wait("location.href === 'about:blank'")
        self.events.clear()
        self.call("Page.navigate", url=address)
        self.wait(f"location.href !== 'about:blank' && ({ready})")

    def problems(self) -> list[str]:
        """Errors, warnings and exceptions so far."""
        out = []
        for event in self.events:
            kind, said = event.get("method"), event.get("params", {})
            if kind == "Runtime.exceptionThrown":
                out.append(str(said["exceptionDetails"]))
            elif kind == "Log.entryAdded" and said["entry"]["level"] in ("error", "warning"):
                out.append(said["entry"]["text"])
            elif kind == "Runtime.consoleAPICalled" and said["type"] in ("error", "warning"):
                out.append(str(said["args"]))
        return out

    def requests(self) -> list[str]:
        """Addresses that the page asked for, its own apart."""
        asked = [
            e["params"]["request"]["url"] for e in self.events if e["method"] == "Network.requestWillBeSent"
        ]
        return [url for url in asked[1:] if not url.startswith(("blob:", "data:"))]

    def size(self, width: int, height: int, phone: bool = False) -> None:
        """Size of the window; `phone` also touches."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height,
            deviceScaleFactor=2 if phone else 1, mobile=phone,
        )  # fmt: skip
        self.call("Emulation.setTouchEmulationEnabled", enabled=phone)

    def mouse(self, kind: str, x: float, y: float, buttons: int = 1) -> None:
        """mousePressed, mouseMoved or mouseReleased."""
        button = "left" if kind != "mouseMoved" or buttons else "none"
        self.call(
            "Input.dispatchMouseEvent", type=kind, x=x, y=y, button=button,
            buttons=0 if kind == "mouseReleased" else buttons, clickCount=1,
        )  # fmt: skip

    def touch(self, kind: str, points: list[tuple[float, float]]) -> None:
        """touchStart, touchMove or touchEnd."""
        self.call("Input.dispatchTouchEvent", type=kind, touchPoints=[{"x": x, "y": y} for x, y in points])

    def key(self, key: str, code: str = "", modifiers: int = 0) -> None:
        """A key pressed and released."""
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=code or key, modifiers=modifiers)

    def photograph(self, path: Path) -> None:
        """What is seen, as PNG."""
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))
