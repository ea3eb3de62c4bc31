"""The headers by themselves: doubles against the twin, duals against differences, packs against doubles."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from tests.oracles import raw_models as rw
from tests.oracles.twin import Twin

from .conftest import KERNELS, LANES, Harness

SEEDS = range(12)
KINDS = list(rw.CLOSURES)
HERE = Path(__file__).parent


def state(seed: int, kinds: tuple[str, ...] = tuple(KINDS), batch: int = 1):
    raw = rw.random_model(seed, kinds)
    return raw, *rw.random_state(raw, seed, batch), *rw.random_inputs(raw, seed, batch)


def term_shapes(raw: rw.Raw) -> list[tuple[int, ...]]:
    nv, nc = raw[0]["nv"], raw[0]["nc"]
    return [(nv, nv), (nv,), (nc,), (nc, nv), (nc,), (nc,)]


def close(x: np.ndarray, y: np.ndarray, tol: float) -> None:
    scale = 1.0 + np.max(np.abs(y), initial=0.0)
    assert np.max(np.abs(x - y), initial=0.0) <= tol * scale


@pytest.mark.parametrize("seed", SEEDS)
def test_terms_agree_with_the_twin(harness: Harness, seed: int) -> None:
    raw, q, v, drive, user = state(seed)
    *terms, _ = harness.call("terms_double", raw, [q[0], v[0], drive[0], user[0]], term_shapes(raw))
    for mine, theirs in zip(terms, Twin(*raw).terms(q, v, drive, user), strict=True):
        close(mine, theirs[0], 1e-12)


@pytest.mark.parametrize("kind", [*KINDS, "coupling and rolling"])
def test_jacobian_and_gamma_from_dual_numbers(harness: Harness, kind: str) -> None:
    """J d = d phi along d for every row with a phi; gamma = -(dJ/dt) v along v; f'' for the drive."""
    for seed in SEEDS:
        raw, q, v, drive, user = state(seed, (kind,) if kind in rw.CLOSURES else ())
        nc, nv = raw[0]["nc"], raw[0]["nv"]
        closures = sum(rw._rows(kind) for kind in ([kind] if kind in rw.CLOSURES else []))
        shapes = term_shapes(raw)
        state_ = [q[0], v[0], drive[0], user[0]]
        _, _, _, J, _, gamma, _ = harness.call("terms_double", raw, state_, shapes)
        slopes = [(nv, nv), (nv,), (nc,), (nc, nv), (nc,)]
        holonomic = [*range(closures), closures, closures + 1, closures + 3]
        for d in np.eye(nv):
            _, _, dphi, _, _, _ = harness.call("terms_dual", raw, [*state_, d, np.zeros(nv)], slopes)
            close((J @ d)[holonomic], dphi[holonomic], 1e-13)
        _, _, _, dJ, _, _ = harness.call("terms_dual", raw, [*state_, v[0], np.zeros(nv)], slopes)
        moving = [*range(closures), *range(closures + 3, nc)]
        close(gamma[moving], -(dJ @ v[0])[moving], 1e-12)
        assert gamma[closures] == 0.0
        assert gamma[closures + 1] == drive[0, 0, 2]


@pytest.mark.parametrize("seed", SEEDS)
def test_dual_numbers_through_the_factorization(harness: Harness, seed: int) -> None:
    raw, q, v, drive, user = state(seed, ("revolute",) if seed % 2 else ("fixed",))
    nv, nc = raw[0]["nv"], raw[0]["nc"]
    rng = np.random.default_rng(seed)
    tau, dq, dv, dtau = rng.normal(size=(4, nv))
    inputs = [q[0], v[0], tau, drive[0], user[0]]
    da, _ = harness.call("forward_dual", raw, [*inputs, dq, dv, dtau], [(nv,)])
    twin = Twin(*raw)

    def acceleration(step: float) -> np.ndarray:
        moved = twin.integrate(q, step * dq[None])[0]
        args = [moved, v[0] + step * dv, tau + step * dtau, drive[0], user[0], 0, 0]
        return harness.call("forward_double", raw, args, [(nv,), (nc,)])[0]

    step = 1e-4
    near = (acceleration(step) - acceleration(-step)) / (2 * step)
    far = (acceleration(2 * step) - acceleration(-2 * step)) / (4 * step)
    close(da, near + (near - far) / 3, 1e-6)


@pytest.mark.parametrize("seed", SEEDS)
def test_dual_numbers_through_the_tree(harness: Harness, seed: int) -> None:
    """Slopes of inverse dynamics, energies and a body's position, against differences of the twin."""
    raw, q, v, _, _ = state(seed, ())
    nv, last = raw[0]["nv"], raw[0]["nb"] - 1
    twin = Twin(*raw)
    a, dq, dv = np.random.default_rng(seed).normal(size=(3, nv))
    df, de, dp, _ = harness.call("tree_dual", raw, [q[0], v[0], a, dq, dv], [(nv,), (2,), (3,)])
    close(dp, twin.jacobian(q, last, np.zeros(3))[0, :3] @ dq, 1e-12)

    def values(step: float) -> np.ndarray:
        moved, speed = twin.integrate(q, step * dq[None]), v + step * dv
        return np.append(twin.rnea(moved, speed, a[None]), twin.energy(moved, speed))

    step = 1e-4
    near = (values(step) - values(-step)) / (2 * step)
    far = (values(2 * step) - values(-2 * step)) / (4 * step)
    close(np.append(df, de), near + (near - far) / 3, 1e-7)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kinds", [(), ("spherical",), ("fixed", "revolute"), tuple(KINDS)], ids=str)
