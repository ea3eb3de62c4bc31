"""Our control steps beside TSID's, in an environment with the Pinocchio that TSID was built for.

    python -m bench.tsid_environment FOLDER [--tsid 1.10.0] [--pinocchio 4.0.0]

Makes a virtual environment in FOLDER where there is none, installs both there and runs the benchmarks of
hierarchies and held boxes in it. Says why where TSID cannot be had: pip has to compile it and fails, or it
does not take a model of that Pinocchio.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TAKES_A_MODEL = "import sys; from bench.twins.tsid_twin import available; sys.exit(not available())"


def main(arguments: list[str] | None = None) -> int:
    """The command line; 1 where TSID cannot be had."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.tsid_environment", description=__doc__.split("\n")[0]
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--tsid", default="1.10.0")
    parser.add_argument("--pinocchio", default="4.0.0")
    given = parser.parse_args(arguments)
    python = given.folder / "bin" / "python"
    if not python.exists():
        venv.create(given.folder, with_pip=True)
    # a package that pip compiles must be compiled for the Pinocchio it will meet
    constraints = given.folder / "constraints.txt"
    constraints.write_text(f"pin=={given.pinocchio}\nlibpinocchio=={given.pinocchio}\n", encoding="utf-8")
    packages = [f"tsid=={given.tsid}", f"pin=={given.pinocchio}", "numpy", "scipy", "clarabel"]
    environment = {**os.environ, "PIP_CONSTRAINT": str(constraints.resolve())}
    if _run([str(python), "-m", "pip", "install", "--quiet", *packages], environment):
        return _missing(f"pip could not install {' '.join(packages)}")
    environment["PYTHONPATH"] = os.pathsep.join((str(ROOT / "src"), str(ROOT)))
    environment["OPENBLAS_NUM_THREADS"] = "1"
    if _run([str(python), "-W", "ignore", "-c", TAKES_A_MODEL], environment):
        return _missing(f"TSID {given.tsid} does not take a model of Pinocchio {given.pinocchio}")
    return _run([str(python), "-W", "ignore", "-m", "bench", "--only", "hierarchy", "grasp"], environment)


def _run(command: list[str], environment: dict[str, str]) -> int:
    return subprocess.run(command, env=environment, cwd=ROOT, check=False).returncode


def _missing(why: str) -> int:
    print(f"no comparison with TSID: {why}.")
    return 1


if __name__ == "__main__":
    sys.exit(main())
