"""Small matrices never start threads of BLAS, and the user's number of threads comes back."""

from __future__ import annotations

import threading

import numpy as np
import pytest
import scipy.linalg  # noqa: F401  (its BLAS counts once it is loaded)

import sarrus as sr
from sarrus.blas_threads import _libraries, one_blas_thread


def _threads() -> list[int]:
    return [get() for get, _ in _libraries()]


@pytest.fixture
def two_threads() -> object:
    before = _threads()
    if not before:
        pytest.skip("NumPy and SciPy use another BLAS than OpenBLAS")
    for _, put in _libraries():
        put(2)
    yield
    for (_, put), count in zip(_libraries(), before, strict=True):
        put(count)


@pytest.mark.usefixtures("two_threads")
def test_one_thread_inside_and_the_old_number_after() -> None:
    assert one_blas_thread(_threads)() == [1 for _ in _libraries()]
    assert one_blas_thread(one_blas_thread(_threads))() == [1 for _ in _libraries()]
    assert _threads() == [2 for _ in _libraries()]
    with pytest.raises(ZeroDivisionError):
        one_blas_thread(lambda: 1 / 0)()
    assert _threads() == [2 for _ in _libraries()]


@pytest.mark.usefixtures("two_threads")
def test_calls_from_several_threads_restore_the_number() -> None:
    gate = threading.Barrier(4)

    @one_blas_thread
    def call() -> None:
        gate.wait(10.0)

    callers = [threading.Thread(target=call) for _ in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert _threads() == [2 for _ in _libraries()]


@pytest.mark.usefixtures("two_threads")
@pytest.mark.parametrize("name", ["mobility", "assemble", "linearize", "inverse_dynamics", "equilibrium"])
def test_queries_run_on_one_thread(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The number of threads at every call of LAPACK."""
    mech, small = sr.library.n_four_bar(4), sr.library.four_bar()
    (q, v), seen = mech.default, list[list[int]]()
    for function in ("svd", "solve", "pinv", "eigvals", "eigh", "lstsq", "inv"):
        inner = getattr(np.linalg, function)

        def watched(*args: object, inner: object = inner, **kwargs: object) -> object:
            seen.append(_threads())
            return inner(*args, **kwargs)  # type: ignore[operator]

        monkeypatch.setattr(np.linalg, function, watched)
    calls = {
        "mobility": lambda: mech.mobility(q),
        "assemble": lambda: mech.assemble(q + 1e-3),
        "linearize": lambda: sr.linearize(mech, q, 0.0 * v),
        "inverse_dynamics": lambda: mech.inverse_dynamics(q, v, 0.0 * v),
        "equilibrium": lambda: sr.equilibrium(small),
    }
    calls[name]()
    assert all(one == [1 for _ in _libraries()] for one in seen)
    assert _threads() == [2 for _ in _libraries()]
