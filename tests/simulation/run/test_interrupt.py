"""Ctrl-C and failing controllers: what there is comes back, with the reason in words."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

import sarrus as sr
from sarrus.simulation.modes.mode_run import ModeRun
from sarrus.simulation.run.recorder import TrajectoryRecorder


def stops_at(when, how):
    def control(t, q, v):
        if t >= when:
            return how()
        return [0.0]

    return control


def raises(error):
    def how():
        raise error

    return how


@pytest.mark.parametrize("control_dt", [None, 0.01])
@pytest.mark.parametrize("method", ["rk4", "dopri5"])
def test_ctrl_c_in_a_controller_returns_what_there_is(control_dt, method):
    control = stops_at(0.2, raises(KeyboardInterrupt()))
    run = sr.simulate(
        sr.library.pendulum(), (0.0, 1.0), control=control, control_dt=control_dt, method=method
    )
    assert run.status == -2 and not run.success
    assert run.message.startswith("Interrupted at t = ")
    assert 0.1 < run.t[-1] <= 0.2 and run.q.shape == (len(run), 1)


PROGRAM = """
    import sarrus as sr
    sr.simulate, sr.library  # loaded before the clock runs
    print("ready", flush=True)
    run = sr.simulate(sr.library.five_bar("raised"), (0.0, 1e6), store_every=1000)
    print(run.status, run.t[-1] > 0.0, run.drift.max() < 1e-12, run.message, flush=True)
"""


def test_ctrl_c_in_the_shell_returns_what_there_is():
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(PROGRAM)],
        stdout=subprocess.PIPE,
        text=True,
        env=dict(os.environ),
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline().strip() == "ready"
        time.sleep(0.6)
        process.send_signal(signal.SIGINT)
        said = process.stdout.read()
        assert process.wait(timeout=20) == 0
    assert said.startswith("-2 True True Interrupted at t = ")


def test_a_controller_that_raises_shows_its_traceback():
    def control(t, q, v):
        return [math.log(0.1 - t)]

    run = sr.simulate(sr.library.pendulum(), (0.0, 1.0), control=control)
    assert run.status == -3
    assert "control stopped the run at t = 0.1" in run.message
    assert "ValueError" in run.message and "math.log(0.1 - t)" in run.message
    assert run.t[-1] == pytest.approx(0.099, abs=2e-3) and np.all(np.isfinite(run.q))


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda: [math.nan], "must return finite numbers, got [nan]"),
        (lambda: [math.inf], "must return finite numbers, got [inf]"),
        (lambda: [0.0, 0.0], "must return u with shape (1,), got shape (2,)"),
        (lambda: None, "must return u with shape (1,), but it returned None"),
        (lambda: "fast", "must return u with shape (1,), got 'fast'"),
    ],
)
@pytest.mark.parametrize("control_dt", [None, 0.01])
def test_a_controller_that_answers_badly_stops_the_run(answer, said, control_dt):
    control = stops_at(0.05, answer)
    run = sr.simulate(sr.library.pendulum(), (0.0, 1.0), control=control, control_dt=control_dt)
    assert run.status == -3 and said in run.message and "control(t, q, v)" in run.message
    assert 0.03 < run.t[-1] <= 0.05


def test_a_controller_that_fails_at_once_raises():
    def control(t, q, v):
        raise RuntimeError("no")

    with pytest.raises(sr.InputError, match="control stopped the run at t = 0 s: it raised RuntimeError: no"):
        sr.simulate(sr.library.pendulum(), (0.0, 1.0), control=control)


def test_a_force_a_wrench_and_a_drive_that_fail_are_named():
    mech = sr.library.pendulum()
    run = sr.simulate(mech, (0.0, 1.0), tau=lambda t, q, v: [0.0] if t < 0.1 else [math.nan])
    assert "tau stopped the run" in run.message
    run = sr.simulate(mech, (0.0, 1.0), external={"rod": lambda t: np.zeros(6) if t < 0.1 else np.zeros(5)})
    assert "external stopped the run" in run.message and "rod" in run.message
    spec = sr.MechanismSpec()
    spec.body("wheel", joint=sr.Revolute("z"), mass=1.0, inertia=(1.0, 1.0, 1.0))
    spec.constrain("motor", sr.Drive("wheel", lambda t: t if t < 0.1 else math.nan))
    run = sr.simulate(spec.compile(), (0.0, 1.0), [0.0], [1.0])
    assert run.status == -3 and "function of Drive must return a finite number" in run.message
    assert 0.05 < run.t[-1] < 0.1


def test_a_stiff_mechanism_says_what_to_do():
    run = sr.simulate(sr.library.flyball_governor(), (0.0, 1.0), dt=1e-3)
    assert run.status == -1 and "smaller dt" in run.message and len(run) >= 1


def test_nothing_keeps_a_failed_run_alive():
    """Cycles through compiled objects are collected: a controller may keep what it raised."""
    code = """
        import sarrus as sr
        class Controller:
            def __call__(self, t, q, v):
                self.error = RuntimeError("kept, with its traceback")
                raise self.error
        for _ in range(3):
            try:
                sr.simulate(sr.library.slider_crank(), (0, 1), control=Controller())
            except sr.InputError:
                pass
            sr.simulate(sr.library.slider_crank(), (0, 1), t_eval=[0.1234], formulation="svd", dt=0.01)
        import gc
        gc.collect()
        kept = [x for x in gc.get_objects() if type(x).__name__ in ("Run", "Kernel", "Controller")]
        print(len(kept), len([x for x in kept if type(x).__name__ != "Kernel"]))
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True
    )
    kept, runs = map(int, done.stdout.split())
    assert runs == 0 and kept <= 1


