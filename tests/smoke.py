"""Tries an installed sarrus that has NumPy and SciPy beside it and nothing else: `python tests/smoke.py`."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import sarrus as sr

REPOSITORY = Path(__file__).resolve().parents[1]


def main() -> None:
    """A mechanism assembled, simulated, linearized, saved and loaded; its studio; the command line."""
    where = Path(sr.__file__).resolve()
    assert not where.is_relative_to(REPOSITORY / "src"), f"not the installed package: {where}"
    mech = sr.library.sarrus()
    assert mech.mobility().dof == 1 and mech.mobility().gruebler == 0
    run = sr.simulate(mech, (0, 1))
    assert run.success and run.drift.max() < 1e-12
    rest = sr.equilibrium(sr.library.loader())
    assert sr.linearize(rest.model.mechanism, rest.q, u=rest.u).A.shape == (4, 4)
    copies = sr.rollout(mech, np.tile(mech.default.q, (4, 1)), dt=1e-3, steps=10)
    assert np.all(copies.status == 0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "linkage.json"
        sr.save(mech, path)
        assert sr.load(path).names == mech.names
        assert "wasm-unsafe-eval" in mech.studio(Path(folder) / "studio.html").read_text(encoding="utf-8")
    command = [sys.executable, "-m", "sarrus", "doctor"]
    told = subprocess.run(command, capture_output=True, text=True, check=True)
    assert sr.__version__ in told.stdout, told.stdout
    print(f"sarrus {sr.__version__} in {where.parent}: works")
    print(told.stdout)


if __name__ == "__main__":
    main()
