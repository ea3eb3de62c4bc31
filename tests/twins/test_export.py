"""Exported functions of twins, in C, NumPy, Torch and JAX, beside ours: equal to 1e-10, differentiable."""

from __future__ import annotations

import ctypes
import importlib.util
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sarrus as sr
from sarrus.arrays import Array

from .robots import ankle
from .robots_given import ROBOTS, poses_of, twin_of

TOLERANCE = 1e-10


def module_of(name: str, folder: Path, language: str) -> Any:
    (path,) = twin_of(name).export_code(folder, language)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def inputs_of(name: str) -> tuple[Array, Array, Array, Array]:
    """Poses, speeds, torques of motors and of joints."""
    twin, (q, v) = twin_of(name), poses_of(name)
    tau_m = np.random.default_rng(5).standard_normal((len(q), len(twin.motor_names)))
    return q, v, tau_m, twin.to_joints(q, tau_m)


def wanted_of(name: str) -> dict[str, Array]:
    """Ours, by function."""
    twin, (q, v, tau_m, tau_s) = twin_of(name), inputs_of(name)
    state = twin.complete(q, v)
    big = 1e3 * tau_s
    return {
        "motors": twin.motors(q),
        "jacobian": twin.jacobian(q),
        "jacobian_rate": twin.jacobian_rate(q, v),
        "to_joints": tau_s,
        "to_motors": tau_m,
        "limited": twin.limited(q, big),
        "q": state.q,
        "v": state.v,
    }


def found_by(module: Any, name: str, array: Any = np.asarray) -> dict[str, Array]:
    """The same by an exported module."""
    q, v, tau_m, tau_s = map(array, inputs_of(name))
    full = module.complete(q, v)
    found = {
        "motors": module.motors(q),
        "jacobian": module.jacobian(q),
        "jacobian_rate": module.jacobian_rate(q, v),
        "to_joints": module.to_joints(q, tau_m),
        "to_motors": module.to_motors(q, tau_s),
        "limited": module.limited(q, 1e3 * tau_s),
        "q": full[0],
        "v": full[1],
    }
    return {key: np.asarray(x) for key, x in found.items()}


def assert_equal(found: dict[str, Array], wanted: dict[str, Array]) -> None:
    for key, x in wanted.items():
        scale = max(1.0, float(np.abs(x).max()))
        np.testing.assert_allclose(found[key], x, atol=TOLERANCE * scale, err_msg=key)


@pytest.mark.parametrize("name", ROBOTS)
def test_numpy(name: str, tmp_path: Path) -> None:
    module = module_of(name, tmp_path, "numpy")
    assert_equal(found_by(module, name), wanted_of(name))
    q = poses_of(name)[0]
    assert np.all(module.guards(q) == 0) and module.guards(q[0]) == 0
    np.testing.assert_allclose(module.motors(q[0]), twin_of(name).motors(q[0]), atol=TOLERANCE)


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
@pytest.mark.parametrize("name", ROBOTS)
def test_c(name: str, tmp_path: Path) -> None:
    twin, wanted = twin_of(name), wanted_of(name)
    source, header, main = twin.export_code(tmp_path)
    stem, library = source.stem, tmp_path / "twin.so"
    flags = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    compiled = ["cc", *flags, "-shared", "-fPIC", str(source), "-o", str(library), "-lm"]
    assert subprocess.run(compiled, capture_output=True, text=True).stderr == ""
    code = ctypes.CDLL(str(library))

    def call(function: str, sizes: list[int], *given: Array) -> list[Array]:
        results = [np.zeros(n) for n in sizes]
        passed = [np.ascontiguousarray(x) for x in (*given, *results)]
        pointers = [x.ctypes.data_as(ctypes.c_void_p) for x in passed]
        assert getattr(code, f"{stem}_{function}")(*pointers) == 0
        return passed[len(given) :]

    nu, nv = len(twin.motor_names), twin.tree.nv
    q, v, tau_m, tau_s = inputs_of(name)
    rows = []
    for i in range(len(q)):
        one = {
            "motors": call("motors", [nu], q[i])[0],
            "jacobian": call("jacobian", [nu * nv], q[i])[0].reshape(nu, nv),
            "jacobian_rate": call("jacobian_rate", [nu * nv], q[i], v[i])[0].reshape(nu, nv),
            "to_joints": call("to_joints", [nv], q[i], tau_m[i])[0],
            "to_motors": call("to_motors", [nu], q[i], tau_s[i])[0],
            "limited": call("limited", [nv], q[i], 1e3 * tau_s[i])[0],
        }
        one["q"], one["v"] = call("complete", [twin.mech.nq, twin.mech.nv], q[i], v[i])
        rows.append(one)
    assert_equal({key: np.array([row[key] for row in rows]) for key in wanted}, wanted)
    assert f"unsigned {stem}_motors(" in header.read_text() and "int main" in main.read_text()


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_the_example_of_c_runs(tmp_path: Path) -> None:
    twin = twin_of("knee")
    twin.export_code(tmp_path)
    subprocess.run(["cc", "-std=c99", "main.c", "knee_twin.c", "-o", "main", "-lm"], cwd=tmp_path, check=True)
    printed = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True).stdout
    assert printed.startswith("guards 0\nq_m[0] = 0")


