"""Small matrices on one thread of BLAS.

OpenBLAS wakes all its threads for matrices of a few dozen rows and waits for them: on a busy machine that
takes up to a hundred times longer than the work. Functions with `one_blas_thread` run on one thread; what the
user set is in force again when the last of them has returned.
"""

from __future__ import annotations

import ctypes
import functools
import threading
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
PREFIXES, SUFFIXES = ("scipy_openblas", "openblas"), ("64_", "", "_64")


def one_blas_thread(function: Callable[P, T]) -> Callable[P, T]:
    """The same function, during which OpenBLAS uses one thread."""

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        _GUARD.enter()
        try:
            return function(*args, **kwargs)
        finally:
            _GUARD.leave()

    return call


@functools.cache
def _libraries() -> tuple[tuple[Any, Any], ...]:
    """get_num_threads and set_num_threads of the OpenBLAS of NumPy and of SciPy; empty for another BLAS."""
    from numpy.linalg import _umath_linalg
    from scipy.linalg import _flapack

    found = []
    for module in (_umath_linalg, _flapack):
        try:
            library = ctypes.CDLL(module.__file__)  # symbols of the libraries that it is linked to as well
        except OSError:
            continue
        for name in ((prefix, suffix) for prefix in PREFIXES for suffix in SUFFIXES):
            get = getattr(library, f"{name[0]}_get_num_threads{name[1]}", None)
            put = getattr(library, f"{name[0]}_set_num_threads{name[1]}", None)
            if get is not None and put is not None:
                found.append((get, put))
                break
    return tuple(found)


class _Guard:
    """Counts the calls under way in all threads of Python: the first one sets, the last one restores."""

    def __init__(self) -> None:
        self._lock, self._inside = threading.Lock(), 0
        self._before: list[int] = []

    def enter(self) -> None:
        """One more call."""
        with self._lock:
            if self._inside == 0:
                self._before = [get() for get, _ in _libraries()]
                self._set([1 for _ in self._before])
            self._inside += 1

    def leave(self) -> None:
        """One call less."""
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._set(self._before)

    def _set(self, threads: list[int]) -> None:
        for (_, put), before, wanted in zip(_libraries(), self._before, threads, strict=True):
            if before > 1:
                put(wanted)


_GUARD = _Guard()