def test_forward_agrees_with_the_twin_and_with_fixed_strides(
    harness: Harness, seed: int, kinds: tuple[str, ...]
) -> None:
    raw, q, v, drive, user = state(seed, kinds)
    nv, nc = raw[0]["nv"], raw[0]["nc"]
    tau = np.random.default_rng(seed).normal(size=nv)
    inputs = [q[0], v[0], tau, drive[0], user[0]]
    a, lam, rank = harness.call("forward_double", raw, [*inputs, 0, 1], [(nv,), (nc,)])
    fixed = harness.call("forward_double", raw, [*inputs, 1, 1], [(nv,), (nc,)])
    np.testing.assert_array_equal(a, fixed[0])
    np.testing.assert_array_equal(lam, fixed[1])
    a_twin, _, lam_twin, _, rank_twin, _ = Twin(*raw).forward(q, v, tau[None], drive, user)
    assert rank == rank_twin[0]
    close(a, a_twin[0], 1e-9)
    close(lam, lam_twin[0], 1e-9)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kinds", [("spherical",), ("distance", "universal"), ("fixed", "fixed")], ids=str)
def test_packs_agree_with_scalars(harness: Harness, seed: int, kinds: tuple[str, ...]) -> None:
    """The same operations where the rows of all lanes are independent; sines of lanes are an own code."""
    raw, q, v, drive, user = state(seed, kinds, LANES)
    user[1:2] = 0.0 if kinds[-1] == "fixed" else user[1:2]  # a lane of another rank
    nv, nc = raw[0]["nv"], raw[0]["nc"]
    tau = np.random.default_rng(seed).normal(size=(LANES, nv))
    lanes, _ = harness.call("forward_pack", raw, [q, v, tau, drive, user], [(LANES, nv)])
    alone, ranks = [], []
    for k in range(LANES):
        inputs = [q[k], v[k], tau[k], drive[k], user[k], 0, 0]
        a, _, rank = harness.call("forward_double", raw, inputs, [(nv,), (nc,)])
        alone.append(a)
        ranks.append(rank)
    if min(ranks) == nc:
        close(lanes, np.array(alone), 1e-12)  # one unit in the last place of sines, amplified by the solve
    close(lanes, np.array(alone), 1e-10)


def test_no_state_in_the_object_file(harness: Harness) -> None:
    """Nothing of ours lives in a writable section: no counters, no caches, no lazily filled tables."""
    if shutil.which("nm") is None:
        pytest.skip("no nm")
    symbols = subprocess.run(
        ["nm", "-C", str(harness.path.with_suffix(".o"))], capture_output=True, text=True, check=True
    ).stdout
    writable = re.findall(r"^\S* +[BbDdCSsGg] (.*)$", symbols, flags=re.MULTILINE)
    assert [name for name in writable if not name.startswith("DW.ref")] == []


def test_every_header_stands_alone() -> None:
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("no g++")
    headers = sorted(str(path) for path in KERNELS.rglob("*.hpp"))
    command = [
        compiler,
        "-std=c++20",
        "-fsyntax-only",
        "-Wall",
        "-Wextra",
        "-Wno-psabi",
        "-I",
        str(KERNELS),
        "-x",
        "c++",
        *headers,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_device_code_compiles(tmp_path: Path) -> None:
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        pytest.skip("no nvcc")
    command = [nvcc, "-std=c++20", "-Xcicc", "-O0", "-ptx", "-I", str(KERNELS), str(HERE / "device.cu"), "-o"]
    done = subprocess.run(
        [*command, str(tmp_path / "device.ptx")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert ".entry" in (tmp_path / "device.ptx").read_text()
