"""Answer: what a command found, as text for people and as data for programs."""

from __future__ import annotations

import json
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import sarrus.library as library
from sarrus.errors import SarrusError, SarrusWarning, unknown_name
from sarrus.formats import load
from sarrus.mechanism.mechanism import Mechanism

PATIENCE = 0.5  # [s] between two signs of life


@dataclass(frozen=True)
class Answer:
    """What a command found.

    Attributes:
        text: for people, on stdout.
        data: the same for programs, `--json`.
        problem: what went wrong, on stderr, "error" in the data; it makes the exit code 1.
    """

    text: str
    data: dict[str, Any] = field(default_factory=dict)
    problem: str | None = None


def respond(work: Callable[[], Answer], as_json: bool, waiting: str = "") -> int:
    """Do the work of a command and print its answer; returns the exit code.

    With `as_json` stdout is one JSON object: "ok", "error", "warnings" and the data. Otherwise stdout is the
    text, warnings and errors go to stderr. `waiting` says on a terminal what takes so long.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SarrusWarning)
        try:
            with elapsed(waiting):
                answer = work()
        except (SarrusError, ImportError, OSError) as raised:
            answer = Answer("", problem=str(raised))
    said = [str(w.message) for w in caught if issubclass(w.category, SarrusWarning)]
    if as_json:
        head = {"ok": answer.problem is None, "error": answer.problem, "warnings": said}
        print(json.dumps(head | answer.data, indent=2, default=plain))
        return 0 if answer.problem is None else 1
    if answer.text:
        print(answer.text)
    for warning in said:
        say(warning, error=True, title="warning:", style="yellow")
    if answer.problem is not None:
        say(answer.problem, error=True, title="error:", style="bold red")
    return 0 if answer.problem is None else 1


@contextmanager
def elapsed(waiting: str) -> Iterator[None]:
    """Counts seconds on stderr while work goes on, where it is a terminal and the work has a name."""
    if not (waiting and on_terminal()):
        yield
        return
    done = threading.Event()

    def count() -> None:
        start = time.monotonic()
        while not done.wait(PATIENCE):
            sys.stderr.write(f"\r{waiting}: {time.monotonic() - start:.0f} s ")
            sys.stderr.flush()

    counter = threading.Thread(target=count, daemon=True)
    counter.start()
    try:
        yield
    finally:
        done.set()
        counter.join()
        sys.stderr.write("\r\033[K")  # an empty line


def plain(value: Any) -> Any:
    """Arrays, numbers of NumPy and paths as JSON has them; complex numbers as [real, imaginary]."""
    if isinstance(value, complex | np.complexfloating):
        return [float(value.real), float(value.imag)]
    if isinstance(value, np.ndarray):
        return [plain(x) for x in value] if np.iscomplexobj(value) else value.tolist()
    return value.item() if isinstance(value, np.generic) else str(value)


def say(text: object, error: bool = False, title: str = "", style: str = "") -> None:
    """Text as it is, on stdout or stderr, after a coloured title."""
    from rich.console import Console

    console = Console(stderr=error, soft_wrap=True)
    if title:
        console.print(title, style=style, end=" ")
    console.print(str(text), markup=False, highlight=False)


def found(name: str) -> Mechanism:
    """A mechanism of the library, or of a file."""
    if name in library.MECHANISMS:
        return library.MECHANISMS[name]()
    if Path(name).exists():
        return load(Path(name))
    raise unknown_name("mechanism", name, library.MECHANISMS)


def values(pairs: list[str], what: str) -> dict[str, float]:
    """{"crank": 0.3} of ["crank=0.3"]."""
    out = {}
    for pair in pairs:
        name, _, number = pair.partition("=")
        try:
            out[name] = float(number)
        except ValueError:
            raise SarrusError(f"{what} must be NAME=NUMBER, such as crank=0.3, got {pair!r}.") from None
    return out


def on_terminal() -> bool:
    """Whether somebody watches: progress bars are for terminals."""
    return sys.stderr.isatty()
