# /// script
# requires-python = ">=3.11"
# dependencies = ["sarrus[viz,gym]"]
# ///
"""A walker on two legs with four-bar knees learns to walk, in contact with the floor: out/learn_walk.png.

A linear policy sees a clock and the state; it begins with zeros, and the walker stands on its springs.
Evolution by ranks: each copy of one vector environment tries the policy with other noise, and the mean goes
towards those that did better. A generation is one rollout of all copies on all cores.
"""

import time
from pathlib import Path

import gymnasium
import numpy as np

import sarrus.gym

PICTURE = Path("out/learn_walk.png")
NOISE, RATE = 0.15, 0.25  # standard deviation of the noise, length of a step in it


def returns(env: sarrus.gym.MechanismVectorEnv, policies: np.ndarray, seed: int) -> np.ndarray:
    """Reward per action (copies,) of one policy (actions, observations + 1) in each copy, in one episode."""
    seen, _ = env.reset(seed=seed)
    alive, total = np.ones(len(policies), dtype=bool), np.zeros(len(policies))
    for _ in range(env.task.horizon):
        x = np.concatenate([seen, np.ones((len(seen), 1))], axis=1)
        actions = np.tanh(np.einsum("bij,bj->bi", policies, x))
        seen, rewards, ended, _, _ = env.step(env.single_action_space.high * actions)
        total += np.where(alive, rewards, 0.0)
        alive &= ~ended
    return total / env.task.horizon


def learn(generations: int, copies: int) -> tuple[np.ndarray, np.ndarray]:
    """The mean policy, and rewards (generations, 3): of the mean policy, of the best copy, of all."""
    env = gymnasium.make_vec("sarrus/Walk-v0", num_envs=copies + 1)
    assert isinstance(env, sarrus.gym.MechanismVectorEnv)
    rng, half = np.random.default_rng(0), copies // 2
    mean = np.zeros((env.single_action_space.shape[0], env.single_observation_space.shape[0] + 1))
    ranks = np.linspace(-1.0, 1.0, 2 * half)
    curve = []
    for k in range(generations):
        noise = rng.normal(size=(half, *mean.shape))
        noise = np.concatenate([noise, -noise, np.zeros((copies + 1 - 2 * half, *mean.shape))])
        found = returns(env, mean + NOISE * noise, seed=k)
        curve.append([found[-1], found[:-1].max(), found[:-1].mean()])
        weights = ranks[np.argsort(np.argsort(found[: 2 * half]))]
        mean = mean + RATE * NOISE * np.einsum("b,bij->ij", weights, noise[: 2 * half]) / np.sqrt(half)
    return mean, np.array(curve)


def main(generations: int = 40, copies: int = 48) -> dict[str, float]:
    """Learn, and draw the learning curve."""
    import matplotlib.pyplot as plt

    began = time.perf_counter()
    _, curve = learn(generations, copies)
    took = time.perf_counter() - began
    figure, axes = plt.subplots(figsize=(7, 4.5))
    for column, label in enumerate(("mean policy", "best copy", "all copies")):
        axes.plot(curve[:, column], label=label)
    axes.set(xlabel="generation", ylabel="speed ahead [m/s], 1 at most")
    axes.set_title("a walker with four-bar knees: a linear policy, evolution by ranks")
    axes.legend()
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=120, bbox_inches="tight")
    result = {"first": curve[0, 0], "last": curve[-1, 0], "best": curve[:, 1].max()}
    print(
        f"speed {result['first']:.2f} -> {result['last']:.2f} m/s in {generations} generations, {took:.0f} s"
    )
    return {name: float(value) for name, value in result.items()}


if __name__ == "__main__":
    main()
