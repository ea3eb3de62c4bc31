"""A progress bar on long runs: by `rich` where it is installed, as plain text where it is not."""

from __future__ import annotations

import sys
import time
from typing import Any

INTERVAL = 0.2  # [s] between two lines


class Progress:
    """How far a run has come; shows nothing unless asked to."""

    def __init__(self, shown: bool, t0: float, t1: float) -> None:
        self._t0, self._span, self._shown = t0, t1 - t0, shown
        self._last = 0.0
        self._bar: Any = None
        if not shown:
            return
        try:
            from rich.console import Console
            from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as Bar
        except ImportError:
            return
        columns = BarColumn(), TextColumn("{task.fields[now]:.3f} s"), TimeRemainingColumn()
        self._bar = Bar(*columns, console=Console(stderr=True), transient=True)
        self._task = self._bar.add_task("simulate", total=self._span, now=t0)
        self._bar.start()

    def show(self, t: float) -> None:
        """The run has reached time t [s]."""
        if not self._shown:
            return
        if self._bar is not None:
            self._bar.update(self._task, completed=t - self._t0, now=t)
            return
        now = time.monotonic()
        if now - self._last >= INTERVAL:
            self._last = now
            sys.stderr.write(f"\rsimulate: t = {t:.3f} s, {100.0 * (t - self._t0) / self._span:3.0f} %")
            sys.stderr.flush()

    def close(self) -> None:
        """Leave the terminal as it was."""
        if self._bar is not None:
            self._bar.stop()
        elif self._shown:
            sys.stderr.write("\n")
