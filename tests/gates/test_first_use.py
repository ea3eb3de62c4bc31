"""Public names work as the first thing that a process uses: nothing depends on what else was imported before.

Each use runs in a fork of an interpreter that has done `import sarrus` and nothing more.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

import sarrus as sr
from tests.studio_kernel import KERNEL

SPEC = """
spec = sr.MechanismSpec()
spec.body("a", joint=sr.Revolute("y"), mass=1.0, com=(0, 0, -0.5))
"""
MECH = "m = sr.library.four_bar(); q, v = m.default; "
SAVED = MECH + "path = folder + '/m{}'; sr.save(m, path); "
LAW = "m = sr.library.delta(); q, v = m.default; C = sr.control; out = C.Position('platform'); "
TARGET = "out, [0.05, 0.0, -0.6]"
RUN = MECH + "run = sr.simulate(m, (0, 0.02)); "
USES = {
    "MechanismSpec.compile": SPEC + "assert spec.compile().nv == 1",
    "MechanismSpec.compile(loop_tolerance)": SPEC + "assert spec.compile(loop_tolerance=1e-4).nv == 1",
    "MechanismSpec.to_dict": SPEC + "assert sr.MechanismSpec.from_dict(spec.to_dict()).compile().nv == 1",
    "MechanismSpec.from_model": MECH + "assert sr.MechanismSpec.from_model(m.model).compile().nv == m.nv",
    "restore": MECH + "import pickle; assert pickle.loads(pickle.dumps(m)).names == m.names",
    "save, load JSON": SAVED.format(".json") + "assert sr.load(path).nv == m.nv",
    "save, load MJCF": SAVED.format(".xml") + "assert sr.load(path).nv >= m.nv",
    "save, load URDF": SAVED.format(".urdf") + "assert sr.load(path).nv >= m.nv",
    "save, load SDF": SAVED.format(".sdf") + "assert sr.load(path).nv >= m.nv",
    "load_spec": SAVED.format(".json") + "assert sr.load_spec(path).compile().nv == m.nv",
    "FormatError": "try: sr.load('<nothing/>')\nexcept sr.FormatError: pass\nelse: raise SystemExit(1)",
    "decompose": MECH + "assert sr.decompose(m.terms(q, v).J).dof == 1",
    "simulate": RUN + "assert isinstance(run, sr.Trajectory) and run.success",
    "simulate(events)": MECH + "assert sr.simulate(m, (0, 0.02), events=[lambda t, q, v: t - 0.01]).success",
    "study": MECH + "assert isinstance(sr.study(m, 0.02), sr.Study)",
    "rollout": MECH + "assert isinstance(sr.rollout(m, q[None], dt=1e-3, steps=3), sr.Rollout)",
    "equilibrium": "assert isinstance(sr.equilibrium(sr.library.loader()), sr.Equilibrium)",
    "linearize": MECH + "assert isinstance(sr.linearize(m, q), sr.LinearModel)",
    "linearize_trajectory": RUN + "assert isinstance(sr.linearize_trajectory(run), sr.LinearTrajectory)",
    "Mechanism.step": MECH + "m.step(q, v, [0.0] * m.nu, 1e-3)",
    "Mechanism.step_derivatives": MECH + "m.step_derivatives(q, v, [0.0] * m.nu, 1e-3)",
    "Mechanism.forward_dynamics": MECH + "m.forward_dynamics(q, v)",
    "Mechanism.inverse_dynamics": MECH + "m.inverse_dynamics(q, v, m.forward_dynamics(q, v).a)",
    "Mechanism.derivatives": MECH + "m.derivatives(q, v)",
    "Mechanism.mobility": MECH + "assert m.mobility().dof == 1; m.mobility()._repr_html_()",
    "Mechanism.assemble": MECH + "assert m.assemble(q).success",
    "Mechanism.assemblies": MECH + "m.assemblies({m.names[0]: float(q[0])}, starts=4)",
    "Mechanism.branches": "m = sr.library.five_bar(); assert m.branches(m.default.q)",
    "Mechanism.sweep": MECH + "m.sweep(m.names[0], [float(q[0]), float(q[0]) + 0.1])",
    "Mechanism.reach": MECH + "b = m.body_names[-1]; m.reach(b, (0, 0, 0), m.position(q, b, (0, 0, 0)))",
    "Mechanism.impact": MECH + "assert isinstance(m.impact(q, v), sr.Impact)",
    "Mechanism.report": MECH + "m.report(folder + '/r.html')",
    "Mechanism.studio": MECH + "m.studio(folder + '/s.html')",
    "Mechanism.export_code": MECH + "m.export_code(folder)",
    "Mechanism._repr_html_": MECH + "assert m._repr_html_()",
    "viz.export": MECH + "sr.viz.export(m, folder + '/e.html')",
    "viz.studio": RUN + "sr.viz.studio(run, folder + '/s.html')",
    "viz.draw": "import matplotlib; matplotlib.use('agg'); " + MECH + "sr.viz.draw(m)",
    "viz.plot": "import matplotlib; matplotlib.use('agg'); " + RUN + "sr.viz.plot(run)",
    "control.ProjectedInverseDynamics": LAW + f"C.ProjectedInverseDynamics(m, {TARGET}).solve(0.0, q, v)",
    "control.ForceLimits": LAW + f"C.ForceLimits(m, {TARGET}, [C.TorqueBounds((-99, 99))]).solve(0.0, q, v)",
    "control.TaskHierarchy": LAW + f"C.TaskHierarchy(m, [C.PriorityTask({TARGET})]).solve(0.0, q, v)",
    "control.model_error": LAW + "assert C.model_error(m, 0.1).nv == m.nv",
    "control.lqr": "m = sr.library.pendulum(); e = sr.linearize(m, sr.equilibrium(m).q, inputs=m.names); "
    "assert sr.control.lqr(e, [[1.0, 0.0], [0.0, 1.0]], [[1.0]])",
    "results": "assert isinstance(sr.library.four_bar().mobility(), sr.results.Mobility)",
}
USES |= {
    f"library.{name}": f"m = sr.library.MECHANISMS[{name!r}](); m.mass_matrix(m.default.q)"
    for name in sr.library.MECHANISMS
}
# Reads programs from standard input and runs each in a fork, two at a time; prints what fails.
SERVER = """
import json, os, sys, tempfile, traceback, warnings
import sarrus as sr
from tests.studio_kernel import KERNEL
warnings.simplefilter("ignore")
children = {}

def wait():
    child, status = os.wait()
    name = children.pop(child)
    if os.WIFSIGNALED(status):
        print(f"{name}: ended by signal {os.WTERMSIG(status)}", flush=True)

for name, code in json.load(sys.stdin).items():
    if len(children) == 2:
        wait()
    if not (child := os.fork()):
        with tempfile.TemporaryDirectory() as folder:
            try:
                exec(code, {"sr": sr, "folder": folder})
                failed = ""
            except BaseException:
                failed = traceback.format_exc(limit=-2)
        if failed:
            os.write(1, f"{name}: {failed}".encode())
        os._exit(0 if not failed else 1)
    children[child] = name
while children:
    wait()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_public_names_work_as_the_first_thing_used() -> None:
    uses = {name: use for name, use in USES.items() if KERNEL.is_file() or "studio" not in name}
    done = subprocess.run(
        [sys.executable, "-c", SERVER], input=json.dumps(uses), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0 and not done.stdout, done.stdout + done.stderr
