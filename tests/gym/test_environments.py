"""Environments: Gymnasium's checker, vectors of copies beside single ones, callables of the user."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import sarrus as sr

gymnasium = pytest.importorskip("gymnasium")

import sarrus.gym  # noqa: E402
from sarrus.gym import MechanismVectorEnv, Task  # noqa: E402
from sarrus.gym.tasks import TASKS  # noqa: E402


@pytest.mark.parametrize("name", TASKS)
def test_gymnasium_checks_the_registered_tasks(name: str) -> None:
    from gymnasium.utils.env_checker import check_env

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*(infinity|float32|render|spec|symmetric).*")
        env = gymnasium.make(f"sarrus/{name}-v0")
        check_env(env.unwrapped, skip_render_check=True)


@pytest.mark.parametrize("name", TASKS)
def test_a_vector_of_copies_moves_as_single_ones(name: str) -> None:
    """Without noise in the resets: each copy has the bits of an environment of its own."""
    task = TASKS[name]()
    start = task.start(np.random.default_rng(1), 6)
    same = sr.gym.Task(**{**vars(task), "reset": lambda rng, count: tuple(x[:count] for x in start)})
    many, one = sr.gym.MechanismVectorEnv(same, 6), sr.gym.MechanismEnv(same)
    observations, _ = many.reset(seed=0)
    alone, _ = one.reset(seed=0)
    assert np.array_equal(observations[0], alone) and observations in many.observation_space
    many.action_space.seed(0)
    for _ in range(5):
        actions = 0.1 * many.action_space.sample()
        observations, rewards, terminated, truncated, _ = many.step(actions)
        alone, reward, *ends, info = one.step(actions[0])
        assert np.array_equal(observations[0], alone) and rewards[0] == reward
        assert ends == [terminated[0], truncated[0]] and not terminated.any()
        assert rewards.shape == (6,) and rewards.max() <= 1.0
        assert np.abs(task.mech.terms(info["q"], info["v"]).phi).max() <= 1e-11 * max(task.mech.length, 1.0)


def pendulum_task(**options) -> sr.gym.Task:
    mech = sr.library.pendulum()
    given = {"reward": lambda t, q, v, u: np.cos(q[:, 0]), "limits": 1.0, "horizon": 4} | options
    return sr.gym.Task(mech, **given)


def test_episodes_end_and_start_anew() -> None:
    env = sr.gym.MechanismVectorEnv(pendulum_task(), 3)
    first, _ = env.reset(seed=1)
    for k in range(1, 10):
        observations, rewards, terminated, truncated, _ = env.step(np.zeros((3, 1)))
        assert not terminated.any() and truncated.all() == (k in (4, 9))
        if k == 5:  # the step after the end is the new start
            assert np.array_equal(observations, first) and not rewards.any()


def test_terminated_copies_start_anew_alone() -> None:
    count = [0]

    def reset(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        count[0] += n
        return np.linspace(0.0, 1.0, n)[:, None], np.zeros((n, 1))

    task = pendulum_task(reset=reset, terminated=lambda t, q, v: q[:, 0] > 0.9, horizon=100)
    env = sr.gym.MechanismVectorEnv(task, 4)
    env.reset()
    assert count[0] == 5  # four, and one for the size of observations
    _, _, terminated, _, _ = env.step(np.zeros((4, 1)))
    assert terminated.tolist() == [False, False, False, True]
    env.step(np.zeros((4, 1)))
    assert count[0] == 6


def test_an_environment_from_a_mechanism_and_functions() -> None:
    mech = sr.library.four_bar()
    env = sr.gym.MechanismEnv(mech, reward=lambda t, q, v, u: -np.sum(u * u, axis=1), limits=2.0, dt=0.01)
    observation, info = env.reset(seed=0)
    assert observation.shape == (mech.nq + mech.nv,) and np.array_equal(info["q"], observation[: mech.nq])
    action = env.action_space.sample()
    after, reward, _, _, info = env.step(10.0 * np.ones_like(action))
    assert reward == pytest.approx(-4.0 * mech.nu) and info["u"].max() == 2.0  # within the bounds
    expected = mech.step(observation[: mech.nq], observation[mech.nq :], info["u"], dt=0.01, substeps=10)
    assert after[: mech.nq] == pytest.approx(expected.q, abs=1e-11)


def test_pictures() -> None:
    pytest.importorskip("matplotlib")
    env = sr.gym.MechanismEnv(pendulum_task(), render_mode="rgb_array")
    env.reset()
    picture = env.render()
    assert picture.ndim == 3 and picture.shape[2] == 3 and picture.dtype == np.uint8
    assert sr.gym.MechanismEnv(pendulum_task()).render() is None


def test_bad_tasks() -> None:
    mech = sr.library.pendulum()
    with pytest.raises(sr.InputError, match="need limits="):
        sr.gym.MechanismEnv(mech, reward=lambda t, q, v, u: q[:, 0])
    with pytest.raises(sr.InputError, match="is no actuator; there are"):
        pendulum_task(actuators=("motor",))
    env = sr.gym.MechanismEnv(pendulum_task(reward=lambda t, q, v, u: 1.0))
    env.reset()
    with pytest.raises(sr.InputError, match=r"reward of a task must return an array of shape \(1,\)"):
        env.step(np.zeros(1))
    with pytest.raises(sr.InputError, match="belong into the Task"):
        sr.gym.MechanismEnv(pendulum_task(), horizon=3)
    with pytest.raises(sr.InputError, match="a task takes a Mechanism"):
        sr.gym.MechanismEnv(3, reward=lambda t, q, v, u: 1.0)
    with pytest.raises(sr.InputError, match="observe of a task must return"):
        sr.gym.MechanismEnv(pendulum_task(observe=lambda t, q, v: q[:, 0]))
    apart = sr.MechanismSpec()
    apart.body("arm", parent="ground", joint=sr.Revolute("z"), mass=1.0, inertia=(0.1,) * 3)
    apart.constrain("rod", sr.Distance("arm", (1, 0, 0), "ground", (5, 0, 0), 1.0))
    wrong = sr.gym.Task(
        apart.compile(),
        lambda t, q, v, u: q[:, 0],
        lambda rng, n: (np.ones((n, 1)), np.zeros((n, 1))),
        limits=1.0,
    )
    with pytest.raises(sr.InputError, match="cannot be made consistent"):
        sr.gym.MechanismEnv(wrong)
    spec = sr.MechanismSpec()
    for name in ("a", "b"):
        spec.body(name, parent="ground", joint=sr.Revolute("z"), mass=1.0, inertia=(0.1,) * 3)
    spec.constrain("equal", sr.CustomConstraint(lambda q, t: [q[0] - q[1]], 1))
    with pytest.raises(sr.InputError, match="cannot call Python functions"):
        sr.gym.Task(spec.compile(), lambda t, q, v, u: q[:, 0])


def braked_arm() -> sr.Mechanism:
    """An arm with dry friction between two limits."""
    spec = sr.MechanismSpec(name="braked_arm")
    arm = {"mass": 1.0, "com": (0.3, 0, 0), "inertia": (0.0, 0.05, 0.05), "limits": (-0.5, 0.5)}
    spec.body("arm", joint=sr.Revolute("y"), friction=0.2, friction_model="coulomb", **arm)
    spec.actuate("arm", limits=(-5.0, 5.0))
    return spec.compile()


def test_stops_and_friction_in_a_batch() -> None:
    def reward(t: np.ndarray, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> np.ndarray:
        return -np.abs(q[:, 0])

    mech = braked_arm()
    task = Task(mech, reward, stops=True, dt=0.01, substeps=5, horizon=40)
    many = MechanismVectorEnv(task, 16)
    many.reset(seed=0)
    pushes = np.linspace(-5.0, 5.0, 16)[:, None]
    for _ in range(40):
        seen = many.step(pushes)[0]
    q, v = seen[:, :1], seen[:, 1:]
    assert np.abs(q).max() <= 0.5 + 1e-12
    strong = np.abs(pushes[:, 0] + 9.81 * 0.3) > 3.0  # beside the weight: at a stop long before
    assert np.all(v[strong] == 0.0) and np.all(np.abs(np.abs(q[strong]) - 0.5) < 1e-9)
    for i in (0, 7, 15):  # as a run with the same inputs
        held = {"tau": pushes[i], "stops": True, "dt": 2e-3}
        run = sr.simulate(mech, (0.0, 0.4), [0.0], [0.0], **held)
        assert run.q[-1] == pytest.approx(q[i], abs=1e-7)


def test_contacts_in_a_batch() -> None:
    spec = sr.MechanismSpec(name="hopper")
    spec.body("mass", joint=sr.Prismatic("z"), mass=2.0)
    spec.constrain("floor", sr.PointOnPlane("ground", (0, 0, 0), "mass", (0, 0, 0), "z"))
    spec.actuate("mass", limits=(-50.0, 50.0))
    mech = spec.compile()
    height = {"reset": lambda rng, n: (np.full((n, 1), 0.3), np.zeros((n, 1)))}
    task = Task(mech, lambda t, q, v, u: q[:, 0], switches=sr.Contact("floor"), horizon=100, **height)
    env = MechanismVectorEnv(task, 4)
    env.reset(seed=0)
    for _ in range(30):
        seen = env.step(np.array([[0.0], [10.0], [30.0], [19.62]]))[0]
    assert seen[:2, 0] == pytest.approx([0.0, 0.0], abs=1e-12) and seen[2, 0] > 0.5
    assert seen[3, 0] == pytest.approx(0.3, abs=1e-12)
    with pytest.raises(sr.SarrusError, match="environments know no time"):
        Task(mech, lambda t, q, v, u: q[:, 0], switches=sr.Switch("floor", on=1.0))


def test_delays_and_noise() -> None:
    """An action acts, and a state is seen, as many actions later as asked; noise has its size."""
    plain, late = pendulum_task(horizon=50), pendulum_task(horizon=50, action_delay=2, observation_delay=3)
    now, then = sr.gym.MechanismEnv(plain), sr.gym.MechanismEnv(late)
    states = [now.reset(seed=0)[0]]
    seen = [then.reset(seed=0)[0]]
    actions = np.random.default_rng(3).uniform(-1.0, 1.0, (12, 1))
    given = np.concatenate([np.zeros((2, 1)), actions])
    for k, action in enumerate(actions):
        states.append(now.step(given[k])[0])
        observation, _, _, _, info = then.step(action)
        seen.append(observation)
        assert info["u"] == pytest.approx(given[k]) and info["q"] == pytest.approx(states[-1][:1])
    np.testing.assert_array_equal(seen[:4], np.tile(states[0], (4, 1)))
    np.testing.assert_array_equal(seen[3:], states[: len(seen) - 3])

    noisy = pendulum_task(horizon=9999, observation_noise=[0.01, 0.2], action_noise=0.1)
    envs = sr.gym.MechanismVectorEnv(noisy, 4000)
    first, _ = envs.reset(seed=5)
    spread = np.std(first, axis=0)
    np.testing.assert_allclose(spread, [0.01, 0.2], rtol=0.1)
    envs.step(np.full((4000, 1), 0.95))
    u = envs._episodes.u[:, 0]
    assert u.max() == 1.0 and 0.03 < np.std(u) < 0.1  # never beyond the limits of the actions
    again, _ = envs.reset(seed=5)
    np.testing.assert_array_equal(again, first)


def test_copies_that_start_anew_forget_what_was_delayed() -> None:
    env = sr.gym.MechanismVectorEnv(pendulum_task(action_delay=3, observation_delay=2), 2)
    first, _ = env.reset(seed=1)
    for _ in range(4):
        *_, truncated, _ = env.step(np.ones((2, 1)))
    assert truncated.all()
    observations, *_ = env.step(np.ones((2, 1)))
    np.testing.assert_array_equal(observations, first)
    env.step(np.ones((2, 1)))
    assert not env._episodes.u.any()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"action_delay": -1}, "action_delay of a task must be a whole number"),
        ({"observation_delay": 0.5}, "observation_delay of a task must be a whole number"),
        ({"action_noise": -0.1}, "action_noise of a task is a standard deviation"),
        ({"observation_noise": [0.1] * 3}, r"observation_noise .* have shape \(2,\), got \(3,\)"),
    ],
)
def test_delays_and_noise_that_cannot_be(options, said: str) -> None:
    with pytest.raises(sr.InputError, match=said):
        sr.gym.MechanismEnv(pendulum_task(**options)).reset(seed=0)


def test_a_leg_hops_in_a_batch_and_alone() -> None:
    """Pushed off it leaves the floor; every copy has the bits of an environment of its own."""
    task = TASKS["Hop"]()
    many, one = sr.gym.MechanismVectorEnv(task, 5), sr.gym.MechanismEnv(task)
    gaps = []
    for env in (many, one):
        env.reset(seed=3)
    start = np.array(many._episodes.copies.q)
    one._episodes.copies.start(start[:1], np.array(many._episodes.copies.v)[:1], np.zeros(1, dtype=np.int64))
    for k in range(12):
        push = np.array([-140.0, -140.0]) if k < 7 else np.zeros(2)
        many.step(np.tile(push, (5, 1)))
        one.step(push)
        q = many._episodes.copies.q
        np.testing.assert_array_equal(q[0], one._episodes.copies.q[0])
        gaps.append(task.mech.contacts(q).gap.ravel())
    assert np.min(gaps) >= -1e-9
    assert np.max(gaps) > 0.005


def test_tasks_refuse_what_does_not_go_with_surfaces() -> None:
    task = TASKS["Hop"]()
    for options, named in (
        ({"stops": True}, "stops"),
        ({"method": "dopri5"}, "fixed steps"),
        ({"contacts": "x"}, "x"),
    ):
        with pytest.raises(sr.InputError, match=named):
            sr.gym.Task(**{**vars(task), **options})
