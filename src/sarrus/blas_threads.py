"""Small matrices on one thread of BLAS.

OpenBLAS wakes all its threads for matrices of a few dozen rows and waits for them: on a busy machine that
takes up to a hundred times longer than the work. Functions with `one_blas_thread` run on one thread; what the
user set is in force again when the last of them has returned. A call that loads SciPy itself, once in a
process, finds SciPy's BLAS as the user set it.
"""

from __future__ import annotations

import ctypes
import functools
import itertools
import sys
import threading
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
NUMPY, SCIPY = "numpy.linalg._umath_linalg", "scipy.linalg._flapack"  # modules that are linked to a BLAS
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


def _libraries() -> tuple[tuple[Any, Any], ...]:
    """get_num_threads and set_num_threads of the OpenBLAS of NumPy and, once it is loaded, of SciPy."""
    return _functions(NUMPY) + (_functions(SCIPY) if SCIPY in sys.modules else ())


@functools.cache
def _functions(module: str) -> tuple[tuple[Any, Any], ...]:
    """The two functions of the OpenBLAS that a loaded module is linked to; none for another BLAS."""
    try:
        library = ctypes.CDLL(sys.modules[module].__file__)  # and what it is linked to
    except OSError:
        return ()
    for prefix, suffix in itertools.product(PREFIXES, SUFFIXES):
        get = getattr(library, f"{prefix}_get_num_threads{suffix}", None)
        put = getattr(library, f"{prefix}_set_num_threads{suffix}", None)
        if get is not None and put is not None:
            return ((get, put),)
    return ()


class _Guard:
    """Counts the calls under way in all threads of Python: the first one sets, the last one restores."""

    def __init__(self) -> None:
        self._lock, self._inside = threading.Lock(), 0
        self._before: list[tuple[Any, int]] = []

    def enter(self) -> None:
        """One more call."""
        with self._lock:
            if self._inside == 0:
                self._before = [(put, count) for get, put in _libraries() if (count := get()) > 1]
                for put, _ in self._before:
                    put(1)
            self._inside += 1

    def leave(self) -> None:
        """One call less."""
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                for put, count in self._before:
                    put(count)


_GUARD = _Guard()
