"""One small program for every public name, for test_first_use.py: a new name gets one here.

A program says the name with its dots (`sr.control.Spline`; C is sr.control). It has `sr` and `folder`, an
empty folder. What descriptions and control laws are made of is in first_kinds.py.
"""

from __future__ import annotations

SPEC = """
spec = sr.MechanismSpec()
spec.body("a", joint=sr.Revolute("y"), mass=1.0, com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.1))
"""
PAIR = (
    SPEC + 'spec.body("b", "a", joint=sr.Revolute("y"), at=sr.Pose((0, 0, -1)), mass=1.0, com=(0, 0, -0.5))\n'
)
MECH = "m = sr.library.four_bar(); q, v = m.default; "
SAVED = MECH + "path = folder + '/m{}'; sr.save(m, path); "
LAW = "m = sr.library.delta(); q, v = m.default; C = sr.control; out = C.Position('platform'); "
TARGET = "out, [0.05, 0.0, -0.6]"
RUN = MECH + "run = sr.simulate(m, (0, 0.02)); "
PLOTS = "import matplotlib; matplotlib.use('agg'); "
HELD = """
C = sr.control; m = sr.library.dual_arm_box(); q, v = m.default
hands = [C.Patch(loop, mu=0.5, torsion=0.03, half=(0.05, 0.05)) for loop in ("grip_left", "grip_right")]
grasp = C.Grasp(m, "box", hands)
"""
TIP = """
C = sr.control; spec = sr.MechanismSpec()
spec.body("box", joint=sr.Free(), mass=1.0, inertia=(0.1, 0.1, 0.1))
spec.body("tip", joint=sr.Prismatic("x"), mass=1.0)
spec.close("grip", "box", "tip", joint=sr.{}())
C.Grasp(spec.compile(), "box", [C.{}("grip", 0.6{})])
"""
USED = SPEC + "k = spec.parameter('k', 300.0); spec.force('s', sr.JointSpring('a', stiffness=k))\n"
USED += "spec.measure('x', sr.ForceIn('s')); made = spec.compile()\n"
GYM = "import sarrus.gym as gym; m = sr.library.pendulum()\n"
GYM += "task = gym.Task(m, lambda t, q, v, u: q[:, 0], actuators=m.names, limits=[5.0])\n"
LINEAR = "m = sr.library.pendulum(); found = sr.linearize(m, sr.equilibrium(m).q, inputs=m.names)\n"

