"""`sarrus doctor`: what is installed, which instruction set and which GPU are used."""

from __future__ import annotations

import importlib.metadata as metadata
import platform
import re
import shutil
import subprocess
from typing import Any

from sarrus._kernel import ISA

from .answers import Answer

# what each extra of pyproject.toml is for; `dev` is for work on the library itself
PURPOSE = {
    "cli": "the command line",
    "viz": "pictures, plots, the live view",
    "data": "tables of runs: run.to_dataframe()",
    "mujoco": "MJCF files, bridge to MuJoCo",
    "pin": "bridge to Pinocchio",
    "usd": "USD physics stages",
    "torch": "gradients in PyTorch",
    "jax": "gradients in JAX",
    "casadi": "gradients in CasADi",
    "crocoddyl": "action models for Crocoddyl",
    "control": "model.to_control()",
    "qp": "exact friction cones",
    "gym": "environments for learning",
    "cluster": "rollouts on a cluster",
    "gpu": "computing on NVIDIA GPUs",
    "docs": "make docs",
    "wasm": "compiling the kernel of studios",
}


def doctor() -> Answer:
    """Versions, instruction set, GPU and extras."""
    data: dict[str, Any] = {
        "sarrus": version("sarrus"),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": {name: version(name) for name in ("numpy", "scipy")},
        "instruction_set": ISA,
        "gpu": gpu(),
        "extras": {name: extra(name) for name in PURPOSE},
    }
    shown = {key: data[key] for key in ("sarrus", "python", "platform")} | data["packages"]
    shown["kernel"] = f"{ISA} (SARRUS_ISA=generic takes the plain one)"
    shown["GPU"] = data["gpu"] or "none found"
    lines = [f"{key:16}{what}" for key, what in shown.items()]
    lines += ["", "extras"]
    lines += [f"  {name:10}{PURPOSE[name]:38}{_state(name, found)}" for name, found in data["extras"].items()]
    return Answer("\n".join(lines), data)


def _state(name: str, packages: dict[str, str | None]) -> str:
    """The versions of the packages of an extra, or how to install it."""
    if not packages or None in packages.values():
        return f"pip install 'sarrus[{name}]'"
    return ", ".join(f"{package} {number}" for package, number in packages.items())


def version(package: str) -> str | None:
    """Version of an installed package; None where there is none."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def extra(name: str) -> dict[str, str | None]:
    """Packages of an extra, as the metadata of this installation list them, with their versions."""
    try:
        required = metadata.requires("sarrus") or []
    except metadata.PackageNotFoundError:  # run from a source tree
        required = []
    mine = [line for line in required if re.search(rf"extra\s*==\s*['\"]{name}['\"]", line)]
    packages = [re.split(r"[^\w.-]", line, maxsplit=1)[0] for line in mine]
    return {package: version(package) for package in packages}


def gpu() -> str | None:
    """Name and memory of the first NVIDIA GPU, by its driver; None where there is none."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return None
    asked = [program, "--query-gpu=name,memory.total", "--format=csv,noheader"]
    try:
        told = subprocess.run(asked, capture_output=True, text=True, timeout=10, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return None
    return told.splitlines()[0] if told else None
