# /// script
# requires-python = ">=3.11"
# dependencies = ["sarrus[viz,gym]"]
# ///
"""A linear policy for the delta robot learns to follow a circle, by the cross-entropy method.

Every copy of one vector environment has a policy of its own: a generation is one rollout of all of them, in
compiled steps on all cores. No gradients, no other package than Gymnasium.
"""

from pathlib import Path

import gymnasium
import numpy as np

import sarrus.gym

PICTURE = Path("out/learn_delta.png")
COPIES, ELITE = 96, 12
NOISE, FLOOR = 1.0, 0.05  # standard deviation of the parameters at first, and what is added in each round


def returns(env: sarrus.gym.MechanismVectorEnv, policies: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Reward per action (copies,) of one policy (actions, observations + 1) in each copy, in one episode."""
    seen, _ = env.reset(seed=0)
    alive, total = np.ones(len(policies), dtype=bool), np.zeros(len(policies))
    for _ in range(env.task.horizon):
        x = np.concatenate([seen, np.ones((len(seen), 1))], axis=1)
        actions = scale * np.tanh(np.einsum("bij,bj->bi", policies, x))
        seen, rewards, terminated, _, _ = env.step(actions)
        total += np.where(alive, rewards, 0.0)
        alive &= ~terminated
    return total / env.task.horizon


def learn(generations: int, copies: int = COPIES, elite: int = ELITE) -> tuple[np.ndarray, np.ndarray]:
    """The mean policy, and the rewards (generations, 3): of the best copy, of the elite, of all."""
    env = gymnasium.make_vec("sarrus/DeltaTracking-v0", num_envs=copies)
    assert isinstance(env, sarrus.gym.MechanismVectorEnv)
    high = env.single_action_space.high
    shape = len(high), env.single_observation_space.shape[0] + 1
    rng = np.random.default_rng(0)
    mean, spread, curve = np.zeros(shape), np.full(shape, NOISE), []
    for k in range(generations):
        policies = mean + spread * rng.normal(size=(copies, *shape))
        policies[0] = mean
        found = returns(env, policies, high)
        best = policies[np.argsort(found)[::-1][:elite]]
        mean, spread = best.mean(axis=0), best.std(axis=0) + FLOOR * 0.95**k
        curve.append([found.max(), np.sort(found)[-elite:].mean(), found.mean()])
    return mean, np.array(curve)


def main(generations: int = 25, copies: int = COPIES) -> dict[str, float]:
    """Learn, and draw the learning curve."""
    import matplotlib.pyplot as plt

    _, curve = learn(generations, copies, copies // 8)
    figure, axes = plt.subplots(figsize=(7, 4.5))
    for column, label in enumerate(("best copy", "elite", "all copies")):
        axes.plot(curve[:, column], label=label)
    axes.set(xlabel="generation", ylabel="reward per action (1: on the circle)", ylim=(0, 1))
    axes.set_title("delta robot on a circle: a linear policy, cross-entropy method")
    axes.legend()
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=120, bbox_inches="tight")
    plt.close(figure)
    print(f"reward per action {curve[0, 2]:.2f} -> {curve[-1, 0]:.2f} in {generations} generations")
    return {"first": float(curve[0, 2]), "last": float(curve[-1, 0])}


if __name__ == "__main__":
    main()