FOUND = "from importlib.util import find_spec\nif find_spec('{}'):\n"  # packages that make setup leaves out
USES = {
    "MechanismSpec.compile": SPEC + "assert spec.compile().nv == 1",
    "MechanismSpec.compile(loop_tolerance)": SPEC + "assert spec.compile(loop_tolerance=1e-4).nv == 1",
    "MechanismSpec.frame, floor": SPEC + "spec.frame('tip', 'a', sr.Pose((0, 0, -1))).floor(-2.0)\n"
    "m = spec.compile(); assert isinstance(m.frames['tip'], sr.results.Frame); m.jacobian([0.1], 'tip')\n"
    "assert isinstance(m.floor, sr.results.Floor); m.masses; m.joint_limits; m.actuation",
    "MechanismSpec.surface, contact": SPEC + "spec.surface('floor', 'ground', sr.HalfSpace(), friction=0.5)\n"
    "spec.surface('foot', 'a', sr.Sphere(0.1), sr.Pose((0, 0, -1))).contact('foot', 'floor')\n"
    "m = spec.compile(); found = m.contacts([0.1])\n"
    "assert isinstance(found, sr.results.Contacts); found.gap\n"
    "m.gap_rates([0.1], [1.0]); m.separate([0.1]).q; m.near_contacts([0.1], 0.5)",
    "simulate(contacts)": SPEC + "spec.surface('floor', 'ground', sr.HalfSpace(), friction=0.5)\n"
    "spec.surface('foot', 'a', sr.Sphere(0.1), sr.Pose((0, 0, 1))).contact('foot', 'floor')\n"
    "m = spec.compile(); run = sr.simulate(m, (0, 0.01), [0.1])\n"
    "assert isinstance(run.contacts, sr.results.ContactRecord); run.contacts.work\n"
    "f = m.forward_dynamics([0.1], [0.0]); f.contact_force, f.contact_unique\n"
    "f.contact_status, f.contact_residual",
    "twin": "m = sr.library.pantograph_leg(); twin = sr.twin(m, ['thigh', 'shank'])\n"
    "assert isinstance(twin, sr.Twin); assert isinstance(twin.limits([0.1, -0.8]), sr.results.TwinLimits)\n"
    "assert isinstance(twin.limits([0.1, -0.8]).torque, sr.results.Polytope)\n"
    "assert isinstance(twin.error([0.1, -0.8], [0, 0], [0, 0]), sr.TwinError)\n"
    "twin.export_code(folder, 'numpy'); sr.results.Twin, sr.results.TwinError",
    "MechanismSpec.to_dict": SPEC + "assert sr.MechanismSpec.from_dict(spec.to_dict()).compile().nv == 1",
    "MechanismSpec.from_model": MECH + "assert sr.MechanismSpec.from_model(m.model).compile().nv == m.nv",
    "restore": MECH + "import pickle; assert pickle.loads(pickle.dumps(m)).names == m.names; sr.restore",
    "save, load JSON": SAVED.format(".json") + "assert sr.load(path).nv == m.nv",
    "save, load MJCF": SAVED.format(".xml") + "assert sr.load(path).nv >= m.nv",
    "save, load URDF": SAVED.format(".urdf") + "assert sr.load(path).nv >= m.nv",
    "save, load SDF": SAVED.format(".sdf") + "assert sr.load(path).nv >= m.nv",
    "load_spec": SAVED.format(".json") + "assert sr.load_spec(path).compile().nv == m.nv",
    "ActuatorLaw": SPEC + "spec.laws['a'] = (sr.ActuatorLaw('servo', gear=2.0),); assert spec.compile().laws",
    "Visual": SPEC + "spec.visuals.append(sr.Visual('a', 'sphere', (0.1,))); assert spec.compile().visuals",
    "from_mujoco": "import mujoco; " + SAVED.format(".xml") + "model = mujoco.MjModel.from_xml_path(path); "
    "assert sr.from_mujoco(model).nv >= m.nv",
    "bridge.mujoco": "import mujoco; " + SAVED.format(".xml") + "model = mujoco.MjModel.from_xml_path(path)\n"
    "bridge = sr.bridge.mujoco(m, model); assert isinstance(bridge, sr.bridge.MujocoBridge)\n"
    "run = bridge.run(lambda t, q, v: [0.0] * m.nu, 0.01); assert isinstance(run, sr.bridge.PlantRun)",
    "from_pinocchio": "import pinocchio\nmodel = pinocchio.buildSampleModelManipulator()\n"
    "bridge = sr.bridge.pinocchio(sr.from_pinocchio(model), model)\n"
    "assert isinstance(bridge, sr.bridge.PinocchioBridge)",
    "Mechanism.step_vjp": MECH + "m.step_vjp(q, v, cotangent=(q, v))",
    "bridge.torch": MECH + FOUND.format("torch") + "    b = sr.bridge.torch(m); b.step(q, v)\n"
    "    assert isinstance(b, sr.bridge.TorchBridge)",
    "bridge.jax": MECH + FOUND.format("jax") + "    b = sr.bridge.jax(m); b.step(q, v)\n"
    "    assert isinstance(b, sr.bridge.JaxBridge)",
    "bridge.casadi": MECH + FOUND.format("casadi") + "    b = sr.bridge.casadi(m); b.step(q, v)\n"
    "    assert isinstance(b, sr.bridge.CasadiBridge)",
    "bridge.crocoddyl": MECH + FOUND.format("crocoddyl") + "    b = sr.bridge.crocoddyl(m); b.step(q, v)\n"
    "    assert isinstance(b, sr.bridge.CrocoddylBridge) and isinstance(b, sr.bridge.Bridge)",
    "bridge.servos": SPEC + "spec.actuate('a'); spec.laws['a'] = (sr.ActuatorLaw('servo'),)\n"
    "assert isinstance(sr.bridge.servos(spec.compile()), sr.bridge.Servos)",
    "decompose": MECH + "assert isinstance(sr.decompose(m.terms(q, v).J), sr.Decomposition)",
    "simulate": RUN + "assert isinstance(run, sr.Trajectory) and run.success",
    "simulate(events)": MECH + "run = sr.simulate(m, (0, 0.02), events=[lambda t, q, v: t - 0.01])\n"
    "assert isinstance(run.events[0], sr.Event)",
    "Contact": SPEC + "spec.constrain('stop', sr.Coupling({'a': 1.0})); m = spec.compile()\n"
    "run = sr.simulate(m, (0, 0.1), [0.1], [-2.0], switches=[sr.Contact('stop')])\n"
    "assert isinstance(run, sr.SwitchedTrajectory)",
    "Switch": SPEC + "spec.constrain('hold', sr.Coupling({'a': 1.0})); m = spec.compile()\n"
    "assert sr.simulate(m, (0, 0.1), switches=[sr.Switch('hold', off=0.05, closed=True)]).success",
    "LinearFeedback": "m = sr.library.pendulum(); law = sr.LinearFeedback([[1.0, 0.1]], m.default.q)\n"
    "assert sr.rollout(m.with_default([0.1]), [[0.1]], dt=1e-3, steps=3, policy=law).q.shape[0] == 1",
    "CustomSystem": "m = sr.CustomSystem(1, 1, M=[[1.0]], phi=lambda q, v, t: [q @ q - 1.0])\n"
    "assert m.project([0.3]).q[0] > 0.999",
    "study": MECH + "found = sr.study(m, 0.02); assert isinstance(found, sr.Study)\n"
    "assert isinstance(found.rows[0], sr.results.StudyRow)",
    "rollout": MECH + "assert isinstance(sr.rollout(m, q[None], dt=1e-3, steps=3), sr.Rollout)",
    "equilibrium": "assert isinstance(sr.equilibrium(sr.library.loader()), sr.Equilibrium)",
    "linearize": MECH + "found = sr.linearize(m, q); assert isinstance(found, sr.LinearModel)\n"
    "assert isinstance(found.point, sr.results.OperatingPoint)",
    "Chart": MECH
    + "chart = sr.Chart(lambda q, y: q[:1] - y, 1, y0=q[:1]); sr.linearize(m, q, coordinates=chart)",
    "linearize_trajectory": RUN + "assert isinstance(sr.linearize_trajectory(run), sr.LinearTrajectory)",
    "optimize": USED + "over = sr.design.Poses([{'a': 0.1}])\n"
    "assert isinstance(sr.optimize(made, {'k': (10, 1000)}, 'x', over=over), sr.Optimum)",
    "tolerances": USED + "over = sr.design.Sweep('a', [0.1, 0.2])\n"
    "assert isinstance(sr.tolerances(made, {'k': 1.0}, over=over, samples=2), sr.Tolerances)",
    "design.Run": USED + "sr.tolerances(made, {'k': 1.0}, over=sr.design.Run([0.0, 0.01]), samples=2)",
    "ParameterDerivatives": USED + "found = made.parameter_derivatives(*made.default)\n"
    "assert isinstance(found, sr.results.ParameterDerivatives)",
    "Mechanism.step": MECH + "m.step(q, v, [0.0] * m.nu, 1e-3); assert isinstance(m, sr.Mechanism)",
    "Mechanism.assemblies": MECH + "found = m.assemblies({m.names[0]: float(q[0])}, starts=4)\n"
    "assert isinstance(found, sr.results.Assemblies)",
    "Mechanism.branches": "m = sr.library.five_bar()\n"
    "assert isinstance(m.branches(m.default.q)[0], sr.Branch)",
    "Mechanism.reach": MECH
    + "b = m.body_names[-1]; found = m.reach(b, (0, 0, 0), m.position(q, b, (0, 0, 0)))\n"
    "assert isinstance(found, sr.results.Reached)",
    "results.Decompositions": MECH
    + "found = m.decompose([q, q]); assert found.rank[0] == m.mobility(q).rank\n"
    "assert isinstance(found, sr.results.Decompositions)",
    "Mechanism.event": PAIR + "spec.measure('x', sr.Coordinate('a')); m = spec.compile()\n"
    "assert isinstance(m.event('x', 0.1), sr.results.MeasureEvent)",
    "Mechanism.studio": MECH + "m.studio(folder + '/s.html')",
    "Mechanism.export_code": MECH + "m.export_code(folder)",
    "Mechanism._repr_html_": MECH + "assert m._repr_html_(); m.mobility()._repr_html_()",
    "viz.export": MECH + "sr.viz.export(m, folder + '/e.html')",
    "viz.report": MECH + "m.report(folder + '/r.html'); assert callable(sr.viz.report)",
    "viz.studio": RUN + "sr.viz.studio(run, folder + '/s.html')",
    "viz.show": MECH + "import contextlib, io\nwith contextlib.redirect_stdout(io.StringIO()): "
    "sr.viz.show(m, block=False).stop()",
    "viz.picture": MECH + "sr.viz.picture(m, folder + '/p.png', size=(80, 60))",
    "viz.draw": PLOTS + MECH + "sr.viz.draw(m)",
    "viz.draw_path": PLOTS + MECH + "sr.viz.draw_path(m, [q, q])",
    "viz.draw_cone": PLOTS + "m = sr.library.five_bar(); sr.viz.draw_cone(m.branches(m.default.q)[0])",
    "viz.plot": PLOTS + RUN + "sr.viz.plot(run)",
    "viz.animate": PLOTS + RUN + "sr.viz.animate(run, folder + '/a.gif')",
    "viz.animation": RUN + "sr.viz.animation(run)",
    "gym.MechanismEnv": GYM
    + "env = gym.MechanismEnv(task); env.reset(seed=0); env.step(env.action_space.sample())",
    "gym.MechanismVectorEnv": GYM + "gym.MechanismVectorEnv(task, 2).reset(seed=0)",
    "control.ForceLimits": LAW + f"C.ForceLimits(m, {TARGET}, [C.TorqueBounds((-99, 99))]).solve(0.0, q, v)",
    "control.TaskHierarchy": LAW
    + f"law = C.TaskHierarchy(m, [C.PriorityTask({TARGET})]); step = law.solve(0.0, q, v)\n"
    "assert isinstance(step, C.HierarchySolution) and isinstance(step.levels[0], C.LevelResult)\n"
    "assert isinstance([*step.tasks.values()][0], C.TaskResult)\n"
    "assert isinstance(step.operational, sr.results.OperationalSpace)",
    "control.Solution": LAW + f"step = C.ProjectedInverseDynamics(m, {TARGET}).solve(0.0, q, v)\n"
    "assert isinstance(step, C.Solution) and isinstance(step.qp, C.QPInfo)\n"
    "assert isinstance(step.status, sr.results.ControlStatus)",
    "control.History": LAW + f"law = C.ProjectedInverseDynamics(m, {TARGET})\n"
    "assert isinstance(law.history(sr.simulate(m, (0, 0.004), control=law, dt=2e-3)), C.History)",
    "control.Hardware": LAW + f"law = C.Hardware(C.ProjectedInverseDynamics(m, {TARGET}), m, sample=1e-3)\n"
    "sr.simulate(m, (0, 0.002), control=law)",
    "control.model_error": LAW + "assert C.model_error(m, 0.1).nv == m.nv",
    "control.HybridForceMotion": "C = sr.control; m = sr.library.dual_planar_arms('body')\n"
    "C.HybridForceMotion(m, ['object.x'], 0.0, force={'grip_left.tx': -60.0}).solve(0.0, *m.default)",
    "control.lqr": LINEAR + "C = sr.control; law = C.lqr(found, [[1.0, 0.0], [0.0, 1.0]], [[1.0]])\n"
    "assert isinstance(law, C.Regulator) and isinstance(law.solve(0.0, *m.default), C.Regulation)",
    "control.ObjectImpedance": HELD + "step = C.ObjectImpedance(m, grasp).solve(0.0, q, v)\n"
    "assert isinstance(step, C.ImpedanceSolution)",
    "control.Grasp": HELD + "assert isinstance(grasp.force_closure(), C.ForceClosure)\n"
    "assert isinstance(grasp.distribute([0, 0, -30, 0, 0, 0]), C.Distribution)",
    "control.WrenchEstimator": HELD
    + "found = C.WrenchEstimator(m, 'box'); found.update(0.0, q, v, [0.0] * m.nu)\n"
    "found.update(0.01, q, v, [0.0] * m.nu); assert isinstance(found.last, C.Estimate)",
    "control.Payload": "assert sr.control.Payload.of(sr.control.Payload(1.0).parameters).mass == 1.0",
    "control.PointContact": TIP.format("Spherical", "PointContact", "") + "C.PointContact",
    "control.SoftFinger": TIP.format("Universal", "SoftFinger", ", torsion=0.03") + "C.SoftFinger",
    "control.FootForces": "p = sr.library.quadruped(floor=0.7)\n"
    "f = sr.control.FootForces(p, {'front_left': 'front_left'})\n"
    "assert f(0.0, *p.default)['front_left'] > 0.0",
    "control.Gait": "C = sr.control; m = sr.library.quadruped()\n"
    "feet = {'front_left': ('front_left_shank', (0.0, 0.0, -0.2))}\n"
    "assert C.Gait(m, feet, groups=[('front_left',)]).tasks()",
    "control.CableTension": "C = sr.control; m = sr.library.cable_robot(); C.CableTension(m.row_names[:1])",
    "control.ContactLimits": HELD + "assert isinstance(grasp.limits, C.ContactLimits)",
    "library": "assert sr.library.MECHANISMS.keys() >= set(sr.library.names())",
    "showcase.names, showcase.mechanism, showcase.run": "assert sr.showcase.run('pendulum').success\n"
    "assert sr.showcase.names().keys() == sr.library.names().keys()\n"
    "assert isinstance(sr.showcase.mechanism('net'), sr.Mechanism)",
    "results.Sample": RUN + "assert isinstance(run.at(0.01), sr.results.Sample)",
    "results.Status": RUN + "assert isinstance(run.status, sr.results.Status)",
    "results.LinearModels": MECH + "assert isinstance(sr.linearize(m, [q, q]), sr.results.LinearModels)",
    "results.Mode, Reach": LINEAR + "assert isinstance(found.modes[0], sr.results.Mode)\n"
    "assert isinstance(found.controllability(), sr.results.Reach)",
}
# what a query gives
USES |= {
    f"results.{kind}": MECH + f"assert isinstance(m.{call}, sr.results.{kind})"
    for kind, call in {
        "Assembly": "assemble(q)",
        "Mobility": "mobility()",
        "Slices": "index(m.names[0])",
        "State": "project(q, v)",
        "Sweep": "sweep(m.names[0], [float(q[0]), float(q[0]) + 0.1])",
        "ConstraintInertia": "constraint_inertia(q)",
        "Coupling": "coupling(q)",
        "Derivatives": "derivatives(q, v)",
        "Energy": "energy(q, v)",
        "Holding": "hold(q)",
        "Impact": "impact(q, v)",
        "Motion": "forward_dynamics(q, v)",
        "StepDerivatives": "step_derivatives(q, v, [0.0] * m.nu, 1e-3)",
        "Terms": "terms(q, v)",
        "Torques": "inverse_dynamics(q, v, m.forward_dynamics(q, v).a)",
        "Units": "units",
    }.items()
}
# errors: what raises them first
USES |= {
    kind: f"{begin}\ntry: {call}\nexcept sr.SarrusError as found: assert type(found) is sr.{kind}\n"
    "else: raise SystemExit(1)"
    for kind, (begin, call) in {
        "InputError": ("m = sr.library.four_bar()", "m.mass_matrix([1.0])"),
        "UnknownNameError": ("m = sr.library.four_bar()", "m.index('nothing')"),
        "ModelError": ("spec = sr.MechanismSpec()", "spec.compile()"),
        "FormatError": ("", "sr.load('<nothing/>')"),
        "AssemblyError": (
            "m = sr.CustomSystem(1, 1, M=[[1.0]], phi=lambda q, v, t: [q @ q + 1.0])",
            "m.project([0.3])",
        ),
        "EquilibriumError": ("m = sr.library.five_bar()", "sr.equilibrium(m)"),
        "SingularConstraintError": (
            "m = sr.library.five_bar(); q, v = m.default",
            "m.forward_dynamics(q, v, formulation='lagrange')",
        ),
    }.items()
}
USES["SarrusWarning"] = (
    "import warnings; warnings.simplefilter('error', sr.SarrusWarning)\n"
    + PAIR
    + "spec.force('f', sr.BearingFriction('a', 2.0, 0.03))\n"
    "try: spec.compile()\nexcept sr.SarrusWarning: pass\nelse: raise SystemExit(1)"
)
