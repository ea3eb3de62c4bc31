"""Who may talk to a live view: pages that it served itself, under a name of the address it is bound to.

Without this any page in the same browser could open the websocket of a view on 127.0.0.1 and receive the
scene, also under a name of its own that resolves to that address.
"""

from __future__ import annotations

import http
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

LOOPBACK = ("127.0.0.1", "localhost", "::1")
EVERYWHERE = ("0.0.0.0", "::", "")
_starting = threading.Lock()


def refusal(host: str, header: str | None, origin: str | None) -> str:
    """Why a request is refused, in words; empty if it is not.

    Args:
        host: that the view is bound to.
        header: the header Host of the request.
        origin: its header Origin; None where it has none, as outside browsers.
    """
    name = urlsplit(f"//{header or ''}").hostname or ""
    allowed = (*LOOPBACK, host) if host in LOOPBACK else (host,)
    if host not in EVERYWHERE and name not in allowed:
        return f"this view is served to {' and '.join(allowed)} only, not to {name!r}"
    if origin is not None and urlsplit(origin).netloc != header:
        return f"pages of {origin!r} may not read this view"
    return ""


@contextmanager
def checked_requests(host: str) -> Iterator[None]:
    """Servers of websockets that are started inside refuse requests of others; viser has no option for it."""
    import websockets.asyncio.server as module

    original = module.serve

    def serve(*args: Any, process_request: Any = None, **options: Any) -> Any:
        def checked(connection: Any, request: Any) -> Any:
            headers = request.headers
            reason = refusal(host, headers.get("Host"), headers.get("Origin"))
            if reason:
                return connection.respond(http.HTTPStatus.FORBIDDEN, reason + "\n")
            return None if process_request is None else process_request(connection, request)

        return original(*args, process_request=checked, **options)

    with _starting:
        module.serve = serve  # type: ignore[assignment, misc]
        try:
            yield
        finally:
            module.serve = original  # type: ignore[misc]