T_EVAL = """
    import sys
    import numpy as np, sarrus as sr
    sr.simulate, sr.library  # loaded before the clock runs
    times = np.linspace(0.0, 1e4, 10_000_001)[1:] - 3e-4  # none of them is the end of a step
    print("ready", flush=True)
    run = sr.simulate(sr.library.MECHANISMS[sys.argv[1]](), (0.0, 1e4), method="rk4", dt=1e-3, t_eval=times)
    wanted = times[times <= run.t[-1]]
    print(run.status, len(run) > 100, np.array_equal(run.t, wanted), run.drift.max() < 1e-12, run.message)
"""


@pytest.mark.parametrize("name", ["four_bar", "rolling_disk"])
def test_ctrl_c_keeps_the_states_at_the_times_that_were_asked_for(name):
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(T_EVAL), name], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline().strip() == "ready"
        time.sleep(1.5)
        process.send_signal(signal.SIGINT)
        said = process.stdout.read()
        assert process.wait(timeout=20) == 0
    assert said.startswith("-2 True True True Interrupted at t = ")


@pytest.mark.parametrize("where", ["_at_times", "add", "finish"])
def test_ctrl_c_while_steps_are_recorded_loses_none(where, monkeypatch):
    """Ctrl-C arrives inside the recorder itself, where an exception would lose what it holds."""
    inner = getattr(TrajectoryRecorder, where)

    def interrupted(self, *arguments):
        os.kill(os.getpid(), signal.SIGINT)
        return inner(self, *arguments)

    times = np.linspace(0.0, 0.1, 38)
    whole = sr.simulate(sr.library.five_bar(), (0.0, 0.1), method="rk4", dt=1e-3, t_eval=times)
    monkeypatch.setattr(TrajectoryRecorder, where, interrupted)
    run = sr.simulate(sr.library.five_bar(), (0.0, 0.1), method="rk4", dt=1e-3, t_eval=times)
    assert run.status == -2 and "Interrupted" in run.message
    assert len(run) == (1 if where == "add" else len(whole))  # "add" is interrupted at the first state
    np.testing.assert_array_equal(run.q, whole.q[: len(run)])
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_as_a_contact_closes_keeps_the_steps_that_were_taken(monkeypatch):
    spec = sr.MechanismSpec()
    spec.body("mass", joint=sr.Prismatic("z"), mass=2.0)
    spec.constrain("floor", sr.PointOnPlane("ground", (0, 0, 0), "mass", (0, 0, 0), "z"))
    inner = ModeRun.changed

    def interrupted(self, before, now, last, first):
        if before is not None:
            os.kill(os.getpid(), signal.SIGINT)
        return inner(self, before, now, last, first)

    monkeypatch.setattr(ModeRun, "changed", interrupted)
    contact = sr.Contact("floor")
    run = sr.simulate(spec.compile(), (0.0, 1.0), [1.0], [0.0], dt=1e-3, method="rk4", switches=contact)
    assert run.status == -2 and len(run.segments[0]) > 450 and run.t[-1] >= math.sqrt(2.0 / 9.81)
    assert run.events[0].t == pytest.approx(math.sqrt(2.0 / 9.81)) and run.q.min() > -1e-12


def test_another_handler_of_ctrl_c_is_left_alone():
    def own(number, frame):
        seen.append(number)

    seen: list[int] = []
    before = signal.signal(signal.SIGINT, own)
    try:
        run = sr.simulate(
            sr.library.pendulum(), (0.0, 0.1), control=lambda t, q, v: os.kill(os.getpid(), 2) or [0.0]
        )
        assert run.success and seen and signal.getsignal(signal.SIGINT) is own
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("formulation", ["nullspace", "svd"])
def test_a_controller_may_end_the_program(formulation):
    with pytest.raises(SystemExit, match="enough"):
        sr.simulate(
            sr.library.pendulum(),
            (0.0, 1.0),
            control=stops_at(0.1, raises(SystemExit("enough"))),
            formulation=formulation,
            dt=1e-2,
        )
    assert sr.simulate(sr.library.pendulum(), (0.0, 0.1)).success
