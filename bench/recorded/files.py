"""Files and pickles that one version of the library writes and later ones must load; see `recorded_runs`."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import sarrus as sr

from ..recorded_runs import Recording, record
from .cases import L, mixed, state_of

Keep = Callable[..., Any]


def write(folder: Path) -> None:
    """Files of this version, and what they hold as it reads them."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, thing in stored().items():
        if name.endswith(".pickle"):
            (folder / name).write_bytes(pickle.dumps(thing))
        elif name.endswith(".npz"):
            thing.save(folder / name)
        else:
            sr.save(thing, folder / name)
    read(folder).save(str(folder / "expected.npz"))


def read(folder: Path) -> Recording:
    """Load every file and ask what it holds."""
    paths = [path for path in sorted(folder.iterdir()) if path.name != "expected.npz"]
    return record({path.name: partial(loaded, path) for path in paths})


def stored() -> dict[str, Any]:
    """What `write-files` writes, by file name."""
    mech = L.loader()
    return {
        "loader.json": mech,
        "every_loop.json": mixed("spherical", "coupling", "rolling", "distance"),
        "stewart.npz": sr.simulate(L.stewart(), (0.0, 0.1)),
        "singular.npz": sr.simulate(L.five_bar(), (0.0, 0.1)),
        "sampled.npz": sr.simulate(
            mech, (0.0, 0.1), control=lambda t, q, v: np.full(mech.nu, math.sin(9.0 * t)), control_dt=0.01
        ),
        "half_rk4.npz": sr.simulate(L.n_four_bar(), (0.0, 0.1)),
        "half_dopri5.npz": sr.simulate(L.dual_arm(), (0.0, 0.1), method="dopri5"),
        "half_radau.npz": sr.simulate(L.flyball_governor(), (0.0, 0.01), method="radau"),
        "half_baumgarte.npz": sr.simulate(L.four_bar(), (0.0, 0.1), correction="baumgarte"),
        "charts.npz": sr.simulate(L.four_bar(), (0.0, 0.1), coordinates="tangent"),
        "mechanism.pickle": L.stewart(),
        "model.pickle": L.loader().model,
        "trajectory.pickle": sr.simulate(L.four_bar(), (0.0, 0.1)),
        "linear.pickle": sr.linearize(mech, *state_of(mech)),
        "spec_and_pose.pickle": (
            sr.Pose((1, 2, 3), rpy=(0.1, 0.2, 0.3)),
            sr.Distance("a", (0, 0, 0), "b", (1, 0, 0), 2),
        ),
        "motion.pickle": mech.forward_dynamics(*state_of(mech)),
    }


def loaded(path: Path, keep: Keep) -> None:
    """What a file holds."""

    def load() -> Any:
        if path.suffix != ".pickle":
            return sr.Trajectory.load(path) if path.suffix == ".npz" else sr.load(path)
        thing = pickle.loads(path.read_bytes())
        return sr.MechanismSpec.from_model(thing).compile() if path.stem == "model" else thing

    thing = keep("load", load)
    if isinstance(thing, sr.Mechanism):
        keep("print", str, thing)
        keep("default", thing.default)
        keep("terms", thing.terms, *state_of(thing))
    elif isinstance(thing, sr.Trajectory):
        keep("system", str, thing.system)
        if path.stem.startswith("half"):
            keep("resumed", lambda: thing.resume(2.0 * float(thing.t[-1])))
    elif isinstance(thing, sr.LinearModel):
        keep("discretize", thing.discretize, 0.01)