@pytest.mark.parametrize("name", ["knee", "floating ankle"])
def test_torch(name: str, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="Torch is not installed")
    module = module_of(name, tmp_path, "torch")
    assert_equal(found_by(module, name, torch.tensor), wanted_of(name))
    q, _, tau_m, _ = (torch.tensor(x[:2]) for x in inputs_of(name))
    q.requires_grad_(True)
    assert torch.autograd.gradcheck(module.motors, (q,))
    assert torch.autograd.gradcheck(lambda x: module.to_joints(x, tau_m), (q,))
    single = torch.tensor(poses_of(name)[0], dtype=torch.float32)
    np.testing.assert_allclose(module.motors(single), wanted_of(name)["motors"], atol=1e-5)


@pytest.mark.parametrize("name", ["knee"])
def test_jax(name: str, tmp_path: Path) -> None:
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    jax.config.update("jax_enable_x64", True)
    module = module_of(name, tmp_path, "jax")
    assert_equal(found_by(module, name), wanted_of(name))
    q, J = poses_of(name)[0][:3], twin_of(name).jacobian(poses_of(name)[0][:3])
    for derivative in (jax.jacfwd, jax.jacrev):
        found = jax.jit(jax.vmap(derivative(module.motors)))(q)
        np.testing.assert_allclose(found, J, atol=TOLERANCE)


def test_where_there_is_no_result_guards_say_so(tmp_path: Path) -> None:
    """Of random poses far out none has a number that is not that of the branch."""
    twin, module = twin_of("knee"), module_of("knee", tmp_path, "numpy")
    q = np.stack([np.zeros(400), np.linspace(-3.1, 3.1, 400)], axis=1)
    guards, motors, ours = module.guards(q), module.motors(q), twin.motors(q)
    assert np.any(guards != 0) and np.any(guards == 0)
    assert np.isnan(motors[guards != 0]).all()
    fine = guards == 0
    np.testing.assert_allclose(motors[fine], ours[fine], atol=TOLERANCE)
    tau = np.zeros((1, 8))
    tau[0, 0] = 1.0
    base = module_of("floating ankle", tmp_path, "numpy")
    assert np.isnan(base.to_motors(twin_of("floating ankle").tree.default.q[None], tau)).all()


def test_what_cannot_be_written(tmp_path: Path) -> None:
    twin = twin_of("knee")
    with pytest.raises(sr.InputError, match="language of export_code must be one of"):
        twin.export_code(tmp_path, "rust")
    (tmp_path / "main.c").write_text("int main(void) { return 0; }")
    with pytest.raises(sr.InputError, match="is not a file that it wrote"):
        twin.export_code(tmp_path)
    with pytest.raises(sr.InputError, match="must contain its value at the reference pose, 0"):
        twin.export_code(tmp_path, ranges={"shank": (0.1, 0.3)})
    with pytest.raises(sr.UnknownNameError, match="ranges of export_code"):
        twin.export_code(tmp_path, ranges={"crank": (-0.1, 0.3)})
    arm = sr.library.double_pendulum()
    with pytest.raises(sr.InputError, match="has no loops"):
        sr.twin(arm, arm.names).export_code(tmp_path / "arm")
    wide = sr.MechanismSpec.from_model(ankle().model)
    assert sr.twin(wide.compile(), ["shank", "foot"]).export_code(tmp_path / "new" / "folder", "numpy")
