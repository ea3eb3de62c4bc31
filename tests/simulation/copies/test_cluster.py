"""rollout on a real LocalCluster: the same numbers, and a worker that dies loses nothing."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sarrus as sr

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def test_the_same_numbers_in_the_same_order(client: Any, capsys: pytest.CaptureFixture[str]) -> None:
    mech = sr.library.five_bar()
    rng = np.random.default_rng(0)
    q = np.tile(mech.default.q, (19, 1))
    v = mech.consistent_velocity(q, rng.normal(size=(19, mech.nv)))
    u = rng.normal(size=(19, 30, mech.nu))
    q[4, 0] = np.nan
    here = sr.rollout(mech, q, v, u, dt=1e-3, steps=30)
    there = sr.rollout(mech, q, v, u, dt=1e-3, steps=30, client=client, progress=True)
    assert np.array_equal(here.q, there.q, equal_nan=True) and np.array_equal(here.u, there.u, equal_nan=True)
    assert here.message == there.message and here.length.tolist() == there.length.tolist()
    assert [len(e) for e in here.events] == [len(e) for e in there.events]
    masses = {"mass": {mech.body_names[1]: rng.uniform(1.0, 2.0, 19)}}
    here = sr.rollout(mech, q, v, dt=1e-3, steps=9, parameters=masses)
    there = sr.rollout(mech, q, v, dt=1e-3, steps=9, parameters=masses, client=client)
    assert np.array_equal(here.q, there.q, equal_nan=True)


def test_a_killed_worker_loses_nothing(client: Any, tmp_path: Path) -> None:
    """The first worker that reaches the middle of its part kills itself, once."""
    mech = sr.library.pendulum()
    killed = tmp_path / "killed"

    def policy(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        if t > 5e-3:
            try:
                killed.touch(exist_ok=False)
            except FileExistsError:
                return -q
            os.kill(os.getpid(), signal.SIGKILL)
            time.sleep(10.0)
        return -q

    q = np.linspace(-1.0, 1.0, 16)[:, None]
    there = sr.rollout(mech, q, dt=1e-3, steps=20, policy=policy, client=client)
    assert killed.exists() and there.success
    assert np.array_equal(there.q, sr.rollout(mech, q, dt=1e-3, steps=20, policy=lambda t, q, v: -q).q)


def test_ctrl_c_keeps_the_parts_that_are_done(client: Any) -> None:
    mech = sr.library.pendulum()

    def policy(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        if q[0, 0] > 0.5:
            time.sleep(0.02)  # parts with large angles take long
        return 0.0 * q

    q = np.array([0.0] * 8 + [1.0] * 8)[:, None]
    timer = threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    found = sr.rollout(mech, q, dt=1e-3, steps=100, policy=policy, client=client)
    timer.cancel()
    assert set(found.status.tolist()) <= {0, -2} and -2 in found.status
    assert found.length[found.status == -2].tolist() == [1] * int(np.sum(found.status == -2))
    assert "Interrupted at t = 0 s" in found.message
