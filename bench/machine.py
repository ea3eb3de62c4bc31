"""What the numbers were measured on: without it a ratio cannot be compared with another day's."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import subprocess
from pathlib import Path

import sarrus as sr
from sarrus import _kernel

ROOT = Path(__file__).parents[1]
PACKAGES = ("numpy", "scipy", "pin", "mujoco")


def fingerprint() -> dict[str, str]:
    """Processor, versions, load: one short text each."""
    facts = {
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "load": ", ".join(f"{x:.2f}" for x in os.getloadavg()) if hasattr(os, "getloadavg") else "unknown",
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "sarrus": f"{sr.__version__}, instruction set {_kernel.ISA}{_commit()}",
    }
    return facts | {name: _version(name) for name in PACKAGES}


def _processor() -> str:
    """Model name as the system gives it, with family, model and stepping where it has them."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or "unknown"
    table = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
    numbers = [table[key] for key in ("cpu family", "model", "stepping") if key in table]
    named = table.get("model name") or platform.processor() or "unknown"
    return f"{named} ({'/'.join(numbers)})" if numbers else named


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _commit() -> str:
    """Short name of the commit, with a plus if files differ from it; empty outside a repository."""
    try:
        short = _git("rev-parse", "--short", "HEAD")
        return f", commit {short}{'+' if _git('status', '--porcelain', '--untracked-files=no') else ''}"
    except (OSError, subprocess.CalledProcessError):
        return ""


def _git(*words: str) -> str:
    return subprocess.run(
        ["git", *words], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.strip()
