"""Ctrl-C during a run: the run ends after the present piece of steps, with everything up to there kept."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType

from ..events.events import UserWatch
from ..stepping.callbacks import Inputs

USER_CODE = (Inputs.__call__.__code__, UserWatch.between.__code__)  # what calls functions of the user


class Interrupts:
    """While it is entered, Ctrl-C sets `pending` instead of raising KeyboardInterrupt wherever Python is.

    Inside a function of the user it raises as well: such a function may take long, and its caller expects
    exceptions. A handler of SIGINT other than Python's own is left alone; signals reach the main thread only.
    """

    def __init__(self) -> None:
        self.pending = False
        self._entered = 0
        self._replaced = False

    def __enter__(self) -> Interrupts:
        if not self._entered and threading.current_thread() is threading.main_thread():
            self._replaced = signal.getsignal(signal.SIGINT) is signal.default_int_handler
            if self._replaced:
                signal.signal(signal.SIGINT, self._note)
        self._entered += 1
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self._entered -= 1
        if not self._entered and self._replaced:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.pending = True
        while frame is not None:
            if frame.f_code in USER_CODE:
                raise KeyboardInterrupt
            frame = frame.f_back
